#include "algo/allreduce/part_trees.h"

#include "algo/transfers.h"
#include "base/err.h"

/* The sends of a part, and what is needed to make a tree of them. */
struct making {
    struct espi_transfers t;
    struct espi_place_send *in, *out;
    int n, parts;
    struct esp_plan *plan;
};

static esp_status begin_making(struct making *m, const struct espi_task *task, int parts,
                               struct esp_plan *plan, struct esp_err *err)
{
    *m = (struct making){.n = task->view->g.n, .parts = parts, .plan = plan};
    m->in = ESPI_ARENA_NEW(task->arena, struct espi_place_send, m->n);
    m->out = ESPI_ARENA_NEW(task->arena, struct espi_place_send, m->n);
    if (!m->in || !m->out)
        return espi_err_nomem(err);
    return espi_transfers_init(&m->t, task, ESPI_ROUTE_DIRECT, err);
}

/* The tree of a part to its host and back. */
static esp_status make_part(struct making *m, int part, struct esp_err *err)
{
    struct espi_transfers *t = &m->t;
    esp_status st = ESP_OK;
    t->n = t->n_hops = 0;
    for (int i = 0; i < m->n - 1 && !st; i++)
        st = espi_transfers_add(t, m->in[i].from, m->in[i].to, err);
    for (int i = 0; i < m->n - 1 && !st; i++)
        st = espi_transfers_add(t, m->out[i].from, m->out[i].to, err);
    if (!st)
        st = esp_plan_add_tree(m->plan, t->task->p, 1.0 / m->parts, t->n, t->start,
                               t->hops, err);
    return st ? st
              : esp_plan_set_tree_ends(m->plan, t->task->view->node[part], 0, NULL, err);
}

esp_status espi_plan_part_trees(const struct espi_task *task, int parts,
                                espi_part_trees_fn trees, struct esp_plan *plan,
                                struct esp_err *err)
{
    struct making m;
    esp_status st = begin_making(&m, task, parts, plan, err);
    for (int part = 0; part < parts && !st; part++) {
        trees(part, m.n, m.in, m.out);
        st = make_part(&m, part, err);
    }
    return st;
}

/* The tree of a part grows backwards in time: in the last step the partner of its host
 * has what is left to combine, in the step before the partners of both, and so on. */
esp_status espi_plan_halving(const struct espi_task *task, espi_partner_fn partner,
                             struct esp_plan *plan, struct esp_err *err)
{
    struct making m;
    int last = task->view->g.n - 2;
    esp_status st = begin_making(&m, task, espi_power_of_two(task->view->g.n), plan, err);
    for (int part = 0; part < m.parts && !st; part++) {
        espi_grow_by_partners(partner, part, m.n, m.out);
        for (int i = 0; i <= last; i++)
            m.in[i] = (struct espi_place_send){m.out[last - i].to, m.out[last - i].from};
        st = make_part(&m, part, err);
    }
    return st;
}
