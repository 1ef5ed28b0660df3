/* No plan ends before the bound of the makespan, whatever its slices, in either simulator
 * and by its own figures; where the best is known the bound is near it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "bound/makespan_bound.h"
#include "plan/ops.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/kinds.h"
#include "support/seed.h"

enum { MOST_SLICES = 200 };

/* ---- platforms ---- */

static struct esp_platform *draw_measured(struct espi_rng *r, uint64_t seed)
{
    struct esp_measured_options o;
    struct esp_platform *p = NULL;
    esp_measured_options_defaults(&o);
    o.kind = (int)espi_rng_below(r, ESP_MEASURED_KIND_COUNT);
    o.hosts = 2 + (int)espi_rng_below(r, 9);
    o.noise = 0.02 * espi_rng_below(r, 2);
    o.seed = seed;
    assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_OK);
    return p;
}

static struct esp_platform *draw_matrix(struct espi_rng *r, uint64_t seed)
{
    struct esp_matrix_options o;
    struct esp_platform *p = NULL;
    esp_matrix_options_defaults(&o);
    o.nodes = 2 + (int)espi_rng_below(r, 7);
    o.latency_max_s = 0.1;
    o.log = 1;
    o.seed = seed;
    assert_int_equal(esp_generate_matrix(&o, &p, NULL), ESP_OK);
    return p;
}

static struct esp_platform *draw_workstations(struct espi_rng *r)
{
    struct esp_hnow_options o;
    struct esp_platform *p = NULL;
    esp_hnow_options_defaults(&o);
    o.fast = 1 + (int)espi_rng_below(r, 3);
    o.slow = 1 + (int)espi_rng_below(r, 4);
    o.bandwidth_Bps = espi_rng_log_range(r, 1e6, 1e9);
    o.fast_Bps = espi_rng_below(r, 2) ? espi_rng_log_range(r, 1e6, 1e9) : 0;
    o.slow_Bps = espi_rng_below(r, 2) ? espi_rng_log_range(r, 1e6, 1e9) : 0;
    o.wire_Bps = espi_rng_below(r, 2) ? espi_rng_log_range(r, 1e6, 1e9) : 0;
    assert_int_equal(esp_generate_hnow(&o, &p, NULL), ESP_OK);
    return p;
}

/* With latencies, of which most kinds have none. */
static struct esp_platform *draw_kind(struct espi_rng *r, uint64_t seed)
{
    int kind = (int)espi_rng_below(r, KINDS);
    int hosts = 4 + (int)espi_rng_below(r, 5);
    struct esp_platform *p = kind_platform(kind, hosts, seed, ESP_MODEL_ONE_PORT);
    for (int e = 0; e < p->n_links; e++)
        p->latency_s[e] += espi_rng_below(r, 2) ? espi_rng_log_range(r, 1e-5, 0.1) : 0;
    return p;
}

static struct esp_platform *draw_platform(struct espi_rng *r, uint64_t seed)
{
    struct esp_platform *other = NULL, *p = NULL;
    switch (espi_rng_below(r, 6)) {
    case 0:
        return draw_workstations(r);
    case 1:
        p = draw_kind(r, seed);
        break;
    case 2:
        p = draw_matrix(r, seed);
        break;
    default:
        p = draw_measured(r, seed);
    }
    if (espi_rng_below(r, 2))
        return p;
    esp_model model = (esp_model)espi_rng_below(r, ESP_MODEL_HNOW);
    assert_int_equal(esp_platform_with_model(p, model, &other, NULL), ESP_OK);
    esp_platform_free(p);
    return other;
}

/* ---- plans ---- */

struct made {
    const struct esp_platform *p;
    struct esp_plan *plan;
};

static double bound_of(const struct made *m, int exclusive)
{
    const struct esp_plan *plan = m->plan;
    struct espi_makespan_task task = {
        m->p,          plan->op,         plan->root, plan->n_targets,
        plan->targets, plan->size_bytes, exclusive,  0};
    double bound_s = -1;
    struct esp_err err;
    if (espi_makespan_bound(&task, &bound_s, &err))
        fail_msg("%s", err.text);
    return bound_s;
}

