/* The checker of schedules. It shares nothing with what makes them but the resources: in
 * every slot no resource is used by more than it has, every leg of every edge gets the
 * time of its slices, and the slots last a period.
 *
 * Precedence needs no check of its own: a leg sends in a period what came in an earlier
 * one, so that within a period any order is right. Linear in plan and schedule. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/schedule.h"
#include "platform/resources.h"

static const double TOLERANCE = 1e-9; /* of the period */

struct path {
    const int *hops;
    int n;
};

struct checker {
    const struct esp_schedule *s;
    const struct esp_plan *plan;
    const struct esp_platform *p;
    struct espi_resources res;
    double *held_s; /* resource -> by one slice on the path at hand */
    double *used;   /* resource -> in the slot at hand */
    int *touched;   /* resources with used > 0 */
    int n_touched;
    double **given_s; /* tree -> hop -> time of the leg that starts with the hop */
    struct esp_err *err;
};

static int bad_time(double x)
{
    return !(x >= 0 && isfinite(x));
}

static esp_status check_head(const struct checker *c)
{
    const struct esp_schedule *s = c->s;
    if (!(s->period_s > 0) || bad_time(s->period_s) || !(s->slice_bytes > 0) ||
        bad_time(s->slice_bytes))
        return espi_err(c->err, ESP_EINPUT,
                        "the schedule needs a positive period and slice");
    int64_t sum = 0;
    for (int t = 0; t < c->plan->n_trees; t++) {
        double want = c->plan->trees[t].weight * s->slices_per_period;
        if (s->tree_slices[t] < 0 ||
            fabs(s->tree_slices[t] - want) > 1 + 1e-6 * s->slices_per_period)
            return espi_err(c->err, ESP_EINPUT,
                            "the schedule gives tree %d %d slices of %d: not its weight",
                            t, s->tree_slices[t], s->slices_per_period);
        sum += s->tree_slices[t];
    }
    if (s->slices_per_period < 1 || sum != s->slices_per_period)
        return espi_err(c->err, ESP_EINPUT,
                        "the slices of the trees do not sum to the schedule's %d",
                        s->slices_per_period);
    return ESP_OK;
}

/* The links of a part of an edge; n = 0 when there is no such part. */
static struct path find_path(const struct checker *c, const struct esp_transfer *x)
{
    struct path none = {NULL, 0};
    if (x->tree < 0 || x->tree >= c->plan->n_trees || x->edge < 0 ||
        x->edge >= c->plan->trees[x->tree].n_edges)
        return none;
    const struct esp_tree *tree = &c->plan->trees[x->tree];
    const struct esp_edge *e = &tree->edges[x->edge];
    const int *hops = tree->hops + e->first_hop;
    int part = 0, first = 0;
    for (int k = 1; k <= e->n_hops; k++) {
        if (k < e->n_hops && espi_is_switch(c->p, c->p->head[hops[k - 1]]))
            continue;
        if (part++ == x->part)
            return (struct path){hops + first, k - first};
        first = k;
    }
    return none;
}

static int same(struct path a, struct path b)
{
    return a.n == b.n && !memcmp(a.hops, b.hops, (size_t)a.n * sizeof *a.hops);
}

/* How long a slice holds each resource of the path, in held_s; returns the longest. The
 * caller clears what this sets. */
static double hold(struct checker *c, struct path path)
{
    double longest_s = 0;
    for (int h = 0; h < path.n; h++)
        for (int k = c->res.start[path.hops[h]]; k < c->res.start[path.hops[h] + 1];
             k++) {
            double *held_s = &c->held_s[c->res.resource[k]];
            *held_s += c->res.time_s[k];
            longest_s = fmax(longest_s, *held_s);
        }
    return longest_s;
}

static void let_go(struct checker *c, struct path path)
{
    for (int h = 0; h < path.n; h++)
        for (int k = c->res.start[path.hops[h]]; k < c->res.start[path.hops[h] + 1]; k++)
            c->held_s[c->res.resource[k]] = 0;
}

/* Counts the path as active in the slot. */
static esp_status use(struct checker *c, int slot, struct path path)
{
    double longest_s = hold(c, path);
    esp_status st = ESP_OK;
    for (int h = 0; h < path.n && !st; h++)
        for (int k = c->res.start[path.hops[h]]; k < c->res.start[path.hops[h] + 1];
             k++) {
            int r = c->res.resource[k];
            if (c->used[r] == 0)
                c->touched[c->n_touched++] = r;
            c->used[r] += c->held_s[r] / longest_s;
            c->held_s[r] = 0; /* once for each path */
            char text[160];
            if (c->used[r] > 1 + TOLERANCE)
                st = espi_err(c->err, ESP_EINPUT, "slot %d uses %s twice at once", slot,
                              espi_resource_text(&c->res, c->p, r, text, sizeof text));
        }
    let_go(c, path);
    return st;
}

