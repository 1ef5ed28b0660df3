/* Scripts played on a platform: when each rank is through. */
#ifndef ESPI_NATIVE_PLAY_H
#define ESPI_NATIVE_PLAY_H

#include <espalier/simulate.h>

#include "native/connections.h"

/* How the library sends. A message of up to eager_bytes leaves at once, and its sender
 * goes on. Of a longer one the first first_bytes leave with the request to send; the rest
 * when the receiver has started its receive and answered (rendezvous). A message takes
 * message_s of its sender before it leaves, and of its receiver when it is there, beside
 * its bytes; each rank has one such thing at a time. */
struct espi_protocol {
    double eager_bytes, first_bytes, message_s;
};

struct espi_play {
    const struct esp_platform *p;
    const struct espi_script *script;
    struct espi_protocol protocol;
    const int *nodes; /* rank -> its host; NULL: rank i is on host i */
    double until_s;   /* looks no further; 0: to the end */
    /* When every connection has carried so many messages the rest is taken to go as they
     * did, as in rings, whose rounds are alike; 0: all of it is played. */
    uint64_t rounds_most;
    /* Called for each message when it has arrived, its number among all for its slice;
     * may be NULL. */
    void (*on_transfer)(void *arg, const struct esp_sim_transfer *transfer);
    void *arg;
    /* what comes out */
    struct espi_rank_connections connections;
    double *end_s;  /* rank -> when its call is over; infinite: not before until_s */
    double *busy_s; /* by resource */
    uint64_t events, messages;
};

/* Fills in what comes out; it lives in the arena. ESP_EINPUT when ranks wait for each
 * other for ever. */
esp_status espi_play_script(struct espi_play *play, struct espi_arena *arena,
                            struct esp_err *err);

#endif
