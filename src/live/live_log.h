/* What the advisor's page shows: the calls of the program, the plans that were published,
 * what is believed of the network. The advisor's thread writes it down; the page's thread
 * reads it. What they share is values and text, copied under a lock that is never held
 * for longer than a copy takes, so that neither waits for the other's work. */
#ifndef ESPI_LIVE_LIVE_LOG_H
#define ESPI_LIVE_LIVE_LOG_H

#include <stdint.h>
#include <stdio.h>

#include "advisor/advisor.h"
#include "channel/report.h"
#include "live/live_source.h"

struct espi_live_log;

esp_status espi_live_log_create(struct espi_live_log **out, struct esp_err *err);
void espi_live_log_free(struct espi_live_log *l);

/* ---- the advisor's thread; what there is no memory for is left out ---- */

/* The network, at the beginning and when it was measured anew: it is drawn, and plans and
 * rates begin again. Borrowed until the next. */
esp_status espi_live_log_set_network(struct espi_live_log *l,
                                     const struct esp_platform *p, double now_s,
                                     struct esp_err *err);

/* A plan was published, and is taken over: advice->plan is NULL afterwards. */
void espi_live_log_publish(struct espi_live_log *l, const struct espi_advisor *a,
                           struct espi_advice *advice, double now_s);

/* What ranks say; a report before the advisor hears of it, who is asked what it would
 * have expected. */
void espi_live_log_report(struct espi_live_log *l, struct espi_advisor *a,
                          const struct espi_report *report, double now_s);
void espi_live_log_outcome(struct espi_live_log *l, const struct espi_outcome *outcome,
                           double now_s);

/* Looks at belief and outlook, if it has not just done so. */
void espi_live_log_look(struct espi_live_log *l, const struct espi_advisor *a,
                        double now_s);

/* ---- any thread: JSON as docs/formats.md says ---- */

/* Calls up to that number are left out. */
esp_status espi_live_log_write_state(struct espi_live_log *l, uint64_t since,
                                     double now_s, FILE *out, struct esp_err *err);
esp_status espi_live_log_write_network(struct espi_live_log *l, FILE *out,
                                       struct esp_err *err);
/* ESP_EINPUT: there is none of that number, or no more. */
esp_status espi_live_log_write_plan(struct espi_live_log *l, uint64_t id, FILE *out,
                                    struct esp_err *err);

/* The advisor's page, with what stands in the log. */
struct espi_live_source espi_live_log_source(struct espi_live_log *l);

#endif
