/* Sites: groups of hosts that are nearer to each other than to all others. */
#ifndef ESPI_MEASURE_SITES_H
#define ESPI_MEASURE_SITES_H

#include "base/arena.h"
#include "measure/samples.h"

/* What was seen of two hosts, low < high. */
struct espi_pair {
    int low, high;
    double latency_s;  /* the least; -1: none */
    double rate_Bps;   /* quick: of the slower direction, the best; -1: none */
    double distance_s; /* by which sites are told */
    int tests;
};

struct espi_site_pairs {
    struct espi_pair *at; /* by (low, high) */
    int n;
};

/* Gathers latencies and quick rates; -1 when out of memory. */
int espi_pairs_gather(struct espi_site_pairs *pairs, const struct espi_samples *s,
                      struct espi_arena *arena);
/* The pair of two hosts in any order, or NULL. */
const struct espi_pair *espi_pairs_find(const struct espi_site_pairs *pairs, int a,
                                        int b);

/* Site numbers of all hosts, 0, 1, ... in the order of their first hosts. Gives how many
 * there are, or -1 when out of memory. */
int espi_sites_find(const struct espi_site_pairs *pairs, int n_hosts, int *site,
                    struct espi_arena *arena);

/* The middle latency between the hosts of two sites that have met, from * n_sites + to;
 * -1 where none has. NULL when out of memory. */
double *espi_site_latencies(const struct espi_site_pairs *pairs, const int *site,
                            int n_sites, struct espi_arena *arena);

#endif
