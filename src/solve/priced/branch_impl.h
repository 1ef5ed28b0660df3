/* What the files of branch.h share: the search, and the way down to a plan. */
#ifndef ESPI_SOLVE_PRICED_BRANCH_IMPL_H
#define ESPI_SOLVE_PRICED_BRANCH_IMPL_H

#include "solve/priced/branch.h"

#define ESPI_PRICED_NOT_BROKEN 1e-6 /* rounding: of partitions and machines */

/* A program and the windows it is for; made when its first node is looked at. */
struct espi_priced_window {
    double from_s, to_s;
    struct espi_arena arena;
    struct espi_priced_whole whole;
    int made;
};

struct espi_priced_node {
    double bound;
    int window, parent, open, depth;
    int first;           /* of its window */
    int is_x, at, level; /* node, level; or link; -1: neither */
    double lower, upper; /* of x, or of y */
};

struct espi_priced_search {
    struct espi_priced_model *m;
    const struct espi_priced_bound *plain;
    struct espi_priced_pool *pool;
    struct espi_priced_mix *best;
    struct espi_priced_cuts cuts;
    struct espi_priced_window **windows;
    size_t window_room;
    int n_windows;
    struct espi_priced_node *nodes;
    size_t node_room;
    int n_nodes, looked_at;
    double effort; /* of windows that are done with */
    double may_spend, good_enough;
    int *parts; /* by link */
    struct espi_arena arena;
};

double espi_priced_part_count(const struct espi_priced_search *s);
double espi_priced_off_whole(double x);
double espi_priced_effort_so_far(const struct espi_priced_search *s);

/* No plan is looked for that costs more than this. */
double espi_priced_enough(const struct espi_priced_search *s);

/* Cuts trees from the whole partitions of the last solution; -1: out of memory. */
int espi_priced_pack_solution(struct espi_priced_search *s,
                              const struct espi_priced_whole *w);

/* A solution may be whole for want of rows: 1 when there were some. */
int espi_priced_find_more_rows(struct espi_priced_search *s, struct espi_priced_whole *w,
                               esp_status *st, struct esp_err *err);

/* From the node at hand down to a whole solution, or to where there is none. */
esp_status espi_priced_go_down(struct espi_priced_search *s, struct espi_priced_whole *w,
                               struct esp_err *err);

#endif
