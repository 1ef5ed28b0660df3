/* Every algorithm on every small platform: it makes a plan that passes the checker, the
 * same one each time, that is written and read back; or says why not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "algo/algo.h"
#include "plan/ops.h"
#include "support/alloc_fail.h"
#include "support/plans.h"
#include "support/seed.h"
#include "support/sweep.h"

static int make_places(void **state)
{
    (void)state;
    assert_true(sweep_places()->n > 10);
    return 0;
}

static int free_places(void **state)
{
    (void)state;
    sweep_places_free();
    return 0;
}

/* ---- the registry ---- */

static void described(const struct espi_algo *algo, const char *text, void *arg)
{
    const struct espi_algo *found = NULL;
    double values[ESPI_ALGO_OPTIONS_MAX];
    (void)arg;
    assert_int_equal(espi_algo_parse(text, &found, values, NULL), ESP_OK);
    assert_ptr_equal(found, algo);
    assert_non_null(algo->run);
    assert_true(algo->models && !(algo->models & ~ESPI_ALL_MODELS));
    assert_true(strlen(algo->family) > 3 && strlen(algo->paper) > 3);
    assert_true(strlen(algo->complexity) > 3 && strlen(algo->summary) > 10);
    assert_int_equal(strspn(algo->name, "abcdefghijklmnopqrstuvwxyz0123456789-"),
                     strlen(algo->name));
    for (int i = 0; algo->options && algo->options[i].name; i++) {
        assert_true(i < ESPI_ALGO_OPTIONS_MAX - 1 || !algo->options[i + 1].name);
        assert_true(strlen(algo->options[i].meaning) > 5);
    }
}

static void all_are_described(void **state)
{
    (void)state;
    sweep_algos(described, NULL);
}

/* ---- the sweep ---- */

struct job {
    const struct esp_platform *p;
    const char *what;
    struct esp_request request;
    int made;
};

/* Short allreduces may be allgathers, by which every host gets what all have. */
static int messages_of(const struct job *job, const struct esp_plan *plan)
{
    if (plan->op == job->request.op)
        return 1;
    assert_int_equal(job->request.op, ESP_OP_ALLREDUCE);
    assert_int_equal(plan->op, ESP_OP_ALLGATHER);
    return esp_platform_host_count(job->p);
}

static void check_figures(const struct job *job, const struct esp_plan *plan)
{
    int some = esp_platform_host_count(job->p) > 1;
    if (!isfinite(plan->throughput_Bps) || !isfinite(plan->makespan_s) ||
        (plan->throughput_Bps > 0) != some || (plan->makespan_s > 0) != some)
        fail_msg("%s on %s: %g B/s, %g s", plan->algo, job->what, plan->throughput_Bps,
                 plan->makespan_s);
    assert_true(plan->plan_s >= 0);
    assert_true(plan->size_bytes == job->request.size_bytes * messages_of(job, plan));
}

static void check_again(const struct job *job, const char *text, size_t n)
{
    size_t n2;
    struct esp_plan *again = NULL;
    assert_int_equal(esp_plan_make(job->p, &job->request, &again, NULL), ESP_OK);
    char *text2 = plan_json(again, job->p, &n2);
    if (n != n2 || memcmp(text, text2, n) != 0)
        fail_msg("%s on %s: not the same plan twice", again->algo, job->what);
    free(text2);
    esp_plan_free(again);
}

static void check_written(const struct job *job, const struct esp_plan *plan)
{
    size_t n, n3;
    struct esp_plan *read = NULL;
    char *text = plan_json(plan, job->p, &n);
    for (int i = 1; i < test_draws(2); i++)
        check_again(job, text, n);
    assert_int_equal(esp_plan_parse(text, n, "plan", job->p, &read, NULL), ESP_OK);
    char *text3 = plan_json(read, job->p, &n3);
    assert_string_equal(text, text3);
    free(text);
    free(text3);
    esp_plan_free(read);
}

