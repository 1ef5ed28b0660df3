/* In a scatter each path has data of its own, and all of them begin at the root. If they
 * go on side by side, all are sent at the same time, and what is farthest comes in last.
 * So the farthest begins, and what is nearer follows
 * - at once where that holds up nobody;
 * - where what limits it most, with all that is to be sent, is in full use by others that
 *   go farther, when one of these has been sent: that does not idle in the meantime, and
 *   for what is left to send it is all the same;
 * - else by as much later as its way is shorter at most: then all come in together, and
 *   nothing has idled for longer than what is near may leave later.
 *
 * Programs keep trees together that a host has the data of (program/connections.h), round
 * by round; so a delay is told as the rounds that those under way have gone on by then,
 * each of which takes as long as their busiest resource. */
#include "schedule/far_first.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/ops.h"
#include "schedule/tuning.h"

struct tree_way {
    double latency_s;
    int tree;
};

static int farthest_first(const void *a, const void *b)
{
    const struct tree_way *x = a, *y = b;
    if (x->latency_s != y->latency_s)
        return x->latency_s > y->latency_s ? -1 : 1;
    return x->tree < y->tree ? -1 : x->tree > y->tree;
}

static struct tree_way *list_ways(const struct esp_platform *p,
                                  const struct espi_legs *legs, struct espi_arena *arena)
{
    int n = legs->plan->n_trees;
    struct tree_way *way = ESPI_ARENA_NEW(arena, struct tree_way, n);
    for (int t = 0; t < n && way; t++) {
        const struct esp_tree *tree = &legs->plan->trees[t];
        way[t] = (struct tree_way){0, t};
        for (int h = 0; h < tree->n_hops; h++)
            way[t].latency_s += p->latency_s[tree->hops[h]];
    }
    if (way)
        qsort(way, (size_t)n, sizeof *way, farthest_first);
    return way;
}

enum { WAITS, UNDER_WAY, SENT };

/* Trees one after the other, in the time and the rounds of a message. */
struct front {
    const struct espi_legs *legs;
    const struct espi_round *round;
    struct espi_arc_uses uses;
    struct tree_way *way; /* the farthest first */
    int n;
    unsigned char *state;    /* by way */
    double *began;           /* way -> at which round */
    double now_s, at, all;   /* rounds: now, and of a tree */
    double *load_s, round_s; /* what a round of those under way takes, and its most */
    double *total_s;         /* what one of all trees takes */
};

/* ---- loads ---- */

static void add_load(struct front *f, int tree, double sign)
{
    for (int i = f->legs->tree_start[tree]; i < f->legs->tree_start[tree + 1]; i++) {
        int arc = f->legs->leg[i].arc;
        for (int k = f->uses.start[arc]; k < f->uses.start[arc + 1]; k++)
            f->load_s[f->uses.resource[k]] +=
                sign * f->round->count[tree] * f->uses.time_s[k];
    }
}

static void find_round_s(struct front *f)
{
    f->round_s = 0;
    for (int r = 0; r < f->uses.n_resources; r++)
        f->round_s = fmax(f->round_s, f->load_s[r]);
}

/* The most of what the tree uses. */
static double own_load_s(const struct front *f, int tree)
{
    double most_s = 0;
    for (int i = f->legs->tree_start[tree]; i < f->legs->tree_start[tree + 1]; i++) {
        int arc = f->legs->leg[i].arc;
        for (int k = f->uses.start[arc]; k < f->uses.start[arc + 1]; k++)
            most_s = fmax(most_s, f->load_s[f->uses.resource[k]]);
    }
    return most_s;
}

/* The one thing that limits the tree most in the end; -1: nothing does. */
static int limit_of(const struct front *f, int tree)
{
    int limit = -1;
    for (int i = f->legs->tree_start[tree]; i < f->legs->tree_start[tree + 1]; i++) {
        int arc = f->legs->leg[i].arc;
        for (int k = f->uses.start[arc]; k < f->uses.start[arc + 1]; k++) {
            int r = f->uses.resource[k];
            limit = limit < 0 || f->total_s[r] > f->total_s[limit] ? r : limit;
        }
    }
    return limit;
}

/* What a round of the tree takes of a resource. */
static double use_s(const struct front *f, int tree, int resource)
{
    double sum_s = 0;
    for (int i = f->legs->tree_start[tree]; i < f->legs->tree_start[tree + 1]; i++) {
        int arc = f->legs->leg[i].arc;
        for (int k = f->uses.start[arc]; k < f->uses.start[arc + 1]; k++)
            if (f->uses.resource[k] == resource)
                sum_s += f->round->count[tree] * f->uses.time_s[k];
    }
    return sum_s;
}

/* ---- who begins ---- */

/* Is one under way that goes farther? Then *taken_s gets what all of these take of what
 * limits the way most. */
static int has_farther(const struct front *f, int i, double *taken_s)
{
    int limit = limit_of(f, f->way[i].tree), found = 0;
    *taken_s = 0;
    for (int k = 0; k < i; k++)
        if (f->state[k] == UNDER_WAY && f->way[k].latency_s > f->way[i].latency_s) {
            *taken_s += limit < 0 ? 0 : use_s(f, f->way[k].tree, limit);
            found = 1;
        }
    return found;
}

static double due_s(const struct front *f, int i)
{
    return f->way[0].latency_s - f->way[i].latency_s;
}

