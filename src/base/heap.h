/* Indexed binary min-heap over doubles: items are 0..n-1, each at most once in the heap.
 * Ties go to the lower item, so that every run gives the same order. Inline, because it
 * is the inner loop of the tree growers. */
#ifndef ESPI_BASE_HEAP_H
#define ESPI_BASE_HEAP_H

#include "base/arena.h"

struct espi_heap {
    int size;
    int *item;   /* heap order */
    int *place;  /* item -> position in heap, -1 when absent */
    double *key; /* item -> key */
};

/* Memory for items 0..n-1 from the arena; -1 when out of memory. */
static inline int espi_heap_init(struct espi_heap *h, struct espi_arena *a, int n)
{
    h->size = 0;
    h->item = ESPI_ARENA_NEW(a, int, n);
    h->place = ESPI_ARENA_NEW(a, int, n);
    h->key = ESPI_ARENA_NEW(a, double, n);
    if (!h->item || !h->place || !h->key)
        return -1;
    for (int i = 0; i < n; i++)
        h->place[i] = -1;
    return 0;
}

static inline void espi_heap_clear(struct espi_heap *h)
{
    while (h->size > 0)
        h->place[h->item[--h->size]] = -1;
}

static inline int espi_heap_before(const struct espi_heap *h, int a, int b)
{
    return h->key[a] < h->key[b] || (h->key[a] == h->key[b] && a < b);
}

static inline void espi_heap_put(struct espi_heap *h, int at, int item)
{
    h->item[at] = item;
    h->place[item] = at;
}

static inline void espi_heap_up(struct espi_heap *h, int at)
{
    int item = h->item[at];
    while (at > 0) {
        int up = (at - 1) / 2;
        if (!espi_heap_before(h, item, h->item[up]))
            break;
        espi_heap_put(h, at, h->item[up]);
        at = up;
    }
    espi_heap_put(h, at, item);
}

static inline void espi_heap_down(struct espi_heap *h, int at)
{
    int item = h->item[at];
    for (;;) {
        int kid = 2 * at + 1;
        if (kid >= h->size)
            break;
        if (kid + 1 < h->size && espi_heap_before(h, h->item[kid + 1], h->item[kid]))
            kid++;
        if (!espi_heap_before(h, h->item[kid], item))
            break;
        espi_heap_put(h, at, h->item[kid]);
        at = kid;
    }
    espi_heap_put(h, at, item);
}

/* Inserts the item or changes its key. */
static inline void espi_heap_set(struct espi_heap *h, int item, double key)
{
    if (h->place[item] < 0) {
        h->key[item] = key;
        espi_heap_put(h, h->size, item);
        espi_heap_up(h, h->size++);
        return;
    }
    double old = h->key[item];
    h->key[item] = key;
    if (key < old)
        espi_heap_up(h, h->place[item]);
    else
        espi_heap_down(h, h->place[item]);
}

static inline int espi_heap_has(const struct espi_heap *h, int item)
{
    return h->place[item] >= 0;
}

static inline int espi_heap_top(const struct espi_heap *h)
{
    return h->item[0];
}

static inline int espi_heap_pop(struct espi_heap *h)
{
    int top = h->item[0];
    h->place[top] = -1;
    int last = h->item[--h->size];
    if (h->size > 0) {
        espi_heap_put(h, 0, last);
        espi_heap_down(h, 0);
    }
    return top;
}

static inline void espi_heap_remove(struct espi_heap *h, int item)
{
    int at = h->place[item];
    if (at < 0)
        return;
    h->place[item] = -1;
    int last = h->item[--h->size];
    if (last == item)
        return;
    espi_heap_put(h, at, last);
    espi_heap_up(h, at);
    espi_heap_down(h, h->place[last]);
}

#endif