static void assert_not_before(const struct made *m, const char *what, double end_s,
                              double bound_s)
{
    if (!(end_s >= bound_s * (1 - 1e-9)))
        fail_msg(
            "%s: %s of %s in the model %s, %g bytes in slices of %g, ends after %.12g "
            "s%s, the bound being %.12g s",
            esp_platform_name(m->p), m->plan->algo, esp_op_name(m->plan->op),
            esp_model_name(m->p->model), m->plan->size_bytes, m->plan->slice_bytes, end_s,
            what, bound_s);
}

static void check_plan(const struct made *m)
{
    double bounds_s[] = {bound_of(m, 1), bound_of(m, 0)};
    assert_true(bounds_s[0] > 0 && bounds_s[1] > 0);
    assert_not_before(m, " by its own figures", m->plan->makespan_s, bounds_s[0]);
    for (int fluid = 0; fluid < 2; fluid++) {
        struct esp_sim_options o;
        struct esp_sim_result *result = NULL;
        esp_sim_options_defaults(&o);
        o.sharing = fluid ? ESP_SHARING_FLUID : ESP_SHARING_EXCLUSIVE;
        if (esp_simulate(m->p, m->plan, &o, &result, NULL))
            continue;
        assert_not_before(m, fluid ? " (fluid)" : " (exclusive)", result->makespan_s,
                          bounds_s[fluid]);
        esp_sim_result_free(result);
    }
}

/* One of the algorithms that serve, for some operation and message. */
static int try_plan(const struct esp_platform *p, struct espi_rng *r, const int *targets)
{
    struct esp_request q;
    struct made m = {.p = p};
    int n = p->n_hosts, root = (int)espi_rng_below(r, (uint32_t)p->n_nodes);
    int algo = (int)espi_rng_below(r, (uint32_t)esp_algorithm_count());
    esp_request_init(&q, root);
    q.op = (esp_op)espi_rng_below(r, ESP_OP_COUNT);
    q.algo = esp_algorithm_name(algo);
    q.size_bytes = espi_rng_log_range(r, 1, 1e9);
    q.slice_bytes = q.size_bytes / (int)espi_rng_log_range(r, 1, MOST_SLICES);
    q.judge = NULL;
    if (espi_op_takes_targets(q.op) && espi_rng_below(r, 2) && n > 2) {
        q.targets = targets;
        q.n_targets = 1 + (int)espi_rng_below(r, (uint32_t)n - 2);
    }
    for (int i = 0; i < q.n_targets; i++)
        if (targets[i] == root)
            return 0;
    if (espi_is_switch(p, root) || !esp_algorithm_serves(algo, q.op, q.targets != NULL) ||
        esp_plan_make(p, &q, &m.plan, NULL))
        return 0;
    int counts = !m.plan->redundant;
    if (counts)
        check_plan(&m);
    esp_plan_free(m.plan);
    return counts;
}

static int draws = 200; /* as the program is told: test_makespan_bound DRAWS */

static void test_no_plan_is_faster(void **state)
{
    (void)state;
    struct espi_rng r;
    int made = 0, tried = test_draws(draws), seen[ESP_MODEL_COUNT] = {0};
    for (int i = 0; i < tried; i++) {
        int targets[64], n = 0;
        espi_rng_seed(&r, test_seed((uint64_t)i));
        struct esp_platform *p = draw_platform(&r, test_seed((uint64_t)i));
        for (int v = 0; v < p->n_nodes && n < 64; v++)
            if (!espi_is_switch(p, v))
                targets[n++] = v;
        espi_rng_shuffle(&r, targets, n);
        for (int k = 0; k < 4; k++) {
            int one = try_plan(p, &r, targets);
            made += one;
            seen[p->model] += one;
        }
        esp_platform_free(p);
    }
    assert_true(made > tried / 3);
    for (int model = 0; model < ESP_MODEL_COUNT; model++)
        assert_true(seen[model] > tried / 100 || tried < draws);
    if (draws > 200)
        print_message("%d plans\n", made);
}

