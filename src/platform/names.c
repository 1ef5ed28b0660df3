#include "platform/names.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"

void espi_names_done(struct espi_names *names)
{
    espi_free(names->text);
    espi_free(names->offset);
    espi_free(names->slot);
    memset(names, 0, sizeof *names);
}

static uint64_t hash_key;
static pthread_once_t hash_key_once = PTHREAD_ONCE_INIT;

/* A key of this process, so that no file can be made whose names all meet in one slot.
 * Numbers go by the order of arrival: the key never shows in a result. */
static void draw_hash_key(void)
{
    if (getrandom(&hash_key, sizeof hash_key, GRND_NONBLOCK) != sizeof hash_key)
        hash_key = (uint64_t)(uintptr_t)&hash_key * 0x9e3779b97f4a7c15u;
}

/* FNV-1a from a secret start, mixed after each eight bytes and at the end. */
static uint64_t hash(const char *name, size_t length)
{
    uint64_t h = 0xcbf29ce484222325u ^ hash_key;
    for (size_t i = 0; i < length; i++) {
        h = (h ^ (unsigned char)name[i]) * 0x100000001b3u;
        if (i % 8 == 7)
            h = (h ^ h >> 32 ^ hash_key) * 0x9e3779b97f4a7c15u;
    }
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

/* The slot where the name is, or the empty one where it would go. */
static size_t find_slot(const struct espi_names *names, const char *name, size_t length)
{
    size_t mask = names->slots - 1, i = hash(name, length) & mask;
    for (;; i = (i + 1) & mask) {
        int id = names->slot[i];
        if (!id)
            return i;
        const char *text = espi_names_text(names, id - 1);
        if (!strncmp(text, name, length) && !text[length])
            return i;
    }
}

int espi_names_find_n(const struct espi_names *names, const char *name, size_t length)
{
    if (!names->slots)
        return -1;
    return names->slot[find_slot(names, name, length)] - 1;
}

int espi_names_find(const struct espi_names *names, const char *name)
{
    return espi_names_find_n(names, name, strlen(name));
}

static int rehash(struct espi_names *names)
{
    pthread_once(&hash_key_once, draw_hash_key);
    size_t slots = names->slots ? names->slots * 2 : 32;
    int *fresh = espi_calloc(slots, sizeof *fresh);
    if (!fresh)
        return -1;
    espi_free(names->slot);
    names->slot = fresh;
    names->slots = slots;
    for (size_t i = 0; i < names->n; i++) {
        const char *text = espi_names_text(names, (int)i);
        names->slot[find_slot(names, text, strlen(text))] = (int)i + 1;
    }
    return 0;
}

int espi_names_intern(struct espi_names *names, const char *name)
{
    size_t length = strlen(name);
    if (2 * (names->n + 1) > names->slots && rehash(names))
        return -1;
    size_t at = find_slot(names, name, length);
    if (names->slot[at])
        return names->slot[at] - 1;
    if (espi_grow((void **)&names->text, &names->text_cap, names->text_size + length + 1,
                  1) ||
        espi_grow((void **)&names->offset, &names->offset_cap, names->n + 1,
                  sizeof *names->offset))
        return -1;
    memcpy(names->text + names->text_size, name, length + 1);
    names->offset[names->n] = names->text_size;
    names->text_size += length + 1;
    names->slot[at] = (int)++names->n;
    return (int)names->n - 1;
}
