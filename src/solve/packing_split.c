/* Trees whose mix is a given point y of the arborescence polytope.
 *
 * Reference: P. Wolfe, Finding the nearest point in a polytope, 1976. The nearest point
 * to y of the hull of the trees is y itself; the algorithm keeps a set of affinely
 * independent trees, so that no more are left than the dimension of the face of y asks
 * for. Each round takes one cheapest arborescence over the arcs of y, the costs being
 * what the mix has too much of, and O(k^2) for an update of the Cholesky factor of
 * 1 + P'P, the columns of P being the differences of the k trees to y.
 * Guarantee: the residual max |mix - y| is as small as rounding allows, or what it was
 * when the rounds ran out; the caller measures what the trees are worth. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/portable_math.h"
#include "solve/packing_impl.h"

static const double TINY = 1e-11; /* rounding: weights below are none */

struct split {
    const struct espi_digraph *g; /* of the view */
    int root;
    /* arcs of y */
    int m;
    int *arc, *tail, *head;
    double *y, *extra, *cost; /* extra: mix - y */
    struct espi_digraph support;
    struct espi_arborescence arb;
    int *parent;
    /* hosts with a choice */
    int n_open;
    int *open;
    /* the trees of the mix: arcs into the open hosts */
    int k, cap;
    int **choice;
    double *w, *share; /* weight; sum of y over the tree */
    double y_y;
    double *r; /* Cholesky factor: column j at r + j * cap */
    double *column, *alpha;
    double *forward; /* half-solved weights: the first n_forward are still right */
    int n_forward;
};

static int split_support(struct split *s, const double *y, struct espi_arena *a)
{
    const struct espi_digraph *g = s->g;
    s->arc = ESPI_ARENA_NEW(a, int, g->m);
    s->tail = ESPI_ARENA_NEW(a, int, g->m);
    s->head = ESPI_ARENA_NEW(a, int, g->m);
    s->y = ESPI_ARENA_NEW(a, double, g->m);
    if (!s->arc || !s->tail || !s->head || !s->y)
        return -1;
    for (int e = 0; e < g->m; e++)
        if (y[e] > 1e-9 && g->head[e] != s->root && g->tail[e] != g->head[e]) {
            s->arc[s->m] = e;
            s->tail[s->m] = g->tail[e];
            s->head[s->m] = g->head[e];
            s->y[s->m++] = y[e];
        }
    return espi_digraph_init(&s->support, g->n, s->m, s->tail, s->head, a);
}

static int split_init(struct split *s, const double *y, struct espi_arena *a)
{
    int n = s->g->n, free_arcs = 0;
    if (split_support(s, y, a))
        return -1;
    s->extra = ESPI_ARENA_ZNEW(a, double, s->m);
    s->cost = ESPI_ARENA_NEW(a, double, s->m);
    s->parent = ESPI_ARENA_NEW(a, int, n);
    s->open = ESPI_ARENA_NEW(a, int, n);
    if (!s->extra || !s->cost || !s->parent || !s->open ||
        espi_arborescence_init(&s->arb, &s->support, a))
        return -1;
    for (int h = 0; h < n; h++) {
        int first = s->support.in.start[h], last = s->support.in.start[h + 1];
        if (last - first < 2)
            continue;
        s->open[s->n_open++] = h;
        free_arcs += last - first - 1;
        for (int k = first; k < last; k++)
            s->y_y += s->y[s->support.in.item[k]] * s->y[s->support.in.item[k]];
    }
    s->cap = free_arcs + 2;
    size_t cap = (size_t)s->cap;
    s->choice = ESPI_ARENA_ZNEW(a, int *, cap);
    s->w = ESPI_ARENA_NEW(a, double, cap);
    s->share = ESPI_ARENA_NEW(a, double, cap);
    s->r = ESPI_ARENA_NEW(a, double, cap *cap);
    s->column = ESPI_ARENA_NEW(a, double, cap);
    s->alpha = ESPI_ARENA_NEW(a, double, cap);
    s->forward = ESPI_ARENA_NEW(a, double, cap);
    return s->choice && s->w && s->share && s->r && s->column && s->alpha && s->forward
               ? 0
               : -1;
}

