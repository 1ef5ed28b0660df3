/* spread-pairs: the part of each pair along a path of its own, found around the others.
 *
 * Pairs get their paths one after the other, over arcs whose price rises with the load of
 * what they use; then each gives its path up and looks for a better one, some times
 * round, and the best round is kept. Without rounds every part goes straight: over the
 * arc between the two, or a shortest path. Reference: none; as scatter-spread. Model:
 * any, by its resources. Guarantee: none; a linear program (all-pairs) gives the optimum,
 * and a bound. Complexity: rounds * n^2 shortest paths. Only sums and products, so that
 * all machines find the same. */
#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "algo/congestion.h"
#include "base/err.h"
#include "graph/dijkstra.h"
#include "plan/ops.h"

enum { OPTION_ROUNDS };

static const struct espi_algo_option options[] = {
    {.name = "rounds",
     .standard = 3,
     .min = 0,
     .max = 1000,
     .meaning = "how often each pair looks for a path; 0: all go straight"},
    {0},
};

struct spread {
    const struct espi_view *v;
    struct espi_dijkstra work;
    double *distance; /* of hosts */
    int *last_arc;
    int **path,
        **best; /* from * n + to -> arcs, those of the receiver first; ends in -1 */
    int *arcs;  /* scratch */
    struct espi_congestion roads;
    struct espi_arena *arena;
};

static int spread_init(struct spread *s, const struct espi_task *task)
{
    struct espi_arena *a = task->arena;
    size_t n = (size_t)task->view->g.n;
    *s = (struct spread){.v = task->view, .arena = a};
    s->distance = ESPI_ARENA_NEW(a, double, n);
    s->last_arc = ESPI_ARENA_NEW(a, int, n);
    s->path = ESPI_ARENA_ZNEW(a, int *, n *n);
    s->best = ESPI_ARENA_ZNEW(a, int *, n *n);
    s->arcs = ESPI_ARENA_NEW(a, int, n);
    return s->distance && s->last_arc && s->path && s->best && s->arcs &&
                   !espi_congestion_init(&s->roads, s->v, a) &&
                   !espi_dijkstra_init(&s->work, (int)n, a)
               ? 0
               : -1;
}

static int **path_of(const struct spread *s, int **paths, int from, int to)
{
    return &paths[(size_t)from * (size_t)s->v->g.n + (size_t)to];
}

static void load_path(struct spread *s, const int *path, double sign)
{
    for (int k = 0; path[k] >= 0; k++)
        espi_load_arc(s->v, path[k], sign, s->roads.load_s);
}

/* The path that the search has found; a new one may take the place of one as long. */
static int keep_path(struct spread *s, int from, int to)
{
    int **path = path_of(s, s->path, from, to), n = 0;
    for (int h = to; h != from; h = s->v->g.tail[s->last_arc[h]])
        s->arcs[n++] = s->last_arc[h];
    *path = ESPI_ARENA_NEW(s->arena, int, (size_t)n + 1);
    if (!*path)
        return -1;
    memcpy(*path, s->arcs, (size_t)n * sizeof *s->arcs);
    (*path)[n] = -1;
    return 0;
}

static esp_status find_path(struct spread *s, int from, int to, const double *weight,
                            struct esp_err *err)
{
    struct espi_dijkstra_query q = {weight, &from, 1, NULL};
    espi_dijkstra_start(&s->work, &s->v->g, &q, s->distance, s->last_arc);
    espi_dijkstra_reach(&s->work, &s->v->g, &q, to, s->distance, s->last_arc);
    if (!isfinite(s->distance[to]))
        return espi_err(err, ESP_EUNSUPPORTED, "not every host reaches every other");
    return keep_path(s, from, to) ? espi_err_nomem(err) : ESP_OK;
}

/* All pairs once, those of a shift together, so that no host is favoured. */
static esp_status find_round(struct spread *s, struct esp_err *err)
{
    int n = s->v->g.n;
    esp_status st = ESP_OK;
    for (int shift = 1; shift < n && !st; shift++)
        for (int from = 0; from < n && !st; from++) {
            int to = (from + shift) % n, *old = *path_of(s, s->path, from, to);
            if (old)
                load_path(s, old, -1);
            espi_congestion_price(&s->roads);
            st = find_path(s, from, to, s->roads.weight, err);
            if (!st)
                load_path(s, *path_of(s, s->path, from, to), 1);
        }
    return st;
}

