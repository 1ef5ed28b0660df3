/* Indexed binary min-heap over doubles: items are 0..n-1, each at most once in the heap.
 * Ties go to the lower item, so that every run gives the same order. Inline, because it
 * is the inner loop of the tree growers. */
#ifndef ESPI_BASE_HEAP_H
#define ESPI_BASE_HEAP_H

#include "base/arena.h"

/* What is compared stands in the heap itself: to follow items to their keys elsewhere
 * takes longer than to compare them. */
struct espi_heap_entry {
    double key;
    int item;
};

struct espi_heap {
    int size;
    struct espi_heap_entry *entry; /* heap order */
    int *place;                    /* item -> position in heap, -1 when absent */
    double *key;                   /* item -> key */
};

/* Memory for items 0..n-1 from the arena; -1 when out of memory. */
static inline int espi_heap_init(struct espi_heap *h, struct espi_arena *a, int n)
{
    h->size = 0;
    h->entry = ESPI_ARENA_NEW(a, struct espi_heap_entry, n);
    h->place = ESPI_ARENA_NEW(a, int, n);
    h->key = ESPI_ARENA_NEW(a, double, n);
    if (!h->entry || !h->place || !h->key)
        return -1;
    for (int i = 0; i < n; i++)
        h->place[i] = -1;
    return 0;
}

static inline void espi_heap_clear(struct espi_heap *h)
{
    while (h->size > 0)
        h->place[h->entry[--h->size].item] = -1;
}

static inline int espi_heap_before(struct espi_heap_entry a, struct espi_heap_entry b)
{
    /* without branches: which of two kids comes first no processor can guess */
    return (a.key < b.key) | ((a.key == b.key) & (a.item < b.item));
}

static inline void espi_heap_put(struct espi_heap *h, int at, struct espi_heap_entry x)
{
    h->entry[at] = x;
    h->place[x.item] = at;
}

/* Entry x, for which there is room at a place, goes there or nearer to the top. */
static inline void espi_heap_up(struct espi_heap *h, int at, struct espi_heap_entry x)
{
    while (at > 0) {
        int up = (at - 1) / 2;
        if (!espi_heap_before(x, h->entry[up]))
            break;
        espi_heap_put(h, at, h->entry[up]);
        at = up;
    }
    espi_heap_put(h, at, x);
}

/* ... or farther from it. */
static inline void espi_heap_down(struct espi_heap *h, int at, struct espi_heap_entry x)
{
    for (;;) {
        int kid = 2 * at + 1;
        if (kid >= h->size)
            break;
        if (kid + 1 < h->size)
            kid += espi_heap_before(h->entry[kid + 1], h->entry[kid]);
        if (!espi_heap_before(h->entry[kid], x))
            break;
        espi_heap_put(h, at, h->entry[kid]);
        at = kid;
    }
    espi_heap_put(h, at, x);
}

/* Inserts the item or changes its key. */
static inline void espi_heap_set(struct espi_heap *h, int item, double key)
{
    struct espi_heap_entry x = {key, item};
    int at = h->place[item];
    double old = h->key[item];
    h->key[item] = key;
    if (at < 0)
        espi_heap_up(h, h->size++, x);
    else if (key < old)
        espi_heap_up(h, at, x);
    else
        espi_heap_down(h, at, x);
}

static inline int espi_heap_has(const struct espi_heap *h, int item)
{
    return h->place[item] >= 0;
}

static inline int espi_heap_top(const struct espi_heap *h)
{
    return h->entry[0].item;
}

static inline int espi_heap_pop(struct espi_heap *h)
{
    int top = h->entry[0].item;
    h->place[top] = -1;
    if (--h->size > 0)
        espi_heap_down(h, 0, h->entry[h->size]);
    return top;
}

static inline void espi_heap_remove(struct espi_heap *h, int item)
{
    int at = h->place[item];
    if (at < 0)
        return;
    h->place[item] = -1;
    struct espi_heap_entry last = h->entry[--h->size];
    if (last.item == item)
        return;
    if (at > 0 && espi_heap_before(last, h->entry[(at - 1) / 2]))
        espi_heap_up(h, at, last);
    else
        espi_heap_down(h, at, last);
}

#endif