/* The cheapest tree for the given costs, which may be negative: every tree has one arc
 * into each host, so that the least cost into a host may be taken off. */
static int cheapest(struct split *s, const double *cost)
{
    for (int h = 0; h < s->g->n; h++) {
        double least = INFINITY;
        const struct espi_rows *in = &s->support.in;
        for (int k = in->start[h]; k < in->start[h + 1]; k++)
            least = fmin(least, cost[in->item[k]]);
        for (int k = in->start[h]; k < in->start[h + 1]; k++)
            s->cost[in->item[k]] = cost[in->item[k]] - least;
    }
    return espi_arborescence(&s->arb, s->root, s->cost, s->parent, NULL);
}

/* Four sums at once, since the compiler may not reorder one. */
static double dot(const double *a, const double *b, int n)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++)
        s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

/* Adds the tree in s->parent with weight 0. 1: it depends on the others; -1: memory. */
static int add_tree(struct split *s, struct espi_arena *a)
{
    if (s->k == s->cap)
        return 1;
    int k = s->k, *choice = s->choice[k]; /* given back by an earlier tree, or NULL */
    if (!choice)
        choice = s->choice[k] = ESPI_ARENA_NEW(a, int, s->n_open ? s->n_open : 1);
    if (!choice)
        return -1;
    double share = 0, *r = s->r + (size_t)k * (size_t)s->cap;
    for (int i = 0; i < s->n_open; i++) {
        choice[i] = s->parent[s->open[i]];
        share += s->y[choice[i]];
    }
    for (int j = 0; j < k; j++) {
        int common = 0;
        for (int i = 0; i < s->n_open; i++)
            common += choice[i] == s->choice[j][i];
        const double *rj = s->r + (size_t)j * (size_t)s->cap;
        double g = 1 + common - share - s->share[j] + s->y_y;
        r[j] = (g - dot(rj, r, j)) / rj[j];
    }
    double left = 1 + s->n_open - 2 * share + s->y_y - dot(r, r, k);
    if (left < 1e-9)
        return 1;
    r[k] = sqrt(left);
    s->share[k] = share;
    s->w[k] = 0;
    s->k++;
    return 0;
}

/* Takes tree d out; rotations make the factor triangular again. */
static void drop_tree(struct split *s, int d)
{
    int *spare = s->choice[d];
    size_t ld = (size_t)s->cap;
    s->k--;
    s->n_forward = s->n_forward < d ? s->n_forward : d;
    for (int j = d; j < s->k; j++) {
        s->choice[j] = s->choice[j + 1];
        s->w[j] = s->w[j + 1];
        s->share[j] = s->share[j + 1];
        memcpy(s->r + (size_t)j * ld, s->r + (size_t)(j + 1) * ld,
               (size_t)(j + 2) * sizeof *s->r);
    }
    s->choice[s->k] = spare;
    for (int i = d; i < s->k; i++) {
        double *ri = s->r + (size_t)i * ld;
        double h = espi_hypot(ri[i], ri[i + 1]), c = ri[i] / h, sn = ri[i + 1] / h;
        for (int j = i; j < s->k; j++) {
            double *rj = s->r + (size_t)j * ld, up = rj[i], down = rj[i + 1];
            rj[i] = c * up + sn * down;
            rj[i + 1] = c * down - sn * up;
        }
    }
}

/* Weights, perhaps negative, of the point nearest to y in the affine hull. */
static void affine_weights(struct split *s)
{
    size_t ld = (size_t)s->cap;
    double sum = 0, *u = s->alpha;
    for (int j = s->n_forward; j < s->k; j++) {
        const double *rj = s->r + (size_t)j * ld;
        s->forward[j] = (1 - dot(rj, s->forward, j)) / rj[j];
    }
    s->n_forward = s->k;
    memcpy(u, s->forward, (size_t)s->k * sizeof *u);
    for (int j = s->k - 1; j >= 0; j--) {
        const double *rj = s->r + (size_t)j * ld;
        u[j] /= rj[j];
        for (int i = 0; i < j; i++)
            u[i] -= u[j] * rj[i];
    }
    for (int j = 0; j < s->k; j++)
        sum += u[j];
    for (int j = 0; j < s->k; j++)
        u[j] /= sum;
}

