#include "platform/tiers_net.h"

#include <limits.h>
#include <math.h>

static double square_distance(const struct espi_points *p, int a, int b)
{
    double dx = p->x[a] - p->x[b], dy = p->y[a] - p->y[b];
    return dx * dx + dy * dy;
}

int espi_points_distance(const struct espi_points *p, int a, int b, int unit)
{
    return (int)(sqrt(square_distance(p, a, b)) / unit);
}

/* Each round finds the least point, by (distance, number), above the last one found. */
void espi_points_nearest(const struct espi_points *p, int anchor, int rank, int *near)
{
    double last = -1;
    if (rank > 0)
        near[0] = anchor;
    for (int r = 1, last_i = -1; r < rank; r++) {
        int best = -1;
        double best_d = INFINITY;
        for (int i = 0; i < p->count; i++) {
            double d = square_distance(p, anchor, i);
            int after = d > last || (d == last && i > last_i);
            if (i != anchor && after && d < best_d) {
                best = i;
                best_d = d;
            }
        }
        near[r] = last_i = best;
        last = best_d;
    }
}

/* ---- minimum spanning tree ---- */

static int nearest_outside(const int *gap, const int *inside, int n)
{
    int best = -1;
    for (int v = 0; v < n; v++)
        if (!inside[v] && (best < 0 || gap[v] < gap[best]))
            best = v;
    return best;
}

static int grow_tree(const struct espi_points *p, int unit, struct espi_arena *arena,
                     int (*pairs)[2])
{
    int n = p->count;
    int *gap = ESPI_ARENA_NEW(arena, int, n); /* to the tree */
    int *from = ESPI_ARENA_ZNEW(arena, int, n);
    int *inside = ESPI_ARENA_ZNEW(arena, int, n);
    if (!gap || !from || !inside)
        return -1;
    for (int v = 0; v < n; v++)
        gap[v] = INT_MAX;
    for (int u = 0, k = 0;; k++) {
        inside[u] = 1;
        for (int v = 0; v < n; v++) {
            int d = inside[v] ? INT_MAX : espi_points_distance(p, u, v, unit);
            if (d < gap[v]) {
                gap[v] = d;
                from[v] = u;
            }
        }
        if (k == n - 1)
            return k;
        u = nearest_outside(gap, inside, n);
        pairs[k][0] = from[u];
        pairs[k][1] = u;
    }
}

/* ---- redundancy ---- */

/* Who is joined with whom: half-edge 2k is seen from pairs[k][0], 2k + 1 from the other.
 */
struct joined {
    int *first, *next, *degree;
    int *stamp; /* stamp[v] == u: v is u or joined with it */
    int (*pairs)[2];
    int n_pairs;
};

static void note_pair(struct joined *j, int k)
{
    for (int side = 0; side < 2; side++) {
        int u = j->pairs[k][side];
        j->next[2 * k + side] = j->first[u];
        j->first[u] = 2 * k + side;
        j->degree[u]++;
    }
}

static int joined_init(struct joined *j, int n, int max_pairs, struct espi_arena *arena)
{
    j->first = ESPI_ARENA_NEW(arena, int, n);
    j->stamp = ESPI_ARENA_NEW(arena, int, n);
    j->degree = ESPI_ARENA_ZNEW(arena, int, n);
    j->next = ESPI_ARENA_NEW(arena, int, 2 * (size_t)max_pairs);
    if (!j->first || !j->stamp || !j->degree || !j->next)
        return -1;
    for (int v = 0; v < n; v++)
        j->first[v] = j->stamp[v] = -1;
    for (int k = 0; k < j->n_pairs; k++)
        note_pair(j, k);
    return 0;
}

static int nearest_apart(const struct espi_points *p, struct joined *j, int u, int unit)
{
    int best = -1, best_d = INT_MAX;
    j->stamp[u] = u;
    for (int h = j->first[u]; h >= 0; h = j->next[h])
        j->stamp[j->pairs[h / 2][1 - h % 2]] = u;
    for (int v = 0; v < p->count; v++) {
        int d = j->stamp[v] == u ? INT_MAX : espi_points_distance(p, u, v, unit);
        if (d < best_d) {
            best = v;
            best_d = d;
        }
    }
    return best;
}

int espi_points_max_pairs(int count, int redundancy)
{
    return count * (1 + (redundancy < count ? redundancy : count));
}

int espi_points_connect(const struct espi_points *p, int redundancy, int unit,
                        struct espi_arena *arena, int (*pairs)[2])
{
    struct joined j = {.pairs = pairs, .n_pairs = grow_tree(p, unit, arena, pairs)};
    int n = p->count, enough = redundancy < n - 1 ? redundancy : n - 1;
    int max_pairs = espi_points_max_pairs(n, redundancy);
    if (j.n_pairs < 0 || joined_init(&j, n, max_pairs, arena) < 0)
        return -1;
    for (int u = 0; u < n; u++)
        while (j.degree[u] < enough) {
            int v = nearest_apart(p, &j, u, unit);
            pairs[j.n_pairs][0] = u;
            pairs[j.n_pairs][1] = v;
            note_pair(&j, j.n_pairs++);
        }
    return j.n_pairs;
}
