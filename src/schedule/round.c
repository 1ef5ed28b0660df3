/* How the slices of a round are shared among the trees. */
#include "schedule/round.h"

#include <math.h>
#include <string.h>

#include "plan/ops.h"
#include "platform/resources.h"

/* A tree may get so much more or less of the message than its weight says. */
static const double SHARE_ERROR = 0.03;

struct chooser {
    const struct esp_plan *plan;
    struct espi_resources res;
    double *load;
    int *count;
    double *remainder;
    int parts;      /* of the message: each gets as many slots */
    int *part;      /* tree -> node whose part it carries */
    int *part_left; /* node -> slots of its part that are not given yet */
};

/* Counts by largest remainder for a round of that many slots; gives the largest error in
 * parts of the whole. Trees may get nothing. */
static double share(struct chooser *c, int slots)
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

/* Load of the busiest resource a slice, with the shares of the round (slots > 0) or with
 * the weights. */
static double period_s(struct chooser *c, int slots)
{
    const struct espi_resources *r = &c->res;
    double most = 0;
    memset(c->load, 0, (size_t)r->n * sizeof *c->load);
    for (int t = 0; t < c->plan->n_trees; t++) {
        const struct esp_tree *tree = &c->plan->trees[t];
        double part = slots ? (double)c->count[t] / slots : tree->weight;
        for (int h = 0; part > 0 && h < tree->n_hops; h++)
            for (int k = r->start[tree->hops[h]]; k < r->start[tree->hops[h] + 1]; k++) {
                c->load[r->resource[k]] += part * r->time_s[k];
                most = fmax(most, c->load[r->resource[k]]);
            }
    }
    return most;
}

static int chooser_init(struct chooser *c, const struct esp_platform *p,
                        const struct espi_round_options *o, struct espi_arena *a)
{
    c->count = ESPI_ARENA_NEW(a, int, c->plan->n_trees);
    c->remainder = ESPI_ARENA_NEW(a, double, c->plan->n_trees);
    if (!c->count || !c->remainder || espi_resources_init(&c->res, p, o->slice_bytes, a))
        return -1;
    c->load = ESPI_ARENA_NEW(a, double, c->res.n);
    c->part = ESPI_ARENA_NEW(a, int, c->plan->n_trees);
    c->part_left = ESPI_ARENA_NEW(a, int, p->n_nodes);
    if (!c->load || !c->part || !c->part_left)
        return -1;
    c->parts = espi_plan_parts(c->plan, p->n_hosts);
    if (c->parts < 1)
        c->parts = 1;
    for (int t = 0; t < c->plan->n_trees; t++)
        c->part[t] = espi_tree_part(c->plan, &c->plan->trees[t]);
    return 0;
}

int espi_round_choose(const struct esp_platform *p, const struct esp_plan *plan,
                      const struct espi_round_options *o, struct espi_arena *arena,
                      struct espi_round *out)
{
    struct chooser c = {.plan = plan};
    if (chooser_init(&c, p, o, arena))
        return -1;
    int most = o->n_slices < o->max_slots ? (int)o->n_slices : o->max_slots;
    int best = c.parts;
    double least_error = INFINITY, least_cost = INFINITY, ideal_s = period_s(&c, 0);
    for (int slots = c.parts; slots <= most; slots += c.parts) {
        double error = share(&c, slots);
        if (!(error < least_error))
            continue;
        least_error = error;
        double s = period_s(&c, slots);
        double cost = s * ((double)o->n_slices + 0.5 * o->depth * slots);
        if (error > SHARE_ERROR || cost < least_cost) {
            least_cost = error > SHARE_ERROR ? INFINITY : cost;
            best = slots;
        }
        if (error <= SHARE_ERROR && s <= ideal_s * (1 + o->tolerance))
            break;
    }
    share(&c, best);
    *out = (struct espi_round){best, c.count};
    return 0;
}
