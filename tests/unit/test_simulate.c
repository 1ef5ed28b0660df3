/* The simulator against the closed forms, which it has never seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "cost/cost.h"
#include "platform/view.h"
#include "program/program.h"
#include "schedule/round.h"
#include "support/alloc_fail.h"
#include "support/kinds.h"
#include "support/random_plan.h"
#include "support/seed.h"

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b))))
        fail_msg("%.12g is not %.12g", a, b);
}

static struct esp_platform *random_platform(uint64_t seed, int n, esp_model model)
{
    struct esp_random_options o;
    struct esp_platform *p = NULL, *q = NULL;
    esp_random_options_defaults(&o);
    o.nodes = n;
    o.seed = test_seed(seed);
    o.density = 0.3;
    o.latency_s = seed % 2 ? 1e-4 : 0;
    assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_with_model(p, model, &q, NULL), ESP_OK);
    esp_platform_free(p);
    return q;
}

/* Random spanning trees of equal weight as a plan. */
static struct esp_plan *seeded_plan(const struct esp_platform *p, uint64_t seed,
                                    int n_trees)
{
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(seed));
    struct esp_plan *plan = random_plan(p, &rng, n_trees, 1);
    plan->size_bytes = 1e6;
    plan->slice_bytes = 1e6;
    return plan;
}

static struct esp_sim_result *simulate(const struct esp_platform *p,
                                       const struct esp_plan *plan,
                                       const struct esp_sim_options *options)
{
    struct esp_sim_result *result = NULL;
    struct esp_err err;
    if (esp_simulate(p, plan, options, &result, &err))
        fail_msg("%s", err.text);
    return result;
}

static double makespan(const struct esp_platform *p, const struct esp_plan *plan,
                       double size, double slice, esp_sharing sharing)
{
    struct esp_sim_options o = {
        .size = sizeof o, .size_bytes = size, .slice_bytes = slice, .sharing = sharing};
    struct esp_sim_result *r = simulate(p, plan, &o);
    double s = r->makespan_s;
    assert_int_equal(r->lost, 0);
    esp_sim_result_free(r);
    return s;
}

static struct espi_cost cost_of(const struct esp_platform *p, const struct esp_plan *plan,
                                double size, double slice)
{
    struct espi_arena arena;
    struct espi_cost cost;
    espi_arena_init(&arena);
    assert_int_equal(espi_plan_cost(p, plan, size, slice, &arena, &cost, NULL), ESP_OK);
    espi_arena_done(&arena);
    return cost;
}

/* Atomic messages on one tree: equal in every model, exclusive and fluid. In half-duplex
 * a node first gets the message and then forwards it, so nothing differs either. */
static void atomic_makespans_are_equal(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)test_draws(400); seed++) {
        esp_model model = (esp_model)(seed % ESP_MODEL_COUNT);
        struct esp_platform *p = random_platform(seed, 2 + (int)(seed % 20), model);
        struct esp_plan *plan = seeded_plan(p, seed, 1);
        double wanted = cost_of(p, plan, 1e6, 0).makespan_s;
        near(makespan(p, plan, 1e6, 1e6, ESP_SHARING_EXCLUSIVE), wanted, 1e-12);
        if (model != ESP_MODEL_HNOW)
            near(makespan(p, plan, 1e6, 1e6, ESP_SHARING_FLUID), wanted, 1e-7);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* Pipelined messages: exact in one-port; in the others the pace in the long run. */
static void pipelined_makespans_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)test_draws(300); seed++) {
        esp_model model = (esp_model)(seed % ESP_MODEL_COUNT);
        struct esp_platform *p = random_platform(seed, 2 + (int)(seed % 20), model);
        struct esp_plan *plan = seeded_plan(p, seed, 1);
        double count = model == ESP_MODEL_ONE_PORT ? 1 + (double)(seed % 50) : 2000;
        struct espi_cost cost = cost_of(p, plan, count * 1e4, 1e4);
        double s = makespan(p, plan, count * 1e4, 1e4, ESP_SHARING_EXCLUSIVE);
        if (model == ESP_MODEL_ONE_PORT) {
            near(s, cost.makespan_s, 1e-12);
            near(makespan(p, plan, count * 1e4, 1e4, ESP_SHARING_FLUID), s, 1e-7);
        } else {
            near(count * 1e4 / s, cost.throughput_Bps, 0.01);
            assert_true(count * 1e4 / s <= cost.throughput_Bps * 1.000001);
        }
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* Processors share cables, too: along one tree the busiest cable, or processor, sets the
 * pace, and plans of messages are through when they claim. */
static void processors_wait_for_cables(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)test_draws(40); seed++) {
        struct esp_platform *p = kind_platform(3, 6, test_seed(seed), ESP_MODEL_HNOW);
        static const struct kind_case trees = {ESP_OP_BCAST, "grow", 0};
        static const struct kind_case messages = {ESP_OP_ALLGATHER, "bruck", 0};
        double count = 400, bytes = KIND_SLICE_BYTES;
        struct esp_plan *tree = kind_plan(p, &trees, count);
        struct esp_plan *steps = kind_plan(p, &messages, 3);
        double pace_s = cost_of(p, tree, count * bytes, bytes).load_s;
        double s = makespan(p, tree, count * bytes, bytes, ESP_SHARING_EXCLUSIVE);
        if (!(s >= (count - 1) * pace_s))
            fail_msg("%g slices of %g s are through after %g s", count, pace_s, s);
        near(makespan(p, steps, steps->size_bytes, steps->slice_bytes,
                      ESP_SHARING_EXCLUSIVE),
             steps->makespan_s, 1e-9);
        esp_plan_free(tree);
        esp_plan_free(steps);
        esp_platform_free(p);
    }
}

