/* How the slices of a round are shared among the trees. */
#include "schedule/round.h"

#include <math.h>
#include <string.h>

#include "base/portable_math.h"
#include "plan/ops.h"
#include "plan/parts.h"
#include "platform/resources.h"
#include "schedule/tuning.h"

struct espi_rounds {
    const struct esp_plan *plan;
    struct espi_resources res;
    double *load, *saved, *price; /* by resource */
    int *count;                   /* by tree */
    double *remainder, ideal_s;
    int was_near;                /* a round picked before had shares near the weights */
    int moves_left;              /* not to spend more on them than on all the rest */
    double sharpness, busiest_s; /* of prices */
    int parts;                   /* of the message: each gets as many slots */
    int *part;                   /* tree -> the part that it carries */
    int *part_left;              /* part -> slots of it that are not given yet */
};

/* Counts by largest remainder for a round of that many slots; gives the largest error in
 * parts of the whole. Trees may get nothing. */
static double share(struct espi_rounds *c, int slots)
{
    const struct esp_plan *plan = c->plan;
    int given = 0;
    for (int t = 0; t < plan->n_trees; t++)
        c->part_left[c->part[t]] = slots / c->parts;
    for (int t = 0; t < plan->n_trees; t++) {
        double want = plan->trees[t].weight * slots;
        c->count[t] = (int)floor(want + 1e-9);
        c->remainder[t] = want - c->count[t];
        given += c->count[t];
        c->part_left[c->part[t]] -= c->count[t];
    }
    for (; given < slots; given++) {
        int best = -1;
        for (int t = 0; t < plan->n_trees; t++)
            if (c->part_left[c->part[t]] > 0 &&
                (best < 0 || c->remainder[t] > c->remainder[best]))
                best = t;
        c->count[best]++;
        c->remainder[best] -= 1;
        c->part_left[c->part[best]]--;
    }
    double worst = 0;
    for (int t = 0; t < plan->n_trees; t++)
        worst = fmax(worst, fabs((double)c->count[t] / slots - plan->trees[t].weight));
    return worst * c->parts;
}

/* Adds the load of part of a slice along the tree. */
static void add_load(struct espi_rounds *c, int t, double part)
{
    const struct espi_resources *r = &c->res;
    const struct esp_tree *tree = &c->plan->trees[t];
    for (int h = 0; h < tree->n_hops; h++)
        for (int k = r->start[tree->hops[h]]; k < r->start[tree->hops[h] + 1]; k++)
            c->load[r->resource[k]] += part * r->time_s[k];
}

static double max_load(const struct espi_rounds *c)
{
    double most = 0;
    for (int r = 0; r < c->res.n; r++)
        most = espi_max(most, c->load[r]);
    return most;
}

/* Load of the busiest resource a slice, with the shares of the round (slots > 0) or with
 * the weights. */
static double period_s(struct espi_rounds *c, int slots)
{
    memset(c->load, 0, (size_t)c->res.n * sizeof *c->load);
    for (int t = 0; t < c->plan->n_trees; t++) {
        double part = slots ? (double)c->count[t] / slots : c->plan->trees[t].weight;
        if (part > 0)
            add_load(c, t, part);
    }
    return max_load(c);
}

/* What a slice along the tree costs when busy resources are dear. */
static double price_of(const struct espi_rounds *c, int t)
{
    const struct espi_resources *r = &c->res;
    const struct esp_tree *tree = &c->plan->trees[t];
    double sum = 0;
    for (int h = 0; h < tree->n_hops; h++)
        for (int k = r->start[tree->hops[h]]; k < r->start[tree->hops[h] + 1]; k++)
            sum += c->price[r->resource[k]] * r->time_s[k];
    return sum;
}

/* Busy resources are dear, the busiest of the round costs 1. */
static double price_of_load(const struct espi_rounds *c, double load_s)
{
    return espi_exp(c->sharpness * (load_s - c->busiest_s) / c->ideal_s);
}

/* The sum of the prices, or at least `enough`. Most resources are so little busy that
 * theirs would leave no trace in it: exp(-60) is 9e-27. Of those whose load is as it was
 * saved the price is known. */
static double unevenness(const struct espi_rounds *c, double enough)
{
    double sum = 0, least_s = c->busiest_s - 60 / c->sharpness * c->ideal_s;
    for (int r = 0; r < c->res.n && sum < enough; r++)
        if (c->load[r] > least_s)
            sum += c->load[r] == c->saved[r] ? c->price[r] : price_of_load(c, c->load[r]);
    return sum;
}

static void set_prices(struct espi_rounds *c)
{
    for (int r = 0; r < c->res.n; r++)
        c->price[r] = price_of_load(c, c->load[r]);
    for (int t = 0; t < c->plan->n_trees; t++)
        c->remainder[t] = price_of(c, t);
}

