/* What no plan can beat, by price and by time: a linear program over the parts y of the
 * message that cross each link, machine-seconds M(v) = N(v) T and the time T,
 *
 *   minimise  usd_weight * USD(y, M) + s_weight * T   such that
 *     y into each set of nodes with a target and without the root >= 1   (cuts)
 *     what each link, port and cable has to carry <= M(v), or <= T
 *     M(v) <= max_count(v) T,  M(v) >= T for the root and targets,
 *     M(v) >= least T * y into v for the others,  T <= deadline,  USD <= budget.
 *
 * Every plan satisfies this, in however many partitions, with M(v) / T and all P y whole:
 * a bound. R. Wong, A dual ascent approach for Steiner tree problems on a directed graph,
 * 1984, has the cuts; they and the rows of single links come as they are violated. */
#ifndef ESPI_SOLVE_PRICED_BOUND_H
#define ESPI_SOLVE_PRICED_BOUND_H

#include "solve/priced/model.h"

/* Cuts: as many bytes each as there are nodes, 1 on the root's side. */
struct espi_priced_cuts {
    int count;
    unsigned char *side;
    size_t room;
};

/* 0, or -1: out of memory. */
int espi_priced_cuts_add(struct espi_priced_cuts *cuts, const unsigned char *side, int n);

struct espi_priced_bound {
    double fastest_s; /* no plan takes less, whatever it costs */
    double objective; /* no plan within deadline and budget has less */
    double unit_s, unit_objective;
    double *y;     /* by link */
    double *price; /* by link, in units of the objective: at which trees are cheap that
                      make good plans */
    struct espi_priced_cuts tight; /* cuts that count, in the arena */
    int feasible;                  /* 0: no plan meets deadline and budget */
    int rounds, cuts;
};

/* Results are in the arena. patience: so many rounds in which it does not rise by much
 * end the search. */
esp_status espi_priced_bound(const struct espi_priced_model *m, int patience,
                             struct espi_arena *arena, struct espi_priced_bound *out,
                             struct esp_err *err);

#endif
