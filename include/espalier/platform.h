/* Platforms: what a network is. Nodes, directed links, and links that share a cable.
 * A platform is made with a builder, a reader or a generator and never changes after. */
#ifndef ESPALIER_PLATFORM_H
#define ESPALIER_PLATFORM_H

#include <stdint.h>
#include <stdio.h>

#include <espalier/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct esp_platform;
struct esp_builder;

/* What a node can do at once. */
typedef enum esp_model {
    ESP_MODEL_DEFAULT = -1, /* in options: none is asked for. No platform has it. */
    ESP_MODEL_ONE_PORT = 0, /* one send and one receive at a time */
    ESP_MODEL_HALF_DUPLEX,  /* one send or one receive at a time */
    ESP_MODEL_MULTI_PORT,   /* sends start one after the other, then run side by side */
    ESP_MODEL_CAPACITY,     /* links have capacities, nodes no limits */
    ESP_MODEL_HNOW, /* the processor of a workstation works for each send and receive,
                       one at a time; the network has no limits */
    ESP_MODEL_COUNT
} esp_model;

typedef enum esp_node_kind {
    ESP_NODE_HOST,
    ESP_NODE_SWITCH, /* forwards, but neither keeps nor copies */
} esp_node_kind;

#define ESP_UNSET (-1.0) /* an optional time that was not given */

/* ---- names of enumerators, as they stand in files ---- */
ESP_API const char *esp_model_name(esp_model model);
ESP_API int esp_model_parse(const char *text, esp_model *model); /* 0, or -1 */

/* ---- building ---- */
ESP_API esp_status esp_builder_create(struct esp_builder **out, struct esp_err *err);
ESP_API void esp_builder_free(struct esp_builder *b);
ESP_API esp_status esp_builder_set_name(struct esp_builder *b, const char *name,
                                        struct esp_err *err);
ESP_API void esp_builder_set_model(struct esp_builder *b, esp_model model);

struct esp_node_spec {
    const char *name; /* unique, not empty */
    const char *site; /* or NULL */
    esp_node_kind kind;
    double send_s, recv_s; /* overhead of a send or receive, or ESP_UNSET */
};

/* Adds a node and gives its number (0, 1, 2, ...) in *node (may be NULL). */
ESP_API esp_status esp_builder_add_node(struct esp_builder *b,
                                        const struct esp_node_spec *spec, int *node,
                                        struct esp_err *err);

/* What makes long messages of a workstation (ESP_MODEL_HNOW) cost more than short ones:
 * a send of b bytes takes send_s + b / send_Bps of its processor, a receive recv_s + b /
 * recv_Bps, and sends follow one another by at least hold_s + b / hold_Bps. 0: no such
 * part. The time from the start of a send to the end of the receive is the link's, which
 * holds that of the receive. */
struct esp_node_rates {
    double send_Bps, recv_Bps;
    double hold_s, hold_Bps;
};

/* For a node that is there. */
ESP_API esp_status esp_builder_set_rates(struct esp_builder *b, int node,
                                         const struct esp_node_rates *rates,
                                         struct esp_err *err);

/* The number of the node of that name so far, or -1. */
ESP_API int esp_builder_find_node(const struct esp_builder *b, const char *name);

/* Adds a directed link; latency_s >= 0 and bandwidth_Bps > 0, both finite. */
ESP_API esp_status esp_builder_add_link(struct esp_builder *b, int from, int to,
                                        double latency_s, double bandwidth_Bps, int *link,
                                        struct esp_err *err);

/* Adds a cable that the given links share; links by number. */
ESP_API esp_status esp_builder_add_cable(struct esp_builder *b, const char *name,
                                         double bandwidth_Bps, const int *links,
                                         int n_links, struct esp_err *err);

/* Between which two a rate lies, and how sure that is (1: certain). A high_Bps of
 * INFINITY says that nothing is known but that it is at least low_Bps; a confidence of
 * ESP_UNSET, that no range was given. */
struct esp_rate_range {
    double low_Bps, high_Bps;
    double confidence;
};

/* For a link or a cable that is there, whose rate lies within. */
ESP_API esp_status esp_builder_set_link_range(struct esp_builder *b, int link,
                                              const struct esp_rate_range *range,
                                              struct esp_err *err);
ESP_API esp_status esp_builder_set_cable_range(struct esp_builder *b, int cable,
                                               const struct esp_rate_range *range,
                                               struct esp_err *err);

