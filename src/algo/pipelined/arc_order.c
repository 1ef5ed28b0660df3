#include "algo/pipelined/arc_order.h"

#include <stdlib.h>

struct ranked {
    double key;
    int tail, head, arc;
};

static int by_key(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->tail != y->tail)
        return x->tail < y->tail ? -1 : 1;
    return x->head < y->head ? -1 : x->head > y->head;
}

/* Rows of a few arcs are the rule, and qsort is slow on them. */
static void sort(struct ranked *r, int n)
{
    if (n > 16) {
        qsort(r, (size_t)n, sizeof *r, by_key);
        return;
    }
    for (int i = 1; i < n; i++) {
        struct ranked moving = r[i];
        int at = i;
        for (; at > 0 && by_key(&moving, &r[at - 1]) < 0; at--)
            r[at] = r[at - 1];
        r[at] = moving;
    }
}

/* Sorts the arcs within each of the rows; item lists the arcs row by row. */
static int *sort_rows(const struct espi_view *v, const int *start, int n_rows,
                      const int *item, espi_arc_order order, struct espi_arena *arena)
{
    int m = v->g.m;
    int *sorted = ESPI_ARENA_NEW(arena, int, m);
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct ranked *ranked = ESPI_ARENA_NEW(arena, struct ranked, m);
    if (!sorted || !ranked)
        return NULL;
    for (int k = 0; k < m; k++) {
        int e = item ? item[k] : k;
        double key = order == ESPI_FAST_FIRST ? v->time_s[e] : -v->time_s[e];
        ranked[k] = (struct ranked){key, v->g.tail[e], v->g.head[e], e};
    }
    for (int i = 0; i < n_rows; i++)
        sort(ranked + start[i], start[i + 1] - start[i]);
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
