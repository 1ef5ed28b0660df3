/* A tree that changes arc by arc, with the loads of all resources kept up to date: what
 * the local searches work on. */
#ifndef ESPI_ALGO_SEARCH_TREE_STATE_H
#define ESPI_ALGO_SEARCH_TREE_STATE_H

#include "cost/cost.h"

struct espi_tree_state {
    const struct espi_view *v;
    int root;
    const double *base_s; /* loads by others, under those of the tree; or NULL */
    double scale;         /* of the tree's own: the part of the slices it carries */
    int *parent_arc;      /* host -> arc into it; -1: none */
    int *first_kid, *next_kid, *prev_kid; /* children as linked lists, by host */
    double *load;                         /* resource -> time a slice keeps it */
    int *first_use, *next_use, *prev_use; /* resource -> uses by arcs of the tree */
    int *use_arc;                         /* use -> its arc */
    int *reverse;                         /* arc -> its pair the other way, or -1 */
    int *path;                            /* scratch, n hosts */
    int *stamp, now;                      /* stamp[h] == now: h is marked */
};

/* Memory from the arena, no arc in the tree yet; -1 when out of memory. */
int espi_tree_state_init(struct espi_tree_state *s, const struct espi_view *v, int root,
                         struct espi_arena *arena);

/* The loads of other trees, kept by the caller, and the part of the slices that this one
 * carries; takes effect with the next espi_tree_state_set. */
void espi_tree_state_share(struct espi_tree_state *s, const double *base_s, double scale);

/* Makes the tree the given one, its loads computed afresh. O(n + resources). */
void espi_tree_state_set(struct espi_tree_state *s, const int *parent_arc);

/* Puts an arc into the tree or takes it out, with its loads. The callers see to it that
 * the tree is one again when they are done. O(uses of the arc). */
void espi_tree_state_add(struct espi_tree_state *s, int arc);
void espi_tree_state_remove(struct espi_tree_state *s, int arc);

/* Marks the hosts of x's subtree, and no other; gives their number. */
int espi_tree_state_mark(struct espi_tree_state *s, int x);

static inline int espi_tree_state_marked(const struct espi_tree_state *s, int h)
{
    return s->stamp[h] == s->now;
}

/* The largest load. O(resources). */
double espi_tree_state_period_s(const struct espi_tree_state *s);

/* Hangs the subtree of x on the arc `in`, whose head z may be any host of the subtree and
 * whose tail must not be: the arcs from x down to z are turned round, for which all must
 * have one the other way. */
void espi_tree_state_rehang(struct espi_tree_state *s, int x, int in);

#endif
