#include "cli/printing/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/portable_math.h"

/* ---- distributions ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The number of the first value that is at least x. */
static int first_at_least(const double *sorted, int n, double x)
{
    int low = 0;

    while (low < n) {
        int middle = low + (n - low) / 2;
        if (sorted[middle] < x)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

static void add_bin(struct distribution *d, const double *sorted, int n, double from,
                    double to, bool last)
{
    int a = first_at_least(sorted, n, from);
    int b = last ? n : first_at_least(sorted, n, to);

    d->bins[d->n_bins++] = (struct histogram_bin){from, to, b - a};
}

/* The largest of 1, 2, 5 times a power of ten that is at most x. */
static double round_down(double x)
{
    double power = espi_power(10, espi_decade(x));
    double digit = x / power;

    /* A hair of tolerance: negative powers of ten are not exact. */
    return power * (digit >= 5 - 1e-9 ? 5 : digit >= 2 - 1e-9 ? 2 : 1);
}

/* Bins of equal width with round ends. */
static void linear_bins(struct distribution *d, const double *sorted, int n)
{
    double step = round_down((d->max - d->min) / 4);
    double from = floor(d->min / step) * step;

    for (int i = 0; i < SUMMARY_BINS; i++) {
        double to = from + step * (i + 1);
        bool last = to >= d->max || i == SUMMARY_BINS - 1;
        add_bin(d, sorted, n, from + step * i, to, last);
        if (last)
            return;
    }
}

/* Bins that grow by a power of ten; zeroes have one of their own. */
static void decade_bins(struct distribution *d, const double *sorted, int n)
{
    int zeroes = first_at_least(sorted, n, 5e-324); /* derived: the least above 0 */
    int low = espi_decade(sorted[zeroes] * (1 + 1e-9));
    int high = espi_decade(d->max * (1 + 1e-9)) + 1;
    int step = (high - low + SUMMARY_BINS - 3) / (SUMMARY_BINS - 2);

    if (zeroes)
        d->bins[d->n_bins++] = (struct histogram_bin){0, 0, zeroes};
    for (int e = low; e < high; e += step) {
        bool first = e == low;
        add_bin(d, sorted + zeroes, n - zeroes, first ? 0 : espi_power(10, e),
                espi_power(10, e + step), e + step >= high);
        if (first)
            d->bins[d->n_bins - 1].from = espi_power(10, e);
    }
}

/* A bin for each value when there are few; false when there are many. */
static bool value_bins(struct distribution *d, const double *sorted, int n)
{
    enum { FEW = 6 }; /* looks: lines */

    for (int i = 0; i < n && d->n_bins <= FEW; i++) {
        struct histogram_bin *last = d->bins + d->n_bins - 1;
        if (i && sorted[i] == sorted[i - 1])
            last->count++;
        else
            d->bins[d->n_bins++] = (struct histogram_bin){sorted[i], sorted[i], 1};
    }
    if (d->n_bins <= FEW)
        return true;
    d->n_bins = 0;
    return false;
}

static int distribute(const double *values, int n, struct espi_arena *arena,
                      struct distribution *d)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    double *sorted = ESPI_ARENA_NEW(arena, double, n);
    double sum = 0;

    if (!sorted)
        return -1;
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    *d = (struct distribution){.min = sorted[0], .max = sorted[n - 1]};
    for (int i = 0; i < n; i++) {
        sum += values[i] / n; /* divided first: the sum of large ones may overflow */
        d->lowest = values[i] < values[d->lowest] ? i : d->lowest;
        d->highest = values[i] > values[d->highest] ? i : d->highest;
    }
    d->mean = sum;
    d->median = sorted[n / 2] / 2 + sorted[(n - 1) / 2] / 2;
    if (!value_bins(d, sorted, n)) {
        if (d->min > d->max / 10)
            linear_bins(d, sorted, n);
        else
            decade_bins(d, sorted, n);
    }
    espi_arena_release(arena, mark);
    return 0;
}

/* ---- degrees, sites ---- */

static struct degree degrees(const struct espi_rows *rows, int n)
{
    struct degree d = {.min = rows->start[1] - rows->start[0]};

    for (int u = 0; u < n; u++) {
        int degree = rows->start[u + 1] - rows->start[u];
        d.min = degree < d.min ? degree : d.min;
        d.max = degree > d.max ? degree : d.max;
    }
    d.mean = (double)rows->start[n] / n;
    return d;
}

static void count_sites(const struct esp_platform *p, struct summary *s)
{
    for (int u = 0; u < p->n_nodes; u++) {
        if (p->node_site[u] < 0)
            s->siteless++;
        else if (espi_is_switch(p, u))
            s->sites[p->node_site[u]].switches++;
        else
            s->sites[p->node_site[u]].hosts++;
    }
}

/* ---- reach ---- */

/* Marks the nodes that the walk along rows finds; ends[link] is where a link leads.
 * Returns how many. */
static int walk_rows(const struct espi_rows *rows, const int *ends, int start,
                     unsigned char *seen, int *queue)
{
    int n = 1;

    queue[0] = start;
    seen[start] = 1;
    for (int i = 0; i < n; i++)
        for (int k = rows->start[queue[i]]; k < rows->start[queue[i] + 1]; k++) {
            int v = ends[rows->item[k]];
            if (!seen[v]) {
                seen[v] = 1;
                queue[n++] = v;
            }
        }
    return n;
}

static int look_around(const struct esp_platform *p, struct espi_arena *arena,
                       struct summary *s)
{
    int *queue = ESPI_ARENA_NEW(arena, int, p->n_nodes);
    unsigned char *back = ESPI_ARENA_ZNEW(arena, unsigned char, p->n_nodes);

    s->seen = ESPI_ARENA_ZNEW(arena, unsigned char, p->n_nodes);
    if (!queue || !back || !s->seen)
        return -1;
    /* Any node will do for strong connection; the root serves for both. */
    int start = s->root < 0 ? 0 : s->root;
    int forth = walk_rows(&p->out, p->head, start, s->seen, queue);
    s->strongly_connected = forth == p->n_nodes &&
                            walk_rows(&p->in, p->tail, start, back, queue) == p->n_nodes;
    for (int u = 0; u < p->n_nodes; u++)
        s->unreached_hosts += !s->seen[u] && !espi_is_switch(p, u);
    return 0;
}

static int first_host(const struct esp_platform *p)
{
    for (int u = 0; u < p->n_nodes; u++)
        if (!espi_is_switch(p, u))
            return u;
    return -1;
}

int cli_summarize(const struct esp_platform *p, int root, struct espi_arena *arena,
                  struct summary *s)
{
    double n = p->n_nodes;

    *s = (struct summary){.hosts = p->n_hosts,
                          .switches = p->n_nodes - p->n_hosts,
                          .links = p->n_links,
                          .density = n > 1 ? p->n_links / (n * (n - 1)) : 0,
                          .root = root < 0 ? first_host(p) : root};
    if (p->n_nodes == 0)
        return 0;
    s->out = degrees(&p->out, p->n_nodes);
    s->in = degrees(&p->in, p->n_nodes);
    s->sites = ESPI_ARENA_ZNEW(arena, struct site_size, p->n_sites + 1);
    if (!s->sites || look_around(p, arena, s))
        return -1;
    count_sites(p, s);
    if (p->n_links == 0)
        return 0;
    return distribute(p->bandwidth_Bps, p->n_links, arena, &s->bandwidth) ||
                   distribute(p->latency_s, p->n_links, arena, &s->latency)
               ? -1
               : 0;
}
