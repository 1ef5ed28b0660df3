/* Which reductions are ours. */
#ifndef ESPI_MPI_OPERATIONS_H
#define ESPI_MPI_OPERATIONS_H

#include <mpi.h>
#include <stddef.h>

/* An element as it lies in memory: from lb on, one every so many bytes. */
struct espi_element {
    size_t bytes;
    MPI_Aint lb;
    int plain; /* no gaps: its bytes are its data */
    int exact; /* the result is the same in whatever order they are combined */
};

/* May elements of the type be combined by the operation, in any order? Depends on nothing
 * but the arguments, which are the same on all ranks. What is wrong, too, is the
 * library's: it has the words for it. */
int espi_may_combine(MPI_Datatype type, MPI_Op op, struct espi_element *element);

#endif
