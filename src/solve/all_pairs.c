/* The best paths of all pairs, by column generation.
 *
 * Pairs of one sender are one commodity: only the sum of what they load matters, and at
 * given prices its cheapest paths come from one search. So the program has a row for each
 * host and each resource, and a column is a tree of shortest paths; its prices, drawn
 * towards those of the best bound so far, ask every host for more. For any prices (sum 1)
 * no plan takes less time than what all pairs pay over their cheapest paths: the dual of
 * the multicommodity flow (F. Shahrokhi, D. Matula, The maximum concurrent flow problem,
 * 1990). Guarantee: period and bound differ by the gap, or what there is when time or
 * work is over. Complexity: a program of hosts + resources rows, and a Dijkstra run for
 * each host and prices. */
#include "solve/all_pairs.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "graph/dijkstra.h"
#include "solve/all_pairs_impl.h"
#include "solve/tree_mix_lp.h"
#include "solve/tuning.h"

struct search {
    const struct espi_flow_net *net;
    struct espi_arena *arena;
    int n, *host; /* number -> node */
    double gap;
    struct espi_dijkstra work;
    double *distance; /* by node */
    int *into;        /* by node: of the last search */
    double *cost;     /* of links, at the prices asked for */
    unsigned char *used;
    double even; /* the price of a resource when all that are used cost the same */
    struct espi_pairs_column *columns;
    size_t n_columns, cap, in_program;
    double lower_s, upper_s; /* mean of the hosts: the n-th part of the period */
    double *price, *asked;   /* those that prove lower_s; scratch */
    double *load;
    struct espi_tree_mix_lp mx;
    struct espi_solve_budget budget;
};

static int is_closed(const struct search *x)
{
    return x->upper_s <= x->lower_s * (1 + x->gap);
}

/* ---- columns ---- */

/* Adds what so many slices from the source to each other host take of the resources. */
static void load_column(const struct search *x, int source, const int *into, double times,
                        double *load)
{
    for (int h = 0; h < x->n; h++)
        for (int v = x->host[h]; v != x->host[source]; v = x->net->g.tail[into[v]])
            espi_resources_add(&x->net->res, into[v], times, load);
}

static int is_known(const struct search *x, int source)
{
    size_t bytes = (size_t)x->net->g.n * sizeof *x->into;
    for (size_t i = 0; i < x->n_columns; i++)
        if (x->columns[i].source == source && !memcmp(x->columns[i].into, x->into, bytes))
            return 1;
    return 0;
}

/* Keeps the paths of the last search; -1: out of memory. */
static int keep_column(struct search *x, int source)
{
    void *array = x->columns;
    size_t nodes = (size_t)x->net->g.n;
    if (is_known(x, source))
        return 0;
    if (espi_grow(&array, &x->cap, x->n_columns + 1, sizeof *x->columns))
        return -1;
    x->columns = array;
    struct espi_pairs_column column = {.source = source};
    column.into = ESPI_ARENA_NEW(x->arena, int, nodes);
    if (!column.into)
        return -1;
    memcpy(column.into, x->into, nodes * sizeof *column.into);
    x->columns[x->n_columns++] = column;
    return 0;
}

/* ---- prices ---- */

/* A little of every resource, so that no path is longer than it has to be. */
static void set_costs(struct search *x)
{
    const struct espi_resources *r = &x->net->res;
    for (int e = 0; e < x->net->g.m; e++) {
        x->cost[e] = 0;
        for (int k = r->start[e]; k < r->start[e + 1]; k++)
            x->cost[e] += x->asked[r->resource[k]] * r->time_s[k];
    }
}

/* Searches from the host, and gives what its pairs pay; infinity: some are not joined. */
static double search_from(struct search *x, int source)
{
    struct espi_dijkstra_query q = {x->cost, &x->host[source], 1, NULL};
    double sum = 0;
    espi_dijkstra(&x->work, &x->net->g, &q, x->distance, x->into);
    for (int h = 0; h < x->n; h++)
        sum += x->distance[x->host[h]];
    return sum;
}

/* Is what the last search has found worth its place in the program? */
static int is_better(struct search *x, int source)
{
    memset(x->load, 0, (size_t)x->net->res.n * sizeof *x->load);
    load_column(x, source, x->into, 1, x->load);
    return espi_tree_mix_lp_cost_s(&x->mx, x->load) <
           x->mx.group_worth_s[source] * (1 - ESPI_ALL_PAIRS_WORTH);
}