/* How the measurement went that a platform comes from. */
struct esp_measurement {
    int rounds;    /* of transfers that were predicted and then run, most of them twice */
    int disturbed; /* of these: got less than when the same were run again */
    int transfers; /* in these rounds, each counted once */
    double off_median, off_95; /* how far they were off: half of them, 95 of 100 */
};

ESP_API esp_status esp_builder_set_measurement(struct esp_builder *b,
                                               const struct esp_measurement *measured,
                                               struct esp_err *err);

/* Prices of bytes, in US dollars a GB (10^9 bytes): what goes over a link or a cable that
 * is there pays it. Finite and not negative; 0 where nothing is said. */
ESP_API esp_status esp_builder_set_link_price(struct esp_builder *b, int link,
                                              double usd_per_GB, struct esp_err *err);
ESP_API esp_status esp_builder_set_cable_price(struct esp_builder *b, int cable,
                                               double usd_per_GB, struct esp_err *err);

/* A node may be several machines, rented by the hour: what its links and ports carry is
 * of one, and adds up. */
struct esp_machines {
    double usd_per_hour; /* of one; 0 where nothing is said */
    int max_count;       /* at most so many; 1 where nothing is said */
};

/* For a node that is there. */
ESP_API esp_status esp_builder_set_machines(struct esp_builder *b, int node,
                                            const struct esp_machines *machines,
                                            struct esp_err *err);

/* Checks the whole and makes the platform; the builder is empty afterwards. */
ESP_API esp_status esp_builder_build(struct esp_builder *b, struct esp_platform **out,
                                     struct esp_err *err);

/* ---- looking ---- */
ESP_API void esp_platform_free(struct esp_platform *p);
ESP_API const char *esp_platform_name(const struct esp_platform *p);
ESP_API esp_model esp_platform_model(const struct esp_platform *p);
ESP_API int esp_platform_node_count(const struct esp_platform *p);
ESP_API int esp_platform_host_count(const struct esp_platform *p);
ESP_API int esp_platform_link_count(const struct esp_platform *p);
ESP_API int esp_platform_cable_count(const struct esp_platform *p);
ESP_API const char *esp_platform_node_name(const struct esp_platform *p, int node);
ESP_API const char *esp_platform_node_site(const struct esp_platform *p, int node);
ESP_API esp_node_kind esp_platform_node_kind(const struct esp_platform *p, int node);
ESP_API double esp_platform_node_send_s(const struct esp_platform *p, int node);
ESP_API double esp_platform_node_recv_s(const struct esp_platform *p, int node);
ESP_API struct esp_node_rates esp_platform_node_rates(const struct esp_platform *p,
                                                      int node);
ESP_API int esp_platform_find_node(const struct esp_platform *p, const char *name);
ESP_API int esp_platform_link_from(const struct esp_platform *p, int link);
ESP_API int esp_platform_link_to(const struct esp_platform *p, int link);
ESP_API double esp_platform_link_latency_s(const struct esp_platform *p, int link);
ESP_API double esp_platform_link_bandwidth_Bps(const struct esp_platform *p, int link);
/* The link from -> to, or -1. */
ESP_API int esp_platform_find_link(const struct esp_platform *p, int from, int to);
/* Time of bytes on the link: latency + bytes / bandwidth. */
ESP_API double esp_platform_link_time_s(const struct esp_platform *p, int link,
                                        double bytes);

/* ---- cables: what links share ---- */

/* NULL, NaN, 0 or -1 where there is no such cable or link, or not so many. */
ESP_API const char *esp_platform_cable_name(const struct esp_platform *p, int cable);
/* The cable of that name, or -1. */
ESP_API int esp_platform_find_cable(const struct esp_platform *p, const char *name);
/* Of all transfers over its links together. */
ESP_API double esp_platform_cable_bandwidth_Bps(const struct esp_platform *p, int cable);
/* How many links share the cable, and which: i counts from 0. */
ESP_API int esp_platform_cable_link_count(const struct esp_platform *p, int cable);
ESP_API int esp_platform_cable_link(const struct esp_platform *p, int cable, int i);
/* How many cables the link goes through, and which. */
ESP_API int esp_platform_link_cable_count(const struct esp_platform *p, int link);
ESP_API int esp_platform_link_cable(const struct esp_platform *p, int link, int i);

/* ---- how sure the rates are ---- */
ESP_API struct esp_rate_range esp_platform_link_range(const struct esp_platform *p,
                                                      int link);
