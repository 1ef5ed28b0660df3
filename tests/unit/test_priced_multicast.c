/* Multicast by price and by time: against all plans there are, on small networks; what
 * deadlines, budgets and weights promise, on larger ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "platform/platform.h"
#include "base/alloc.h"
#include "solve/priced_branch.h"
#include "solve/priced_multicast.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

enum { NODES_MAX = 5, LINKS_MAX = NODES_MAX * NODES_MAX, TREES_MAX = 700 };
static const double near = 1e-6;

/* ---- networks ---- */

static struct esp_platform *draw_network(struct espi_rng *rng, int n, int max_count)
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

static double brute_force(const struct espi_priced_task *task)
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

static struct espi_priced_task draw_task(struct espi_rng *rng,
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

/* With a deadline between the fastest and the cheapest, or a budget. */
static void check_deadlines(const struct espi_priced_task *asked,
                            const struct espi_priced *free_of)
{
    struct espi_priced_task task = *asked;
    struct espi_arena arena;
    struct espi_priced a;
    task.usd_weight = 1;
    task.s_weight = 0;
    task.deadline_s = free_of->time_s * 0.9;
    espi_arena_init(&arena);
    double best = brute_force(&task);
    esp_status st = espi_priced_solve(&task, &arena, &a, NULL);
    assert_int_equal(st, isfinite(best) ? ESP_OK : ESP_EUNSUPPORTED);
    if (!st) {
        assert_true(fabs(a.objective - best) <= best * near);
        assert_true(a.bound <= best * (1 + near));
        task.usd_weight = 0;
        task.s_weight = 1;
        task.deadline_s = INFINITY;
        task.budget_usd = best * 1.1;
        best = brute_force(&task);
        assert_int_equal(espi_priced_solve(&task, &arena, &a, NULL), ESP_OK);
        assert_true(fabs(a.objective - best) <= best * near);
        assert_true(a.bound <= best * (1 + near));
    }
    espi_arena_done(&arena);
}

static void small_networks(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(7));
    for (int i = 0; i < test_draws(60); i++) {
        int targets[NODES_MAX];
        struct esp_platform *p = draw_network(&rng, 4, 2);
        struct espi_priced_task task = draw_task(&rng, p, targets);
        struct espi_arena arena;
        struct espi_priced a;
        struct esp_err err = {0};
        espi_arena_init(&arena);
        if (i % 3 == 1) { /* the fastest */
            task.usd_weight = 0;
            task.s_weight = 1;
        } else if (i % 3 == 2) { /* both */
            task.s_weight = 0.05;
        }
        double best = brute_force(&task);
        assert_int_equal(espi_priced_solve(&task, &arena, &a, &err), ESP_OK);
        assert_true(a.bound <= best * (1 + near));
        assert_true(fabs(a.objective - best) <= best * near);
        assert_true(a.optimal);
        check_deadlines(&task, &a);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* Branch and cut by itself, where the solver would try all plans. Fails if it proves more
 * than is true, or rules out what there is. */
static void check_branching(struct espi_priced_task *task, double best)
{
    struct espi_arena arena;
    struct espi_priced_model m;
    struct espi_priced_bound plain;
    struct espi_priced_pool pool;
    struct espi_priced_mix mix = {.value = {.objective = INFINITY, .excess = INFINITY}};
    struct espi_priced_proof proof = {0};
    espi_arena_init(&arena);
    assert_int_equal(espi_priced_model_init(&m, task, &arena, NULL), ESP_OK);
    assert_int_equal(espi_priced_bound(&m, 20, &arena, &plain, NULL), ESP_OK);
    if (plain.feasible) {
        assert_int_equal(espi_priced_pool_init(&pool, &m, &arena, NULL), ESP_OK);
        assert_int_equal(espi_priced_branch(&m, &plain, &pool, &mix, &proof, NULL),
                         ESP_OK);
        assert_true(mix.value.objective >= best * (1 - near));
        if (isfinite(best))
            assert_true(proof.bound <= best * (1 + near));
        else
            assert_false(isfinite(mix.value.objective));
        espi_free(mix.share);
        espi_priced_pool_done(&pool);
    } else {
        assert_false(isfinite(best));
    }
    espi_arena_done(&arena);
}

static void branching(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(17));
    for (int i = 0; i < test_draws(40); i++) {
        int targets[NODES_MAX];
        struct esp_platform *p = draw_network(&rng, 4, 2);
        struct espi_priced_task task = draw_task(&rng, p, targets);
        struct espi_priced a;
        struct espi_arena arena;
        espi_arena_init(&arena);
        task.partitions = 2;
        assert_int_equal(espi_priced_solve(&task, &arena, &a, NULL), ESP_OK);
        task.s_weight = i % 4 == 3 ? 0.05 : 0;
        check_branching(&task, brute_force(&task));
        double fastest_s = a.fastest_s;
        for (double times = 1.05; times < 4; times *= 1.6) {
            task.deadline_s = times * fastest_s;
            check_branching(&task, brute_force(&task));
        }
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* Of networks that are too large to try all: plans keep what they promise, and no bound
 * is above a plan of a tighter deadline. */
static void larger_networks(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(11));
    for (int i = 0; i < test_draws(4); i++) {
        struct esp_platform *p = draw_network(&rng, 10, 3);
        int targets[16];
        struct espi_priced_task task = draw_task(&rng, p, targets);
        struct espi_priced a;
        struct espi_arena arena;
        double least = INFINITY;
        task.partitions = i % 2 ? 0 : 5;
        task.usd_weight = 0;
        task.s_weight = 1;
        espi_arena_init(&arena);
        assert_int_equal(espi_priced_solve(&task, &arena, &a, NULL), ESP_OK);
        assert_true(a.objective == a.time_s);
        assert_true(a.time_s >= a.bound * (1 - near));
        double fastest_s = a.time_s;
        task.usd_weight = 1;
        task.s_weight = 0;
        for (double times = 1; times < 8; times *= 2) {
            task.deadline_s = times < 4 ? times * fastest_s : INFINITY;
            esp_status st = espi_priced_solve(&task, &arena, &a, NULL);
            assert_true(st == ESP_OK || st == ESP_EUNSUPPORTED);
            assert_true(st == ESP_OK || task.partitions); /* partitions may not fit */
            if (st)
                continue;
            assert_true(a.time_s <= task.deadline_s * (1 + 2 * near));
            assert_true(a.objective >= a.bound * (1 - near));
            assert_true(a.bound <= least * (1 + near) + 1e-12);
            assert_true(fabs(a.usd_bytes + a.usd_machines - a.objective) <=
                        near * (1 + a.objective));
            least = fmin(least, a.objective);
        }
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* Shares of all trees make the whole; each leads to all targets, senders first. */
static void trees_are_trees(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(13));
    for (int i = 0; i < test_draws(6); i++) {
        struct esp_platform *p = draw_network(&rng, 8, 3);
        int targets[16];
        struct espi_priced_task task = draw_task(&rng, p, targets);
        struct espi_priced a;
        struct espi_arena arena;
        double sum = 0;
        task.partitions = i % 3 ? 0 : 10;
        task.s_weight = i % 2;
        task.usd_weight = 1 - i % 2;
        espi_arena_init(&arena);
        assert_int_equal(espi_priced_solve(&task, &arena, &a, NULL), ESP_OK);
        for (int t = 0; t < a.n_trees; t++) {
            unsigned has = 1u << task.root;
            sum += a.trees[t].share;
            if (task.partitions)
                assert_true(fabs(a.trees[t].share * 10 - round(a.trees[t].share * 10)) <
                            1e-9);
            for (int k = 0; k < a.trees[t].n_links; k++) {
                int u = esp_platform_link_from(p, a.trees[t].links[k]);
                int v = esp_platform_link_to(p, a.trees[t].links[k]);
                assert_true(has >> u & 1);
                assert_false(has >> v & 1);
                assert_true(a.machines[u] >= 1 && a.machines[v] >= 1);
                has |= 1u << v;
            }
            for (int k = 0; k < task.n_targets; k++)
                assert_true(has >> targets[k] & 1);
        }
        assert_true(fabs(sum - 1) < 1e-9);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

static esp_status solve_small(void *arg)
{
    struct espi_arena arena;
    struct espi_priced a;
    espi_arena_init(&arena);
    esp_status st = espi_priced_solve(arg, &arena, &a, NULL);
    espi_arena_done(&arena);
    return st;
}

static void without_memory(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, 5);
    struct esp_platform *p = draw_network(&rng, 3, 2);
    int targets[NODES_MAX];
    struct espi_priced_task task = draw_task(&rng, p, targets);
    assert_true(alloc_fail_each(solve_small, &task) > 0);
    esp_platform_free(p);
}

static void refused(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, 3);
    struct esp_platform *p = draw_network(&rng, 4, 2), *other = NULL;
    int targets[NODES_MAX];
    struct espi_priced_task task = draw_task(&rng, p, targets);
    struct espi_priced a = {.time_s = -1};
    struct espi_arena arena;
    struct esp_err err = {0};
    espi_arena_init(&arena);
    task.deadline_s = 1e-3;
    assert_int_equal(espi_priced_solve(&task, &arena, &a, &err), ESP_EUNSUPPORTED);
    assert_non_null(strstr(err.text, "Allow more time"));
    task.deadline_s = INFINITY;
    task.budget_usd = 1e-9;
    assert_int_equal(espi_priced_solve(&task, &arena, &a, &err), ESP_EUNSUPPORTED);
    assert_non_null(strstr(err.text, "Raise the budget"));
    task.budget_usd = INFINITY;
    task.partitions = -1;
    assert_int_equal(espi_priced_solve(&task, &arena, &a, &err), ESP_EUSAGE);
    task.partitions = 1;
    assert_int_equal(esp_platform_with_model(p, ESP_MODEL_ONE_PORT, &other, NULL),
                     ESP_OK);
    task.p = other;
    assert_int_equal(espi_priced_solve(&task, &arena, &a, &err), ESP_EUNSUPPORTED);
    assert_non_null(strstr(err.text, "--model capacity"));
    assert_true(a.time_s == -1);
    espi_arena_done(&arena);
    esp_platform_free(other);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_networks), cmocka_unit_test(larger_networks),
        cmocka_unit_test(branching),      cmocka_unit_test(trees_are_trees),
        cmocka_unit_test(without_memory), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
