#include "platform/generators.h"

#include <string.h>

#include "base/err.h"
#include "base/options.h"
#include "platform/generate_common.h"
#include "platform/generate_measured.h"
#include "platform/generate_sites.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- parameters: name, field, default, smallest, largest, meaning ---- */
#define PARAM(kind_, type, name_, field, standard_, min_, max_, meaning_)                \
    {                                                                                    \
        .name = name_, .kind = ESPI_PARAM_##kind_,                                       \
        .offset = offsetof(struct type, field), .standard = standard_, .min = min_,      \
        .max = max_, .meaning = meaning_                                                 \
    }
#define FLAG(type, name, field, meaning) PARAM(FLAG, type, name, field, 0, 0, 1, meaning)
#define SEED(type)                       PARAM(SEED, type, "seed", seed, 1, 0, 0, "seed of the random numbers")
#define BPS(type, name, field, standard, meaning)                                        \
    PARAM(BANDWIDTH, type, name, field, standard, 1, 1e15, meaning)
#define TIME(type, name, field, standard, meaning)                                       \
    PARAM(TIME, type, name, field, standard, 0, 1e6, meaning)
#define GAUSSIAN(type)                                                                   \
    BPS(type, "bandwidth", bandwidth.mean_Bps, 100e6, "mean bandwidth of the links"),    \
        PARAM(BANDWIDTH, type, "deviation", bandwidth.deviation_Bps, 20e6, 0, 1e15,      \
              "standard deviation of the bandwidths"),                                   \
        TIME(type, "latency", latency_s, 0, "latency of each link")

static const struct espi_param random_params[] = {
#define T esp_random_options
    PARAM(INT, T, "nodes", nodes, 20, 1, 10e6, "number of nodes"),
    PARAM(DOUBLE, T, "density", density, 0.12, 0, 1,
          "probability of a link between two nodes that the tree left apart"),
    GAUSSIAN(T),
    FLAG(T, "directed", directed, "draw links beyond the tree for each direction alone"),
    SEED(T),
#undef T
};

static const struct espi_param complete_params[] = {
#define T esp_complete_options
    PARAM(INT, T, "nodes", nodes, 10, 1, 10000, "number of nodes"),
    GAUSSIAN(T),
    SEED(T),
#undef T
};

static const struct espi_param hub_params[] = {
#define T esp_hub_options
    PARAM(INT, T, "nodes", nodes, 100, 1, 10e6, "number of nodes"),
    PARAM(INT, T, "attach", attach, 3, 1, 1000, "links of a new node to earlier ones"),
    GAUSSIAN(T),
    SEED(T),
#undef T
};