/* May the tree have a slice more or less? No share goes further from its weight than a
 * slice and the error allowed. */
static int may_have(const struct espi_rounds *c, int t, int more, int slots)
{
    double off = fmin(1, ESPI_SHARE_ERROR * slots);
    int count = c->count[t] + more;
    return count >= 0 &&
           more * (count - c->plan->trees[t].weight * slots) <= off * (1 + 1e-9);
}

/* The few dearest trees that may give a slice (more: -1), or the cheapest that may take
 * one (1); of a part, or of all (-1). */
static int find_trees(const struct espi_rounds *c, int slots, int more, int part,
                      int *found)
{
    int n = 0;
    for (int t = 0; t < c->plan->n_trees; t++) {
        if ((part >= 0 && c->part[t] != part) || !may_have(c, t, more, slots))
            continue;
        int i = n;
        while (i > 0 && more * (c->remainder[t] - c->remainder[found[i - 1]]) < 0)
            i--;
        if (i == ESPI_SHARE_TREES)
            continue;
        n = n < ESPI_SHARE_TREES ? n + 1 : n;
        memmove(found + i + 1, found + i, (size_t)(n - 1 - i) * sizeof *found);
        found[i] = t;
    }
    return n;
}

static void move(struct espi_rounds *c, int slots, int from, int to)
{
    add_load(c, from, -1.0 / slots);
    add_load(c, to, 1.0 / slots);
}

/* The move of a slice between trees of a part that leaves the loads most even; 0: none
 * makes them more even than they are. */
static int find_move(struct espi_rounds *c, int slots, int *from, int *to)
{
    int give[ESPI_SHARE_TREES], take[ESPI_SHARE_TREES], found = 0;
    set_prices(c);
    memcpy(c->saved, c->load, (size_t)c->res.n * sizeof *c->load);
    double least = unevenness(c, INFINITY) * (1 - 1e-9);
    for (int i = 0, n = find_trees(c, slots, -1, -1, give); i < n; i++)
        for (int k = 0, m = find_trees(c, slots, 1, c->part[give[i]], take); k < m; k++) {
            if (c->remainder[give[i]] <= c->remainder[take[k]])
                break;
            c->moves_left--;
            move(c, slots, give[i], take[k]);
            double then = unevenness(c, least);
            memcpy(c->load, c->saved, (size_t)c->res.n * sizeof *c->load);
            if (then >= least)
                continue;
            least = then;
            found = 1;
            *from = give[i];
            *to = take[k];
        }
    return found;
}

/* Moves slices between trees as long as that takes load off the busiest resources, first
 * off all that are busy and then off the very busiest, but not further than the weights
 * do. */
static double improve(struct espi_rounds *c, int slots)
{
    static const double sharpness[] = {100, 400, 1600};
    int from = 0, to = 0;
    c->busiest_s = period_s(c, slots);
    for (int i = 0; i < 3; i++) {
        c->sharpness = sharpness[i];
        while (c->busiest_s > c->ideal_s * (1 + 1e-9) && c->moves_left > 0 &&
               find_move(c, slots, &from, &to)) {
            move(c, slots, from, to);
            c->busiest_s = max_load(c);
            if (c->busiest_s < c->ideal_s * (1 - ESPI_SHARE_BETTER))
                return c->ideal_s; /* the counts are those before */
            c->count[from]--;
            c->count[to]++;
        }
    }
    return fmax(c->busiest_s, c->ideal_s);
}

static int rounds_alloc(struct espi_rounds *c, const struct esp_platform *p,
                        double slice_bytes, struct espi_arena *a)
{
    int n = c->plan->n_trees;
    c->count = ESPI_ARENA_NEW(a, int, n);
    c->remainder = ESPI_ARENA_NEW(a, double, n);
    c->parts = espi_plan_parts(c->plan, p->n_hosts);
    if (c->parts < 1)
        c->parts = 1;
    c->part = espi_tree_parts(c->plan, p, a);
    c->part_left = ESPI_ARENA_NEW(a, int, c->parts);
    if (!c->count || !c->remainder || !c->part || !c->part_left ||
        espi_resources_init(&c->res, p, slice_bytes, a))
        return -1;
    c->load = ESPI_ARENA_NEW(a, double, c->res.n);
    c->saved = ESPI_ARENA_NEW(a, double, c->res.n);
    c->price = ESPI_ARENA_NEW(a, double, c->res.n);
    size_t hops = 1;
    for (int t = 0; t < n; t++)
        hops += (size_t)c->plan->trees[t].n_hops;
    c->moves_left = 4 + (int)(ESPI_SHARE_MOVES_WORK / (double)hops);
    return c->load && c->saved && c->price ? 0 : -1;
}