/* No schedule beats the load of the busiest resource, and busy times are the loads. */
static void loads_bound_the_makespan(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)test_draws(200); seed++) {
        esp_model model = (esp_model)(seed % ESP_MODEL_COUNT);
        struct esp_platform *p = random_platform(seed, 4 + (int)(seed % 12), model);
        struct esp_plan *plan = seeded_plan(p, seed, 2);
        struct esp_sim_options o = {
            .size = sizeof o, .size_bytes = 2e6, .slice_bytes = 1e4};
        struct espi_cost cost = cost_of(p, plan, 2e6, 1e4);
        struct esp_sim_result *r = simulate(p, plan, &o);
        near(r->resources[0]->busy_s, 200 * cost.load_s, 1e-9);
        assert_true(r->makespan_s >= r->resources[0]->busy_s * (1 - 1e-12));
        assert_int_equal(r->transfers, 200 * (uint64_t)(p->n_nodes - 1));
        esp_sim_result_free(r);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* No resource is held twice at once: seen from the transfers themselves. */
struct ports {
    const struct esp_platform *p;
    double *send_free_s, *recv_free_s;
    int64_t *next_slice; /* by node: slices arrive in order on one tree */
    int count;
};

static void watch(void *arg, const struct esp_sim_transfer *t)
{
    struct ports *w = arg;
    assert_true(t->start_s >= w->send_free_s[t->from] - 1e-12);
    assert_true(t->start_s >= w->recv_free_s[t->to] - 1e-12);
    assert_int_equal(t->slice, w->next_slice[t->to]);
    w->send_free_s[t->from] = w->recv_free_s[t->to] = t->end_s;
    w->next_slice[t->to]++;
    w->count++;
}

static void one_port_is_kept(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)test_draws(50); seed++) {
        struct esp_platform *p = random_platform(seed, 15, ESP_MODEL_ONE_PORT);
        struct esp_plan *plan = seeded_plan(p, seed, 1);
        double send_free[15] = {0}, recv_free[15] = {0};
        int64_t next[15] = {0};
        struct ports w = {p, send_free, recv_free, next, 0};
        struct esp_sim_options o = {
            .size = sizeof o, .size_bytes = 1e6, .slice_bytes = 1e5};
        o.on_transfer = watch;
        o.arg = &w;
        esp_sim_result_free(simulate(p, plan, &o));
        assert_int_equal(w.count, 14 * 10);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* A chain a - b - c, one slice of 10 bytes a second and link. */
static struct esp_platform *chain(const char *second_Bps)
{
    char text[512];
    struct esp_platform *p = NULL;
    snprintf(text, sizeof text,
             "{\"format\":\"espalier-platform/1\",\"model\":\"one-port\",\"nodes\":["
             "{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}],\"links\":["
             "{\"from\":\"a\",\"to\":\"b\",\"bandwidth_Bps\":10},"
             "{\"from\":\"b\",\"to\":\"c\",\"bandwidth_Bps\":%s}]}",
             second_Bps);
    assert_int_equal(esp_platform_parse(text, strlen(text), "chain", NULL, &p, NULL),
                     ESP_OK);
    return p;
}

static struct esp_plan *chain_plan(const struct esp_platform *p)
{
    struct esp_plan *plan = NULL;
    int links[2] = {0, 1};
    assert_int_equal(esp_plan_create(ESP_OP_BCAST, 0, "chain", &plan, NULL), ESP_OK);
    assert_int_equal(esp_plan_add_simple_tree(plan, p, 1, 2, links, NULL), ESP_OK);
    plan->size_bytes = 100;
    plan->slice_bytes = 10;
    return plan;
}

static void rates_change_and_links_go_down(void **state)
{
    (void)state;
    struct esp_platform *p = chain("10"), *slow = chain("5");
    struct esp_plan *plan = chain_plan(p);
    for (int fluid = 0; fluid < 2; fluid++) {
        struct esp_sim_options o = {.size = sizeof o,
                                    .sharing = fluid ? ESP_SHARING_FLUID
                                                     : ESP_SHARING_EXCLUSIVE};
        struct esp_sim_result *r = simulate(p, plan, &o);
        near(r->makespan_s, 11, 1e-9);
        near(r->delivered_s[1], 10, 1e-9);
        esp_sim_result_free(r);
        o.reality = slow; /* b -> c at half its speed: 1 + 10 * 2 */
        r = simulate(p, plan, &o);
        near(r->makespan_s, 21, 1e-9);
        esp_sim_result_free(r);
        o.reality = NULL; /* the same from 5.5 s on: 4.5 slices are through */
        struct esp_rate_change half = {5.5, 0, 1, 0.5};
        o.changes = &half;
        o.n_changes = 1;
        r = simulate(p, plan, &o);
        near(r->makespan_s, 5.5 + 5.5 * 2, 1e-9);
        esp_sim_result_free(r);
        struct esp_rate_change gap[2] = {{8, 0, 0, 1}, {3, 0, 0, 0}}; /* a -> b, 5 s */
        o.changes = gap;
        o.n_changes = 2;
        r = simulate(p, plan, &o);
        near(r->makespan_s, 16, 1e-9);
        esp_sim_result_free(r);
        o.n_changes = 0;
        o.changes = NULL;
        struct esp_rate_change cut = {4.5, 0, 1, 0}; /* b -> c for ever */
        o.changes = &cut;
        o.n_changes = 1;
        r = simulate(p, plan, &o);
        assert_int_equal(r->lost, 1);
        assert_true(isinf(r->delivered_s[2]));
        near(r->makespan_s, 10, 1e-9);
        esp_sim_result_free(r);
    }
    esp_plan_free(plan);
    esp_platform_free(p);
    esp_platform_free(slow);
}

static void nodes_stop(void **state)
{
    (void)state;
    struct esp_platform *p = chain("10");
    struct esp_plan *plan = chain_plan(p);
    for (int fluid = 0; fluid < 2; fluid++) {
        struct esp_node_stop stop = {4.5, 1};
        struct esp_sim_options o = {.size = sizeof o,
                                    .stops = &stop,
                                    .n_stops = 1,
                                    .sharing = fluid ? ESP_SHARING_FLUID
                                                     : ESP_SHARING_EXCLUSIVE};
        struct esp_sim_result *r = simulate(p, plan, &o);
        assert_true(isinf(r->delivered_s[1]) && isinf(r->delivered_s[2]));
        assert_int_equal(r->lost, 1); /* c; b is gone itself */
        esp_sim_result_free(r);
        stop.at_s = 30; /* too late to matter */
        r = simulate(p, plan, &o);
        assert_int_equal(r->lost, 0);
        near(r->makespan_s, 11, 1e-9);
        esp_sim_result_free(r);
    }
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* Until a fault happens all is as if it never would: what is there before it, and the
 * whole where it comes after the end. */
static void faults_change_nothing_before(void **state)
{
    (void)state;
    static const esp_model models[] = {ESP_MODEL_ONE_PORT, ESP_MODEL_HALF_DUPLEX,
                                       ESP_MODEL_MULTI_PORT, ESP_MODEL_CAPACITY};
    int later = 0;
    for (int i = 0; i < test_draws(60); i++) {
        struct esp_platform *p = random_platform((uint64_t)i, 8, models[i % 4]);
        struct esp_plan *plan = seeded_plan(p, (uint64_t)i, 1 + i % 5);
        struct esp_sim_options options;
        esp_sim_options_defaults(&options);
        plan->slice_bytes = 2e4;
        struct esp_sim_result *calm = simulate(p, plan, &options);
        for (int k = 0; k < 6; k++) {
            double at_s = calm->makespan_s * (k < 2 ? 100 : k < 4 ? 0.9 : 0.5);
            struct esp_node_stop stop = {at_s, 1 + i % 7};
            struct esp_rate_change down = {at_s, 0, i % esp_platform_link_count(p), 0};
            struct esp_sim_options with = options;
            with.n_stops = k % 2;
            with.stops = &stop;
            with.n_changes = 1 - k % 2;
            with.changes = &down;
            struct esp_sim_result *struck = simulate(p, plan, &with);
            for (int v = 0; v < calm->n_nodes; v++)
                if (calm->delivered_s[v] < at_s)
                    near(struck->delivered_s[v], calm->delivered_s[v], 1e-12);
            if (k < 2) {
                near(struck->makespan_s, calm->makespan_s, 1e-12);
                assert_true(struck->transfers == calm->transfers);
            }
            later += struck->makespan_s > calm->makespan_s;
            esp_sim_result_free(struck);
        }
        esp_sim_result_free(calm);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
    assert_true(later > 5 || test_draws(60) < 60); /* some did something */
}

/* Hosts that only relay are neither served nor lost. */
static void relays_do_not_count(void **state)
{
    (void)state;
    struct esp_platform *p = chain("10");
    struct esp_plan *plan = chain_plan(p);
    struct esp_node_stop stop = {10.5, 1};
    struct esp_sim_options o = {.size = sizeof o, .stops = &stop};
    const int c = 2;
    plan->op = ESP_OP_MULTICAST;
    assert_int_equal(esp_plan_set_targets(plan, 1, &c, NULL), ESP_OK);
    struct esp_sim_result *r = simulate(p, plan, &o);
    assert_int_equal(r->n_for, 1);
    assert_true(r->is_for[c] && !r->is_for[0] && !r->is_for[1]);
    near(r->delivered_s[c], 11, 1e-9);
    assert_int_equal(r->lost, 0);
    esp_sim_result_free(r);
    o.n_stops = 1; /* b, before its last slice is through */
    r = simulate(p, plan, &o);
    assert_true(isinf(r->delivered_s[c]));
    assert_int_equal(r->lost, 1);
    assert_true(r->makespan_s == 0); /* b's own 10 s are nobody's concern */
    esp_sim_result_free(r);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    struct esp_platform *p = chain("10"),
                        *other = random_platform(1, 3, ESP_MODEL_ONE_PORT);
    struct esp_plan *plan = chain_plan(p);
    struct esp_sim_result *r = NULL;
    struct esp_err err;
    struct esp_sim_options o = {.size = sizeof o, .reality = other};
    assert_int_equal(esp_simulate(p, plan, &o, &r, &err), ESP_EINPUT);
    assert_string_equal(err.text, "the reality has no node named 'a'");
    struct esp_rate_change change = {-1, 0, 1, 0.5};
    o = (struct esp_sim_options){
        .size = sizeof(struct esp_sim_options), .changes = &change, .n_changes = 1};
    assert_int_equal(esp_simulate(p, plan, &o, &r, &err), ESP_EUSAGE);
    change = (struct esp_rate_change){1, 0, 9, 0.5};
    assert_int_equal(esp_simulate(p, plan, &o, &r, &err), ESP_EUSAGE);
    struct esp_node_stop stop = {1, 9};
    o = (struct esp_sim_options){
        .size = sizeof(struct esp_sim_options), .stops = &stop, .n_stops = 1};
    assert_int_equal(esp_simulate(p, plan, &o, &r, &err), ESP_EUSAGE);
    assert_null(r);
    esp_plan_free(plan);
    esp_platform_free(p);
    esp_platform_free(other);
}

/* Two flows over one cable of 10 B/s, links of 8 and 40 B/s: fair shares are 5 and 5, and
 * when the first is through the other has the cable alone. */
static void fluid_shares_are_fair(void **state)
{
    (void)state;
    static const char text[] =
        "{\"format\":\"espalier-platform/1\",\"model\":\"capacity\",\"nodes\":["
        "{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}],\"links\":["
        "{\"from\":\"a\",\"to\":\"b\",\"bandwidth_Bps\":2},"
        "{\"from\":\"a\",\"to\":\"c\",\"bandwidth_Bps\":40}],"
        "\"shared\":[{\"name\":\"w\",\"bandwidth_Bps\":10,"
        "\"links\":[[\"a\",\"b\"],[\"a\",\"c\"]]}]}";
    struct esp_platform *p = NULL;
    assert_int_equal(esp_platform_parse(text, sizeof text - 1, "t", NULL, &p, NULL),
                     ESP_OK);
    struct esp_plan *plan = chain_plan(p);
    struct esp_sim_options o = {.size = sizeof o,
                                .size_bytes = 40,
                                .slice_bytes = 40,
                                .sharing = ESP_SHARING_FLUID};
    struct esp_sim_result *r = simulate(p, plan, &o);
    /* b gets 2 B/s, its link's all; c the 8 that are left of the cable */
    near(r->delivered_s[1], 20, 1e-9);
    near(r->delivered_s[2], 5, 1e-9);
    esp_sim_result_free(r);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void rounds_share_slices_by_weight(void **state)
{
    (void)state;
    struct espi_arena arena;
    struct esp_platform *p = chain("10");
    struct esp_plan *plan = chain_plan(p);
    struct espi_round round;
    int links[2] = {0, 1};
    espi_arena_init(&arena);
    plan->trees[0].weight = 2.0 / 7;
    assert_int_equal(esp_plan_add_simple_tree(plan, p, 1.0 / 7, 2, links, NULL), ESP_OK);
    assert_int_equal(esp_plan_add_simple_tree(plan, p, 4.0 / 7, 2, links, NULL), ESP_OK);
    struct espi_round_options limits = {1000, 1024, 1, 2e-3};
    assert_int_equal(espi_round_choose(p, plan, &limits, &arena, &round), 0);
    assert_int_equal(round.slots, 7);
    assert_true(round.count[0] == 2 && round.count[1] == 1 && round.count[2] == 4);
    limits.n_slices = 1;
    assert_int_equal(espi_round_choose(p, plan, &limits, &arena, &round), 0);
    assert_true(round.slots == 1 && round.count[2] == 1);
    struct espi_program prog;
    assert_int_equal(espi_program_compile(p, plan, NULL, &arena, &prog, NULL),
                     ESP_EUSAGE); /* it has no schedule yet */
    plan->size_bytes = 1000;
    plan->slice_bytes = 1;
    assert_int_equal(esp_plan_schedule(plan, p, NULL), ESP_OK);
    assert_int_equal(espi_program_compile(p, plan, NULL, &arena, &prog, NULL), ESP_OK);
    assert_int_equal(prog.slots % 7, 0);
    assert_int_equal(prog.rounds, (1000 + prog.slots - 1) / prog.slots);
    uint64_t end = 0;
    for (int64_t i = 0; i < 13; i++) {
        assert_int_equal(espi_slice_offset(100, 13, i), end);
        end = espi_slice_offset(100, 13, i + 1);
    }
    assert_int_equal(end, 100);
    espi_arena_done(&arena);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static esp_status simulate_one(void *arg)
{
    struct esp_platform *p = arg;
    struct esp_plan *plan = seeded_plan(p, 3, 1);
    struct esp_sim_result *r = NULL;
    struct esp_rate_change change = {0.001, 0, 1, 0.5};
    struct esp_sim_options o = {
        .size = sizeof o, .slice_bytes = 1e5, .changes = &change, .n_changes = 1};
    esp_status st = esp_simulate(p, plan, &o, &r, NULL);
    esp_sim_result_free(r);
    esp_plan_free(plan);
    return st;
}

static struct esp_plan *kept_plan;

static esp_status simulate_kept(void *arg)
{
    struct esp_sim_result *r = NULL;
    struct esp_sim_options o = {.size = sizeof o, .slice_bytes = 1e5};
    o.sharing = kept_plan->slice_bytes > 1e5 ? ESP_SHARING_EXCLUSIVE : ESP_SHARING_FLUID;
    esp_status st = esp_simulate(arg, kept_plan, &o, &r, NULL);
    esp_sim_result_free(r);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = random_platform(5, 6, ESP_MODEL_ONE_PORT);
    kept_plan = seeded_plan(p, 3, 2);
    assert_int_equal(simulate_one(p), ESP_OK);
    assert_true(alloc_fail_each(simulate_kept, p) > 3);
    kept_plan->slice_bytes = 1;
    assert_true(alloc_fail_each(simulate_kept, p) > 3);
    esp_plan_free(kept_plan);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atomic_makespans_are_equal),
        cmocka_unit_test(pipelined_makespans_agree),
        cmocka_unit_test(loads_bound_the_makespan),
        cmocka_unit_test(one_port_is_kept),
        cmocka_unit_test(rates_change_and_links_go_down),
        cmocka_unit_test(nodes_stop),
        cmocka_unit_test(faults_change_nothing_before),
        cmocka_unit_test(relays_do_not_count),
        cmocka_unit_test(processors_wait_for_cables),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(fluid_shares_are_fair),
        cmocka_unit_test(rounds_share_slices_by_weight),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
