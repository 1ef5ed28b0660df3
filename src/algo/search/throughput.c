/* Local search for the tree of the shortest period.
 *
 * Tabu search against a target: with a target period just below the best one known, the
 * cost of a tree is the sum over all resources of the load in excess of the target. Each
 * step takes one of the overloaded resources and hangs a subtree that loads it elsewhere,
 * by the move that leaves the least excess, worse or not; the arcs that left the tree may
 * not come back for a while. A step that overloads another host is followed by one that
 * relieves that host, and so ejection chains of any length come about by themselves. No
 * excess left: the tree is the new best one, and the target goes down.
 *
 * Moves: the subtree of x is hung on any arc that enters it from outside. Where the arc
 * does not end at x but at z further down, the arcs from x to z are turned round, which
 * makes rotations and swaps of parent and child part of the same move.
 *
 * Reference: none; the idea of a target is that of tabu search for graph colouring (Hertz
 * and de Werra 1987). Model: any, it speaks resources.
 * Guarantee: never worse than the tree it starts from.
 * Complexity: a step costs the arcs into the subtrees that load one resource. */
#include <math.h>
#include <string.h>

#include "algo/search/search.h"
#include "algo/search/tree_state.h"
#include "algo/tuning.h"
#include "base/portable_math.h"
#include "base/rng.h"

#define JUST_BELOW (1 - 1e-9) /* rounding */

struct move {
    int x, in; /* hang the subtree of x on the arc `in` */
    double excess_s;
    int ties;
};

struct tabu {
    const struct espi_search *search;
    struct espi_tree_state s;
    struct espi_rng rng;
    double target_s, excess_s;
    int *over, *place, n_over; /* resources above the target, and where they stand */
    long *until;               /* arc -> step up to which it may not come back */
    long step;
    double least_excess_s; /* since the target was set */
    long last_gain;        /* step at which that was reached */
    int *best;             /* parent arcs */
    double best_s;
    int restarts; /* since the best was found */
    double work;
    struct move move;
};

/* As a largest, which needs no branch: it is the inner loop of the search. */
static double excess_of(const struct tabu *t, double load_s)
{
    return espi_max(load_s - t->target_s, 0);
}

/* ---- the set of overloaded resources ---- */

static void touch_resource(struct tabu *t, int r)
{
    int is_over = t->s.load[r] > t->target_s;
    if (is_over == (t->place[r] >= 0))
        return;
    if (is_over) {
        t->place[r] = t->n_over;
        t->over[t->n_over++] = r;
        return;
    }
    int last = t->over[--t->n_over];
    t->over[t->place[r]] = last;
    t->place[last] = t->place[r];
    t->place[r] = -1;
}

static void touch_arc(struct tabu *t, int arc)
{
    const struct espi_view *v = t->s.v;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
        touch_resource(t, v->use_resource[k]);
}

static void set_target(struct tabu *t, double target_s)
{
    t->target_s = target_s;
    t->excess_s = 0;
    for (int r = 0; r < t->s.v->links.n; r++) {
        touch_resource(t, r);
        t->excess_s += excess_of(t, t->s.load[r]);
    }
    t->least_excess_s = t->excess_s;
    t->last_gain = t->step;
}

/* ---- weighing moves ---- */

/* What the excess changes by when the arc's loads come (sign 1) or go (-1). */
static double shift(struct tabu *t, int arc, double sign, int apply)
{
    const struct espi_view *v = t->s.v;
    double change_s = 0;
    sign *= t->s.scale;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++) {
        double *load = &t->s.load[v->use_resource[k]];
        double after = *load + sign * v->use_s[k];
        change_s += excess_of(t, after) - excess_of(t, *load);
        if (apply)
            *load = after;
    }
    return change_s;
}

static void consider_move(struct tabu *t, int x, int in, double excess_s, int forbidden)
{
    double slack_s = 1e-12 * t->target_s;
    struct move *best = &t->move;
    if (forbidden && excess_s > t->least_excess_s - slack_s)
        return;
    if (best->in >= 0 && excess_s > best->excess_s + slack_s)
        return;
    int tie = best->in >= 0 && excess_s > best->excess_s - slack_s;
    int ties = tie ? best->ties + 1 : 1;
    if (tie && espi_rng_below(&t->rng, (uint32_t)ties) > 0) {
        best->ties = ties;
        return;
    }
    *best = (struct move){x, in, excess_s, ties};
}

/* Weighs the arcs into z, the subtree of x being off the tree and turned round so that z
 * is its top; then those into the hosts below z. */
static void explore(struct tabu *t, int x, int z, int old, double excess_s, int forbidden,
                    int turns)
{
    const struct espi_tree_state *s = &t->s;
    const struct espi_digraph *g = &s->v->g;
    for (int k = g->in.start[z]; k < g->in.start[z + 1]; k++) {
        int in = g->in.item[k];
        if (in == old || espi_tree_state_marked(s, g->tail[in]))
            continue;
        double change_s = shift(t, in, 1, 0);
        consider_move(t, x, in, excess_s + change_s, forbidden || t->until[in] > t->step);
    }
    t->work += g->in.start[z + 1] - g->in.start[z];
    if (turns == ESPI_SEARCH_TURNS)
        return;
    for (int kid = s->first_kid[z]; kid >= 0; kid = s->next_kid[kid]) {
        int down = s->parent_arc[kid], up = s->reverse[down];
        if (up < 0)
            continue;
        double change_s = shift(t, down, -1, 1);
        change_s += shift(t, up, 1, 1);
        explore(t, x, kid, old, excess_s + change_s, forbidden || t->until[up] > t->step,
                turns + 1);
        shift(t, up, -1, 1);
        shift(t, down, 1, 1);
    }
}

