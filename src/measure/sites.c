/* Finds sites by how long a message takes from host to host.
 *
 * Distance of two hosts: the latency, not taken for less than half a millisecond,
 * below which differences are those of switches and schedulers.
 *
 * The pairs that were measured, nearest first, join hosts to ever larger clusters (single
 * linkage: a spanning tree). From the whole downwards, a cluster is one site when its
 * widest join is at most 1.5 times its narrow ones, when it is set off from the rest, and
 * when no host is on the way from others of it to third ones; otherwise it falls into the
 * two parts of its widest join. Single linkage suits errors of measurement, which make
 * distances longer but hardly shorter: one good value out of many keeps a host with its
 * site. Lone hosts that are as far from each other as from the next site are not set off,
 * and so stay alone.
 *
 * Complexity: O(m log m) for m pairs; any pairs will do, all need not be there. */
#include "measure/sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/tuning.h"

/* ---- pairs ---- */

struct seen {
    int low, high, upward; /* upward: from low to high */
    enum espi_sample_kind kind;
    double value;
};

static int by_pair(const void *x, const void *y)
{
    const struct seen *a = x, *b = y;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return (a->high > b->high) - (a->high < b->high);
}

static int sort_seen(const struct espi_samples *s, struct seen *seen)
{
    int n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct espi_sample *p = &s->at[i];
        if (p->kind != ESPI_SAMPLE_LATENCY && p->kind != ESPI_SAMPLE_QUICK)
            continue;
        int up = p->from < p->to;
        seen[n++] = (struct seen){up ? p->from : p->to, up ? p->to : p->from, up, p->kind,
                                  p->value};
    }
    qsort(seen, (size_t)n, sizeof *seen, by_pair);
    return n;
}

/* One pair from what was seen of it. */
static struct espi_pair make_pair(const struct seen *seen, int n)
{
    struct espi_pair pair = {.low = seen->low,
                             .high = seen->high,
                             .latency_s = -1,
                             .rate_Bps = -1,
                             .distance_s = INFINITY};
    double rate[2] = {-1, -1};
    for (int i = 0; i < n; i++) {
        double value = seen[i].value;
        if (seen[i].kind == ESPI_SAMPLE_QUICK) {
            rate[seen[i].upward] = fmax(rate[seen[i].upward], value);
            continue;
        }
        pair.latency_s = pair.latency_s < 0 ? value : fmin(pair.latency_s, value);
        pair.tests++;
    }
    pair.rate_Bps =
        rate[0] < 0 || rate[1] < 0 ? fmax(rate[0], rate[1]) : fmin(rate[0], rate[1]);
    return pair;
}

/* Differences below ESPI_LATENCY_MIN_S are those of switches and schedulers. */
static void measure_distances(struct espi_site_pairs *pairs)
{
    for (int i = 0; i < pairs->n; i++)
        pairs->at[i].distance_s = fmax(pairs->at[i].latency_s, ESPI_LATENCY_MIN_S);
}

int espi_pairs_gather(struct espi_site_pairs *pairs, const struct espi_samples *s,
                      struct espi_arena *arena)
{
    struct seen *seen = ESPI_ARENA_NEW(arena, struct seen, s->n + 1);
    pairs->at = ESPI_ARENA_NEW(arena, struct espi_pair, s->n + 1);
    pairs->n = 0;
    if (!seen || !pairs->at)
        return -1;
    int n = sort_seen(s, seen);
    for (int i = 0, end; i < n; i = end) {
        for (end = i; end < n && by_pair(&seen[i], &seen[end]) == 0;)
            end++;
        pairs->at[pairs->n++] = make_pair(&seen[i], end - i);
    }
    measure_distances(pairs);
    return 0;
}