static esp_status check_slot(struct checker *c, int i)
{
    const struct esp_slot *slot = &c->s->slots[i];
    struct path last = {NULL, 0};
    double tolerance_s = TOLERANCE * c->s->period_s, busy_s = 0;
    esp_status st = ESP_OK;
    if (bad_time(slot->duration_s) || slot->n_transfers < 0 || slot->first_transfer < 0 ||
        slot->first_transfer > c->s->n_transfers - slot->n_transfers)
        return espi_err(c->err, ESP_EINPUT, "slot %d of the schedule is none", i);
    while (c->n_touched > 0)
        c->used[c->touched[--c->n_touched]] = 0;
    for (int k = 0; k < slot->n_transfers && !st; k++) {
        const struct esp_transfer *x = &c->s->transfers[slot->first_transfer + k];
        struct path path = find_path(c, x);
        if (path.n == 0 || bad_time(x->duration_s))
            return espi_err(c->err, ESP_EINPUT, "slot %d, transfer %d: there is no such",
                            i, k);
        if (!same(path, last)) {
            st = use(c, i, path);
            busy_s = 0;
        }
        busy_s += x->duration_s;
        if (!st && busy_s > slot->duration_s + tolerance_s)
            st = espi_err(c->err, ESP_EINPUT, "slot %d, transfer %d outlasts the slot", i,
                          k);
        c->given_s[x->tree][path.hops - c->plan->trees[x->tree].hops] += x->duration_s;
        last = path;
    }
    return st;
}

/* Has every leg had its time? */
static esp_status check_times(struct checker *c)
{
    for (int t = 0; t < c->plan->n_trees; t++)
        for (int i = 0; i < c->plan->trees[t].n_edges; i++) {
            struct esp_transfer x = {.tree = t, .edge = i};
            for (;; x.part++) {
                struct path path = find_path(c, &x);
                if (path.n == 0)
                    break;
                double slice_s = hold(c, path);
                double want_s = slice_s * c->s->tree_slices[t];
                double has_s = c->given_s[t][path.hops - c->plan->trees[t].hops];
                let_go(c, path);
                if (fabs(has_s - want_s) > TOLERANCE * c->s->period_s)
                    return espi_err(c->err, ESP_EINPUT,
                                    "the schedule gives tree %d, edge %d %.9g s, not the "
                                    "%.9g s its slices take",
                                    t, i, has_s, want_s);
            }
        }
    return ESP_OK;
}

static int checker_init(struct checker *c, struct espi_arena *a)
{
    const struct esp_plan *plan = c->plan;
    if (espi_resources_init(&c->res, c->p, c->s->slice_bytes, a))
        return -1;
    c->held_s = ESPI_ARENA_ZNEW(a, double, c->res.n);
    c->used = ESPI_ARENA_ZNEW(a, double, c->res.n);
    c->touched = ESPI_ARENA_NEW(a, int, c->res.n);
    c->given_s = ESPI_ARENA_NEW(a, double *, plan->n_trees);
    if (!c->held_s || !c->used || !c->touched || !c->given_s)
        return -1;
    for (int t = 0; t < plan->n_trees; t++) {
        c->given_s[t] = ESPI_ARENA_ZNEW(a, double, plan->trees[t].n_hops);
        if (!c->given_s[t])
            return -1;
    }
    return 0;
}

static esp_status check_all(struct checker *c)
{
    double sum_s = 0;
    esp_status st = ESP_OK;
    for (int i = 0; i < c->s->n_slots && !st; i++) {
        st = check_slot(c, i);
        sum_s += c->s->slots[i].duration_s;
    }
    if (!st && fabs(sum_s - c->s->period_s) > TOLERANCE * c->s->period_s)
        st = espi_err(c->err, ESP_EINPUT, "the slots last %.9g s, not a period of %.9g s",
                      sum_s, c->s->period_s);
    return st ? st : check_times(c);
}

esp_status espi_schedule_check(const struct esp_schedule *s, const struct esp_plan *plan,
                               const struct esp_platform *p, struct esp_err *err)
{
    struct checker c = {.s = s, .plan = plan, .p = p, .err = err};
    struct espi_arena arena;
    esp_status st = check_head(&c);
    if (st)
        return st;
    espi_arena_init(&arena);
    st = checker_init(&c, &arena) ? espi_err_nomem(err) : check_all(&c);
    espi_arena_done(&arena);
    return st;
}
