#include "support/priced_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "platform/platform.h"

enum { LINKS_MAX = NODES_MAX * NODES_MAX, TREES_MAX = 700 };
/* ---- networks ---- */

struct esp_platform *priced_draw_network(struct espi_rng *rng, int n, int max_count)
{
    struct esp_builder *b;
    struct esp_platform *p = NULL;
    int out[16], n_out = 0;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_CAPACITY);
    for (int v = 0; v < n; v++) {
        char name[16];
        struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
        snprintf(name, sizeof name, "n%d", v);
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
        struct esp_machines m;
        m.usd_per_hour = espi_rng_range(rng, 0, 40);
        m.max_count = 1 + (int)espi_rng_below(rng, (uint32_t)max_count);
        assert_int_equal(esp_builder_set_machines(b, v, &m, NULL), ESP_OK);
    }
    for (int u = 0; u < n; u++)
        for (int v = 0; v < n; v++) {
            int link;
            if (u == v || (u && espi_rng_below(rng, 8) == 0))
                continue;
            assert_int_equal(esp_builder_add_link(
                                 b, u, v, 0, espi_rng_range(rng, 1e8, 1e9), &link, NULL),
                             ESP_OK);
            double usd = (double)espi_rng_below(rng, 5) / 100;
            assert_int_equal(esp_builder_set_link_price(b, link, usd, NULL), ESP_OK);
            if (u == 0)
                out[n_out++] = link;
        }
    if (espi_rng_below(rng, 2))
        assert_int_equal(esp_builder_add_cable(b, "port", 6e8, out, n_out, NULL), ESP_OK);
    int sea[2] = {0, n_out}; /* links of different ends */
    if (espi_rng_below(rng, 3) == 0)
        assert_int_equal(esp_builder_add_cable(b, "sea", 5e8, sea, 2, NULL), ESP_OK);
    if (esp_builder_set_cable_price(b, 0, 0.01, NULL) != ESP_OK)
        sea[0] = 0; /* there is no cable */
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* ---- all plans ---- */

struct all_plans {
    const struct espi_priced_task *task;
    int n_trees;
    int tree[TREES_MAX][LINKS_MAX]; /* links, ended by -1 */
    double best;
};

/* Adds the tree of these parents (-1: not in the tree), if it is one without idle leaves.
 */
static void add_if_tree(struct all_plans *all, const int *parent, int n)
{
    int root = all->task->root, count = 0;
    unsigned targets = 0, sends = 0;
    for (int i = 0; i < all->task->n_targets; i++)
        targets |= 1u << all->task->targets[i];
    for (int v = 0; v < n; v++) {
        int steps = 0, u = v;
        if (parent[v] < 0 && (targets >> v & 1))
            return;
        if (parent[v] < 0)
            continue;
        if (esp_platform_find_link(all->task->p, parent[v], v) < 0)
            return;
        for (; u != root && u >= 0 && steps <= n; steps++)
            u = parent[u];
        if (u != root)
            return;
        sends |= 1u << parent[v];
    }
    for (int v = 0; v < n; v++)
        if (parent[v] >= 0) {
            if (!(targets >> v & 1) && !(sends >> v & 1))
                return;
            all->tree[all->n_trees][count++] =
                esp_platform_find_link(all->task->p, parent[v], v);
        }
    all->tree[all->n_trees++][count] = -1;
    assert_true(all->n_trees < TREES_MAX);
}

static void list_trees(struct all_plans *all)
{
    int n = esp_platform_node_count(all->task->p), parent[NODES_MAX], total = 1;
    for (int i = 1; i < n; i++)
        total *= n;
    for (int code = 0; code < total; code++) {
        int rest = code, ok = 1;
        for (int v = 0; v < n; v++) {
            parent[v] = -1;
            if (v == all->task->root)
                continue;
            parent[v] = rest % n == v ? -1 : rest % n;
            rest /= n;
        }
        if (ok)
            add_if_tree(all, parent, n);
    }
}

