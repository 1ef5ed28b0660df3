/* What is believed of the network: a factor of the bandwidth for each group of links that
 * share their fate. */
#ifndef ESPI_ADVISOR_BELIEF_H
#define ESPI_ADVISOR_BELIEF_H

#include <espalier/platform.h>

#include <espalier/plan.h>

#include "base/arena.h"
#include "forecast/forecast.h"
#include "platform/view.h"

struct espi_belief {
    const struct esp_platform *net;
    int n_groups;
    int *group; /* link -> group */
    struct espi_fate {
        struct espi_series *series; /* NULL: nothing heard yet */
        double heard_s;
        int first_link, n_links;
    } * fate;
    double forget_s;
    /* With switches: the way between each two hosts, which the network chooses and load
     * does not change. */
    int fixed;
    struct espi_arena arena;
    struct espi_view ways;
};

esp_status espi_belief_init(struct espi_belief *b, const struct esp_platform *net,
                            double forget_s, struct esp_err *err);
void espi_belief_done(struct espi_belief *b);

/* A measurement of a group's factor; ESP_ENOMEM is the only failure. */
esp_status espi_belief_hear(struct espi_belief *b, int group, double factor, double now_s,
                            struct esp_err *err);

/* The factor expected, from 0.01 to 1, and the error to reckon with. */
double espi_belief_factor(const struct espi_belief *b, int group, double now_s,
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
 * not NULL each group is off by its error times a number from there (one a group). */
esp_status espi_belief_platform(const struct espi_belief *b, double now_s,
                                const double *lots, struct esp_platform **out,
                                struct esp_err *err);

#endif
