#include "algo/atomic/greedy.h"

#include "base/err.h"
#include "base/sort.h"

static inline int is_arc_before(const struct espi_ranked_arc *x,
                                const struct espi_ranked_arc *y)
{
    return x->lag_s != y->lag_s ? x->lag_s < y->lag_s : x->to < y->to;
}

ESPI_DEFINE_SORT(sort_ranked_arcs, struct espi_ranked_arc, is_arc_before)

static int rank_arcs(struct espi_greedy *g, struct espi_arena *arena)
{
    const struct espi_digraph *d = &g->v->g;
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct espi_ranked_arc *scratch = ESPI_ARENA_NEW(arena, struct espi_ranked_arc, d->m);
    if (!scratch)
        return -1;
    for (int k = 0; k < d->m; k++) {
        int e = d->out.item[k];
        g->ranked[k] = (struct espi_ranked_arc){g->v->lag_s[e], d->head[e], e};
    }
    for (int h = 0; h < d->n; h++) {
        int first = d->out.start[h], count = d->out.start[h + 1] - first;
        sort_ranked_arcs(g->ranked + first, scratch, count);
        g->next[h] = first;
    }
    espi_arena_release(arena, mark);
    return 0;
}

int espi_greedy_init(struct espi_greedy *g, const struct espi_task *task)
{
    struct espi_arena *a = task->arena;
    int n = task->view->g.n, m = task->view->g.m;
    *g = (struct espi_greedy){.v = task->view, .root = task->root};
    g->ranked = ESPI_ARENA_NEW(a, struct espi_ranked_arc, m);
    g->next = ESPI_ARENA_NEW(a, int, n);
    g->informed = ESPI_ARENA_ZNEW(a, unsigned char, n);
    g->ready_s = ESPI_ARENA_ZNEW(a, double, n);
    g->offers.heap = ESPI_ARENA_NEW(a, struct espi_offer, n);
    g->chosen = ESPI_ARENA_NEW(a, int, n);
    if (!g->ranked || !g->next || !g->informed || !g->ready_s || !g->offers.heap ||
        !g->chosen)
        return -1;
    return rank_arcs(g, a);
}

const struct espi_ranked_arc *espi_fastest_open(struct espi_greedy *g, int host)
{
    int end = g->v->g.out.start[host + 1], k = g->next[host];
    while (k < end && g->informed[g->ranked[k].to])
        k++;
    g->next[host] = k;
    return k < end ? &g->ranked[k] : NULL;
}

/* ---- growing ---- */

static void accept_offer(struct espi_greedy *g, const struct espi_offer *offer)
{
    int to = g->v->g.head[offer->arc];
    g->ready_s[to] = offer->second;
    g->ready_s[offer->sender] += g->v->hold_s[offer->arc];
    g->informed[to] = 1;
    g->chosen[g->n_chosen++] = offer->arc;
}

static void join_host(struct espi_greedy *g, espi_offer_fn offer, void *self, int host)
{
    struct espi_offer first;
    if (offer(self, g, host, &first))
        espi_offers_push(&g->offers, &first);
}

void espi_greedy_run(struct espi_greedy *g, espi_offer_fn offer, void *self)
{
    g->informed[g->root] = 1;
    join_host(g, offer, self, g->root);
    while (g->offers.n > 0 && g->n_chosen < g->v->g.n - 1) {
        struct espi_offer top = g->offers.heap[0], fresh;
        if (!offer(self, g, top.sender, &fresh)) {
            espi_offers_drop_top(&g->offers);
        } else if (espi_offer_before(&top, &fresh)) {
            espi_offers_replace_top(&g->offers, fresh);
        } else {
            accept_offer(g, &fresh);
            join_host(g, offer, self, g->v->g.head[fresh.arc]);
        }
    }
}

esp_status espi_greedy_plan(const struct espi_task *task, espi_offer_fn offer,
                            struct esp_plan *plan, struct esp_err *err)
{
    struct espi_greedy g;
    if (espi_greedy_init(&g, task))
        return espi_err_nomem(err);
    espi_greedy_run(&g, offer, NULL);
    return espi_plan_add_arcs(plan, g.v, 1, g.chosen, g.n_chosen, task->arena, err);
}

int espi_offer_earliest(void *self, struct espi_greedy *g, int sender,
                        struct espi_offer *offer)
{
    (void)self;
    const struct espi_ranked_arc *best = espi_fastest_open(g, sender);
    if (!best)
        return 0;
    double finish_s = g->ready_s[sender] + best->lag_s;
    *offer = (struct espi_offer){finish_s, finish_s, sender, best->arc};
    return 1;
}
