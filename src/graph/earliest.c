#include "graph/earliest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tuning.h"

int espi_earliest_init(struct espi_earliest *w, const struct espi_digraph *g,
                       struct espi_arena *arena)
{
    memset(w, 0, sizeof *w);
    w->g = g;
    w->has = ESPI_ARENA_NEW(arena, unsigned char, g->n);
    w->ready_s = ESPI_ARENA_NEW(arena, double, g->n);
    w->row = ESPI_ARENA_NEW(arena, int, g->m);
    w->size = ESPI_ARENA_NEW(arena, int, g->n);
    w->scans = ESPI_ARENA_NEW(arena, int, g->n);
    w->best = ESPI_ARENA_NEW(arena, int, g->n);
    if (!w->has || !w->ready_s || !w->row || !w->size || !w->scans || !w->best)
        return -1;
    return espi_heap_init(&w->heap, arena, g->n);
}

void espi_earliest_start(struct espi_earliest *w, const double *lag_s,
                         const double *hold_s, const unsigned char *level)
{
    w->lag_s = lag_s;
    w->hold_s = hold_s;
    w->level = level;
    w->top_level = 0;
    w->missing = w->g->n;
    memset(w->has, 0, (size_t)w->g->n);
    espi_heap_clear(&w->heap);
}

static int usable(const struct espi_earliest *w, int arc)
{
    return !w->has[w->g->head[arc]] && (!w->level || w->level[arc] <= w->top_level);
}

static int is_before(const struct espi_earliest *w, int a, int b)
{
    if (w->lag_s[a] != w->lag_s[b])
        return w->lag_s[a] < w->lag_s[b];
    return w->g->head[a] < w->g->head[b];
}

/* Best last. */
static int best_last(const void *a, const void *b, void *arg)
{
    int x = *(const int *)a, y = *(const int *)b;
    return is_before(arg, x, y) ? 1 : is_before(arg, y, x) ? -1 : 0;
}

/* Drops the arcs to nodes that have the message; gives the best of the others. The first
 * time the row is made of the node's arcs. */
static int scan_arcs(struct espi_earliest *w, int node)
{
    int first = w->g->out.start[node], fresh = w->size[node] < 0, best = -1, kept = 0;
    int count = fresh ? w->g->out.start[node + 1] - first : w->size[node];
    int *row = w->row + first;
    const int *arcs = fresh ? w->g->out.item + first : row;
    for (int k = 0; k < count; k++) {
        int arc = arcs[k];
        if (!usable(w, arc))
            continue;
        row[kept++] = arc;
        if (best < 0 || is_before(w, arc, best))
            best = arc;
    }
    w->size[node] = kept;
    return best;
}

static int next_best(struct espi_earliest *w, int node)
{
    int *row = w->row + w->g->out.start[node], *size = &w->size[node];
    if (w->scans[node] >= 0 && ++w->scans[node] <= ESPI_SCANS_MAX)
        return scan_arcs(w, node);
    if (w->scans[node] >= 0) {
        scan_arcs(w, node);
        if (*size > 1)
            qsort_r(row, (size_t)*size, sizeof *row, best_last, w);
        w->scans[node] = -1;
    }
    while (*size > 0 && !usable(w, row[*size - 1]))
        --*size;
    return *size > 0 ? row[*size - 1] : -1;
}

/* Finds the node's next arc and puts it into the heap by when it would be over. */
static void enter_node(struct espi_earliest *w, int node)
{
    int arc = w->best[node];
    if (arc < 0 || !usable(w, arc)) {
        arc = next_best(w, node);
        w->best[node] = arc;
    }
    if (arc >= 0 && isfinite(w->ready_s[node]))
        espi_heap_set(&w->heap, node, w->ready_s[node] + w->lag_s[arc]);
    else
        espi_heap_remove(&w->heap, node);
}

static void forget_row(struct espi_earliest *w, int node)
{
    w->size[node] = -1;
    w->scans[node] = 0;
    w->best[node] = -1;
}

void espi_earliest_add(struct espi_earliest *w, int node, double ready_s)
{
    w->missing -= !w->has[node];
    w->has[node] = 1;
    w->ready_s[node] = ready_s;
    forget_row(w, node);
    enter_node(w, node);
}

void espi_earliest_allow(struct espi_earliest *w, int level)
{
    w->top_level = level;
    for (int v = 0; v < w->g->n; v++)
        if (w->has[v]) {
            forget_row(w, v);
            enter_node(w, v);
        }
}

int espi_earliest_next(struct espi_earliest *w)
{
    while (w->missing > 0 && w->heap.size > 0) {
        int from = espi_heap_top(&w->heap), arc = w->best[from];
        if (usable(w, arc))
            return arc;
        enter_node(w, from);
    }
    return -1;
}

void espi_earliest_settle(struct espi_earliest *w, int arc, double sender_s,
                          double receiver_s)
{
    int from = w->g->tail[arc];
    if (isfinite(receiver_s))
        espi_earliest_add(w, w->g->head[arc], receiver_s);
    w->ready_s[from] = sender_s;
    enter_node(w, from);
}

int espi_earliest_grow(struct espi_earliest *w, const double *not_before_s, int *chosen)
{
    int count = 0, arc;
    while ((arc = espi_earliest_next(w)) >= 0) {
        int from = w->g->tail[arc], to = w->g->head[arc];
        double over_s = w->heap.key[from];
        chosen[count++] = arc;
        if (not_before_s)
            over_s = fmax(over_s, not_before_s[to]);
        espi_earliest_settle(w, arc, w->ready_s[from] + w->hold_s[arc], over_s);
    }
    return count;
}
