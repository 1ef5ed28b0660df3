#include "sim/fair_rates.h"

#include <math.h>
#include <string.h>

static int lists_init(struct espi_fair_rates *x, int n_flows, int n_resources,
                      struct espi_arena *a)
{
    int n_uses = x->use_start[n_flows];
    x->flow_of = ESPI_ARENA_NEW(a, int, n_uses);
    x->next = ESPI_ARENA_NEW(a, int, n_uses);
    x->before = ESPI_ARENA_NEW(a, int, n_uses);
    x->first = ESPI_ARENA_NEW(a, int, n_resources);
    if (!x->flow_of || !x->next || !x->before || !x->first)
        return -1;
    for (int i = 0; i < n_flows; i++)
        for (int k = x->use_start[i]; k < x->use_start[i + 1]; k++)
            x->flow_of[k] = i;
    for (int r = 0; r < n_resources; r++)
        x->first[r] = -1;
    return 0;
}

int espi_fair_rates_init(struct espi_fair_rates *x, int n_flows, int n_resources,
                         const int *use_start, const int *use_resource,
                         struct espi_arena *a)
{
    *x = (struct espi_fair_rates){.use_start = use_start, .use_resource = use_resource};
    x->part = ESPI_ARENA_ZNEW(a, double, use_start[n_flows]);
    x->rate = ESPI_ARENA_ZNEW(a, double, n_flows);
    x->updated = ESPI_ARENA_NEW(a, int, n_flows);
    x->pending = ESPI_ARENA_NEW(a, int, n_flows);
    x->is_wanted = ESPI_ARENA_ZNEW(a, unsigned char, n_flows);
    x->is_there = ESPI_ARENA_ZNEW(a, unsigned char, n_flows);
    x->is_pending = ESPI_ARENA_ZNEW(a, unsigned char, n_flows);
    x->is_open = ESPI_ARENA_ZNEW(a, unsigned char, n_flows);
    x->touched = ESPI_ARENA_NEW(a, int, n_resources);
    x->room = ESPI_ARENA_NEW(a, double, n_resources);
    x->weight = ESPI_ARENA_NEW(a, double, n_resources);
    if (!x->part || !x->rate || !x->updated || !x->pending || !x->is_wanted ||
        !x->is_there || !x->is_pending || !x->is_open || !x->touched || !x->room ||
        !x->weight)
        return -1;
    for (int r = 0; r < n_resources; r++)
        x->weight[r] = -1;
    return lists_init(x, n_flows, n_resources, a);
}

/* ---- who is there ---- */

void espi_fair_rates_set(struct espi_fair_rates *x, int flow, int is_there)
{
    x->is_wanted[flow] = (unsigned char)is_there;
    if (!x->is_pending[flow])
        x->pending[x->n_pending++] = flow;
    x->is_pending[flow] = 1;
}

static void touch_resource(struct espi_fair_rates *x, int resource)
{
    if (x->weight[resource] >= 0)
        return;
    x->weight[resource] = 0;
    x->room[resource] = 1;
    x->touched[x->n_touched++] = resource;
}

static void link_use(struct espi_fair_rates *x, int use)
{
    int *first = &x->first[x->use_resource[use]];
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
        x->first[x->use_resource[use]] = next;
    else
        x->next[before] = next;
    if (next >= 0)
        x->before[next] = before;
}

/* The flow joins its resources or leaves them. */
static void move_flow(struct espi_fair_rates *x, int flow)
{
    int comes = !x->is_there[flow];
    for (int k = x->use_start[flow]; k < x->use_start[flow + 1]; k++) {
        if (!(x->part[k] > 0))
            continue;
        touch_resource(x, x->use_resource[k]);
        if (comes)
            link_use(x, k);
        else
            unlink_use(x, k);
    }
    x->is_there[flow] = (unsigned char)comes;
    x->rate[flow] = 0;
}

void espi_fair_rates_drop(struct espi_fair_rates *x, int flow)
{
    if (x->is_there[flow])
        move_flow(x, flow);
    espi_fair_rates_set(x, flow, x->is_wanted[flow]);
}

/* ---- rates ---- */

static void open_flow(struct espi_fair_rates *x, int flow)
{
    x->is_open[flow] = 1;
    x->rate[flow] = 0;
    x->updated[x->n_updated++] = flow;
    for (int k = x->use_start[flow]; k < x->use_start[flow + 1]; k++)
        if (x->part[k] > 0) {
            touch_resource(x, x->use_resource[k]);
            x->weight[x->use_resource[k]] += x->part[k];
        }
}

/* All flows that are joined to the resources touched so far, and their resources. */
static void open_joined(struct espi_fair_rates *x)
{
    for (int i = 0; i < x->n_touched; i++)
        for (int k = x->first[x->touched[i]]; k >= 0; k = x->next[k])
            if (!x->is_open[x->flow_of[k]])
                open_flow(x, x->flow_of[k]);
}

/* The resource with the lowest fair rate of flows not fixed; -1: none is left. */
static int lowest_fair_resource(const struct espi_fair_rates *x, double *rate)
{
    int best = -1;
    for (int i = 0; i < x->n_touched; i++) {
        int r = x->touched[i];
        double room = x->room[r], weight = x->weight[r];
        if (!(weight > 0))
            continue;
        double fair = isfinite(weight) ? (room > 0 ? room / weight : 0) : 0;
        if (best < 0 || fair < *rate || (fair == *rate && r < best)) {
            best = r;
            *rate = fair;
        }
    }
    return best;
}

static void fix_flow(struct espi_fair_rates *x, int flow, double rate)
{
    x->is_open[flow] = 0;
    x->rate[flow] = rate;
    for (int k = x->use_start[flow]; k < x->use_start[flow + 1]; k++) {
        int r = x->use_resource[k];
        if (!(x->part[k] > 0) || !(x->weight[r] > 0))
            continue; /* it is not used, or done with */
        if (isfinite(x->part[k])) {
            x->room[r] -= rate * x->part[k];
            x->weight[r] -= x->part[k];
        }
        /* What is left of a sum of a few terms after its terms were taken away. */
        if (x->weight[r] < 1e-12 * x->part[k])
            x->weight[r] = 0;
    }
}

static void drop_done(struct espi_fair_rates *x)
{
    int kept = 0;
    for (int i = 0; i < x->n_touched; i++)
        if (x->weight[x->touched[i]] > 0)
            x->touched[kept++] = x->touched[i];
        else
            x->weight[x->touched[i]] = -1;
    x->n_touched = kept;
}

static void fill_rates(struct espi_fair_rates *x)
{
    double rate = 0;
    int resource;
    while ((resource = lowest_fair_resource(x, &rate)) >= 0) {
        for (int k = x->first[resource]; k >= 0; k = x->next[k])
            if (x->is_open[x->flow_of[k]])
                fix_flow(x, x->flow_of[k], rate);
        x->weight[resource] = 0;
        drop_done(x);
    }
    drop_done(x);
}

void espi_fair_rates_update(struct espi_fair_rates *x)
{
    x->n_updated = 0;
    for (int i = 0; i < x->n_pending; i++) {
        int flow = x->pending[i];
        x->is_pending[flow] = 0;
        if (x->is_wanted[flow] != x->is_there[flow])
            move_flow(x, flow);
    }
    x->n_pending = 0;
    open_joined(x);
    fill_rates(x);
    for (int i = 0; i < x->n_updated; i++)
        x->is_open[x->updated[i]] = 0;
}
