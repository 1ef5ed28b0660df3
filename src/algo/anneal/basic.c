/* basicSA: one annealing, and the list of good trees.
 *
 * Each step takes a host on the way to the latest one and hangs it elsewhere. A tree that
 * is the best so far is taken, another one with probability exp(-difference / T).
 * Departures: the difference counts in percent of the cost, since the paper's bare
 * numbers need a unit; candidate senders are those with an arc; the number of trees in
 * the good list is bounded. */
#include <math.h>
#include <string.h>

#include "algo/anneal/anneal.h"
#include "algo/tuning.h"
#include "base/clock.h"
#include "base/portable_math.h"

const struct espi_cooling espi_cooling_paper = {
    /* published: with the method */
    .first = 100, .last = 1, .factor = 0.8, .moves = 80, .accepts = 20, .lively = 0.03};

const struct espi_cooling espi_cooling_own = {.first = ESPI_COOLING_FIRST,
                                              .last = ESPI_COOLING_LAST,
                                              .factor = ESPI_COOLING_FACTOR,
                                              .moves = ESPI_COOLING_MOVES,
                                              .grows = ESPI_COOLING_GROWS,
                                              .near = 1};

/* ---- budgets ---- */

void espi_anneal_budget_start(struct espi_anneal_budget *b, double evaluations,
                              double seconds)
{
    *b = (struct espi_anneal_budget){.limit = seconds > 0 ? seconds : evaluations,
                                     .timed = seconds > 0,
                                     .started_s = espi_now_s()};
}

double espi_anneal_budget_used(const struct espi_anneal_budget *b)
{
    return b->timed ? espi_now_s() - b->started_s : b->evaluations;
}

/* The clock is not asked at every step. */
static int is_over(const struct espi_anneal_budget *b, int step)
{
    if (!(b->limit > 0))
        return 0;
    return b->timed ? step % 64 == 0 && espi_now_s() - b->started_s >= b->limit
                    : b->evaluations >= b->limit;
}

/* ---- the good list ---- */

#define GOOD_WITHIN 1.10 /* published: trees within a tenth of the best */

int espi_good_init(struct espi_good *good, int n, struct espi_arena *arena)
{
    *good = (struct espi_good){.n = n, .best_s = INFINITY, .worst_s = -INFINITY};
    good->up = ESPI_ARENA_NEW(arena, int, (size_t)ESPI_GOOD_MAX *(size_t)n);
    return good->up ? 0 : -1;
}

static int *good_up(const struct espi_good *good, int i)
{
    return good->up + (size_t)i * (size_t)good->n;
}

static void drop(struct espi_good *good, int i)
{
    int last = --good->count;
    good->root[i] = good->root[last];
    good->hash[i] = good->hash[last];
    good->value_s[i] = good->value_s[last];
    if (i != last)
        memcpy(good_up(good, i), good_up(good, last), (size_t)good->n * sizeof(int));
}

static void drop_above(struct espi_good *good, double limit_s)
{
    for (int i = good->count - 1; i >= 0; i--)
        if (good->value_s[i] > limit_s)
            drop(good, i);
}

static void drop_worst(struct espi_good *good)
{
    int worst = 0;
    for (int i = 1; i < good->count; i++)
        if (good->value_s[i] > good->value_s[worst])
            worst = i;
    drop(good, worst);
}

static int is_known(const struct espi_good *good, uint64_t hash)
{
    for (int i = 0; i < good->count; i++)
        if (good->hash[i] == hash)
            return 1;
    return 0;
}

void espi_good_add(struct espi_good *good, const struct espi_anneal_tree *t, int x, int k,
                   uint64_t hash, double value_s)
{
    if (!(value_s <= GOOD_WITHIN * good->best_s) ||
        (good->count == ESPI_GOOD_MAX && value_s >= good->worst_s) ||
        is_known(good, hash))
        return;
    if (value_s < good->best_s) {
        good->best_s = value_s;
        drop_above(good, GOOD_WITHIN * value_s);
    }
    if (good->count == ESPI_GOOD_MAX)
        drop_worst(good);
    int at = good->count++;
    memcpy(good_up(good, at), t->up, (size_t)good->n * sizeof(int));
    if (x >= 0)
        good_up(good, at)[x] = k;
    good->root[at] = t->root;
    good->hash[at] = hash;
    good->value_s[at] = value_s;
    good->worst_s = -INFINITY;
    for (int i = 0; i < good->count; i++)
        good->worst_s = fmax(good->worst_s, good->value_s[i]);
}

