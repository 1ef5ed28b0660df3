/* Which reductions are ours. */
#ifndef ESPI_MPI_OPERATIONS_H
#define ESPI_MPI_OPERATIONS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* An element as it lies in memory: from lb on, one every so many bytes. */
struct espi_element {
    size_t bytes;
    MPI_Aint lb;
    int plain;    /* no gaps: its bytes are its data */
    int exact;    /* the result is the same in whatever order they are combined */
    int in_order; /* they must be combined in the order of the ranks */
};

/* May elements of the type be combined by the operation? Depends on nothing
 * but the arguments, which are the same on all ranks. What is wrong, too, is the
 * library's: it has the words for it. */
int espi_may_combine(MPI_Datatype type, MPI_Op op, struct espi_element *element);

/* Is it one of MPI's own, which nobody frees? */
int espi_is_own_op(MPI_Op op);

/* What is combined, by what. */
struct espi_reduction {
    MPI_Datatype type;
    MPI_Op op;
    struct espi_element element;
};

/* For runs (espi_run_options): arg is the reduction. */
void espi_reduction_combine(void *arg, void *into, const void *from, size_t bytes);

/* Is it made in the same way each time? The same call gives the same bits each time, as
 * the standard recommends: so are sums that are rounded, unless the user wants trials of
 * them, too. */
int espi_is_fixed(const struct espi_reduction *r);

/* The bytes of so many elements as they travel, also of none; -1: the reduction is the
 * library's. Depends on nothing but the arguments, which are the same on all ranks. */
int64_t espi_reduction_bytes(struct espi_reduction *r, MPI_Count count);

#endif