static int may_begin(struct front *f, int i)
{
    static const double ALIKE = 1 + 1e-9; /* rounding: of sums of loads */
    int tree = f->way[i].tree;
    double taken_s;
    if (!has_farther(f, i, &taken_s))
        return 1;
    if (taken_s * ALIKE >= f->round_s)
        return 0;
    add_load(f, tree, 1);
    int fits = own_load_s(f, tree) <= f->round_s * ALIKE;
    add_load(f, tree, -1);
    return fits || due_s(f, i) <= f->now_s;
}

static void begin_ways(struct front *f)
{
    for (int i = 0; i < f->n; i++)
        if (f->state[i] == WAITS && may_begin(f, i)) {
            f->state[i] = UNDER_WAY;
            f->began[i] = f->at;
            add_load(f, f->way[i].tree, 1);
            f->round_s = fmax(f->round_s, own_load_s(f, f->way[i].tree));
        }
}

/* ---- time ---- */

static void end_way(struct front *f, int i)
{
    f->state[i] = SENT;
    f->at = fmax(f->at, f->began[i] + f->all);
    add_load(f, f->way[i].tree, -1);
    find_round_s(f);
}

/* Until one has been sent, or one that waits is due; 0: none is left. Every way is sent
 * once, and due once. */
static int go_on(struct front *f)
{
    double next_s = INFINITY;
    int next = -1;
    for (int i = 0; i < f->n; i++) {
        double at_s = INFINITY;
        if (f->state[i] == UNDER_WAY)
            at_s = f->now_s + fmax(f->began[i] + f->all - f->at, 0) * f->round_s;
        else if (f->state[i] == WAITS && due_s(f, i) > f->now_s)
            at_s = due_s(f, i);
        if (at_s < next_s) {
            next_s = at_s;
            next = i;
        }
    }
    if (next < 0)
        return 0;
    if (f->round_s > 0)
        f->at += (next_s - f->now_s) / f->round_s;
    f->now_s = next_s;
    if (f->state[next] == UNDER_WAY)
        end_way(f, next);
    return 1;
}

/* ---- the whole ---- */

/* Ways that differ by little, of all that it takes, are as long as one another. */
static void round_ways(struct front *f)
{
    for (int i = 0; i < f->n; i++)
        add_load(f, f->way[i].tree, 1);
    find_round_s(f);
    double least_s = ESPI_FAR_APART * (f->way[0].latency_s + f->all * f->round_s);
    for (int i = 1; i < f->n; i++)
        if (f->way[i - 1].latency_s - f->way[i].latency_s < least_s)
            f->way[i].latency_s = f->way[i - 1].latency_s;
    memcpy(f->total_s, f->load_s, (size_t)f->uses.n_resources * sizeof *f->load_s);
    memset(f->load_s, 0, (size_t)f->uses.n_resources * sizeof *f->load_s);
    f->round_s = 0;
}

static int front_init(struct front *f, const struct esp_platform *p,
                      const struct espi_round_options *o, struct espi_arena *arena)
{
    f->n = f->legs->plan->n_trees;
    f->way = list_ways(p, f->legs, arena);
    f->state = ESPI_ARENA_ZNEW(arena, unsigned char, f->n);
    f->began = ESPI_ARENA_ZNEW(arena, double, f->n);
    if (!f->way || !f->state || !f->began ||
        espi_arc_uses_init(&f->uses, f->legs, p, o->slice_bytes, arena))
        return -1;
    f->load_s = ESPI_ARENA_ZNEW(arena, double, f->uses.n_resources);
    f->total_s = ESPI_ARENA_NEW(arena, double, f->uses.n_resources);
    if (!f->load_s || !f->total_s)
        return -1;
    f->all = (double)o->n_slices / f->round->slots;
    round_ways(f);
    return 0;
}

/* Who is to begin then may be some rounds before others, so it lags by as many more. */
static void tell_lags(const struct front *f, int *lag)
{
    int64_t sends = 0;
    for (int i = 0; i < f->legs->n; i++)
        sends += f->round->count[f->legs->leg[i].tree];
    double most = (double)espi_most_lag((int)sends, 0);
    for (int i = 0; i < f->n; i++)
        lag[f->way[i].tree] =
            f->began[i] < 1 ? 0 : (int)fmin(f->began[i] + ESPI_SLICES_AHEAD, most);
}

/* Of an alltoall. Where nothing takes time all begin at once. */
static void begin_pairs(struct front *f)
{
    double all_s = 0;
    for (int r = 0; r < f->uses.n_resources; r++)
        all_s = fmax(all_s, f->total_s[r] * f->all);
    for (int i = 0; i < f->n && all_s > 0; i++)
        f->began[i] =
            floor(f->all * fmin(1, ESPI_NEAR_LATER * due_s(f, i) / all_s) + 0.5);
}

static void begin_scatter(struct front *f)
{
    do
        begin_ways(f);
    while (go_on(f));
}

int espi_far_first(const struct esp_platform *p, const struct espi_legs *legs,
                   const struct espi_round *round, const struct espi_round_options *o,
                   struct espi_arena *arena, int *lag)
{
    struct front f = {.legs = legs, .round = round};
    memset(lag, 0, (size_t)legs->plan->n_trees * sizeof *lag);
    int pairs = espi_op_has_pairs(legs->plan->op);
    if (p->model != ESP_MODEL_CAPACITY || (!pairs && legs->plan->op != ESP_OP_SCATTER))
        return 0;
    if (front_init(&f, p, o, arena))
        return -1;
    if (pairs)
        begin_pairs(&f);
    else
        begin_scatter(&f);
    tell_lags(&f, lag);
    return 0;
}