/* ---- one run ---- */

int espi_annealer_init(struct espi_annealer *a, const struct espi_anneal_net *net,
                       const struct espi_cooling *cooling, uint64_t seed,
                       struct espi_anneal_budget *budget, struct espi_arena *arena)
{
    *a = (struct espi_annealer){
        .net = net, .cooling = *cooling, .budget = budget, .best_s = INFINITY};
    if (cooling->near) /* one move among few hosts changes more of the cost */
        a->cooling.first = fmax(cooling->first, ESPI_COOLING_FEW_HOSTS / net->n);
    espi_rng_seed(&a->rng, seed);
    a->best = ESPI_ARENA_NEW(arena, int, net->n);
    return a->best ? espi_anneal_tree_init(&a->tree, net, arena) : -1;
}

static void keep_best(struct espi_annealer *a, int x, int k, double value_s)
{
    memcpy(a->best, a->tree.up, (size_t)a->net->n * sizeof *a->best);
    if (x >= 0)
        a->best[x] = k;
    a->root = a->tree.root;
    a->best_s = value_s;
}

/* The best of the run, and perhaps of all runs. */
static void note_best(struct espi_annealer *a, int x, int k, double value_s)
{
    a->run_s = value_s;
    if (value_s < a->best_s)
        keep_best(a, x, k, value_s);
}

/* A place among `count` that are sorted from near to far. */
static int draw_place(struct espi_annealer *a, int count)
{
    if (!a->cooling.near)
        return (int)espi_rng_below(&a->rng, (uint32_t)count);
    double u = espi_rng_uniform(&a->rng);
    return (int)(u * u * count);
}

/* Another arc into x, from outside its subtree: drawn, or where that fails the first one
 * after the last draw; -1: there is none. */
static int draw_arc(struct espi_annealer *a, int x)
{
    const struct espi_anneal_net *net = a->net;
    const struct espi_anneal_tree *t = &a->tree;
    int first = net->start[x], count = net->start[x + 1] - first, place = 0;
    for (int tries = 0; tries < 8; tries++) {
        place = draw_place(a, count);
        int k = first + place;
        if (net->tail[k] != net->tail[t->up[x]] &&
            !espi_anneal_tree_holds(t, x, net->tail[k]))
            return k;
    }
    for (int i = 1; i <= count; i++) {
        int k = first + (place + i) % count;
        if (k != t->up[x] && !espi_anneal_tree_holds(t, x, net->tail[k]))
            return k;
    }
    return -1;
}

/* One candidate; was it taken? */
static int anneal_step(struct espi_annealer *a, struct espi_good *good,
                       double temperature, int *found)
{
    struct espi_anneal_tree *t = &a->tree;
    int x = espi_anneal_tree_critical(t, a->cooling.near, &a->rng),
        k = x < 0 ? -1 : draw_arc(a, x);
    a->budget->evaluations++;
    if (k < 0)
        return 0;
    double value_s = espi_anneal_tree_weigh(t, x, k);
    if (good)
        espi_good_add(good, t, x, k, espi_anneal_tree_next_hash(t), value_s);
    int taken = value_s < a->run_s;
    if (taken) {
        *found = 1;
        note_best(a, x, k, value_s);
    } else {
        double worse = 100 * (value_s - t->value_s) / t->value_s;
        taken = worse <= 0 || espi_rng_uniform(&a->rng) < espi_exp(-worse / temperature);
    }
    (taken ? espi_anneal_tree_take : espi_anneal_tree_leave)(t);
    return taken;
}

int espi_anneal_basic(struct espi_annealer *a, struct espi_good *good)
{
    const struct espi_cooling *c = &a->cooling;
    struct espi_anneal_tree *t = &a->tree;
    int moves = c->moves, most = c->grows * a->net->n;
    if (good)
        espi_good_add(good, t, -1, -1, t->hash, t->value_s);
    note_best(a, -1, -1, t->value_s);
    if (c->grows)
        a->cooling.moves = 2 * moves < most ? 2 * moves : moves;
    for (double temperature = c->first; temperature > c->last && a->net->n > 2;
         temperature *= c->factor) {
        int taken = 0, found = 0, over = 0;
        for (int i = 0; i < moves && !over; i++) {
            taken += anneal_step(a, good, temperature, &found);
            over = is_over(a->budget, i) || (c->accepts && taken == c->accepts);
        }
        if (isnan(t->value_s))
            return -1;
        if (is_over(a->budget, 0) || (taken <= c->lively * moves && !found))
            break;
    }
    return 0;
}
