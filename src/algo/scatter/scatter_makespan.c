/* The scatter that is through first, by flows over ways that are short enough.
 *
 * As scatter, one flow carries the data of all targets, but for one message: what is sent
 * last has all of its way still to go. If all paths are in use until the end, that is the
 * period of a flow of the whole message, and the latency of the longest of its ways. So
 * links that are on no short way from the root to a target are left out, those of the
 * longest ways first, as long as what remains gives an earlier end. Reference: none; for
 * the flow as scatter. Model: capacity; elsewhere latencies are part of the loads.
 * Guarantee: none, but that the sum is no more than that of scatter. Complexity: a linear
 * program of links + 1 variables, solved again for some limits of ways. */
#include <math.h>
#include <stdlib.h>

#include "algo/multicast/multicast.h"
#include "algo/tuning.h"
#include "base/err.h"
#include "graph/dijkstra.h"

struct ways {
    const struct espi_flow_net *net;
    double *link_s;       /* link -> the shortest way over it */
    double least_s;       /* all targets are reached by ways of no more */
    double *limit_s;      /* the longest first */
    int n_limits, *group; /* link -> the limit that leaves it out, or -1 */
};

/* Latencies of the shortest ways over all links: from the root, and to some target. */
static int find_ways(struct ways *w, struct espi_arena *arena)
{
    const struct espi_flow_net *net = w->net;
    const struct espi_digraph *g = &net->g;
    struct espi_digraph turned = {g->n, g->m, g->head, g->tail, g->in, g->out};
    const double *latency_s = net->p->latency_s;
    struct espi_dijkstra_query from = {latency_s, &net->root, 1, NULL};
    struct espi_dijkstra_query to = {latency_s, net->targets, net->n_targets, NULL};
    struct espi_dijkstra work;
    int *last_arc = ESPI_ARENA_NEW(arena, int, g->n);
    double *from_s = ESPI_ARENA_NEW(arena, double, g->n);
    double *left_s = ESPI_ARENA_NEW(arena, double, g->n);
    if (!last_arc || !from_s || !left_s || espi_dijkstra_init(&work, g->n, arena))
        return -1;
    espi_dijkstra(&work, g, &from, from_s, last_arc);
    espi_dijkstra(&work, &turned, &to, left_s, last_arc);
    for (int e = 0; e < g->m; e++)
        w->link_s[e] = from_s[g->tail[e]] + latency_s[e] + left_s[g->head[e]];
    for (int i = 0; i < net->n_targets; i++)
        w->least_s = fmax(w->least_s, from_s[net->targets[i]]);
    return 0;
}

static int longest_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Limits spread over the links that may be left out. */
static void choose_limits(struct ways *w)
{
    int m = w->net->g.m, n = 0;
    double *all_s = w->limit_s;
    for (int e = 0; e < m; e++)
        if (w->link_s[e] > w->least_s && isfinite(w->link_s[e]))
            all_s[n++] = w->link_s[e];
    qsort(all_s, (size_t)n, sizeof *all_s, longest_first);
    for (int i = 1; i <= ESPI_WAY_LIMITS && n > 0; i++) {
        int at = (int)((int64_t)i * n / ESPI_WAY_LIMITS);
        double limit_s = at < n ? all_s[at] : w->least_s;
        if (w->n_limits == 0 || limit_s < w->limit_s[w->n_limits - 1])
            all_s[w->n_limits++] = limit_s; /* no place that is still to be read */
    }
}

static int ways_init(struct ways *w, const struct espi_flow_net *net,
                     struct espi_arena *arena)
{
    int m = net->g.m;
    *w = (struct ways){.net = net};
    w->link_s = ESPI_ARENA_NEW(arena, double, m);
    w->limit_s = ESPI_ARENA_NEW(arena, double, (size_t)m + 1);
    w->group = ESPI_ARENA_NEW(arena, int, m);
    if (!w->link_s || !w->limit_s || !w->group || find_ways(w, arena))
        return -1;
    choose_limits(w);
    for (int e = 0; e < m; e++) {
        w->group[e] = -1;
        for (int i = w->n_limits - 1; i >= 0; i--)
            if (w->link_s[e] > w->limit_s[i])
                w->group[e] = i;
    }
    return 0;
}

/* The longest of the shortest ways over links with flow. */
static double longest_s(const struct ways *w, const double *flow)
{
    double most_s = 0;
    for (int e = 0; e < w->net->g.m; e++)
        if (flow[e] > 1e-9)
            most_s = fmax(most_s, w->link_s[e]);
    return most_s;
}

/* Leaves out more and more; the plan gets the flow with the earliest end. */
static esp_status shorten_ways(const struct ways *w, struct espi_flows *flows,
                               const struct espi_task *task, struct esp_plan *plan,
                               struct esp_err *err)
{
    double best_s = flows->period_s + longest_s(w, espi_flows_of(flows, 0));
    struct espi_flow_path *paths = NULL;
    int n_paths = 0;
    esp_status st = espi_flows_group(flows, w->n_limits, w->group, err);
    if (!st && espi_flows_paths(flows, &paths, &n_paths, task->arena))
        st = espi_err_nomem(err);
    for (int i = 0; i < w->n_limits && !st; i++) {
        st = espi_flows_close(flows, i, err);
        double end_s = flows->period_s + longest_s(w, espi_flows_of(flows, 0));
        if (st || !(end_s < best_s))
            continue;
        best_s = end_s;
        if (espi_flows_paths(flows, &paths, &n_paths, task->arena))
            st = espi_err_nomem(err);
    }
    return st ? st : espi_add_paths(task, paths, n_paths, w->net->n_targets, plan, err);
}

static esp_status run_scatter_makespan(const struct espi_task *task,
                                       struct esp_plan *plan, struct esp_err *err)
{
    const struct esp_request *r = task->request;
    struct espi_flow_net net;
    struct espi_flows flows;
    struct ways w;
    int targets = r->targets ? r->n_targets : task->view->g.n - 1;
    if (espi_flow_net_init(&net, task->p, r->size_bytes / targets, r->root, r->n_targets,
                           r->targets, task->arena) ||
        ways_init(&w, &net, task->arena))
        return espi_err_nomem(err);
    esp_status st = espi_flows_init(&flows, &net, task->arena, err);
    if (st)
        return st;
    st = shorten_ways(&w, &flows, task, plan, err);
    espi_flows_free(&flows);
    return st;
}

const struct espi_algo espi_algo_scatter_makespan = {
    .name = "scatter-makespan",
    .family = "scatter",
    .op = ESP_OP_SCATTER,
    .models = ESPI_MODEL_BIT(ESP_MODEL_CAPACITY),
    .flags = ESPI_ALGO_NEEDS_LP,
    .paper = "none",
    .complexity = "a few linear programs, m variables",
    .summary = "as scatter, for one message: over ways that are not too long for it",
    .run = run_scatter_makespan,
};
