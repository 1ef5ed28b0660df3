/* Things by a number, such as a handle: found, put and taken in a time that does not hang
 * on how many there are. What is put has room for an item, so that putting never fails.
 * Not for several threads at once. */
#ifndef ESPI_BASE_MAP_H
#define ESPI_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct espi_map_item {
    struct espi_map_item *next; /* in its bucket */
    uint64_t key;
};

/* All zero: empty. */
struct espi_map {
    struct espi_map_item **bucket;
    struct espi_map_item *only; /* the one bucket, till there is memory for more */
    int bits;                   /* of the number of buckets */
    size_t n;
};

/* The key is not in it yet. */
void espi_map_put(struct espi_map *map, struct espi_map_item *item, uint64_t key);
/* NULL: it is not there. */
struct espi_map_item *espi_map_find(const struct espi_map *map, uint64_t key);
/* The same, and it is no longer there. */
struct espi_map_item *espi_map_take(struct espi_map *map, uint64_t key);
/* Empty again; items are the caller's. */
void espi_map_done(struct espi_map *map);

#endif
