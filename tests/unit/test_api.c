/* What the public library gives to strangers: algorithms, cables, copies; and what it
 * says to arguments that make no sense. Bounds and simulations: test_api_simulate.c;
 * samples: test_api_samples.c. */
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
        cmocka_unit_test(copies_are_alike),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
