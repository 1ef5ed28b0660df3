/* What a platform costs, where that is known: prices of bytes over links and cables, and
 * of machines at nodes. */
#ifndef ESPI_PLATFORM_PRICES_H
#define ESPI_PLATFORM_PRICES_H

#include <stddef.h>

#include <espalier/platform.h>

struct espi_price_list {
    double *at; /* USD a GB, of the first n; the others are free of charge */
    size_t n, room;
};

struct espi_prices {
    struct espi_price_list links, cables;
    struct {
        struct esp_machines *at; /* of the first n nodes; of the others nothing is said */
        size_t n, room;
    } machines;
};

#define ESPI_BYTES_PER_GB 1e9 /* derived: a GB of a price list is 10^9 bytes */

void espi_prices_done(struct espi_prices *prices);

/* ESP_EINPUT where the price is none. */
esp_status espi_price_set(struct espi_price_list *list, int i, double usd_per_GB,
                          struct esp_err *err);
double espi_price_get(const struct espi_price_list *list, int i);
esp_status espi_machines_set(struct espi_prices *prices, int node,
                             const struct esp_machines *machines, struct esp_err *err);

/* One machine without a price where nothing is said. */
struct esp_machines espi_machines_get(const struct espi_prices *prices, int node);

int espi_prices_equal(const struct espi_prices *a, const struct espi_prices *b,
                      int n_nodes, int n_links, int n_cables);

/* Sets all prices of one in the builder of another with the same numbers. */
esp_status espi_prices_copy(const struct espi_prices *prices, struct esp_builder *b,
                            struct esp_err *err);

/* A cable all of whose links leave one node (*is_out: 1), or all enter one, is a port of
 * that node, of which there is one with each machine; -1: it is neither. Of a cable of
 * one link the owner is the link's tail, and it counts as the link does. */
int espi_port_owner(const struct esp_platform *p, int cable, int *is_out);

/* Limits of what one machine sends and receives, by site: "aws=5Gbps/10Gbps,...". A copy
 * of the platform in which each node of these sites has a cable for all its links out and
 * one for those in; nodes of other sites have none. max_count >= 1 and usd_per_hour >= 0
 * are of all hosts; 0 and ESP_UNSET: as they are. limits may be NULL. */
esp_status espi_platform_with_limits(const struct esp_platform *p, const char *limits,
                                     int max_count, double usd_per_hour,
                                     struct esp_platform **out, struct esp_err *err);

/* Is anything said of the site? */
int espi_site_has_limit(const char *limits, const char *site);

/* A copy of the nodes of which count (by node) says that machines are rented there, each
 * a host as strong as all of these together. */
esp_status espi_platform_rented(const struct esp_platform *p, const int *count,
                                struct esp_platform **out, struct esp_err *err);

#endif
