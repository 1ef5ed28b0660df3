/* Layout by stress: the distance of two groups in the picture shall be as their distance
 * in hops, which puts what is joined side by side and long chains straight.
 *
 * Reference: Zheng, Pawar, Goodman, "Graph drawing by stochastic gradient descent"
 * (2018): pairs in random order, each moved towards its distance by a step that shrinks.
 * Departure: distances are taken from a limited number of sources, so that a picture of a
 *   hundred thousand nodes is a matter of seconds, and to each distance the radii of the
 *   two discs are added, so that sites of many hosts find room. Afterwards discs that
 *   still overlap are pushed apart.
 * Complexity: O(s (n + m)) for the distances and O(s n) a round, s = SOURCES_TIMES / n
 *   but at least SOURCES_MIN sources, ROUNDS rounds. */
#include "report/layout.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/portable_math.h"
#include "base/rng.h"

/* looks: how well groups are spread, against the time it takes */
enum { SOURCES_MIN = 40, SOURCES_TIMES = 1000000, ROUNDS = 24, PUSHES = 60, SEED = 1 };

static const double NODE_GAP = 3.2; /* looks: between centres of nodes of a site */
static const double HOP = 7;       /* looks: between the rims of groups that are joined */
static const double GROUP_GAP = 3; /* looks: between their rims at least */
static const double MARGIN = 5;    /* looks: round all */

struct work {
    const struct esp_platform *p;
    struct espi_picture_layout *l;
    struct espi_arena *arena;
    struct espi_rows near; /* group -> groups it is joined to */
};

/* ---- groups ---- */

static int make_groups(struct work *w)
{
    const struct esp_platform *p = w->p;
    struct espi_picture_layout *l = w->l;
    int *of_site = ESPI_ARENA_NEW(w->arena, int, p->n_sites + 1);

    l->groups = ESPI_ARENA_ZNEW(w->arena, struct espi_group, p->n_nodes + 1);
    l->group_of = ESPI_ARENA_NEW(w->arena, int, p->n_nodes + 1);
    l->node = ESPI_ARENA_ZNEW(w->arena, struct espi_point, p->n_nodes + 1);
    if (!of_site || !l->groups || !l->group_of || !l->node)
        return -1;
    memset(of_site, -1, (size_t)p->n_sites * sizeof *of_site);
    l->n_groups = 0;
    for (int v = 0; v < p->n_nodes; v++) {
        int site = p->node_site[v];
        int g = site >= 0 ? of_site[site] : -1;
        if (g < 0) {
            g = l->n_groups++;
            l->groups[g].site = site;
            if (site >= 0)
                of_site[site] = g;
        }
        l->group_of[v] = g;
        l->groups[g].n_nodes++;
    }
    return 0;
}

/* Both directions of every link between two groups. */
static int join_groups(struct work *w)
{
    const struct esp_platform *p = w->p;
    const int *of = w->l->group_of;
    int *from = ESPI_ARENA_NEW(w->arena, int, 2 * (size_t)p->n_links + 1);
    int *to = ESPI_ARENA_NEW(w->arena, int, 2 * (size_t)p->n_links + 1);
    int m = 0;

    if (!from || !to)
        return -1;
    for (int e = 0; e < p->n_links; e++) {
        int a = of[p->tail[e]], b = of[p->head[e]];
        if (a == b)
            continue;
        from[m] = a;
        to[m++] = b;
        from[m] = b;
        to[m++] = a;
    }
    if (espi_rows_build(&w->near, w->l->n_groups, m, from, w->arena))
        return -1;
    for (int i = 0; i < m; i++)
        w->near.item[i] = to[w->near.item[i]];
    return 0;
}

/* ---- the nodes of a group, round its centre ---- */

/* Switches in the middle, hosts on a ring round them, or when they are many, as the seeds
 * of a sunflower. Leaves coordinates relative to the centre. */
static void place_in_group(struct work *w, int g, const int *nodes, int n)
{
    static const double GOLDEN = 2.399963229728653; /* derived: the golden angle */
    const struct esp_platform *p = w->p;
    struct espi_point *at = w->l->node;
    int hubs = 0, hub = 0, host = 0;

    for (int i = 0; i < n; i++)
        hubs += espi_is_switch(p, nodes[i]);
    int hosts = n - hubs;
    double core = hubs > 1 ? hubs * NODE_GAP / (2 * M_PI) + 1 : 0;
    double ring = fmax(hosts * NODE_GAP / (2 * M_PI), core + (hubs ? NODE_GAP : 0));
    bool many = hosts > 24;
    double radius = many ? 0.6 * NODE_GAP * sqrt(hosts) + core : n == 1 ? 0 : ring;

    for (int i = 0; i < n; i++) {
        double r = core, angle = 2 * M_PI * hub / (hubs ? hubs : 1);
        if (espi_is_switch(p, nodes[i])) {
            hub++;
        } else if (many) {
            r = core + (radius - core) * sqrt((host + 0.5) / hosts);
            angle = GOLDEN * host++;
        } else {
            r = n == 1 ? 0 : radius;
            angle = 2 * M_PI * host++ / (hosts ? hosts : 1) - M_PI / 2;
        }
        double sine, cosine;
        espi_sin_cos(angle, &sine, &cosine);
        at[nodes[i]] = (struct espi_point){r * cosine, r * sine};
    }
    w->l->groups[g].radius = radius + 1;
}

