/* The program of bound.h with whole partitions and whole machines counted, for
 * plans that take between from_s and to_s. With x(v, n) = 1 where node v has n machines
 * or more, and caps rounded down to whole partitions, of which c(e, n) cross link e
 * within to_s when n machines are at its ends:
 *
 *   y(e) <= sum over n of (c(e, n) - c(e, n - 1)) x(v, n)    at both ends, and for ports
 *   sum of y over a cable <= its cap
 *   M(v) >= from_s N(v) + T - from_s                          for the root and targets
 *   M(v) >= to_s N(v) + most T - most to_s,  N(v) = sum of x(v, n)
 *
 * (the last two are W. McCormick's, 1976, of M = N T). Cuts, rows of single links, and
 * the links themselves come as they are violated, or as they are worth it; whoever
 * branches sets bounds of y and x. */
#ifndef ESPI_SOLVE_PRICED_WHOLE_H
#define ESPI_SOLVE_PRICED_WHOLE_H

#include "graph/maxflow.h"
#include "lp/lp.h"
#include "solve/priced/bound.h"
#include "solve/priced/trees.h"

struct espi_priced_whole {
    const struct espi_priced_model *m;
    struct espi_priced_cuts *cuts;
    struct espi_arena *arena;
    struct espi_lp *lp;
    double from_s, to_s, unit_s, unit_objective;
    int n, first_x, first_link;
    int *x_start; /* node -> its first x; the number of x at the end */
    /* links that have a column */
    int n_kept;
    int *kept, *column_of; /* link -> its column, -1: none */
    unsigned char *has_row;
    struct espi_digraph sub; /* of those */
    struct espi_maxflow flow;
    int *tail, *head;
    struct espi_arena_mark sub_mark;
    /* rows */
    struct espi_priced_row *rows;
    size_t n_rows, row_room, rows_before;
    size_t solved_rows;     /* of the last solution: later ones have no duals yet */
    int solved, rows_added; /* since the beginning */
    int *index;             /* terms of the row or column at hand */
    double *value;
    size_t index_room, value_room;
    double *cost, *capacity, *lower, *upper;
    unsigned char *side, *near_root;
    int phase; /* 1: what is missing is minimised, whatever it costs */
    /* of the last solve */
    int feasible;
    double bound; /* of the objective: nothing in the window, within the bounds, has less
                   */
    double effort, effort_end; /* spent so far; solves end when it is there */
};

/* Memory from the arena, which nobody else uses until the program is done with. */
esp_status espi_priced_whole_init(struct espi_priced_whole *w,
                                  const struct espi_priced_model *m,
                                  const struct espi_priced_bound *plain,
                                  const struct espi_priced_pool *pool, double from_s,
                                  double to_s, struct espi_priced_cuts *cuts,
                                  struct espi_arena *arena, struct esp_err *err);
void espi_priced_whole_done(struct espi_priced_whole *w);

/* Solves within the bounds that are set; patience as espi_priced_bound. Stops as soon as
 * the bound is at stop_at. */
esp_status espi_priced_whole_solve(struct espi_priced_whole *w, int patience,
                                   double stop_at, struct esp_err *err);

/* Of the last solve: the part of the message on a link, and x(v, n). */
double espi_priced_whole_y(const struct espi_priced_whole *w, int link);
double espi_priced_whole_x(const struct espi_priced_whole *w, int v, int n);
int espi_priced_whole_levels(const struct espi_priced_whole *w, int v);

/* A column for the link, if it has none; -1: out of memory. */
int espi_priced_whole_keep(struct espi_priced_whole *w, int link);

/* Bounds of a column: narrower ones, and those that it has by itself. */
int espi_priced_whole_column_x(const struct espi_priced_whole *w, int v, int n);
void espi_priced_whole_narrow(struct espi_priced_whole *w, int column, double lower,
                              double upper);
void espi_priced_whole_free(struct espi_priced_whole *w, int column);

#endif
