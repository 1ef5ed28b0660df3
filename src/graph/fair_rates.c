#include "graph/fair_rates.h"

#include <math.h>
#include <string.h>

enum { KEPT, OPEN, FIXED };

/* rounding: sums of some thousand shares are right to so much of a resource; rates that
 * differ by less are the same. */
#define ROUNDING 1e-13

static int flows_init(struct espi_fair_rates *x, int n_flows, struct espi_arena *a)
{
    x->rate = ESPI_ARENA_ZNEW(a, double, n_flows);
    x->rate_before = ESPI_ARENA_ZNEW(a, double, n_flows);
    x->updated = ESPI_ARENA_NEW(a, int, n_flows);
    x->pending = ESPI_ARENA_NEW(a, int, n_flows);
    x->holder = ESPI_ARENA_NEW(a, int, n_flows);
    x->phase = ESPI_ARENA_ZNEW(a, unsigned char, n_flows);
    x->is_wanted = ESPI_ARENA_ZNEW(a, unsigned char, n_flows);
    x->is_there = ESPI_ARENA_ZNEW(a, unsigned char, n_flows);
    x->is_pending = ESPI_ARENA_ZNEW(a, unsigned char, n_flows);
    if (!x->rate || !x->rate_before || !x->updated || !x->pending || !x->holder ||
        !x->phase || !x->is_wanted || !x->is_there || !x->is_pending)
        return -1;
    for (int i = 0; i < n_flows; i++)
        x->holder[i] = -1;
    return 0;
}

int espi_fair_rates_init(struct espi_fair_rates *x, int n_flows, int n_resources,
                         const int *use_start, const int *use_resource,
                         struct espi_arena *a)
{
    int n_uses = use_start[n_flows];
    *x = (struct espi_fair_rates){.n_flows = n_flows,
                                  .n_resources = n_resources,
                                  .use_start = use_start,
                                  .use_resource = use_resource};
    x->part = ESPI_ARENA_ZNEW(a, double, n_uses);
    x->flow_of = ESPI_ARENA_NEW(a, int, n_uses);
    x->next = ESPI_ARENA_NEW(a, int, n_uses);
    x->before = ESPI_ARENA_NEW(a, int, n_uses);
    x->resource = ESPI_ARENA_ZNEW(a, struct espi_fair_resource, n_resources);
    x->is_changed = ESPI_ARENA_ZNEW(a, unsigned char, n_resources);
    x->changed = ESPI_ARENA_NEW(a, int, n_resources);
    if (!x->is_changed || !x->changed || !x->part || !x->flow_of || !x->next ||
        !x->before || !x->resource || flows_init(x, n_flows, a) ||
        espi_heap_init(&x->due, a, n_resources))
        return -1;
    for (int i = 0; i < n_flows; i++)
        for (int k = use_start[i]; k < use_start[i + 1]; k++)
            x->flow_of[k] = i;
    for (int r = 0; r < n_resources; r++)
        x->resource[r].first = -1;
    return 0;
}

/* ---- when a resource acts ---- */

static double room_of(const struct espi_fair_resource *r)
{
    return 1 - r->used;
}

/* What would be left of it, were its open flows at the level of those it holds. */
static double slack_of(const struct espi_fair_resource *r)
{
    return room_of(r) - r->weight * r->level;
}

/* Does it hold flows that could have more? */
static int lets_go(const struct espi_fair_resource *r)
{
    return r->n_held > 0 && r->n_stuck == 0 && slack_of(r) > ROUNDING;
}

/* The level at which it is full. */
static double level_of(const struct espi_fair_resource *r)
{
    if (r->n_stuck > 0)
        return 0;
    if (r->n_held > 0 && fabs(slack_of(r)) <= ROUNDING)
        return r->level;
    double room = room_of(r);
    return room > 0 ? room / r->weight : 0;
}

/* Has it flows whose rates it may have to set? */
static int may_fill(const struct espi_fair_resource *r)
{
    return r->n_open > 0 || (r->n_stuck > 0 && r->used > 0);
}

