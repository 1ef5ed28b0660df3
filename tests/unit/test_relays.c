/* Pairs that go straight or by way of one host: against all choices of ways on few hosts,
 * that every way is one, that what is far is gone around, and alltoalls on networks as
 * measured beside the bound and what MPI libraries do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "bound/makespan_bound.h"
#include "native/simulate.h"
#include "support/alloc_fail.h"
#include "support/kinds.h"
#include "support/seed.h"

static const double SIZE = 6e6;

static esp_status make(const struct esp_platform *p, const char *algo,
                       struct esp_plan **plan)
{
    struct esp_request request;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLTOALL;
    request.algo = algo;
    request.size_bytes = SIZE;
    return esp_plan_make(p, &request, plan, NULL);
}

/* Hosts that are all joined, by links of their own. */
struct joined {
    int n;
    double latency_s[8][8], Bps[8][8];
};

static struct esp_platform *join(const struct joined *j)
{
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_CAPACITY);
    for (int i = 0; i < j->n; i++) {
        char name[16];
        struct esp_node_spec spec = {.name = name, .kind = ESP_NODE_HOST};
        snprintf(name, sizeof name, "h%d", i);
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int u = 0; u < j->n; u++)
        for (int v = 0; v < j->n; v++)
            if (u != v)
                assert_int_equal(esp_builder_add_link(b, u, v, j->latency_s[u][v],
                                                      j->Bps[u][v], NULL, NULL),
                                 ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* ---- all choices ---- */

/* Of three hosts the one that is neither. */
static int third(int from, int to)
{
    return 3 - from - to;
}

/* When the last part is there by the links' loads: bit `pair` says that it goes by way of
 * the third host. */
static double chosen_s(const struct joined *j, int choice)
{
    double parts[3][3] = {{0}}, most_s = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int from = 0, pair = 0; from < 3; from++)
            for (int to = 0; to < 3; to++) {
                if (from == to)
                    continue;
                int by = choice >> pair++ & 1 ? third(from, to) : to;
                if (!pass)
                    parts[from][by]++;
                if (!pass && by != to)
                    parts[by][to]++;
                double s = parts[from][by] * SIZE / 6 / j->Bps[from][by];
                double far_s = j->latency_s[from][by];
                if (by != to) {
                    s = fmax(s, parts[by][to] * SIZE / 6 / j->Bps[by][to]);
                    far_s += j->latency_s[by][to];
                }
                most_s = pass ? fmax(most_s, s + far_s) : 0;
            }
    return most_s;
}

static int choice_of(const struct esp_plan *plan)
{
    int choice = 0;
    assert_int_equal(plan->n_trees, 6);
    for (int from = 0, pair = 0; from < 3; from++)
        for (int to = 0; to < 3; to++)
            for (int t = 0; t < 6 && from != to; t++)
                if (plan->trees[t].root == from && plan->trees[t].targets[0] == to)
                    choice |= (plan->trees[t].n_edges > 1) << pair++;
    return choice;
}

static void choices_are_near_the_best_of_all(void **state)
{
    (void)state;
    double sum = 0;
    int rounds = test_draws(60);
    for (int round = 0; round < rounds; round++) {
        struct espi_rng rng;
        struct joined j = {.n = 3};
        struct esp_plan *plan = NULL;
        double best_s = INFINITY;
        espi_rng_seed(&rng, test_seed((uint64_t)round + 1));
        for (int k = 0; k < 9; k++) {
            j.latency_s[k / 3][k % 3] = espi_rng_log_range(&rng, 1e-3, 1);
            j.Bps[k / 3][k % 3] = espi_rng_log_range(&rng, 1e6, 1e8);
        }
        struct esp_platform *p = join(&j);
        assert_int_equal(make(p, "relays", &plan), ESP_OK);
        for (int choice = 0; choice < 1 << 6; choice++)
            best_s = fmin(best_s, chosen_s(&j, choice));
        double s = chosen_s(&j, choice_of(plan));
        assert_true(s >= best_s * (1 - 1e-9) && s <= 2 * best_s);
        sum += s / best_s;
        esp_plan_free(plan);
        esp_platform_free(p);
    }
    assert_true(sum <= 1.1 * rounds);
}

/* ---- what they keep and gain ---- */

