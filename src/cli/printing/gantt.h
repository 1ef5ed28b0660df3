/* A timeline in the terminal: a row a host, blocks where it sends and receives. */
#ifndef ESPI_CLI_PRINTING_GANTT_H
#define ESPI_CLI_PRINTING_GANTT_H

#include <espalier/simulate.h>

#include "base/arena.h"

struct cli_gantt {
    const struct esp_platform *p;
    const struct esp_sim_result *result;
    double end_s; /* of the time axis */
    int n_hosts, n_rows, n_columns, label_width;
    int *node;           /* row -> node */
    int *row;            /* node -> row, -1: left out */
    double *recv, *send; /* row * n_columns + column: how long, in columns */
};

/* At most max_rows rows: the root, and of the other hosts those that are served last.
 * -1 when out of memory. */
int cli_gantt_init(struct cli_gantt *g, const struct esp_platform *p, int root,
                   const struct esp_sim_result *result, double end_s, int max_rows,
                   struct espi_arena *arena);

/* One that simulators can call for each transfer; gantt is a struct cli_gantt. */
void cli_gantt_add(void *gantt, const struct esp_sim_transfer *transfer);

void cli_gantt_print(const struct cli_gantt *g);

#endif
