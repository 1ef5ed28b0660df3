/* The best mix of given trees, or of anything else that loads resources: shares of the
 * message, sum 1, under which the busiest resource is busy for the least time.
 *
 *   minimise period   such that   for each resource r:
 *                     sum over columns c of share(c) * load(c, r) <= period
 *
 * A linear program to which columns are added as its prices ask for them. */
#ifndef ESPI_SOLVE_TREE_MIX_LP_H
#define ESPI_SOLVE_TREE_MIX_LP_H

#include "lp/lp.h"
#include "solve/packing.h"
#include "solve/solve_budget.h"

enum { ESPI_WAITING_MOST = 1 << 28 }; /* limit: numbers that wait */

/* Columns that the program has not been told of yet. */
struct espi_tree_mix_columns {
    size_t n, start_room, index_room, value_room;
    int *start, *index;
    double *value;
};

struct espi_tree_mix_lp {
    int n_resources, n_columns;
    int n_groups;       /* of columns, each with shares that sum to 1 / n_groups */
    double unit_s;      /* of loads in the program */
    struct espi_lp *lp; /* column 0: the period; first rows: the groups */
    int *row;           /* resource -> row; 0: nobody uses it */
    struct espi_tree_mix_columns waiting;
    int starved; /* out of memory: the next solve says so */
    /* after a solve: */
    double period_s;
    double worth_s;        /* a column helps if it costs less than this at the prices; */
    double *group_worth_s; /* one of a group if it costs less than this */
    double *price;         /* by resource, sum 1 */
    const double *share;   /* by column; until columns are added */
};

/* used: which resources columns may load; NULL: any. Loads are expected to be of the
 * order of unit_s. Memory from the arena; free the mixer all the same. */
esp_status espi_tree_mix_lp_init(struct espi_tree_mix_lp *mx, int n_resources,
                                 const unsigned char *used, double unit_s,
                                 struct espi_arena *arena, struct esp_err *err);
void espi_tree_mix_lp_free(struct espi_tree_mix_lp *mx);

/* The same for columns in groups. */
esp_status espi_tree_mix_lp_init_groups(struct espi_tree_mix_lp *mx, int n_groups,
                                        int n_resources, const unsigned char *used,
                                        double unit_s, struct espi_arena *arena,
                                        struct esp_err *err);
void espi_tree_mix_lp_add_to(struct espi_tree_mix_lp *mx, int group,
                             const double *load_s);

/* One more column; its number is how many there were. Without memory the next solve
 * fails. */
void espi_tree_mix_lp_add(struct espi_tree_mix_lp *mx, const double *load_s);

/* Whether a column may have a share. */
void espi_tree_mix_lp_allow(struct espi_tree_mix_lp *mx, int column, int allowed);

/* Some column must be allowed. Fails, too, when budget (NULL: endless) is over. */
esp_status espi_tree_mix_lp_solve(struct espi_tree_mix_lp *mx, espi_lp_method method,
                                  struct espi_solve_budget *budget, struct esp_err *err);

/* The cost of loads at the prices. */
double espi_tree_mix_lp_cost_s(const struct espi_tree_mix_lp *mx, const double *load_s);

/* The weights (>= 0, sum 1) of n columns, load_s[i] being the loads of column i on the
 * n_resources resources, for which the largest load of all together is least; that load
 * in *period_s. */
esp_status espi_tree_mix_weights(int n, int n_resources, const double *const *load_s,
                                 struct espi_arena *arena, double *weight,
                                 double *period_s, struct esp_err *err);

/* Sets tree[i].rate for i < count so that their sum, in *sum, is as large as the
 * resources allow; rates may be 0. */
esp_status espi_tree_mix_rates(const struct espi_view *v, struct espi_packing_tree *tree,
                               int count, struct espi_arena *arena, double *sum,
                               struct esp_err *err);

#endif