static void try_one(const struct espi_algo *algo, const char *text, void *arg)
{
    struct job *job = arg;
    struct esp_plan *plan = NULL;
    struct esp_err err = {.text = ""};
    job->request.algo = text;
    job->request.op = algo->op;
    esp_status st = esp_plan_make(job->p, &job->request, &plan, &err);
    if (st == ESP_EUNSUPPORTED && strlen(err.text) > 10 && !plan)
        return;
    if (espi_op_frees_roots(algo->op) && strstr(err.text, "no path leads"))
        return; /* all would have to reach all */
    if (st)
        fail_msg("%s on %s (%s): %s", text, job->what,
                 esp_model_name(esp_platform_model(job->p)), err.text);
    assert_true(espi_algo_applies(algo, job->p));
    assert_int_equal(esp_plan_check(plan, job->p, NULL), ESP_OK);
    check_figures(job, plan);
    check_written(job, plan);
    esp_plan_free(plan);
    job->made++;
}

/* Whole messages and slices; the first host as the root and, where that reaches all, the
 * last. */
static void try_all(const struct esp_platform *p, const char *what)
{
    for (int round = 0; round < 2; round++) {
        struct job job = {.p = p, .what = what};
        int root = round ? esp_platform_host_count(p) - 1 : 0;
        if (esp_platform_check_root(p, root, NULL))
            root = 0;
        esp_request_init(&job.request, root);
        job.request.judge = NULL; /* simulating hundreds of trees a plan takes minutes */
        job.request.size_bytes = round ? 1e6 : 1;
        job.request.slice_bytes = round ? 3e4 : 0;
        sweep_algos(try_one, &job);
        assert_true(job.made > 3);
    }
}

static void sweep(void **state)
{
    (void)state;
    for (int i = 0; i < sweep_places()->n; i++)
        for (int model = 0; model < ESP_MODEL_COUNT; model++) {
            struct esp_platform *p = NULL;
            if ((i + model) % 4 >= test_draws(4))
                continue;
            assert_int_equal(
                esp_platform_with_model(sweep_places()->p[i], (esp_model)model, &p, NULL),
                ESP_OK);
            try_all(p, sweep_places()->what[i]);
            esp_platform_free(p);
        }
}

/* ---- memory ---- */

static esp_status make_once(void *arg)
{
    const struct job *job = arg;
    struct esp_plan *plan = NULL;
    esp_status st = esp_plan_make(job->p, &job->request, &plan, NULL);
    esp_plan_free(plan);
    return st;
}

static void starve(const struct espi_algo *algo, const char *text, void *arg)
{
    struct job *job = arg;
    job->request.algo = text;
    job->request.op = algo->op;
    if (!espi_algo_applies(algo, job->p) || make_once(job) == ESP_EUNSUPPORTED)
        return;
    if (alloc_fail_some(make_once, job, 25) < 3)
        fail_msg("%s on %s", text, job->what);
}

static void allocations_may_fail(void **state)
{
    (void)state;
    static const char *const names[] = {"chain", "sites with switches"};
    for (int i = 0; i < 2; i++) {
        int k = 0;
        while (strcmp(sweep_places()->what[k], names[i]) != 0)
            k++;
        for (int model = 0; model < ESP_MODEL_COUNT; model += 2) {
            struct esp_platform *p = NULL;
            assert_int_equal(
                esp_platform_with_model(sweep_places()->p[k], (esp_model)model, &p, NULL),
                ESP_OK);
            struct job job = {.p = p, .what = sweep_places()->what[k]};
            esp_request_init(&job.request, 0);
            job.request.judge =
                NULL; /* simulating hundreds of trees a plan takes minutes */
            job.request.slice_bytes = 1e6; /* left open, auto would try many */
            sweep_algos(starve, &job);
            esp_platform_free(p);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_described),
        cmocka_unit_test(sweep),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, make_places, free_places);
}
