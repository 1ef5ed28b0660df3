#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int (*espi_alloc_should_fail)(void);

static int fails(void)
{
    return espi_alloc_should_fail && espi_alloc_should_fail();
}

void *espi_malloc(size_t size)
{
    return fails() ? NULL : malloc(size ? size : 1);
}

void *espi_calloc(size_t count, size_t size)
{
    return fails() ? NULL : calloc(count ? count : 1, size ? size : 1);
}

void *espi_realloc(void *old, size_t size)
{
    return fails() ? NULL : realloc(old, size ? size : 1);
}

char *espi_strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = espi_malloc(n);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

void espi_free(void *p)
{
    free(p);
}

void *espi_array(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return espi_malloc(count * size);
}

int espi_grow(void **array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return 0;
    size_t cap = *capacity ? *capacity : 16;
    while (cap < need) {
        if (cap > SIZE_MAX / 2)
            return -1;
        cap *= 2;
    }
    if (size && cap > SIZE_MAX / size)
        return -1;
    void *grown = espi_realloc(*array, cap * size);
    if (!grown)
        return -1;
    *array = grown;
    *capacity = cap;
    return 0;
}