static int place_in_groups(struct work *w)
{
    struct espi_rows members;

    if (espi_rows_build(&members, w->l->n_groups, w->p->n_nodes, w->l->group_of,
                        w->arena))
        return -1;
    for (int g = 0; g < w->l->n_groups; g++)
        place_in_group(w, g, members.item + members.start[g],
                       members.start[g + 1] - members.start[g]);
    return 0;
}

/* ---- the groups ---- */

/* Hops from a group to all; what is not joined is a little further than the farthest. */
static void hops_from(const struct work *w, int source, int *hops, int *queue)
{
    int n = w->l->n_groups, done = 0, known = 1;

    memset(hops, -1, (size_t)n * sizeof *hops);
    hops[source] = 0;
    queue[0] = source;
    for (; done < known; done++) {
        int g = queue[done];
        for (int i = w->near.start[g]; i < w->near.start[g + 1]; i++) {
            int other = w->near.item[i];
            if (hops[other] < 0) {
                hops[other] = hops[g] + 1;
                queue[known++] = other;
            }
        }
    }
    int far = hops[queue[known - 1]] + 2;
    for (int g = 0; g < n; g++)
        if (hops[g] < 0)
            hops[g] = far;
}

static int source_count(int n)
{
    int affordable = SOURCES_TIMES / (n ? n : 1);

    if (affordable < SOURCES_MIN)
        affordable = SOURCES_MIN;
    return affordable < n ? affordable : n;
}

/* How far the centres of two groups that are so many hops apart shall be. */
static double wanted_distance(const struct espi_group *a, const struct espi_group *b,
                              int hops)
{
    return HOP * hops + 1.15 * (a->radius + b->radius);
}

static void move_pair(struct espi_group *a, struct espi_group *b, double distance,
                      double step)
{
    double dx = a->centre.x - b->centre.x, dy = a->centre.y - b->centre.y;
    double now = sqrt(dx * dx + dy * dy);

    if (now < 1e-9) {
        dx = now = 1e-9;
        dy = 0;
    }
    double mu = fmin(1, step / (distance * distance)) * (now - distance) / (2 * now);
    a->centre.x -= mu * dx;
    a->centre.y -= mu * dy;
    b->centre.x += mu * dx;
    b->centre.y += mu * dy;
}

static void relax_pairs(struct work *w, const int *source, int n_sources, const int *hops,
                        struct espi_rng *rng, int *order)
{
    struct espi_group *groups = w->l->groups;
    int n = w->l->n_groups;
    double longest = 0;

    for (int i = 0; i < n_sources; i++)
        for (int g = 0; g < n; g++)
            longest =
                fmax(longest, wanted_distance(&groups[source[i]], &groups[g],
                                              hops[(size_t)i * (size_t)n + (size_t)g]));
    for (int round = 0; round < ROUNDS; round++) {
        double step = longest * longest * espi_exp(-9.0 * round / (ROUNDS - 1));
        espi_rng_shuffle(rng, order, n);
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n_sources; i++) {
                int a = source[i], b = order[k];
                if (a != b)
                    move_pair(&groups[a], &groups[b],
                              wanted_distance(&groups[a], &groups[b],
                                              hops[(size_t)i * (size_t)n + (size_t)b]),
                              step);
            }
    }
}

static int by_x(const void *a, const void *b, void *groups)
{
    const struct espi_group *g = groups;
    double x = g[*(const int *)a].centre.x, y = g[*(const int *)b].centre.x;

    return x < y ? -1 : x > y ? 1 : *(const int *)a - *(const int *)b;
}

/* Moves two discs apart by half of what they overlap; true when they did. */
static bool push_pair(struct espi_group *a, struct espi_group *b)
{
    double need = a->radius + b->radius + GROUP_GAP;
    double dx = b->centre.x - a->centre.x, dy = b->centre.y - a->centre.y;
    double now = sqrt(dx * dx + dy * dy);

    if (now >= need)
        return false;
    if (now < 1e-9) {
        dx = 0;
        dy = now = 1e-9;
    }
    double by = (need - now) / (2 * now) * 1.02;
    a->centre.x -= by * dx;
    a->centre.y -= by * dy;
    b->centre.x += by * dx;
    b->centre.y += by * dy;
    return true;
}