ESP_API struct esp_rate_range esp_platform_cable_range(const struct esp_platform *p,
                                                       int cable);
/* NULL: the platform was not measured, or does not say. */
ESP_API const struct esp_measurement *
esp_platform_measurement(const struct esp_platform *p);

/* ---- prices ---- */

/* Does anything cost something, or has a node more than one machine? */
ESP_API int esp_platform_has_prices(const struct esp_platform *p);
/* USD a GB; NaN where there is no such link or cable. */
ESP_API double esp_platform_link_price(const struct esp_platform *p, int link);
ESP_API double esp_platform_cable_price(const struct esp_platform *p, int cable);
ESP_API struct esp_machines esp_platform_node_machines(const struct esp_platform *p,
                                                       int node);

/* Are all hosts reachable from root? ESP_EINPUT and a sentence naming some that are not.
 */
ESP_API esp_status esp_platform_check_root(const struct esp_platform *p, int root,
                                           struct esp_err *err);

/* A copy with another model. */
ESP_API esp_status esp_platform_with_model(const struct esp_platform *p, esp_model model,
                                           struct esp_platform **out,
                                           struct esp_err *err);

/* A copy with every link turned round and the overheads of sends and receives exchanged:
 * what flows towards a root on the one flows from it on the other. Nodes and links keep
 * their numbers. (Multi-port: send overheads that were not given cannot be mirrored, and
 * become the standard ones of the new senders.) */
ESP_API esp_status esp_platform_reversed(const struct esp_platform *p,
                                         struct esp_platform **out, struct esp_err *err);

/* ---- files ---- */
typedef enum esp_format {
    ESP_FORMAT_AUTO, /* from the file's content and name */
    ESP_FORMAT_JSON,
    ESP_FORMAT_MATRIX, /* CSV: latencies, and a second file of bandwidths */
    ESP_FORMAT_EDGES,
    ESP_FORMAT_TIERS,
    ESP_FORMAT_SIMGRID,
    ESP_FORMAT_GRAPHML,
    ESP_FORMAT_LINKS, /* CSV: a line for each link, under a header */
    ESP_FORMAT_SLURM, /* topology.conf */
    ESP_FORMAT_IBNET, /* what ibnetdiscover prints */
    ESP_FORMAT_NCCL,  /* the XML of NCCL_TOPO_DUMP_FILE */
    ESP_FORMAT_COUNT
} esp_format;

ESP_API const char *esp_format_name(esp_format format);
ESP_API int esp_format_parse(const char *text, esp_format *format); /* 0, or -1 */

struct esp_read_options {
    size_t size; /* set by esp_read_options_defaults */
    esp_format format;
    const char *bandwidth_path; /* ESP_FORMAT_MATRIX: the second file */
    esp_model model;            /* for formats that do not say */
    /* Names of nodes that are switches, as "nvswitch,leaf*"; NULL: what the file says. */
    const char *switches;
    const char *rate_unit; /* ESP_FORMAT_EDGES, _SLURM: of rates without one, as "Gbps" */
    int undirected;        /* ESP_FORMAT_EDGES: each line is a link in both directions */
    double link_Bps; /* ESP_FORMAT_SLURM: of links of which nothing is said; 0: none */
};

ESP_API void esp_read_options_defaults_sized(struct esp_read_options *options,
                                             size_t size);
static inline void esp_read_options_defaults(struct esp_read_options *options)
{
    esp_read_options_defaults_sized(options, sizeof *options);
}

/* Reads a platform from a file; "-" is standard input. options may be NULL. */
ESP_API esp_status esp_platform_read(const char *path,
                                     const struct esp_read_options *options,
                                     struct esp_platform **out, struct esp_err *err);

/* Reads a platform from memory; `where` names it in messages. */
ESP_API esp_status esp_platform_parse(const char *text, size_t length, const char *where,
                                      const struct esp_read_options *options,
                                      struct esp_platform **out, struct esp_err *err);

/* Writes native JSON; reading it back gives an equal platform, bit for bit. */
ESP_API esp_status esp_platform_write(const struct esp_platform *p, const char *path,
                                      struct esp_err *err);
ESP_API esp_status esp_platform_write_stream(const struct esp_platform *p, FILE *out,
                                             struct esp_err *err);

/* Same nodes, links, resources and values, in the same order. */
ESP_API int esp_platform_equal(const struct esp_platform *a,
                               const struct esp_platform *b);

#ifdef __cplusplus
}
#endif
#endif
