/* A first-improvement local search. An order is looked at call by call, and given up as
 * soon as it is behind the best: most cost a part of a simulation only. The same moves
 * are drawn on every machine. */
#include "native/rank_order.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/rng.h"
#include "graph/dijkstra.h"
#include "native/tuning.h"

struct order_state {
    const struct espi_order_search *s;
    int n, left; /* hosts; orders that may be tried yet */
    int *best, *tried;
    double best_cost;
};

static void order_as_given(const struct esp_platform *p, int first, int *nodes)
{
    int n = 0;
    if (first >= 0)
        nodes[n++] = first;
    for (int u = 0; u < p->n_nodes; u++)
        if (!espi_is_switch(p, u) && u != first)
            nodes[n++] = u;
}

/* ---- what an order costs ---- */

double espi_order_cost(double part)
{
    return part <= ESPI_ORDER_LATER ? part
                                    : part + ESPI_ORDER_HURTS * (part - ESPI_ORDER_LATER);
}

/* The longest part that has at most this cost. */
static double part_of(double cost)
{
    double later = ESPI_ORDER_LATER;
    return cost <= later ? cost : later + (cost - later) / (1 + ESPI_ORDER_HURTS);
}

static esp_status order_cost(const struct order_state *o, double most, double *cost,
                             struct esp_err *err)
{
    double sum = 0;
    for (int i = 0; i < o->s->n_calls && sum < most; i++) {
        const struct espi_order_call *c = &o->s->calls[i];
        struct espi_native_run run = c->run;
        double makespan_s;
        run.nodes = o->tried;
        run.root = o->tried[0];
        run.until_s = isfinite(most) ? part_of(most - sum) * c->base_s : 0;
        esp_status st = espi_native_makespan(o->s->p, &run, &makespan_s, err);
        if (st)
            return st;
        sum += espi_order_cost(makespan_s / c->base_s);
    }
    *cost = sum;
    return ESP_OK;
}

/* Keeps what was tried if it is better. */
static esp_status try_order(struct order_state *o, struct esp_err *err)
{
    double cost;
    o->left--;
    esp_status st = order_cost(o, o->best_cost, &cost, err);
    if (st)
        return st;
    if (cost < o->best_cost) {
        o->best_cost = cost;
        memcpy(o->best, o->tried, (size_t)o->n * sizeof *o->best);
    }
    return ESP_OK;
}

/* ---- first orders ---- */

/* Sites in the order in which their first hosts come; hosts of none stay by themselves.
 */
static void order_by_site(const struct esp_platform *p, const int *given,
                          unsigned char *is_done, int *nodes)
{
    int n = 0;
    for (int i = 0; i < p->n_hosts; i++) {
        int site = p->node_site[given[i]];
        if (is_done[i])
            continue;
        nodes[n++] = given[i];
        for (int k = i + 1; k < p->n_hosts && site >= 0; k++)
            if (!is_done[k] && p->node_site[given[k]] == site) {
                is_done[k] = 1;
                nodes[n++] = given[k];
            }
    }
}

struct nearness {
    struct espi_digraph g;
    struct espi_dijkstra work;
    double *weight, *distance;
    int *last_arc;
};

static int nearness_init(struct nearness *x, const struct esp_platform *p,
                         struct espi_arena *arena)
{
    x->weight = ESPI_ARENA_NEW(arena, double, p->n_links);
    x->distance = ESPI_ARENA_NEW(arena, double, p->n_nodes);
    x->last_arc = ESPI_ARENA_NEW(arena, int, p->n_nodes);
    if (!x->weight || !x->distance || !x->last_arc ||
        espi_dijkstra_init(&x->work, p->n_nodes, arena))
        return -1;
    x->g = (struct espi_digraph){p->n_nodes, p->n_links, p->tail, p->head, p->out, p->in};
    for (int e = 0; e < p->n_links; e++)
        x->weight[e] = espi_link_time_s(p, e, ESPI_ORDER_NEAR_BYTES);
    return 0;
}