static void push_apart(struct work *w, int *order)
{
    struct espi_group *groups = w->l->groups;
    int n = w->l->n_groups;
    double widest = 0;
    bool moved = true;

    for (int g = 0; g < n; g++)
        widest = fmax(widest, groups[g].radius);
    for (int round = 0; moved && round < PUSHES; round++) {
        moved = false;
        qsort_r(order, (size_t)n, sizeof *order, by_x, groups);
        for (int i = 0; i < n; i++)
            for (int k = i + 1; k < n; k++) {
                struct espi_group *a = &groups[order[i]], *b = &groups[order[k]];
                if (b->centre.x - a->centre.x > a->radius + widest + GROUP_GAP)
                    break;
                moved |= push_pair(a, b);
            }
    }
}

static int place_groups(struct work *w)
{
    int n = w->l->n_groups, n_sources = source_count(n);
    int *source = ESPI_ARENA_NEW(w->arena, int, n_sources + 1);
    int *order = ESPI_ARENA_NEW(w->arena, int, n + 1);
    int *queue = ESPI_ARENA_NEW(w->arena, int, n + 1);
    int *hops = ESPI_ARENA_NEW(w->arena, int, (size_t)n_sources *(size_t)n + 1);
    double span = HOP * sqrt(n + 1);
    struct espi_rng rng;

    if (!source || !order || !queue || !hops)
        return -1;
    espi_rng_seed(&rng, SEED);
    for (int g = 0; g < n; g++) {
        order[g] = g;
        w->l->groups[g].centre.x = espi_rng_range(&rng, 0, span);
        w->l->groups[g].centre.y = espi_rng_range(&rng, 0, span);
    }
    for (int i = 0; i < n_sources; i++) {
        source[i] = (int)((long long)i * n / n_sources);
        hops_from(w, source[i], hops + (size_t)i * (size_t)n, queue);
    }
    relax_pairs(w, source, n_sources, hops, &rng, order);
    push_apart(w, order);
    return 0;
}

/* ---- the whole ---- */

/* Turns the picture so that it is wider than high: the axis of its largest spread lies
 * level. */
static void turn_picture(struct espi_picture_layout *l)
{
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;

    for (int g = 0; g < l->n_groups; g++) {
        mx += l->groups[g].centre.x / l->n_groups;
        my += l->groups[g].centre.y / l->n_groups;
    }
    for (int g = 0; g < l->n_groups; g++) {
        double dx = l->groups[g].centre.x - mx, dy = l->groups[g].centre.y - my;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    /* cosine and sine of half the angle of (xx - yy, 2 xy), clockwise */
    double length = espi_hypot(xx - yy, 2 * xy);
    double c = length > 0 ? sqrt((1 + (xx - yy) / length) / 2) : 1;
    double s = length > 0 ? sqrt((1 - (xx - yy) / length) / 2) : 0;
    s = xy > 0 ? -s : s;
    for (int g = 0; g < l->n_groups; g++) {
        double dx = l->groups[g].centre.x - mx, dy = l->groups[g].centre.y - my;
        l->groups[g].centre = (struct espi_point){c * dx - s * dy, s * dx + c * dy};
    }
}

static void frame(struct espi_picture_layout *l, int n_nodes)
{
    double left = INFINITY, top = INFINITY, right = -INFINITY, bottom = -INFINITY;

    for (int g = 0; g < l->n_groups; g++) {
        const struct espi_group *k = &l->groups[g];
        left = fmin(left, k->centre.x - k->radius);
        right = fmax(right, k->centre.x + k->radius);
        top = fmin(top, k->centre.y - k->radius);
        bottom = fmax(bottom, k->centre.y + k->radius);
    }
    if (l->n_groups == 0)
        left = right = top = bottom = 0;
    for (int g = 0; g < l->n_groups; g++) {
        l->groups[g].centre.x += MARGIN - left;
        l->groups[g].centre.y += MARGIN - top;
    }
    for (int v = 0; v < n_nodes; v++) {
        l->node[v].x += l->groups[l->group_of[v]].centre.x;
        l->node[v].y += l->groups[l->group_of[v]].centre.y;
    }
    l->width = right - left + 2 * MARGIN;
    l->height = bottom - top + 2 * MARGIN;
}

int espi_layout_make(struct espi_picture_layout *l, const struct esp_platform *p,
                     struct espi_arena *arena)
{
    struct work w = {.p = p, .l = l, .arena = arena};

    if (make_groups(&w) || join_groups(&w) || place_in_groups(&w) || place_groups(&w))
        return -1;
    turn_picture(l);
    frame(l, p->n_nodes);
    return 0;
}