/* Goes to the nearest point of the hull, dropping trees whose weights reach 0. */
static void settle_weights(struct split *s)
{
    for (;;) {
        double step = 1;
        affine_weights(s);
        for (int j = 0; j < s->k; j++)
            if (s->alpha[j] < TINY && s->w[j] > s->alpha[j])
                step = fmin(step, s->w[j] / (s->w[j] - s->alpha[j]));
        int before = s->k;
        for (int j = 0; j < s->k; j++)
            s->w[j] += step * (s->alpha[j] - s->w[j]);
        if (step >= 1)
            return;
        for (int j = s->k - 1; j >= 0; j--)
            if (s->w[j] <= TINY)
                drop_tree(s, j);
        if (s->k == before || s->k == 0)
            return;
    }
}

/* What the mix has too much of; returns the largest difference. */
static double residual(struct split *s)
{
    double worst = 0;
    for (int e = 0; e < s->m; e++)
        s->extra[e] = 0;
    for (int i = 0; i < s->n_open; i++) {
        const struct espi_rows *in = &s->support.in;
        for (int k = in->start[s->open[i]]; k < in->start[s->open[i] + 1]; k++)
            s->extra[in->item[k]] = -s->y[in->item[k]];
    }
    for (int j = 0; j < s->k; j++)
        for (int i = 0; i < s->n_open; i++)
            s->extra[s->choice[j][i]] += s->w[j];
    for (int e = 0; e < s->m; e++)
        worst = fmax(worst, fabs(s->extra[e]));
    return worst;
}

/* The trees of the mix become those of the solver. */
static esp_status hand_over(struct split *s, struct espi_pk *k, struct esp_err *err)
{
    int n = s->g->n;
    for (size_t i = 0; i < k->n_trees; i++)
        espi_pk_give_back(k, k->tree[i]);
    k->n_trees = 0;
    for (int h = 0; h < n; h++)
        if (h != s->root)
            s->parent[h] = s->support.in.item[s->support.in.start[h]];
    for (int j = 0; j < s->k; j++) {
        size_t at;
        int fresh;
        for (int i = 0; i < s->n_open; i++)
            s->parent[s->open[i]] = s->choice[j][i];
        for (int h = 0; h < n; h++)
            k->pr.parent_arc[h] = h == s->root ? -1 : s->arc[s->parent[h]];
        if (espi_pk_keep(k, &at, &fresh))
            return espi_err_nomem(err);
        k->tree[at]->x = s->w[j];
    }
    espi_pk_measure(k);
    return ESP_OK;
}

esp_status espi_pk_split(struct espi_pk *k, const double *y, double close_enough,
                         struct espi_arena *arena, struct esp_err *err)
{
    struct split s = {.g = &k->pr.v->g, .root = k->pr.root};
    if (split_init(&s, y, arena))
        return espi_err_nomem(err);
    int rounds = 20 * s.cap + 100;
    for (int e = 0; e < s.m; e++)
        s.extra[e] = -s.y[e];
    while (rounds-- > 0 && !espi_pk_out_of_time(k)) {
        if (cheapest(&s, s.extra))
            break; /* y is no mix of trees */
        int added = add_tree(&s, arena);
        if (added < 0)
            return espi_err_nomem(err);
        if (added)
            break;
        if (s.k == 1)
            s.w[0] = 1;
        settle_weights(&s);
        espi_solve_budget_look(&k->budget, (double)s.k * (s.k + s.n_open) / 16 + s.m);
        k->splits++;
        if (residual(&s) < close_enough)
            break;
    }
    return s.k ? hand_over(&s, k, err) : ESP_OK;
}
