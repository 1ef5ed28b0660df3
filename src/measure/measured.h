/* A network as samples tell of it: sites, ports of hosts, cables that hosts share. The
 * samples decide alone, so that kept ones can be digested again. All memory comes from
 * the arena. */
#ifndef ESPI_MEASURE_MEASURED_H
#define ESPI_MEASURE_MEASURED_H

#include "measure/samples.h"
#include "measure/sites.h"
#include "measure/tuning.h"

#include <espalier/platform.h>

/* Transfers that ran side by side. */
struct espi_trial_flow {
    int from, to;
    double Bps;
};

/* Rounds without those that got less than others of the same transfers. */
struct espi_trial_rounds {
    struct espi_trial_flow *flows;
    int *start;              /* round -> first flow; n + 1 of them */
    int n, n_beaten;         /* how many were left out */
    int *same;               /* round -> the first one of the same transfers */
    int *kept;               /* round -> how many of the same transfers there are */
    int *times;              /* the same with those that were left out */
    unsigned char *doubtful; /* rounds that should be run again */
};

/* What flows from one subsite to another shares; a list of such pairs. */
struct espi_shared {
    char name[96];
    double Bps;
    int first, n_pairs;
};

struct espi_area_pair {
    int from, to;
};

struct espi_measured {
    const struct espi_samples *samples;
    struct espi_site_pairs pairs;
    struct espi_trial_rounds rounds;
    int n_hosts, n_sites, n_subsites;
    int *site, *subsite;    /* of hosts; subsites are parts of sites */
    int *subsite_site;      /* of subsites */
    int *first_subsite;     /* of sites, whose subsites follow each other; n_sites + 1 */
    double *site_latency_s; /* site * n_sites + site: the middle one; -1: none met */
    /* site * n_sites + site: have they a wire where latencies say no, or the reverse? */
    unsigned char *other_wire;
    double *out_Bps, *in_Bps;           /* of hosts, all transfers together */
    double *out_seen_Bps, *in_seen_Bps; /* the most that was seen */
    /* of hosts to send, then to receive: is it the reason for nothing? */
    unsigned char *open_port;
    /* was there a round in which it seemed to be why its host's were no faster? */
    unsigned char *out_tried, *in_tried;
    double *send_s, *recv_s; /* of hosts, ESP_UNSET where not seen */
    double
        *flow_Bps; /* one transfer from site to site, or within; INFINITY: not limited */
    char (*site_name)[64];
    struct espi_shared *shared;
    size_t n_shared, shared_room;
    struct espi_area_pair *subsite_pairs;
    size_t n_subsite_pairs, area_pairs_room;
    unsigned char *uneven; /* sites within which some transfers were held up */
    int subsites_unsure; /* is nothing known of the way between two subsites of a site? */
};

/* Digests the samples. ESP_EINPUT when they are of no use, and why. */
esp_status espi_measured_init(struct espi_measured *net, const struct espi_samples *s,
                              struct espi_arena *arena, struct esp_err *err);
/* The lists that do not lie in the arena. */
void espi_measured_done(struct espi_measured *net);

/* What one transfer gets when nothing else goes on, as far as ports and the limit of one
 * transfer say. */
double espi_measured_flow_Bps(const struct espi_measured *net, int from, int to);

/* The rates that the network known so far gives to flows; -1 when out of memory. */
int espi_measured_predict(const struct espi_measured *net,
                          const struct espi_trial_flow *flows, int n, double *Bps,
                          struct espi_arena *arena);

/* The platform: links from host to host and cables; beyond `direct_max` hosts with
 * switches instead. It says how sure its rates are, and how well it predicts. */
esp_status espi_measured_platform(const struct espi_measured *net, const char *name,
                                  int direct_max, struct esp_platform **out,
                                  struct espi_arena *arena, struct esp_err *err);

/* ---- parts of the digestion ---- */

/* Those of samples of one kind; -1 when out of memory. */
int espi_trial_rounds_gather(struct espi_trial_rounds *r, const struct espi_samples *s,
                             enum espi_sample_kind kind, struct espi_arena *arena);
/* Asks for the transfers of this round once more, unless they ran often enough: 0. */
int espi_trial_rounds_doubt(struct espi_trial_rounds *r, int round);

/* The best of n values (they get sorted), for what disturbs transfers makes most of them
 * slower: the middle one of those that come near to the greatest. -1 for none. */
double espi_top_value(double *values, int n);
/* The same where the best must have been seen twice: of three and more values, one that
 * stands alone at the top is left out. */
double espi_confirmed_top(double *values, int n);

/* Each gives -1 when out of memory. */
int espi_measured_name_sites(struct espi_measured *net, struct espi_arena *arena);
int espi_measured_subsites(struct espi_measured *net, struct espi_arena *arena);
/* Adds what is shared, then its pairs of subsites; -1 when out of memory. */
struct espi_shared *espi_measured_add_shared(struct espi_measured *net, double Bps);
int espi_measured_add_pair(struct espi_measured *net, int from_area, int to_area);
int espi_measured_add_sites(struct espi_measured *net, int from_site, int to_site);

#endif
