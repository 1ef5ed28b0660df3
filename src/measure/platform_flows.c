#include "measure/platform_flows.h"

#include <math.h>
#include <string.h>

#include "measure/max_min_fair.h"

/* Links that are no slower than what they share limit nothing. */
static double own_capacity(const struct esp_platform *p, int link)
{
    for (int k = 0; k < esp_platform_link_cable_count(p, link); k++)
        if (p->bandwidth_Bps[link] >=
            p->shared_Bps[esp_platform_link_cable(p, link, k)] * (1 - 1e-9))
            return INFINITY;
    return p->bandwidth_Bps[link];
}

int espi_platform_flows_init(struct espi_platform_flows *x, const struct esp_platform *p,
                             const struct espi_samples *samples, struct espi_arena *arena)
{
    *x = (struct espi_platform_flows){.p = p, .n_resources = p->n_shared + p->n_links};
    x->capacity = ESPI_ARENA_NEW(arena, double, (size_t)x->n_resources + 1);
    x->local = ESPI_ARENA_NEW(arena, int, (size_t)x->n_resources + 1);
    x->queue = ESPI_ARENA_NEW(arena, int, p->n_nodes);
    x->link_into = ESPI_ARENA_NEW(arena, int, p->n_nodes);
    x->node = ESPI_ARENA_NEW(arena, int, (size_t)espi_samples_hosts(samples) + 1);
    if (!x->capacity || !x->local || !x->queue || !x->link_into || !x->node)
        return -1;
    for (int h = 0; h < espi_samples_hosts(samples); h++)
        x->node[h] = esp_platform_find_node(p, espi_names_text(&samples->hosts, h));
    for (int c = 0; c < p->n_shared; c++)
        x->capacity[c] = p->shared_Bps[c];
    for (int e = 0; e < p->n_links; e++)
        x->capacity[p->n_shared + e] = own_capacity(p, e);
    for (int r = 0; r < x->n_resources; r++)
        x->local[r] = -1;
    return 0;
}

/* What a round has of hosts that the platform does not know cannot be predicted. */
static int is_known(const struct espi_platform_flows *x,
                    const struct espi_trial_rounds *r, int round)
{
    for (int i = r->start[round]; i < r->start[round + 1]; i++)
        if (x->node[r->flows[i].from] < 0 || x->node[r->flows[i].to] < 0)
            return 0;
    return 1;
}

void espi_rounds_of_nodes(const struct espi_platform_flows *x,
                          struct espi_trial_rounds *r)
{
    int n = 0, kept = 0, *number = r->times; /* old -> new; nobody asks for more rounds */
    for (int k = 0; k < r->n; k++) {
        int known = is_known(x, r, k), first = r->start[k], end = r->start[k + 1];
        number[k] = kept;
        if (!known)
            continue;
        r->same[kept] = number[r->same[k]]; /* of the same hosts, and so known, too */
        r->start[kept++] = n;
        for (int i = first; i < end; i++) {
            const struct espi_trial_flow *f = &r->flows[i];
            r->flows[n++] =
                (struct espi_trial_flow){x->node[f->from], x->node[f->to], f->Bps};
        }
    }
    r->start[kept] = n;
    r->n = kept;
}

/* ---- routes ---- */

/* The fewest links through switches; of equal ones the first. */
int espi_platform_route(struct espi_platform_flows *x, int from, int to, int *links)
{
    const struct esp_platform *p = x->p;
    int direct = esp_platform_find_link(p, from, to), size = 0, n = 0;
    if (direct >= 0) {
        links[0] = direct;
        return 1;
    }
    for (int v = 0; v < p->n_nodes; v++)
        x->link_into[v] = -1;
    x->queue[size++] = from;
    for (int i = 0; i < size && x->link_into[to] < 0; i++) {
        int u = x->queue[i];
        for (int k = p->out.start[u]; k < p->out.start[u + 1]; k++) {
            int v = p->head[p->out.item[k]];
            if (v == from || x->link_into[v] >= 0 || (v != to && !espi_is_switch(p, v)))
                continue;
            x->link_into[v] = p->out.item[k];
            x->queue[size++] = v;
        }
    }
    if (x->link_into[to] < 0)
        return -1;
    for (int v = to; v != from; v = p->tail[x->link_into[v]])
        links[n++] = x->link_into[v];
    return n;
}

/* ---- a round ---- */

struct listing {
    struct espi_round_forecast *out;
    int *links;
    double *capacity;
    int n_items;
};

static int local_number(struct espi_platform_flows *x, struct listing *l, int resource)
{
    if (x->local[resource] < 0) {
        x->local[resource] = l->out->n;
        l->capacity[l->out->n] = x->capacity[resource];
        l->out->resource[l->out->n++] = resource;
    }
    return x->local[resource];
}

static void list_link(struct espi_platform_flows *x, struct listing *l, int link)
{
    const struct esp_platform *p = x->p;
    if (isfinite(x->capacity[p->n_shared + link])) {
        int number = local_number(x, l, p->n_shared + link);
        l->out->item[l->n_items++] = number;
    }
    for (int k = 0; k < esp_platform_link_cable_count(p, link); k++) {
        int number = local_number(x, l, esp_platform_link_cable(p, link, k)), known = 0;
        for (int i = l->out->start[l->out->n_flows]; i < l->n_items; i++)
            known |= l->out->item[i] == number; /* two links of a way in one cable */
        if (!known)
            l->out->item[l->n_items++] = number;
    }
}

