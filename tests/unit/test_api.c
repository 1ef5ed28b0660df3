/* What the public library gives to strangers: algorithms, cables, bounds, traces,
 * samples, copies; and what it says to arguments that make no sense. */
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

#include "support/alloc_fail.h"
#include "support/stranger.h"

/* ---- structs that grow ---- */

/* As a newer header would have it, and as an older one. */
struct newer_request {
    struct esp_request known;
    double more[4];
};

static void structs_of_other_versions(void **state)
{
    (void)state;
    struct esp_platform *p = stranger_sites();
    struct newer_request newer;
    struct esp_plan *plan = NULL;
    struct esp_err err = {0};

    memset(&newer, 0xee, sizeof newer);
    esp_request_init_sized(&newer.known, sizeof newer, 0);
    assert_int_equal(newer.known.size, sizeof newer);
    assert_true(newer.more[3] == 0);
    newer.known.algo = "ecef";
    assert_int_equal(esp_plan_make(p, &newer.known, &plan, &err), ESP_OK);
    esp_plan_free(plan);
    plan = NULL;
    newer.more[2] = 1; /* what we do not know must not be left out in silence */
    assert_int_equal(esp_plan_make(p, &newer.known, &plan, &err), ESP_EUNSUPPORTED);
    assert_non_null(strstr(err.text, "esp_request"));
    newer.known.size = 0;
    assert_int_equal(esp_plan_make(p, &newer.known, &plan, &err), ESP_EUSAGE);
    newer.known.size = SIZE_MAX;
    assert_int_equal(esp_plan_make(p, &newer.known, &plan, &err), ESP_EUSAGE);
    assert_null(plan);

    /* No more is written than there is room for. */
    struct esp_sim_options some;
    memset(&some, 0xee, sizeof some);
    esp_sim_options_defaults_sized(&some, offsetof(struct esp_sim_options, sharing));
    assert_int_equal(((unsigned char *)&some.sharing)[0], 0xee);
    esp_sim_options_defaults_sized(NULL, sizeof some);
    esp_platform_free(p);
}

