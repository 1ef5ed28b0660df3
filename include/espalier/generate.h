/* Generators: platforms made from a few numbers and a seed. The same options and seed
 * give the same platform on every machine. Every host can be reached from node 0.
 *
 * Fill the options with their _defaults, change what matters, generate. An option out
 * of its range gives ESP_EUSAGE and a sentence that names the option and the range. */
#ifndef ESPALIER_GENERATE_H
#define ESPALIER_GENERATE_H

#include <stdint.h>

#include <espalier/platform.h>
#include <espalier/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bandwidths drawn from a Gaussian, and drawn again while not above mean / 100. */
struct esp_gaussian {
    double mean_Bps, deviation_Bps;
};

/* ---- random: a random tree and, between other pairs, links with some probability ----
 */
struct esp_random_options {
    size_t size; /* set by esp_random_options_defaults */
    int nodes;
    double density; /* probability of a link between two nodes that the tree left apart */
    struct esp_gaussian bandwidth;
    double latency_s;
    int directed; /* the links beyond the tree are drawn for each direction alone */
    uint64_t seed;
};

ESP_API void esp_random_options_defaults_sized(struct esp_random_options *options,
                                               size_t size);
static inline void esp_random_options_defaults(struct esp_random_options *options)
{
    esp_random_options_defaults_sized(options, sizeof *options);
}
ESP_API esp_status esp_generate_random(const struct esp_random_options *options,
                                       struct esp_platform **out, struct esp_err *err);

/* ---- complete: every node linked with every other ---- */
struct esp_complete_options {
    size_t size; /* set by esp_complete_options_defaults */
    int nodes;
    struct esp_gaussian bandwidth;
    double latency_s;
    uint64_t seed;
};

ESP_API void esp_complete_options_defaults_sized(struct esp_complete_options *options,
                                                 size_t size);
static inline void esp_complete_options_defaults(struct esp_complete_options *options)
{
    esp_complete_options_defaults_sized(options, sizeof *options);
}
ESP_API esp_status esp_generate_complete(const struct esp_complete_options *options,
                                         struct esp_platform **out, struct esp_err *err);

/* ---- hub: preferential attachment, a few nodes have most of the links ---- */
struct esp_hub_options {
    size_t size; /* set by esp_hub_options_defaults */
    int nodes;
    int attach; /* links of a new node to earlier ones */
    struct esp_gaussian bandwidth;
    double latency_s;
    uint64_t seed;
};

ESP_API void esp_hub_options_defaults_sized(struct esp_hub_options *options, size_t size);
static inline void esp_hub_options_defaults(struct esp_hub_options *options)
{
    esp_hub_options_defaults_sized(options, sizeof *options);
}
ESP_API esp_status esp_generate_hub(const struct esp_hub_options *options,
                                    struct esp_platform **out, struct esp_err *err);

/* ---- tiers: Doar's Internet of three levels (WAN, MANs, LANs) ---- */
struct esp_tiers_options {
    size_t size; /* set by esp_tiers_options_defaults */
    int nodes;   /* about so many: chooses nm, nl, sw, sm and sl; 0: as they are given */
    int nw, nm, nl; /* networks: WANs (1), MANs a WAN, LANs a MAN */
    int sw, sm, sl; /* nodes of a WAN, of a MAN, of a LAN */
    int rw, rm, rl; /* redundancy within a WAN, a MAN, a LAN; 1: a tree */
    int rmw, rlm;   /* links of a MAN to the WAN, of a LAN to its MAN */
    /* Drawn again until arcs / (n (n - 1)) lies between these; 0 and 1: any will do. */
    double density_min, density_max;
    int classes; /* bandwidths and delays of Tiers instead of the next two */
    struct esp_gaussian bandwidth;
    double latency_s;
    uint64_t seed;
};

ESP_API void esp_tiers_options_defaults_sized(struct esp_tiers_options *options,
                                              size_t size);
static inline void esp_tiers_options_defaults(struct esp_tiers_options *options)
{
    esp_tiers_options_defaults_sized(options, sizeof *options);
}
/* Presets "30", "65", "30b", "65b" (platforms of the size of the broadcast paper's)
 * and "10000". */
ESP_API esp_status esp_tiers_options_preset(struct esp_tiers_options *options,
                                            const char *preset, struct esp_err *err);
ESP_API esp_status esp_generate_tiers(const struct esp_tiers_options *options,
                                      struct esp_platform **out, struct esp_err *err);

/* ---- sites: a grid of sites, clusters and hosts ---- */

/* What is known of each site, in place of s1, s2, ... and equal cables; row-major
 * matrices of count x count values, the diagonal unused; any of them may be NULL. */
struct esp_site_table {
    int count;
    const char *const *names;
    const double *wan_latency_s, *wan_Bps;
};

struct esp_sites_options {
    size_t size;                       /* set by esp_sites_options_defaults */
    int sites, clusters, hosts;        /* sites, clusters a site, hosts a cluster */
    double lan_Bps, site_Bps, wan_Bps; /* within a cluster, a site, between two sites */
    double lan_latency_s, site_latency_s, wan_latency_s; /* host to host */
    double spread; /* WAN values times a factor from [1/spread, spread]; 1: as given */
    int switches;  /* cluster switches and site routers, not host-to-host links */
    const struct esp_site_table *table; /* or NULL */
    uint64_t seed;
};

