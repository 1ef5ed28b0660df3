/* Samples: what a probe saw of a network. A list of hosts and of measured values, as a
 * text that can be kept and digested again:
 *
 *   espalier-samples/1
 *   host NAME RANKS              numbered 0, 1, 2, ...
 *   latency ROUND FROM TO S      one way, of a message of a few bytes
 *   send ROUND FROM TO S         time that the sender spends on such a message
 *   recv ROUND FROM TO S         time that the receiver spends on one that has arrived
 *   quick ROUND FROM TO BPS      rate of a few packets, a rough value
 *   rate ROUND FROM TO BPS       rate of a transfer that lasts
 *   bus ROUND HOST HOST BPS      rate between two ranks of one host
 *   check ROUND FROM TO BPS      like rate, but what is made of the others is held to it
 *
 * FROM and TO are numbers of hosts. Transfers of one round ran side by side, which is
 * what tells of cables that they share. */
#ifndef ESPI_MEASURE_SAMPLES_H
#define ESPI_MEASURE_SAMPLES_H

#include <stdio.h>

#include <espalier/status.h>

#include "platform/names.h"

#define ESPI_SAMPLES_FORMAT "espalier-samples/1"
enum { ESPI_SAMPLES_HOSTS_MAX = 20000 };

enum espi_sample_kind {
    ESPI_SAMPLE_LATENCY,
    ESPI_SAMPLE_SEND,
    ESPI_SAMPLE_RECV,
    ESPI_SAMPLE_QUICK,
    ESPI_SAMPLE_RATE,
    ESPI_SAMPLE_BUS,
    ESPI_SAMPLE_CHECK,
    ESPI_SAMPLE_KINDS
};

struct espi_sample {
    enum espi_sample_kind kind;
    int round, from, to;
    double value;
};

struct espi_samples {
    struct espi_names hosts;
    int *ranks; /* of each host */
    size_t ranks_room;
    struct espi_sample *at;
    size_t n, room;
};

void espi_samples_done(struct espi_samples *s);

/* Both check what they are given: ESP_EINPUT and why. */
esp_status espi_samples_add_host(struct espi_samples *s, const char *name, int ranks,
                                 struct esp_err *err);
esp_status espi_samples_add(struct espi_samples *s, const struct espi_sample *sample,
                            struct esp_err *err);

static inline int espi_samples_hosts(const struct espi_samples *s)
{
    return (int)s->hosts.n;
}

/* The last round there is, or -1. */
int espi_samples_last_round(const struct espi_samples *s);

/* s must be empty, and is empty after a failure. */
esp_status espi_samples_parse(struct espi_samples *s, const char *text, size_t length,
                              const char *where, struct esp_err *err);
esp_status espi_samples_read(struct espi_samples *s, const char *path,
                             struct esp_err *err);
/* Takes a struct espi_samples; for espi_write_file. */
esp_status espi_samples_write_stream(const void *samples, FILE *out, struct esp_err *err);

#endif
