#include "algo/atomic/greedy.h"

#include <stdlib.h>

#include "base/err.h"

static int by_lag(const void *a, const void *b)
{
    const struct espi_ranked_arc *x = a, *y = b;
    if (x->lag_s != y->lag_s)
        return x->lag_s < y->lag_s ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void rank_arcs(struct espi_greedy *g)
{
    const struct espi_digraph *d = &g->v->g;
    for (int k = 0; k < d->m; k++) {
        int e = d->out.item[k];
        g->ranked[k] = (struct espi_ranked_arc){g->v->lag_s[e], d->head[e], e};
    }
    for (int h = 0; h < d->n; h++) {
        int first = d->out.start[h], count = d->out.start[h + 1] - first;
        if (count > 1)
            qsort(g->ranked + first, (size_t)count, sizeof *g->ranked, by_lag);
        g->next[h] = first;
    }
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
    rank_arcs(g);
    return 0;
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