/* Asks all hosts at the prices in x->asked: raises the bound, and keeps columns, all or
 * those that are better than what the program has. */
static esp_status ask_all(struct search *x, int all, struct esp_err *err)
{
    double sum_s = 0;
    for (int i = 0; i < x->net->res.n; i++)
        x->asked[i] = (1 - ESPI_ALL_PAIRS_EVEN) * x->asked[i] +
                      (x->used[i] ? ESPI_ALL_PAIRS_EVEN * x->even : 0);
    set_costs(x);
    for (int h = 0; h < x->n; h++) {
        if (espi_solve_budget_is_late(&x->budget))
            return espi_solve_budget_err(err);
        double cost_s = search_from(x, h);
        if (!isfinite(cost_s))
            return espi_err(err, ESP_EINPUT, "some hosts cannot be reached from others");
        sum_s += cost_s;
        if ((all || is_better(x, h)) && keep_column(x, h))
            return espi_err_nomem(err);
    }
    espi_solve_budget_look(&x->budget, (double)x->n * x->net->g.m);
    if (sum_s / x->n > x->lower_s) {
        x->lower_s = sum_s / x->n;
        memcpy(x->price, x->asked, (size_t)x->net->res.n * sizeof *x->price);
    }
    return ESP_OK;
}

/* ---- the program ---- */

/* The mix of shares, each source's made the same, if it is the best so far. */
static int take_mix(struct search *x, const double *share)
{
    struct espi_arena_mark mark = espi_arena_mark(x->arena);
    double *sum = ESPI_ARENA_ZNEW(x->arena, double, x->n), most_s = 0;
    if (!sum)
        return -1;
    memset(x->load, 0, (size_t)x->net->res.n * sizeof *x->load);
    for (size_t i = 0; i < x->n_columns; i++)
        sum[x->columns[i].source] += fmax(share ? share[i] : 1, 0);
    for (size_t i = 0; i < x->n_columns; i++) {
        struct espi_pairs_column *c = &x->columns[i];
        double part = fmax(share ? share[i] : 1, 0) / (sum[c->source] * x->n);
        if (part > 0)
            load_column(x, c->source, c->into, part, x->load);
    }
    for (int r = 0; r < x->net->res.n; r++)
        most_s = fmax(most_s, x->load[r]);
    for (size_t i = 0; i < x->n_columns && most_s < x->upper_s; i++) {
        struct espi_pairs_column *c = &x->columns[i];
        c->share = fmax(share ? share[i] : 1, 0) / (sum[c->source] * x->n);
    }
    x->upper_s = fmin(x->upper_s, most_s);
    espi_arena_release(x->arena, mark);
    return 0;
}

static void add_columns(struct search *x)
{
    for (; x->in_program < x->n_columns; x->in_program++) {
        const struct espi_pairs_column *c = &x->columns[x->in_program];
        memset(x->load, 0, (size_t)x->net->res.n * sizeof *x->load);
        load_column(x, c->source, c->into, 1, x->load);
        espi_tree_mix_lp_add_to(&x->mx, c->source, x->load);
    }
}

/* Prices between the best and the program's, or, when these tell nothing new, the
 * program's alone. */
static esp_status ask_more(struct search *x, struct esp_err *err)
{
    size_t before = x->n_columns;
    esp_status st = ESP_OK;
    for (int own = 0; own < 2 && x->n_columns == before && !st; own++) {
        double part = own ? 0 : ESPI_ALL_PAIRS_SMOOTH;
        for (int r = 0; r < x->net->res.n; r++)
            x->asked[r] = part * x->price[r] + (1 - part) * x->mx.price[r];
        st = ask_all(x, 0, err);
    }
    return st;
}

static esp_status generate_columns(struct search *x, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int pass = 0; pass < ESPI_ALL_PAIRS_PASSES && !st; pass++) {
        size_t before = x->n_columns;
        add_columns(x);
        st = espi_tree_mix_lp_solve(&x->mx, pass ? ESPI_LP_PRIMAL : ESPI_LP_DUAL,
                                    &x->budget, err);
        if (st && st != ESP_ENOMEM && espi_solve_budget_is_over(&x->budget))
            return ESP_OK; /* with the best mix so far */
        if (!st && take_mix(x, x->mx.share))
            st = espi_err_nomem(err);
        if (st || is_closed(x) || espi_solve_budget_is_over(&x->budget))
            break;
        st = ask_more(x, err);
        if (st == ESP_EUNSUPPORTED && espi_solve_budget_is_late(&x->budget))
            return ESP_OK;
        if (x->n_columns == before)
            break;
    }
    return st;
}

