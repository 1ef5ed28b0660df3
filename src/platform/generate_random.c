/* Random platforms, of which nothing is known but the number of nodes and links.
 *
 * random: the platforms of table 2 of Beaumont, Marchal and Robert, "Broadcast trees for
 *     heterogeneous platforms". A plain Bernoulli graph of 10 nodes and density 0.04 is
 *     almost never connected, and the paper does not say how it became so. Here the
 * nodes, in random order, each link to a random earlier one (a random recursive tree),
 * then every other pair of nodes becomes linked with probability density. A link is two
 * opposite arcs with bandwidths of their own. O(nodes + links): the pairs left out are
 * skipped by geometric jumps (Batagelj and Brandes, "Efficient generation of large random
 * networks", 2005). complete: all pairs. O(nodes^2). hub: preferential attachment
 * (Barabasi and Albert, "Emergence of scaling in random networks", 1999): node i links to
 * min(i, attach) different earlier nodes, each chosen with a probability in proportion to
 * the links it has. O(nodes * attach) expected, up to the chance of choosing the same
 * node again. */
#include <math.h>

#include "base/portable_math.h"
#include "platform/generate_common.h"

/* ---- random ---- */

/* parent[i]: the earlier node that i is linked to, -1 for the first. */
static esp_status grow_tree(struct espi_gen *g, const struct esp_random_options *o,
                            int *parent)
{
    int n = o->nodes;
    int *order = ESPI_ARENA_NEW(&g->arena, int, n);
    if (!order)
        return espi_err_nomem(g->err);
    for (int i = 0; i < n; i++)
        order[i] = i;
    espi_rng_shuffle(&g->rng, order, n);

    esp_status status = ESP_OK;
    parent[order[0]] = -1;
    for (int i = 1; i < n && status == ESP_OK; i++) {
        int up = order[espi_rng_below(&g->rng, (uint32_t)i)];
        parent[order[i]] = up;
        status = espi_gen_pair(g, up, order[i], o->latency_s, &o->bandwidth);
    }
    return status;
}

/* How many candidates to leave out before the next that is taken: geometric. A double,
 * as a small density jumps farther than any integer. */
static double draw_gap(struct espi_rng *r, double density)
{
    if (density >= 1)
        return 0;
    return floor(espi_log1p(-espi_rng_uniform(r)) / espi_log1p(-density));
}

/* Walks the pairs u < v, or all ordered pairs (u, v) when directed, row by row. Row u
 * has `row` candidates; `at` is the place in it. */
static esp_status add_links(struct espi_gen *g, const struct esp_random_options *o,
                            const int *parent)
{
    int n = o->nodes, u = 0;
    double at = -1;
    if (o->density <= 0)
        return ESP_OK;
    for (;;) {
        at += 1 + draw_gap(&g->rng, o->density);
        for (int row; u < n && at >= (row = o->directed ? n - 1 : n - 1 - u); u++)
            at -= row;
        if (u >= n)
            return ESP_OK;
        int v = o->directed ? (int)at + ((int)at >= u) : u + 1 + (int)at;
        if (parent[u] == v || parent[v] == u)
            continue;
        esp_status status = o->directed
                                ? espi_gen_link(g, u, v, o->latency_s, &o->bandwidth)
                                : espi_gen_pair(g, u, v, o->latency_s, &o->bandwidth);
        if (status != ESP_OK)
            return status;
    }
}

static esp_status draw_random(struct espi_gen *g, const void *options)
{
    const struct esp_random_options *o = options;
    double n = o->nodes;
    esp_status status = espi_gen_check_links(g, 2 * n + n * (n - 1) * o->density);
    if (status != ESP_OK)
        return status;
    int *parent = ESPI_ARENA_NEW(&g->arena, int, o->nodes);
    if (!parent)
        return espi_err_nomem(g->err);
    status = espi_gen_hosts(g, o->nodes);
    if (status == ESP_OK)
        status = grow_tree(g, o, parent);
    return status == ESP_OK ? add_links(g, o, parent) : status;
}

esp_status esp_generate_random(const struct esp_random_options *options,
                               struct esp_platform **out, struct esp_err *err)
{
    return espi_generate("random", options, draw_random, out, err);
}

/* ---- complete ---- */

static esp_status draw_complete(struct espi_gen *g, const void *options)
{
    const struct esp_complete_options *o = options;
    esp_status status = espi_gen_hosts(g, o->nodes);
    for (int u = 0; u < o->nodes; u++)
        for (int v = u + 1; v < o->nodes && status == ESP_OK; v++)
            status = espi_gen_pair(g, u, v, o->latency_s, &o->bandwidth);
    return status;
}

esp_status esp_generate_complete(const struct esp_complete_options *options,
                                 struct esp_platform **out, struct esp_err *err)
{
    return espi_generate("complete", options, draw_complete, out, err);
}

/* ---- hub ---- */

/* Every link so far stands in ends with both its ends, so that a uniform choice of an
 * end is a choice of a node by its links. chosen[v] == i: v is linked with i already. */
static int choose_hub(struct espi_rng *r, const int *ends, int n_ends, const int *chosen,
                      int i)
{
    int v;
    do
        v = ends[espi_rng_below(r, (uint32_t)n_ends)];
    while (chosen[v] == i);
    return v;
}

static esp_status draw_hub(struct espi_gen *g, const void *options)
{
    const struct esp_hub_options *o = options;
    esp_status status = espi_gen_check_links(g, 2.0 * o->nodes * o->attach);
    if (status != ESP_OK)
        return status;
    int *ends = ESPI_ARENA_NEW(&g->arena, int, 2 * (size_t)o->nodes * (size_t)o->attach);
    int *chosen = ESPI_ARENA_ZNEW(&g->arena, int, o->nodes);
    if (!ends || !chosen)
        return espi_err_nomem(g->err);

    int n_ends = 0;
    status = espi_gen_hosts(g, o->nodes);
    for (int i = 1; i < o->nodes; i++) {
        int first = n_ends;
        for (int k = 0; k < o->attach && k < i && status == ESP_OK; k++) {
            int v = i <= o->attach ? k : choose_hub(&g->rng, ends, first, chosen, i);
            chosen[v] = i;
            ends[n_ends++] = i;
            ends[n_ends++] = v;
            status = espi_gen_pair(g, v, i, o->latency_s, &o->bandwidth);
        }
    }
    return status;
}

esp_status esp_generate_hub(const struct esp_hub_options *options,
                            struct esp_platform **out, struct esp_err *err)
{
    return espi_generate("hub", options, draw_hub, out, err);
}
