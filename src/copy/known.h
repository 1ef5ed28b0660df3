/* What is known of a network that nobody has described: which hosts are together (a site:
 * their names, and how long a message takes, say so), and how fast the ports of hosts and
 * the cables between sites are, as transfers that ran over them have shown. It begins
 * with guesses, and may be kept in a file for the next copy. */
#ifndef ESPI_COPY_KNOWN_H
#define ESPI_COPY_KNOWN_H

#include <espalier/platform.h>

#include "measure/samples.h"

/* times 0: at least low_Bps (0: nothing is known). Else so often transfers were held up
 * by it; the mean of what they got together then lies within low and high. */
struct espi_known_rate {
    double mean_Bps, low_Bps, high_Bps;
    int times;
};

struct espi_known_host {
    char *name;
    int site;
    int is_here; /* takes part in the copy of now */
    int is_new;  /* was not in the file */
    struct espi_known_rate out, in;
};

struct espi_known {
    struct espi_known_host *host;
    int n_hosts, n_sites, n_old_sites;
    size_t room;
    struct espi_known_rate *cable; /* from one site to another: from * n_sites + to */
    double *latency_s;             /* one way, also within a site; -1: not known */
    int version;                   /* changes with all that it knows */
};

void espi_known_init(struct espi_known *k);
void espi_known_done(struct espi_known *k);

/* What the platform of a file says, if it has the form that espi_known_write() gives it:
 * hosts that each have a switch, which stands for a site. Hosts of another form are left
 * alone. */
esp_status espi_known_take(struct espi_known *k, const struct esp_platform *p,
                           struct esp_err *err);
/* The host takes part. Its number in *host. */
esp_status espi_known_add(struct espi_known *k, const char *name, int *host,
                          struct esp_err *err);
/* Do all who take part stand in the file? */
int espi_known_has_all(const struct espi_known *k);
/* Sites of those who do not, by their names, and, where there are samples of latencies
 * (whose hosts are those that take part, by name), by these, too. */
esp_status espi_known_settle(struct espi_known *k, const struct espi_samples *samples,
                             struct esp_err *err);

/* One transfer over some time. */
struct espi_known_flow {
    int from, to; /* hosts */
    double Bps;
    int is_held_up; /* by the network, all that time */
    int is_choked;  /* by its receiver */
};

/* Of transfers that ran side by side, all that there were. */
esp_status espi_known_hear(struct espi_known *k, const struct espi_known_flow *flow,
                           int n, struct esp_err *err);

/* For how long a byte takes what it takes longest of, where each transfer has the share
 * of it that stands there as its rate. */
double espi_known_load_s(const struct espi_known *k, const struct espi_known_flow *flow,
                         int n);

/* What is expected of a rate. */
double espi_known_expect_Bps(const struct espi_known_rate *r);

/* What is believed: hosts that take part, each linked with each, their ports and what is
 * between sites as cables. */
esp_status espi_known_platform(const struct espi_known *k, struct esp_platform **out,
                               struct esp_err *err);

/* As a file: a switch for each site, ranges and confidence where something is known. */
esp_status espi_known_write(const struct espi_known *k, const char *path,
                            struct esp_err *err);

/* What of a name those of other hosts of its kind have, too: all before and after the
 * last number of its first part, or before that of an address. size: of the text. */
void espi_known_stem(const char *name, char *stem, size_t size);

#endif
