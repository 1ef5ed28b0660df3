/* Annealing: that a move weighed by its paths costs what the whole tree computed afresh
 * does, the vectors of the papers, and what the three algorithms promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include <espalier/espalier.h>

#include "algo/algo.h"
#include "algo/anneal/anneal.h"
#include "cost/cost.h"
#include "support/all_trees.h"
#include "support/alloc_fail.h"
#include "support/initiation.h"
#include "support/plans.h"
#include "support/seed.h"
#include "support/small_platform.h"

/* ---- moves ---- */

struct bench {
    struct esp_platform *p;
    struct espi_arena arena;
    struct espi_view v;
    struct espi_anneal_net net;
    struct espi_anneal_tree t;
    int *hosts;
};

static void set_up(struct bench *b, struct esp_platform *p,
                   enum espi_anneal_objective objective)
{
    b->p = p;
    espi_arena_init(&b->arena);
    assert_int_equal(espi_view_init(&b->v, p, 1, &b->arena, NULL), ESP_OK);
    b->hosts = ESPI_ARENA_NEW(&b->arena, int, b->v.g.n);
    for (int h = 0; h < b->v.g.n; h++)
        b->hosts[h] = h;
    assert_int_equal(
        espi_anneal_net_init(&b->net, &b->v, b->v.g.n, b->hosts, 0, &b->arena), 0);
    b->net.objective = objective;
    b->net.count = 5;
    assert_int_equal(espi_anneal_tree_init(&b->t, &b->net, &b->arena), 0);
}

static void tear_down(struct bench *b)
{
    espi_arena_done(&b->arena);
    esp_platform_free(b->p);
}

/* The value by the functions that other algorithms use, which share no code with ours. */
static double value_afresh(struct bench *b)
{
    int parent_arc[64], arcs[64];
    double fill_s;
    double *load = ESPI_ARENA_NEW(&b->arena, double, b->v.links.n);
    for (int x = 0; x < b->net.n; x++)
        parent_arc[x] = b->t.up[x] < 0 ? -1 : b->net.arc[b->t.up[x]];
    assert_int_equal(espi_order_tree(&b->v, 0, parent_arc, &b->arena, arcs, &fill_s), 0);
    double period_s = espi_tree_period_s(&b->v, parent_arc, load), count = b->net.count;
    switch (b->net.objective) {
    case ESPI_ANNEAL_FILL:
        return fill_s;
    case ESPI_ANNEAL_THROUGHPUT:
        return period_s;
    default:
        return fmax(fill_s + (count - 1) * period_s, count * period_s);
    }
}

static void assert_near(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)));
}

/* Random moves, taken and left, each checked against the whole. */
static void walk(struct bench *b, struct espi_rng *rng, int steps)
{
    struct espi_anneal_tree *t = &b->t;
    assert_int_equal(espi_anneal_tree_draw(t, 0, rng), 0);
    assert_near(t->value_s, value_afresh(b));
    for (int i = 0; i < steps; i++) {
        int x = 1 + (int)espi_rng_below(rng, (uint32_t)b->net.n - 1);
        int count = b->net.start[x + 1] - b->net.start[x];
        int k = b->net.start[x] + (int)espi_rng_below(rng, (uint32_t)count);
        if (espi_anneal_tree_holds(t, x, b->net.tail[k]))
            continue;
        double before_s = t->value_s, value_s = espi_anneal_tree_weigh(t, x, k);
        uint64_t hash = espi_anneal_tree_next_hash(t);
        if (espi_rng_below(rng, 3)) {
            espi_anneal_tree_take(t);
            assert_true(t->value_s == value_s && t->hash == hash);
            assert_int_equal(t->up[x], k);
        } else {
            espi_anneal_tree_leave(t);
            assert_true(t->value_s == before_s);
        }
        struct espi_arena_mark mark = espi_arena_mark(&b->arena);
        assert_near(t->value_s, value_afresh(b));
        espi_arena_release(&b->arena, mark);
    }
    uint64_t hash = t->hash;
    double value_s = t->value_s;
    espi_anneal_tree_set(t, 0, t->up);
    assert_true(t->hash == hash);
    if (b->net.objective == ESPI_ANNEAL_FILL)
        assert_true(t->value_s == value_s); /* to the last bit */
}

static void a_move_costs_what_the_whole_says(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(7));
    for (int round = 0; round < 240; round++) {
        struct bench b;
        struct small_options o = {.n = 3 + (int)espi_rng_below(&rng, 30),
                                  .whole = round % 2 ? 3 : 0, /* ties */
                                  .model = (esp_model)(round % 3)};
        o.density = 0.1 + 0.9 * espi_rng_uniform(&rng);
        set_up(&b, small_random(&rng, &o), (enum espi_anneal_objective)(round / 3 % 3));
        walk(&b, &rng, 60);
        tear_down(&b);
    }
}

/* ---- the vectors ---- */