static void expect_resource(struct espi_fair_rates *x, int resource)
{
    const struct espi_fair_resource *r = &x->resource[resource];
    if (lets_go(r))
        espi_heap_set(&x->due, resource, r->level);
    else if (may_fill(r))
        espi_heap_set(&x->due, resource, level_of(r));
    else
        espi_heap_remove(&x->due, resource);
}

/* Several of its flows change at once, mostly: it is looked at when all have. */
static void touch_resource(struct espi_fair_rates *x, int resource)
{
    if (!x->is_changed[resource])
        x->changed[x->n_changed++] = resource;
    x->is_changed[resource] = 1;
}

static void expect_changed(struct espi_fair_rates *x)
{
    for (int i = 0; i < x->n_changed; i++) {
        x->is_changed[x->changed[i]] = 0;
        expect_resource(x, x->changed[i]);
    }
    x->n_changed = 0;
}

/* Adds up what its flows take. */
static void sum_resource(struct espi_fair_rates *x, struct espi_fair_resource *r)
{
    r->used = r->weight = 0;
    r->n_summed = 0;
    for (int k = r->first; k >= 0; k = x->next[k]) {
        int flow = x->flow_of[k];
        if (!isfinite(x->part[k]))
            continue;
        if (x->phase[flow] == OPEN)
            r->weight += x->part[k];
        else
            r->used += x->rate[flow] * x->part[k];
    }
}

/* Adds to what is used. Now and then, so that rounding does not gather, it is added up
 * anew: as seldom as costs no more than the changes themselves. */
static void use_resource(struct espi_fair_rates *x, struct espi_fair_resource *r,
                         double used, double weight)
{
    r->used += used;
    r->weight += weight;
    if (++r->n_summed > 2 * r->n_there + 16)
        sum_resource(x, r);
}

/* ---- flows ---- */

void espi_fair_rates_set(struct espi_fair_rates *x, int flow, int is_there)
{
    x->is_wanted[flow] = (unsigned char)is_there;
    if (!x->is_pending[flow])
        x->pending[x->n_pending++] = flow;
    x->is_pending[flow] = 1;
}

static void link_use(struct espi_fair_rates *x, int use)
{
    int *first = &x->resource[x->use_resource[use]].first;
    x->next[use] = *first;
    x->before[use] = -1;
    if (*first >= 0)
        x->before[*first] = use;
    *first = use;
}

static void unlink_use(struct espi_fair_rates *x, int use)
{
    int next = x->next[use], before = x->before[use];
    if (before < 0)
        x->resource[x->use_resource[use]].first = next;
    else
        x->next[before] = next;
    if (next >= 0)
        x->before[next] = before;
}

static void release_flow(struct espi_fair_rates *x, int flow)
{
    if (x->holder[flow] >= 0)
        x->resource[x->holder[flow]].n_held--;
    x->holder[flow] = -1;
}

/* It grows from the level that the filling is at. */
static void open_flow(struct espi_fair_rates *x, int flow)
{
    double rate = x->rate[flow];
    x->phase[flow] = OPEN;
    x->rate_before[flow] = rate;
    x->updated[x->n_updated++] = flow;
    release_flow(x, flow);
    for (int k = x->use_start[flow]; k < x->use_start[flow + 1]; k++) {
        double part = x->part[k];
        struct espi_fair_resource *r = &x->resource[x->use_resource[k]];
        if (!(part > 0))
            continue;
        r->n_open++;
        if (isfinite(part))
            use_resource(x, r, -rate * part, part);
        touch_resource(x, x->use_resource[k]);
    }
}

static void fix_flow(struct espi_fair_rates *x, int flow, int resource, double rate)
{
    double before = x->rate_before[flow];
    if (fabs(rate - before) <= ROUNDING * before)
        rate = before; /* it is the same but for rounding */
    x->phase[flow] = FIXED;
    x->rate[flow] = rate;
    x->holder[flow] = resource;
    for (int k = x->use_start[flow]; k < x->use_start[flow + 1]; k++) {
        double part = x->part[k];
        struct espi_fair_resource *r = &x->resource[x->use_resource[k]];
        if (!(part > 0))
            continue;
        r->n_open--;
        if (isfinite(part))
            use_resource(x, r, rate * part, -part);
        if (r->n_open == 0)
            r->weight = 0;
        touch_resource(x, x->use_resource[k]);
    }
}