/* Straight, where there is an arc, and by time. */
static esp_status go_straight(struct spread *s, struct esp_err *err)
{
    const struct espi_digraph *g = &s->v->g;
    esp_status st = ESP_OK;
    for (int from = 0; from < g->n && !st; from++) {
        for (int to = 0; to < g->n && !st; to++)
            if (to != from)
                st = find_path(s, from, to, s->v->time_s, err);
        for (int k = g->out.start[from]; k < g->out.start[from + 1] && !st; k++) {
            int arc = g->out.item[k], *path = *path_of(s, s->path, from, g->head[arc]);
            path[0] = arc;
            path[1] = -1;
        }
    }
    memcpy(s->best, s->path, (size_t)g->n * (size_t)g->n * sizeof *s->path);
    return st;
}

/* The path as edges, one an arc. */
static esp_status add_path(const struct spread *s, int from, int to, int *start,
                           int *hops, struct esp_plan *plan, struct esp_err *err)
{
    const struct espi_view *v = s->v;
    const int *path = *path_of(s, s->best, from, to);
    int n = 0, edges = 0;
    double parts = (double)v->g.n * (v->g.n - 1);
    while (path[n] >= 0)
        n++;
    start[0] = 0;
    for (int k = n - 1; k >= 0; k--, edges++) {
        int first = v->hop_start[path[k]], count = v->hop_start[path[k] + 1] - first;
        memcpy(hops + start[edges], v->hops + first, (size_t)count * sizeof *hops);
        start[edges + 1] = start[edges] + count;
    }
    esp_status st = esp_plan_add_tree(plan, v->p, 1 / parts, n, start, hops, err);
    return st ? st : esp_plan_set_tree_ends(plan, v->node[from], 1, &v->node[to], err);
}

static esp_status add_paths(const struct spread *s, struct esp_plan *plan,
                            struct esp_err *err)
{
    int n = s->v->g.n;
    int *start = ESPI_ARENA_NEW(s->arena, int, (size_t)n + 1);
    int *hops = ESPI_ARENA_NEW(s->arena, int, (size_t)n *(size_t)s->v->p->n_nodes + 1);
    esp_status st = start && hops ? ESP_OK : espi_err_nomem(err);
    for (int from = 0; from < n && !st; from++)
        for (int to = 0; to < n && !st; to++)
            if (from != to)
                st = add_path(s, from, to, start, hops, plan, err);
    return st;
}

static esp_status run_spread_pairs(const struct espi_task *task, struct esp_plan *plan,
                                   struct esp_err *err)
{
    struct spread s;
    double least_s = INFINITY;
    int rounds = (int)task->option[OPTION_ROUNDS];
    if (spread_init(&s, task))
        return espi_err_nomem(err);
    size_t bytes = (size_t)s.v->g.n * (size_t)s.v->g.n * sizeof *s.path;
    esp_status st = rounds ? ESP_OK : go_straight(&s, err);
    for (int round = 0; round < rounds && !st; round++) {
        st = find_round(&s, err);
        if (st || espi_congestion_most_s(&s.roads) >= least_s)
            continue;
        least_s = espi_congestion_most_s(&s.roads);
        memcpy(s.best, s.path, bytes);
    }
    return st ? st : add_paths(&s, plan, err);
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK | ESPI_USE_WEIGHED,
     .set = {{OPTION_ROUNDS, 0}},
     .n_set = 1,
     .max_hosts = ESPI_QUICK_SPREAD_PAIRS_HOSTS},
    {.use = ESPI_USE_WEIGHED, .max_hosts = ESPI_SPREAD_PAIRS_HOSTS},
    {.use = 0},
};

const struct espi_algo espi_algo_spread_pairs = {
    .name = "spread-pairs",
    .family = "alltoall",
    .op = ESP_OP_ALLTOALL,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_MANY_TREES,
    .max_hosts = ESPI_PAIRS_HOSTS,
    .paper = "none",
    .complexity = "rounds * n^2 shortest paths",
    .summary = "each pair's part along a path of its own, around those of the others",
    .options = options,
    .uses = uses,
    .run = run_spread_pairs,
};
