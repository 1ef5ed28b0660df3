/* Stable sorting of what is compared in a few instructions: without a call a comparison,
 * which is most of what qsort() takes. O(n log n); what is in order already, and pieces
 * that are, O(n). */
#ifndef ESPI_BASE_SORT_H
#define ESPI_BASE_SORT_H

#include <string.h>

/* derived: up to so many are sooner in order by moving each to its place. */
enum { ESPI_SORT_FEW = 16 };

/* Defines void NAME(TYPE *item, TYPE *scratch, int n), which sorts n items by
 * BEFORE(const TYPE *, const TYPE *); scratch has room for as many. */
#define ESPI_DEFINE_SORT(NAME, TYPE, BEFORE)                                             \
    static void NAME##_few(TYPE *item, int n)                                            \
    {                                                                                    \
        for (int i = 1; i < n; i++) {                                                    \
            TYPE moving = item[i];                                                       \
            int at = i;                                                                  \
            for (; at > 0 && BEFORE(&moving, &item[at - 1]); at--)                       \
                item[at] = item[at - 1];                                                 \
            item[at] = moving;                                                           \
        }                                                                                \
    }                                                                                    \
    static void NAME##_merge(const TYPE *item, int middle, int n, TYPE *out)             \
    {                                                                                    \
        int a = 0, b = middle, at = 0;                                                   \
        while (a < middle && b < n)                                                      \
            if (BEFORE(&item[b], &item[a]))                                              \
                out[at++] = item[b++];                                                   \
            else                                                                         \
                out[at++] = item[a++];                                                   \
        memcpy(out + at, item + a, (size_t)(middle - a) * sizeof *out);                  \
        memcpy(out + at + middle - a, item + b, (size_t)(n - b) * sizeof *out);          \
    }                                                                                    \
    static void NAME(TYPE *item, TYPE *scratch, int n)                                   \
    {                                                                                    \
        TYPE *from = item, *to = scratch;                                                \
        for (int i = 0; i < n; i += ESPI_SORT_FEW)                                       \
            NAME##_few(item + i, n - i < ESPI_SORT_FEW ? n - i : ESPI_SORT_FEW);         \
        for (int width = ESPI_SORT_FEW; width < n; width *= 2) {                         \
            for (int i = 0; i < n; i += 2 * width) {                                     \
                int left = n - i, all = left < 2 * width ? left : 2 * width;             \
                int half = all < width ? all : width;                                    \
                if (half == all || !BEFORE(&from[i + half], &from[i + half - 1]))        \
                    memcpy(to + i, from + i, (size_t)all * sizeof *to);                  \
                else                                                                     \
                    NAME##_merge(from + i, half, all, to + i);                           \
            }                                                                            \
            TYPE *other = from;                                                          \
            from = to;                                                                   \
            to = other;                                                                  \
        }                                                                                \
        if (from != item)                                                                \
            memcpy(item, from, (size_t)n * sizeof *item);                                \
    }

#endif
