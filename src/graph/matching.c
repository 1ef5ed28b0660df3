/* Bipartite matchings: of maximum cardinality, and covering given vertices of both sides.
 *
 * References: J. E. Hopcroft, R. M. Karp, An n^(5/2) algorithm for maximum matchings in
 * bipartite graphs, 1973. N. S. Mendelsohn, A. L. Dulmage, Some generalizations of the
 * problem of distinct representatives, 1958: if one matching covers a set of left
 * vertices and another a set of right ones, a part of their union covers both sets.
 * Complexity: O(m sqrt n) each. All searches keep their own stack: depth is no limit. */
#include "graph/matching.h"

#include <string.h>

static int side_init(struct espi_matching_side *s, int n, int n_edges, const int *end,
                     struct espi_arena *arena)
{
    s->n = n;
    s->end = end;
    s->mate = ESPI_ARENA_NEW(arena, int, n);
    return s->mate ? espi_rows_build(&s->edges, n, n_edges, end, arena) : -1;
}

static void uncover(struct espi_matching_side *s)
{
    for (int v = 0; v < s->n; v++)
        s->mate[v] = -1;
}

int espi_matching_init(struct espi_matching *w, int n_left, int n_right, int n_edges,
                       const int *end_left, const int *end_right,
                       struct espi_arena *arena)
{
    int most = n_left > n_right ? n_left : n_right;
    struct espi_matching x = {.level = ESPI_ARENA_NEW(arena, int, most)};
    x.next = ESPI_ARENA_NEW(arena, int, most);
    x.queue = ESPI_ARENA_NEW(arena, int, most);
    x.path = ESPI_ARENA_NEW(arena, int, most);
    x.first_left = ESPI_ARENA_NEW(arena, int, n_left);
    x.first_right = ESPI_ARENA_NEW(arena, int, n_right);
    x.pick = ESPI_ARENA_NEW(arena, unsigned char, n_left);
    if (!x.level || !x.next || !x.queue || !x.path || !x.first_left || !x.first_right ||
        !x.pick || side_init(&x.left, n_left, n_edges, end_left, arena) ||
        side_init(&x.right, n_right, n_edges, end_right, arena))
        return -1;
    uncover(&x.left);
    uncover(&x.right);
    *w = x;
    return 0;
}

/* Levels of the vertices of side a by alternating paths from its uncovered ones (those
 * with want[v] != 0; NULL: all). Returns whether a path reaches an uncovered vertex of
 * b; nothing is explored beyond the level where this happens. */
static int set_levels(struct espi_matching *w, const struct espi_matching_side *a,
                      const struct espi_matching_side *b, const unsigned char *use,
                      const unsigned char *want)
{
    int count = 0, last = a->n;
    for (int v = 0; v < a->n; v++) {
        w->level[v] = -1;
        w->next[v] = a->edges.start[v];
        if (a->mate[v] < 0 && (!want || want[v])) {
            w->level[v] = 0;
            w->queue[count++] = v;
        }
    }
    for (int i = 0; i < count && w->level[w->queue[i]] <= last; i++) {
        int u = w->queue[i];
        for (int k = a->edges.start[u]; k < a->edges.start[u + 1]; k++) {
            int e = a->edges.item[k], back = b->mate[b->end[e]];
            if (use && !use[e])
                continue;
            if (back < 0) {
                last = w->level[u];
            } else if (w->level[a->end[back]] < 0) {
                w->level[a->end[back]] = w->level[u] + 1;
                w->queue[count++] = a->end[back];
            }
        }
    }
    return last < a->n;
}

/* The next edge from u that leads one level on or to an uncovered vertex; -1: none. */
static int step(struct espi_matching *w, const struct espi_matching_side *a,
                const struct espi_matching_side *b, const unsigned char *use, int u)
{
    for (; w->next[u] < a->edges.start[u + 1]; w->next[u]++) {
        int e = a->edges.item[w->next[u]], back = b->mate[b->end[e]];
        if ((!use || use[e]) && (back < 0 || w->level[a->end[back]] == w->level[u] + 1))
            return e;
    }
    return -1;
}

/* Searches an alternating path from u along the levels, and swaps it when found. */
static int augment(struct espi_matching *w, struct espi_matching_side *a,
                   struct espi_matching_side *b, const unsigned char *use, int u)
{
    int length = 0;
    for (;;) {
        int e = step(w, a, b, use, u);
        if (e < 0) {
            w->level[u] = -1; /* leads nowhere in this phase */
            if (length == 0)
                return 0;
            u = a->end[w->path[--length]];
            w->next[u]++;
            continue;
        }
        w->path[length++] = e;
        if (b->mate[b->end[e]] < 0)
            break;
        u = a->end[b->mate[b->end[e]]];
    }
    while (length > 0) {
        int e = w->path[--length];
        a->mate[a->end[e]] = e;
        b->mate[b->end[e]] = e;
    }
    return 1;
}

