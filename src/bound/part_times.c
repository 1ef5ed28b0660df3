/* Scatters with delays. Let S be some targets. What is sent for them uses a link not
 * before a byte can have come there from the root, and not so late that it reaches none
 * of S by the end T; so a resource serves them for T less its delay at most: the least of
 * its links before, and the least of them after. Their parts flow from the root, all of
 * it one flow, since only its sum loads resources: no plan ends before the least T for
 * which a flow loads no resource r for longer than T - delay(r). That is a linear
 * program.
 *
 * Resources with a delay beyond T carry nothing; the program would take them to be why T
 * is large. So their delay counts only as far as T0, before which nothing ends: for every
 * T from T0 on max(0, T - delay) <= T - min(delay, T0).
 *
 * Any S gives a bound. Those tried are the targets farther from the root than some
 * distance: what goes far has to leave early, and what all of these have in common is a
 * long way. Distances are told apart where the gap to the next is widest. */
#include "bound/part_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "bound/tuning.h"
#include "solve/flows.h"

struct parts {
    const struct espi_part_times *t;
    struct espi_flows flows;
    int *targets, n; /* the farthest first */
    unsigned char *gets;
    double *delay_s, *after_s; /* by resource */
    double *left_s;            /* node -> to the nearest target that gets something */
};

static int farthest_first(const void *a, const void *b, void *arg)
{
    const double *from_s = arg;
    int x = *(const int *)a, y = *(const int *)b;
    if (from_s[x] != from_s[y])
        return from_s[x] > from_s[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int parts_init(struct parts *x, const struct espi_part_times *t)
{
    struct espi_arena *arena = t->net->arena;
    const struct espi_flow_net *net = t->flows;
    *x = (struct parts){.t = t, .n = net->n_targets};
    x->targets = ESPI_ARENA_NEW(arena, int, x->n);
    x->gets = ESPI_ARENA_ZNEW(arena, unsigned char, net->g.n);
    x->delay_s = ESPI_ARENA_NEW(arena, double, net->res.n);
    x->after_s = ESPI_ARENA_NEW(arena, double, net->res.n);
    x->left_s = ESPI_ARENA_NEW(arena, double, net->g.n);
    if (!x->targets || !x->gets || !x->delay_s || !x->after_s || !x->left_s)
        return -1;
    memcpy(x->targets, net->targets, (size_t)x->n * sizeof *x->targets);
    qsort_r(x->targets, (size_t)x->n, sizeof *x->targets, farthest_first,
            (void *)t->from_s);
    return 0;
}

/* The delays of resources for what goes to the first n targets, as far as most_s. */
static int find_delays(struct parts *x, int n, double most_s)
{
    const struct espi_part_times *t = x->t;
    const struct espi_resources *r = &t->flows->res;
    espi_cut_net_to_any(t->net, x->targets, n, x->left_s);
    if (espi_cut_net_windows(t->net, t->from_s, x->left_s, t->before_s, t->after_s))
        return -1;
    for (int i = 0; i < r->n; i++)
        x->delay_s[i] = x->after_s[i] = INFINITY;
    for (int e = 0; e < t->flows->g.m; e++)
        for (int k = r->start[e]; k < r->start[e + 1]; k++) {
            int i = r->resource[k];
            x->delay_s[i] = fmin(x->delay_s[i], t->before_s[e]);
            x->after_s[i] = fmin(x->after_s[i], t->after_s[e]);
        }
    for (int i = 0; i < r->n; i++)
        x->delay_s[i] = fmin(x->delay_s[i] + x->after_s[i], most_s);
    return 0;
}

static esp_status time_farthest(struct parts *x, int n, double *end_s,
                                struct esp_err *err)
{
    double found_s = 0;
    struct espi_arena_mark mark = espi_arena_mark(x->t->net->arena);
    memset(x->gets, 0, (size_t)x->t->flows->g.n);
    for (int i = 0; i < n; i++)
        x->gets[x->targets[i]] = 1;
    int bad = find_delays(x, n, *end_s);
    espi_arena_release(x->t->net->arena, mark);
    if (bad)
        return espi_err_nomem(err);
    esp_status st = espi_flows_delayed(&x->flows, x->gets, x->delay_s, &found_s, err);
    if (!st)
        *end_s = fmax(*end_s, found_s);
    return st;
}

/* How much nearer the next one is; of the last, to the root. */
static double gap_after(const struct parts *x, int i)
{
    const double *from_s = x->t->from_s;
    return from_s[x->targets[i]] - (i + 1 < x->n ? from_s[x->targets[i + 1]] : 0);
}

/* Is it one of the widest gaps? */
static int is_wide(const struct parts *x, int i)
{
    int wider = 0;
    for (int k = 0; k < x->n; k++)
        wider += gap_after(x, k) > gap_after(x, i) ||
                 (gap_after(x, k) == gap_after(x, i) && k < i);
    return wider < ESPI_PARTS_DISTANCES && gap_after(x, i) > 0;
}

esp_status espi_parts_s(const struct espi_part_times *t, double *end_s,
                        struct esp_err *err)
{
    struct parts x;
    if (parts_init(&x, t))
        return espi_err_nomem(err);
    esp_status st = espi_flows_init(&x.flows, t->flows, t->net->arena, err);
    if (st)
        return st;
    double all_s = x.flows.period_s;
    *end_s = fmax(*end_s, all_s);
    for (int n = x.n; n > 0 && !st; n--) {
        /* no part of these leaves later than all could have, and travels for longer */
        int hopeless = all_s + t->from_s[x.targets[0]] <= *end_s;
        if (!hopeless && (n == x.n || is_wide(&x, n - 1)))
            st = time_farthest(&x, n, end_s, err);
    }
    espi_flows_free(&x.flows);
    return st;
}
