#include "graph/csr.h"

#include <string.h>

void espi_rows_fill(struct espi_rows *rows, int n, int m, const int *key)
{
    int *start = rows->start;
    memset(start, 0, ((size_t)n + 1) * sizeof *start);
    for (int i = 0; i < m; i++)
        start[key[i] + 1]++;
    for (int r = 0; r < n; r++)
        start[r + 1] += start[r];
    /* Backwards, each row filled from its end: start[r + 1] walks down to start[r] of the
     * result, and so the array ends up shifted by one place. */
    for (int i = m - 1; i >= 0; i--)
        rows->item[--start[key[i] + 1]] = i;
    memmove(start, start + 1, (size_t)n * sizeof *start);
    start[n] = m;
}

int espi_rows_build(struct espi_rows *rows, int n, int m, const int *key,
                    struct espi_arena *arena)
{
    struct espi_rows r;
    r.start = ESPI_ARENA_NEW(arena, int, (size_t)n + 1);
    r.item = ESPI_ARENA_NEW(arena, int, m);
    if (!r.start || !r.item)
        return -1;
    espi_rows_fill(&r, n, m, key);
    *rows = r;
    return 0;
}

int espi_digraph_init(struct espi_digraph *g, int n, int m, const int *tail,
                      const int *head, struct espi_arena *arena)
{
    struct espi_digraph d = {.n = n, .m = m, .tail = tail, .head = head};
    if (espi_rows_build(&d.out, n, m, tail, arena) ||
        espi_rows_build(&d.in, n, m, head, arena))
        return -1;
    *g = d;
    return 0;
}
