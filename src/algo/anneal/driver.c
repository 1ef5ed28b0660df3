/* driverSA: runs from random trees until that brings little, then from the good trees
 * seen on the way, as long as the budget lasts.
 *
 * With a budget: random trees until the best one is older than one and a half times what
 * is left, then good ones in turn to the end. Without: 50 and 25 runs, as in the paper.
 * Departures: a first tree may be given; where the platform is sparse a random tree is
 * drawn arc by arc, which on a complete one is the paper's. */
#include <math.h>

#include "algo/anneal/anneal.h"
#include "algo/tuning.h"

enum { RANDOM_RUNS = 50, REFINE_RUNS = 25 }; /* published: Kim et al. */

/* A random tree that reaches all: where any host may be the root, several are tried. */
static int draw_tree(struct espi_annealer *a)
{
    int tries = a->net->root < 0 ? 4 * a->net->n : 1;
    for (; tries > 0; tries--)
        if (!espi_anneal_tree_draw(&a->tree, a->net->root, &a->rng))
            return 0;
    return 1;
}

static int run_basic(struct espi_annealer *a, struct espi_good *good, int refining)
{
    if (espi_anneal_basic(a, good))
        return -1;
    if (a->watch)
        a->watch(a->watch_arg, a, refining);
    return 0;
}

static int randomise(struct espi_annealer *a, const int *start, struct espi_good *good)
{
    struct espi_anneal_budget *b = a->budget;
    double best_s = INFINITY, found_at = espi_anneal_budget_used(b);
    for (int run = 0;; run++) {
        if (run == 0 && start)
            espi_anneal_tree_set(&a->tree, a->net->root, start);
        else if (draw_tree(a))
            return 1;
        if (run_basic(a, good, 0))
            return -1;
        if (a->net->n < 3)
            return 0;
        double used = espi_anneal_budget_used(b);
        if (a->best_s < best_s) {
            best_s = a->best_s;
            found_at = used;
        }
        if (b->limit > 0 ? used - found_at >= ESPI_ANNEAL_STALE * (b->limit - used)
                         : run + 1 == RANDOM_RUNS)
            return 0;
    }
}

static int refine(struct espi_annealer *a, const struct espi_good *good)
{
    const struct espi_anneal_budget *b = a->budget;
    for (int run = 0;; run++) {
        if (b->limit > 0 ? espi_anneal_budget_used(b) >= b->limit : run == REFINE_RUNS)
            return 0;
        int i = run % good->count;
        espi_anneal_tree_set(&a->tree, good->root[i],
                             good->up + (size_t)i * (size_t)good->n);
        if (run_basic(a, NULL, 1))
            return -1;
    }
}

int espi_anneal_driver(struct espi_annealer *a, const int *start,
                       struct espi_arena *arena)
{
    struct espi_good good;
    if (espi_good_init(&good, a->net->n, arena))
        return -1;
    int bad = randomise(a, start, &good);
    if (bad || a->net->n < 3)
        return bad;
    return refine(a, &good);
}
