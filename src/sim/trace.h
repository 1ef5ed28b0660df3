/* What happens to a network while a plan runs: links and cables that change their rate,
 * hosts that stop. <espalier/simulate.h> says how a trace is written. */
#ifndef ESPI_SIM_TRACE_H
#define ESPI_SIM_TRACE_H

#include <stddef.h>

#include <espalier/simulate.h>

/* Begins as {0}. */
struct esp_trace {
    struct esp_rate_change *changes;
    size_t n_changes, changes_room;
    struct esp_node_stop *stops;
    size_t n_stops, stops_room;
};

/* For one that is not made by esp_trace_create. */
void espi_trace_done(struct esp_trace *t);

#endif
