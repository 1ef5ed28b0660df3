/* What may limit transfers: what leaves or enters an area or a site, or both; each cable
 * between two sites, or areas of a site, in one or in both directions; the medium of a
 * site; windows; the wires of which latencies say that routes lead over them (routes.c);
 * and whatever was slower than predicted together in a round. Groups of areas come later
 * (group_candidates.c).
 *
 * Complexity: O(candidates x (areas^2 + transfers)). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/explain_impl.h"
#include "measure/routes.h"

enum { CANDIDATE_BYTES = 128 << 20 }; /* limit: of memory */

/* The most that its transfers were seen to get, together or each; -1: there are none. */
static double seen_most(struct espi_fitting *t, const struct espi_limit *l)
{
    int n = 0;
    for (int k = 0; k < t->r->n; k++) {
        double sum = 0;
        for (int i = t->r->start[k]; i < t->r->start[k + 1]; i++) {
            if (!l->pairs[t->key[i]])
                continue;
            sum += t->r->flows[i].Bps;
            if (espi_limit_is_single(l))
                t->values[n++] =
                    t->r->flows[i].Bps * (l->kind == ESPI_LIMIT_TURN ? t->turn_s[i] : 1);
        }
        if (sum > 0 && !espi_limit_is_single(l))
            t->values[n++] = sum;
    }
    return n ? espi_confirmed_top(t->values, n) : -1;
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* What its transfers got together most often when some of them were slower than
 * predicted; 0: never the same. A pair of sites too many makes the most that was seen too
 * large, but not this. */
static double seen_often(struct espi_fitting *t, const struct espi_limit *l)
{
    int n = 0, most = 1;
    double often = 0;
    for (int k = 0; k < t->r->n; k++) {
        double sum = 0;
        int slow = 0;
        for (int i = t->r->start[k]; i < t->r->start[k + 1]; i++)
            if (l->pairs[t->key[i]]) {
                sum += t->r->flows[i].Bps;
                slow |= espi_flow_is_slow(t, i);
            }
        if (slow)
            t->values[n++] = sum;
    }
    qsort(t->values, (size_t)n, sizeof *t->values, ascending);
    for (int from = 0, to = 0; to < n; to++) {
        while (t->values[to] > t->values[from] * (1 + ESPI_SPREAD))
            from++;
        if (to - from + 1 >= most && to > from) {
            most = to - from + 1;
            often = t->values[(from + to) / 2];
        }
    }
    return often;
}

struct espi_limit *espi_new_candidate(struct espi_fitting *t, enum espi_limit_kind kind,
                                      int a, int b)
{
    size_t cells = (size_t)t->n_areas * (size_t)t->n_areas;
    if (t->n_candidates == t->room)
        return NULL;
    struct espi_limit *l = &t->candidates[t->n_candidates];
    *l = (struct espi_limit){.kind = kind, .a = a, .b = b, .price = ESPI_LIMIT_PRICE};
    if (kind == ESPI_LIMIT_BOTH || kind == ESPI_LIMIT_SITE_BOTH ||
        kind == ESPI_LIMIT_CABLE_BOTH)
        l->price *= 2; /* looks like two limits, one a direction, and seldom is one */
    l->pairs = ESPI_ARENA_ZNEW(t->arena, unsigned char, cells);
    if (l->pairs)
        t->n_candidates++;
    return l->pairs ? l : NULL;
}

struct espi_limit *espi_copy_candidate(struct espi_fitting *t, struct espi_limit *l)
{
    size_t cells = (size_t)t->n_areas * (size_t)t->n_areas;
    if (t->n_candidates == t->room)
        return l;
    unsigned char *pairs = ESPI_ARENA_NEW(t->arena, unsigned char, cells);
    if (!pairs)
        return NULL;
    memcpy(pairs, l->pairs, cells);
    struct espi_limit *copy = &t->candidates[t->n_candidates++];
    *copy = *l;
    copy->pairs = pairs;
    return copy;
}

static void include_sites(const struct espi_fitting *t, struct espi_limit *l, int from,
                          int to)
{
    const struct espi_measured *net = t->net;
    for (int a = net->first_subsite[from]; a < net->first_subsite[from + 1]; a++)
        for (int b = net->first_subsite[to]; b < net->first_subsite[to + 1]; b++)
            l->pairs[a * t->n_areas + b] = 1;
}

/* What nothing was seen of needs no candidate. */
static int note_seen_pairs(struct espi_fitting *t)
{
    const struct espi_measured *net = t->net;
    size_t n = (size_t)t->n_areas, s = (size_t)net->n_sites;
    t->seen_areas = ESPI_ARENA_ZNEW(t->arena, unsigned char, n *n);
    t->seen_sites = ESPI_ARENA_ZNEW(t->arena, unsigned char, s *s);
    if (!t->seen_areas || !t->seen_sites)
        return -1;
    for (int i = 0; i < t->r->start[t->r->n]; i++) {
        const struct espi_trial_flow *f = &t->r->flows[i];
        t->seen_areas[t->key[i]] = 1;
        t->seen_sites[net->site[f->from] * net->n_sites + net->site[f->to]] = 1;
    }
    return 0;
}

/* No room is no error: networks of very many sites have fewer candidates. */
static int without_candidate(const struct espi_fitting *t)
{
    return t->n_candidates == t->room ? 0 : -1;
}

/* Has the site of this area others? */
static int is_split(const struct espi_fitting *t, int area)
{
    int site = t->net->subsite_site[area];
    return t->net->first_subsite[site + 1] - t->net->first_subsite[site] > 1;
}

static int add_area_limits(struct espi_fitting *t)
{
    int n = t->n_areas, areas = t->net->n_subsites;
    for (int a = 0; a < areas && areas > 1; a++)
        for (int kind = ESPI_LIMIT_OUT; kind <= ESPI_LIMIT_BOTH; kind++) {
            struct espi_limit *l =
                espi_new_candidate(t, (enum espi_limit_kind)kind, a, a);
            if (!l)
                return without_candidate(t);
            for (int b = 0; b < (is_split(t, a) ? n : areas); b++) {
                l->pairs[a * n + b] |= b != a && kind != ESPI_LIMIT_IN;
                l->pairs[b * n + a] |= b != a && kind != ESPI_LIMIT_OUT;
            }
        }
    for (int a = 0; a < areas; a++)
        for (int b = 0; b < areas; b++)
            if (a != b && t->net->subsite_site[a] == t->net->subsite_site[b] &&
                t->seen_areas[a * n + b]) {
                struct espi_limit *l = espi_new_candidate(t, ESPI_LIMIT_AREA_CABLE, a, b);
                if (!l)
                    return without_candidate(t);
                l->pairs[a * n + b] = 1;
            }
    return 0;
}

static int add_site_limits(struct espi_fitting *t)
{
    int s = t->net->n_sites;
    struct espi_limit *l;
    for (int a = 0; a < s; a++) {
        int areas = t->net->first_subsite[a + 1] - t->net->first_subsite[a];
        for (int kind = ESPI_LIMIT_SITE_OUT;
             kind <= ESPI_LIMIT_SITE_BOTH && s > 1 && areas > 1; kind++) {
            if (!(l = espi_new_candidate(t, (enum espi_limit_kind)kind, a, a)))
                return without_candidate(t);
            for (int b = 0; b < s; b++) {
                if (b != a && kind != ESPI_LIMIT_SITE_IN)
                    include_sites(t, l, a, b);
                if (b != a && kind != ESPI_LIMIT_SITE_OUT)
                    include_sites(t, l, b, a);
            }
        }
        for (int single = 0; single < 2; single++) {
            l = espi_new_candidate(t, single ? ESPI_LIMIT_WINDOW : ESPI_LIMIT_MEDIUM, a,
                                   a);
            if (!l)
                return without_candidate(t);
            include_sites(t, l, a, a);
        }
    }
    for (int a = 0; a < s; a++)
        for (int b = 0; b < s; b++) {
            if (a == b || !t->seen_sites[a * s + b])
                continue;
            for (int kind = ESPI_LIMIT_CABLE; kind <= ESPI_LIMIT_WINDOW; kind++) {
                if (kind == ESPI_LIMIT_AREA_CABLE ||
                    (kind == ESPI_LIMIT_CABLE_BOTH && a > b))
                    continue;
                if (!(l = espi_new_candidate(t, (enum espi_limit_kind)kind, a, b)))
                    return without_candidate(t);
                include_sites(t, l, a, b);
                if (kind == ESPI_LIMIT_CABLE_BOTH)
                    include_sites(t, l, b, a);
            }
        }
    return 0;
}

/* One window for all: so many bytes of a transfer are on their way at most, as TCP has
 * it. */
static int add_turn_limit(struct espi_fitting *t)
{
    int s = t->net->n_sites;
    struct espi_limit *l = s > 1 ? espi_new_candidate(t, ESPI_LIMIT_TURN, 0, 0) : NULL;
    if (!l)
        return s > 1 ? without_candidate(t) : 0;
    for (int k = 0; k < s * s; k++)
        if (k / s != k % s && t->net->site_latency_s[k] > 0)
            include_sites(t, l, k / s, k % s);
    return 0;
}

/* A limit of several pairs of sites, by which it is dearer than one that has a name. */
static void price_set(const struct espi_fitting *t, struct espi_limit *l)
{
    int pairs = 0;
    for (int a = 0; a < t->net->n_sites; a++)
        for (int b = 0; b < t->net->n_sites; b++)
            pairs += l->pairs[t->net->first_subsite[a] * t->n_areas +
                              t->net->first_subsite[b]];
    l->price += pairs;
}

/* Of pairs that are the same it is the same, of others hardly ever. */
static uint64_t hash_pairs(const struct espi_fitting *t, const struct espi_limit *l)
{
    const unsigned char *end = l->pairs + (size_t)t->n_areas * (size_t)t->n_areas;
    uint64_t hash = 0;
    for (const unsigned char *at = l->pairs;
         (at = memchr(at, 1, (size_t)(end - at))) != NULL; at++) {
        hash ^= (uint64_t)(at - l->pairs);
        hash *= UINT64_C(0x9e3779b97f4a7c15); /* published: 2^64 over the golden ratio */
        hash ^= hash >> 32;
    }
    return hash;
}

/* Of candidates that are complete; comparing the pairs of all would take longest. */
static void hash_new_candidates(struct espi_fitting *t)
{
    for (; t->n_hashed < t->n_candidates; t->n_hashed++) {
        struct espi_limit *l = &t->candidates[t->n_hashed];
        l->hash = hash_pairs(t, l);
    }
}

static int same_pairs(const struct espi_fitting *t, const struct espi_limit *a,
                      const struct espi_limit *b)
{
    return a->hash == b->hash &&
           memcmp(a->pairs, b->pairs, (size_t)t->n_areas * (size_t)t->n_areas) == 0;
}

/* Takes the last candidate back if there is another of the same transfers. A wire stands
 * for itself, for its pairs may change. */
static void forget_twin(struct espi_fitting *t)
{
    const struct espi_limit *l = &t->candidates[t->n_candidates - 1];
    hash_new_candidates(t);
    for (int i = 0; i < t->n_candidates - 1 && !l->wire; i++)
        if (same_pairs(t, &t->candidates[i], l) &&
            !espi_limit_is_single(&t->candidates[i])) {
            t->n_hashed = --t->n_candidates;
            return;
        }
}

/* A wire, in one direction or in both. */
static int add_wire_limit(struct espi_fitting *t, const struct espi_site_routes *routes,
                          int from, int to, int both, int first)
{
    int s = t->net->n_sites;
    struct espi_limit *l = espi_new_candidate(t, ESPI_LIMIT_SET, from, to);
    if (!l)
        return without_candidate(t);
    for (int back = 0; back <= both; back++) {
        int wire = back ? to * s + from : from * s + to;
        for (int k = routes->over_start[wire]; k < routes->over_start[wire + 1]; k++)
            include_sites(t, l, routes->over[k] / s, routes->over[k] % s);
    }
    l->price *= 1 + both;
    l->wire = first && !both ? from * s + to + 1 : 0;
    forget_twin(t);
    return 0;
}

/* In both directions. */
static int count_wires(const struct espi_site_routes *routes)
{
    int wires = 0;
    for (int k = 0; k < routes->n * routes->n; k++)
        wires += espi_site_routes_adjacent(routes, k / routes->n, k % routes->n);
    return wires;
}

/* The wires that latencies tell of. Where there are no more of them than sites, they are
 * what transfers share; among many wires some latencies are the sums of others by chance.
 */
static int add_route_limits(struct espi_fitting *t, int variants)
{
    int s = t->net->n_sites;
    for (int variant = 0; variant < variants && s > 2 && s <= ESPI_ROUTE_SITES;
         variant++) {
        struct espi_site_routes routes;
        if (espi_site_routes_find(&routes, t->net, variant, t->arena))
            return -1;
        if (variant == 0) {
            t->routes = routes;
            t->has_wires = count_wires(&routes) <= 2 * s;
        }
        for (int k = 0; k < s * s; k++)
            for (int both = 0; both < 2; both++)
                if (espi_site_routes_adjacent(&routes, k / s, k % s) &&
                    !(both && k / s > k % s) &&
                    add_wire_limit(t, &routes, k / s, k % s, both,
                                   variant == 0 && t->has_wires))
                    return -1;
    }
    return 0;
}

/* What was slow together, between sites, in a round; -1 when out of memory. */
static int add_slow_set(struct espi_fitting *t, int round)
{
    const struct espi_measured *net = t->net;
    struct espi_limit *l = NULL;
    int n = 0;
    for (int i = t->r->start[round]; i < t->r->start[round + 1]; i++) {
        int a = net->site[t->r->flows[i].from], b = net->site[t->r->flows[i].to];
        if (a == b || !espi_flow_is_slow(t, i))
            continue;
        if (!l && !(l = espi_new_candidate(t, ESPI_LIMIT_SET, -1, -1)))
            return without_candidate(t);
        n += !l->pairs[t->key[i]];
        include_sites(t, l, a, b);
    }
    if (!l)
        return 0;
    price_set(t, l);
    if (n < 2) /* one pair has its own */
        t->n_candidates--;
    else
        forget_twin(t);
    return 0;
}

/* Pairs of sites, and of areas of one site, that a limit is about. */
static int count_pairs(const struct espi_fitting *t, const struct espi_limit *l)
{
    const struct espi_measured *net = t->net;
    int n = 0;
    for (int a = 0; a < net->n_subsites; a++)
        for (int b = 0; b < net->n_subsites; b++) {
            if (!l->pairs[a * t->n_areas + b])
                continue;
            int from = net->subsite_site[a], to = net->subsite_site[b];
            n += from == to ||
                 (a == net->first_subsite[from] && b == net->first_subsite[to]);
        }
    return n;
}

static int first_pair(const struct espi_fitting *t, const struct espi_limit *l)
{
    const unsigned char *at =
        memchr(l->pairs, 1, (size_t)t->n_areas * (size_t)t->n_areas);
    return at ? (int)(at - l->pairs) : 0;
}

/* Is there a reason to think of it but that transfers were slow: sites, and the wires
 * that latencies tell of? Others come after those of fewer pairs. */
static int has_prior(const struct espi_fitting *t, const struct espi_limit *l)
{
    if (l->kind == ESPI_LIMIT_SET)
        return l->a >= 0;
    return l->kind > ESPI_LIMIT_BOTH || !is_split(t, l->a);
}

/* As many as there may be, and as memory allows. */
static int candidate_room(const struct espi_fitting *t)
{
    size_t n = (size_t)t->n_areas, s = (size_t)t->net->n_sites;
    size_t wanted = 3 * n + n * n + 5 * s + (4 + 2 * ESPI_ROUTE_VARIANTS) * s * s +
                    (size_t)t->r->n + 2 * ESPI_LIMITS_MAX + 1;
    size_t most = CANDIDATE_BYTES / (n * n + sizeof(struct espi_limit));
    return (int)(wanted < most ? wanted : most);
}

void espi_rate_candidate(struct espi_fitting *t, struct espi_limit *l)
{
    l->Bps = seen_most(t, l);
    l->often_Bps = espi_limit_is_single(l) ? 0 : seen_often(t, l);
}

/* All that its pairs say of it. */
static void describe_candidate(struct espi_fitting *t, struct espi_limit *l)
{
    espi_rate_candidate(t, l);
    l->gain = INFINITY;
    l->first = first_pair(t, l);
    l->n_pairs = count_pairs(t, l);
    l->level = l->wire || (t->has_wires && l->kind == ESPI_LIMIT_TURN) ? 0
               : l->kind == ESPI_LIMIT_AREA_CABLE ? ESPI_LEVEL_AREA_CABLES
               : has_prior(t, l)                  ? 1
                                                  : l->n_pairs;
}

void espi_describe_wires(struct espi_fitting *t)
{
    for (int i = 0; i < t->n_candidates; i++)
        if (t->candidates[i].wire) {
            t->candidates[i].hash = hash_pairs(t, &t->candidates[i]);
            describe_candidate(t, &t->candidates[i]);
        }
}

int espi_complete_candidate(struct espi_fitting *t)
{
    int n = t->n_candidates;
    forget_twin(t);
    if (t->n_candidates < n)
        return 0;
    describe_candidate(t, &t->candidates[n - 1]);
    return 1;
}

int espi_list_candidates(struct espi_fitting *t)
{
    t->room = candidate_room(t);
    t->candidates = ESPI_ARENA_NEW(t->arena, struct espi_limit, (size_t)t->room + 1);
    if (!t->candidates || note_seen_pairs(t) || add_area_limits(t) ||
        add_site_limits(t) || add_turn_limit(t) ||
        add_route_limits(t, ESPI_ROUTE_VARIANTS))
        return -1;
    for (int k = 0; k < t->r->n; k++)
        if (add_slow_set(t, k))
            return -1;
    for (int i = 0; i < t->n_candidates; i++)
        describe_candidate(t, &t->candidates[i]);
    return 0;
}

int espi_list_wires(struct espi_fitting *t)
{
    t->room = candidate_room(t);
    t->candidates = ESPI_ARENA_NEW(t->arena, struct espi_limit, (size_t)t->room + 1);
    if (!t->candidates || note_seen_pairs(t) || add_turn_limit(t) ||
        add_route_limits(t, 1))
        return -1;
    for (int i = 0; i < t->n_candidates; i++)
        describe_candidate(t, &t->candidates[i]);
    return 0;
}
