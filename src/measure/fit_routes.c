/* Which wires the transfers between two sites take.
 *
 * Latencies tell which sites have a wire, and of most pairs of sites over which wires the
 * route leads (routes.c). But there may be several routes of as few wires, of which the
 * one there need not be the one back. Such pairs belong to no wire at first. With the
 * rates that the others tell, each goes where it explains most, with all wires of a route
 * at once; then wires are chosen anew, until no pair changes. */
#include <math.h>
#include <string.h>

#include "measure/explain_impl.h"
#include "measure/routes.h"

enum { PATHS_MAX = 8 }; /* limit: routes that are tried */

/* The routes of a pair of sites: as latencies tell, and those of fewest wires. */
struct paths {
    int s;
    const struct espi_site_routes *routes;
    int *hops;           /* from * s + to: wires of the shortest; -1: there is none */
    unsigned char *over; /* path * s * s + wire */
    unsigned char *path; /* the one that is being followed */
    int n;
};

/* Wires from everywhere to everywhere, over one site more at a time. */
static void count_hops(struct paths *p)
{
    int s = p->s;
    for (int k = 0; k < s * s; k++)
        p->hops[k] = k / s == k % s                                       ? 0
                     : espi_site_routes_adjacent(p->routes, k / s, k % s) ? 1
                                                                          : -1;
    for (int via = 0; via < s; via++)
        for (int k = 0; k < s * s; k++) {
            int to = p->hops[k / s * s + via], from = p->hops[via * s + k % s];
            if (to >= 0 && from >= 0 && (p->hops[k] < 0 || to + from < p->hops[k]))
                p->hops[k] = to + from;
        }
}

static int paths_init(struct espi_fitting *t, struct paths *p)
{
    int s = t->net->n_sites;
    size_t cells = (size_t)s * (size_t)s;
    *p = (struct paths){.s = s, .routes = &t->routes};
    p->hops = ESPI_ARENA_NEW(t->arena, int, cells);
    p->over = ESPI_ARENA_NEW(t->arena, unsigned char, PATHS_MAX *cells);
    p->path = ESPI_ARENA_ZNEW(t->arena, unsigned char, cells);
    if (!p->hops || !p->over || !p->path)
        return -1;
    count_hops(p);
    return 0;
}

/* Follows all routes of fewest wires from `at`; ends, for each wire is one less to go. */
static void follow_paths(struct paths *p, int at, int to)
{
    int s = p->s, left = p->hops[at * s + to];
    if (at == to) {
        memcpy(&p->over[p->n++ * s * s], p->path, (size_t)s * (size_t)s);
        return;
    }
    for (int next = 0; next < s && p->n < PATHS_MAX; next++)
        if (p->hops[at * s + next] == 1 && p->hops[next * s + to] == left - 1) {
            p->path[at * s + next] = 1;
            follow_paths(p, next, to);
            p->path[at * s + next] = 0;
        }
}

/* Lists the routes of two sites, the one that latencies tell first. */
static void list_paths(struct paths *p, int from, int to)
{
    int s = p->s, key = from * s + to;
    p->n = 0;
    memset(p->over, 0, (size_t)s * (size_t)s);
    for (int wire = 0; wire < s * s; wire++)
        for (int k = p->routes->over_start[wire]; k < p->routes->over_start[wire + 1];
             k++)
            if (p->routes->over[k] == key)
                p->over[wire] = 1;
    p->n = 1;
    if (p->hops[key] < 2)
        return;
    follow_paths(p, from, to);
    for (int k = 1; k < p->n; k++)
        if (memcmp(&p->over[k * s * s], p->over, (size_t)s * (size_t)s) == 0)
            memcpy(&p->over[k * s * s], &p->over[--p->n * s * s], (size_t)s * (size_t)s);
}

static void set_pair(const struct espi_fitting *t, struct espi_limit *l, int from, int to,
                     unsigned char uses)
{
    const int *first = t->net->first_subsite;
    for (int a = first[from]; a < first[from + 1]; a++)
        for (int b = first[to]; b < first[to + 1]; b++)
            l->pairs[a * t->n_areas + b] = uses;
}

/* From now on the transfers take that path; NULL: none. Gives whether that is another. */
static int take_path(struct espi_fitting *t, const unsigned char *over, int from, int to)
{
    const int *first = t->net->first_subsite;
    int changed = 0;
    for (int i = 0; i < t->n_candidates; i++) {
        struct espi_limit *l = &t->candidates[i];
        if (!l->wire)
            continue;
        unsigned char uses = over && over[l->wire - 1];
        changed |= l->pairs[first[from] * t->n_areas + first[to]] != uses;
        set_pair(t, l, from, to, uses);
    }
    return changed;
}

static int has_pair(const struct espi_fitting *t, int round, int from, int to)
{
    const int *site = t->net->site;
    for (int i = t->r->start[round]; i < t->r->start[round + 1]; i++)
        if (site[t->r->flows[i].from] == from && site[t->r->flows[i].to] == to)
            return 1;
    return 0;
}

/* The loss of all rounds with the two sites, on that path. */
static double weigh_path(struct espi_fitting *t, const unsigned char *over, int from,
                         int to)
{
    double loss = 0;
    take_path(t, over, from, to);
    for (int k = 0; k < t->r->n; k++) {
        if (!has_pair(t, k, from, to))
            continue;
        espi_fit_round(t, k, NULL, t->trial_rate);
        loss += espi_fit_loss(t, k, t->trial_rate);
    }
    return loss;
}

static int find_path(const struct espi_fitting *t, const struct paths *p, int from,
                     int to)
{
    const int *first = t->net->first_subsite;
    for (int k = 0; k < p->n; k++) {
        int same = 1;
        for (int i = 0; i < t->n_candidates && same; i++) {
            const struct espi_limit *l = &t->candidates[i];
            same = !l->wire || l->pairs[first[from] * t->n_areas + first[to]] ==
                                   p->over[k * p->s * p->s + l->wire - 1];
        }
        if (same)
            return k;
    }
    return -1;
}

/* The route that explains most; gives whether it is another than before. */
static int settle_route(struct espi_fitting *t, struct paths *p, int from, int to)
{
    list_paths(p, from, to);
    if (p->n < 2)
        return 0;
    int cells = p->s * p->s, before = find_path(t, p, from, to), best = 0;
    double least = INFINITY;
    for (int k = 0; k < p->n; k++) {
        double loss = weigh_path(t, &p->over[k * cells], from, to);
        if (loss < least - (k == before ? 0 : ESPI_ROUND_PAYS_MOST / 4)) {
            least = loss;
            best = k;
        }
    }
    take_path(t, &p->over[best * cells], from, to);
    for (int k = 0; k < t->r->n; k++)
        if (has_pair(t, k, from, to))
            espi_fit_again(t, k);
    return best != before;
}

int espi_open_routes(struct espi_fitting *t)
{
    struct paths p;
    int s = t->net->n_sites, n = 0;
    if (!t->has_wires)
        return 0;
    if (paths_init(t, &p))
        return -1;
    for (int k = 0; k < s * s; k++) {
        if (k / s == k % s)
            continue;
        list_paths(&p, k / s, k % s);
        if (p.n < 2)
            continue;
        take_path(t, NULL, k / s, k % s);
        n++;
    }
    return n;
}

int espi_fit_routes(struct espi_fitting *t)
{
    struct paths p;
    int s = t->net->n_sites, changed = 0;
    if (paths_init(t, &p))
        return -1;
    for (int k = 0; k < s * s; k++)
        if (k / s != k % s)
            changed += settle_route(t, &p, k / s, k % s);
    return changed;
}
