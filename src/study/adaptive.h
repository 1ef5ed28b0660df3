/* The adaptive paper's scenario in the simulator, for the study, its tests and the
 * benchmark: 64 hosts of 8 clusters at 4 sites, 60 broadcasts from C2, of 1 MB falling to
 * nothing by a line, with gaps from 90 s that shrink by 7 percent each, while for random
 * spells a link to or from C3 has lost half to nine tenths of its rate. Transfers that
 * meet share as TCP flows do. */
#ifndef ESPI_STUDY_ADAPTIVE_H
#define ESPI_STUDY_ADAPTIVE_H

#include <stdint.h>

#include <espalier/platform.h>
#include <espalier/status.h>

enum { ESPI_ADAPT_CALLS = 60 };

enum espi_adapt_who {
    ESPI_ADAPT_NATIVE,       /* a binomial tree */
    ESPI_ADAPT_HIERARCHICAL, /* MPICH-G2's tree, in one piece */
    ESPI_ADAPT_SLICED,       /* the same, in slices */
    ESPI_ADAPT_MATEESCU,     /* made anew of the true network every five minutes */
    ESPI_ADAPT_STATIC,       /* our plan for the network without load */
    ESPI_ADAPT_ADAPTIVE,     /* our advisor, which knows only what ranks report, and whose
                                plans are in force one call after they were published */
    ESPI_ADAPT_PROBING,      /* the same, with probes while nobody calls */
    ESPI_ADAPT_MANY
};

extern const char *const espi_adapt_names[ESPI_ADAPT_MANY];

struct espi_adapt_call {
    double at_s, bytes;
    int loaded; /* is some link? */
    double took_s[ESPI_ADAPT_MANY];
    long probes;     /* before the call */
    double probes_s; /* that the call waited for one under way, which took_s counts */
};

esp_status espi_adapt_grid(struct esp_platform **out, struct esp_err *err);

/* The first n calls under the loads of that seed. */
esp_status espi_adapt_course(const struct esp_platform *grid, uint64_t seed, int n,
                             struct espi_adapt_call *calls, struct esp_err *err);

/* Calls without load [0] and with [1]. Begins as all zeros. */
struct espi_adapt_tally {
    int calls[2];
    double sum_s[2][ESPI_ADAPT_MANY];
    /* of adaptive over hierarchical, by call: 0.2 is a fifth less time */
    double gain[2], least[2], most[2];
    double probing_gain[2]; /* of probing over adaptive without */
    long probes;
    double probes_s;
};

void espi_adapt_count(struct espi_adapt_tally *t, const struct espi_adapt_call *call);

/* The paper's networks for annealing: bandwidths from 0.1 to 10 Mbit/s between all;
 * one-port, or multi-port with 0.1 s to begin a send. */
esp_status espi_adapt_matrix(int nodes, uint64_t seed, int multi_port,
                             struct esp_platform **out, struct esp_err *err);

#endif
