/* What is counted of calls, for tools: by collective the calls, their bytes, those that
 * plans ran, and those that were timed to compare plan and library. */
#ifndef ESPI_MPI_COUNTS_H
#define ESPI_MPI_COUNTS_H

#include <stdint.h>

/* Collectives by the names that statistics and tools have for them. */
/* clang-format off */
#define ESPI_EACH_COLLECTIVE(X)                                                          \
    X(BARRIER, "barrier") X(BCAST, "bcast") X(SCATTER, "scatter") X(GATHER, "gather")    \
    X(ALLGATHER, "allgather") X(ALLTOALL, "alltoall") X(REDUCE, "reduce")                \
    X(ALLREDUCE, "allreduce") X(REDUCE_SCATTER, "reduce-scatter")                        \
    X(SCATTERV, "scatterv") X(GATHERV, "gatherv") X(ALLTOALLV, "alltoallv")              \
    X(SCAN, "scan") X(EXSCAN, "exscan")
/* clang-format on */

enum espi_collective {
#define ESPI_NUMBER(NAME, name) ESPI_CALL_##NAME,
    ESPI_EACH_COLLECTIVE(ESPI_NUMBER)
#undef ESPI_NUMBER
        ESPI_CALL_KINDS
};

enum espi_counted {
    ESPI_COUNTED_CALLS,
    ESPI_COUNTED_BYTES,
    ESPI_COUNTED_PLANS,
    ESPI_COUNTED_TRIALS,
    ESPI_COUNTED
};

const char *espi_collective_name(enum espi_collective which);

void espi_count(enum espi_collective which, enum espi_counted what, uint64_t more);
void espi_count_call(enum espi_collective which, uint64_t bytes, int by_plan);
uint64_t espi_counted(enum espi_collective which, enum espi_counted what);

#endif
