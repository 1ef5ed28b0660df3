/* The network of a copy as a platform: what is given, without the hosts and links that
 * are not to be used, or, where nothing is known, hosts that are all alike. */
#ifndef ESPI_COPY_NETWORK_H
#define ESPI_COPY_NETWORK_H

#include <espalier/platform.h>

/* Links that are not to be used, as pairs of names. */
struct espi_copy_ban {
    const char *from, *to;
};

/* A copy of the platform with those hosts alone (by node; switches stay), and without the
 * links that are banned. */
esp_status espi_copy_network(const struct esp_platform *p, const unsigned char *keeps,
                             const struct espi_copy_ban *ban, int n_bans,
                             struct esp_platform **out, struct esp_err *err);

/* Hosts of these names, each linked with each, all alike. */
esp_status espi_copy_uniform(const char *const *names, int n, struct esp_platform **out,
                             struct esp_err *err);

/* Which nodes can be reached. */
void espi_copy_reach(const struct esp_platform *p, int root, unsigned char *reached);

#endif