static void annealing_finds_the_optimum_of_the_vector(void **state)
{
    static const char *const algos[] = {"basic-sa",
                                        "basic-sa:settings=paper",
                                        "driver-sa",
                                        "clustered-sa",
                                        "driver-sa:settings=paper",
                                        "driver-sa:settings=paper,evaluations=0",
                                        "clustered-sa:settings=paper"};
    (void)state;
    struct esp_platform *p = initiation_platform(&initiation_a1);
    for (size_t i = 0; i < sizeof algos / sizeof *algos; i++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct esp_request request;
            struct esp_plan *plan;
            esp_request_init(&request, 0);
            request.algo = algos[i];
            request.size_bytes = 1;
            request.slice_bytes = 0;
            request.seed = test_seed(seed);
            assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
            if (strncmp(algos[i], "basic", 5) == 0)
                assert_true(plan->makespan_s <= 11);
            else
                assert_true(plan->makespan_s == 10);
            esp_plan_free(plan);
        }
    esp_platform_free(p);
}

/* Table 1 of the paper, and what it says of 20 and of 70 percent. */
static void pools_are_those_of_the_paper(void **state)
{
    static const double table[8][8] = {
        {100, 80, 80, 60, 60, 20, 10, 10}, {80, 100, 80, 60, 60, 20, 10, 10},
        {80, 80, 100, 60, 60, 20, 10, 10}, {60, 60, 60, 100, 80, 40, 50, 50},
        {60, 60, 60, 80, 100, 40, 50, 50}, {20, 20, 20, 40, 40, 100, 30, 30},
        {10, 10, 10, 50, 50, 30, 100, 80}, {10, 10, 10, 50, 50, 30, 80, 100}};
    static const struct {
        double part;
        enum espi_pool_rule rule;
        int count, pool[8];
    } cases[] = {
        {0.20, ESPI_POOL_PAIRS, 2, {0, 0, 0, 0, 0, 0, 1, 1}},
        {0.70, ESPI_POOL_PAIRS, 4, {0, 0, 0, 1, 1, 2, 3, 3}},
        {0.10, ESPI_POOL_PAIRS, 1, {0}},
        {0.25, ESPI_POOL_PAIRS, 2, {0, 0, 0, 0, 0, 1, 1, 1}},
        {0.50, ESPI_POOL_PAIRS, 3, {0, 0, 0, 0, 0, 1, 2, 2}},
        {0.75, ESPI_POOL_PAIRS, 4, {0, 0, 0, 1, 1, 2, 3, 3}},
        {0.20, ESPI_POOL_AVERAGE, 1, {0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int pool[8], size[8];
        double sum[8];
        assert_int_equal(espi_form_pools(8, &table[0][0], cases[i].part, cases[i].rule,
                                         pool, size, sum),
                         cases[i].count);
        assert_memory_equal(pool, cases[i].pool, sizeof pool);
    }
}

/* As formPoolSets is written: every host asks every pool, member by member. */
static int welcome(int n, const double *bandwidth, double least, enum espi_pool_rule rule,
                   const int *pool, int which, int v)
{
    double sum = 0;
    int members = 0;
    for (int u = 0; u < v; u++) {
        if (pool[u] != which)
            continue;
        double both = fmin(bandwidth[u * n + v], bandwidth[v * n + u]);
        if (rule == ESPI_POOL_PAIRS && both < least)
            return 0;
        sum += both;
        members++;
    }
    return sum >= least * members;
}

static void pools_are_those_of_the_plain_reading(void **state)
{
    enum { N = 24 };
    static const double parts[] = {0.1, 0.25, 0.5, 0.75};
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct espi_rng rng;
        double bandwidth[N * N], sum[N], most = 0;
        int pool[N], size[N], plain[N], count = 0;
        enum espi_pool_rule rule = seed % 8 < 4 ? ESPI_POOL_PAIRS : ESPI_POOL_AVERAGE;
        espi_rng_seed(&rng, test_seed(seed));
        for (int i = 0; i < N * N; i++) {
            bandwidth[i] = fmax(0, espi_rng_range(&rng, -0.2, 1));
            most = fmax(most, bandwidth[i]);
        }
        double part = parts[seed % 4];
        for (int v = 0; v < N; v++) {
            plain[v] = 0;
            while (plain[v] < count &&
                   !welcome(N, bandwidth, part * most, rule, plain, plain[v], v))
                plain[v]++;
            count += plain[v] == count;
        }
        assert_int_equal(espi_form_pools(N, bandwidth, part, rule, pool, size, sum),
                         count);
        assert_memory_equal(pool, plain, sizeof pool);
    }
}

/* ---- promises ---- */

static double fill_of(const struct esp_platform *p, const char *algo, double bytes,
                      uint64_t seed)
{
    struct esp_request request;
    struct esp_plan *plan;
    esp_request_init(&request, 0);
    request.algo = algo;
    request.size_bytes = bytes;
    request.slice_bytes = 0;
    request.seed = test_seed(seed);
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    double makespan_s = plan->makespan_s;
    esp_plan_free(plan);
    return makespan_s;
}

/* All trees of small platforms are tried; the search has to find the best. */
static void small_platforms_come_out_optimal(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(77));
    int missed = 0, rounds = 60;
    for (int round = 0; round < rounds; round++) {
        struct small_options o = {.n = 3 + (int)espi_rng_below(&rng, 4),
                                  .whole = round % 2 ? 4 : 0,
                                  .model = (esp_model)(round % 3)};
        o.density = 0.5 + 0.5 * espi_rng_uniform(&rng);
        struct bench b;
        set_up(&b, small_random(&rng, &o), ESPI_ANNEAL_FILL);
        struct all_trees_best best = all_trees_best(&b.v, 0, 1);
        double found_s = fill_of(b.p, "driver-sa", 1, 3);
        assert_true(found_s >= best.fill_s * (1 - 1e-12));
        missed += found_s > best.fill_s * (1 + 1e-12);
        tear_down(&b);
    }
    assert_int_equal(missed, 0);
}

