/* What the parts of the packing solver share: trees found so far, prices and bounds.
 * Periods are seconds a slice: `upper_s` is reached by a mix of trees, no mix goes below
 * `lower_s`. */
#ifndef ESPI_SOLVE_PACKING_IMPL_H
#define ESPI_SOLVE_PACKING_IMPL_H

#include <stdint.h>

#include "graph/arborescence.h"
#include "graph/dijkstra.h"
#include "solve/packing.h"
#include "solve/solve_budget.h"

/* Finds cheapest trees. Resources here are only those that some link takes time of,
 * numbered 0..n_res-1. */
struct espi_pricer {
    const struct espi_view *v;
    int root;
    int n_res;
    int *resource;  /* -> resource of the view */
    int *use_start; /* link -> uses */
    int *use_res;
    double *use_s;
    int switched;
    double *link_cost;
    int *path; /* scratch */
    struct espi_arborescence arb;
    int *parent_arc; /* of the last tree: host -> arc into it (inward: out of it) */
    struct espi_digraph turned; /* for trees towards a root, if there are any */
    struct espi_arborescence arb_in;
    /* with switches: paths between hosts at the current prices */
    struct espi_dijkstra dijkstra;
    struct espi_digraph links, pairs;
    unsigned char *is_switch;
    double *distance, *pair_cost;
    int *last_arc; /* host x node -> link */
    int *pair_row; /* host -> first pair */
};

/* A tree as it is kept: links, and with switches where those of each host start. */
struct espi_pk_tree {
    double x; /* share of the mix */
    uint64_t hash;
    double scale; /* of its column */
    int n_hops, room;
    int *hops;
    int *hop_start;            /* NULL: one link a host but the root, in order */
    struct espi_pk_tree *next; /* of those given back */
};

int espi_pricer_init(struct espi_pricer *pr, const struct espi_view *v, int root,
                     struct espi_arena *arena);

/* The cost of the cheapest tree at these prices (of n_res resources), which the pricer
 * holds until the next call. */
double espi_pricer_run(struct espi_pricer *pr, const double *price);

/* For many trees at the same prices: sets them; and the cost of the cheapest tree from a
 * root to all hosts, or inward, for which the pricer needs to be made fit, from all hosts
 * to it. */
int espi_pricer_init_inward(struct espi_pricer *pr, struct espi_arena *arena);
void espi_pricer_set_prices(struct espi_pricer *pr, const double *price);
double espi_pricer_tree(struct espi_pricer *pr, int root, int inward);

/* What the links of the last tree take of each resource. */
void espi_pricer_loads(const struct espi_pricer *pr, double *load);

/* Notes the work of new prices and of so many trees. */
void espi_pricer_note(const struct espi_pricer *pr, int trees,
                      struct espi_solve_budget *p);

/* How many links the last tree has, counting those that several paths share each time;
 * and a copy of it, for which t has room. */
int espi_pricer_length(const struct espi_pricer *pr);
void espi_pricer_copy(const struct espi_pricer *pr, struct espi_pk_tree *t);
uint64_t espi_pricer_hash(const struct espi_pricer *pr);

struct espi_pk {
    const struct espi_packing_options *options;
    double start_s, gap;
    struct espi_pricer pr;
    struct espi_arena *arena;
    struct espi_pk_tree **tree;
    size_t n_trees, cap_trees;
    struct espi_pk_tree *spare; /* trees given back, to be used again */
    double upper_s, lower_s;
    double *price;        /* those that prove lower_s */
    double *load;         /* of the mix */
    double *work, *work2; /* n_res doubles each */
    double next_progress_s;
    int rounds, pricings, lp_solves, splits;
    struct espi_solve_budget budget;
};

int espi_pk_out_of_time(struct espi_pk *k); /* or of work; also tells of progress */
int espi_pk_closed(const struct espi_pk *k);
void espi_pk_sort(struct espi_pk *k); /* trees with the largest shares first */
void espi_pk_add_loads(const struct espi_pricer *pr, const struct espi_pk_tree *t,
                       double factor, double *load);

/* Prices with sum 1, the bound they prove, and the tree (held by the pricer). Returns the
 * tree's cost. */
double espi_pk_price(struct espi_pk *k, const double *price);

/* Keeps the pricer's last tree; *at is its place, *fresh says that it was not there. */
int espi_pk_keep(struct espi_pk *k, size_t *at, int *fresh);
void espi_pk_give_back(struct espi_pk *k, struct espi_pk_tree *t);

/* Soft-max Frank-Wolfe: a mix of trees with its shares, good prices. May be called again
 * for more rounds. */
esp_status espi_pk_warm_up(struct espi_pk *k, int max_rounds, struct esp_err *err);

/* Brings the shares back to sum 1 and takes load and upper_s from the trees. */
void espi_pk_measure(struct espi_pk *k);

/* The program over arcs: the best prices, and trees that reach them. Not with switches.
 */
esp_status espi_pk_by_arcs(struct espi_pk *k, struct espi_arena *arena,
                           struct esp_err *err);

/* Replaces the trees by some whose mix is y, to within close_enough an arc. */
esp_status espi_pk_split(struct espi_pk *k, const double *y, double close_enough,
                         struct espi_arena *arena, struct esp_err *err);

/* Column generation from the mix to the gap asked for; leaves a mix whose trees' shares
 * sum to 1 with max load upper_s. With give_up it ends early where many resources bind
 * and another way is faster. */
esp_status espi_pk_generate(struct espi_pk *k, int give_up, struct espi_arena *arena,
                            struct esp_err *err);

#endif