int espi_rounds_init(struct espi_rounds **out, const struct esp_platform *p,
                     const struct esp_plan *plan, double slice_bytes,
                     struct espi_arena *arena)
{
    struct espi_rounds *c = ESPI_ARENA_ZNEW(arena, struct espi_rounds, 1);
    if (!c)
        return -1;
    c->plan = plan;
    if (rounds_alloc(c, p, slice_bytes, arena))
        return -1;
    c->ideal_s = period_s(c, 0);
    *out = c;
    return 0;
}

int espi_rounds_least(const struct espi_rounds *c)
{
    return c->parts;
}

double espi_rounds_ideal_s(const struct espi_rounds *c)
{
    return c->ideal_s;
}

/* Counts of the round into the caller's, and how long a slice takes with them. */
static double keep_better(struct espi_rounds *c, int slots, struct espi_round *best,
                          double best_s)
{
    double s = improve(c, slots);
    if (best->slots > 0 && !(s < best_s))
        return best_s;
    best->slots = slots;
    memcpy(best->count, c->count, (size_t)c->plan->n_trees * sizeof *best->count);
    return s;
}

static double share_error(const struct espi_rounds *c, const struct espi_round *round)
{
    double worst = 0;
    for (int t = 0; t < c->plan->n_trees; t++)
        worst = fmax(worst, fabs((double)round->count[t] / round->slots -
                                 c->plan->trees[t].weight));
    return worst * c->parts;
}

struct rated {
    int slots;
    double off_s; /* how far the load of the busiest resource is from the ideal */
};

/* Puts a round among those with the least distances, which stand in order. */
static void rate(struct rated *best, int slots, double off_s)
{
    int i = ESPI_ROUND_CLOSER - 1;
    if (best[i].slots > 0 && !(off_s < best[i].off_s))
        return;
    for (; i > 0 && (best[i - 1].slots == 0 || off_s < best[i - 1].off_s); i--)
        best[i] = best[i - 1];
    best[i] = (struct rated){slots, off_s};
}

double espi_rounds_pick(struct espi_rounds *c, int low, int high, struct espi_round *best)
{
    struct rated least[ESPI_ROUND_CLOSER] = {{0, 0}};
    double s = INFINITY;
    int first = (low + c->parts - 1) / c->parts * c->parts;
    best->slots = 0;
    for (int slots = first; slots <= high; slots += c->parts) {
        share(c, slots);
        double busiest_s = period_s(c, slots);
        rate(least, slots, fabs(busiest_s - c->ideal_s));
    }
    for (int i = 0; i < ESPI_ROUND_CLOSER && least[i].slots > 0; i++) {
        share(c, least[i].slots);
        s = keep_better(c, least[i].slots, best, s);
    }
    if (best->slots > 0) {
        int near_enough = share_error(c, best) <= ESPI_SHARE_ERROR;
        if (!near_enough && c->was_near)
            best->slots = 0;
        c->was_near |= near_enough;
    }
    return s;
}

int espi_round_choose(const struct esp_platform *p, const struct esp_plan *plan,
                      const struct espi_round_options *o, struct espi_arena *arena,
                      struct espi_round *out)
{
    struct espi_rounds *c;
    if (espi_rounds_init(&c, p, plan, o->slice_bytes, arena))
        return -1;
    struct espi_round best = {0, ESPI_ARENA_NEW(arena, int, plan->n_trees)};
    if (!best.count)
        return -1;
    int most = o->n_slices < o->max_slots ? (int)o->n_slices : o->max_slots;
    double least_error = INFINITY, best_s = INFINITY;
    int was_near = 0;
    for (int slots = c->parts, last = 0; slots <= most || best.slots == 0;
         slots += c->parts) {
        double error = share(c, slots);
        int near_enough = error <= ESPI_SHARE_ERROR;
        /* few rounds are looked at closely: those much nearer to the weights than the
         * last such, and others now and then */
        if (!(error < ESPI_SHARE_NEARER * least_error) &&
            !(near_enough && slots >= ESPI_ROUND_LONGER * last))
            continue;
        least_error = fmin(error, least_error);
        last = slots;
        if (!near_enough || !was_near)
            best.slots = 0;
        was_near = near_enough;
        best_s = keep_better(c, slots, &best, best_s);
        if (near_enough && best_s <= c->ideal_s * (1 + o->tolerance))
            break;
    }
    *out = best;
    return 0;
}

void espi_round_lay(const struct espi_round *round, int n_trees, int n, int *slot_tree,
                    int *given)
{
    memset(given, 0, (size_t)n_trees * sizeof *given);
    for (int s = 0; s < n; s++) {
        int best = -1;
        double most = 0;
        for (int t = 0; t < n_trees; t++) {
            double behind = (double)round->count[t] * (s + 1) / round->slots - given[t];
            if (given[t] < round->count[t] && (best < 0 || behind > most + 1e-12)) {
                best = t;
                most = behind;
            }
        }
        if (slot_tree)
            slot_tree[s] = best;
        given[best]++;
    }
}
