/* What a platform is, at a glance: counts, ranges, distributions, connectivity. */
#ifndef ESPI_CLI_PRINTING_SUMMARY_H
#define ESPI_CLI_PRINTING_SUMMARY_H

#include <stdbool.h>

#include "base/arena.h"
#include "platform/platform.h"

enum { SUMMARY_BINS = 12 }; /* looks: lines */

struct histogram_bin {
    double from, to; /* from <= value < to; the last one holds its upper end too */
    int count;
};

/* Of one property of the links. */
struct distribution {
    double min, median, mean, max;
    int lowest, highest; /* links */
    int n_bins;
    struct histogram_bin bins[SUMMARY_BINS];
};

struct degree {
    int min, max;
    double mean;
};

struct site_size {
    int hosts, switches;
};

struct summary {
    int hosts, switches, links;
    double density; /* links of those that could be: links / (n (n - 1)) */
    struct degree out, in;
    struct distribution bandwidth, latency; /* when there are links */
    struct site_size *sites;                /* one a site */
    int siteless;                           /* nodes */
    int root;                               /* where reach was looked at, -1: no host */
    int unreached_hosts;                    /* from root */
    unsigned char *seen;                    /* node -> reached from root? */
    bool strongly_connected;
};

/* root -1: the first host. Arrays live in the arena; -1 when out of memory. */
int cli_summarize(const struct esp_platform *p, int root, struct espi_arena *arena,
                  struct summary *s);

#endif
