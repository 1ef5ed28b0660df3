/* What the files of bound.h share: the program, its rows and the cuts it begins with. */
#ifndef ESPI_SOLVE_PRICED_BOUND_IMPL_H
#define ESPI_SOLVE_PRICED_BOUND_IMPL_H

#include "graph/maxflow.h"
#include "lp/lp.h"
#include "solve/priced/bound.h"

enum { ESPI_BOUND_TIME = 0, ESPI_BOUND_MACHINES = 1 }; /* code: columns; then the links */

struct espi_priced_cut_program {
    const struct espi_priced_model *m;
    struct espi_lp *lp;
    struct espi_maxflow flow;
    int n, links, first_link; /* nodes, links, the column of link 0 */
    double unit_s, unit_objective;
    int *index;
    double *value;
    double *cost, *capacity;
    unsigned char *side, *near_root,
        *has_row;   /* link -> bit 0: row at its tail, bit 1: at its head */
    int *row_owner; /* row -> what it says */
    int *row_what;
    size_t rows, owner_room, what_room;
    size_t solved_rows; /* of the last solution: later ones have no duals yet */
    int budget_row;
    int cuts, rounds, patience;
    double least_s;              /* known of the time, in units */
    struct espi_priced_cuts all; /* cuts, by number */
};

/* Kinds of rows whose duals are prices of links. */
enum espi_priced_bound_row_kind {
    ESPI_BOUND_ROW_OTHER,
    ESPI_BOUND_ROW_LINK,
    ESPI_BOUND_ROW_LIMIT,
    ESPI_BOUND_ROW_RELAY,
    ESPI_BOUND_ROW_CUT
};

void espi_priced_bound_put(struct espi_priced_cut_program *c, int at, int column,
                           double value);
int espi_priced_bound_put_links(struct espi_priced_cut_program *c, int at,
                                const struct espi_rows *rows, int v, double value);

/* Adds the row c->index[0..count), lower <= . <= upper; here and below 0, or -1: out of
 * memory. */
int espi_priced_bound_add_row(struct espi_priced_cut_program *c, int count, double lower,
                              double upper, enum espi_priced_bound_row_kind kind,
                              int owner);
int espi_priced_bound_add_link_row(struct espi_priced_cut_program *c, int e, int at_head);
int espi_priced_bound_add_limit_rows(struct espi_priced_cut_program *c);
int espi_priced_bound_add_node_rows(struct espi_priced_cut_program *c, int v);
int espi_priced_bound_add_cut(struct espi_priced_cut_program *c);
int espi_priced_bound_add_first_cuts(struct espi_priced_cut_program *c);
int espi_priced_bound_add_ascent_cuts(struct espi_priced_cut_program *c);

#endif
