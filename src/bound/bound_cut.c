/* The bottleneck cut, from the prices of resources.
 *
 * With the prices each arc has a cost; the optimal rate is 1 / cost of the cheapest tree,
 * and by the dual of that (J. Edmonds, Optimum branchings, 1967; D. Fulkerson, Packing
 * rooted directed cuts, 1974) this cost is a sum over sets of hosts, each of which pays
 * what all arcs into it have in common. The set that pays most is the bottleneck. */
#include <math.h>
#include <string.h>

#include "bound/bound.h"
#include "graph/scc.h"
#include "solve/packing_impl.h"

struct dual {
    const struct espi_digraph *g;
    int root;
    double *cost; /* what is left of it */
    unsigned char *tight;
    int *component;
    struct espi_scc scc;
    double *least; /* component -> cheapest arc into it */
    double most;   /* paid by the dearest set so far */
    unsigned char *inside;
};

static int dual_init(struct dual *d, const double *cost, struct espi_arena *a)
{
    size_t m = (size_t)d->g->m;
    d->cost = ESPI_ARENA_NEW(a, double, m);
    d->tight = ESPI_ARENA_NEW(a, unsigned char, m);
    d->component = ESPI_ARENA_NEW(a, int, d->g->n);
    d->least = ESPI_ARENA_NEW(a, double, d->g->n);
    if (!d->cost || !d->tight || !d->component || !d->least ||
        espi_scc_init(&d->scc, d->g->n, a))
        return -1;
    memcpy(d->cost, cost, m * sizeof *cost);
    return 0;
}

static void note_set(struct dual *d, int component)
{
    d->most = d->least[component];
    for (int h = 0; h < d->g->n; h++)
        d->inside[h] = d->component[h] != component;
}

/* Components of the arcs that cost nothing any more; those that no such arc leads into
 * pay for their cheapest one. Returns how many did. */
static int raise(struct dual *d, double nothing)
{
    const struct espi_digraph *g = d->g;
    int paid = 0;
    for (int e = 0; e < g->m; e++)
        d->tight[e] = d->cost[e] <= nothing && g->head[e] != d->root;
    int count = espi_scc(&d->scc, g, d->tight, d->component);
    for (int c = 0; c < count; c++)
        d->least[c] = INFINITY;
    for (int e = 0; e < g->m; e++)
        if (d->component[g->tail[e]] != d->component[g->head[e]])
            d->least[d->component[g->head[e]]] =
                fmin(d->least[d->component[g->head[e]]], d->cost[e]);
    d->least[d->component[d->root]] = 0;
    for (int c = 0; c < count; c++) {
        if (!(d->least[c] > nothing) || d->least[c] == INFINITY)
            continue;
        paid++;
        if (d->least[c] > d->most)
            note_set(d, c);
    }
    for (int e = 0; e < g->m; e++) {
        int c = d->component[g->head[e]];
        if (d->component[g->tail[e]] != c && d->least[c] > nothing)
            d->cost[e] -= d->least[c];
    }
    return paid;
}

int espi_bound_cut(const struct espi_bound_task *task, const double *price,
                   unsigned char *inside)
{
    struct espi_arena_mark mark = espi_arena_mark(task->arena);
    struct espi_pricer pr;
    struct dual d = {.g = &task->v->g, .root = task->root, .inside = inside};
    if (espi_pricer_init(&pr, task->v, task->root, task->arena))
        return -1;
    double *mine = ESPI_ARENA_NEW(task->arena, double, pr.n_res);
    if (!mine)
        return -1;
    for (int r = 0; r < pr.n_res; r++)
        mine[r] = price[pr.resource[r]];
    double total = espi_pricer_run(&pr, mine);
    if (dual_init(&d, pr.switched ? pr.pair_cost : pr.link_cost, task->arena))
        return -1;
    memset(inside, 1, (size_t)d.g->n);
    while (raise(&d, 1e-9 * total) > 0)
        continue;
    espi_arena_release(task->arena, mark);
    return 0;
}
