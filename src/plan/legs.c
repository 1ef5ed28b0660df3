/* The legs of a plan, and what they use. Linear in the plan. */
#include "plan/legs.h"

#include <math.h>
#include <string.h>

#include "plan/ops.h"
#include "platform/resources.h"
#include "platform/view.h"

struct maker {
    struct espi_legs *legs;
    const struct esp_platform *p;
    int *brings; /* node -> the leg that brings it the data (last), -1: it has them */
    int *chain;  /* link -> the last arc that starts with it, -1: none */
    int *before; /* arc -> the arc before it in the chain */
};

static int same_path(const struct espi_legs *legs, int a, int b)
{
    return legs->leg[a].n_hops == legs->leg[b].n_hops &&
           !memcmp(espi_leg_hops(legs, a), espi_leg_hops(legs, b),
                   (size_t)legs->leg[a].n_hops * sizeof(int));
}

static int find_arc(struct maker *m, int leg)
{
    struct espi_legs *legs = m->legs;
    int link = espi_leg_hops(legs, leg)[0], arc = m->chain[link];
    while (arc >= 0 && !same_path(legs, legs->arc_leg[arc], leg))
        arc = m->before[arc];
    if (arc >= 0)
        return arc;
    arc = legs->n_arcs++;
    legs->arc_leg[arc] = leg;
    m->before[arc] = m->chain[link];
    m->chain[link] = arc;
    return arc;
}

/* How many legs lie before one that waits for this one. */
static int depth_after(const struct espi_legs *legs, int source)
{
    int depth = 0;
    for (int s = source; s >= 0; s = legs->leg[s].also)
        if (legs->leg[s].depth >= depth)
            depth = legs->leg[s].depth + 1;
    return depth;
}

/* The legs of one edge: its path is cut at every host on it. */
static void add_edge(struct maker *m, int t, int i, int combines)
{
    struct espi_legs *legs = m->legs;
    const struct esp_tree *tree = &legs->plan->trees[t];
    const struct esp_edge *e = &tree->edges[i];
    const int *hops = tree->hops + e->first_hop;
    int source = m->brings[e->from], part = 0;
    for (int first = 0, k = 1; k <= e->n_hops; k++) {
        if (k < e->n_hops && espi_is_switch(m->p, m->p->tail[hops[k]]))
            continue;
        struct espi_leg *leg = &legs->leg[legs->n];
        *leg = (struct espi_leg){
            .tree = t,
            .edge = i,
            .part = part++,
            .from = m->p->tail[hops[first]],
            .to = m->p->head[hops[k - 1]],
            .source = source,
            .also = combines && k == e->n_hops ? m->brings[e->to] : -1,
            .keeps = k == e->n_hops,
            .first_hop = e->first_hop + first,
            .n_hops = k - first,
            .depth = depth_after(legs, source),
        };
        if (leg->depth > legs->max_depth)
            legs->max_depth = leg->depth;
        source = legs->n++;
        leg->arc = find_arc(m, source);
        first = k;
    }
    m->brings[e->to] = source;
}

static int maker_init(struct maker *m, struct espi_arena *a)
{
    struct espi_legs *legs = m->legs;
    size_t hops = 0, edges = 0;
    for (int t = 0; t < legs->plan->n_trees; t++) {
        hops += (size_t)legs->plan->trees[t].n_hops;
        edges += (size_t)legs->plan->trees[t].n_edges;
    }
    legs->leg = ESPI_ARENA_NEW(a, struct espi_leg, hops);
    legs->arc_leg = ESPI_ARENA_NEW(a, int, hops);
    legs->tree_start = ESPI_ARENA_NEW(a, int, (size_t)legs->plan->n_trees + 1);
    legs->edge_start = ESPI_ARENA_NEW(a, int, edges + 1);
    m->brings = ESPI_ARENA_NEW(a, int, m->p->n_nodes);
    m->chain = ESPI_ARENA_NEW(a, int, m->p->n_links);
    m->before = ESPI_ARENA_NEW(a, int, hops);
    if (!legs->leg || !legs->arc_leg || !legs->tree_start || !legs->edge_start ||
        !m->brings || !m->chain || !m->before)
        return -1;
    memset(m->chain, 0xff, (size_t)m->p->n_links * sizeof *m->chain);
    return 0;
}

