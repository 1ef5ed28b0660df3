#include "plan/turn.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "plan/ops.h"
#include "plan/schedule.h"
#include "platform/platform.h"

/* Room for the transfers of trees. */
struct transfers {
    int n;
    int *start, *hops;
};

static int transfers_init(struct transfers *x, int n_edges, int n_hops)
{
    *x = (struct transfers){0};
    x->start = ESPI_NEW(int, (size_t)n_edges + 1);
    x->hops = ESPI_NEW(int, (size_t)n_hops + 1);
    if (x->start)
        x->start[0] = 0;
    return x->start && x->hops ? 0 : -1;
}

static void transfers_free(struct transfers *x)
{
    espi_free(x->start);
    espi_free(x->hops);
}

static void add_turned(struct transfers *x, const struct esp_tree *tree, int edge,
                       int turned)
{
    const struct esp_edge *e = &tree->edges[edge];
    int at = x->start[x->n];
    for (int k = 0; k < e->n_hops; k++)
        x->hops[at + k] = tree->hops[e->first_hop + (turned ? e->n_hops - 1 - k : k)];
    x->start[++x->n] = at + e->n_hops;
}

/* Of all trees; 0 where there are no steps. */
static int last_step(const struct esp_plan *plan)
{
    int last = 0;
    for (int t = 0; t < plan->n_trees && espi_plan_has_steps(plan); t++)
        for (int i = 0; i < plan->trees[t].n_edges; i++)
            if (plan->trees[t].steps[i] > last)
                last = plan->trees[t].steps[i];
    return last;
}

/* What was the last step of all becomes the first. */
static esp_status turn_steps(const struct esp_tree *tree, int last, struct esp_plan *to,
                             struct esp_err *err)
{
    int *steps = ESPI_NEW(int, (size_t)tree->n_edges + 1);
    if (!steps)
        return espi_err_nomem(err);
    for (int i = 0; i < tree->n_edges; i++)
        steps[i] = last - tree->steps[tree->n_edges - 1 - i];
    esp_status st = esp_plan_set_tree_steps(to, steps, err);
    espi_free(steps);
    return st;
}

static esp_status turn_tree(const struct esp_plan *plan, int t, int last,
                            const struct esp_platform *p, struct esp_plan *to,
                            struct esp_err *err)
{
    const struct esp_tree *tree = &plan->trees[t];
    struct transfers x;
    int n = plan->op == ESP_OP_ALLREDUCE ? espi_tree_collecting_edges(plan->op, tree)
                                         : tree->n_edges;
    esp_status st = ESP_OK;
    if (transfers_init(&x, n, tree->n_hops))
        st = espi_err_nomem(err);
    for (int i = n - 1; i >= 0 && !st; i--)
        add_turned(&x, tree, i, 1);
    if (!st)
        st = esp_plan_add_tree(to, p, tree->weight, n, x.start, x.hops, err);
    if (!st)
        st = esp_plan_set_tree_ends(to, tree->root, tree->n_targets, tree->targets, err);
    if (!st && espi_plan_has_steps(plan))
        st = turn_steps(tree, last, to, err);
    transfers_free(&x);
    return st;
}

/* How many legs each edge has; edges of all trees in their order, trees as given. */
static int count_legs(const struct esp_platform *p, const struct esp_tree *tree, int edge)
{
    const struct esp_edge *e = &tree->edges[edge];
    int n = 1;
    for (int k = 1; k < e->n_hops; k++)
        n += !espi_is_switch(p, p->tail[tree->hops[e->first_hop + k]]);
    return n;
}

