/* What happens to a network while a plan runs: links and cables that change their rate,
 * hosts that stop.
 *
 * A trace is a text, a line an event, cells apart by commas (or by blanks when the line
 * has no comma); '#' begins a comment line:
 *
 *   TIME, node, NAME              the host stops
 *   TIME, link, FROM, TO, FACTOR  the link runs at FACTOR times its bandwidth
 *   TIME, pair, A, B, FACTOR      both directions do
 *   TIME, cable, NAME, FACTOR     a shared cable does
 *
 * FACTOR is a number from 0 up, `down` for 0 or `up` for 1. One event in one word, for
 * the command line, is KIND:NAME@TIME[=FACTOR], down when there is no factor; two names
 * stand apart by ':'. */
#ifndef ESPI_SIM_TRACE_H
#define ESPI_SIM_TRACE_H

#include <stddef.h>

#include <espalier/simulate.h>

/* Begins as {0}. */
struct espi_trace {
    struct esp_rate_change *changes;
    size_t n_changes, changes_room;
    struct esp_node_stop *stops;
    size_t n_stops, stops_room;
};

void espi_trace_done(struct espi_trace *t);

/* Adds the events of a text; names are those of the platform. On failure (ESP_EINPUT,
 * ESP_ENOMEM) nothing is added. `where` names the text in messages. */
esp_status espi_trace_parse(struct espi_trace *t, const struct esp_platform *p,
                            const char *text, size_t length, const char *where,
                            struct esp_err *err);

/* Adds the event of one word; ESP_EUSAGE when it is not of that form, ESP_EINPUT when the
 * platform has no such thing. */
esp_status espi_trace_add_word(struct espi_trace *t, const struct esp_platform *p,
                               const char *word, struct esp_err *err);

#endif
