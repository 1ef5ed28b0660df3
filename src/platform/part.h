/* Parts of platforms, and what their nodes are. */
#ifndef ESPI_PLATFORM_PART_H
#define ESPI_PLATFORM_PART_H

#include <espalier/platform.h>

/* A copy with these hosts alone, and the switches between them. Where they cannot reach
 * one another without hosts that are left out, all of these stay that lie on ways between
 * them, as switches: they forward, but take no part. place: node -> node of the part, -1:
 * it is not in it; may be NULL. ESP_EUSAGE where there is no host, or one that is none.
 */
esp_status espi_platform_part(const struct esp_platform *p, int n, const int *hosts,
                              struct esp_platform **out, int *place, struct esp_err *err);

/* A copy with the nodes of that set alone (by node), and of the links between them those
 * of which `keeps_link` (NULL: all) says so; all that is known of them stays known. */
esp_status espi_platform_without(const struct esp_platform *p, const unsigned char *keeps,
                                 int (*keeps_link)(const void *self, int link),
                                 const void *self, struct esp_platform **out,
                                 struct esp_err *err);

/* A copy in which the nodes whose names fit one of the patterns are switches. Patterns
 * stand apart by commas; '*' is any text and '?' any byte of it. ESP_EINPUT where one
 * fits no node, or where no host is left. */
esp_status espi_platform_with_switches(const struct esp_platform *p, const char *patterns,
                                       struct esp_platform **out, struct esp_err *err);

/* Does the text fit the pattern of that length? */
int espi_fits_pattern(const char *pattern, size_t length, const char *text);

/* The first host that looks like a switch, or -1: its name says so (*leaves is 0), or at
 * least two nodes have no other neighbour (*leaves is how many). */
int espi_find_likely_switch(const struct esp_platform *p, int *leaves);

#endif
