/* One algorithm of an MPI library on a platform. */
#ifndef ESPI_NATIVE_SIMULATE_H
#define ESPI_NATIVE_SIMULATE_H

#include "native/native.h"
#include "native/play.h"

#define ESPI_NATIVE_BYTES                                                                \
    0x1p52 /* limit: messages have fewer, so that all are counted                        \
            */

struct espi_native_run {
    const struct espi_native_algo *algo;
    int root;              /* a node, a host */
    double size_bytes;     /* of the message as plans count it (esp_op) */
    int64_t segment_bytes; /* 0: no segments */
    int fanout;            /* 0: the library's own */
    struct espi_protocol protocol;
    const int *nodes;     /* rank -> its host; NULL: rank i is on host i */
    double until_s;       /* what ends later takes for ever; 0: no limit */
    uint64_t rounds_most; /* as in struct espi_play; 0: no limit */
    void (*on_transfer)(void *arg, const struct esp_sim_transfer *transfer);
    void *arg;
};

/* What a rank has of a message of that size: all of it, or its part. */
int64_t espi_native_bytes(const struct esp_platform *p, esp_op op, double size_bytes);

/* The calls of the ranks; done with espi_script_done. */
esp_status espi_native_script(const struct esp_platform *p,
                              const struct espi_native_run *run, struct espi_script *s,
                              struct esp_err *err);

/* What comes of it: a host has its message when its call is over. Free the result with
 * esp_sim_result_free. */
esp_status espi_native_simulate(const struct esp_platform *p,
                                const struct espi_native_run *run,
                                struct esp_sim_result **out, struct esp_err *err);

/* The makespan only; infinite when it is later than until_s. Of two runs that differ in
 * that alone, either has the same makespan or takes for ever. */
esp_status espi_native_makespan(const struct esp_platform *p,
                                const struct espi_native_run *run, double *makespan_s,
                                struct esp_err *err);

#endif