/* Covers as many vertices of a (of those wanted) as can be; returns the number added. */
static int grow(struct espi_matching *w, struct espi_matching_side *a,
                struct espi_matching_side *b, const unsigned char *use,
                const unsigned char *want)
{
    int added = 0;
    while (set_levels(w, a, b, use, want))
        for (int v = 0; v < a->n; v++)
            if (a->mate[v] < 0 && w->level[v] == 0)
                added += augment(w, a, b, use, v);
    return added;
}

static int size_of(const struct espi_matching *w)
{
    int size = 0;
    for (int v = 0; v < w->left.n; v++)
        size += w->left.mate[v] >= 0;
    return size;
}

int espi_matching_extend(struct espi_matching *w, const unsigned char *use)
{
    grow(w, &w->left, &w->right, use, NULL);
    return size_of(w);
}

int espi_matching_max(struct espi_matching *w, const unsigned char *use)
{
    uncover(&w->left);
    uncover(&w->right);
    return grow(w, &w->left, &w->right, use, NULL);
}

static int covers(const struct espi_matching_side *s, const unsigned char *need)
{
    for (int v = 0; v < s->n; v++)
        if (need[v] && s->mate[v] < 0)
            return 0;
    return 1;
}

/* Walks the path of the union that starts at a vertex covered by one of the matchings
 * only, edge by edge, and collects its left vertices in w->queue. *same_side tells
 * whether it ends on the side where it started. Returns the number collected. */
static int walk(struct espi_matching *w, int on_left, int vertex, int *same_side)
{
    int count = 0, left_now = on_left, by_first;
    by_first = (on_left ? w->first_left : w->first_right)[vertex] >= 0;
    for (;;) {
        if (left_now)
            w->queue[count++] = vertex;
        const int *mates = left_now   ? by_first ? w->first_left : w->left.mate
                           : by_first ? w->first_right
                                      : w->right.mate;
        int e = mates[vertex];
        if (e < 0)
            break;
        vertex = left_now ? w->right.end[e] : w->left.end[e];
        left_now = !left_now;
        by_first = !by_first;
    }
    *same_side = left_now == on_left;
    return count;
}

static void pick_path(struct espi_matching *w, int on_left, int vertex)
{
    int by_first = (on_left ? w->first_left : w->first_right)[vertex] >= 0, same_side;
    int count = walk(w, on_left, vertex, &same_side);
    /* Ends on both sides: the matching with one edge more covers all of the path. Both
     * ends on the left: only the first matching covers all the left ones needed, and
     * either covers all the right ones; both on the right: the second. */
    int first = same_side ? on_left : by_first;
    for (int i = 0; i < count; i++)
        w->pick[w->queue[i]] = (unsigned char)first;
}

/* The first matching covers what is needed on the left, the one in place what is needed
 * on the right: puts in place a part of their union that covers both. */
static void merge(struct espi_matching *w)
{
    memset(w->pick, 1, (size_t)w->left.n); /* cycles: either will do */
    for (int v = 0; v < w->left.n; v++)
        if ((w->first_left[v] < 0) != (w->left.mate[v] < 0))
            pick_path(w, 1, v);
    for (int v = 0; v < w->right.n; v++)
        if ((w->first_right[v] < 0) != (w->right.mate[v] < 0))
            pick_path(w, 0, v);
    uncover(&w->right);
    for (int v = 0; v < w->left.n; v++) {
        if (w->pick[v])
            w->left.mate[v] = w->first_left[v];
        if (w->left.mate[v] >= 0)
            w->right.mate[w->right.end[w->left.mate[v]]] = w->left.mate[v];
    }
}

int espi_matching_cover(struct espi_matching *w, const unsigned char *use,
                        const unsigned char *need_left, const unsigned char *need_right)
{
    uncover(&w->left);
    uncover(&w->right);
    grow(w, &w->left, &w->right, use, need_left);
    if (!covers(&w->left, need_left))
        return -1;
    memcpy(w->first_left, w->left.mate, (size_t)w->left.n * sizeof(int));
    memcpy(w->first_right, w->right.mate, (size_t)w->right.n * sizeof(int));
    uncover(&w->left);
    uncover(&w->right);
    grow(w, &w->right, &w->left, use, need_right);
    if (!covers(&w->right, need_right))
        return -1;
    merge(w);
    return size_of(w);
}