ESP_API void esp_sites_options_defaults_sized(struct esp_sites_options *options,
                                              size_t size);
static inline void esp_sites_options_defaults(struct esp_sites_options *options)
{
    esp_sites_options_defaults_sized(options, sizeof *options);
}
/* Preset "teragrid": the 4 sites, 8 clusters and 64 hosts of the adaptive paper;
 * "testbed": the same with unequal cables that an emulated grid can carry. */
ESP_API esp_status esp_sites_options_preset(struct esp_sites_options *options,
                                            const char *preset, struct esp_err *err);
ESP_API esp_status esp_generate_sites(const struct esp_sites_options *options,
                                      struct esp_platform **out, struct esp_err *err);

/* ---- matrix: every pair of nodes has its own latency and bandwidth ---- */
struct esp_matrix_options {
    size_t size; /* set by esp_matrix_options_defaults */
    int nodes;
    double latency_min_s, latency_max_s;
    double bandwidth_min_Bps, bandwidth_max_Bps;
    int log;       /* uniform in the logarithm */
    int symmetric; /* both directions of a pair alike */
    uint64_t seed;
};

ESP_API void esp_matrix_options_defaults_sized(struct esp_matrix_options *options,
                                               size_t size);
static inline void esp_matrix_options_defaults(struct esp_matrix_options *options)
{
    esp_matrix_options_defaults_sized(options, sizeof *options);
}
ESP_API esp_status esp_generate_matrix(const struct esp_matrix_options *options,
                                       struct esp_platform **out, struct esp_err *err);

/* ---- hnow: fast and slow workstations with send and receive overheads ---- */
struct esp_hnow_options {
    size_t size; /* set by esp_hnow_options_defaults */
    int fast, slow;
    double fast_send_s, fast_recv_s, slow_send_s, slow_recv_s;
    double end_fast_s, end_mixed_s, end_slow_s; /* end-to-end latency by kinds of nodes */
    double bandwidth_Bps;
    double fast_Bps, slow_Bps; /* what a send or receive takes a byte; 0: nothing */
    double wire_Bps;           /* sends follow one another at this rate; 0: at any */
};

ESP_API void esp_hnow_options_defaults_sized(struct esp_hnow_options *options,
                                             size_t size);
static inline void esp_hnow_options_defaults(struct esp_hnow_options *options)
{
    esp_hnow_options_defaults_sized(options, sizeof *options);
}
ESP_API esp_status esp_generate_hnow(const struct esp_hnow_options *options,
                                     struct esp_platform **out, struct esp_err *err);

/* ---- fabric: clusters of hosts with links of their own between the clusters ---- */
struct esp_fabric_options {
    size_t size;         /* set by esp_fabric_options_defaults */
    int clusters, hosts; /* of each cluster */
    double inside_Bps, outside_Bps;
    double latency_s;
    double spread; /* bandwidths are multiplied by factors from [1/spread, spread] */
    int switches;  /* hosts hang on switches */
    int spines;    /* switches that join all hosts, with `switches` */
    uint64_t seed;
};

ESP_API void esp_fabric_options_defaults_sized(struct esp_fabric_options *options,
                                               size_t size);
static inline void esp_fabric_options_defaults(struct esp_fabric_options *options)
{
    esp_fabric_options_defaults_sized(options, sizeof *options);
}
ESP_API esp_status esp_generate_fabric(const struct esp_fabric_options *options,
                                       struct esp_platform **out, struct esp_err *err);

/* ---- measured: networks as esp_samples_platform and `espalier measure` give them ----
 */
typedef enum esp_measured_kind {
    ESP_MEASURED_FLAT,  /* hosts on one switch, with unequal ports */
    ESP_MEASURED_RACKS, /* racks of one site, each behind an uplink */
    ESP_MEASURED_FULL,  /* sites, each joined with every other */
    ESP_MEASURED_CHAIN, /* sites in a row */
    ESP_MEASURED_RING,
    ESP_MEASURED_STAR, /* sites joined with one of them */
    ESP_MEASURED_KIND_COUNT
} esp_measured_kind;

struct esp_measured_table; /* what a preset gives instead of drawing it */

struct esp_measured_options {
    size_t size;  /* set by esp_measured_options_defaults */
    int kind;     /* esp_measured_kind */
    int hosts;    /* in all */
    int areas;    /* sites or racks; 0: as many as the seed says */
    double noise; /* values are up to so much off, as those of real measurements are */
    double bandwidth_min_Bps, bandwidth_max_Bps; /* of ports and cables */
    const struct esp_measured_table *table;      /* set by presets, else NULL */
    uint64_t seed;
};

ESP_API void esp_measured_options_defaults_sized(struct esp_measured_options *options,
                                                 size_t size);
static inline void esp_measured_options_defaults(struct esp_measured_options *options)
{
    esp_measured_options_defaults_sized(options, sizeof *options);
}
/* Presets "three-sites", "four-racks", "one-switch" and "chain": small networks of round
 * numbers, the same with every seed. */
ESP_API esp_status esp_measured_options_preset(struct esp_measured_options *options,
                                               const char *preset, struct esp_err *err);
ESP_API esp_status esp_generate_measured(const struct esp_measured_options *options,
                                         struct esp_platform **out, struct esp_err *err);

#ifdef __cplusplus
}
#endif
#endif
