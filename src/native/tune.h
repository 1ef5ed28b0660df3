/* The best of what an MPI library has, for one network: which of its own algorithms it
 * should take for which messages, and on which host each rank should be. */
#ifndef ESPI_NATIVE_TUNE_H
#define ESPI_NATIVE_TUNE_H

#include <stdio.h>

#include "native/simulate.h"
#include "native/table.h"

struct espi_native_choice {
    const struct espi_native_algo *algo;
    int64_t segment_bytes;
    int fanout;
};

struct espi_tune_ask {
    const struct espi_native_table *table;
    struct espi_protocol protocol;
    const esp_op *ops;
    int n_ops;
    const double *sizes; /* of messages as plans count them; each larger than the last */
    int n_sizes;
    int first;    /* the node that rank 0 is on; -1: any */
    int promises; /* ESPI_PROMISE_* */
    int n_orders; /* of hosts that are tried; 0: hosts stay in the given order */
};

/* One operation and size. The root is rank 0. */
struct espi_tune_cell {
    esp_op op;
    double size_bytes;
    struct espi_native_choice usual, chosen;
    int is_rule;     /* the library has to be told; else chosen is what is usual */
    double given_s;  /* as usual, in the given order (ESPI_ORDER_GIVEN) */
    double usual_s;  /* as usual, in the order found */
    double chosen_s; /* as chosen, in the order found */
};

struct espi_tune {
    int n_ranks, n_cells, n_sizes;
    int *nodes;                   /* rank -> its host */
    int is_ordered;               /* other than the given order */
    struct espi_tune_cell *cells; /* sizes of the first operation, of the next, ... */
};

/* No cell is predicted later than it is as given, but for a hundredth in another order of
 * hosts (ESPI_ORDER_LATER). A rule counts from its size up to the next; it is not later
 * than what is usual at either. Operations of which the table knows nothing have no
 * cells. Free with espi_tune_free. */
esp_status espi_tune(const struct esp_platform *p, const struct espi_tune_ask *ask,
                     struct espi_tune **out, struct esp_err *err);
void espi_tune_free(struct espi_tune *t);

/* What the library is told, in its own format: Open MPI's dynamic rules, or MPICH's
 * selection. For communicators of as many ranks only; all else is as usual. */
struct espi_tune_file {
    const struct espi_native_table *table;
    const struct espi_tune *tune;
};
esp_status espi_tune_write_rules(const void *file, FILE *out, struct esp_err *err);
esp_status espi_tune_write_selection(const void *file, FILE *out, struct esp_err *err);

#endif
