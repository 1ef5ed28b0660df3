#include "algo/pipelined/arc_order.h"

#include "base/sort.h"

struct ranked {
    double key;
    int tail, head, arc;
};

static inline int is_ranked_before(const struct ranked *x, const struct ranked *y)
{
    if (x->key != y->key)
        return x->key < y->key;
    if (x->tail != y->tail)
        return x->tail < y->tail;
    return x->head < y->head;
}

ESPI_DEFINE_SORT(sort_ranked, struct ranked, is_ranked_before)

/* Sorts the arcs within each of the rows; item lists the arcs row by row. */
static int *sort_rows(const struct espi_view *v, const int *start, int n_rows,
                      const int *item, espi_arc_order order, struct espi_arena *arena)
{
    int m = v->g.m;
    int *sorted = ESPI_ARENA_NEW(arena, int, m);
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct ranked *ranked = ESPI_ARENA_NEW(arena, struct ranked, m);
    int longest = 0;
    for (int i = 0; i < n_rows; i++)
        longest = start[i + 1] - start[i] > longest ? start[i + 1] - start[i] : longest;
    struct ranked *scratch = ESPI_ARENA_NEW(arena, struct ranked, longest);
    if (!sorted || !ranked || !scratch)
        return NULL;
    for (int k = 0; k < m; k++) {
        int e = item ? item[k] : k;
        double key = order == ESPI_FAST_FIRST ? v->time_s[e] : -v->time_s[e];
        ranked[k] = (struct ranked){key, v->g.tail[e], v->g.head[e], e};
    }
    for (int i = 0; i < n_rows; i++)
        sort_ranked(ranked + start[i], scratch, start[i + 1] - start[i]);
    for (int k = 0; k < m; k++)
        sorted[k] = ranked[k].arc;
    espi_arena_release(arena, mark);
    return sorted;
}

int *espi_arcs_by_time(const struct espi_view *v, espi_arc_order order,
                       struct espi_arena *arena)
{
    const int start[] = {0, v->g.m};
    return sort_rows(v, start, 1, NULL, order, arena);
}

int *espi_arcs_by_sender(const struct espi_view *v, espi_arc_order order,
                         struct espi_arena *arena)
{
    return sort_rows(v, v->g.out.start, v->g.n, v->g.out.item, order, arena);
}
