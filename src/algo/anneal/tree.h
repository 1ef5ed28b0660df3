/* A tree whose cost after a change is known at the price of the two paths that the change
 * touches, not of the whole tree.
 *
 * Label of a host: the time from when it has the message until all below it have. Its
 * children are served in the order of what remains behind them, longest first (Jackson's
 * rule; the paper's post-order labels), and kept in that order. Hanging the subtree of x
 * elsewhere changes the labels of x's old and new ancestors only, and as soon as one of
 * them comes out as it was, none above it changes. */
#ifndef ESPI_ALGO_ANNEAL_TREE_H
#define ESPI_ALGO_ANNEAL_TREE_H

#include <stdint.h>

#include "algo/anneal/net.h"
#include "algo/search/tree_state.h"
#include "base/rng.h"

struct espi_anneal_tree {
    const struct espi_anneal_net *net;
    int root;
    int *up; /* number -> place of the arc into it in the net; root: -1 */
    int *first, *next, *prev; /* children, by key descending, then by number */
    double *key_s, *hold_s; /* of the arc into it: what remains once its sender is free */
    double *label_s;
    uint64_t hash;  /* of all of `up` */
    double value_s; /* what the objective says; less is better */
    /* for the objectives that count loads */
    struct espi_tree_state loads;
    double *peak; /* a heap of maxima over the loads: peak[1] is the largest */
    int leaves;
    /* the change that was weighed last */
    struct {
        int x, k, n;
        int *node;
        double *label_s;
        double value_s;
    } change;
    long *stamp, now;
    int *scratch; /* 2 n */
};

/* Memory from the arena; no tree yet. -1 when out of memory. */
int espi_anneal_tree_init(struct espi_anneal_tree *t, const struct espi_anneal_net *net,
                          struct espi_arena *arena);

/* Makes the tree the given one, everything computed afresh. */
void espi_anneal_tree_set(struct espi_anneal_tree *t, int root, const int *up);

/* A tree drawn at random: again and again one of the arcs from the tree to the rest is
 * added, each as likely as any other. A root of -1 is drawn, too. 0, or -1 when the root
 * does not reach all. */
int espi_anneal_tree_draw(struct espi_anneal_tree *t, int root, struct espi_rng *rng);

/* What the tree would be worth if the subtree of x hung on the arc at place k of the net
 * (an arc into x), which may not come from that subtree: espi_anneal_tree_holds. */
double espi_anneal_tree_weigh(struct espi_anneal_tree *t, int x, int k);

/* Makes the change that was weighed last, or leaves it. After every weighing one of the
 * two must be called. */
void espi_anneal_tree_take(struct espi_anneal_tree *t);
void espi_anneal_tree_leave(struct espi_anneal_tree *t);

/* Is y in the subtree of x? */
int espi_anneal_tree_holds(const struct espi_anneal_tree *t, int x, int y);

/* A host whose place makes the tree as late as it is, drawn: of those on the way to the
 * latest one, or of those that load the busiest resource. With `wide` set also one that
 * is served before those on the way, and sometimes any. Never the root; -1: none. */
int espi_anneal_tree_critical(struct espi_anneal_tree *t, int wide, struct espi_rng *rng);

/* Hash of a tree after the change weighed last. */
uint64_t espi_anneal_tree_next_hash(const struct espi_anneal_tree *t);

#endif