static void weigh_moves(struct tabu *t, int resource)
{
    struct espi_tree_state *s = &t->s;
    for (int k = s->first_use[resource]; k >= 0; k = s->next_use[k]) {
        int old = s->use_arc[k], x = s->v->g.head[old];
        t->work += ESPI_MARK_WORK * espi_tree_state_mark(s, x);
        double change_s = shift(t, old, -1, 1);
        explore(t, x, x, old, t->excess_s + change_s, 0, 0);
        shift(t, old, 1, 1);
    }
}

/* ---- moving ---- */

static void leave_arc(struct tabu *t, int arc)
{
    t->until[arc] = t->step + 2 + espi_rng_below(&t->rng, 10) + t->n_over;
}

static void do_move(struct tabu *t, int x, int in)
{
    struct espi_tree_state *s = &t->s;
    int z = s->v->g.head[in], old = s->parent_arc[x];
    leave_arc(t, old);
    for (int h = z; h != x; h = s->v->g.tail[s->parent_arc[h]])
        leave_arc(t, s->parent_arc[h]);
    espi_tree_state_rehang(s, x, in);
    touch_arc(t, old);
    touch_arc(t, in);
    for (int h = x; h != z; h = s->v->g.tail[s->parent_arc[h]]) {
        touch_arc(t, s->parent_arc[h]);
        touch_arc(t, s->reverse[s->parent_arc[h]]);
    }
}

static void keep_best(struct tabu *t)
{
    int n = t->s.v->g.n;
    t->restarts = 0;
    t->best_s = espi_tree_state_period_s(&t->s);
    memcpy(t->best, t->s.parent_arc, (size_t)n * sizeof *t->best);
}

static void tabu_step(struct tabu *t)
{
    t->step++;
    t->work++;
    int r = t->over[espi_rng_below(&t->rng, (uint32_t)t->n_over)];
    t->move.in = -1;
    weigh_moves(t, r);
    if (t->move.in < 0)
        return;
    do_move(t, t->move.x, t->move.in);
    t->excess_s = t->move.excess_s;
    if (t->excess_s < t->least_excess_s - 1e-12 * t->target_s) {
        t->least_excess_s = t->excess_s;
        t->last_gain = t->step;
    }
}

/* Hangs a host on an arc at random, if there is one from outside its subtree. */
static void kick(struct tabu *t)
{
    struct espi_tree_state *s = &t->s;
    const struct espi_digraph *g = &s->v->g;
    int x = (int)espi_rng_below(&t->rng, (uint32_t)g->n);
    int first = g->in.start[x], count = g->in.start[x + 1] - first;
    if (x == s->root || count < 2)
        return;
    int in = g->in.item[first + (int)espi_rng_below(&t->rng, (uint32_t)count)];
    t->work += espi_tree_state_mark(s, x);
    if (!espi_tree_state_marked(s, g->tail[in]) && in != s->parent_arc[x])
        do_move(t, x, in);
}

/* Back to the best tree, and away from it by some moves at random. */
static void restart_from_best(struct tabu *t)
{
    espi_tree_state_set(&t->s, t->best);
    int kicks =
        2 + (int)espi_rng_below(&t->rng, 2 + (uint32_t)t->s.v->g.n / ESPI_SEARCH_KICKS);
    for (int i = 0; i < kicks; i++)
        kick(t);
    t->work += t->s.v->links.n;
    t->restarts++;
    set_target(t, t->target_s);
}

static int tabu_init(struct tabu *t, const int *parent_arc)
{
    const struct espi_search *search = t->search;
    const struct espi_view *v = search->v;
    struct espi_arena *a = search->arena;
    t->over = ESPI_ARENA_NEW(a, int, v->links.n);
    t->place = ESPI_ARENA_NEW(a, int, v->links.n);
    t->until = ESPI_ARENA_ZNEW(a, long, v->g.m);
    t->best = ESPI_ARENA_NEW(a, int, v->g.n);
    if (!t->over || !t->place || !t->until || !t->best ||
        espi_tree_state_init(&t->s, v, search->root, a))
        return -1;
    memset(t->place, -1, (size_t)v->links.n * sizeof *t->place);
    espi_rng_seed(&t->rng, search->seed);
    if (search->base_s)
        espi_tree_state_share(&t->s, search->base_s, search->scale);
    espi_tree_state_set(&t->s, parent_arc);
    keep_best(t);
    return 0;
}

/* On small platforms all there is has been seen before the work is done. */
static int is_over(const struct tabu *t)
{
    const struct espi_search *search = t->search;
    return espi_search_is_over(search, t->work, t->step) || t->best_s <= search->goal_s ||
           (!(search->deadline_s > 0) && t->restarts > 20 + 3 * search->v->g.n);
}

int espi_search_throughput(const struct espi_search *search, int *parent_arc)
{
    struct espi_arena_mark mark = espi_arena_mark(search->arena);
    struct tabu t = {.search = search};
    if (tabu_init(&t, parent_arc))
        return -1;
    set_target(&t, t.best_s * JUST_BELOW);
    int most_idle_steps = 10 + 2 * (search->v->g.n < 50 ? search->v->g.n : 50);
    while (!is_over(&t)) {
        if (t.n_over == 0) {
            keep_best(&t);
            set_target(&t, t.best_s * JUST_BELOW);
        } else if (t.step - t.last_gain > most_idle_steps) {
            restart_from_best(&t);
        } else {
            tabu_step(&t);
        }
    }
    memcpy(parent_arc, t.best, (size_t)search->v->g.n * sizeof *parent_arc);
    espi_arena_release(search->arena, mark);
    return 0;
}
