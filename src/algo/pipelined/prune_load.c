/* Deleting arcs of the most loaded sender first: what Topo-Prune-Degree and its
 * multi-port sibling share. A heap of senders by load, a row of arcs by time for each
 * sender and a place in it: arcs before the place are gone or cannot be spared, and the
 * latter stays true, so that each arc is tried once. */
#include <math.h>

#include "algo/pipelined/arc_order.h"
#include "algo/pipelined/pruner.h"
#include "base/err.h"
#include "base/heap.h"

struct state {
    struct espi_pruner *p;
    struct espi_out_load load;
    espi_out_load_fn of;
    struct espi_heap heap; /* senders that may have an arc to spare */
    const int *arcs;       /* by sender, slow first */
    int *next;             /* the place in the row */
    double *kept_s;        /* the slowest arc before it that is still there, or 0 */
};

double espi_out_load_sum_s(const struct espi_out_load *load, int host)
{
    return load->sum_s[host];
}

double espi_out_load_multiport_s(const struct espi_out_load *load, int host)
{
    return fmax(load->degree[host] * load->view->send_s[host], load->slowest_s[host]);
}

static int state_init(struct state *s, struct espi_arena *a)
{
    const struct espi_digraph *g = &s->load.view->g;
    s->load.sum_s = ESPI_ARENA_ZNEW(a, double, g->n);
    s->load.slowest_s = ESPI_ARENA_ZNEW(a, double, g->n);
    s->load.degree = ESPI_ARENA_ZNEW(a, int, g->n);
    s->next = ESPI_ARENA_NEW(a, int, g->n);
    s->kept_s = ESPI_ARENA_ZNEW(a, double, g->n);
    s->arcs = espi_arcs_by_sender(s->load.view, ESPI_SLOW_FIRST, a);
    if (!s->load.sum_s || !s->load.slowest_s || !s->load.degree || !s->next ||
        !s->kept_s || !s->arcs || espi_heap_init(&s->heap, a, g->n))
        return -1;
    for (int e = 0; e < g->m; e++) {
        int u = g->tail[e];
        s->load.sum_s[u] += s->load.view->time_s[e];
        s->load.slowest_s[u] = fmax(s->load.slowest_s[u], s->load.view->time_s[e]);
        s->load.degree[u]++;
    }
    for (int u = 0; u < g->n; u++) {
        s->next[u] = g->out.start[u];
        espi_heap_set(&s->heap, u, -s->of(&s->load, u));
    }
    return 0;
}

/* Tries the next arc of the most loaded sender. */
static void prune_step(struct state *s)
{
    const struct espi_view *v = s->load.view;
    int u = espi_heap_top(&s->heap);
    if (s->next[u] == v->g.out.start[u + 1]) {
        espi_heap_pop(&s->heap);
        return;
    }
    int e = s->arcs[s->next[u]++];
    if (!espi_prune_arc(s->p, e)) {
        s->kept_s[u] = fmax(s->kept_s[u], v->time_s[e]);
        return;
    }
    s->load.sum_s[u] -= v->time_s[e];
    s->load.degree[u]--;
    s->load.slowest_s[u] = s->kept_s[u];
    if (s->next[u] < v->g.out.start[u + 1])
        s->load.slowest_s[u] = fmax(s->kept_s[u], v->time_s[s->arcs[s->next[u]]]);
    espi_heap_set(&s->heap, u, -s->of(&s->load, u));
}

int espi_prune_by_load(struct espi_pruner *p, const struct espi_view *view,
                       espi_out_load_fn load, struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct state s = {.p = p, .load = {.view = view}, .of = load};
    if (state_init(&s, arena))
        return -1;
    while (p->n_left > view->g.n - 1)
        prune_step(&s);
    espi_arena_release(arena, mark);
    return 0;
}

esp_status espi_prune_by_load_plan(const struct espi_task *task, espi_out_load_fn load,
                                   struct esp_plan *plan, struct esp_err *err)
{
    struct espi_pruner p;
    if (espi_pruner_init(&p, &task->view->g, task->root, task->arena) ||
        espi_prune_by_load(&p, task->view, load, task->arena))
        return espi_err_nomem(err);
    return espi_plan_add_parents(plan, task->view, task->root, 1, p.parent_arc,
                                 task->arena, err);
}
