/* Timed trees: where the best end is known by hand the mix comes near it, and everywhere
 * a run takes what the plan says, all bytes carried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "support/alloc_fail.h"
#include "support/measured_network.h"
#include "support/plans.h"
#include "support/seed.h"

static struct esp_plan *plan_by(const struct esp_platform *p, double bytes,
                                double slice_bytes)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    esp_request_init(&request, 0);
    request.algo = "timed-trees";
    request.size_bytes = bytes;
    request.slice_bytes = slice_bytes;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s", err.text);
    return plan;
}

static void add_link(struct esp_builder *b, int from, int to, double latency_s,
                     double Bps)
{
    assert_int_equal(esp_builder_add_link(b, from, to, latency_s, Bps, NULL, NULL),
                     ESP_OK);
}

/* Host b is reached by a thin link at once, and by way of c with wide ones, the second of
 * which is long: by T thin * T + wide * (T - long) bytes can be there. */
static struct esp_platform *two_ways(double thin_Bps, double wide_Bps, double long_s)
{
    static const char *const names[] = {"a", "b", "c"};
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_CAPACITY);
    for (int i = 0; i < 3; i++) {
        struct esp_node_spec spec = {.name = names[i]};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    add_link(b, 0, 1, 0, thin_Bps);
    add_link(b, 0, 2, 0, 4 * wide_Bps);
    add_link(b, 2, 1, long_s, wide_Bps);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

static void what_goes_far_carries_less(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(1));
    for (int i = 0; i < 40; i++) {
        double thin_Bps = espi_rng_log_range(&r, 1e7, 1e8), bytes = 64e6;
        double wide_Bps = thin_Bps * espi_rng_log_range(&r, 1, 5);
        /* up to as long as the thin link takes for nine tenths of the message */
        double long_s = bytes / thin_Bps * 0.9 * espi_rng_uniform(&r);
        double best_s = (bytes + wide_Bps * long_s) / (thin_Bps + wide_Bps);
        struct esp_platform *p = two_ways(thin_Bps, wide_Bps, long_s);
        struct esp_plan *plan = plan_by(p, bytes, bytes / 1000);
        double found_s = fluid_s(p, plan);
        if (!(found_s <= 1.02 * best_s && found_s >= best_s * (1 - 1e-9)))
            fail_msg("%g and %g B/s, %g s: %g s, at best %g s", thin_Bps, wide_Bps,
                     long_s, found_s, best_s);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

static void plans_know_when_they_end(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(2));
    for (int i = 0; i < 24; i++) {
        int kind = (int)espi_rng_below(&r, ESP_MEASURED_KIND_COUNT);
        int hosts = 2 + (int)espi_rng_below(&r, 11);
        double bytes = espi_rng_log_range(&r, 1e6, 1e8);
        struct esp_platform *p = network_of(kind, hosts, 0, espi_rng_below(&r, 1000));
        struct esp_plan *plan = plan_by(p, bytes, bytes / 100);
        double found_s = fluid_s(p, plan), weight = 0;
        for (int t = 0; t < plan->n_trees; t++)
            weight += plan->trees[t].weight;
        assert_true(fabs(weight - 1) < 1e-9);
        assert_true(fabs(plan->makespan_s / found_s - 1) < 1e-3);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

static esp_status make(void *arg)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    esp_request_init(&request, 0);
    request.algo = "timed-trees";
    request.size_bytes = 1e6;
    request.slice_bytes = 1e5;
    esp_status st = esp_plan_make(arg, &request, &plan, NULL);
    esp_plan_free(plan);
    return st;
}

static void failed_allocations_are_told(void **state)
{
    (void)state;
    struct esp_platform *p = network_of(ESP_MEASURED_STAR, 5, 0, 1);
    alloc_fail_each(make, p);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_far_carries_less),
        cmocka_unit_test(plans_know_when_they_end),
        cmocka_unit_test(failed_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
