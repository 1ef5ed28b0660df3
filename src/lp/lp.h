/* Linear programs that grow: minimise cost . x within bounds on columns and rows, where
 * rows and columns come as they are found and each solve starts from the basis of the
 * last. A thin layer over CLP, which prints nothing and stays within this room. */
#ifndef ESPI_LP_LP_H
#define ESPI_LP_LP_H

#include <espalier/status.h>

struct espi_lp;

typedef enum espi_lp_method {
    ESPI_LP_PRIMAL, /* after columns were added */
    ESPI_LP_DUAL,   /* after rows were added */
} espi_lp_method;

typedef enum espi_lp_result {
    ESPI_LP_OPTIMAL,
    ESPI_LP_INFEASIBLE,
    ESPI_LP_UNBOUNDED,
    ESPI_LP_STOPPED, /* out of time or iterations */
    ESPI_LP_FAILED,  /* numerical trouble, or a cost or entry of 1e20 or more */
    ESPI_LP_NO_MEMORY,
} espi_lp_result;

/* Rows or columns to be added, each a sparse vector over the other: entries
 * start[i] .. start[i+1) of index and value. A bound or cost array that is NULL stands
 * for: lower 0 for columns and none for rows, no upper, cost 0. */
struct espi_lp_vectors {
    int count;
    const double *lower, *upper;
    const double *cost; /* columns only */
    /* Of columns, too: among all solutions that are least by cost, one that is least by
     * this. A small part of the cost would drown in the solver's tolerance. */
    const double *second_cost;
    const int *start, *index;
    const double *value;
};

esp_status espi_lp_create(struct espi_lp **out, struct esp_err *err);
void espi_lp_free(struct espi_lp *lp);

/* Perturbed costs get a degenerate program moving; the end is exact all the same. */
void espi_lp_perturb(struct espi_lp *lp, int on);
/* Of processor time; less than 0: as long as it takes. */
void espi_lp_time_limit(struct espi_lp *lp, double seconds);
void espi_lp_iteration_limit(struct espi_lp *lp, double iterations);
/* Results are rounded to nine digits, for who decides by them and needs no more: two
 * bases of one vertex, and so two machines, may differ in the last. */
void espi_lp_round(struct espi_lp *lp);
/* The same, and nobody asks for duals, which are then not chosen and mean nothing. */
void espi_lp_round_values(struct espi_lp *lp);
/* Of many solutions any will do, as the solver ends in it: for who asks for the least
 * cost only, which is the same for all of them. */
void espi_lp_take_any(struct espi_lp *lp);
void espi_lp_tolerance(struct espi_lp *lp, double primal, double dual);

void espi_lp_add_rows(struct espi_lp *lp, const struct espi_lp_vectors *rows);
void espi_lp_add_columns(struct espi_lp *lp, const struct espi_lp_vectors *columns);
/* A row of so many entries. */
void espi_lp_add_row(struct espi_lp *lp, int count, const int *index, const double *value,
                     double lower, double upper);
void espi_lp_drop_rows(struct espi_lp *lp, int count, const int *which);
void espi_lp_drop_columns(struct espi_lp *lp, int count, const int *which);
void espi_lp_set_costs(struct espi_lp *lp, const double *cost);
void espi_lp_set_upper(struct espi_lp *lp, int column, double upper);
void espi_lp_set_lower(struct espi_lp *lp, int column, double lower);
void espi_lp_set_row(struct espi_lp *lp, int row, double lower, double upper);

espi_lp_result espi_lp_solve(struct espi_lp *lp, espi_lp_method method);

/* The error of a program that was not solved: no memory, or the sentence. */
esp_status espi_lp_error(espi_lp_result result, const char *sentence,
                         struct esp_err *err);

int espi_lp_rows(const struct espi_lp *lp);
int espi_lp_columns(const struct espi_lp *lp);
/* Of the last solve; borrowed until the next. Where many solutions are optimal it is the
 * one that a rule chooses, and its digits are the same on every machine (vertex.c). The
 * dual of a row is what the objective gains when its right-hand side grows by one. */
const double *espi_lp_values(const struct espi_lp *lp);
const double *espi_lp_duals(const struct espi_lp *lp);

/* About how many iterations the last solve takes: half as many as rows and columns were
 * new to it (0.25 to 1.2 times as many were seen). It is not a count, which would differ
 * between machines, and with it what is done within a limit of work. */
double espi_lp_effort(const struct espi_lp *lp);

#endif
