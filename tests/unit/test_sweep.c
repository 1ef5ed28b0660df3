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
#include "support/small_platform.h"

/* ---- platforms ---- */

enum { MAX_PLACES = 64 };

static struct {
    struct esp_platform *p[MAX_PLACES];
    const char *what[MAX_PLACES];
    int n;
} places;

static void add(const char *what, struct esp_platform *p)
{
    assert_true(places.n < MAX_PLACES);
    assert_non_null(p);
    places.what[places.n] = what;
    places.p[places.n++] = p;
}

static void add_random(uint64_t seed)
{
    struct esp_random_options o;
    struct esp_platform *p = NULL;
    esp_random_options_defaults(&o);
    o.nodes = 4 + 5 * (int)seed;
    o.density = 0.1 * (double)seed;
    o.latency_s = 1e-4;
    o.seed = seed;
    assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
    add("random", p);
}

static void add_hub(uint64_t seed)
{
    struct esp_hub_options o;
    struct esp_platform *p = NULL;
    esp_hub_options_defaults(&o);
    o.nodes = 6 + 3 * (int)seed;
    o.attach = 1 + (int)seed % 2;
    o.seed = seed;
    assert_int_equal(esp_generate_hub(&o, &p, NULL), ESP_OK);
    add("hub", p);
}

static void add_complete(uint64_t seed)
{
    struct esp_complete_options o;
    struct esp_platform *p = NULL;
    esp_complete_options_defaults(&o);
    o.nodes = 2 + 3 * (int)seed;
    o.seed = seed;
    if (seed == 2) /* all links alike */
        o.bandwidth.deviation_Bps = 0;
    assert_int_equal(esp_generate_complete(&o, &p, NULL), ESP_OK);
    add("complete", p);
}

static void add_tiers(uint64_t seed)
{
    struct esp_tiers_options o;
    struct esp_platform *p = NULL;
    esp_tiers_options_defaults(&o);
    assert_int_equal(esp_tiers_options_preset(&o, "30", NULL), ESP_OK);
    o.seed = seed;
    assert_int_equal(esp_generate_tiers(&o, &p, NULL), ESP_OK);
    add("tiers", p);
}

static void add_sites(uint64_t seed)
{
    struct esp_sites_options o;
    struct esp_platform *p = NULL;
    esp_sites_options_defaults(&o);
    o.sites = 1 + (int)seed;
    o.clusters = 1 + (int)seed % 2;
    o.hosts = 2;
    o.spread = 1.5;
    o.seed = seed;
    for (o.switches = 0; o.switches < 2; o.switches++) {
        assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
        add(o.switches ? "sites with switches" : "sites with shared cables", p);
    }
}

static void add_matrix(uint64_t seed)
{
    struct esp_matrix_options o;
    struct esp_platform *p = NULL;
    esp_matrix_options_defaults(&o);
    o.nodes = 5 + (int)seed;
    if (seed == 2) { /* nine orders of magnitude */
        o.log = 1;
        o.latency_min_s = 1e-9;
        o.latency_max_s = 1;
        o.bandwidth_min_Bps = 1;
        o.bandwidth_max_Bps = 1e9;
    }
    o.seed = seed;
    assert_int_equal(esp_generate_matrix(&o, &p, NULL), ESP_OK);
    add(seed == 2 ? "matrix, nine orders of magnitude" : "matrix", p);
}

static void add_hnow(void)
{
    struct esp_hnow_options o;
    struct esp_platform *p = NULL;
    esp_hnow_options_defaults(&o);
    o.fast = 3;
    o.slow = 4;
    assert_int_equal(esp_generate_hnow(&o, &p, NULL), ESP_OK);
    add("hnow", p);
}

static void add_by_hand(void)
{
    static const struct small_arc two[] = {{0, 1, 3}};
    static const struct small_arc chain[] = {{0, 1, 1}, {1, 0, 1}, {1, 2, 2},
                                             {2, 1, 2}, {2, 3, 1}, {3, 2, 1}};
    static const struct small_arc star[] = {{0, 1, 1}, {1, 0, 1}, {0, 2, 1},
                                            {2, 0, 1}, {0, 3, 1}, {3, 0, 1}};
    static const struct small_arc ring[] = {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}};
    static const struct small_arc down[] = {{0, 1, 2}, {0, 2, 1}, {1, 3, 1}, {2, 4, 5}};
    add("one host", small_platform(ESP_MODEL_ONE_PORT, 1, NULL, 0));
    add("two hosts", small_platform(ESP_MODEL_ONE_PORT, 2, two, 1));
    add("chain", small_platform(ESP_MODEL_ONE_PORT, 4, chain, 6));
    add("star", small_platform(ESP_MODEL_ONE_PORT, 4, star, 6));
    add("ring in one direction", small_platform(ESP_MODEL_ONE_PORT, 4, ring, 4));
    add("tree with no way back", small_platform(ESP_MODEL_ONE_PORT, 5, down, 4));
}

