/* Seeded random graphs and weights for the tests of the graph kernels. */
#ifndef TESTS_SUPPORT_RANDOM_GRAPH_H
#define TESTS_SUPPORT_RANDOM_GRAPH_H

#include <stdlib.h>

#include "base/arena.h"
#include "base/rng.h"
#include "graph/csr.h"

struct random_graph {
    struct espi_arena arena;
    struct espi_digraph g;
    int *tail, *head;
    double *weight;
};

/* Small whole numbers (many ties and zeros), uniform, or log-uniform over 1e-9..1e9 with
 * some zeros. */
enum weight_kind { WEIGHT_SMALL, WEIGHT_UNIFORM, WEIGHT_WIDE, WEIGHT_KINDS };

static inline double random_weight(struct espi_rng *r, enum weight_kind kind)
{
    if (kind == WEIGHT_SMALL)
        return (double)espi_rng_below(r, 4);
    if (kind == WEIGHT_UNIFORM)
        return espi_rng_range(r, 0, 10);
    return espi_rng_below(r, 8) ? espi_rng_log_range(r, 1e-9, 1e9) : 0;
}

static inline void random_weights(struct random_graph *rg, struct espi_rng *r,
                                  enum weight_kind kind)
{
    for (int a = 0; a < rg->g.m; a++)
        rg->weight[a] = random_weight(r, kind);
}

/* m arcs with both ends at random: self-loops, parallel arcs, nodes without arcs. The
 * first n - 1 arcs make every node reachable from node 0 when connected is set. */
static inline void random_graph_make(struct random_graph *rg, struct espi_rng *r, int n,
                                     int m, int connected)
{
    espi_arena_init(&rg->arena);
    rg->tail = ESPI_ARENA_NEW(&rg->arena, int, m);
    rg->head = ESPI_ARENA_NEW(&rg->arena, int, m);
    rg->weight = ESPI_ARENA_ZNEW(&rg->arena, double, m);
    for (int a = 0; a < m; a++) {
        int tree = connected && a < n - 1;
        rg->head[a] = tree ? a + 1 : (int)espi_rng_below(r, (uint32_t)n);
        rg->tail[a] = (int)espi_rng_below(r, (uint32_t)(tree ? a + 1 : n));
    }
    if (espi_digraph_init(&rg->g, n, m, rg->tail, rg->head, &rg->arena))
        abort();
}

static inline void random_graph_free(struct random_graph *rg)
{
    espi_arena_done(&rg->arena);
}

#endif
