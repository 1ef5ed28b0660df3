/* The readers behind esp_platform_read: one file a format, each from text in memory to a
 * platform. */
#ifndef ESPI_PLATFORM_READERS_H
#define ESPI_PLATFORM_READERS_H

#include <stddef.h>

#include <espalier/platform.h>

#include "base/scan.h"

struct espi_source {
    const char *text;
    size_t length;
    const char *where;     /* for messages; its base name becomes the platform's name */
    esp_model model;       /* ESP_MODEL_DEFAULT: the format's default */
    const char *rate_unit; /* of rates without one, in edge lists and by Slurm; or NULL */
    int undirected;        /* edge lists alone: as in esp_read_options */
    double link_Bps;       /* of links of which nothing is said; 0: none */
};

/* What one of the source's rate_unit is; *Bps as it was where there is none. */
esp_status espi_source_unit(const struct espi_source *source, double *Bps,
                            struct esp_err *err);

esp_status espi_read_json(const char *text, size_t length, const char *where,
                          struct esp_platform **out, struct esp_err *err);

/* As esp_platform_read; *found: which format it was; may be NULL. */
esp_status espi_platform_read_as(const char *path, const struct esp_read_options *options,
                                 esp_format *found, struct esp_platform **out,
                                 struct esp_err *err);

/* Two matrices of the same nodes; the model is that of the first. */
esp_status espi_read_matrix(const struct espi_source *latency,
                            const struct espi_source *bandwidth,
                            struct esp_platform **out, struct esp_err *err);
esp_status espi_read_edges(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err);
esp_status espi_read_links(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err);
/* Does a table of links begin with this line? */
int espi_is_links_header(struct espi_span line);
esp_status espi_read_tiers(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err);
esp_status espi_read_graphml(const struct espi_source *source, struct esp_platform **out,
                             struct esp_err *err);

esp_status espi_read_slurm(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err);
/* Is this a line of topology.conf, or the first that counts of ibnetdiscover's? */
int espi_is_slurm_line(struct espi_span line);
int espi_is_ibnet_line(struct espi_span line);
esp_status espi_read_ibnet(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err);
esp_status espi_read_nccl(const struct espi_source *source, struct esp_platform **out,
                          struct esp_err *err);

/* Read by libsimgrid, in a process of its own. */
esp_status espi_read_simgrid(const struct espi_source *source, struct esp_platform **out,
                             struct esp_err *err);

/* What that process may see of the file, written anew; espi_free(*text). */
esp_status espi_scan_simgrid(const struct espi_source *source, char **text,
                             size_t *length, struct esp_err *err);

/* What that process printed, to a platform. */
esp_status espi_read_simgrid_dump(const struct espi_source *source,
                                  struct esp_platform **out, struct esp_err *err);

/* ---- what the readers share ---- */

/* A builder with the source's name and model. */
esp_status espi_reader_begin(const struct espi_source *source, esp_model default_model,
                             struct esp_builder **b, struct esp_err *err);

/* Builds when status is ESP_OK, frees the builder in any case, gives the status. */
esp_status espi_reader_end(const struct espi_source *source, struct esp_builder *b,
                           esp_status status, struct esp_platform **out,
                           struct esp_err *err);

/* A host without site and overheads. */
esp_status espi_reader_add_host(struct esp_builder *b, const char *name, int *node,
                                struct esp_err *err);

#endif
