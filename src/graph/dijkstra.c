/* Shortest paths on non-negative weights.
 *
 * Reference: E. W. Dijkstra, A note on two problems in connexion with graphs, 1959.
 * Complexity: O((n + m) log n) with the indexed binary heap.
 * Choice: a tie replaces the last arc only while the node is not settled. After that it
 * could close a cycle of arcs of weight zero. */
#include "graph/dijkstra.h"

#include <math.h>
#include <string.h>

int espi_dijkstra_init(struct espi_dijkstra *w, int n, struct espi_arena *arena)
{
    w->settled = ESPI_ARENA_NEW(arena, unsigned char, n);
    return w->settled ? espi_heap_init(&w->heap, arena, n) : -1;
}

/* Is it only reached? In which order such nodes are makes no difference. */
static int is_end(const struct espi_dijkstra_query *query, int v)
{
    return query->may_pass && !query->may_pass[v];
}

/* How many nodes it reaches that were not reached before. */
static int leave_node(struct espi_dijkstra *w, const struct espi_digraph *g, int u,
                      const struct espi_dijkstra_query *query, double *distance,
                      int *last_arc)
{
    int reached = 0;
    for (int k = g->out.start[u]; k < g->out.start[u + 1]; k++) {
        int arc = g->out.item[k], v = g->head[arc];
        double d = distance[u] + query->weight[arc];
        if (w->settled[v])
            continue;
        if (d < distance[v]) {
            reached += !(distance[v] < INFINITY);
            distance[v] = d;
            last_arc[v] = arc;
            if (!is_end(query, v))
                espi_heap_set(&w->heap, v, d);
        } else if (d == distance[v] && last_arc[v] >= 0 && u < g->tail[last_arc[v]]) {
            last_arc[v] = arc;
        }
    }
    return reached;
}

void espi_dijkstra_start(struct espi_dijkstra *w, const struct espi_digraph *g,
                         const struct espi_dijkstra_query *query, double *distance,
                         int *last_arc)
{
    memset(w->settled, 0, (size_t)g->n);
    for (int v = 0; v < g->n; v++) {
        distance[v] = INFINITY;
        last_arc[v] = -1;
    }
    espi_heap_clear(&w->heap);
    for (int i = 0; i < query->n_sources; i++) {
        distance[query->source[i]] = 0;
        espi_heap_set(&w->heap, query->source[i], 0);
    }
}

static int settle_nearest(struct espi_dijkstra *w, const struct espi_digraph *g,
                          const struct espi_dijkstra_query *query, double *distance,
                          int *last_arc)
{
    int u = espi_heap_pop(&w->heap);
    w->settled[u] = 1;
    return leave_node(w, g, u, query, distance, last_arc);
}

int espi_dijkstra(struct espi_dijkstra *w, const struct espi_digraph *g,
                  const struct espi_dijkstra_query *query, double *distance,
                  int *last_arc)
{
    espi_dijkstra_start(w, g, query, distance, last_arc);
    int reached = w->heap.size; /* the sources */
    while (w->heap.size > 0)
        reached += settle_nearest(w, g, query, distance, last_arc);
    return reached;
}

void espi_dijkstra_reach(struct espi_dijkstra *w, const struct espi_digraph *g,
                         const struct espi_dijkstra_query *query, int node,
                         double *distance, int *last_arc)
{
    while (w->heap.size > 0 && !w->settled[node])
        settle_nearest(w, g, query, distance, last_arc);
}
