/* Cuts with delays: what crosses them can do so neither before data is there nor so late
 * that it is of no use.
 *
 * Let y be a rate for each of some resources such that every link of the cut uses one of
 * them, of resource r at least 1 / y(r) a byte. Then bytes <= sum of y(r) * (time that r
 * can be used for it), and that time is T less its delay: what passes before the first
 * byte can get there, and what the last one takes from there on. Any choice of resources
 * gives a bound; a good one is looked for as for set covers, cheapest by link first.
 *
 * Of links that share a resource some may be of use at the beginning only and others at
 * the end only: a port of a far host first takes what comes from afar, which may not
 * leave late, and last what its neighbours pass on, who have nothing early. Between the
 * two it idles, and counts for the time in which some link may use it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/makespan_bound.h"

/* ---- latencies ---- */

static void shortest(const struct espi_cut_net *net, const struct espi_digraph *g,
                     const int *nodes, int n, double *distance)
{
    struct espi_dijkstra_query query = {net->p->latency_s, nodes, n, NULL};
    espi_dijkstra(net->paths, g, &query, distance, net->last_arc);
}

static struct espi_digraph graph_of(const struct esp_platform *p)
{
    return (struct espi_digraph){p->n_nodes, p->n_links, p->tail, p->head, p->out, p->in};
}

static struct espi_digraph turned_graph(const struct esp_platform *p)
{
    return (struct espi_digraph){p->n_nodes, p->n_links, p->head, p->tail, p->in, p->out};
}

void espi_cut_net_from(const struct espi_cut_net *net, int node, double *from_s)
{
    struct espi_digraph g = graph_of(net->p);
    shortest(net, &g, &node, 1, from_s);
}

void espi_cut_net_to(const struct espi_cut_net *net, int node, double *to_s)
{
    espi_cut_net_to_any(net, &node, 1, to_s);
}

void espi_cut_net_to_any(const struct espi_cut_net *net, const int *nodes, int n,
                         double *to_s)
{
    struct espi_digraph g = turned_graph(net->p);
    shortest(net, &g, nodes, n, to_s);
}

/* A path through switches uses all of its links at once: at a switch counts the least of
 * the hosts before it, or behind it. O(switches * links). */
static void pass_switches(const struct esp_platform *p, const int *from, const int *to,
                          double *value_s)
{
    for (int u = 0; u < p->n_nodes; u++)
        if (espi_is_switch(p, u))
            value_s[u] = INFINITY;
    for (int changed = p->n_hosts < p->n_nodes; changed;) {
        changed = 0;
        for (int e = 0; e < p->n_links; e++)
            if (espi_is_switch(p, to[e]) && value_s[from[e]] < value_s[to[e]]) {
                value_s[to[e]] = value_s[from[e]];
                changed = 1;
            }
    }
}

int espi_cut_net_windows(const struct espi_cut_net *net, const double *ready_s,
                         const double *left_s, double *before_s, double *after_s)
{
    const struct esp_platform *p = net->p;
    size_t n = (size_t)p->n_nodes;
    double *ready = ESPI_ARENA_ZNEW(net->arena, double, n);
    double *left = ESPI_ARENA_ZNEW(net->arena, double, n);
    if (!ready || !left)
        return -1;
    if (ready_s)
        memcpy(ready, ready_s, n * sizeof *ready);
    if (left_s)
        memcpy(left, left_s, n * sizeof *left);
    pass_switches(p, p->tail, p->head, ready);
    if (net->place != ESPI_LATENCY_LAST || !left_s)
        pass_switches(p, p->head, p->tail, left);
    for (int e = 0; e < p->n_links; e++) {
        double first_s = net->place == ESPI_LATENCY_FIRST ? p->latency_s[e] : 0;
        double last_s = net->place == ESPI_LATENCY_LAST ? p->latency_s[e] : 0;
        before_s[e] = ready[p->tail[e]] + first_s;
        after_s[e] = left[p->head[e]] + last_s;
    }
    return 0;
}

