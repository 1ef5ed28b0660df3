/* Facts about platforms that several tests ask for. */
#ifndef TESTS_SUPPORT_PLATFORM_FACTS_H
#define TESTS_SUPPORT_PLATFORM_FACTS_H

#include <stdint.h>

#include <espalier/espalier.h>

/* FNV-1a of the platform written as JSON. */
uint64_t platform_hash(const struct esp_platform *p);

/* Same links with the same values, whatever the names are. */
int platform_same_links(const struct esp_platform *a, const struct esp_platform *b);

/* Links that leave the node. */
int platform_out_degree(const struct esp_platform *p, int node);

/* Mean and standard deviation of the bandwidths of all links. */
void platform_bandwidths(const struct esp_platform *p, double *mean, double *deviation);

#endif
