/* Areas of a site, by which transfers were held up: a stochastic block model.
 *
 * Of the transfers from one area to another, and back, some part is held up; which part,
 * nobody knows, it depends on the two uplinks. Within an area hardly any is. So a
 * partition of the hosts has a likelihood: within areas by a rate that is known, between
 * two of them by one that is unknown, all rates being as likely (the integral is one over
 * n + 1 times the ways to choose the held ones out of n). That hosts get on with each
 * other is weak evidence that they are of one area, for uplinks may be wide; that they
 * are held up, and by whom, is strong evidence. One host after the other moves to where
 * it is likeliest, areas of its own included, and areas are joined, as long as the
 * likelihood grows.
 *
 * Reference: Karrer and Newman, Stochastic blockmodels and community structure in
 * networks, 2011 (here directed, without their degrees, with rates integrated out).
 * Complexity: a pass takes O(transfers + hosts areas^2 + areas^3). */
#include "measure/area_blocks.h"

#include <math.h>
#include <string.h>

#include "base/portable_math.h"
#include "measure/tuning.h"

enum { PASSES_MAX = 20 }; /* limit */

struct blocks {
    int n;
    const struct espi_held_pair *pairs;
    int *of, *start;   /* host -> the pairs that it is in */
    int *area, *size;  /* host -> area; area -> hosts */
    int *live, n_live; /* areas with hosts */
    int *fast, *held;  /* from area * n + to area */
    int *moving;       /* room: fast out, held out, fast in, held in, of areas */
    double *log_factorial;
};

/* ---- likelihood ---- */

static double block(const struct blocks *b, int same, int fast, int held)
{
    if (same)
        return fast * espi_log(1 - ESPI_HELD_UP_INSIDE) +
               held * espi_log(ESPI_HELD_UP_INSIDE);
    return b->log_factorial[fast] + b->log_factorial[held] -
           b->log_factorial[fast + held + 1];
}

static double block_at(const struct blocks *b, int x, int y)
{
    return block(b, x == y, b->fast[x * b->n + y], b->held[x * b->n + y]);
}

static double all_blocks(const struct blocks *b)
{
    double sum = 0;
    for (int i = 0; i < b->n_live; i++)
        for (int k = 0; k < b->n_live; k++)
            sum += block_at(b, b->live[i], b->live[k]);
    return sum;
}

/* ---- moves ---- */

static void list_live(struct blocks *b)
{
    b->n_live = 0;
    for (int x = 0; x < b->n; x++)
        if (b->size[x])
            b->live[b->n_live++] = x;
}

/* Counts the host's transfers from and to each area. */
static void count_transfers(struct blocks *b, int host)
{
    int n = b->n, *m = b->moving;
    memset(m, 0, 4 * (size_t)n * sizeof *m);
    for (int k = b->start[host]; k < b->start[host + 1]; k++) {
        const struct espi_held_pair *p = &b->pairs[b->of[k]];
        int in = p->b == host, other = b->area[in ? p->a : p->b];
        m[2 * in * n + other] += p->fast;
        m[(2 * in + 1) * n + other] += p->held;
    }
}

/* The host's transfers become those of that area, or are no more. */
static void add_host(struct blocks *b, int host, int x, int by)
{
    int n = b->n;
    for (int i = 0; i < b->n_live; i++) {
        int z = b->live[i];
        b->fast[x * n + z] += by * b->moving[z];
        b->held[x * n + z] += by * b->moving[n + z];
        b->fast[z * n + x] += by * b->moving[2 * n + z];
        b->held[z * n + x] += by * b->moving[3 * n + z];
    }
    b->size[x] += by;
    b->area[host] = x;
}

/* How much likelier the host, which is nowhere, makes all in that area. */
static double weigh_area(const struct blocks *b, int x)
{
    const int n = b->n, *m = b->moving;
    double more = 0;
    for (int i = 0; i < b->n_live; i++) {
        int z = b->live[i], out = x * n + z, in = z * n + x;
        if (z == x)
            more += block(b, 1, b->fast[out] + m[z] + m[2 * n + z],
                          b->held[out] + m[n + z] + m[3 * n + z]) -
                    block_at(b, x, x);
        else
            more += block(b, 0, b->fast[out] + m[z], b->held[out] + m[n + z]) +
                    block(b, 0, b->fast[in] + m[2 * n + z], b->held[in] + m[3 * n + z]) -
                    block_at(b, x, z) - block_at(b, z, x);
    }
    return more;
}

static int free_area(const struct blocks *b)
{
    for (int x = 0; x < b->n; x++)
        if (!b->size[x])
            return x;
    return -1;
}

/* Where it is likeliest; gives whether that is elsewhere. */
static int move_host(struct blocks *b, int host)
{
    int from = b->area[host], best = from, none = free_area(b);
    count_transfers(b, host);
    add_host(b, host, from, -1);
    double most = weigh_area(b, from) + 1e-9; /* rounding */
    for (int i = 0; i <= b->n_live; i++) {
        int x = i < b->n_live ? b->live[i] : none;
        double more = x < 0 || x == from ? -INFINITY : weigh_area(b, x);
        if (more > most) {
            most = more;
            best = x;
        }
    }
    add_host(b, host, best, 1);
    list_live(b);
    return best != from;
}

/* ---- joins ---- */

