/* What the public library gives to strangers: bounds, traces, and simulations, which who
 * listens may end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include <espalier/espalier.h>

#include "support/stranger.h"

/* ---- bounds ---- */

static void bounds_of_all_operations(void **state)
{
    (void)state;
    struct esp_platform *p = stranger_sites();
    for (int op = 0; op < ESP_OP_COUNT; op++) {
        struct esp_request request;
        struct esp_bound *bound = NULL;
        struct esp_plan *plan = NULL;
        esp_request_init(&request, 0);
        request.op = (esp_op)op;
        request.size_bytes = 100 * 65536;
        assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
        request.slice_bytes = plan->slice_bytes;
        assert_int_equal(esp_bound_compute(p, &request, NULL, &bound, NULL), ESP_OK);
        assert_true(isfinite(bound->throughput_Bps));
        assert_true(plan->throughput_Bps <= bound->throughput_Bps * (1 + 1e-6));
        assert_true(bound->slice_bytes == plan->slice_bytes);
        double Bps = bound->slices_per_s * bound->slice_bytes;
        assert_true(fabs(Bps / bound->throughput_Bps - 1) < 1e-9);
        assert_int_equal(bound->n_bottlenecks > 0, op == ESP_OP_BCAST);
        esp_plan_free(plan);
        esp_bound_free(bound);
    }
    esp_platform_free(p);
}

/* Slices may be left open, or be the whole message; one host has no limit. */
static void bounds_and_slices(void **state)
{
    (void)state;
    struct esp_platform *p = stranger_sites(), *lone = NULL;
    struct esp_request request;
    struct esp_bound *open = NULL, *whole = NULL, *same = NULL;
    esp_request_init(&request, 0);
    assert_int_equal(esp_bound_compute(p, &request, NULL, &open, NULL), ESP_OK);
    assert_true(open->slice_bytes == 63.5 * 1024);
    request.slice_bytes = 0;
    request.size_bytes = 1e5;
    assert_int_equal(esp_bound_compute(p, &request, NULL, &whole, NULL), ESP_OK);
    assert_true(whole->slice_bytes == 1e5);
    request.slice_bytes = 1e5;
    assert_int_equal(esp_bound_compute(p, &request, NULL, &same, NULL), ESP_OK);
    assert_true(same->throughput_Bps == whole->throughput_Bps);
    esp_bound_free(open);
    esp_bound_free(whole);
    esp_bound_free(same);
    esp_platform_free(p);
    struct esp_builder *b = NULL;
    struct esp_node_spec spec = {"a", NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    assert_int_equal(esp_builder_build(b, &lone, NULL), ESP_OK);
    esp_builder_free(b);
    static const esp_op ops[] = {ESP_OP_BCAST, ESP_OP_SCATTER, ESP_OP_REDUCE,
                                 ESP_OP_ALLREDUCE};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        request.op = ops[i];
        assert_int_equal(esp_bound_compute(lone, &request, NULL, &open, NULL), ESP_OK);
        assert_true(isinf(open->throughput_Bps));
        esp_bound_free(open);
    }
    esp_platform_free(lone);
}

/* ---- traces ---- */