/* ---- the whole ---- */

/* Before the program has prices: all that is used costs the same, then those resources
 * more that paths so far load most. */
static esp_status begin_columns(struct search *x, struct esp_err *err)
{
    int n = x->net->res.n;
    esp_status st = ESP_OK;
    for (int r = 0; r < n; r++)
        x->asked[r] = x->used[r] ? x->even : 0;
    for (int round = 0; round < ESPI_ALL_PAIRS_ROUNDS && !st; round++) {
        double sum = 0;
        st = ask_all(x, 1, err);
        if (st == ESP_EUNSUPPORTED && round > 0 && espi_solve_budget_is_late(&x->budget))
            return ESP_OK; /* with the paths of the rounds before */
        if (!st && take_mix(x, NULL))
            st = espi_err_nomem(err);
        if (st || is_closed(x))
            break;
        for (int r = 0; r < n; r++) {
            double full = x->load[r] / x->upper_s;
            x->asked[r] = full * full * full * full;
            sum += x->asked[r];
        }
        for (int r = 0; r < n; r++)
            x->asked[r] /= sum;
    }
    return st;
}

static int search_init(struct search *x)
{
    struct espi_arena *a = x->arena;
    const struct espi_flow_net *net = x->net;
    int used = 0;
    x->host = ESPI_ARENA_NEW(a, int, net->g.n);
    x->distance = ESPI_ARENA_NEW(a, double, net->g.n);
    x->into = ESPI_ARENA_NEW(a, int, net->g.n);
    x->cost = ESPI_ARENA_NEW(a, double, net->g.m);
    x->used = ESPI_ARENA_ZNEW(a, unsigned char, net->res.n);
    x->price = ESPI_ARENA_ZNEW(a, double, net->res.n);
    x->asked = ESPI_ARENA_ZNEW(a, double, net->res.n);
    x->load = ESPI_ARENA_NEW(a, double, net->res.n);
    if (!x->host || !x->distance || !x->into || !x->cost || !x->used || !x->price ||
        !x->asked || !x->load || espi_dijkstra_init(&x->work, net->g.n, a))
        return -1;
    for (int v = 0; v < net->g.n; v++)
        if (!espi_is_switch(net->p, v))
            x->host[x->n++] = v;
    for (int k = 0; k < net->res.start[net->g.m]; k++)
        if (net->res.time_s[k] > 0)
            x->used[net->res.resource[k]] = 1;
    for (int r = 0; r < net->res.n; r++)
        used += x->used[r];
    x->even = used ? 1.0 / used : 0;
    return 0;
}

static esp_status mix_columns(struct search *x, struct esp_err *err)
{
    esp_status st = espi_tree_mix_lp_init_groups(&x->mx, x->n, x->net->res.n, x->used,
                                                 x->lower_s, x->arena, err);
    if (st)
        return st;
    st = generate_columns(x, err);
    espi_tree_mix_lp_free(&x->mx);
    return st;
}

esp_status espi_all_pairs_solve(const struct espi_flow_net *net,
                                const struct espi_all_pairs_options *options,
                                struct espi_arena *arena, struct espi_all_pairs *out,
                                struct esp_err *err)
{
    struct search x = {.net = net, .arena = arena, .upper_s = INFINITY};
    struct espi_all_pairs found = {0};
    x.gap = options->gap > 0 ? options->gap : ESPI_ALL_PAIRS_GAP;
    x.budget = espi_solve_budget_of(options->time_limit_s, options->work_limit);
    if (search_init(&x))
        return espi_err_nomem(err);
    esp_status st = begin_columns(&x, err);
    if (!st && !is_closed(&x) && x.lower_s > 0 && !espi_solve_budget_is_late(&x.budget))
        st = mix_columns(&x, err);
    if (!st && !options->bound_only)
        st = espi_pairs_take_paths(net, x.host, x.n, x.columns, x.n_columns, arena,
                                   &found, err);
    espi_free(x.columns);
    if (st)
        return st;
    found.bound_s = x.lower_s * x.n;
    found.price = x.price;
    if (options->bound_only)
        found.period_s = x.upper_s * x.n;
    *out = found;
    return ESP_OK;
}
