/* What the generators share: the frame of a run, and the ways to add nodes and links. */
#ifndef ESPI_PLATFORM_GENERATE_COMMON_H
#define ESPI_PLATFORM_GENERATE_COMMON_H

#include <espalier/generate.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/rng.h"

/* More links than this are refused before any memory is taken. */
#define ESPI_GEN_LINKS_MAX 100000000.0

/* A platform under construction. */
struct espi_gen {
    struct esp_builder *builder;
    struct espi_rng rng;
    struct espi_arena arena; /* scratch, freed at the end of the run */
    struct esp_err *err;
};

typedef esp_status (*espi_gen_draw)(struct espi_gen *g, const void *options);

/* Copies the options of a caller, whose struct may be of another version, to ours. */
esp_status espi_generator_take(const char *generator, const void *given, void *ours,
                               struct esp_err *err);

/* Checks the options, which are of this version, against the description of the named
 * generator, seeds, names the platform after its options, draws and builds. */
esp_status espi_generate_own(const char *generator, const void *options,
                             espi_gen_draw draw, struct esp_platform **out,
                             struct esp_err *err);

/* Both. */
esp_status espi_generate(const char *generator, const void *given, espi_gen_draw draw,
                         struct esp_platform **out, struct esp_err *err);

/* ESP_EUSAGE when so many links are too many. */
esp_status espi_gen_check_links(struct espi_gen *g, double links);

/* Adds the host prefix + number. */
esp_status espi_gen_host(struct espi_gen *g, const char *prefix, int number,
                         const char *site);
/* Adds the hosts p0, p1, ... */
esp_status espi_gen_hosts(struct espi_gen *g, int count);

double espi_gen_bandwidth(struct espi_rng *r, const struct esp_gaussian *law);

/* Adds one link, or two opposite ones, each with a bandwidth drawn for itself. */
esp_status espi_gen_link(struct espi_gen *g, int from, int to, double latency_s,
                         const struct esp_gaussian *law);
esp_status espi_gen_pair(struct espi_gen *g, int u, int v, double latency_s,
                         const struct esp_gaussian *law);

/* Adds two opposite links with the same values. */
esp_status espi_gen_duplex(struct espi_gen *g, int u, int v, double latency_s,
                           double bandwidth_Bps);

#endif
