/* Orders of hosts, and trees that look at nothing but the place of a host in one. */
#ifndef ESPI_ALGO_ATOMIC_RANKS_H
#define ESPI_ALGO_ATOMIC_RANKS_H

#include "algo/algo.h"
#include "algo/transfers.h"

/* The root, then the other hosts by number; from the arena, NULL when out of memory. */
int *espi_ranks(const struct espi_task *task);

/* The same, and transfers among them, over their own links where there are such. */
esp_status espi_ranks_begin(const struct espi_task *task, const int **hosts,
                            struct espi_transfers *t, struct esp_err *err);

/* How long a send of a host takes on average over its arcs (infinite without arcs): the
 * one number a host that the algorithms for sender-only costs know. NULL: no memory. */
double *espi_mean_send_s(const struct espi_task *task);

/* The root, then the other hosts by increasing cost, ties by number. */
int *espi_ranks_by(const struct espi_task *task, const double *cost);

/* Adds a binomial tree over hosts[0..n), hosts[0] its root: rank r hears from r without
 * its lowest bit and serves the farthest rank first. */
esp_status espi_add_binomial(struct espi_transfers *t, const int *hosts, int n,
                             struct esp_err *err);

/* The same with digits of another base in place of bits. */
esp_status espi_add_knomial(struct espi_transfers *t, const int *hosts, int n, int radix,
                            struct esp_err *err);

#endif
