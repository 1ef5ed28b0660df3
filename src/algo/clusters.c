#include "algo/clusters.h"

#include <math.h>

#include "base/err.h"

/* ---- who is near whom ---- */

static double apart_s(const struct espi_clusters *c, int a, int b)
{
    return fmax(espi_end_s(&c->pairs, a, b, c->part_bytes),
                espi_end_s(&c->pairs, b, a, c->part_bytes));
}

/* Prim's order: whatever is nearer to each other than a limit stands together, between
 * two joins above it. */
static int order_hosts(struct espi_clusters *c, struct espi_arena *arena)
{
    double *near_s = ESPI_ARENA_NEW(arena, double, c->n);
    unsigned char *taken = ESPI_ARENA_ZNEW(arena, unsigned char, c->n);
    if (!near_s || !taken)
        return -1;
    for (int h = 0; h < c->n; h++)
        near_s[h] = INFINITY;
    for (int at = 0, next = 0; at < c->n; at++) {
        int host = next;
        c->order[at] = host;
        c->join_s[at] = near_s[host];
        taken[host] = 1;
        next = -1;
        for (int h = 0; h < c->n; h++) {
            if (taken[h])
                continue;
            near_s[h] = fmin(near_s[h], apart_s(c, host, h));
            if (next < 0 || near_s[h] < near_s[next])
                next = h;
        }
    }
    return 0;
}

int espi_clusters_init(struct espi_clusters *c, const struct espi_task *task,
                       double part_bytes)
{
    struct espi_arena *arena = task->arena;
    int n = task->view->g.n;
    *c = (struct espi_clusters){.n = n, .part_bytes = part_bytes};
    c->order = ESPI_ARENA_NEW(arena, int, n);
    c->join_s = ESPI_ARENA_NEW(arena, double, n);
    c->first = ESPI_ARENA_NEW(arena, int, (size_t)n + 1);
    c->leader = ESPI_ARENA_NEW(arena, int, n);
    if (!c->order || !c->join_s || !c->first || !c->leader ||
        espi_pairs_init(&c->pairs, task, part_bytes))
        return -1;
    return order_hosts(c, arena);
}

/* ---- a cut ---- */

static double farthest_s(const struct espi_clusters *c, int place, int from, int to)
{
    double most_s = 0;
    for (int k = from; k < to; k++)
        if (k != place)
            most_s = fmax(most_s, apart_s(c, c->order[place], c->order[k]));
    return most_s;
}

/* The one to which the farthest of the others are nearest, and then those of the site. */
static int best_leader(const struct espi_clusters *c, int site)
{
    int from = c->first[site], to = c->first[site + 1], best = from;
    double least_s = INFINITY;
    for (int k = from; k < to; k++) {
        double far_s = fmax(farthest_s(c, k, 0, from), farthest_s(c, k, to, c->n)) +
                       farthest_s(c, k, from, to);
        if (far_s < least_s) {
            least_s = far_s;
            best = k;
        }
    }
    return best;
}

static void cut_at(struct espi_clusters *c, double limit_s)
{
    c->m = 0;
    for (int k = 0; k < c->n; k++)
        if (k == 0 || c->join_s[k] > limit_s)
            c->first[c->m++] = k;
    c->first[c->m] = c->n;
    for (int i = 0; i < c->m; i++)
        c->leader[i] = best_leader(c, i);
}

/* The joins, the longest first. */
static void sort_joins(const struct espi_clusters *c, double *joins)
{
    for (int k = 1; k < c->n; k++) {
        int at = k - 1;
        for (; at > 0 && joins[at - 1] < c->join_s[k]; at--)
            joins[at] = joins[at - 1];
        joins[at] = c->join_s[k];
    }
}

/* How many times as far joins are above a gap as below it; 0: there is none. */
static double gap_at(const double *joins, int k)
{
    return joins[k] > joins[k + 1] ? joins[k] / joins[k + 1] : 0;
}

/* The joins below the gap, of which so many are wider; -1: there are fewer. */
static double below_gap_s(const double *joins, int n, int wider)
{
    double below_s = -1;
    for (int k = 0; k + 1 < n && below_s < 0; k++) {
        int before = 0;
        for (int i = 0; i + 1 < n; i++)
            before += gap_at(joins, i) > gap_at(joins, k) ||
                      (gap_at(joins, i) == gap_at(joins, k) && i < k);
        if (gap_at(joins, k) > 0 && before == wider)
            below_s = joins[k + 1];
    }
    return below_s;
}

esp_status espi_clusters_cut(struct espi_clusters *c, int gap, struct espi_arena *arena,
                             struct esp_err *err)
{
    double *joins = ESPI_ARENA_NEW(arena, double, c->n);
    if (!joins)
        return espi_err_nomem(err);
    sort_joins(c, joins);
    double limit_s = below_gap_s(joins, c->n - 1, gap - 1);
    if (limit_s < 0 && gap > 1)
        return espi_err(err, ESP_EUNSUPPORTED, "hosts are not apart by %d scales", gap);
    cut_at(c, fmax(limit_s, 0));
    return ESP_OK;
}