/* What was sent last is sent first, and what lagged most does not lag. */
static esp_status turn_schedule(const struct esp_plan *plan, struct esp_plan *to,
                                const struct esp_platform *p, struct esp_err *err)
{
    struct esp_schedule *s = espi_schedule_copy(plan->schedule, plan->n_trees);
    int most = 0;
    if (!s)
        return espi_err_nomem(err);
    for (int k = 0; k < s->n_sends; k++)
        most = s->sends[k].lag > most ? s->sends[k].lag : most;
    for (int k = 0; k < s->n_sends; k++) {
        struct esp_send x = plan->schedule->sends[s->n_sends - 1 - k];
        const struct esp_tree *tree = &to->trees[x.tree];
        x.edge = tree->n_edges - 1 - x.edge;
        x.part = count_legs(p, tree, x.edge) - 1 - x.part;
        x.lag = most - x.lag;
        s->sends[k] = x;
    }
    to->schedule = s;
    return ESP_OK;
}

esp_status espi_plan_turn(const struct esp_plan *plan, esp_op op,
                          const struct esp_platform *p, struct esp_plan **out,
                          struct esp_err *err)
{
    struct esp_plan *to;
    esp_status st = esp_plan_create(op, plan->root, plan->algo, &to, err);
    if (st)
        return st;
    if (plan->targets)
        st = esp_plan_set_targets(to, plan->n_targets, plan->targets, err);
    int last = last_step(plan);
    for (int t = 0; t < plan->n_trees && !st; t++)
        st = turn_tree(plan, t, last, p, to, err);
    if (!st && plan->schedule && plan->op != ESP_OP_ALLREDUCE)
        st = turn_schedule(plan, to, p, err);
    to->size_bytes = plan->size_bytes;
    to->slice_bytes = plan->slice_bytes;
    if (st)
        esp_plan_free(to);
    else
        *out = to;
    return st;
}

esp_status espi_plan_copy_tree(struct esp_plan *plan, const struct esp_platform *p,
                               const struct esp_plan *from, int tree, double weight,
                               struct esp_err *err)
{
    const struct esp_tree *t = &from->trees[tree];
    struct transfers x;
    esp_status st = ESP_OK;
    if (transfers_init(&x, t->n_edges, t->n_hops))
        st = espi_err_nomem(err);
    for (int i = 0; i < t->n_edges && !st; i++)
        add_turned(&x, t, i, 0);
    if (!st)
        st = esp_plan_add_tree(plan, p, weight, x.n, x.start, x.hops, err);
    transfers_free(&x);
    return st;
}

static esp_status add_pair(struct esp_plan *plan, const struct esp_platform *p,
                           double weight, const struct esp_tree *in,
                           const struct esp_tree *out, struct esp_err *err)
{
    struct transfers x;
    esp_status st = ESP_OK;
    if (transfers_init(&x, in->n_edges + out->n_edges, in->n_hops + out->n_hops))
        st = espi_err_nomem(err);
    for (int i = 0; i < in->n_edges && !st; i++)
        add_turned(&x, in, i, 0);
    for (int i = 0; i < out->n_edges && !st; i++)
        add_turned(&x, out, i, 0);
    if (!st)
        st = esp_plan_add_tree(plan, p, weight, x.n, x.start, x.hops, err);
    transfers_free(&x);
    return st;
}

esp_status espi_plan_add_both(struct esp_plan *plan, const struct esp_platform *p,
                              const struct esp_plan *reduce, const struct esp_plan *bcast,
                              struct esp_err *err)
{
    esp_status st = ESP_OK;
    double in_left = reduce->trees[0].weight, out_left = bcast->trees[0].weight;
    for (int i = 0, o = 0; i < reduce->n_trees && o < bcast->n_trees && !st;) {
        double weight = fmin(in_left, out_left);
        if (weight > 1e-9)
            st = add_pair(plan, p, weight, &reduce->trees[i], &bcast->trees[o], err);
        in_left -= weight;
        out_left -= weight;
        if (in_left <= 1e-9 && ++i < reduce->n_trees)
            in_left += reduce->trees[i].weight;
        if (out_left <= 1e-9 && ++o < bcast->n_trees)
            out_left += bcast->trees[o].weight;
    }
    return st;
}
