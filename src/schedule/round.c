/* How the slices of a round are shared among the trees. */
#include "schedule/round.h"

#include <math.h>
#include <string.h>

#include "plan/ops.h"
#include "platform/resources.h"

/* A tree may get so much more or less of the message than its weight says. */
static const double SHARE_ERROR = 0.03;

static const double SHARPNESS = 50; /* of prices: e times as dear for 2% more load */

struct espi_rounds {
    const struct esp_plan *plan;
    struct espi_resources res;
    double *load, *saved, *price; /* by resource */
    int *count;                   /* by tree */
    double *remainder, ideal_s;
    int was_near;   /* a round picked before had shares near the weights */
    int moves_left; /* not to spend more on them than on all the rest */
    int parts;      /* of the message: each gets as many slots */
    int *part;      /* tree -> node whose part it carries */
    int *part_left; /* node -> slots of its part that are not given yet */
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
        most = fmax(most, c->load[r]);
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

/* The tree to take a slice from and the one of the same part to give it to, by price; no
 * share goes further from its weight than a slice and the error allowed. 0: no such
 * pair. */
static int find_move(struct espi_rounds *c, int slots, double busiest_s, int *from,
                     int *to)
{
    double dearest = 0, cheapest = INFINITY, off = fmin(1, SHARE_ERROR * slots);
    *from = *to = -1;
    for (int r = 0; r < c->res.n; r++)
        c->price[r] = exp(SHARPNESS * (c->load[r] / busiest_s - 1));
    for (int t = 0; t < c->plan->n_trees; t++) {
        double price = price_of(c, t), want = c->plan->trees[t].weight * slots;
        c->remainder[t] = price;
        if (price > dearest && c->count[t] > 0 && c->count[t] - 1 >= want - off) {
            dearest = price;
            *from = t;
        }
    }
    for (int t = 0; *from >= 0 && t < c->plan->n_trees; t++)
        if (c->part[t] == c->part[*from] && c->remainder[t] < cheapest &&
            c->count[t] + 1 <= c->plan->trees[t].weight * slots + off) {
            cheapest = c->remainder[t];
            *to = t;
        }
    return *from >= 0 && *to >= 0 && *from != *to;
}

/* Moves slices between trees as long as that takes load off the busiest resource, but not
 * further than the weights do. */
static double improve(struct espi_rounds *c, int slots)
{
    double busiest_s = period_s(c, slots);
    int from, to;
    while (busiest_s > c->ideal_s * (1 + 1e-9) && c->moves_left > 0 &&
           find_move(c, slots, busiest_s, &from, &to)) {
        c->moves_left--;
        memcpy(c->saved, c->load, (size_t)c->res.n * sizeof *c->load);
        add_load(c, from, -1.0 / slots);
        add_load(c, to, 1.0 / slots);
        double then_s = max_load(c);
        if (!(then_s < busiest_s)) {
            memcpy(c->load, c->saved, (size_t)c->res.n * sizeof *c->load);
            break;
        }
        busiest_s = then_s;
        c->count[from]--;
        c->count[to]++;
    }
    return fmax(busiest_s, c->ideal_s);
}

static int rounds_alloc(struct espi_rounds *c, const struct esp_platform *p,
                        double slice_bytes, struct espi_arena *a)
{
    int n = c->plan->n_trees;
    c->count = ESPI_ARENA_NEW(a, int, n);
    c->remainder = ESPI_ARENA_NEW(a, double, n);
    c->part = ESPI_ARENA_NEW(a, int, n);
    c->part_left = ESPI_ARENA_NEW(a, int, p->n_nodes);
    if (!c->count || !c->remainder || !c->part || !c->part_left ||
        espi_resources_init(&c->res, p, slice_bytes, a))
        return -1;
    c->load = ESPI_ARENA_NEW(a, double, c->res.n);
    c->saved = ESPI_ARENA_NEW(a, double, c->res.n);
    c->price = ESPI_ARENA_NEW(a, double, c->res.n);
    c->parts = espi_plan_parts(c->plan, p->n_hosts);
    if (c->parts < 1)
        c->parts = 1;
    size_t hops = 1;
    for (int t = 0; t < n; t++) {
        c->part[t] = espi_tree_part(c->plan, &c->plan->trees[t]);
        hops += (size_t)c->plan->trees[t].n_hops;
    }
    c->moves_left = 4 + (int)(4e6 / (double)hops);
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
static double keep(struct espi_rounds *c, int slots, struct espi_round *best,
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

double espi_rounds_pick(struct espi_rounds *c, int low, int high, struct espi_round *best)
{
    double least_error = INFINITY, s = INFINITY;
    int nearest = 0, first = (low + c->parts - 1) / c->parts * c->parts;
    best->slots = 0;
    for (int slots = first; slots <= high; slots += c->parts) {
        double error = share(c, slots) * slots; /* in slices: long rounds are no excuse */
        if (error < least_error) {
            least_error = error;
            nearest = slots;
        }
    }
    int last = high / c->parts * c->parts, tried[2] = {nearest, last};
    for (int i = 0; i < 2; i++)
        if (tried[i] >= first && tried[i] > 0 && (i == 0 || tried[1] != nearest)) {
            share(c, tried[i]);
            s = keep(c, tried[i], best, s);
        }
    if (best->slots > 0) {
        int near_enough = share_error(c, best) <= SHARE_ERROR;
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
        int near_enough = error <= SHARE_ERROR;
        /* few rounds are looked at closely: those much nearer to the weights than the
         * last such, and others now and then */
        if (!(error < 0.7 * least_error) && !(near_enough && slots >= 1.2 * last))
            continue;
        least_error = fmin(error, least_error);
        last = slots;
        if (!near_enough || !was_near)
            best.slots = 0;
        was_near = near_enough;
        best_s = keep(c, slots, &best, best_s);
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