int espi_legs_init(struct espi_legs *legs, const struct esp_platform *p,
                   const struct esp_plan *plan, struct espi_arena *arena)
{
    struct espi_legs x = {.plan = plan};
    struct maker m = {.legs = &x, .p = p};
    if (maker_init(&m, arena))
        return -1;
    int edges = 0;
    for (int t = 0; t < plan->n_trees; t++) {
        x.tree_start[t] = x.n;
        int combining = espi_op_combines(plan->op)
                            ? espi_tree_collecting_edges(plan->op, &plan->trees[t])
                            : 0;
        memset(m.brings, 0xff, (size_t)p->n_nodes * sizeof *m.brings);
        for (int i = 0; i < plan->trees[t].n_edges; i++) {
            x.edge_start[edges++] = x.n;
            add_edge(&m, t, i, i < combining);
        }
    }
    x.tree_start[plan->n_trees] = x.edge_start[edges] = x.n;
    *legs = x;
    return 0;
}

int espi_legs_next(struct espi_rows *next, const struct espi_legs *legs,
                   struct espi_arena *arena)
{
    int n = 0, at = 0;
    for (int i = 0; i < legs->n; i++)
        for (int s = legs->leg[i].source; s >= 0; s = legs->leg[s].also)
            n++;
    int *source = ESPI_ARENA_NEW(arena, int, n), *leg = ESPI_ARENA_NEW(arena, int, n);
    if (!source || !leg)
        return -1;
    for (int i = 0; i < legs->n; i++)
        for (int s = legs->leg[i].source; s >= 0; s = legs->leg[s].also) {
            source[at] = s;
            leg[at++] = i;
        }
    if (espi_rows_build(next, legs->n, n, source, arena))
        return -1;
    for (int k = 0; k < n; k++)
        next->item[k] = leg[next->item[k]];
    return 0;
}

/* Adds the uses of one link to those of the arc, which start at `first`. */
static int add_uses(struct espi_arc_uses *u, const struct espi_resources *r, int link,
                    int first, int at)
{
    for (int k = r->start[link]; k < r->start[link + 1]; k++) {
        int x = first;
        while (x < at && u->resource[x] != r->resource[k])
            x++;
        if (x == at) {
            u->resource[at] = r->resource[k];
            u->time_s[at++] = 0;
        }
        u->time_s[x] += r->time_s[k];
    }
    return at;
}

int espi_arc_uses_init(struct espi_arc_uses *u, const struct espi_legs *legs,
                       const struct esp_platform *p, double slice_bytes,
                       struct espi_arena *arena)
{
    struct espi_resources r;
    size_t most = 0;
    if (espi_resources_init(&r, p, slice_bytes, arena))
        return -1;
    for (int a = 0; a < legs->n_arcs; a++)
        for (int h = 0; h < legs->leg[legs->arc_leg[a]].n_hops; h++) {
            int link = espi_leg_hops(legs, legs->arc_leg[a])[h];
            most += (size_t)(r.start[link + 1] - r.start[link]);
        }
    u->n_resources = r.n;
    u->first_link = r.first_link;
    u->start = ESPI_ARENA_NEW(arena, int, (size_t)legs->n_arcs + 1);
    u->resource = ESPI_ARENA_NEW(arena, int, most);
    u->time_s = ESPI_ARENA_NEW(arena, double, most);
    u->slice_s = ESPI_ARENA_ZNEW(arena, double, legs->n_arcs);
    u->lag_s = ESPI_ARENA_NEW(arena, double, legs->n_arcs);
    if (!u->start || !u->resource || !u->time_s || !u->slice_s || !u->lag_s)
        return -1;
    int at = 0;
    for (int a = 0; a < legs->n_arcs; a++) {
        int first = u->start[a] = at, n_hops = legs->leg[legs->arc_leg[a]].n_hops;
        const int *hops = espi_leg_hops(legs, legs->arc_leg[a]);
        for (int h = 0; h < n_hops; h++)
            at = add_uses(u, &r, hops[h], first, at);
        u->lag_s[a] = espi_path_time(p, slice_bytes, hops, n_hops).lag_s;
        for (int k = first; k < at; k++)
            u->slice_s[a] = fmax(u->slice_s[a], u->time_s[k]);
    }
    u->start[legs->n_arcs] = at;
    return 0;
}