/* ---- the earliest end ---- */

static int by_delay(const void *x, const void *y)
{
    const struct espi_delayed *a = x, *b = y;
    return (a->delay_s > b->delay_s) - (a->delay_s < b->delay_s);
}

double espi_delayed_s(struct espi_delayed *at, int n, double bytes)
{
    double Bps = 0, lost = 0, end_s = INFINITY;
    qsort(at, (size_t)n, sizeof *at, by_delay);
    for (int i = 0; i < n && at[i].delay_s < end_s; i++) {
        Bps += at[i].Bps;
        lost += at[i].Bps * at[i].delay_s;
        if (Bps > 0)
            end_s = (bytes + lost) / Bps;
    }
    return isfinite(end_s) ? end_s : 0;
}

/* ---- covering a cut ---- */

/* When a link may be used: from before_s on, until after_s ahead of the end. */
struct window {
    double before_s, after_s;
};

/* A resource that was chosen, and the windows of the links that it covers. */
struct chosen {
    double Bps;
    int first, n;
    struct window all, most; /* the least and the most of each */
};

struct cover {
    const struct espi_cut_net *net;
    int *links, n; /* not covered yet */
    double *Bps;   /* by resource: what it lets through of the links it would cover */
    int *count;    /* by resource: how many these are */
    struct chosen *chosen;
    int n_chosen;
    struct window *window;
    int n_windows;
};

static void weigh_resources(struct cover *c)
{
    const struct espi_resources *r = &c->net->uses;
    memset(c->Bps, 0, (size_t)r->n * sizeof *c->Bps);
    memset(c->count, 0, (size_t)r->n * sizeof *c->count);
    for (int i = 0; i < c->n; i++)
        for (int k = r->start[c->links[i]]; k < r->start[c->links[i] + 1]; k++) {
            int x = r->resource[k];
            c->Bps[x] = fmax(c->Bps[x], c->net->slice_bytes / r->time_s[k]);
            c->count[x]++;
        }
}

/* The resource that lets least through for each link that it covers; -1: none limits. */
static int cheapest_resource(const struct cover *c)
{
    int best = -1;
    for (int x = 0; x < c->net->uses.n; x++)
        if (c->count[x] && isfinite(c->Bps[x]) &&
            (best < 0 || c->Bps[x] * c->count[best] < c->Bps[best] * c->count[x]))
            best = x;
    return best;
}

static int uses_resource(const struct espi_resources *r, int link, int resource)
{
    for (int k = r->start[link]; k < r->start[link + 1]; k++)
        if (r->resource[k] == resource)
            return 1;
    return 0;
}

static void cover_by(struct cover *c, int resource, const double *before_s,
                     const double *after_s)
{
    struct chosen *x = &c->chosen[c->n_chosen++];
    int left = 0;
    *x = (struct chosen){.Bps = c->Bps[resource],
                         .first = c->n_windows,
                         .all = {INFINITY, INFINITY},
                         .most = {0, 0}};
    for (int i = 0; i < c->n; i++) {
        int e = c->links[i];
        if (!uses_resource(&c->net->uses, e, resource)) {
            c->links[left++] = e;
            continue;
        }
        c->window[c->n_windows++] = (struct window){before_s[e], after_s[e]};
        x->all.before_s = fmin(x->all.before_s, before_s[e]);
        x->all.after_s = fmin(x->all.after_s, after_s[e]);
        x->most.before_s = fmax(x->most.before_s, before_s[e]);
        x->most.after_s = fmax(x->most.after_s, after_s[e]);
    }
    x->n = c->n_windows - x->first;
    c->n = left;
}

