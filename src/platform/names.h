/* A set of names, numbered 0, 1, 2, ... in the order they came: a text pool and an open
 * hash. Used for nodes, sites and cables; 100,000 nodes cost one allocation, not 100,000.
 */
#ifndef ESPI_PLATFORM_NAMES_H
#define ESPI_PLATFORM_NAMES_H

#include <stddef.h>

struct espi_names {
    size_t n;
    char *text;
    size_t text_size, text_cap;
    size_t *offset;
    size_t offset_cap;
    int *slot; /* hash table of numbers + 1; 0: empty */
    size_t slots;
};

void espi_names_done(struct espi_names *names);

/* The number of the name, or -1. */
int espi_names_find(const struct espi_names *names, const char *name);
int espi_names_find_n(const struct espi_names *names, const char *name, size_t length);

/* The number of the name, added if it is new; -1 when out of memory. */
int espi_names_intern(struct espi_names *names, const char *name);

static inline const char *espi_names_text(const struct espi_names *names, int i)
{
    return names->text + names->offset[i];
}

#endif
