/* Simulated annealing for broadcast trees, in the three layers of the paper: one run,
 * many runs, and many pools. R. Gupta, S. Vadhiyar, Application-oriented adaptive
 * MPI_Bcast for grids. */
#ifndef ESPI_ALGO_ANNEAL_ANNEAL_H
#define ESPI_ALGO_ANNEAL_ANNEAL_H

#include "algo/anneal/tree.h"

/* How a run cools. Temperatures are differences of cost in percent of the cost. */
struct espi_cooling {
    double first, last, factor;
    int moves;   /* tried at each temperature */
    int grows;   /* that many more with each run, up to so many a host; 0: never */
    int accepts; /* taken at a temperature, after which it falls at once; 0: any number */
    double
        lively; /* a temperature at which no more than this part was taken ends the run */
    int near;   /* new senders are drawn from the near ones rather than from all alike */
};

/* The paper's settings, and those found better at the same number of evaluations. */
extern const struct espi_cooling espi_cooling_paper, espi_cooling_own;

/* What an annealing may cost: trees evaluated, or seconds. The paper's rules that speak
 * of time hold for either. */
struct espi_anneal_budget {
    double limit; /* of evaluations, or of seconds; 0: none */
    int timed;
    double started_s;
    double evaluations; /* so far */
};

void espi_anneal_budget_start(struct espi_anneal_budget *b, double evaluations,
                              double seconds);
/* How much of it is used, in its own unit. */
double espi_anneal_budget_used(const struct espi_anneal_budget *b);

/* Trees within a tenth of the best, the best first to be refined. limit: of memory. */
enum { ESPI_GOOD_MAX = 64 };

struct espi_good {
    int n, count; /* hosts; trees */
    int *up;      /* trees of n each */
    int root[ESPI_GOOD_MAX];
    uint64_t hash[ESPI_GOOD_MAX];
    double value_s[ESPI_GOOD_MAX];
    double best_s, worst_s; /* infinity and -infinity: none */
};

int espi_good_init(struct espi_good *good, int n, struct espi_arena *arena);

/* Keeps a tree if it is good, and if it is the best so far, drops those that no longer
 * are. `up` with entry x replaced by k; x may be -1. */
void espi_good_add(struct espi_good *good, const struct espi_anneal_tree *t, int x, int k,
                   uint64_t hash, double value_s);

struct espi_annealer {
    const struct espi_anneal_net *net;
    struct espi_anneal_tree tree;
    struct espi_rng rng;
    struct espi_cooling cooling;
    struct espi_anneal_budget *budget;
    int root, *best; /* the best tree of all runs, as of espi_anneal_tree */
    double best_s;
    double run_s; /* the best of this run */
    /* Told after each run of a driver; refining: from a good tree. May be NULL. */
    void (*watch)(void *arg, const struct espi_annealer *a, int refining);
    void *watch_arg;
};

/* Memory from the arena; -1 when out of memory. */
int espi_annealer_init(struct espi_annealer *a, const struct espi_anneal_net *net,
                       const struct espi_cooling *cooling, uint64_t seed,
                       struct espi_anneal_budget *budget, struct espi_arena *arena);

/* One run from the tree that a->tree is (basicSA). Candidates go to the list, which may
 * be NULL. -1: the judge is out of memory. */
int espi_anneal_basic(struct espi_annealer *a, struct espi_good *good);

/* Runs from random trees, then from the good ones among those seen (driverSA). `start` is
 * a first tree to begin with, or NULL. 0; -1: out of memory; 1: no root reaches all. */
int espi_anneal_driver(struct espi_annealer *a, const int *start,
                       struct espi_arena *arena);

/* ---- pools ---- */

enum { ESPI_POOL_SETS = 4, ESPI_POOL_MAX = 16 }; /* published: with the method */

enum espi_pool_rule { ESPI_POOL_PAIRS, ESPI_POOL_AVERAGE };

/* pool[i] gets the number of host i's pool, 0 .. count - 1: in the order of the hosts
 * each joins the first pool to all of whose members (or, on average, to whose members)
 * its bandwidth is at least that part of the largest one. bandwidth: n x n, the diagonal
 * counts. Gives the count, and the size of each pool; sum is scratch of n places. O(n^2)
 */
int espi_form_pools(int n, const double *bandwidth, double part, enum espi_pool_rule rule,
                    int *pool, int *size, double *sum);

/* The tree of the hosts of the view, by pools where they are many (clusteredSA);
 * parent_arc gets it. `whole` is a net of all hosts. 0; -1: out of memory; 1: no tree. */
struct espi_clustered {
    const struct espi_anneal_net *whole;
    struct espi_cooling cooling;
    enum espi_pool_rule rule;
    uint64_t seed;
    struct espi_anneal_budget *budget;
    struct espi_arena *arena;
};

int espi_anneal_clustered(const struct espi_clustered *c, int *parent_arc);

#endif
