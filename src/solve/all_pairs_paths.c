/* From columns, trees of paths, to the paths of each pair. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "solve/all_pairs_impl.h"
#include "solve/tree_mix_lp.h"
#include "solve/tuning.h"

struct taker {
    const struct espi_flow_net *net;
    struct espi_arena *arena;
    int n;
    const int *host;
    struct espi_pair_path *path;
    int n_paths;
    int *pair; /* path -> from * n + to, of hosts */
    double *load;
};

/* The path of a column to a host, from the sender on. */
static int cut_path(struct taker *t, const struct espi_pairs_column *c, int to,
                    struct espi_pair_path *out)
{
    int source = t->host[c->source], length = 0;
    for (int v = t->host[to]; v != source; v = t->net->g.tail[c->into[v]])
        length++;
    int *hops = ESPI_ARENA_NEW(t->arena, int, length);
    if (!hops)
        return -1;
    *out = (struct espi_pair_path){
        .from = source, .to = t->host[to], .n_hops = length, .hops = hops};
    for (int v = t->host[to]; v != source; v = t->net->g.tail[c->into[v]])
        hops[--length] = c->into[v];
    return 0;
}

static int same_hops(const struct espi_pair_path *a, const struct espi_pair_path *b)
{
    return a->n_hops == b->n_hops &&
           !memcmp(a->hops, b->hops, (size_t)a->n_hops * sizeof *a->hops);
}

/* Adds the paths of a pair, each once; those of the pair begin at `first`. */
static int take_pair(struct taker *t, int from, int to,
                     const struct espi_pairs_column *columns, size_t count)
{
    int first = t->n_paths;
    for (size_t i = 0; i < count; i++) {
        struct espi_pair_path path;
        int k = first;
        if (columns[i].source != from || !(columns[i].share > 0))
            continue;
        if (cut_path(t, &columns[i], to, &path))
            return -1;
        while (k < t->n_paths && !same_hops(&t->path[k], &path))
            k++;
        if (k == t->n_paths) {
            t->pair[k] = from * t->n + to;
            t->path[t->n_paths++] = path;
        }
        t->path[k].weight += columns[i].share * t->n;
    }
    return 0;
}

static int take_all(struct taker *t, const struct espi_pairs_column *columns,
                    size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used += columns[i].share > 0;
    size_t room = used * (size_t)(t->n - 1) + 1;
    t->path = ESPI_ARENA_NEW(t->arena, struct espi_pair_path, room);
    t->pair = ESPI_ARENA_NEW(t->arena, int, room);
    t->load = ESPI_ARENA_ZNEW(t->arena, double, t->net->res.n);
    if (!t->path || !t->pair || !t->load)
        return -1;
    for (int from = 0; from < t->n; from++)
        for (int to = 0; to < t->n; to++)
            if (from != to && take_pair(t, from, to, columns, count))
                return -1;
    return 0;
}

static void load_path(const struct taker *t, const struct espi_pair_path *path,
                      double times, double *load)
{
    for (int k = 0; k < path->n_hops; k++)
        espi_resources_add(&t->net->res, path->hops[k], times, load);
}

/* The period with the weights there are. */
static double period_s(struct taker *t)
{
    double most_s = 0;
    memset(t->load, 0, (size_t)t->net->res.n * sizeof *t->load);
    for (int i = 0; i < t->n_paths; i++)
        load_path(t, &t->path[i], t->path[i].weight, t->load);
    for (int r = 0; r < t->net->res.n; r++)
        most_s = fmax(most_s, t->load[r]);
    return most_s;
}

/* Drops what carries nothing, and makes the weights of each pair sum to 1. */
static void tidy_weights(struct taker *t)
{
    int kept = 0;
    for (int first = 0, end; first < t->n_paths; first = end) {
        double sum = 0;
        int begin = kept;
        for (end = first; end < t->n_paths && t->pair[end] == t->pair[first]; end++) {
            if (!(t->path[end].weight > ESPI_ALL_PAIRS_LEAST))
                continue;
            sum += t->path[end].weight;
            t->pair[kept] = t->pair[end];
            t->path[kept++] = t->path[end];
        }
        for (int k = begin; k < kept; k++)
            t->path[k].weight /= sum;
    }
    t->n_paths = kept;
}

/* A program with a row for each pair: at a vertex no more pairs are split than resources
 * bind. */
static esp_status split_few(struct taker *t, double unit_s, struct esp_err *err)
{
    struct espi_tree_mix_lp mx;
    int pairs = t->n * (t->n - 1);
    esp_status st = espi_tree_mix_lp_init_groups(&mx, pairs, t->net->res.n, NULL,
                                                 unit_s / pairs, t->arena, err);
    if (st)
        return st;
    for (int i = 0; i < t->n_paths; i++) {
        int from = t->pair[i] / t->n, to = t->pair[i] % t->n;
        memset(t->load, 0, (size_t)t->net->res.n * sizeof *t->load);
        load_path(t, &t->path[i], 1, t->load);
        espi_tree_mix_lp_add_to(&mx, from * (t->n - 1) + to - (to > from), t->load);
    }
    st = espi_tree_mix_lp_solve(&mx, ESPI_LP_DUAL, NULL, err);
    for (int i = 0; i < t->n_paths && !st; i++)
        t->path[i].weight = fmax(mx.share[i], 0) * pairs;
    espi_tree_mix_lp_free(&mx);
    return st;
}

esp_status espi_pairs_take_paths(const struct espi_flow_net *net, const int *host, int n,
                                 const struct espi_pairs_column *columns, size_t count,
                                 struct espi_arena *arena, struct espi_all_pairs *out,
                                 struct esp_err *err)
{
    struct taker t = {.net = net, .arena = arena, .n = n, .host = host};
    esp_status st = ESP_OK;
    if (take_all(&t, columns, count))
        return espi_err_nomem(err);
    double before_s = period_s(&t);
    if (t.n_paths > n * (n - 1) && n <= ESPI_ALL_PAIRS_SPLIT_HOSTS && before_s > 0)
        st = split_few(&t, before_s, err);
    if (st)
        return st;
    tidy_weights(&t);
    out->period_s = period_s(&t);
    out->n_paths = t.n_paths;
    out->path = t.path;
    return ESP_OK;
}
