/* An operation that does not commute: x -> p * x + q, one after the other, on pairs of
 * numbers p and q. */
#ifndef TESTS_MPI_COMPOSE_H
#define TESTS_MPI_COMPOSE_H

#include <mpi.h>

struct line {
    unsigned p, q;
};

static struct line after(struct line first, struct line then)
{
    return (struct line){first.p * then.p, then.p * first.q + then.q};
}

static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    struct line *x = in, *y = inout;
    MPI_Aint low, extent;
    MPI_Type_get_extent(*type, &low, &extent);
    size_t step = (size_t)extent / sizeof *y;
    for (size_t i = 0; i < (size_t)*n; i++)
        y[i * step] = after(x[i * step], y[i * step]);
}

#endif
