/* What is believed of the network: a factor of its rate for each resource, which is a
 * cable (in networks that were measured the ports of hosts are cables, too), or where
 * links have none, those between two sites together, or a link alone. A transfer passes
 * all resources of its links, and the slowest holds it up. */
#ifndef ESPI_ADVISOR_BELIEF_H
#define ESPI_ADVISOR_BELIEF_H

#include <espalier/platform.h>

#include <espalier/plan.h>

#include "base/arena.h"
#include "forecast/forecast.h"
#include "platform/view.h"

/* What told of a resource's rate. */
enum espi_evidence { ESPI_BY_CALL, ESPI_BY_PROBE, ESPI_EVIDENCE_KINDS };

struct espi_belief {
    const struct esp_platform *net;
    int n_resources; /* cables come first, by their numbers */
    int *first,
        *resource; /* of link e: resource[first[e]] .. resource[first[e + 1] - 1] */
    struct espi_fate {
        struct espi_series *series; /* NULL: nothing heard yet */
        double heard_s;
        /* By what, since it was last believed to have its full rate, or if it is, since
         * it is. */
        long told[ESPI_EVIDENCE_KINDS];
        int first_link, n_links;
        int is_far;       /* are all of them between sites? */
        double full_Bps;  /* by what the platform says */
        double shown_Bps; /* of it a single transfer can show so much */
    } * fate;
    double forget_s;
    /* what a message was seen to take of hosts beside its bytes, and what it may take */
    double message_s, message_most_s;
    /* With switches: the way between each two hosts, which the network chooses and load
     * does not change. */
    int fixed;
    struct espi_arena arena;
    struct espi_view ways;
};

esp_status espi_belief_init(struct espi_belief *b, const struct esp_platform *net,
                            double forget_s, struct esp_err *err);
void espi_belief_done(struct espi_belief *b);

/* A measurement of a resource's factor; ESP_ENOMEM is the only failure. */
esp_status espi_belief_hear(struct espi_belief *b, int resource, double factor,
                            enum espi_evidence by, double now_s, struct esp_err *err);

/* All that was heard of a resource was about another. */
void espi_belief_forget(struct espi_belief *b, int resource);

/* The factor expected of a resource, from 0.01 to 1, and the error to reckon with. */
double espi_belief_factor(const struct espi_belief *b, int resource, double now_s,
                          double *error);

/* What its resources leave of a link's bandwidth. */
double espi_belief_link_factor(const struct espi_belief *b, int link, double now_s,
                               double *error);

/* The network itself, its links and cables as fast as believed. */
esp_status espi_belief_scaled(const struct espi_belief *b, double now_s,
                              struct esp_platform **out, struct esp_err *err);

/* The links that a transfer over an arc of a view of the believed platform passes. */
int espi_belief_links(const struct espi_belief *b, const struct espi_view *v, int arc,
                      const int **links);

/* A plan for the believed platform as one for the network itself. */
esp_status espi_belief_translate(const struct espi_belief *b, const struct esp_plan *plan,
                                 struct esp_plan **out, struct esp_err *err);

/* The platform as believed: with switches, hosts joined by one link for each way, and a
 * cable for each link that ways share, so that no plan counts on other ways; with `lots`
 * not NULL each resource is off by its error times a number from there (one each). */
esp_status espi_belief_platform(const struct espi_belief *b, double now_s,
                                const double *lots, struct esp_platform **out,
                                struct esp_err *err);

#endif
