#include "plan/messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "plan/ops.h"
#include "platform/platform.h"

static int by_message(const struct esp_plan *plan, const struct espi_message_part *a,
                      const struct espi_message_part *b)
{
    const struct esp_edge *x = espi_part_edge(plan, a), *y = espi_part_edge(plan, b);
    int s = plan->trees[a->tree].steps[a->edge], t = plan->trees[b->tree].steps[b->edge];
    if (s != t)
        return s < t ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static int by_place(const void *a, const void *b, void *plan)
{
    const struct espi_message_part *x = a, *y = b;
    int order = by_message(plan, x, y);
    return order ? order : x->tree < y->tree ? -1 : x->tree > y->tree;
}

int espi_messages_init(struct espi_messages *m, const struct esp_plan *plan,
                       struct espi_arena *arena)
{
    size_t n = 0;
    for (int t = 0; t < plan->n_trees; t++)
        n += (size_t)plan->trees[t].n_edges;
    m->part = ESPI_ARENA_NEW(arena, struct espi_message_part, n);
    m->start = ESPI_ARENA_NEW(arena, int, n + 1);
    m->n = 0;
    if (!m->part || !m->start)
        return -1;
    n = 0;
    for (int t = 0; t < plan->n_trees; t++)
        for (int i = 0; i < plan->trees[t].n_edges; i++)
            m->part[n++] = (struct espi_message_part){t, i};
    qsort_r(m->part, n, sizeof *m->part, by_place, (void *)plan);
    for (size_t k = 0; k < n; k++)
        if (k == 0 || by_message(plan, &m->part[k - 1], &m->part[k]))
            m->start[m->n++] = (int)k;
    m->start[m->n] = (int)n;
    return 0;
}

/* ---- checks ---- */

static esp_status check_steps(const struct esp_plan *plan, int t, int *arrived,
                              struct esp_err *err)
{
    const struct esp_tree *tree = &plan->trees[t];
    int collects = espi_op_collects(plan->op);
    arrived[tree->root] = -1;
    for (int k = 0; k < tree->n_edges; k++) {
        int i = collects ? tree->n_edges - 1 - k : k;
        const struct esp_edge *e = &tree->edges[i];
        int step = tree->steps[i], before = arrived[collects ? e->to : e->from];
        if (step < 0)
            return espi_err(err, ESP_EINPUT, "tree %d, edge %d: step %d is negative", t,
                            i, step);
        if (before >= 0 && (collects ? step >= before : step <= before))
            return espi_err(err, ESP_EINPUT,
                            "tree %d, edge %d: step %d does not come after the one that "
                            "brings the data",
                            t, i, step);
        arrived[collects ? e->from : e->to] = step;
    }
    return ESP_OK;
}

static esp_status check_paths(const struct esp_plan *plan, const struct espi_messages *m,
                              struct esp_err *err)
{
    for (int i = 0; i < m->n; i++) {
        const struct esp_edge *first = espi_message_edge(m, plan, i);
        const int *hops = espi_message_hops(m, plan, i);
        for (int k = m->start[i] + 1; k < m->start[i + 1]; k++) {
            const struct esp_edge *e = espi_part_edge(plan, &m->part[k]);
            const int *other = plan->trees[m->part[k].tree].hops + e->first_hop;
            if (e->n_hops != first->n_hops ||
                memcmp(hops, other, (size_t)e->n_hops * sizeof *hops) != 0)
                return espi_err(err, ESP_EINPUT,
                                "tree %d, edge %d: what travels with it in step %d takes "
                                "another path",
                                m->part[k].tree, m->part[k].edge,
                                espi_message_step(m, plan, i));
        }
    }
    return ESP_OK;
}

static esp_status check_messages(const struct esp_plan *plan, struct esp_err *err)
{
    struct espi_arena arena;
    struct espi_messages m;
    espi_arena_init(&arena);
    esp_status st = espi_messages_init(&m, plan, &arena) ? espi_err_nomem(err)
                                                         : check_paths(plan, &m, err);
    espi_arena_done(&arena);
    return st;
}

esp_status espi_messages_check(const struct esp_plan *plan, const struct esp_platform *p,
                               struct esp_err *err)
{
    int with = 0;
    for (int t = 0; t < plan->n_trees; t++)
        with += plan->trees[t].steps != NULL;
    if (!with)
        return ESP_OK;
    if ((!espi_op_has_parts(plan->op) && !espi_op_has_pairs(plan->op)) ||
        with != plan->n_trees || with != espi_plan_parts(plan, p->n_hosts))
        return espi_err(err, ESP_EINPUT,
                        "steps are for an allgather or reduce-scatter of one tree a "
                        "host, or an alltoall of one a pair, all of them with steps");
    int *arrived = ESPI_NEW(int, p->n_nodes);
    esp_status st = arrived ? ESP_OK : espi_err_nomem(err);
    for (int t = 0; t < plan->n_trees && !st; t++)
        st = check_steps(plan, t, arrived, err);
    espi_free(arrived);
    return st ? st : check_messages(plan, err);
}
