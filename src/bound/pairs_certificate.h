/* Checks what prices prove of an alltoall, with none of the solver's code. */
#ifndef ESPI_BOUND_PAIRS_CERTIFICATE_H
#define ESPI_BOUND_PAIRS_CERTIFICATE_H

#include "solve/all_pairs.h"

/* limit: of memory for the costs between nodes; on more there is no bound. */
enum { ESPI_PAIRS_NODES = 2048 };

/* No plan gets a slice from each host to each other in less time than this: the busiest
 * resource is busy no less than the mean of all at any prices (>= 0), and at those no
 * part pays less than over its cheapest path. O(n^3), no heap. -1 when out of memory. */
int espi_pairs_certificate_s(const struct espi_flow_net *net, const double *price,
                             struct espi_arena *arena, double *bound_s);

/* Do the paths lead from each host to each other over links that join, with weights that
 * sum to 1 a pair, no resource being busy for longer than the period, and is the bound no
 * more than what the prices prove? ESP_EINTERNAL and a sentence when not. */
esp_status espi_pairs_certificate_check(const struct espi_flow_net *net,
                                        const struct espi_all_pairs *found,
                                        struct espi_arena *arena, struct esp_err *err);

#endif