static void traces_go_into_a_simulation(void **state)
{
    (void)state;
    struct esp_platform *p = stranger_sites();
    struct esp_plan *plan = stranger_plan(p, ESP_OP_BCAST, "ecef");
    struct esp_trace *trace = NULL;
    struct esp_sim_options o;
    struct esp_sim_result *result = NULL;
    char text[200], word[200];
    const char *gone = esp_platform_node_name(p, 1);
    int n = -1;
    assert_int_equal(esp_trace_create(&trace, NULL), ESP_OK);
    assert_null(esp_trace_changes(trace, &n));
    assert_int_equal(n, 0);
    snprintf(text, sizeof text, "0, node, %s\n", gone);
    snprintf(word, sizeof word, "cable:%s@0=0.5", esp_platform_cable_name(p, 0));
    assert_int_equal(esp_trace_parse(trace, p, text, strlen(text), "t", NULL), ESP_OK);
    assert_int_equal(esp_trace_add(trace, p, word, NULL), ESP_OK);
    esp_sim_options_defaults(&o);
    o.changes = esp_trace_changes(trace, &o.n_changes);
    o.stops = esp_trace_stops(trace, &o.n_stops);
    assert_int_equal(o.n_changes, 1);
    assert_int_equal(o.n_stops, 1);
    assert_true(o.changes[0].is_cable && o.changes[0].factor == 0.5);
    assert_int_equal(esp_simulate(p, plan, &o, &result, NULL), ESP_OK);
    assert_true(isinf(result->delivered_s[1]));
    esp_sim_result_free(result);
    esp_trace_free(trace);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void traces_of_wrong_arguments(void **state)
{
    (void)state;
    struct esp_platform *p = stranger_sites();
    struct esp_trace *trace = NULL;
    int n = 7;
    assert_int_equal(esp_trace_create(NULL, NULL), ESP_EUSAGE);
    assert_int_equal(esp_trace_create(&trace, NULL), ESP_OK);
    assert_int_equal(esp_trace_parse(NULL, p, "", 0, "t", NULL), ESP_EUSAGE);
    assert_int_equal(esp_trace_parse(trace, NULL, "", 0, "t", NULL), ESP_EUSAGE);
    assert_int_equal(esp_trace_parse(trace, p, NULL, 0, "t", NULL), ESP_EUSAGE);
    assert_int_equal(esp_trace_read(trace, p, NULL, NULL), ESP_EUSAGE);
    assert_int_equal(esp_trace_read(trace, p, "/nowhere/at all", NULL), ESP_EIO);
    assert_int_equal(esp_trace_add(trace, p, NULL, NULL), ESP_EUSAGE);
    assert_int_equal(esp_trace_add(trace, p, "magic", NULL), ESP_EUSAGE);
    assert_int_equal(esp_trace_add(trace, p, "node:nobody@1", NULL), ESP_EINPUT);
    assert_null(esp_trace_stops(trace, &n));
    assert_int_equal(n, 0);
    assert_null(esp_trace_stops(NULL, NULL));
    esp_trace_free(NULL);
    esp_trace_free(trace);
    esp_platform_free(p);
}

/* ---- ends before their time ---- */

struct moments {
    int heard, end_after; /* -1: never */
    double simulated_s;
};

static int hear_moment(void *moments, double elapsed_s, double simulated_s)
{
    struct moments *m = moments;
    assert_true(elapsed_s >= 0 && simulated_s >= m->simulated_s);
    m->simulated_s = simulated_s;
    return ++m->heard > m->end_after && m->end_after >= 0;
}

/* In every model's simulator; a plan in some thousand slices makes it last. */
static void simulations_can_be_ended(void **state)
{
    static const struct {
        esp_model model;
        esp_sharing sharing;
    } ways[] = {{ESP_MODEL_ONE_PORT, ESP_SHARING_EXCLUSIVE},
                {ESP_MODEL_ONE_PORT, ESP_SHARING_FLUID},
                {ESP_MODEL_HNOW, ESP_SHARING_MODEL}};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct esp_platform *p = NULL, *sites = stranger_sites();
        assert_int_equal(esp_platform_with_model(sites, ways[i].model, &p, NULL), ESP_OK);
        struct esp_plan *plan = stranger_plan(p, ESP_OP_BCAST, "flat");
        struct moments m = {.end_after = -1};
        struct esp_sim_options o;
        struct esp_sim_result *result = NULL;
        struct esp_err err = {.text = ""};
        esp_sim_options_defaults(&o);
        assert_true(o.budget_s == 0 && !o.progress);
        o.sharing = ways[i].sharing;
        o.slice_bytes = plan->size_bytes / 2000;
        o.progress = hear_moment;
        o.progress_arg = &m;
        assert_int_equal(esp_simulate(p, plan, &o, &result, NULL), ESP_OK);
        double all_s = result->makespan_s;
        esp_sim_result_free(result);
        assert_true(m.heard > 1 && m.simulated_s <= all_s);
        m = (struct moments){.end_after = 0};
        result = NULL;
        assert_int_equal(esp_simulate(p, plan, &o, &result, &err), ESP_EUNSUPPORTED);
        assert_null(result);
        assert_int_equal(m.heard, 1);
        assert_non_null(strstr(err.text, "hosts had everything"));
        o.progress = NULL;
        o.budget_s = 1e-9;
        assert_int_equal(esp_simulate(p, plan, &o, &result, NULL), ESP_EUNSUPPORTED);
        o.budget_s = -1;
        assert_int_equal(esp_simulate(p, plan, &o, &result, NULL), ESP_EUSAGE);
        esp_plan_free(plan);
        esp_platform_free(p);
        esp_platform_free(sites);
    }
}

/* Who hears of a request hears of its bound, too, and may end it: then there is what was
 * found, or a sentence. */
static void bounds_can_be_ended(void **state)
{
    (void)state;
    struct esp_platform *p = stranger_sites();
    for (int op = 0; op < ESP_OP_COUNT; op++) {
        struct moments never = {.end_after = -1}, at_once = {.end_after = 0};
        struct esp_request r;
        struct esp_bound *all = NULL, *some = NULL;
        struct esp_err err = {.text = ""};
        esp_request_init(&r, 0);
        r.op = op;
        r.progress = hear_moment;
        r.progress_arg = &never;
        assert_int_equal(esp_bound_compute(p, &r, NULL, &all, NULL), ESP_OK);
        r.progress_arg = &at_once;
        if (esp_bound_compute(p, &r, NULL, &some, &err) == ESP_OK)
            assert_true(some->throughput_Bps >= all->throughput_Bps * (1 - 1e-9));
        else
            assert_true(err.text[0] != '\0');
        assert_true(at_once.heard == (never.heard > 0));
        assert_true(never.heard > 0 || op != ESP_OP_BCAST);
        esp_bound_free(all);
        esp_bound_free(some);
    }
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_of_all_operations),
        cmocka_unit_test(bounds_and_slices),
        cmocka_unit_test(traces_go_into_a_simulation),
        cmocka_unit_test(traces_of_wrong_arguments),
        cmocka_unit_test(simulations_can_be_ended),
        cmocka_unit_test(bounds_can_be_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