/* ---- where the best is known ---- */

static double bound_of_preset(const char *preset, esp_op op, double bytes)
{
    struct esp_measured_options o;
    struct esp_bound_options options;
    struct esp_platform *p = NULL;
    struct esp_bound *bound = NULL;
    struct esp_request request;
    esp_measured_options_defaults(&o);
    esp_bound_options_defaults(&options);
    options.makespan = 1;
    assert_int_equal(esp_measured_options_preset(&o, preset, NULL), ESP_OK);
    assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_OK);
    esp_request_init(&request, 0);
    request.op = op;
    request.size_bytes = bytes;
    assert_int_equal(esp_bound_compute(p, &request, &options, &bound, NULL), ESP_OK);
    double makespan_s = bound->makespan_s;
    esp_bound_free(bound);
    esp_platform_free(p);
    return makespan_s;
}

static void assert_between(double value, double low, double high)
{
    if (!(value >= low && value <= high))
        fail_msg("%.9g is not between %.9g and %.9g", value, low, high);
}

/* Bytes over what limits them, and the latencies before and behind it at least. */
static void test_presets(void **state)
{
    (void)state;
    assert_between(bound_of_preset("three-sites", ESP_OP_BCAST, 64e6), 8.01, 8.03);
    assert_between(bound_of_preset("three-sites", ESP_OP_BCAST, 1e6), 0.135, 0.16);
    assert_between(bound_of_preset("four-racks", ESP_OP_BCAST, 64e6), 6.4001, 6.45);
    assert_between(bound_of_preset("one-switch", ESP_OP_BCAST, 64e6), 42.666, 42.7);
    assert_between(bound_of_preset("chain", ESP_OP_BCAST, 64e6), 42.67, 42.7);
    assert_between(bound_of_preset("chain", ESP_OP_BCAST, 1), 0.02, 0.0203);
    assert_between(bound_of_preset("chain", ESP_OP_REDUCE, 64e6), 42.67, 42.7);
    assert_between(bound_of_preset("three-sites", ESP_OP_ALLREDUCE, 1), 0.01, 0.02);
    /* 16 of 24 parts come in over 8 MB/s */
    assert_between(bound_of_preset("three-sites", ESP_OP_GATHER, 24e6), 2.0, 2.1);
}

/* A star of one-port hosts with latencies: the last of four receivers has the message
 * after four sends of it from the root, whose port is all there is. */
static void test_one_port(void **state)
{
    (void)state;
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    double bound_s = 0;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    for (int i = 0; i < 5; i++) {
        char name[] = {(char)('a' + i), 0};
        struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
        if (i)
            assert_int_equal(esp_builder_add_link(b, 0, i, 0.5, 1e6, NULL, NULL), ESP_OK);
    }
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    struct espi_makespan_task task = {.p = p, .op = ESP_OP_BCAST, .size_bytes = 3e6};
    assert_int_equal(espi_makespan_bound(&task, &bound_s, NULL), ESP_OK);
    assert_between(bound_s, 12.5 - 1e-6, 12.5 + 1e-6);
    esp_platform_free(p);
}

static esp_status bound_once(void *p)
{
    struct espi_makespan_task task = {.p = p, .op = ESP_OP_REDUCE, .size_bytes = 1e6};
    double bound_s = -1;
    esp_status st = espi_makespan_bound(&task, &bound_s, NULL);
    return st && bound_s != -1 ? ESP_EINTERNAL : st;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, 1);
    struct esp_platform *p = draw_measured(&r, 1);
    assert_true(alloc_fail_each(bound_once, p) > 10);
    esp_platform_free(p);
}

int main(int argc, char **argv)
{
    draws = argc > 1 ? atoi(argv[1]) : draws;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_plan_is_faster),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_one_port),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