/* How many places the uses of these flows take at most. */
static int count_uses(struct espi_platform_flows *x, const struct espi_trial_flow *flows,
                      int n, int *links)
{
    int uses = 0;
    for (int i = 0; i < n; i++) {
        int length = espi_platform_route(x, flows[i].from, flows[i].to, links);
        for (int k = 0; k < length; k++)
            uses += 1 + esp_platform_link_cable_count(x->p, links[k]);
    }
    return uses;
}

static int list_flows(struct espi_platform_flows *x, const struct espi_trial_flow *flows,
                      int n, struct espi_round_forecast *out, struct listing *l,
                      struct espi_arena *arena)
{
    l->links = ESPI_ARENA_NEW(arena, int, x->p->n_nodes);
    size_t uses = l->links ? (size_t)count_uses(x, flows, n, l->links) + 1 : 1;
    out->start = ESPI_ARENA_NEW(arena, int, (size_t)n + 1);
    out->item = ESPI_ARENA_NEW(arena, int, uses);
    out->resource = ESPI_ARENA_NEW(arena, int, uses);
    l->capacity = ESPI_ARENA_NEW(arena, double, uses);
    if (!l->links || !out->start || !out->item || !out->resource || !l->capacity)
        return -1;
    for (int i = 0; i < n; i++) {
        int length = espi_platform_route(x, flows[i].from, flows[i].to, l->links);
        out->start[i] = l->n_items;
        out->n_flows = i;
        for (int k = 0; k < length; k++)
            list_link(x, l, l->links[k]);
    }
    out->start[n] = l->n_items;
    out->n_flows = n;
    for (int r = 0; r < out->n; r++)
        x->local[out->resource[r]] = -1;
    return 0;
}

static int flow_uses(const struct espi_round_forecast *f, int flow, int resource)
{
    for (int k = f->start[flow]; k < f->start[flow + 1]; k++)
        if (f->item[k] == resource)
            return 1;
    return 0;
}

/* What the flow could get more if only this resource were not: at most as much again. */
static double room_of_flow(const struct espi_round_forecast *f, int flow, int without,
                           const double *spare)
{
    double more = f->rate[flow];
    for (int k = f->start[flow]; k < f->start[flow + 1]; k++)
        if (f->item[k] != without)
            more = fmin(more, spare[f->item[k]]);
    return more;
}

/* What the flows of a full resource would gain without it, if nothing else changed: each
 * in turn takes what all its other resources have left. */
static double gain_without(const struct espi_round_forecast *f, int resource,
                           const double *left, double *spare)
{
    double gain = 0;
    for (int i = 0; i < f->n_flows; i++)
        for (int k = f->start[i]; k < f->start[i + 1] && flow_uses(f, i, resource); k++)
            spare[f->item[k]] = left[f->item[k]];
    for (int i = 0; i < f->n_flows; i++) {
        if (!flow_uses(f, i, resource))
            continue;
        double more = room_of_flow(f, i, resource, spare);
        for (int k = f->start[i]; k < f->start[i + 1]; k++)
            spare[f->item[k]] -= more;
        gain += more;
    }
    return gain;
}

static int find_loads(struct espi_round_forecast *f, const double *capacity,
                      struct espi_arena *arena)
{
    double *left = ESPI_ARENA_NEW(arena, double, (size_t)f->n + 1);
    double *spare = ESPI_ARENA_NEW(arena, double, (size_t)f->n + 1);
    f->load = ESPI_ARENA_ZNEW(arena, double, (size_t)f->n + 1);
    f->held_up = ESPI_ARENA_ZNEW(arena, double, (size_t)f->n + 1);
    if (!left || !spare || !f->load || !f->held_up)
        return -1;
    for (int i = 0; i < f->n_flows; i++)
        for (int k = f->start[i]; k < f->start[i + 1]; k++)
            f->load[f->item[k]] += f->rate[i];
    for (int r = 0; r < f->n; r++)
        left[r] = fmax(0, capacity[r] - f->load[r]);
    for (int r = 0; r < f->n; r++)
        if (left[r] <= 1e-6 * capacity[r]) /* rounding: full */
            f->held_up[r] = gain_without(f, r, left, spare);
    return 0;
}

int espi_round_forecast(struct espi_platform_flows *x,
                        const struct espi_trial_flow *flows, int n,
                        struct espi_round_forecast *out, struct espi_arena *arena)
{
    struct listing l = {.out = out};
    memset(out, 0, sizeof *out);
    if (list_flows(x, flows, n, out, &l, arena))
        return -1;
    out->rate = ESPI_ARENA_NEW(arena, double, (size_t)n + 1);
    struct espi_max_min_fair fair = {n, out->n, out->start, out->item, l.capacity};
    if (!out->rate || espi_max_min_fair_rates(&fair, out->rate, arena))
        return -1;
    return find_loads(out, l.capacity, arena);
}

int espi_round_is_held(const struct espi_round_forecast *f, int resource)
{
    return f->held_up[resource] > 2 * ESPI_SPREAD * f->load[resource];
}

double espi_round_seen(const struct espi_round_forecast *f,
                       const struct espi_trial_flow *flows, int resource)
{
    double sum = 0;
    for (int i = 0; i < f->n_flows; i++)
        if (flow_uses(f, i, resource))
            sum += flows[i].Bps;
    return sum;
}

size_t espi_rounds_uses(struct espi_platform_flows *x,
                        const struct espi_trial_rounds *rounds, struct espi_arena *arena)
{
    int *links = ESPI_ARENA_NEW(arena, int, x->p->n_nodes);
    return links
               ? 1 + (size_t)count_uses(x, rounds->flows, rounds->start[rounds->n], links)
               : 0;
}
