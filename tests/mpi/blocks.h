/* Parts as ranks describe them, of blocks of four bytes, and bytes that tell from whom
 * they are and for whom. */
#ifndef TESTS_MPI_BLOCKS_H
#define TESTS_MPI_BLOCKS_H

#include "check.h"

/* A part as the rank describes it: bytes, or blocks of four bytes with gaps. */
struct shape {
    MPI_Datatype type;
    int count;     /* of a part */
    size_t stride; /* from one block of four bytes to the next */
};

static struct shape make_shape(int how, int bytes)
{
    struct shape s = {MPI_BYTE, bytes, 4};
    MPI_Datatype block;
    if (how % 3 == 0)
        return s;
    s.stride = how % 3 == 1 ? 4 : 8;
    s.count = bytes / 4;
    MPI_Type_contiguous(4, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)s.stride, &s.type);
    MPI_Type_commit(&s.type);
    MPI_Type_free(&block);
    return s;
}

static void free_shape(struct shape *s)
{
    if (s->type != MPI_BYTE)
        MPI_Type_free(&s->type);
}

static size_t place(const struct shape *s, size_t i)
{
    return i / 4 * s->stride + i % 4;
}

/* Byte i of what `from` has for `to`. */
static unsigned char byte_of(int from, int to, size_t i)
{
    size_t x = i * 2654435761u + (size_t)from * 40503u + (size_t)to * 9176u;
    return (unsigned char)(x ^ x >> 8 ^ x >> 16);
}

#endif
