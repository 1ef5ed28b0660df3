/* The platform as the other rooms see it: flat arrays, read only. */
#ifndef ESPI_PLATFORM_PLATFORM_H
#define ESPI_PLATFORM_PLATFORM_H

#include <espalier/platform.h>

/* Lists of ints, one after the other: row i is item[start[i] .. start[i+1]). */
struct espi_rows {
    int *start;
    int *item;
};

struct esp_platform {
    char *name;
    esp_model model;
    int n_nodes, n_hosts, n_links, n_shared, n_sites;

    char *text; /* all names, one after the other, each ended by '\0' */

    /* nodes */
    size_t *node_name; /* offset in text */
    unsigned char *node_kind;
    int *node_site; /* -1: none */
    double *send_s, *recv_s; /* NULL when no node has one; ESP_UNSET where absent */
    int *name_slot; /* open-addressing hash of names -> node, -1 empty */
    unsigned name_mask;

    size_t *site_name; /* offset in text; sites in order of first use */

    /* links, in the order they were added */
    int *tail, *head;
    double *latency_s, *bandwidth_Bps;
    struct espi_rows out, in; /* node -> links, by link number */

    /* cables that links share */
    size_t *shared_name;
    double *shared_Bps;
    struct espi_rows shared_links; /* shared -> links */
    struct espi_rows link_shared;  /* link -> shared; start is NULL when n_shared == 0 */
};

static inline const char *espi_node_name(const struct esp_platform *p, int node)
{
    return p->text + p->node_name[node];
}

static inline int espi_is_switch(const struct esp_platform *p, int node)
{
    return p->node_kind[node] == ESP_NODE_SWITCH;
}

static inline double espi_link_time_s(const struct esp_platform *p, int link, double bytes)
{
    return p->latency_s[link] + bytes / p->bandwidth_Bps[link];
}

#endif
