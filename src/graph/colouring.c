/* Weighted edge colouring of bipartite graphs: a sequence of matchings with durations in
 * which each edge is active for its weight, as short as the heaviest vertex allows.
 *
 * Reference: D. Koenig 1916; G. Birkhoff, Three observations on linear algebra, 1946: a
 * matrix whose rows and columns all sum to D is a sum of D permutations. The weights W
 * are padded to such a matrix of twice the size, [W, D - rows; D - columns, W'], and
 * perfect matchings are peeled off it. Each is sought among the entries above a
 * threshold, which is lowered when there is none, so that matchings last long and are
 * few; what is left of a matching after its peeling is the start of the next one.
 * Guarantee: exact, on integers. At most as many matchings as padded entries; 2 to 4 for
 * each 10 vertices in practice.
 * Complexity: O(m sqrt n) a matching in the worst case; mostly a few short searches. */
#include "graph/colouring.h"

#include <string.h>

struct peeler {
    int n;     /* vertices of each side of the padded graph */
    int m;     /* its edges; the first n_edges are the graph's own */
    int n_own; /* edges of the graph itself */
    int *left, *right;
    int64_t *rest; /* edge -> what is left of it */
    unsigned char *use;
    int64_t threshold, depth; /* depth: what is left of each vertex */
    struct espi_matching matching;
    /* what comes out, with room for so many */
    int room, edge_room;
    struct espi_arena *arena;
};

static void add(struct peeler *w, int left, int right, int64_t weight)
{
    if (weight <= 0)
        return;
    w->left[w->m] = left;
    w->right[w->m] = right;
    w->rest[w->m++] = weight;
}

/* The heaviest vertex; sums holds the weights of all: left, then right. */
static int64_t weigh(const int *left, const int *right, const int64_t *weight, int m,
                     int n_left, int n, int64_t *sums)
{
    int64_t most = 0;
    for (int e = 0; e < m; e++) {
        sums[left[e]] += weight[e];
        sums[n_left + right[e]] += weight[e];
    }
    for (int v = 0; v < n; v++)
        most = sums[v] > most ? sums[v] : most;
    return most;
}

static int pad(struct peeler *w, int n_left, int n_right, int n_edges, const int *left,
               const int *right, const int64_t *weight, int **own)
{
    size_t most = 2 * (size_t)n_edges + (size_t)w->n;
    int64_t *sums = ESPI_ARENA_ZNEW(w->arena, int64_t, w->n);
    w->left = ESPI_ARENA_NEW(w->arena, int, most);
    w->right = ESPI_ARENA_NEW(w->arena, int, most);
    w->rest = ESPI_ARENA_NEW(w->arena, int64_t, most);
    w->use = ESPI_ARENA_NEW(w->arena, unsigned char, most);
    *own = ESPI_ARENA_NEW(w->arena, int, n_edges);
    if (!sums || !w->left || !w->right || !w->rest || !w->use || !*own)
        return -1;
    w->depth = weigh(left, right, weight, n_edges, n_left, w->n, sums);
    for (int e = 0; e < n_edges; e++) {
        (*own)[w->m] = e;
        add(w, left[e], right[e], weight[e]);
    }
    w->n_own = w->m;
    for (int e = 0; e < w->n_own; e++)
        add(w, n_left + w->right[e], n_right + w->left[e], w->rest[e]);
    for (int v = 0; v < n_left; v++)
        add(w, v, n_right + v, w->depth - sums[v]);
    for (int v = 0; v < n_right; v++)
        add(w, n_left + v, v, w->depth - sums[n_left + v]);
    return espi_matching_init(&w->matching, w->n, w->n, w->m, w->left, w->right,
                              w->arena);
}

static void set_threshold(struct peeler *w, int64_t threshold)
{
    w->threshold = threshold;
    for (int e = 0; e < w->m; e++)
        w->use[e] = w->rest[e] >= threshold;
}

/* A perfect matching whose least entry is as large as the thresholds allow. There is one
 * at threshold 1: all vertices weigh the same. */
static int64_t find_matching(struct peeler *w)
{
    while (espi_matching_extend(&w->matching, w->use) < w->n)
        set_threshold(w, w->threshold > 3 ? w->threshold / 4 * 3 : 1);
    int64_t least = w->depth;
    for (int v = 0; v < w->n; v++) {
        int64_t rest = w->rest[w->matching.left.mate[v]];
        least = rest < least ? rest : least;
    }
    return least;
}

/* Makes room for one more matching: twice what there was, copied. */
static int grow(struct peeler *w, struct espi_colouring *c)
{
    int edges = c->n ? c->start[c->n] : 0;
    if (c->n == w->room) {
        int room = w->room ? 2 * w->room : 64;
        int64_t *ticks = ESPI_ARENA_NEW(w->arena, int64_t, room);
        int *start = ESPI_ARENA_NEW(w->arena, int, (size_t)room + 1);
        if (!ticks || !start)
            return -1;
        memcpy(ticks, c->ticks, (size_t)c->n * sizeof *ticks);
        memcpy(start, c->start, ((size_t)c->n + 1) * sizeof *start);
        c->ticks = ticks;
        c->start = start;
        w->room = room;
    }
    if (w->edge_room - edges < w->n) {
        int room = 2 * w->edge_room + 64 * w->n;
        int *edge = ESPI_ARENA_NEW(w->arena, int, room);
        if (!edge)
            return -1;
        memcpy(edge, c->edge, (size_t)edges * sizeof *edge);
        c->edge = edge;
        w->edge_room = room;
    }
    return 0;
}

/* Takes the matching away for as long as it lasts, and writes it down. */
static void peel(struct peeler *w, struct espi_colouring *c, int64_t ticks,
                 const int *own)
{
    int at = c->start[c->n];
    for (int v = 0; v < w->n; v++) {
        int e = w->matching.left.mate[v];
        if (e < w->n_own)
            c->edge[at++] = own[e];
        w->rest[e] -= ticks;
        if (w->rest[e] >= w->threshold)
            continue;
        w->use[e] = 0;
        w->matching.left.mate[v] = -1;
        w->matching.right.mate[w->right[e]] = -1;
    }
    c->ticks[c->n++] = ticks;
    c->start[c->n] = at;
    c->total += ticks;
    w->depth -= ticks;
}

int espi_colouring_init(struct espi_colouring *c, int n_left, int n_right, int n_edges,
                        const int *end_left, const int *end_right, const int64_t *weight,
                        struct espi_arena *arena)
{
    struct peeler w = {.n = n_left + n_right, .arena = arena};
    int zero = 0, *own, none = 0;
    struct espi_colouring x = {.start = &zero, .edge = &none};
    int64_t no_ticks = 0;
    x.ticks = &no_ticks;
    if (pad(&w, n_left, n_right, n_edges, end_left, end_right, weight, &own))
        return -1;
    set_threshold(&w, w.depth);
    while (w.depth > 0) {
        int64_t ticks = find_matching(&w);
        if (grow(&w, &x))
            return -1;
        peel(&w, &x, ticks, own);
    }
    if (x.n == 0 && grow(&w, &x))
        return -1;
    *c = x;
    return 0;
}
