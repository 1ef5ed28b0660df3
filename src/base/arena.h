/* A region of scratch memory that is freed at once. Algorithms take their working
 * arrays from the caller's arena and so need no clean-up paths. Not thread-safe: one
 * arena a thread. */
#ifndef ESPI_BASE_ARENA_H
#define ESPI_BASE_ARENA_H

#include <stddef.h>

struct espi_arena_block;

struct espi_arena {
    struct espi_arena_block *block; /* newest first */
    char *at, *end;
};

struct espi_arena_mark {
    struct espi_arena_block *block;
    char *at, *end;
};

void espi_arena_init(struct espi_arena *a);

/* Frees all memory; the arena may be used again. */
void espi_arena_done(struct espi_arena *a);

/* 16-byte aligned memory, not cleared; NULL when out of memory or on overflow. */
void *espi_arena_alloc(struct espi_arena *a, size_t count, size_t size);
void *espi_arena_zalloc(struct espi_arena *a, size_t count, size_t size);

/* Makes room for `need` more ints behind those used in a list from the arena (NULL at
 * first, with no room), which may move; -1 when out of memory. */
int espi_arena_grow_ints(struct espi_arena *a, int **list, size_t used, size_t need,
                         size_t *room);

/* What was allocated after the mark is given back by the release: for loops that need
 * scratch memory each time round. */
struct espi_arena_mark espi_arena_mark(struct espi_arena *a);
void espi_arena_release(struct espi_arena *a, struct espi_arena_mark mark);

#define ESPI_ARENA_NEW(arena, type, count)                                               \
    ((type *)espi_arena_alloc((arena), (size_t)(count), sizeof(type)))
#define ESPI_ARENA_ZNEW(arena, type, count)                                              \
    ((type *)espi_arena_zalloc((arena), (size_t)(count), sizeof(type)))

#endif