static const struct espi_param tiers_params[] = {
#define T esp_tiers_options
#define N(name, standard, min, max, meaning)                                             \
    PARAM(INT, T, #name, name, standard, min, max, meaning)
    N(nodes, 0, 0, 1e6,
      "about so many nodes: chooses nm, nl, sw, sm and sl (0: does not)"),
    N(nw, 1, 1, 1, "number of WANs"),
    N(nm, 3, 0, 1e6, "MANs of the WAN"),
    N(nl, 2, 0, 1e6, "LANs of each MAN"),
    N(sw, 3, 1, 50000, "nodes of the WAN"),
    N(sm, 3, 1, 20000, "nodes of each MAN"),
    N(sl, 3, 1, 1e6, "nodes of each LAN"),
    N(rw, 2, 1, 100, "redundancy within the WAN: links of each node (1: a tree)"),
    N(rm, 2, 1, 100, "redundancy within a MAN: links of each node (1: a tree)"),
    N(rl, 2, 1, 100, "redundancy within a LAN: its hubs (1: a star)"),
    N(rmw, 2, 1, 100, "links of each MAN to the WAN"),
    N(rlm, 2, 1, 100, "links of each LAN to its MAN"),
    PARAM(DOUBLE, T, "density-min", density_min, 0, 0, 1,
          "draw again until at least this part of all node pairs is linked"),
    PARAM(DOUBLE, T, "density-max", density_max, 1, 0, 1,
          "draw again until at most this part of all node pairs is linked"),
    FLAG(T, "classes", classes, "bandwidths and delays of Tiers itself"),
    GAUSSIAN(T),
    SEED(T),
#undef N
#undef T
};

static const struct espi_param sites_params[] = {
#define T esp_sites_options
    PARAM(INT, T, "sites", sites, 4, 1, 3000, "number of sites"),
    PARAM(INT, T, "clusters", clusters, 2, 1, 100000, "clusters of each site"),
    PARAM(INT, T, "hosts", hosts, 4, 1, 1e6, "hosts of each cluster"),
    BPS(T, "lan-bandwidth", lan_Bps, 125e6, "bandwidth of a host"),
    BPS(T, "site-bandwidth", site_Bps, 1250e6, "bandwidth between clusters of a site"),
    BPS(T, "wan-bandwidth", wan_Bps, 12.5e6,
        "bandwidth of the link that two sites share"),
    TIME(T, "lan-latency", lan_latency_s, 50e-6, "latency between hosts of a cluster"),
    TIME(T, "site-latency", site_latency_s, 200e-6, "latency between hosts of a site"),
    TIME(T, "wan-latency", wan_latency_s, 10e-3, "latency between hosts of two sites"),
    PARAM(DOUBLE, T, "spread", spread, 1, 1, 1e6,
          "multiply WAN values by factors from [1/spread, spread]"),
    FLAG(T, "switches", switches,
         "cluster switches and site routers, not host-to-host links"),
    SEED(T),
#undef T
};

static const struct espi_param matrix_params[] = {
#define T esp_matrix_options
    PARAM(INT, T, "nodes", nodes, 10, 1, 10000, "number of nodes"),
    TIME(T, "latency-min", latency_min_s, 10e-6, "smallest latency"),
    TIME(T, "latency-max", latency_max_s, 1e-3, "largest latency"),
    BPS(T, "bandwidth-min", bandwidth_min_Bps, 10e3, "smallest bandwidth"),
    BPS(T, "bandwidth-max", bandwidth_max_Bps, 200e6, "largest bandwidth"),
    FLAG(T, "log", log, "uniform in the logarithm"),
    FLAG(T, "symmetric", symmetric, "both directions of a pair alike"),
    SEED(T),
#undef T
};

static const struct espi_param hnow_params[] = {
#define T esp_hnow_options
    PARAM(INT, T, "fast", fast, 4, 0, 5000, "number of fast workstations"),
    PARAM(INT, T, "slow", slow, 4, 0, 5000, "number of slow workstations"),
    TIME(T, "fast-send", fast_send_s, 90e-6, "send overhead of a fast one"),
    TIME(T, "fast-recv", fast_recv_s, 70e-6, "receive overhead of a fast one"),
    TIME(T, "slow-send", slow_send_s, 160e-6, "send overhead of a slow one"),
    TIME(T, "slow-recv", slow_recv_s, 130e-6, "receive overhead of a slow one"),
    TIME(T, "end-fast", end_fast_s, 250e-6, "end-to-end latency of two fast ones"),
    TIME(T, "end-mixed", end_mixed_s, 350e-6,
         "end-to-end latency of a fast and a slow one"),
    TIME(T, "end-slow", end_slow_s, 450e-6, "end-to-end latency of two slow ones"),
    BPS(T, "bandwidth", bandwidth_Bps, 1e12, "bandwidth of each link"),
    PARAM(BANDWIDTH, T, "fast-rate", fast_Bps, 0, 0, 1e15,
          "bytes per second that a fast one sends or receives (0: any number)"),
    PARAM(BANDWIDTH, T, "slow-rate", slow_Bps, 0, 0, 1e15,
          "bytes per second that a slow one sends or receives (0: any number)"),
    PARAM(BANDWIDTH, T, "wire", wire_Bps, 0, 0, 1e15,
          "rate at which the sends of a workstation follow one another (0: any)"),
#undef T
};

static const struct espi_param fabric_params[] = {
#define T esp_fabric_options
    PARAM(INT, T, "clusters", clusters, 8, 1, 10000, "number of clusters"),
    PARAM(INT, T, "hosts", hosts, 8, 1, 10000, "hosts of each cluster"),
    BPS(T, "inside", inside_Bps, 300e9, "bandwidth of a link within a cluster"),
    BPS(T, "outside", outside_Bps, 25e9, "bandwidth of a host to other clusters"),
    TIME(T, "latency", latency_s, 2e-6, "latency of each link"),
    PARAM(DOUBLE, T, "spread", spread, 1, 1, 1e6,
          "multiply bandwidths by factors from [1/spread, spread]"),
    FLAG(T, "switches", switches, "hosts hang on switches, not on one another"),
    PARAM(INT, T, "spines", spines, 2, 1, 1000, "with switches: those that join all"),
    SEED(T),
#undef T
};

static const char *const measured_kinds[] = {
    [ESP_MEASURED_FLAT] = "flat",     [ESP_MEASURED_RACKS] = "racks",
    [ESP_MEASURED_FULL] = "full",     [ESP_MEASURED_CHAIN] = "chain",
    [ESP_MEASURED_RING] = "ring",     [ESP_MEASURED_STAR] = "star",
    [ESP_MEASURED_KIND_COUNT] = NULL,
};

static const struct espi_param measured_params[] = {
#define T esp_measured_options
    {.name = "kind",
     .kind = ESPI_PARAM_CHOICE,
     .offset = offsetof(struct T, kind),
     .max = ESP_MEASURED_KIND_COUNT - 1,
     .meaning = "hosts on one switch, racks with uplinks, or sites joined so",
     .choices = measured_kinds},
    PARAM(INT, T, "hosts", hosts, 24, 1, 128, "number of hosts in all"),
    PARAM(INT, T, "areas", areas, 0, 0, 8, "sites or racks (0: as the seed says)"),
    PARAM(DOUBLE, T, "noise", noise, 0.02, 0, 0.5,
          "values are up to this part off, as measured ones are"),
    BPS(T, "bandwidth-min", bandwidth_min_Bps, 1e6, "smallest rate of a port or link"),
    BPS(T, "bandwidth-max", bandwidth_max_Bps, 10e9, "largest rate of a port or link"),
    SEED(T),
#undef T
};

/* ---- presets ---- */
static void set_tiers(void *options, const int *sizes)
{
    struct esp_tiers_options *o = options;
    int *const fields[] = {&o->nm, &o->nl, &o->sw, &o->sm,  &o->sl,
                           &o->rw, &o->rm, &o->rl, &o->rmw, &o->rlm};
    for (int i = 0; i < COUNT(fields); i++)
        *fields[i] = sizes[i];
    o->density_min = 0.05; /* the range that the broadcast paper gives */
    o->density_max = 0.15;
}

/* nm nl sw sm sl / rw rm rl rmw rlm */
#define TIERS_PRESET(name, ...)                                                          \
    static void tiers_##name(void *options)                                              \
    {                                                                                    \
        set_tiers(options, (const int[10]){__VA_ARGS__});                                \
    }
TIERS_PRESET(30, 2, 1, 10, 5, 5, 4, 3, 2, 3, 2)
TIERS_PRESET(30b, 3, 2, 3, 3, 3, 2, 2, 2, 2, 2)
TIERS_PRESET(65, 4, 4, 17, 4, 2, 2, 2, 2, 4, 2)
TIERS_PRESET(65b, 3, 4, 5, 4, 4, 3, 3, 2, 2, 2)

static void tiers_10000(void *options)
{
    ((struct esp_tiers_options *)options)->nodes = 10000;
}

static const struct espi_preset tiers_presets[] = {
    {"30", "30 nodes, 10 of them in LANs", tiers_30},
    {"30b", "30 nodes, 18 of them in LANs", tiers_30b},
    {"65", "65 nodes, 32 of them in LANs", tiers_65},
    {"65b", "65 nodes, 48 of them in LANs", tiers_65b},
    {"10000", "10,000 nodes", tiers_10000},
};

static const struct espi_preset sites_presets[] = {
    {"teragrid", "4 sites, 8 clusters, 64 hosts", espi_sites_teragrid},
    {"testbed", "the same, with unequal links that a testbed can carry",
     espi_sites_testbed},
};

static const struct espi_preset measured_presets[] = {
    {"three-sites", "3 sites of 8 hosts, 4 MB/s between each two",
     espi_measured_three_sites},
    {"four-racks", "4 racks of 6 hosts, each with an uplink of one port",
     espi_measured_four_racks},
    {"one-switch", "24 hosts with ports of 1.5 to 12 MB/s", espi_measured_one_switch},
    {"chain", "sites of 16, 8 and 4 hosts, joined by 3 and 1.5 MB/s",
     espi_measured_chain},
};

/* ---- generators ---- */
#define GENERATOR(name)                                                                  \
    static esp_status run_##name(const void *options, struct esp_platform **out,         \
                                 struct esp_err *err)                                    \
    {                                                                                    \
        return esp_generate_##name(options, out, err);                                   \
    }                                                                                    \
    void esp_##name##_options_defaults_sized(struct esp_##name##_options *options,       \
                                             size_t size)                                \
    {                                                                                    \
        struct esp_##name##_options standard;                                            \
        espi_generator_defaults(espi_generator_find(#name), &standard);                  \
        espi_options_give(options, size, &standard, sizeof standard);                    \
    }                                                                                    \
    _Static_assert(sizeof(struct esp_##name##_options) <= ESPI_GENERATOR_OPTIONS_MAX,    \
                   "ESPI_GENERATOR_OPTIONS_MAX is too small");
GENERATOR(random)
GENERATOR(complete)
GENERATOR(hub)
GENERATOR(tiers)
GENERATOR(sites)
GENERATOR(matrix)
GENERATOR(hnow)
GENERATOR(fabric)
GENERATOR(measured)

#define ENTRY(name_, presets_, n_presets_, summary_)                                     \
    {                                                                                    \
        .name = #name_, .summary = summary_,                                             \
        .options_size = sizeof(struct esp_##name_##_options), .params = name_##_params,  \
        .n_params = COUNT(name_##_params), .presets = presets_, .n_presets = n_presets_, \
        .run = run_##name_                                                               \
    }
static const struct espi_generator generators[] = {
    ENTRY(random, NULL, 0, "a random tree and random links on top"),
    ENTRY(tiers, tiers_presets, COUNT(tiers_presets),
          "an Internet of three levels: WAN, MANs and LANs"),
    ENTRY(sites, sites_presets, COUNT(sites_presets),
          "sites of clusters of hosts, with shared WAN links"),
    ENTRY(matrix, NULL, 0, "every pair with its own latency and bandwidth"),
    ENTRY(hnow, NULL, 0, "fast and slow workstations with send and receive overheads"),
    ENTRY(fabric, NULL, 0, "clusters of hosts as accelerators are wired"),
    ENTRY(measured, measured_presets, COUNT(measured_presets),
          "a network as 'espalier measure' writes them"),
    ENTRY(hub, NULL, 0, "preferential attachment: a few nodes have most of the links"),
    ENTRY(complete, NULL, 0, "every node linked with every other"),
};

const struct espi_generator *espi_generators(int *count)
{
    *count = COUNT(generators);
    return generators;
}

const struct espi_generator *espi_generator_find(const char *name)
{
    for (int i = 0; i < COUNT(generators); i++)
        if (strcmp(generators[i].name, name) == 0)
            return &generators[i];
    return NULL;
}

/* A preset over a caller's options, of whatever version. */
static esp_status apply_preset(const char *generator, void *given, void *ours,
                               const char *preset, struct esp_err *err)
{
    const struct espi_generator *g = espi_generator_find(generator);
    esp_status status = espi_generator_take(generator, given, ours, err);
    size_t size;
    if (!status)
        status = espi_generator_preset(g, ours, preset, err);
    if (status)
        return status;
    memcpy(&size, given, sizeof size);
    espi_options_give(given, size, ours, g->options_size);
    return ESP_OK;
}

esp_status esp_tiers_options_preset(struct esp_tiers_options *options, const char *preset,
                                    struct esp_err *err)
{
    struct esp_tiers_options ours;
    return apply_preset("tiers", options, &ours, preset, err);
}

esp_status esp_sites_options_preset(struct esp_sites_options *options, const char *preset,
                                    struct esp_err *err)
{
    struct esp_sites_options ours;
    return apply_preset("sites", options, &ours, preset, err);
}

esp_status esp_measured_options_preset(struct esp_measured_options *options,
                                       const char *preset, struct esp_err *err)
{
    struct esp_measured_options ours;
    return apply_preset("measured", options, &ours, preset, err);
}
