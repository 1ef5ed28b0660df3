/* What happens at given times, earliest first: a heap of events. At equal times the lower
 * kind goes first, then the lower number. Freed by espi_free(events.item). */
#ifndef ESPI_BASE_EVENTS_H
#define ESPI_BASE_EVENTS_H

#include <stddef.h>

#include "base/alloc.h"

struct espi_event {
    double at_s;
    int kind, id;
    int about; /* the caller's, of no weight in the order */
};

struct espi_events {
    struct espi_event *item;
    size_t size, room;
};

static inline int espi_event_before(const struct espi_event *a,
                                    const struct espi_event *b)
{
    if (a->at_s != b->at_s)
        return a->at_s < b->at_s;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->id < b->id;
}

/* -1 when out of memory. O(log events), as is taking one. */
static inline int espi_events_push(struct espi_events *e, struct espi_event event)
{
    if (espi_grow((void **)&e->item, &e->room, e->size + 1, sizeof *e->item))
        return -1;
    size_t at = e->size++;
    while (at > 0 && espi_event_before(&event, &e->item[(at - 1) / 2])) {
        e->item[at] = e->item[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    e->item[at] = event;
    return 0;
}

/* The first of them, of which there is at least one. */
static inline struct espi_event espi_events_pop(struct espi_events *e)
{
    struct espi_event top = e->item[0], last = e->item[--e->size];
    size_t at = 0;
    for (;;) {
        size_t kid = 2 * at + 1;
        if (kid >= e->size)
            break;
        if (kid + 1 < e->size && espi_event_before(&e->item[kid + 1], &e->item[kid]))
            kid++;
        if (!espi_event_before(&e->item[kid], &last))
            break;
        e->item[at] = e->item[kid];
        at = kid;
    }
    e->item[at] = last;
    return top;
}

#endif