/* Seconds that the usage takes with these machines. */
static double usage_s(const struct espi_priced_task *task, const double *bytes,
                      const int *count)
{
    const struct esp_platform *p = task->p;
    double most = 0;
    for (int e = 0; e < esp_platform_link_count(p); e++) {
        int u = esp_platform_link_from(p, e), v = esp_platform_link_to(p, e);
        int pairs = count[u] < count[v] ? count[u] : count[v];
        if (bytes[e] > 0)
            most = fmax(most, bytes[e] / esp_platform_link_bandwidth_Bps(p, e) / pairs);
    }
    for (int s = 0; s < esp_platform_cable_count(p); s++) {
        double sum = 0, times = 1;
        if (!strcmp(esp_platform_cable_name(p, s), "port"))
            times = count[0];
        for (int i = 0; i < esp_platform_cable_link_count(p, s); i++)
            sum += bytes[esp_platform_cable_link(p, s, i)];
        most = fmax(most, sum / esp_platform_cable_bandwidth_Bps(p, s) / times);
    }
    return most;
}

static double usage_usd(const struct espi_priced_task *task, const double *bytes)
{
    const struct esp_platform *p = task->p;
    double usd = 0;
    for (int e = 0; e < esp_platform_link_count(p); e++)
        usd += bytes[e] / 1e9 * esp_platform_link_price(p, e);
    for (int s = 0; s < esp_platform_cable_count(p); s++)
        for (int i = 0; i < esp_platform_cable_link_count(p, s); i++)
            usd += bytes[esp_platform_cable_link(p, s, i)] / 1e9 *
                   esp_platform_cable_price(p, s);
    return usd;
}

/* All numbers of machines. */
static void try_machines(struct all_plans *all, const double *bytes,
                         const unsigned char *used, int *count, int v)
{
    const struct espi_priced_task *task = all->task;
    int n = esp_platform_node_count(task->p);
    if (v < n) {
        int most = used[v] ? esp_platform_node_machines(task->p, v).max_count : 1;
        for (int k = 1; k <= most; k++) {
            count[v] = k;
            try_machines(all, bytes, used, count, v + 1);
        }
        return;
    }
    double s = usage_s(task, bytes, count), usd = usage_usd(task, bytes);
    for (int w = 0; w < n; w++)
        if (used[w])
            usd +=
                count[w] * esp_platform_node_machines(task->p, w).usd_per_hour * s / 3600;
    if (s > task->deadline_s || usd > task->budget_usd)
        return;
    double objective = 0;
    if (task->usd_weight > 0)
        objective += task->usd_weight * usd;
    if (task->s_weight > 0)
        objective += task->s_weight * s;
    all->best = fmin(all->best, objective);
}

/* All ways to give trees to the partitions from `first` on, trees in ascending order. */
static void try_partitions(struct all_plans *all, double *bytes, int first, int tree)
{
    const struct espi_priced_task *task = all->task;
    if (first == task->partitions) {
        unsigned char used[NODES_MAX] = {0};
        int count[NODES_MAX];
        used[task->root] = 1;
        for (int e = 0; e < esp_platform_link_count(task->p); e++)
            if (bytes[e] > 0) {
                used[esp_platform_link_from(task->p, e)] = 1;
                used[esp_platform_link_to(task->p, e)] = 1;
            }
        try_machines(all, bytes, used, count, 0);
        return;
    }
    for (int t = tree; t < all->n_trees; t++) {
        double part = task->size_bytes / task->partitions, kept[LINKS_MAX];
        memcpy(kept, bytes, sizeof kept);
        for (int i = 0; all->tree[t][i] >= 0; i++)
            bytes[all->tree[t][i]] += part;
        try_partitions(all, bytes, first + 1, t);
        memcpy(bytes, kept, sizeof kept);
    }
}

double priced_try_all_plans(const struct espi_priced_task *task)
{
    static struct all_plans all;
    double bytes[LINKS_MAX] = {0};
    all.task = task;
    all.n_trees = 0;
    all.best = INFINITY;
    list_trees(&all);
    try_partitions(&all, bytes, 0, 0);
    return all.best;
}

struct espi_priced_task priced_draw_task(struct espi_rng *rng,
                                         const struct esp_platform *p, int *targets)
{
    int n = esp_platform_node_count(p);
    struct espi_priced_task task = {.p = p,
                                    .targets = targets,
                                    .size_bytes = 100e9,
                                    .usd_weight = 1,
                                    .deadline_s = INFINITY,
                                    .budget_usd = INFINITY};
    for (int v = 1; v < n; v++)
        targets[v - 1] = v;
    espi_rng_shuffle(rng, targets, n - 1);
    task.n_targets = 1 + (int)espi_rng_below(rng, (uint32_t)n - 2);
    task.partitions = 1 + (int)espi_rng_below(rng, 2);
    return task;
}