/* As if there were no gaps between the windows of a resource. */
static double end_without_gaps_s(const struct cover *c, double bytes)
{
    struct espi_delayed *at =
        ESPI_ARENA_NEW(c->net->arena, struct espi_delayed, c->n_chosen);
    if (!at)
        return -1;
    for (int i = 0; i < c->n_chosen; i++)
        at[i] = (struct espi_delayed){c->chosen[i].Bps, c->chosen[i].all.before_s +
                                                            c->chosen[i].all.after_s};
    return espi_delayed_s(at, c->n_chosen, bytes);
}

/* ---- gaps ---- */

static int by_beginning(const void *x, const void *y)
{
    const struct window *a = x, *b = y;
    if (a->before_s != b->before_s)
        return a->before_s < b->before_s ? -1 : 1;
    return (a->after_s > b->after_s) - (a->after_s < b->after_s);
}

/* For how long until end_s some link may use the resource; windows by their beginning. */
static double open_s(const struct window *w, int n, double end_s)
{
    double sum_s = 0, until_s = 0;
    for (int i = 0; i < n; i++) {
        double from_s = fmax(w[i].before_s, until_s), to_s = end_s - w[i].after_s;
        if (from_s < to_s) {
            sum_s += to_s - from_s;
            until_s = to_s;
        }
    }
    return sum_s;
}

static double let_through(const struct cover *c, double end_s)
{
    double bytes = 0;
    for (int i = 0; i < c->n_chosen; i++) {
        const struct chosen *x = &c->chosen[i];
        bytes += x->Bps * open_s(c->window + x->first, x->n, end_s);
    }
    return bytes;
}

/* From then on all windows of each resource have a moment in common. */
static double no_gaps_after_s(const struct cover *c)
{
    double s = 0;
    for (int i = 0; i < c->n_chosen; i++)
        s = fmax(s, c->chosen[i].most.before_s + c->chosen[i].most.after_s);
    return s;
}

/* The end, which is not before low_s: so it is without gaps. */
static double end_with_gaps_s(const struct cover *c, double bytes, double low_s)
{
    static const double NEAR = 1e-9; /* rounding */
    double high_s = no_gaps_after_s(c);
    if (!(low_s < high_s))
        return low_s;
    for (int i = 0; i < c->n_chosen; i++)
        qsort(c->window + c->chosen[i].first, (size_t)c->chosen[i].n, sizeof *c->window,
              by_beginning);
    if (let_through(c, low_s) >= bytes * (1 - NEAR))
        return low_s;
    while (high_s - low_s > NEAR * high_s) {
        double s = (low_s + high_s) / 2;
        if (let_through(c, s) < bytes * (1 - NEAR))
            low_s = s;
        else
            high_s = s;
    }
    return low_s;
}

/* ---- the whole ---- */

static int cover_init(struct cover *c)
{
    struct espi_arena *arena = c->net->arena;
    c->Bps = ESPI_ARENA_NEW(arena, double, c->net->uses.n);
    c->count = ESPI_ARENA_NEW(arena, int, c->net->uses.n);
    c->chosen = ESPI_ARENA_NEW(arena, struct chosen, c->net->uses.n);
    c->window = ESPI_ARENA_NEW(arena, struct window, c->n);
    return c->Bps && c->count && c->chosen && c->window ? 0 : -1;
}

double espi_cut_s(const struct espi_cut_net *net, int *links, int n, double bytes,
                  const double *before_s, const double *after_s)
{
    struct espi_arena_mark mark = espi_arena_mark(net->arena);
    struct cover c = {.net = net, .links = links, .n = n};
    double end_s = -1;
    if (!cover_init(&c)) {
        int best = 0;
        while (c.n > 0 && best >= 0) { /* -1: some link has no limit */
            weigh_resources(&c);
            best = cheapest_resource(&c);
            if (best >= 0)
                cover_by(&c, best, before_s, after_s);
        }
        end_s = c.n == 0 ? end_without_gaps_s(&c, bytes) : 0;
        if (end_s > 0)
            end_s = end_with_gaps_s(&c, bytes, end_s);
    }
    espi_arena_release(net->arena, mark);
    return end_s;
}
