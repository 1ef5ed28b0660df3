/* The exact search against brute force over all trees and all orders of sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include <espalier/espalier.h>

#include "platform/view.h"
#include "support/pace.h"
#include "support/all_trees.h"
#include "support/alloc_fail.h"
#include "support/seed.h"
#include "support/small_platform.h"

static struct esp_plan *planned(const struct esp_platform *p, const char *algo,
                                double count)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err = {0};
    esp_request_init(&request, 0);
    request.algo = algo;
    request.size_bytes = count;
    request.slice_bytes = 1;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s: %s", algo, err.text);
    return plan;
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-11 * fmax(fabs(a), fabs(b))))
        fail_msg("%.15g is not %.15g", a, b);
}

/* Both objectives are met, and none is beaten by the plan for the other. */
static void check_platform(const struct esp_platform *p, double count)
{
    struct espi_arena arena;
    struct espi_view v;
    espi_arena_init(&arena);
    assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
    struct all_trees_best best = all_trees_best(&v, 0, count);
    struct esp_plan *fast = planned(p, "exact", count);
    struct esp_plan *early = planned(p, "exact:objective=makespan", count);
    near(1 / load_Bps(p, fast), best.period_s);
    near(closed_finish_s(p, early), best.makespan_s);
    assert_true(closed_finish_s(p, fast) >= best.makespan_s * (1 - 1e-11));
    assert_true(1 / load_Bps(p, early) >= best.period_s * (1 - 1e-11));
    esp_plan_free(fast);
    esp_plan_free(early);
    espi_arena_done(&arena);
}

static void random_platforms(void **state)
{
    (void)state;
    static const double counts[] = {1, 2, 5, 100};
    static const int whole[] = {0, 1, 2, 9};
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(31));
    for (int round = 0; round < 600; round++) {
        struct small_options o = {.n = 2 + (int)espi_rng_below(&rng, 5),
                                  .model = (esp_model)(round % ESP_MODEL_COUNT)};
        o.density = 1.3 * espi_rng_uniform(&rng);
        o.whole = whole[espi_rng_below(&rng, 4)];
        struct esp_platform *p = small_random(&rng, &o);
        check_platform(p, counts[espi_rng_below(&rng, 4)]);
        esp_platform_free(p);
    }
}

/* Links of all kinds of ways share cables, which often are the last to be through. */
static void shared_cables(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(32));
    for (int round = 0; round < 400; round++) {
        struct small_options o = {.n = 3 + (int)espi_rng_below(&rng, 3),
                                  .model = (esp_model)(round % ESP_MODEL_COUNT),
                                  .cables = 1 + round % 3};
        o.density = 0.4 + 0.6 * espi_rng_uniform(&rng);
        struct esp_platform *p = small_random(&rng, &o);
        check_platform(p, 1 + round % 4);
        esp_platform_free(p);
    }
}

/* Many twins, shared cables, and switches. */
static void platforms_of_sites(void **state)
{
    (void)state;
    for (int round = 0; round < 240; round++) {
        struct esp_sites_options o;
        struct esp_platform *p = NULL, *q = NULL;
        esp_sites_options_defaults(&o);
        o.sites = 2;
        o.clusters = 1;
        o.hosts = 3;
        o.switches = round % 2;
        o.spread = round % 3 ? 1 : 4;
        o.lan_Bps = o.site_Bps = 4;
        o.wan_Bps = round % 5 ? 1 + round / 24 * 0.3 : 3;
        o.lan_latency_s = 0.25;
        o.seed = test_seed((uint64_t)round);
        assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
        esp_model model = (esp_model)(round / 2 % ESP_MODEL_COUNT);
        assert_int_equal(esp_platform_with_model(p, model, &q, NULL), ESP_OK);
        check_platform(q, round < 24 ? 1 + round % 4 * 7 : 1 + round % 3);
        esp_platform_free(p);
        esp_platform_free(q);
    }
}

static struct esp_platform *complete(int n)
{
    struct espi_rng rng;
    struct small_options o = {
        .n = n, .density = 1, .whole = 1, .model = ESP_MODEL_ONE_PORT};
    espi_rng_seed(&rng, test_seed(1));
    return small_random(&rng, &o);
}

/* Equal links: one slice takes as many rounds as doubling needs, the pace is one link's,
 * and a long message goes along a chain of fewer than n hops plus one for each slice. */
static void equal_links(void **state)
{
    (void)state;
    static const int rounds[] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 4, 4};
    for (int n = 2; n <= 10; n++) {
        struct esp_platform *p = complete(n);
        struct esp_plan *one = planned(p, "exact:objective=makespan", 1);
        struct esp_plan *many = planned(p, "exact:objective=makespan", 1000);
        near(one->makespan_s, rounds[n]);
        near(many->makespan_s, n - 1 + 999);
        esp_plan_free(one);
        esp_plan_free(many);
        esp_platform_free(p);
    }
}

static void it_gives_up_and_says_so(void **state)
{
    (void)state;
    struct esp_platform *p = complete(10);
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err = {0};
    esp_request_init(&request, 0);
    request.slice_bytes = 0;
    request.algo = "exact:objective=makespan,steps=50";
    assert_int_equal(esp_plan_make(p, &request, &plan, &err), ESP_EUNSUPPORTED);
    assert_string_equal(err.text,
                        "exact gave up after 50 steps: too many trees of these 10 hosts "
                        "are almost as good as the best (raise the option steps)");
    assert_null(plan);
    esp_platform_free(p);
    p = complete(101);
    request.algo = "exact";
    assert_int_equal(esp_plan_make(p, &request, &plan, &err), ESP_EUNSUPPORTED);
    esp_platform_free(p);
}

static esp_status make_one(void *arg)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    esp_request_init(&request, 0);
    request.algo = "exact";
    esp_status st = esp_plan_make(arg, &request, &plan, NULL);
    esp_plan_free(plan);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = complete(6);
    assert_true(alloc_fail_each(make_one, p) > 3);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_platforms),        cmocka_unit_test(platforms_of_sites),
        cmocka_unit_test(shared_cables),           cmocka_unit_test(equal_links),
        cmocka_unit_test(it_gives_up_and_says_so), cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
