/* Shortest path between two nodes by searching from both ends.
 *
 * Reference: I. Pohl, Bi-directional search, 1971.
 * Complexity: as Dijkstra's algorithm, but in networks without much locality only about
 * the square root of the nodes is seen; nothing is cleared between queries.
 * Choice: the usual algorithm would end with a path put together from two halves, and
 * equal paths would be told apart by where the halves met. Here, once the length is
 * known, the forward search alone goes on to the target, over nodes only that the
 * backward search does not rule out: these are all that lie on shortest paths, so the
 * choice among equals is that of Dijkstra's algorithm. */
#include "graph/router.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { FORWARD, BACKWARD };

/* rounding: sums of the same arcs in another order differ. */
static const double slack = 1 + 1e-9;

static int side_init(struct espi_router_side *s, int n, struct espi_arena *arena)
{
    s->distance = ESPI_ARENA_NEW(arena, double, n);
    s->state = ESPI_ARENA_ZNEW(arena, int, n);
    return s->distance && s->state ? espi_heap_init(&s->heap, arena, n) : -1;
}

int espi_router_init(struct espi_router *r, const struct espi_digraph *g,
                     const double *weight, struct espi_arena *arena)
{
    *r = (struct espi_router){.g = g, .weight = weight};
    r->last_arc = ESPI_ARENA_NEW(arena, int, g->n);
    if (!r->last_arc || side_init(&r->side[FORWARD], g->n, arena))
        return -1;
    return side_init(&r->side[BACKWARD], g->n, arena);
}

/* The arcs that a side follows from a node, and where they lead. */
static const struct espi_rows *rows_of(const struct espi_router *r, int side)
{
    return side == FORWARD ? &r->g->out : &r->g->in;
}

static const int *ends_of(const struct espi_router *r, int side)
{
    return side == FORWARD ? r->g->head : r->g->tail;
}

int espi_router_gather(struct espi_router *r, struct espi_arena *arena)
{
    for (int side = FORWARD; side <= BACKWARD; side++) {
        const int *item = rows_of(r, side)->item;
        double *weight = ESPI_ARENA_NEW(arena, double, r->g->m);
        int *end = ESPI_ARENA_NEW(arena, int, r->g->m);
        if (!weight || !end)
            return -1;
        for (int k = 0; k < r->g->m; k++) {
            weight[k] = r->weight[item[k]];
            end[k] = ends_of(r, side)[item[k]];
        }
        r->side[side].row_weight = weight;
        r->side[side].row_end = end;
    }
    return 0;
}

static int seen(const struct espi_router *r, int side, int node)
{
    return r->side[side].state[node] >= 2 * r->round;
}

static int settled(const struct espi_router *r, int side, int node)
{
    return r->side[side].state[node] > 2 * r->round;
}

static void begin_side(struct espi_router *r, int side, int node)
{
    struct espi_router_side *s = &r->side[side];
    espi_heap_clear(&s->heap);
    espi_heap_set(&s->heap, node, 0);
    s->distance[node] = 0;
    s->state[node] = 2 * r->round;
}

static void new_round(struct espi_router *r)
{
    if (r->round == INT_MAX / 2 - 1) {
        memset(r->side[FORWARD].state, 0, (size_t)r->g->n * sizeof(int));
        memset(r->side[BACKWARD].state, 0, (size_t)r->g->n * sizeof(int));
        r->round = 0;
    }
    r->round++;
    r->best = INFINITY;
    r->reach[FORWARD] = r->reach[BACKWARD] = 0;
}

/* Looks at an arc between a settled node and another that is not. */
static void relax_arc(struct espi_router *r, int side, int arc, int from, int to)
{
    struct espi_router_side *s = &r->side[side];
    double d = s->distance[from] + r->weight[arc];
    if (d + r->reach[!side] > r->best * slack && !settled(r, !side, to))
        return; /* the rest of the way is too long */
    if (!seen(r, side, to) || d < s->distance[to]) {
        s->distance[to] = d;
        s->state[to] = 2 * r->round;
        espi_heap_set(&s->heap, to, d);
        if (side == FORWARD)
            r->last_arc[to] = arc;
        if (seen(r, !side, to))
            r->best = fmin(r->best, d + r->side[!side].distance[to]);
    } else if (side == FORWARD && d == s->distance[to] && s->heap.place[to] >= 0 &&
               r->last_arc[to] >= 0 && from < r->g->tail[r->last_arc[to]]) {
        r->last_arc[to] = arc;
    }
}

static void settle_node(struct espi_router *r, int side, int node)
{
    const struct espi_rows *rows = rows_of(r, side);
    struct espi_router_side *s = &r->side[side];
    double so_far = s->distance[node];
    s->state[node] = 2 * r->round + 1;
    r->reach[side] = so_far;
    for (int k = rows->start[node]; k < rows->start[node + 1]; k++) {
        double weight = s->row_weight ? s->row_weight[k] : r->weight[rows->item[k]];
        if (so_far + weight > r->best * slack || !(weight < INFINITY))
            continue; /* it is too long by itself */
        int end = s->row_end ? s->row_end[k] : ends_of(r, side)[rows->item[k]];
        if (!settled(r, side, end))
            relax_arc(r, side, rows->item[k], node, end);
    }
}

/* How far the search has come: nothing nearer is left. */
static double radius(const struct espi_router *r, int side)
{
    const struct espi_heap *h = &r->side[side].heap;
    return h->size > 0 ? h->key[espi_heap_top(h)] : INFINITY;
}

static void meet(struct espi_router *r)
{
    while (r->side[FORWARD].heap.size > 0 && r->side[BACKWARD].heap.size > 0 &&
           radius(r, FORWARD) + radius(r, BACKWARD) < r->best) {
        int side = r->side[FORWARD].heap.size > r->side[BACKWARD].heap.size;
        settle_node(r, side, espi_heap_pop(&r->side[side].heap));
    }
}

static void go_on(struct espi_router *r, int to)
{
    double rest = radius(r, BACKWARD);
    while (r->side[FORWARD].heap.size > 0 && !settled(r, FORWARD, to)) {
        int u = espi_heap_pop(&r->side[FORWARD].heap);
        double left = settled(r, BACKWARD, u) ? r->side[BACKWARD].distance[u] : rest;
        if (r->side[FORWARD].distance[u] + left <= r->best * slack)
            settle_node(r, FORWARD, u);
    }
}

int espi_route_between(struct espi_router *r, int from, int to, int *path)
{
    new_round(r);
    begin_side(r, FORWARD, from);
    begin_side(r, BACKWARD, to);
    r->last_arc[from] = -1;
    if (from == to)
        return 0;
    meet(r);
    if (!(r->best < INFINITY))
        return -1;
    go_on(r, to);
    int length = 0, at;
    for (int x = to; x != from; x = r->g->tail[r->last_arc[x]])
        length++;
    at = length;
    for (int x = to; x != from; x = r->g->tail[r->last_arc[x]])
        path[--at] = r->last_arc[x];
    return length;
}
