/* The inside of the probes' planner: resources and the ways between hosts. */
#ifndef ESPI_ADVISOR_PROBE_PLANNER_IMPL_H
#define ESPI_ADVISOR_PROBE_PLANNER_IMPL_H

#include "advisor/probe_planner.h"

struct espi_probed_resource {
    double nominal_Bps;  /* that a train can show of it */
    int narrow;          /* is it the slowest of some way? */
    int in_force, rival; /* turn + 1 in which a plan passed it; 0: none */
    double probed_s;     /* when it was last looked at */
    double free_s;       /* from then on it may be busy again */
    double carried_Bps, carried_s;
    int looked, shown; /* as the slowest of a way; in full */
    int cursor;        /* of its ways */
};

struct espi_probe_planner {
    struct espi_belief *belief;
    double share, begun_s, paused_until_s;
    int turn;
    struct espi_probed_resource *resource;
    int n_resources, n_looked, n_shown;
    double fastest_Bps; /* nominal, of all resources */
    /* hosts */
    unsigned char *able, *chosen; /* by node; those of the able that are asked */
    double *host_free_s;          /* by node */
    int is_stale; /* have other hosts become able since they were chosen? */
    /* ways between hosts that are chosen: resources on them, each once, and ways by
     * resource */
    int n_ways, ways_max, *from, *to, *start, *item;
    int *by_start, *by_item;
    /* under way */
    struct espi_probe_order order; /* number 0: nothing */
    int way;
    double until_s;
    uint64_t last;
    /* suspects of a slow probe */
    int suspect[ESPI_PROBE_PLANNER_SUSPECTS], n_suspects;
    double suspect_Bps, suspect_s;
    struct espi_probe_tally tally;
};

/* The slowest link of a way, by what the platform says. */
double espi_probe_planner_narrowest_Bps(const struct espi_probe_planner *q, int way);

/* Chooses hosts, and with them the ways, anew if others can probe than before. Not while
 * a probe is under way. */
void espi_probe_planner_choose(struct espi_probe_planner *q);

/* The clock starts: all resources wait from now on. */
void espi_probe_planner_begin(struct espi_probe_planner *q, double now_s);

#endif
