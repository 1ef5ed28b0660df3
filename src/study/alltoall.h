/* Trials of the all-to-all broadcast experiments, for the study, its tests and the
 * benchmark: unequal workstations, both algorithms by number of agents, all algorithms at
 * one length. */
#ifndef ESPI_STUDY_ALLTOALL_H
#define ESPI_STUDY_ALLTOALL_H

#include <stdint.h>

#include <espalier/platform.h>
#include <espalier/status.h>

/* Half fast, half slow, with the paper's times; with bytes: what it does not say, 80 and
 * 45 MB/s of fast and slow processors, 12.5 MB/s of wires, 11 MB/s end to end. */
esp_status espi_alltoall_halves(int n, int with_bytes, struct esp_platform **out,
                                struct esp_err *err);

/* Every workstation is by a factor slower than the paper's fast ones: by 1 or by `ratio`
 * (seeds that are even), or by anything between, uniform in the logarithm. */
esp_status espi_alltoall_mix(int n, double ratio, uint64_t seed,
                             struct esp_platform **out, struct esp_err *err);

/* ---- by number of agents ---- */

enum { ESPI_ALLTOALL_HOSTS = 8 };

struct espi_alltoall_agents {
    const char *algo;
    double estimate_s[ESPI_ALLTOALL_HOSTS], simulated_s[ESPI_ALLTOALL_HOSTS];
};

/* [0] is Gather-Broadcast, [1] Two-Step, for parts of 32 bytes on 8 workstations. */
esp_status espi_alltoall_agents(struct espi_alltoall_agents out[2], struct esp_err *err);

/* The number with the least time; of equals, the larger, as in the paper. */
int espi_alltoall_best(const double time_s[ESPI_ALLTOALL_HOSTS]);

/* ---- all algorithms ---- */

enum { ESPI_ALLTOALL_CLASSICAL = 6, ESPI_ALLTOALL_ALGOS = 9 };

/* The classical ones, the paper's two, auto. */
extern const char *const espi_alltoall_algos[ESPI_ALLTOALL_ALGOS];

struct espi_alltoall_trial {
    double time_s[ESPI_ALLTOALL_ALGOS]; /* simulated; NAN: not for so many hosts */
    double classical_s;                 /* the least of the classical ones */
    double gain;                        /* of auto over that: 1 is none */
    double plan_s;                      /* of the processor, for auto */
    char chosen[64];                    /* by auto */
};

esp_status espi_alltoall_try(const struct esp_platform *p, double part_bytes,
                             struct espi_alltoall_trial *trial, struct esp_err *err);

#endif