const struct espi_pair *espi_pairs_find(const struct espi_site_pairs *pairs, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a, from = 0, to = pairs->n;
    while (from < to) {
        int middle = from + (to - from) / 2;
        const struct espi_pair *p = &pairs->at[middle];
        if (p->low == low && p->high == high)
            return p;
        if (p->low < low || (p->low == low && p->high < high))
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

/* ---- clusters ---- */

struct edge {
    int a, b;
    double distance;
};

struct join {
    int part[2];
    int host[2]; /* by whose distance they are joined */
    double widest, narrowest;
};

struct forest {
    const struct espi_site_pairs *pairs;
    int n; /* hosts; clusters n, n + 1, ... are joins */
    int *top, *above;
    struct join *joins;
    int n_joins;
    int *stack; /* scratch */
    double *widths;
};

static int top_of(struct forest *f, int i)
{
    while (f->above[i] != i)
        i = f->above[i] = f->above[f->above[i]];
    return i;
}

static double narrowest(const struct forest *f, int cluster)
{
    return cluster < f->n ? INFINITY : f->joins[cluster - f->n].narrowest;
}

/* Joins the clusters that a and b are in, unless they are one. */
static void join_clusters(struct forest *f, int a, int b, double distance)
{
    int from = top_of(f, a), to = top_of(f, b);
    if (from == to)
        return;
    int one = f->top[from], two = f->top[to];
    f->joins[f->n_joins] =
        (struct join){{one, two},
                      {a, b},
                      distance,
                      fmin(distance, fmin(narrowest(f, one), narrowest(f, two)))};
    f->above[to] = from;
    f->top[from] = f->n + f->n_joins++;
}

static int by_distance(const void *x, const void *y)
{
    const struct edge *a = x, *b = y;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

static int grow_forest(struct forest *f, struct edge *edges, int n_edges,
                       struct espi_arena *arena)
{
    f->top = ESPI_ARENA_NEW(arena, int, (size_t)f->n + 1);
    f->above = ESPI_ARENA_NEW(arena, int, (size_t)f->n + 1);
    f->joins = ESPI_ARENA_NEW(arena, struct join, (size_t)f->n + 1);
    f->stack = ESPI_ARENA_NEW(arena, int, (size_t)f->n + 1);
    f->widths = ESPI_ARENA_NEW(arena, double, (size_t)f->n + 1);
    if (!f->top || !f->above || !f->joins || !f->stack || !f->widths)
        return -1;
    for (int i = 0; i < f->n; i++)
        f->top[i] = f->above[i] = i;
    qsort(edges, (size_t)n_edges, sizeof *edges, by_distance);
    for (int i = 0; i < n_edges; i++)
        join_clusters(f, edges[i].a, edges[i].b, edges[i].distance);
    for (int i = 1; i < f->n; i++) /* what nothing is known of is far */
        join_clusters(f, 0, i, INFINITY);
    return 0;
}

static int by_double(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* A narrow join of the cluster, but not the narrowest, which may be luck: a quarter of
 * them are narrower. */
static double narrow(const struct forest *f, int cluster)
{
    int depth = 0, n = 0;
    f->stack[depth++] = cluster;
    while (depth) {
        const struct join *j = &f->joins[f->stack[--depth] - f->n];
        f->widths[n++] = j->widest;
        for (int k = 0; k < 2; k++)
            if (j->part[k] >= f->n)
                f->stack[depth++] = j->part[k];
    }
    qsort(f->widths, (size_t)n, sizeof *f->widths, by_double);
    return f->widths[(n - 1) / 4];
}

/* Is one of the two hosts on the way from the other to third hosts? Those of one site are
 * equally far from all others, those of two sites differ in that by what is between them:
 * so what is more than half of it tells, of those to whom latencies are known that well.
 */
static int is_on_the_way(const struct forest *f, const struct join *j)
{
    int same = 0, apart = 0;
    for (int c = 0; c < f->n && j->widest > ESPI_LATENCY_MIN_S; c++) {
        const struct espi_pair *p = espi_pairs_find(f->pairs, j->host[0], c);
        const struct espi_pair *q = espi_pairs_find(f->pairs, j->host[1], c);
        if (!p || !q)
            continue;
        double off = fabs(p->distance_s - q->distance_s), half = j->widest / 2;
        double slack = ESPI_ROUTE_SLACK * fmax(p->distance_s, q->distance_s);
        same += off <= half && slack <= half;
        apart += off > half && off > slack;
    }
    return apart > same;
}

/* Are there two sites in the cluster, as far as third hosts tell? */
static int has_way_inside(const struct forest *f, int cluster)
{
    int depth = 0;
    f->stack[depth++] = cluster;
    while (depth) {
        const struct join *j = &f->joins[f->stack[--depth] - f->n];
        if (is_on_the_way(f, j))
            return 1;
        for (int k = 0; k < 2; k++)
            if (j->part[k] >= f->n)
                f->stack[depth++] = j->part[k];
    }
    return 0;
}

/* Is this cluster one group, given the width of the join above it? */
static int is_group(const struct forest *f, int cluster, double above)
{
    if (cluster < f->n)
        return 1;
    const struct join *j = &f->joins[cluster - f->n];
    if (above < ESPI_SET_OFF * j->narrowest ||
        j->widest > ESPI_LUCK * ESPI_ALIKE * j->narrowest)
        return 0;
    return (j->widest <= ESPI_ALIKE * j->narrowest ||
            j->widest <= ESPI_ALIKE * narrow(f, cluster)) &&
           !has_way_inside(f, cluster);
}

struct open {
    int cluster, inside; /* inside: the group it is part of, -1: not yet */
    double above;
};

/* Goes down from the whole; groups get numbers as they come. */
static int split_groups(const struct forest *f, int *group, struct open *stack)
{
    int depth = 0, n_groups = 0;
    stack[depth++] = (struct open){f->n + f->n_joins - 1, -1, INFINITY};
    while (depth) {
        struct open o = stack[--depth];
        if (o.inside < 0 && is_group(f, o.cluster, o.above))
            o.inside = n_groups++;
        if (o.cluster < f->n) {
            group[o.cluster] = o.inside;
            continue;
        }
        const struct join *j = &f->joins[o.cluster - f->n];
        for (int k = 0; k < 2; k++)
            stack[depth++] = (struct open){j->part[k], o.inside, j->widest};
    }
    return n_groups;
}

/* Numbers in the order of first members. */
static void renumber(int *group, int n, int *number)
{
    int next = 0;
    for (int i = 0; i < n; i++)
        number[i] = -1;
    for (int i = 0; i < n; i++) {
        if (number[group[i]] < 0)
            number[group[i]] = next++;
        group[i] = number[group[i]];
    }
}

static int find_groups(const struct espi_site_pairs *pairs, struct edge *edges, int n,
                       int *group, struct espi_arena *arena)
{
    struct forest f = {.pairs = pairs, .n = n};
    if (n == 0)
        return 0;
    struct open *stack = ESPI_ARENA_NEW(arena, struct open, 2 * (size_t)n + 2);
    int *number = ESPI_ARENA_NEW(arena, int, n);
    if (!stack || !number || grow_forest(&f, edges, pairs->n, arena))
        return -1;
    int n_groups = split_groups(&f, group, stack);
    renumber(group, n, number);
    return n_groups;
}

int espi_sites_find(const struct espi_site_pairs *pairs, int n_hosts, int *site,
                    struct espi_arena *arena)
{
    struct edge *edges = ESPI_ARENA_NEW(arena, struct edge, (size_t)pairs->n + 1);
    if (!edges)
        return -1;
    for (int i = 0; i < pairs->n; i++)
        edges[i] =
            (struct edge){pairs->at[i].low, pairs->at[i].high, pairs->at[i].distance_s};
    return find_groups(pairs, edges, n_hosts, site, arena);
}

/* ---- from site to site ---- */

struct site_latency {
    int key; /* the lower site * sites + the other */
    double latency_s;
};

static int by_sites(const void *x, const void *y)
{
    const struct site_latency *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->latency_s > b->latency_s) - (a->latency_s < b->latency_s);
}

double *espi_site_latencies(const struct espi_site_pairs *pairs, const int *site,
                            int n_sites, struct espi_arena *arena)
{
    size_t cells = (size_t)n_sites * (size_t)n_sites;
    struct site_latency *seen =
        ESPI_ARENA_NEW(arena, struct site_latency, (size_t)pairs->n + 1);
    double *latency_s = ESPI_ARENA_NEW(arena, double, cells + 1);
    int n = 0;
    if (!seen || !latency_s)
        return NULL;
    for (size_t k = 0; k < cells; k++)
        latency_s[k] = -1;
    for (int i = 0; i < pairs->n; i++) {
        int a = site[pairs->at[i].low], b = site[pairs->at[i].high];
        if (pairs->at[i].latency_s >= 0)
            seen[n++] = (struct site_latency){(a < b ? a : b) * n_sites + (a < b ? b : a),
                                              pairs->at[i].latency_s};
    }
    qsort(seen, (size_t)n, sizeof *seen, by_sites);
    for (int i = 0, end; i < n; i = end) {
        int a = seen[i].key / n_sites, b = seen[i].key % n_sites;
        for (end = i; end < n && seen[end].key == seen[i].key;)
            end++;
        latency_s[a * n_sites + b] = latency_s[b * n_sites + a] =
            seen[i + (end - i) / 2].latency_s;
    }
    return latency_s;
}
