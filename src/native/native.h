/* What MPI libraries do by themselves: the algorithms of their collectives, each a
 * generator of scripts (native/script.h). Written from what the libraries' sources say,
 * and compared with what the libraries send (tests/native). */
#ifndef ESPI_NATIVE_NATIVE_H
#define ESPI_NATIVE_NATIVE_H

#include <espalier/plan.h>

#include "native/script.h"

/* One call of a collective. */
struct espi_native_task {
    int n_ranks, root;
    /* Of the message (bcast, reduce, allreduce), or of what each rank has of it. */
    int64_t bytes;
    int64_t segment_bytes; /* 0: no segments */
    int fanout;            /* of chains and k-nomial trees; 0: the library's own */
};

struct espi_native_algo {
    const char *library; /* "openmpi", "mpich" */
    esp_op op;
    const char *name; /* as the library calls it */
    void (*write)(struct espi_script *s, const struct espi_native_task *t);
    int takes_segments, takes_fanout;
    const char *summary;
};

/* All of them, and how many these are. */
const struct espi_native_algo *espi_native_algos(int *n);

/* NULL: there is none of that name. */
const struct espi_native_algo *espi_native_find(const char *library, esp_op op,
                                                const char *name);

/* What a library does where parts are of different sizes (MPI_Scatterv and its like), of
 * which it has one way, whatever the sizes; op: scatter, gather or alltoall. NULL: it is
 * not known. */
const struct espi_native_algo *espi_native_unequal(const char *library, esp_op op);

/* Is it the name of a library of which there are algorithms? */
int espi_native_is_library(const char *name);

/* Fills a script that is not yet initialised, calls matched. */
esp_status espi_native_write(const struct espi_native_algo *algo,
                             const struct espi_native_task *t, struct espi_script *s,
                             struct esp_err *err);

#endif
