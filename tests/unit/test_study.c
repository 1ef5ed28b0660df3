/* The numbers of the experiments: those of the papers that come out, and what must hold
 * of any draw. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include <espalier/espalier.h>

#include "study/adaptive.h"
#include "study/alltoall.h"
#include "study/study.h"
#include "support/seed.h"

static void every_study_says_what_it_is(void **state)
{
    (void)state;
    int count;
    const struct espi_study *const *studies = espi_studies(&count);
    for (int i = 0; i < count; i++) {
        assert_non_null(studies[i]->run);
        assert_true(strlen(studies[i]->figures) > 0 && strlen(studies[i]->paper) > 0);
        assert_non_null(studies[i]->assumed[0]);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(studies[i]->name, studies[k]->name);
    }
}

/* In microseconds, as docs/allgather.md has them. */
static void agents_cost_what_is_written_down(void **state)
{
    (void)state;
    static const double estimated[2][8] = {
        {1650, 1290, 1270, 1270, 1950, 2240, 2530, 2030},
        {1650, 1330, 1310, 1470, 2210, 2410, 2720, 2030}};
    static const double simulated[2][8] = {
        {1560, 1200, 1200, 1180, 1340, 1500, 1740, 2030},
        {1560, 1240, 1260, 1380, 1560, 1740, 1920, 2030}};
    struct espi_alltoall_agents agents[2];
    assert_int_equal(espi_alltoall_agents(agents, NULL), ESP_OK);
    for (int i = 0; i < 2; i++)
        for (int m = 0; m < 8; m++) {
            assert_true(fabs(1e6 * agents[i].estimate_s[m] - estimated[i][m]) < 0.01);
            assert_true(fabs(1e6 * agents[i].simulated_s[m] - simulated[i][m]) < 0.01);
        }
    assert_int_equal(espi_alltoall_best(agents[0].estimate_s), 4);
    assert_int_equal(espi_alltoall_best(agents[1].estimate_s), 3);
    assert_int_equal(espi_alltoall_best(agents[0].simulated_s), 4);
    assert_int_equal(espi_alltoall_best(agents[1].simulated_s), 2);
}

static void a_trial_knows_its_best(void **state)
{
    (void)state;
    struct esp_platform *p = NULL;
    struct espi_alltoall_trial t;
    assert_int_equal(espi_alltoall_mix(7, 4, test_seed(3), &p, NULL), ESP_OK);
    assert_int_equal(espi_alltoall_try(p, 512, &t, NULL), ESP_OK);
    double least_s = INFINITY;
    for (int i = 0; i < ESPI_ALLTOALL_CLASSICAL; i++)
        least_s = fmin(least_s, t.time_s[i]);
    assert_true(t.classical_s == least_s);
    assert_true(t.gain == least_s / t.time_s[ESPI_ALLTOALL_ALGOS - 1]);
    /* seven hosts are neither a power of two nor even */
    assert_true(isnan(t.time_s[3]) && isnan(t.time_s[5]));
    esp_platform_free(p);
}

/* Workstations of one kind are the paper's fast ones. */
static void a_mix_of_one_speed_is_even(void **state)
{
    (void)state;
    struct esp_platform *p = NULL;
    assert_int_equal(espi_alltoall_mix(4, 1, test_seed(1), &p, NULL), ESP_OK);
    for (int e = 0; e < esp_platform_link_count(p); e++)
        assert_true(fabs(esp_platform_link_latency_s(p, e) - 250e-6) < 1e-12);
    esp_platform_free(p);
}

static void a_tally_adds_up(void **state)
{
    (void)state;
    struct espi_adapt_tally t = {0};
    static const double took_s[3] = {0.5, 1.5, 1};
    for (int i = 0; i < 3; i++) {
        struct espi_adapt_call call = {.loaded = 1};
        for (int k = 0; k < ESPI_ADAPT_MANY; k++)
            call.took_s[k] = 1;
        call.took_s[ESPI_ADAPT_ADAPTIVE] = took_s[i];
        espi_adapt_count(&t, &call);
    }
    assert_int_equal(t.calls[0], 0);
    assert_int_equal(t.calls[1], 3);
    assert_true(t.least[1] == -0.5 && t.most[1] == 0.5 && t.gain[1] == 0);
    assert_true(t.sum_s[1][ESPI_ADAPT_ADAPTIVE] == 3);
}

/* The first calls: the same again, and slices help where there is no load. Loads begin
 * after 60 to 240 s, so that the second call may meet one. */
static void a_course_begins_as_it_should(void **state)
{
    (void)state;
    struct esp_platform *grid = NULL;
    struct espi_adapt_call calls[2], again[2];
    assert_int_equal(espi_adapt_grid(&grid, NULL), ESP_OK);
    assert_int_equal(espi_adapt_course(grid, test_seed(1), 2, calls, NULL), ESP_OK);
    assert_int_equal(espi_adapt_course(grid, test_seed(1), 2, again, NULL), ESP_OK);
    for (int i = 0; i < 2; i++) {
        assert_true(calls[i].at_s == 90 * i);
        for (int k = 0; k < ESPI_ADAPT_MANY; k++) {
            assert_true(calls[i].took_s[k] > 0);
            assert_true(calls[i].took_s[k] == again[i].took_s[k]);
        }
        if (calls[i].loaded)
            continue;
        assert_true(calls[i].took_s[ESPI_ADAPT_SLICED] <
                    calls[i].took_s[ESPI_ADAPT_HIERARCHICAL]);
        assert_true(calls[i].took_s[ESPI_ADAPT_HIERARCHICAL] <
                    calls[i].took_s[ESPI_ADAPT_NATIVE]);
    }
    assert_false(calls[0].loaded);
    assert_true(calls[0].took_s[ESPI_ADAPT_ADAPTIVE] ==
                calls[0].took_s[ESPI_ADAPT_STATIC]);
    esp_platform_free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_study_says_what_it_is),
        cmocka_unit_test(agents_cost_what_is_written_down),
        cmocka_unit_test(a_trial_knows_its_best),
        cmocka_unit_test(a_mix_of_one_speed_is_even),
        cmocka_unit_test(a_tally_adds_up),
        cmocka_unit_test(a_course_begins_as_it_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
