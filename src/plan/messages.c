#include "plan/messages.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/sort.h"
#include "plan/ops.h"
#include "platform/platform.h"

/* A part beside what says where it belongs: there are as many as hosts times hosts. */
struct placed {
    int step, from, to;
    struct espi_message_part part;
};

static int is_before(const struct placed *x, const struct placed *y)
{
    if (x->step != y->step)
        return x->step < y->step;
    return x->from != y->from ? x->from < y->from : x->to < y->to;
}

ESPI_DEFINE_SORT(sort_parts, struct placed, is_before)

/* In the order of trees, which the sort keeps among those of one message. */
static int list_parts(const struct esp_plan *plan, struct placed *out)
{
    int n = 0;
    for (int t = 0; t < plan->n_trees; t++) {
        const struct esp_tree *tree = &plan->trees[t];
        for (int i = 0; i < tree->n_edges; i++)
            out[n++] = (struct placed){
                tree->steps[i], tree->edges[i].from, tree->edges[i].to, {t, i}};
    }
    return n;
}

static void put_parts(struct espi_messages *m, const struct placed *at, int n)
{
    m->n = 0;
    for (int k = 0; k < n; k++) {
        m->part[k] = at[k].part;
        if (k == 0 || is_before(&at[k - 1], &at[k]))
            m->start[m->n++] = k;
    }
    m->start[m->n] = n;
}

int espi_messages_init(struct espi_messages *m, const struct esp_plan *plan,
                       struct espi_arena *arena)
{
    size_t n = 0;
    for (int t = 0; t < plan->n_trees; t++)
        n += (size_t)plan->trees[t].n_edges;
    m->part = ESPI_ARENA_NEW(arena, struct espi_message_part, n);
    m->start = ESPI_ARENA_NEW(arena, int, n + 1);
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct placed *placed = ESPI_ARENA_NEW(arena, struct placed, 2 * n);
    if (m->part && m->start && placed) {
        int listed = list_parts(plan, placed);
        sort_parts(placed, placed + n, listed);
        put_parts(m, placed, listed);
    }
    espi_arena_release(arena, mark);
    return placed && m->part && m->start ? 0 : -1;
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
