/* Multicast-LB and Broadcast-EB: shares y of slices that cross each link such that every
 * cut between the root and a node that must be reached has at least 1, at the least load.
 *
 * Reference: O. Beaumont, A. Legrand, L. Marchal, Y. Robert, Complexity results and
 * heuristics for pipelined multicast operations on heterogeneous platforms, ICPP 2004;
 * cuts in place of its flows, which is the same by max-flow = min-cut. Model: any, by its
 * resources. Guarantee: for the targets alone (ESPI_COVER_TARGETS) no multicast has a
 * shorter period; for all active hosts (ESPI_COVER_SPAN) the period is that of the best
 * broadcast among them (without switches; with switches a bound). Of all best y the one
 * of least total time. One program serves many questions: nodes are switched on and off,
 * and what was learnt of cuts is kept. */
#ifndef ESPI_SOLVE_COVER_H
#define ESPI_SOLVE_COVER_H

#include "graph/maxflow.h"
#include "solve/flow_net.h"

typedef enum espi_cover_kind { ESPI_COVER_TARGETS, ESPI_COVER_SPAN } espi_cover_kind;

struct espi_cover {
    const struct espi_flow_net *net;
    espi_cover_kind kind;
    struct espi_arena *arena;
    struct espi_lp *lp;
    struct espi_maxflow flow;
    int first_cut; /* row */
    int n_cuts;
    size_t side_cap;
    unsigned char *side;    /* cut x node: on the root's side? */
    unsigned char *active;  /* node */
    unsigned char *reached; /* scratch */
    int *order, *index;     /* scratch */
    double *value;
    double *y; /* of the last solve, by link */
    int solves;
};

esp_status espi_cover_init(struct espi_cover *c, const struct espi_flow_net *net,
                           espi_cover_kind kind, struct espi_arena *arena,
                           struct esp_err *err);
void espi_cover_free(struct espi_cover *c);

/* A node that is off has no links. The root, targets and switches stay on. */
void espi_cover_set_active(struct espi_cover *c, int node, int on);

/* The least period, y in c->y. Infinite when some node cannot be reached or the period
 * would be above limit_s (then y says nothing). */
esp_status espi_cover_solve(struct espi_cover *c, double limit_s, double *period_s,
                            struct esp_err *err);

/* The least period alone, sooner, or where that takes too much work one that is proven,
 * and may be less; c is of no use for other questions after that. */
esp_status espi_cover_period(struct espi_cover *c, double *period_s, struct esp_err *err);

#endif
