#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/tuning.h"

enum { ALIGN = 16 }; /* derived: what any type needs */

struct espi_arena_block {
    struct espi_arena_block *older;
    size_t size;
};

static char *block_data(struct espi_arena_block *b)
{
    return (char *)b + ((sizeof *b + ALIGN - 1) / ALIGN) * ALIGN;
}

void espi_arena_init(struct espi_arena *a)
{
    memset(a, 0, sizeof *a);
}

void espi_arena_done(struct espi_arena *a)
{
    espi_arena_release(a, (struct espi_arena_mark){0});
}

static int add_block(struct espi_arena *a, size_t need)
{
    size_t size = a->block ? a->block->size * 2 : ESPI_ARENA_BLOCK;
    if (size < need)
        size = need;
    if (size > SIZE_MAX - 2 * sizeof(struct espi_arena_block) - ALIGN)
        return -1;
    struct espi_arena_block *b =
        espi_malloc(size + 2 * sizeof(struct espi_arena_block) + ALIGN);
    if (!b)
        return -1;
    b->older = a->block;
    b->size = size;
    a->block = b;
    a->at = block_data(b);
    a->end = a->at + size;
    return 0;
}

void *espi_arena_alloc(struct espi_arena *a, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX - ALIGN) / size)
        return NULL;
    /* Most requests find room in a block; in the tests they fail in turn all the same. */
    if (espi_alloc_should_fail && espi_alloc_should_fail())
        return NULL;
    size_t bytes = (count * size + ALIGN - 1) / ALIGN * ALIGN;
    if ((size_t)(a->end - a->at) < bytes || !a->at)
        if (add_block(a, bytes))
            return NULL;
    void *p = a->at;
    a->at += bytes;
    return p;
}

void *espi_arena_zalloc(struct espi_arena *a, size_t count, size_t size)
{
    void *p = espi_arena_alloc(a, count, size);
    if (p)
        memset(p, 0, count * size);
    return p;
}

int espi_arena_grow_ints(struct espi_arena *a, int **list, size_t used, size_t need,
                         size_t *room)
{
    if (used + need <= *room)
        return 0;
    size_t more = 2 * *room + need + 64;
    int *fresh = ESPI_ARENA_NEW(a, int, more);
    if (!fresh)
        return -1;
    if (used)
        memcpy(fresh, *list, used * sizeof *fresh);
    *list = fresh;
    *room = more;
    return 0;
}

struct espi_arena_mark espi_arena_mark(struct espi_arena *a)
{
    return (struct espi_arena_mark){a->block, a->at, a->end};
}

void espi_arena_release(struct espi_arena *a, struct espi_arena_mark mark)
{
    while (a->block != mark.block) {
        struct espi_arena_block *older = a->block->older;
        espi_free(a->block);
        a->block = older;
    }
    a->at = mark.at;
    a->end = mark.end;
}