/* It is on the lists of its resources from now on, and opened. */
static void add_flow(struct espi_fair_rates *x, int flow)
{
    x->is_there[flow] = 1;
    x->rate[flow] = 0;
    for (int k = x->use_start[flow]; k < x->use_start[flow + 1]; k++) {
        struct espi_fair_resource *r = &x->resource[x->use_resource[k]];
        if (!(x->part[k] > 0))
            continue;
        r->n_there++;
        r->n_stuck += !isfinite(x->part[k]);
        link_use(x, k);
    }
    open_flow(x, flow);
}

static void take_flow(struct espi_fair_rates *x, int flow)
{
    x->is_there[flow] = 0;
    release_flow(x, flow);
    for (int k = x->use_start[flow]; k < x->use_start[flow + 1]; k++) {
        double part = x->part[k];
        struct espi_fair_resource *r = &x->resource[x->use_resource[k]];
        if (!(part > 0))
            continue;
        unlink_use(x, k);
        r->n_there--;
        r->n_stuck -= !isfinite(part);
        if (isfinite(part))
            use_resource(x, r, -x->rate[flow] * part, 0);
        if (r->n_there == 0)
            r->used = 0;
        touch_resource(x, x->use_resource[k]);
    }
    x->rate[flow] = 0;
}

void espi_fair_rates_drop(struct espi_fair_rates *x, int flow)
{
    if (x->is_there[flow])
        take_flow(x, flow);
    espi_fair_rates_set(x, flow, x->is_wanted[flow]);
}

/* ---- filling ---- */

/* Flows that it held may have more: they grow again. */
static void let_flows_go(struct espi_fair_rates *x, int resource)
{
    for (int k = x->resource[resource].first; k >= 0; k = x->next[k]) {
        int flow = x->flow_of[k];
        if (x->phase[flow] == KEPT && x->holder[flow] == resource)
            open_flow(x, flow);
    }
}

/* Opens those of its flows that have more than their part. How many? */
static int open_above(struct espi_fair_rates *x, int resource, double level)
{
    int n = 0;
    for (int k = x->resource[resource].first; k >= 0; k = x->next[k]) {
        int flow = x->flow_of[k];
        if (x->phase[flow] != KEPT || !(x->rate[flow] > level * (1 + 10 * ROUNDING)))
            continue;
        open_flow(x, flow);
        n++;
    }
    return n;
}

static void fix_open(struct espi_fair_rates *x, int resource, double level)
{
    struct espi_fair_resource *r = &x->resource[resource];
    r->level = level;
    for (int k = r->first; k >= 0 && r->n_open > 0; k = x->next[k])
        if (x->phase[x->flow_of[k]] == OPEN)
            fix_flow(x, x->flow_of[k], resource, level);
    touch_resource(x, resource);
}

static void fill_resource(struct espi_fair_rates *x, int resource)
{
    struct espi_fair_resource *r = &x->resource[resource];
    sum_resource(x, r);
    expect_resource(x, resource);
    if (x->due.size == 0 || espi_heap_top(&x->due) != resource)
        return; /* but for rounding its turn is later, or never */
    if (lets_go(r)) {
        let_flows_go(x, resource);
        return;
    }
    double level = level_of(r);
    if (!open_above(x, resource, level))
        fix_open(x, resource, level);
}

void espi_fair_rates_update(struct espi_fair_rates *x)
{
    x->n_updated = 0;
    for (int i = 0; i < x->n_pending; i++) {
        int flow = x->pending[i];
        x->is_pending[flow] = 0;
        if (x->is_wanted[flow] == x->is_there[flow])
            continue;
        if (x->is_wanted[flow])
            add_flow(x, flow);
        else
            take_flow(x, flow);
    }
    x->n_pending = 0;
    for (expect_changed(x); x->due.size > 0; expect_changed(x))
        fill_resource(x, espi_heap_top(&x->due));
    for (int i = 0; i < x->n_updated; i++) {
        int flow = x->updated[i];
        x->phase[flow] = KEPT;
        if (x->holder[flow] >= 0)
            x->resource[x->holder[flow]].n_held++;
    }
}
