/* Buckets of lists, as many as there are items or more, if there is memory for them. */
#include "base/map.h"

#include "base/alloc.h"

/* published: Knuth, Multiplicative hashing; 2^64 by the golden ratio */
static const uint64_t FACTOR = UINT64_C(11400714819323198485);

enum { FIRST_BITS = 4 }; /* rounding: of the first buckets; the number doubles */

/* Handles are addresses, or count up: the high bits of the product have to do with all of
 * a key. */
static size_t bucket_of(uint64_t key, int bits)
{
    return bits ? (size_t)(key * FACTOR >> (64 - bits)) : 0;
}

static struct espi_map_item **first_link(struct espi_map *map, uint64_t key)
{
    return map->bucket ? &map->bucket[bucket_of(key, map->bits)] : &map->only;
}

static void link_item(struct espi_map *map, struct espi_map_item *item)
{
    struct espi_map_item **first = first_link(map, item->key);
    item->next = *first;
    *first = item;
}

static void move_list(struct espi_map *map, struct espi_map_item *list)
{
    for (struct espi_map_item *item = list, *next; item; item = next) {
        next = item->next;
        link_item(map, item);
    }
}

/* Without memory it stays as it is: lists are longer, and right. */
static void grow_map(struct espi_map *map)
{
    struct espi_map old = *map;
    int bits = old.bucket ? old.bits + 1 : FIRST_BITS;
    struct espi_map_item **bucket =
        espi_calloc((size_t)1 << bits, sizeof(struct espi_map_item *));
    if (!bucket)
        return;
    *map = (struct espi_map){.bucket = bucket, .bits = bits, .n = old.n};
    move_list(map, old.only);
    for (size_t i = 0; old.bucket && i < (size_t)1 << old.bits; i++)
        move_list(map, old.bucket[i]);
    espi_free(old.bucket);
}

void espi_map_put(struct espi_map *map, struct espi_map_item *item, uint64_t key)
{
    if (!map->bucket || map->n >> map->bits)
        grow_map(map);
    item->key = key;
    link_item(map, item);
    map->n++;
}

struct espi_map_item *espi_map_find(const struct espi_map *map, uint64_t key)
{
    struct espi_map_item *item =
        map->bucket ? map->bucket[bucket_of(key, map->bits)] : map->only;
    while (item && item->key != key)
        item = item->next;
    return item;
}

struct espi_map_item *espi_map_take(struct espi_map *map, uint64_t key)
{
    struct espi_map_item **link = first_link(map, key);
    while (*link && (*link)->key != key)
        link = &(*link)->next;
    struct espi_map_item *item = *link;
    if (item) {
        *link = item->next;
        map->n--;
    }
    return item;
}

void espi_map_done(struct espi_map *map)
{
    espi_free(map->bucket);
    *map = (struct espi_map){.bucket = NULL};
}