static void order_by_nearness(const struct esp_platform *p, const int *given,
                              unsigned char *is_done, struct nearness *x, int *nodes)
{
    int at = given[0];
    for (int rank = 0; rank < p->n_hosts; rank++) {
        struct espi_dijkstra_query q = {x->weight, &at, 1, NULL};
        int best = -1;
        espi_dijkstra(&x->work, &x->g, &q, x->distance, x->last_arc);
        for (int k = 0; k < p->n_hosts; k++)
            if (!is_done[k] &&
                (best < 0 || x->distance[given[k]] < x->distance[given[best]]))
                best = k;
        is_done[best] = 1;
        nodes[rank] = at = given[best];
    }
}

esp_status espi_rank_order_first(const struct esp_platform *p, int first,
                                 espi_first_order which, int *nodes, struct esp_err *err)
{
    struct espi_arena arena;
    struct nearness near;
    espi_arena_init(&arena);
    int *given = ESPI_ARENA_NEW(&arena, int, p->n_hosts);
    unsigned char *is_done = ESPI_ARENA_ZNEW(&arena, unsigned char, p->n_hosts);
    esp_status st = given && is_done && !nearness_init(&near, p, &arena)
                        ? ESP_OK
                        : espi_err_nomem(err);
    if (!st) {
        order_as_given(p, first, given);
        if (which == ESPI_ORDER_BY_SITE)
            order_by_site(p, given, is_done, nodes);
        else if (which == ESPI_ORDER_NEAREST)
            order_by_nearness(p, given, is_done, &near, nodes);
        else
            memcpy(nodes, given, (size_t)p->n_hosts * sizeof *nodes);
    }
    espi_arena_done(&arena);
    return st;
}

/* ---- moves ---- */

/* Swaps two hosts, or moves one to another rank; rank 0 stays where it must. */
static void draw_move(struct order_state *o, struct espi_rng *rng)
{
    int fixed = o->s->first >= 0, span = o->n - fixed;
    int a = fixed + (int)espi_rng_below(rng, (uint32_t)span);
    int b = fixed + (int)espi_rng_below(rng, (uint32_t)span - 1);
    b += b >= a;
    memcpy(o->tried, o->best, (size_t)o->n * sizeof *o->tried);
    int host = o->tried[a];
    if (espi_rng_below(rng, 2)) {
        o->tried[a] = o->tried[b];
    } else if (a < b) {
        memmove(o->tried + a, o->tried + a + 1, (size_t)(b - a) * sizeof host);
    } else {
        memmove(o->tried + b + 1, o->tried + b, (size_t)(a - b) * sizeof host);
    }
    o->tried[b] = host;
}

static esp_status try_moves(struct order_state *o, struct esp_err *err)
{
    struct espi_rng rng;
    esp_status st = o->left > 0 ? try_order(o, err) : ESP_OK;
    espi_rng_seed(&rng, 1);
    while (!st && o->left > 0 && o->n - (o->s->first >= 0) > 1) {
        draw_move(o, &rng);
        st = try_order(o, err);
    }
    return st;
}

esp_status espi_rank_order_improve(const struct espi_order_search *search, int *nodes,
                                   struct esp_err *err)
{
    size_t size = (size_t)search->p->n_hosts * sizeof *nodes;
    struct order_state o = {.s = search,
                            .n = search->p->n_hosts,
                            .left = search->n_orders,
                            .best = espi_malloc(size + 1),
                            .tried = espi_malloc(size + 1),
                            .best_cost = INFINITY};
    esp_status st = o.best && o.tried ? ESP_OK : espi_err_nomem(err);
    if (!st) {
        memcpy(o.best, nodes, size);
        memcpy(o.tried, nodes, size);
        st = try_moves(&o, err);
    }
    if (!st)
        memcpy(nodes, o.best, size);
    espi_free(o.best);
    espi_free(o.tried);
    return st;
}