static double weigh_join(const struct blocks *b, int x, int y)
{
    int n = b->n, xy = x * n + y, yx = y * n + x, xx = x * n + x, yy = y * n + y;
    double more = block(b, 1, b->fast[xx] + b->fast[yy] + b->fast[xy] + b->fast[yx],
                        b->held[xx] + b->held[yy] + b->held[xy] + b->held[yx]) -
                  block_at(b, x, x) - block_at(b, y, y) - block_at(b, x, y) -
                  block_at(b, y, x);
    for (int i = 0; i < b->n_live; i++) {
        int z = b->live[i];
        if (z == x || z == y)
            continue;
        more += block(b, 0, b->fast[x * n + z] + b->fast[y * n + z],
                      b->held[x * n + z] + b->held[y * n + z]) +
                block(b, 0, b->fast[z * n + x] + b->fast[z * n + y],
                      b->held[z * n + x] + b->held[z * n + y]) -
                block_at(b, x, z) - block_at(b, y, z) - block_at(b, z, x) -
                block_at(b, z, y);
    }
    return more;
}

/* The two areas that are likeliest to be one; gives how much likelier that is. */
static double best_join(const struct blocks *b, int *x, int *y)
{
    double most = -INFINITY;
    for (int i = 0; i < b->n_live; i++)
        for (int k = i + 1; k < b->n_live; k++) {
            double more = weigh_join(b, b->live[i], b->live[k]);
            if (more > most) {
                most = more;
                *x = b->live[i];
                *y = b->live[k];
            }
        }
    return most;
}

static void count_all(struct blocks *b)
{
    size_t cells = (size_t)b->n * (size_t)b->n;
    memset(b->fast, 0, cells * sizeof *b->fast);
    memset(b->held, 0, cells * sizeof *b->held);
    memset(b->size, 0, (size_t)b->n * sizeof *b->size);
    for (int h = 0; h < b->n; h++) {
        b->size[b->area[h]]++;
        for (int k = b->start[h]; k < b->start[h + 1]; k++) {
            const struct espi_held_pair *p = &b->pairs[b->of[k]];
            if (p->a != h)
                continue;
            b->fast[b->area[p->a] * b->n + b->area[p->b]] += p->fast;
            b->held[b->area[p->a] * b->n + b->area[p->b]] += p->held;
        }
    }
    list_live(b);
}

static int join_areas(struct blocks *b)
{
    int joined = 0;
    for (int x = 0, y = 0; best_join(b, &x, &y) > 1e-9; joined = 1) { /* rounding */
        for (int h = 0; h < b->n; h++)
            b->area[h] = b->area[h] == y ? x : b->area[h];
        count_all(b);
    }
    return joined;
}

/* ---- the whole ---- */

static int list_pairs(struct blocks *b, int n_pairs)
{
    memset(b->start, 0, ((size_t)b->n + 1) * sizeof *b->start);
    for (int k = 0; k < n_pairs; k++) {
        b->start[b->pairs[k].a]++;
        b->start[b->pairs[k].b]++;
    }
    int all = 0;
    for (int h = 0; h <= b->n; h++) {
        all += h < b->n ? b->start[h] : 0;
        b->start[h] = all;
    }
    for (int k = n_pairs - 1; k >= 0; k--) {
        b->of[--b->start[b->pairs[k].a]] = k;
        b->of[--b->start[b->pairs[k].b]] = k;
    }
    return all;
}

static int blocks_init(struct blocks *b, int n_pairs, struct espi_arena *arena)
{
    size_t n = (size_t)b->n, most = 2;
    for (int k = 0; k < n_pairs; k++)
        most += (size_t)(b->pairs[k].fast + b->pairs[k].held);
    b->of = ESPI_ARENA_NEW(arena, int, 2 * (size_t)n_pairs + 1);
    b->start = ESPI_ARENA_NEW(arena, int, n + 1);
    b->size = ESPI_ARENA_NEW(arena, int, n);
    b->live = ESPI_ARENA_NEW(arena, int, n);
    b->fast = ESPI_ARENA_NEW(arena, int, n *n);
    b->held = ESPI_ARENA_NEW(arena, int, n *n);
    b->moving = ESPI_ARENA_NEW(arena, int, 4 * n);
    b->log_factorial = ESPI_ARENA_NEW(arena, double, most);
    if (!b->of || !b->start || !b->size || !b->live || !b->fast || !b->held ||
        !b->moving || !b->log_factorial)
        return -1;
    b->log_factorial[0] = 0;
    for (size_t k = 1; k < most; k++)
        b->log_factorial[k] = b->log_factorial[k - 1] + espi_log((double)k);
    list_pairs(b, n_pairs);
    count_all(b);
    return 0;
}

int espi_fit_area_blocks(int n, const struct espi_held_pair *pairs, int n_pairs,
                         int *area, struct espi_area_blocks *out,
                         struct espi_arena *arena)
{
    struct blocks b = {.n = n, .pairs = pairs, .area = area};
    struct espi_arena_mark mark = espi_arena_mark(arena);
    if (blocks_init(&b, n_pairs, arena))
        return -1;
    for (int pass = 0, changed = 1; changed && pass < PASSES_MAX; pass++) {
        changed = 0;
        for (int h = 0; h < n; h++)
            changed |= move_host(&b, h);
        changed |= join_areas(&b);
    }
    int x = 0, y = 0;
    *out = (struct espi_area_blocks){.likelihood = all_blocks(&b),
                                     .unsure =
                                         best_join(&b, &x, &y) > espi_log(1 - ESPI_SURE)};
    espi_arena_release(arena, mark);
    return 0;
}
