/* Heap allocation. Everything the library allocates goes through here, so that the
 * tests can make each allocation fail in turn. */
#ifndef ESPI_BASE_ALLOC_H
#define ESPI_BASE_ALLOC_H

#include <stddef.h>

void *espi_malloc(size_t size);
void *espi_calloc(size_t count, size_t size);
void *espi_realloc(void *old, size_t size);
char *espi_strdup(const char *text);
void espi_free(void *p);

/* Arrays with the overflow of count * size checked. */
void *espi_array(size_t count, size_t size);

/* Grows *array so that it holds at least need elements; doubles, so that appending is
 * amortised constant. Returns 0 on success, -1 when out of memory (array untouched). */
int espi_grow(void **array, size_t *capacity, size_t need, size_t size);

#define ESPI_NEW(type, count) ((type *)espi_array((size_t)(count), sizeof(type)))

/* Test hook: when set, an allocation fails if it returns non-zero. */
extern int (*espi_alloc_should_fail)(void);

#endif