static int make_places(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        add_random(seed);
        add_hub(seed);
        add_complete(seed);
        add_tiers(seed);
        add_sites(seed);
        add_matrix(seed);
    }
    add_hnow();
    add_by_hand();
    return 0;
}

static int free_places(void **state)
{
    (void)state;
    for (int i = 0; i < places.n; i++)
        esp_platform_free(places.p[i]);
    return 0;
}

/* ---- algorithms, each with each of its choices ---- */

typedef void (*text_fn)(const struct espi_algo *algo, const char *text, void *arg);

/* Algorithms that search are given little to do: how well they search is tested
 * elsewhere. */
static const char *little_effort(const struct espi_algo *algo)
{
    for (const struct espi_algo_option *o = algo->options; o && o->name; o++)
        if (!strcmp(o->name, "steps"))
            return "steps=3000";
        else if (!strcmp(o->name, "work"))
            return "work=50";
    return "";
}

static void each_choice(const struct espi_algo *algo, text_fn fn, void *arg)
{
    const char *effort = little_effort(algo);
    char text[128];
    snprintf(text, sizeof text, "%s%s%s", algo->name, *effort ? ":" : "", effort);
    fn(algo, text, arg);
    for (const struct espi_algo_option *o = algo->options; o && o->name; o++) {
        const char *at = o->choices;
        for (int i = 0; at && *at; i++) {
            int length = (int)strcspn(at, "|");
            snprintf(text, sizeof text, "%s:%s%s%s=%.*s", algo->name, effort,
                     *effort ? "," : "", o->name, length, at);
            if (i != (int)o->standard)
                fn(algo, text, arg);
            at += length + (at[length] == '|');
        }
    }
}

static void each_algo(text_fn fn, void *arg)
{
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    for (int i = 0; i < count; i++)
        each_choice(algos[i], fn, arg);
}

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
    each_algo(described, NULL);
}

/* ---- the sweep ---- */

struct job {
    const struct esp_platform *p;
    const char *what;
    struct esp_request request;
    int made;
};

static void check_figures(const struct job *job, const struct esp_plan *plan)
{
    int some = esp_platform_host_count(job->p) > 1;
    if (!isfinite(plan->throughput_Bps) || !isfinite(plan->makespan_s) ||
        (plan->throughput_Bps > 0) != some || (plan->makespan_s > 0) != some)
        fail_msg("%s on %s: %g B/s, %g s", plan->algo, job->what, plan->throughput_Bps,
                 plan->makespan_s);
    assert_true(plan->plan_s >= 0);
    assert_true(plan->size_bytes == job->request.size_bytes);
}

static void check_written(const struct job *job, const struct esp_plan *plan,
                          const struct esp_plan *again)
{
    size_t n, n2, n3;
    struct esp_plan *read = NULL;
    char *text = plan_json(plan, job->p, &n), *text2 = plan_json(again, job->p, &n2);
    if (n != n2 || memcmp(text, text2, n) != 0)
        fail_msg("%s on %s: not the same plan twice", plan->algo, job->what);
    assert_int_equal(esp_plan_parse(text, n, "plan", job->p, &read, NULL), ESP_OK);
    char *text3 = plan_json(read, job->p, &n3);
    assert_string_equal(text, text3);
    free(text);
    free(text2);
    free(text3);
    esp_plan_free(read);
}

static void try_one(const struct espi_algo *algo, const char *text, void *arg)
{
    struct job *job = arg;
    struct esp_plan *plan = NULL, *again = NULL;
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
    assert_int_equal(esp_plan_make(job->p, &job->request, &again, NULL), ESP_OK);
    check_written(job, plan, again);
    esp_plan_free(plan);
    esp_plan_free(again);
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
        job.request.size_bytes = round ? 1e6 : 1;
        job.request.slice_bytes = round ? 3e4 : 0;
        each_algo(try_one, &job);
        assert_true(job.made > 3);
    }
}

static void sweep(void **state)
{
    (void)state;
    for (int i = 0; i < places.n; i++)
        for (int model = 0; model < ESP_MODEL_COUNT; model++) {
            struct esp_platform *p = NULL;
            assert_int_equal(
                esp_platform_with_model(places.p[i], (esp_model)model, &p, NULL), ESP_OK);
            try_all(p, places.what[i]);
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
        while (strcmp(places.what[k], names[i]) != 0)
            k++;
        for (int model = 0; model < ESP_MODEL_COUNT; model += 2) {
            struct esp_platform *p = NULL;
            assert_int_equal(
                esp_platform_with_model(places.p[k], (esp_model)model, &p, NULL), ESP_OK);
            struct job job = {.p = p, .what = places.what[k]};
            esp_request_init(&job.request, 0);
            job.request.slice_bytes = 1e6; /* left open, auto would try many */
            each_algo(starve, &job);
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
