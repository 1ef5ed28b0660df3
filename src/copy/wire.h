/* Bytes as they travel between hosts: numbers in network order, texts and blocks with
 * their length before them. What is read is never trusted: a reader that meets something
 * wrong says so from then on, and gives zeros. */
#ifndef ESPI_COPY_WIRE_H
#define ESPI_COPY_WIRE_H

#include <stddef.h>
#include <stdint.h>

struct espi_wire_out {
    unsigned char *at; /* espi_free */
    size_t used, room;
    int failed; /* out of memory: nothing more is written */
};

void espi_wire_done(struct espi_wire_out *w);
void espi_put_raw(struct espi_wire_out *w, const void *data, size_t bytes);
void espi_put_8(struct espi_wire_out *w, unsigned value);
void espi_put_32(struct espi_wire_out *w, uint32_t value);
void espi_put_64(struct espi_wire_out *w, uint64_t value);
/* Seven bits a byte, so that small ones are short; also of numbers about zero. */
void espi_put_number(struct espi_wire_out *w, uint64_t value);
void espi_put_signed(struct espi_wire_out *w, int64_t value);
void espi_put_block(struct espi_wire_out *w, const void *data, size_t bytes);
void espi_put_text(struct espi_wire_out *w, const char *text);

struct espi_wire_in {
    const unsigned char *at, *end;
    int bad;
};

static inline struct espi_wire_in espi_wire_in(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    return (struct espi_wire_in){at, bytes ? at + bytes : at, 0};
}

/* NULL when there are not so many bytes. */
const unsigned char *espi_take_raw(struct espi_wire_in *r, size_t bytes);
unsigned espi_take_8(struct espi_wire_in *r);
uint32_t espi_take_32(struct espi_wire_in *r);
uint64_t espi_take_64(struct espi_wire_in *r);
uint64_t espi_take_number(struct espi_wire_in *r);
int64_t espi_take_signed(struct espi_wire_in *r);
const unsigned char *espi_take_block(struct espi_wire_in *r, size_t *bytes);
/* A text without a '\0' in it, at most size - 1 bytes long; "" and bad when it is not. */
void espi_take_text(struct espi_wire_in *r, char *out, size_t size);
/* A number of things of which each takes at least so many of the bytes that are left. */
uint32_t espi_take_count(struct espi_wire_in *r, size_t each);
/* Is all read, and nothing wrong? */
static inline int espi_wire_is_whole(const struct espi_wire_in *r)
{
    return !r->bad && r->at == r->end;
}

/* ---- sets of small numbers ---- */

static inline size_t espi_set_bytes(uint32_t n)
{
    return ((size_t)n + 7) / 8;
}
static inline int espi_set_has(const unsigned char *set, uint32_t i)
{
    return set[i / 8] >> (i % 8) & 1;
}
static inline void espi_set_add(unsigned char *set, uint32_t i)
{
    set[i / 8] = (unsigned char)(set[i / 8] | 1u << (i % 8));
}
static inline void espi_set_drop(unsigned char *set, uint32_t i)
{
    set[i / 8] = (unsigned char)(set[i / 8] & ~(1u << (i % 8)));
}
uint32_t espi_set_count(const unsigned char *set, uint32_t n);

#endif
