/* The advisor's mind: what is believed of the network, what the application will do next,
 * and which plans to have ready for it. No files, no sockets, and of the clock only
 * when a search has to end: the service around it and the experiments in the simulator
 * bring those.
 *
 * Belief: each resource (belief.h: a cable; the links between two sites; else a link
 * alone) has a factor of the rate that the platform says. Every broadcast that ran tells
 * of it, by one tree or by many: a host that took longer to receive from another than all
 * that is under way explains, while that one did not, was held up by a resource on the
 * way between the two; not by one that served others in time meanwhile, but by the one
 * that explains most. Factors are forecast from their series; a resource that nothing was
 * heard of for a while drifts back to what the platform says.
 *
 * Prediction: sizes by a line through the last calls, gaps by a line through their
 * logarithms. Plans are made for the predicted size, its half and its double, and must
 * be good not only on the network as believed but also around it, as far as the
 * forecasts were wrong so far. While no application calls, all sizes from 1 KiB to 2 MiB
 * take their turns. */
#ifndef ESPI_ADVISOR_ADVISOR_H
#define ESPI_ADVISOR_ADVISOR_H

#include <stdint.h>

#include <espalier/algo.h>
#include <espalier/plan.h>
#include <espalier/platform.h>

#include "channel/rank_report.h"

struct espi_probe_order; /* channel/prober.h */
struct espi_probe_tally; /* probe_planner.h */

struct espi_advisor_options {
    double forget_s;    /* half of what is not heard of any more is forgotten; 0: 120 */
    int window;         /* slices under way at once on one way; 0: 4 */
    double budget_s;    /* the longest search for a plan; 0: 0.5 */
    double work;        /* evaluations a host instead of time, for runs that repeat; 0 */
    const char *algo;   /* one algorithm instead of the choice; NULL: the choice */
    int is_quick;       /* only single trees that are made at once are weighed */
    esp_judge_fn judge; /* of finishes, where nothing plays plans to their end; or NULL */
    void *judge_arg;
    uint64_t seed;
    double probe_share; /* of the time that links may be probed; 0: never */
    /* Called now and then while a plan is being made, for what cannot wait: it may hear
     * of probes and begin them, and nothing else of the advisor; or NULL. */
    void (*tick)(void *arg);
    void *tick_arg;
};

/* What a call told of: a resource that held up a pair of hosts. */
struct espi_finding {
    long number;  /* of all; 0: there was none yet */
    int resource; /* a cable if that number is one's, else that of first_link */
    int first_link;
    int from, to;  /* nodes */
    double late;   /* so many times as long as explained */
    double factor; /* of its rate, that it was seen to have */
};

struct espi_advisor;

/* derived: plans that are looked for after a call: twice for the size predicted, the
 * second time at leisure, for its half and for its double */
enum { ESPI_ADVISED_SIZES = 4 };

/* The platform is borrowed, and outlives the advisor or is replaced. */
esp_status espi_advisor_create(const struct esp_platform *net,
                               const struct espi_advisor_options *options,
                               struct espi_advisor **out, struct esp_err *err);
void espi_advisor_free(struct espi_advisor *a);

/* A platform measured anew: the belief begins again from it. */
esp_status espi_advisor_renew(struct espi_advisor *a, const struct esp_platform *net,
                              struct esp_err *err);

/* A plan for the platform that ranks have from somewhere else: where they use it, what is
 * said has to be better. ESP_ENOMEM is the only failure. */
esp_status espi_advisor_offer(struct espi_advisor *a, const struct esp_plan *plan,
                              struct esp_err *err);

/* What a rank says, at that time; nonsense is passed over. ESP_ENOMEM is the only
 * failure. */
esp_status espi_advisor_hear(struct espi_advisor *a, const struct espi_report *report,
                             double now_s, struct esp_err *err);

/* The next plan to publish, made within the time there is before the next call is
 * predicted, or within the budget. ESP_EUNSUPPORTED: there is nothing to plan for yet. */
esp_status espi_advisor_plan(struct espi_advisor *a, double now_s,
                             struct espi_advice *out, struct esp_err *err);

/* The same for a root and size of the caller's choice. */
esp_status espi_advisor_plan_for(struct espi_advisor *a, int root, double bytes,
                                 double now_s, struct espi_advice *out,
                                 struct esp_err *err);

struct espi_outlook {
    int busy;          /* has the application called lately? else all sizes take turns */
    int root;          /* of the last call; -1: none yet */
    double size_bytes; /* of the next call */
    double gap_s;      /* from the last call to the next; 0: not known */
    double last_s;     /* when the last call was */
    long calls, whole; /* whole: of which every rank told */
    int slow;          /* resources believed to have less than 0.8 of their rate */
};

void espi_advisor_outlook(const struct espi_advisor *a, double now_s,
                          struct espi_outlook *out);

/* The last that a call told of. */
const struct espi_finding *espi_advisor_finding(const struct espi_advisor *a);

/* The factor believed of a link at that time, and how far forecasts of it were off. */
double espi_advisor_factor(const struct espi_advisor *a, int link, double now_s,
                           double *error);

/* What is believed of a resource of which something was heard. */
struct espi_believed_rate {
    int resource, first_link, n_links; /* a cable if that number is one's */
    double full_Bps;                   /* by what the platform says */
    double factor, error;              /* of that */
    double low, high;                  /* between which it is, as far as forecasts err */
    double heard_s;
    long calls, probes; /* that moved it to what it is */
    long samples;
    const char *method; /* the predictor that spoke */
};

/* Those resources, up to max of them; gives how many there are. */
int espi_advisor_rates(const struct espi_advisor *a, double now_s,
                       struct espi_believed_rate *out, int max);

/* ---- probes in quiet times (probe_planner.h); without probe_share there are none ----
 */

/* A host can probe and be probed, or can no more. */
void espi_advisor_set_prober(struct espi_advisor *a, int node, int able);

/* The next probe, if one is due now: 1. */
int espi_advisor_next_probe(struct espi_advisor *a, double now_s,
                            struct espi_probe_order *out);

/* The number of the probe under way, and when it is given up; 0: there is none. */
uint64_t espi_advisor_open_probe(const struct espi_advisor *a, double *until_s);

/* How it ended (enum espi_probe_end); nonsense is passed over. *changed: is it worth
 * while to plan anew? ESP_ENOMEM is the only failure. */
esp_status espi_advisor_probed(struct espi_advisor *a, uint64_t number, int end,
                               double Bps, double now_s, int *changed,
                               struct esp_err *err);

/* What was done; 0: there are no probes. */
int espi_advisor_probes(const struct espi_advisor *a, struct espi_probe_tally *out);

/* When a message of so many bytes, cut into slices of so many, would be everywhere by a
 * plan for the network, as that is believed to be. */
esp_status espi_advisor_expect(struct espi_advisor *a, const struct esp_plan *plan,
                               double bytes, double slice_bytes, double now_s,
                               double *out_s, struct esp_err *err);

#endif