/* Each struct of options that nobody filled in is refused, and so is one too many. */
static void options_must_be_filled_in(void **state)
{
    (void)state;
    struct esp_platform *p = stranger_sites(), *made = NULL;
    struct esp_plan *plan = stranger_plan(p, ESP_OP_BCAST, "ecef");
    struct esp_request request;
    struct esp_bound *bound = NULL;
    struct esp_sim_result *result = NULL;
    struct esp_program *program = NULL;
    struct esp_samples *samples = NULL;
    esp_request_init(&request, 0);
    assert_int_equal(esp_samples_create(&samples, NULL), ESP_OK);
    assert_int_equal(esp_simulate(p, plan, &(struct esp_sim_options){0}, &result, NULL),
                     ESP_EUSAGE);
    assert_int_equal(
        esp_bound_compute(p, &request, &(struct esp_bound_options){0}, &bound, NULL),
        ESP_EUSAGE);
    assert_int_equal(
        esp_program_compile(p, plan, &(struct esp_compile_options){0}, &program, NULL),
        ESP_EUSAGE);
    assert_int_equal(
        esp_samples_platform(samples, &(struct esp_samples_options){0}, &made, NULL),
        ESP_EUSAGE);
    assert_int_equal(esp_platform_parse("a b 1Bps", 8, "t", &(struct esp_read_options){0},
                                        &made, NULL),
                     ESP_EUSAGE);
    assert_int_equal(esp_generate_hub(&(struct esp_hub_options){0}, &made, NULL),
                     ESP_EUSAGE);
    assert_int_equal(esp_generate_tiers(&(struct esp_tiers_options){0}, &made, NULL),
                     ESP_EUSAGE);
    struct esp_tiers_options tiers = {0};
    assert_int_equal(esp_tiers_options_preset(&tiers, "30", NULL), ESP_EUSAGE);
    assert_int_equal(esp_generate_random(NULL, &made, NULL), ESP_EUSAGE);
    assert_null(result);
    assert_null(bound);
    assert_null(program);
    assert_null(made);
    esp_samples_free(samples);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* The defaults are those of the command line: tests/cli has these figures, too. */
static void defaults_are_the_programs(void **state)
{
    (void)state;
    struct esp_request r;
    struct esp_bound_options b;
    struct esp_read_options read;
    struct esp_samples_options s;
    esp_request_init(&r, 4);
    assert_int_equal(r.root, 4);
    assert_int_equal(r.op, ESP_OP_BCAST);
    assert_string_equal(r.algo, "auto");
    assert_true(r.size_bytes == 64e6 && r.slice_bytes == ESP_SLICE_AUTO && r.seed == 1);
    assert_true(r.judge == esp_judge_by_simulation);
    esp_bound_options_defaults(&b);
    assert_string_equal(esp_bound_method_name(b.method), "trees");
    assert_int_equal(b.what_if, 0);
    esp_read_options_defaults(&read);
    assert_int_equal(read.model, ESP_MODEL_DEFAULT);
    esp_samples_options_defaults(&s);
    assert_string_equal(s.name, "measured");
    assert_int_equal(s.direct_max, 128);
}

/* ---- models ---- */

static void no_platform_has_the_default_model(void **state)
{
    (void)state;
    static const char edges[] = "a b 1Bps\n";
    struct esp_read_options o;
    struct esp_platform *p = NULL, *q = NULL;
    esp_read_options_defaults(&o);
    o.format = ESP_FORMAT_EDGES;
    assert_int_equal(esp_platform_parse(edges, strlen(edges), "t", &o, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_CAPACITY);
    o.model = ESP_MODEL_COUNT;
    assert_int_equal(esp_platform_parse(edges, strlen(edges), "t", &o, &q, NULL),
                     ESP_EUSAGE);
    assert_int_equal(esp_platform_with_model(p, ESP_MODEL_DEFAULT, &q, NULL), ESP_EUSAGE);
    assert_int_equal(esp_platform_with_model(p, ESP_MODEL_COUNT, &q, NULL), ESP_EUSAGE);
    assert_null(q);
    assert_string_equal(esp_model_name(ESP_MODEL_DEFAULT), "?");
    esp_platform_free(p);
}

/* ---- algorithms ---- */

static void algorithms_are_listed(void **state)
{
    (void)state;
    struct esp_platform *p = stranger_sites();
    int n = esp_algorithm_count(), options = 0;
    assert_true(n > 20);
    for (int a = 0; a < n; a++) {
        const char *name = esp_algorithm_name(a);
        assert_int_equal(esp_algorithm_find(name), a);
        assert_int_equal(esp_algorithm_check(name, NULL), ESP_OK);
        assert_true(esp_algorithm_family(a)[0] && esp_algorithm_summary(a)[0]);
        assert_true(esp_algorithm_source(a)[0] && esp_algorithm_complexity(a)[0]);
        assert_true(esp_algorithm_serves(a, esp_algorithm_op(a), 1));
        assert_int_equal(esp_algorithm_applies(a, p),
                         esp_algorithm_knows_model(a, esp_platform_model(p)) &&
                             (!esp_algorithm_max_hosts(a) ||
                              esp_algorithm_max_hosts(a) >= esp_platform_host_count(p)));
        for (int i = 0; i < esp_algorithm_option_count(a); i++, options++) {
            char text[160];
            double value = esp_algorithm_option_default(a, i);
            const char *choices = esp_algorithm_option_choices(a, i);
            assert_true(esp_algorithm_option_meaning(a, i)[0]);
            if (choices) {
                assert_true(value >= 0 && isnan(esp_algorithm_option_min(a, i)));
                snprintf(text, sizeof text, "%s:%s=%.*s", name,
                         esp_algorithm_option_name(a, i), (int)strcspn(choices, "|"),
                         choices);
            } else {
                assert_true(value >= esp_algorithm_option_min(a, i) &&
                            value <= esp_algorithm_option_max(a, i));
                snprintf(text, sizeof text, "%s:%s=%.17g", name,
                         esp_algorithm_option_name(a, i), value);
            }
            assert_int_equal(esp_algorithm_check(text, NULL), ESP_OK);
            assert_int_equal(esp_algorithm_find(text), a);
        }
    }
    assert_true(options > 5);
    esp_platform_free(p);
}

static void algorithms_that_are_not_there(void **state)
{
    (void)state;
    struct esp_platform *p = stranger_sites();
    struct esp_err err = {0};
    int bad[] = {-1, esp_algorithm_count(), 1 << 30};
    for (int i = 0; i < 3; i++) {
        int a = bad[i];
        assert_null(esp_algorithm_name(a));
        assert_null(esp_algorithm_family(a));
        assert_null(esp_algorithm_summary(a));
        assert_null(esp_algorithm_source(a));
        assert_null(esp_algorithm_complexity(a));
        assert_int_equal(esp_algorithm_op(a), ESP_OP_COUNT);
        assert_false(esp_algorithm_serves(a, ESP_OP_BCAST, 0));
        assert_false(esp_algorithm_knows_model(a, ESP_MODEL_ONE_PORT));
        assert_int_equal(esp_algorithm_max_hosts(a), 0);
        assert_false(esp_algorithm_applies(a, p));
        assert_int_equal(esp_algorithm_option_count(a), 0);
        assert_null(esp_algorithm_option_name(a, 0));
        assert_null(esp_algorithm_option_meaning(0, a));
        assert_null(esp_algorithm_option_choices(0, a));
        assert_true(isnan(esp_algorithm_option_default(0, a)));
        assert_true(isnan(esp_algorithm_option_max(0, a)));
    }
    assert_false(esp_algorithm_applies(0, NULL));
    assert_false(esp_algorithm_serves(0, ESP_OP_COUNT, 0));
    assert_false(esp_algorithm_knows_model(0, ESP_MODEL_DEFAULT));
    assert_int_equal(esp_algorithm_find(NULL), -1);
    assert_int_equal(esp_algorithm_find(""), -1);
    assert_int_equal(esp_algorithm_check(NULL, &err), ESP_EUSAGE);
    assert_int_equal(esp_algorithm_check("ecef:magic=1", &err), ESP_EUSAGE);
    assert_non_null(strstr(err.text, "magic"));
    esp_platform_free(p);
}

/* ---- how sure rates are ---- */

static void ranges_are_given_and_looked_at(void **state)
{
    (void)state;
    static const struct esp_node_spec nodes[] = {
        {"a", NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET},
        {"b", NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET}};
    struct esp_builder *b;
    struct esp_platform *p, *copy;
    struct esp_rate_range good = {4, INFINITY, 0.5}, bad = {6, INFINITY, 0.5};
    struct esp_measurement measured = {9, 1, 20, 0.1, 0.2}, nonsense = {1, 2, 0, 0, 0};
    int link;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(esp_builder_add_node(b, &nodes[i], NULL, NULL), ESP_OK);
    assert_int_equal(esp_builder_add_link(b, 0, 1, 0, 5, &link, NULL), ESP_OK);
    assert_int_equal(esp_builder_add_cable(b, "c", 5, &link, 1, NULL), ESP_OK);
    assert_int_equal(esp_builder_set_link_range(b, link, &good, NULL), ESP_OK);
    assert_int_equal(esp_builder_set_link_range(b, link, &bad, NULL), ESP_EINPUT);
    assert_int_equal(esp_builder_set_link_range(b, 7, &good, NULL), ESP_EUSAGE);
    assert_int_equal(esp_builder_set_cable_range(b, 1, &good, NULL), ESP_EUSAGE);
    assert_int_equal(esp_builder_set_measurement(b, &nonsense, NULL), ESP_EINPUT);
    assert_int_equal(esp_builder_set_measurement(b, &measured, NULL), ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    assert_int_equal(esp_platform_reversed(p, &copy, NULL), ESP_OK);
    assert_true(esp_platform_link_range(copy, link).low_Bps == 4);
    assert_true(esp_platform_link_range(copy, 7).confidence == ESP_UNSET);
    assert_true(esp_platform_cable_range(copy, 0).confidence == ESP_UNSET);
    assert_true(esp_platform_cable_range(copy, 0).high_Bps == 5);
    assert_true(esp_platform_cable_range(copy, -1).confidence == ESP_UNSET);
    assert_int_equal(esp_platform_measurement(copy)->transfers, 20);
    esp_platform_free(copy);
    esp_platform_free(p);
    p = stranger_sites();
    assert_null(esp_platform_measurement(p));
    esp_platform_free(p);
}

/* ---- cables ---- */

static void cables_are_looked_at(void **state)
{
    (void)state;
    struct esp_platform *p = stranger_sites();
    int n = esp_platform_cable_count(p), members = 0;
    assert_true(n > 0);
    for (int c = 0; c < n; c++) {
        assert_int_equal(esp_platform_find_cable(p, esp_platform_cable_name(p, c)), c);
        assert_true(esp_platform_cable_bandwidth_Bps(p, c) > 0);
        for (int i = 0; i < esp_platform_cable_link_count(p, c); i++, members++) {
            int link = esp_platform_cable_link(p, c, i), found = 0;
            for (int k = 0; k < esp_platform_link_cable_count(p, link); k++)
                found += esp_platform_link_cable(p, link, k) == c;
            assert_int_equal(found, 1);
        }
        assert_int_equal(
            esp_platform_cable_link(p, c, esp_platform_cable_link_count(p, c)), -1);
        assert_int_equal(esp_platform_cable_link(p, c, -1), -1);
    }
    for (int e = 0; e < esp_platform_link_count(p); e++)
        members -= esp_platform_link_cable_count(p, e);
    assert_int_equal(members, 0);
    int bad[] = {-1, n};
    for (int i = 0; i < 2; i++) {
        assert_null(esp_platform_cable_name(p, bad[i]));
        assert_true(isnan(esp_platform_cable_bandwidth_Bps(p, bad[i])));
        assert_int_equal(esp_platform_cable_link_count(p, bad[i]), 0);
        assert_int_equal(esp_platform_cable_link(p, bad[i], 0), -1);
    }
    assert_int_equal(esp_platform_link_cable_count(p, -1), 0);
    assert_int_equal(esp_platform_link_cable(p, esp_platform_link_count(p), 0), -1);
    assert_int_equal(esp_platform_find_cable(p, "no such"), -1);
    assert_int_equal(esp_platform_find_cable(NULL, "x"), -1);
    assert_null(esp_platform_cable_name(NULL, 0));
    esp_platform_free(p);
    p = stranger_workstations(); /* which share none */
    assert_int_equal(esp_platform_cable_count(p), 0);
    assert_int_equal(esp_platform_link_cable_count(p, 0), 0);
    esp_platform_free(p);
}

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

/* ---- samples ---- */

static const char samples_file[] = TEST_DATA_DIR "/samples.txt";

static void samples_become_a_platform(void **state)
{
    (void)state;
    struct esp_samples *samples = NULL, *again = NULL;
    struct esp_platform *p = NULL, *q = NULL;
    struct esp_samples_options o;
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(esp_samples_read(samples_file, &samples, NULL), ESP_OK);
    int n = esp_samples_host_count(samples);
    assert_true(n > 1 && esp_samples_count(samples) > (size_t)n);
    assert_int_equal(esp_samples_platform(samples, NULL, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_host_count(p), n);
    assert_string_equal(esp_platform_name(p), "measured");
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_int_equal(esp_samples_write_stream(samples, out, NULL), ESP_OK);
    fclose(out);
    assert_int_equal(esp_samples_parse(text, length, "t", &again, NULL), ESP_OK);
    assert_int_equal(esp_samples_platform(again, NULL, &q, NULL), ESP_OK);
    assert_true(esp_platform_equal(p, q));
    esp_platform_free(q);
    esp_samples_options_defaults(&o);
    o.direct_max = 1;
    o.name = "with switches";
    assert_int_equal(esp_samples_platform(samples, &o, &q, NULL), ESP_OK);
    assert_true(esp_platform_node_count(q) > n);
    assert_string_equal(esp_platform_name(q), "with switches");
    esp_platform_free(p);
    esp_platform_free(q);
    esp_samples_free(samples);
    esp_samples_free(again);
    free(text);
}

static void samples_of_ones_own(void **state)
{
    (void)state;
    struct esp_samples *samples = NULL;
    struct esp_platform *p = NULL;
    struct esp_err err = {0};
    assert_int_equal(esp_samples_create(&samples, NULL), ESP_OK);
    assert_int_not_equal(esp_samples_platform(samples, NULL, &p, &err), ESP_OK);
    assert_int_equal(esp_samples_add_host(samples, "a", 1, NULL), ESP_OK);
    assert_int_equal(esp_samples_add_host(samples, "b", 1, NULL), ESP_OK);
    assert_int_not_equal(esp_samples_add_host(samples, "b", 1, NULL), ESP_OK);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(
            esp_samples_add(samples, ESP_SAMPLE_LATENCY, 0, k, !k, 1e-4, NULL), ESP_OK);
        assert_int_equal(
            esp_samples_add(samples, ESP_SAMPLE_RATE, k + 1, k, !k, 1e8, NULL), ESP_OK);
    }
    assert_int_equal(esp_samples_add(samples, ESP_SAMPLE_RATE, 1, 0, 2, 1e8, NULL),
                     ESP_EINPUT);
    assert_int_equal(esp_samples_add(samples, ESP_SAMPLE_RATE, 1, 0, 1, NAN, NULL),
                     ESP_EINPUT);
    assert_int_equal(esp_samples_add(samples, ESP_SAMPLE_KIND_COUNT, 1, 0, 1, 1, NULL),
                     ESP_EUSAGE);
    assert_int_equal(esp_samples_count(samples), 4);
    assert_int_equal(esp_samples_platform(samples, NULL, &p, NULL), ESP_OK);
    assert_true(esp_platform_link_bandwidth_Bps(p, esp_platform_find_link(p, 0, 1)) ==
                1e8);
    esp_platform_free(p);
    p = NULL;
    struct esp_samples_options o;
    esp_samples_options_defaults(&o);
    o.direct_max = -1;
    assert_int_equal(esp_samples_platform(samples, &o, &p, NULL), ESP_EUSAGE);
    o.direct_max = 1;
    o.name = NULL;
    assert_int_equal(esp_samples_platform(samples, &o, &p, NULL), ESP_EUSAGE);
    esp_samples_free(samples);
    samples = NULL;
    assert_int_equal(esp_samples_create(NULL, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_read(NULL, &samples, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_read(samples_file, NULL, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_parse(NULL, 0, "t", &samples, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_parse("x", 1, "t", &samples, NULL), ESP_EINPUT);
    assert_int_equal(esp_samples_platform(NULL, NULL, &p, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_write_stream(NULL, stdout, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_add_host(NULL, "a", 1, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_host_count(NULL), 0);
    assert_int_equal(esp_samples_count(NULL), 0);
    assert_null(samples);
    assert_null(p);
    esp_samples_free(NULL);
}

/* ---- copies ---- */

static char *written(const struct esp_plan *plan, const struct esp_platform *p)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_int_equal(esp_plan_write_stream(plan, p, out, NULL), ESP_OK);
    fclose(out);
    return text;
}

static void copies_are_alike(void **state)
{
    (void)state;
    static const struct {
        esp_op op;
        const char *algo;
    } cases[] = {{ESP_OP_BCAST, "mtp"},
                 {ESP_OP_SCATTER, "auto"},
                 {ESP_OP_ALLGATHER, "two-step"},
                 {ESP_OP_BCAST, "two-tree"}};
    struct esp_platform *p = stranger_sites();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct esp_plan *plan = stranger_plan(p, cases[i].op, cases[i].algo),
                        *copy = NULL;
        if (cases[i].op == ESP_OP_BCAST)
            assert_int_equal(esp_plan_schedule(plan, p, NULL), ESP_OK);
        char *text = written(plan, p);
        assert_int_equal(esp_plan_copy(plan, &copy, NULL), ESP_OK);
        esp_plan_free(plan); /* nothing is shared */
        char *same = written(copy, p);
        assert_string_equal(text, same);
        assert_int_equal(esp_plan_check(copy, p, NULL), ESP_OK);
        free(text);
        free(same);
        esp_plan_free(copy);
    }
    struct esp_plan *none = NULL;
    assert_int_equal(esp_plan_copy(NULL, &none, NULL), ESP_EUSAGE);
    assert_null(none);
    esp_platform_free(p);
}

/* ---- memory ---- */

struct work {
    struct esp_platform *p;
    struct esp_plan *plan;
};

static esp_status copy_once(void *arg)
{
    struct work *w = arg;
    struct esp_plan *copy = NULL;
    esp_status st = esp_plan_copy(w->plan, &copy, NULL);
    esp_plan_free(copy);
    return st;
}

static esp_status bound_once(void *arg)
{
    struct work *w = arg;
    struct esp_request request;
    struct esp_bound *bound = NULL;
    esp_request_init(&request, 0);
    request.op = ESP_OP_SCATTER;
    esp_status st = esp_bound_compute(w->p, &request, NULL, &bound, NULL);
    esp_bound_free(bound);
    return st;
}

static esp_status digest_once(void *arg)
{
    struct esp_samples *samples = NULL;
    struct esp_platform *p = NULL;
    esp_status st = esp_samples_read(arg, &samples, NULL);
    if (!st)
        st = esp_samples_platform(samples, NULL, &p, NULL);
    esp_platform_free(p);
    esp_samples_free(samples);
    return st;
}

static esp_status trace_once(void *arg)
{
    struct work *w = arg;
    struct esp_trace *trace = NULL;
    char word[200];
    snprintf(word, sizeof word, "node:%s@1", esp_platform_node_name(w->p, 1));
    esp_status st = esp_trace_create(&trace, NULL);
    if (!st)
        st = esp_trace_add(trace, w->p, word, NULL);
    esp_trace_free(trace);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct work w = {.p = stranger_sites()};
    char file[] = TEST_DATA_DIR "/samples.txt";
    w.plan = stranger_plan(w.p, ESP_OP_BCAST, "mtp");
    assert_int_equal(esp_plan_schedule(w.plan, w.p, NULL), ESP_OK);
    assert_true(alloc_fail_each(copy_once, &w) > 4);
    assert_true(alloc_fail_some(bound_once, &w, 20) > 2);
    assert_true(alloc_fail_some(digest_once, file, 20) > 4);
    assert_int_equal(alloc_fail_each(trace_once, &w), 2);
    esp_plan_free(w.plan);
    esp_platform_free(w.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_of_other_versions),
        cmocka_unit_test(options_must_be_filled_in),
        cmocka_unit_test(defaults_are_the_programs),
        cmocka_unit_test(no_platform_has_the_default_model),
        cmocka_unit_test(algorithms_are_listed),
        cmocka_unit_test(algorithms_that_are_not_there),
        cmocka_unit_test(ranges_are_given_and_looked_at),
        cmocka_unit_test(cables_are_looked_at),
        cmocka_unit_test(bounds_of_all_operations),
        cmocka_unit_test(bounds_and_slices),
        cmocka_unit_test(traces_go_into_a_simulation),
        cmocka_unit_test(simulations_can_be_ended),
        cmocka_unit_test(bounds_can_be_ended),
        cmocka_unit_test(traces_of_wrong_arguments),
        cmocka_unit_test(samples_become_a_platform),
        cmocka_unit_test(samples_of_ones_own),
        cmocka_unit_test(copies_are_alike),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
