/* Networks of the family that bench_finish draws, on which plans once were the latest
 * beside the bound of the makespan: each is held to what it has come to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include <espalier/espalier.h>

#include "platform/generators.h"
#include "support/measured_network.h"
#include "support/seed.h"

struct finish {
    double claimed_s, simulated_s, bound_s;
};

/* The makespan of a broadcast of 64 MB by auto: claimed, fluid, and the bound. */
static struct finish finish_of(const struct esp_platform *p)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_bound_options options;
    struct esp_bound *bound = NULL;
    struct esp_sim_options how;
    struct esp_sim_result *result = NULL;
    esp_request_init(&request, 0);
    request.algo = "auto";
    request.size_bytes = 64e6;
    esp_bound_options_defaults(&options);
    options.makespan = 1;
    esp_sim_options_defaults(&how);
    how.sharing = ESP_SHARING_FLUID;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    assert_int_equal(esp_bound_compute(p, &request, &options, &bound, NULL), ESP_OK);
    assert_int_equal(esp_simulate(p, plan, &how, &result, NULL), ESP_OK);
    struct finish finish = {plan->makespan_s, result->makespan_s, bound->makespan_s};
    esp_sim_result_free(result);
    esp_bound_free(bound);
    esp_plan_free(plan);
    return finish;
}

static void the_latest_of_each_kind_stay_near_the_bound(void **state)
{
    (void)state;
    static const struct {
        int kind, hosts;
        uint64_t seed;
        double once, most; /* what it was, and may be */
    } cases[] = {
        {ESP_MEASURED_FLAT, 30, 32, 1.476, 1.13},
        {ESP_MEASURED_FLAT, 24, 4, 1.244, 1.13},
        {ESP_MEASURED_RACKS, 23, 5, 1.122, 1.04},
        {ESP_MEASURED_FULL, 8, 10, 1.086, 1.09},
        {ESP_MEASURED_CHAIN, 16, 2, 1.049, 1.06},
        {ESP_MEASURED_RING, 22, 7, 1.152, 1.12},
        {ESP_MEASURED_STAR, 17, 4, 1.285, 1.08},
        {ESP_MEASURED_STAR, 13, 10, 1.201, 1.11},
        {ESP_MEASURED_STAR, 23, 27, 1.678, 1.28},
        {ESP_MEASURED_RING, 18, 5, 1.223, 1.24},
        {ESP_MEASURED_FULL, 8, 58, 1.121, 1.09},
        {ESP_MEASURED_FULL, 19, 17, 1.306, 1.23},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct esp_platform *p =
            network_of(cases[i].kind, cases[i].hosts, 0, cases[i].seed);
        struct finish finish = finish_of(p);
        double ratio = finish.simulated_s / finish.bound_s;
        if (!(ratio <= cases[i].most && ratio >= 1 - 1e-9))
            fail_msg("kind %d, %d hosts, seed %d: %.4f", cases[i].kind, cases[i].hosts,
                     (int)cases[i].seed, ratio);
        esp_platform_free(p);
    }
}

/* Before far hosts begin to receive, near ones get more than they keep: who takes the
 * first part of a long message for its pace claims to be earlier than any plan can be
 * (the first case by 8%). */
static void claims_of_long_messages_come_true(void **state)
{
    (void)state;
    struct esp_platform *p = network_of(ESP_MEASURED_FULL, 24, 0, 1);
    struct finish finish = finish_of(p);
    esp_platform_free(p);
    for (int i = 0; i < 6; i++) {
        if (!(finish.claimed_s >= finish.bound_s * (1 - 1e-9)) ||
            !(fabs(finish.claimed_s / finish.simulated_s - 1) < 0.01))
            fail_msg("%d: %g s claimed, %g s simulated, bound %g s", i, finish.claimed_s,
                     finish.simulated_s, finish.bound_s);
        p = network_of(i % ESP_MEASURED_KIND_COUNT, 8 + 2 * i, 0,
                       test_seed((uint64_t)(40 + i)));
        finish = finish_of(p);
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_of_each_kind_stay_near_the_bound),
        cmocka_unit_test(claims_of_long_messages_come_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