static void ways_have_one_host_at_most(void **state)
{
    (void)state;
    int made = 0;
    for (int round = 0; round < test_draws(40); round++) {
        struct esp_platform *p =
            kind_platform(round % KINDS, 3 + round % 7, test_seed((uint64_t)round + 1),
                          (esp_model)(round / KINDS % ESP_MODEL_COUNT));
        struct esp_plan *plan = NULL;
        if (!make(p, "relays", &plan)) {
            made++;
            for (int t = 0; t < plan->n_trees; t++)
                assert_true(plan->trees[t].n_edges <= 2);
        }
        esp_plan_free(plan);
        esp_platform_free(p);
    }
    assert_true(made > 0 || test_draws(40) < 20);
}

/* Two of them are far apart, and near a third. */
static struct esp_platform *far_apart(void)
{
    struct joined j = {.n = 3};
    for (int u = 0; u < 3; u++)
        for (int v = 0; v < 3; v++) {
            j.latency_s[u][v] = u + v == 1 ? 1 : 0.01;
            j.Bps[u][v] = 1e8;
        }
    return join(&j);
}

static void who_is_near_both_passes_on(void **state)
{
    (void)state;
    struct esp_platform *p = far_apart();
    struct esp_plan *relays = NULL, *best = NULL;
    assert_int_equal(make(p, "relays", &relays), ESP_OK);
    assert_int_equal(make(p, "auto", &best), ESP_OK);
    assert_int_equal(choice_of(relays), 1 | 1 << 2); /* from 0 to 1, and from 1 to 0 */
    assert_true(relays->makespan_s < 0.1 && best->makespan_s < 0.1);
    esp_plan_free(relays);
    esp_plan_free(best);
    esp_platform_free(p);
}

/* ---- networks as measured ---- */

static struct esp_platform *measured(int kind, uint64_t seed)
{
    struct esp_measured_options o;
    struct esp_platform *p = NULL;
    esp_measured_options_defaults(&o);
    o.kind = kind;
    o.hosts = 8;
    o.seed = seed;
    assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_OK);
    return p;
}

/* The soonest that Open MPI can be, by any of its algorithms. */
static double library_s(const struct esp_platform *p)
{
    int n;
    double least_s = INFINITY, s = 0;
    const struct espi_native_algo *all = espi_native_algos(&n);
    for (int i = 0; i < n; i++) {
        struct espi_native_run run = {
            .algo = &all[i], .size_bytes = SIZE, .protocol = {.eager_bytes = 65536}};
        if (all[i].op == ESP_OP_ALLTOALL && !espi_native_makespan(p, &run, &s, NULL))
            least_s = fmin(least_s, s);
    }
    return least_s;
}

static void no_library_is_sooner(void **state)
{
    (void)state;
    for (int round = 0; round < test_draws(24); round++) {
        struct esp_platform *p =
            measured(round % ESP_MEASURED_KIND_COUNT, test_seed((uint64_t)round + 1));
        struct esp_plan *plan = NULL;
        assert_int_equal(make(p, "auto", &plan), ESP_OK);
        double s = library_s(p);
        if (!(plan->makespan_s <= 1.001 * s))
            fail_msg("round %d: %g s, a library %g s", round, plan->makespan_s, s);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* Sites around a hub, whose cables are busy about as long as the longest way is. */
static void near_parts_wait_for_far_ones(void **state)
{
    (void)state;
    struct esp_platform *p = measured(ESP_MEASURED_STAR, 8);
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct espi_makespan_task task = {.p = p, .op = ESP_OP_ALLTOALL, .size_bytes = 16e6};
    double bound_s = 0;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLTOALL;
    request.size_bytes = 16e6;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    assert_int_equal(espi_makespan_bound(&task, &bound_s, NULL), ESP_OK);
    assert_true(plan->makespan_s < 1.2 * bound_s);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* ---- memory ---- */

static esp_status plan_relays(void *arg)
{
    struct esp_plan *plan = NULL;
    esp_status st = make(arg, "relays", &plan);
    esp_plan_free(plan);
    return st;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    struct esp_platform *p = far_apart();
    assert_true(alloc_fail_each(plan_relays, p) > 10);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_are_near_the_best_of_all),
        cmocka_unit_test(ways_have_one_host_at_most),
        cmocka_unit_test(who_is_near_both_passes_on),
        cmocka_unit_test(no_library_is_sooner),
        cmocka_unit_test(near_parts_wait_for_far_ones),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