static struct esp_platform *matrix(int nodes, uint64_t seed)
{
    struct esp_matrix_options o;
    struct esp_platform *p = NULL;
    esp_matrix_options_defaults(&o);
    o.nodes = nodes;
    o.bandwidth_min_Bps = 12500;
    o.bandwidth_max_Bps = 1.25e6;
    o.seed = test_seed(seed);
    assert_int_equal(esp_generate_matrix(&o, &p, NULL), ESP_OK);
    return p;
}

static void it_is_no_worse_than_where_it_starts(void **state)
{
    static const char *const algos[] = {"basic-sa:settings=paper", "basic-sa",
                                        "driver-sa:evaluations=100",
                                        "clustered-sa:evaluations=100"};
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct esp_platform *p = matrix(8 + 7 * (int)seed, seed);
        double start_s = fill_of(p, "mateescu", 1e6, 1);
        for (size_t i = 0; i < sizeof algos / sizeof *algos; i++)
            assert_true(fill_of(p, algos[i], 1e6, seed) <= start_s * (1 + 1e-12));
        esp_platform_free(p);
    }
}

/* At equal evaluations, summed over platforms: the settings of ours and the paper's. */
static void own_settings_beat_the_papers(void **state)
{
    (void)state;
    double own_s = 0, paper_s = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct esp_platform *p = matrix(32, 100 + seed);
        own_s += fill_of(p, "clustered-sa:evaluations=500", 1e6, seed);
        paper_s += fill_of(p, "clustered-sa:settings=paper,evaluations=500", 1e6, seed);
        esp_platform_free(p);
    }
    assert_true(own_s <= paper_s);
}

static void the_simulator_can_be_the_objective(void **state)
{
    (void)state;
    struct esp_platform *p = matrix(10, 5);
    struct esp_request request;
    struct esp_plan *plan, *greedy;
    esp_request_init(&request, 0);
    request.size_bytes = 1e6;
    request.algo = "clustered-sa:objective=simulated,evaluations=50";
    request.judge = NULL;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_EUNSUPPORTED);
    request.judge = esp_judge_by_simulation;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    request.algo = "mateescu";
    assert_int_equal(esp_plan_make(p, &request, &greedy, NULL), ESP_OK);
    assert_true(esp_judge_by_simulation(NULL, p, plan) <=
                esp_judge_by_simulation(NULL, p, greedy) * (1 + 1e-12));
    esp_plan_free(plan);
    esp_plan_free(greedy);
    esp_platform_free(p);
}

static void it_ends_when_the_time_is_over(void **state)
{
    (void)state;
    struct esp_platform *p = matrix(40, 1);
    struct esp_request request;
    struct esp_plan *plan;
    esp_request_init(&request, 0);
    request.budget_s = 0.01;
    for (int paper = 0; paper < 2; paper++) {
        request.algo = paper ? "clustered-sa:settings=paper" : "clustered-sa";
        assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
        esp_plan_free(plan);
    }
    esp_platform_free(p);
}

static esp_status make_plan(void *arg)
{
    struct esp_plan *plan;
    struct esp_request request;
    esp_request_init(&request, 0);
    request.algo = "clustered-sa:evaluations=10,objective=makespan";
    esp_status st = esp_plan_make(arg, &request, &plan, NULL);
    if (!st)
        esp_plan_free(plan);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = matrix(20, 3);
    assert_true(alloc_fail_some(make_plan, p, 100) > 10);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_move_costs_what_the_whole_says),
        cmocka_unit_test(annealing_finds_the_optimum_of_the_vector),
        cmocka_unit_test(pools_are_those_of_the_paper),
        cmocka_unit_test(pools_are_those_of_the_plain_reading),
        cmocka_unit_test(small_platforms_come_out_optimal),
        cmocka_unit_test(it_is_no_worse_than_where_it_starts),
        cmocka_unit_test(own_settings_beat_the_papers),
        cmocka_unit_test(the_simulator_can_be_the_objective),
        cmocka_unit_test(it_ends_when_the_time_is_over),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
