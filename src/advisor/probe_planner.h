/* Probes while the application is quiet: which way to measure next, whether there is time
 * for it, and what an answer says of the links on the way.
 *
 * A probe is a short train of packets from one host to another; what is seen is the rate
 * at which the end of the train came. Nobody here sends anything: the service around it
 * and the experiments in the simulator do.
 *
 * When: only where the next call is expected no sooner than the probe has ended, and one
 * at a time. Links and hosts are busy with probes for at most a share of the time, and a
 * link is looked at again after a part of the time until that call, so that probes come
 * more often the nearer it is.
 *
 * Which: the resource (belief.h) that has waited longest, where resources that plans
 * in force pass count 16 times and those of plans that came close 4 times, slow ones by
 * the square of how much slower than the fastest they are, and doubtful ones more; so
 * every resource has its turn. Where more hosts can probe than are worth the memory, only
 * ways between every so many-th of them count.
 *
 * What: a train that came as fast as believed clears all links of its way. One that came
 * slower leaves its links as suspects; further probes pass some of them and not the
 * others, until one is left or nothing parts them. */
#ifndef ESPI_ADVISOR_PROBE_PLANNER_H
#define ESPI_ADVISOR_PROBE_PLANNER_H

#include <stdint.h>

#include "advisor/belief.h"
#include "channel/prober.h"

struct espi_outlook;

/* limit: the longest way that is probed, in resources. */
enum { ESPI_PROBE_PLANNER_SUSPECTS = 32 };

struct espi_probe_tally {
    long sent, heard, refused, lost;
    long changed;          /* that changed a belief by a fifth or more */
    long doubted;          /* that say less than they may be believed, see
                              espi_probe_planner_answer */
    double bytes;          /* sent; those of the refused do not count */
    int hosts, most_hosts; /* that can probe, now and at most */
    int change_link;       /* the last that was believed to be otherwise; -1: none */
    double change_factor;
};

struct espi_probe_planner;

/* The belief is borrowed; it is told what answers say. share: of the time that a link or
 * a host may be busy with probes. */
esp_status espi_probe_planner_create(struct espi_belief *belief, double share,
                                     struct espi_probe_planner **out,
                                     struct esp_err *err);
/* Takes the place of another, which goes, with its hosts and what was counted; and the
 * belief is somewhere else from now on. */
void espi_probe_planner_succeed(struct espi_probe_planner *q,
                                struct espi_probe_planner *before,
                                struct espi_belief *belief);
void espi_probe_planner_free(struct espi_probe_planner *q);

/* That host can probe, or can no more. */
void espi_probe_planner_set_host(struct espi_probe_planner *q, int node, int able);

enum espi_probe_planner_use { ESPI_PROBE_PLANNER_RIVAL, ESPI_PROBE_PLANNER_IN_FORCE };

/* The plan, for the believed platform, passes links that matter; turn: of planning, which
 * marks are forgotten by. */
void espi_probe_planner_mark(struct espi_probe_planner *q, const struct esp_plan *plan,
                             enum espi_probe_planner_use use, int turn);

/* How long nobody is expected to call; begun_s: of the job. */
double espi_probe_planner_room_s(const struct espi_outlook *o, double begun_s,
                                 double now_s);

/* The next probe, if one is due: 1. While one is under way there is none. */
int espi_probe_planner_next(struct espi_probe_planner *q, const struct espi_outlook *o,
                            double now_s, struct espi_probe_order *out);

/* The probe under way, and when it is given up; 0: there is none. */
uint64_t espi_probe_planner_open(const struct espi_probe_planner *q, double *until_s);

/* How a probe ended. Others than the one under way, and rates that are none, are passed
 * over. Probes may take other ways than the program's messages, or be slower by
 * themselves; so a link is blamed only if probes have once shown it in full, or did so of
 * most that were looked at. *changed: is it worth while to plan anew? ESP_ENOMEM is the
 * only failure. */
esp_status espi_probe_planner_answer(struct espi_probe_planner *q, uint64_t number,
                                     enum espi_probe_end end, double Bps, double now_s,
                                     int *changed, struct esp_err *err);

/* The application calls: nothing is to be begun for a moment. */
void espi_probe_planner_pause(struct espi_probe_planner *q, double now_s);

void espi_probe_planner_tally(const struct espi_probe_planner *q,
                              struct espi_probe_tally *out);

#endif
