/* Allgather by messages: the paper's figures, plans that are sound, and two independent
 * clocks that agree. */
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

#include "algo/allgather/agents.h"
#include "base/rng.h"
#include "bound/op_bound.h"
#include "cost/cost.h"
#include "plan/ops.h"
#include "select/slices.h"
#include "study/alltoall.h"
#include "support/seed.h"

static const char *const exchanges[] = {
    "gather-broadcast",
    "two-step",
    "simultaneous",
    "combining",
    "ring",
    "bruck",
    "recursive-doubling",
    "neighbor-exchange",
    "combining:order=speed",
    "combining:order=turns",
    "gather-broadcast:agents=2",
    "magpie",
    "magpie:gap=2",
};
enum { N_EXCHANGES = sizeof exchanges / sizeof *exchanges };

static struct esp_platform *hnow(int fast, int slow, double Bps)
{
    struct esp_hnow_options o;
    struct esp_platform *p = NULL, *q = NULL;
    esp_hnow_options_defaults(&o);
    o.fast = fast;
    o.slow = slow;
    o.bandwidth_Bps = Bps;
    assert_int_equal(esp_generate_hnow(&o, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_with_model(p, ESP_MODEL_HNOW, &q, NULL), ESP_OK);
    esp_platform_free(p);
    return q;
}

static struct esp_platform *unequal(uint64_t seed, int n, esp_model model, int sparse)
{
    struct esp_matrix_options o;
    struct esp_random_options r;
    struct esp_platform *p = NULL, *q = NULL;
    esp_matrix_options_defaults(&o);
    esp_random_options_defaults(&r);
    o.nodes = r.nodes = n;
    o.seed = r.seed = test_seed(seed);
    r.latency_s = 1e-4;
    assert_int_equal(sparse ? esp_generate_random(&r, &p, NULL)
                            : esp_generate_matrix(&o, &p, NULL),
                     ESP_OK);
    assert_int_equal(esp_platform_with_model(p, model, &q, NULL), ESP_OK);
    esp_platform_free(p);
    return q;
}

static struct esp_plan *planned_for(const struct esp_platform *p, esp_op op,
                                    const char *algo, double size)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    esp_request_init(&request, 0);
    request.op = op;
    request.algo = algo;
    request.size_bytes = size;
    esp_status st = esp_plan_make(p, &request, &plan, &err);
    if (st == ESP_EUNSUPPORTED)
        return NULL;
    if (st)
        fail_msg("%s: %s", algo, err.text);
    return plan;
}

static struct esp_plan *planned(const struct esp_platform *p, const char *algo,
                                double size)
{
    return planned_for(p, ESP_OP_ALLGATHER, algo, size);
}

static double simulated_s(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct esp_sim_result *r = NULL;
    struct esp_err err;
    if (esp_simulate(p, plan, NULL, &r, &err))
        fail_msg("%s", err.text);
    assert_int_equal(r->lost, 0);
    double s = r->makespan_s;
    esp_sim_result_free(r);
    return s;
}

/* ---- the paper ---- */

/* T1, T2, T3 for 1 to 8 agents, in microseconds: by hand from the formulas. */
static const int gather_broadcast[8][3] = {
    {670, 0, 980},    {420, 250, 620},  {420, 320, 530},  {350, 480, 440},
    {350, 1160, 440}, {350, 1450, 440}, {350, 1740, 440}, {0, 2030, 0}};
static const int two_step[8][3] = {{670, 0, 980},    {460, 250, 620},  {460, 320, 530},
                                   {550, 480, 440},  {1160, 610, 440}, {1450, 520, 440},
                                   {1740, 540, 440}, {2030, 0, 0}};

static void check_stages(struct espi_agents *a, espi_estimate *estimate,
                         const int table[8][3], int best)
{
    for (int m = 1; m <= 8; m++) {
        struct espi_stages s = espi_agents_choose(a, m, estimate);
        assert_true(fabs(s.gather_s * 1e6 - table[m - 1][0]) < 0.01);
        assert_true(fabs(s.exchange_s * 1e6 - table[m - 1][1]) < 0.01);
        assert_true(fabs(s.scatter_s * 1e6 - table[m - 1][2]) < 0.01);
        assert_int_equal(a->m, m);
    }
    espi_agents_choose(a, 0, estimate);
    assert_int_equal(a->m, best);
}

static void the_papers_choice_of_agents_comes_out(void **state)
{
    (void)state;
    struct esp_platform *p = hnow(4, 4, 1e15);
    struct espi_arena arena;
    struct espi_view view;
    struct espi_agents a;
    struct esp_request request;
    espi_arena_init(&arena);
    esp_request_init(&request, 0);
    request.size_bytes = 8 * 32;
    assert_int_equal(espi_view_init(&view, p, 32, &arena, NULL), ESP_OK);
    struct espi_task task = {.p = p, .request = &request, .view = &view, .arena = &arena};
    assert_int_equal(espi_agents_init(&a, &task), 0);
    check_stages(&a, espi_gather_broadcast_estimate, gather_broadcast, 4);
    check_stages(&a, espi_two_step_estimate, two_step, 3);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

/* The agents' broadcast alone, by the clock: all fast, or all eight. The estimate takes
 * all messages to leave at once, which matters for three agents only. */
static void simulation_meets_the_estimate_of_a_stage(void **state)
{
    (void)state;
    static const int want_us[] = {250, 340, 480, 1160, 1450, 1740, 2030};
    for (int m = 2; m <= 8; m++) {
        struct esp_platform *p = hnow(m < 4 ? m : 4, m < 4 ? 0 : m - 4, 1e15);
        struct esp_plan *plan = planned(p, "simultaneous", 32.0 * m);
        double us = simulated_s(p, plan) * 1e6;
        assert_true(fabs(us - want_us[m - 2]) < 0.01);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* Definition 4 counts j sends before the arrival of the j-th, of which T_end holds the
 * last: one T_send too much. While all agents are alike that is all, but for three
 * agents, whose broadcasts take 20 us longer than estimated. Where some are slow, fast
 * agents go on before all are done, and the estimate is from above. */
static void simulation_brackets_the_estimate_of_the_whole(void **state)
{
    (void)state;
    struct esp_platform *p = hnow(4, 4, 1e15);
    for (int i = 0; i < 16; i++) {
        int m = 1 + i % 8, two = i / 8;
        const int *t = two ? two_step[m - 1] : gather_broadcast[m - 1];
        char algo[64];
        snprintf(algo, sizeof algo, "%s:agents=%d", two ? "two-step" : "gather-broadcast",
                 m);
        struct esp_plan *plan = planned(p, algo, 256);
        double us = simulated_s(p, plan) * 1e6, all_us = t[0] + t[1] + t[2];
        double want_us = all_us - (m < 8 ? 90 : 0) + (m == 3 ? 20 * (1 + two) : 0);
        if (m <= 4 || m == 8)
            assert_true(fabs(us - want_us) < 0.01);
        else
            assert_true(us < want_us && us > fmax(t[0], fmax(t[1], t[2])) - 0.01);
        esp_plan_free(plan);
    }
    esp_platform_free(p);
}

/* ---- plans ---- */

static double least_s(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct espi_arena arena;
    double s = 0;
    espi_arena_init(&arena);
    assert_int_equal(
        espi_plan_load_s(p, plan, plan->size_bytes, plan->slice_bytes, &arena, &s),
        ESP_OK);
    espi_arena_done(&arena);
    return s;
}

/* What is claimed is what the simulator finds, and no clock is earlier than the busiest
 * port. */
static void compare_clocks(const struct esp_platform *p, const struct esp_plan *plan)
{
    double s = simulated_s(p, plan), off = fabs(plan->makespan_s / s - 1);
    assert_true(s >= least_s(p, plan) * (1 - 1e-9));
    assert_true(plan->makespan_s >= least_s(p, plan) * (1 - 1e-9));
    if (off > 1e-9)
        fail_msg("%s of %s on %d hosts, %s: simulated %g s, claimed %g s", plan->algo,
                 esp_op_name(plan->op), esp_platform_node_count(p),
                 esp_model_name(esp_platform_model(p)), s, plan->makespan_s);
}

static void plans_are_sound_and_both_clocks_agree(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        int n = 2 + round % 13;
        esp_model model = (esp_model)(round % ESP_MODEL_COUNT);
        struct esp_platform *p = unequal((uint64_t)round, n, model, round % 3 == 2);
        for (int i = 0; i < 2 * N_EXCHANGES; i++) {
            esp_op op = i < N_EXCHANGES ? ESP_OP_ALLGATHER : ESP_OP_REDUCE_SCATTER;
            struct esp_plan *plan =
                planned_for(p, op, exchanges[i % N_EXCHANGES], 1000.0 * n);
            if (!plan)
                continue;
            compare_clocks(p, plan);
            esp_plan_free(plan);
        }
        esp_platform_free(p);
    }
}

/* Where every host has one message to send and one to receive in each step there is
 * nothing to guess. */
static void regular_exchanges_cost_what_they_cost(void **state)
{
    (void)state;
    for (int n = 2; n <= 16; n++) {
        struct esp_complete_options o;
        struct esp_platform *p = NULL;
        esp_complete_options_defaults(&o);
        o.nodes = n;
        o.bandwidth.deviation_Bps = 0;
        o.bandwidth.mean_Bps = 1e6;
        o.latency_s = 1e-3;
        assert_int_equal(esp_generate_complete(&o, &p, NULL), ESP_OK);
        double part = 5000, log2n = ceil(log2(n));
        const struct {
            const char *algo;
            double steps;
        } cases[] = {{"ring", n - 1.0},
                     {"bruck", log2n},
                     {"recursive-doubling", log2n},
                     {"neighbor-exchange", n / 2}};
        for (int i = 0; i < 4; i++) {
            struct esp_plan *plan = planned(p, cases[i].algo, part * n);
            if (!plan)
                continue;
            double want = cases[i].steps * 1e-3 + (n - 1) * part / 1e6;
            assert_true(fabs(simulated_s(p, plan) - want) < 1e-9);
            assert_true(fabs(plan->makespan_s - want) < 1e-9);
            esp_plan_free(plan);
        }
        esp_platform_free(p);
    }
}

/* ---- files ---- */

static char *written(const struct esp_plan *plan, const struct esp_platform *p)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    assert_int_equal(esp_plan_write_stream(plan, p, f, NULL), ESP_OK);
    fclose(f);
    return text;
}

static void steps_survive_a_file(void **state)
{
    (void)state;
    struct esp_platform *p = hnow(3, 2, 1e9);
    for (int i = 0; i < N_EXCHANGES; i++) {
        struct esp_plan *plan = planned(p, exchanges[i], 5000), *back = NULL;
        if (!plan)
            continue;
        char *text = written(plan, p);
        assert_int_equal(esp_plan_parse(text, strlen(text), "x", p, &back, NULL), ESP_OK);
        char *again = written(back, p);
        assert_string_equal(text, again);
        assert_true(simulated_s(p, plan) == simulated_s(p, back));
        free(text);
        free(again);
        esp_plan_free(plan);
        esp_plan_free(back);
    }
    esp_platform_free(p);
}

static void wrong_steps_are_refused(void **state)
{
    (void)state;
    struct esp_platform *p = hnow(4, 0, 1e9);
    struct esp_plan *plan = planned(p, "ring", 4000);
    struct esp_err err;
    int *steps = plan->trees[2].steps, kept = steps[1];
    steps[1] = steps[0];
    assert_int_equal(esp_plan_check(plan, p, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, "does not come after"));
    steps[1] = -1;
    assert_int_equal(esp_plan_check(plan, p, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, "negative"));
    steps[1] = kept;
    assert_int_equal(esp_plan_check(plan, p, &err), ESP_OK);
    plan->trees[2].steps = NULL;
    assert_int_equal(esp_plan_check(plan, p, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, "all of them with steps"));
    plan->trees[2].steps = steps;
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* ---- long messages ---- */

/* A send of b bytes costs its processor send_s + b / send_Bps, and so on. */
static void long_messages_cost_their_bytes(void **state)
{
    (void)state;
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    struct esp_node_rates slow = {.send_Bps = 1e6, .recv_Bps = 5e5, .hold_Bps = 2e5};
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_HNOW);
    for (int i = 0; i < 3; i++) {
        char name[2] = {(char)('a' + i), 0};
        struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, 0.25, 0.5};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
        assert_int_equal(esp_builder_set_rates(b, i, &slow, NULL), ESP_OK);
    }
    for (int i = 0; i < 6; i++)
        assert_int_equal(
            esp_builder_add_link(b, i / 2, (i / 2 + 1 + i % 2) % 3, 2, 1e5, NULL, NULL),
            ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    /* parts of 1e6 bytes: T_send 1.25, T_recv 2.5, T_hold 5, T_end 12. Both others' parts
     * are there at 9.5 and at 5 + 9.5, and are read in 2.5 each. */
    struct esp_plan *plan = planned(p, "simultaneous", 3e6);
    assert_true(fabs(simulated_s(p, plan) - 17) < 1e-9);
    assert_true(fabs(plan->makespan_s - 17) < 1e-9);
    /* the interface is the busiest: two sends of 5 s for 3e6 bytes */
    assert_true(fabs(plan->throughput_Bps - 3e6 / 10) < 1e-3);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* No plan yields more than the bound for slices as long as its messages. */
static void check_bound(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct espi_op_bound_task task = {
        .p = p, .op = plan->op, .slice_bytes = plan->slice_bytes};
    struct espi_op_bound bound = {0};
    assert_int_equal(espi_op_bound(&task, &bound, NULL), ESP_OK);
    assert_true(plan->throughput_Bps <= bound.throughput_Bps * (1 + 1e-9));
}

/* When all is everywhere as simulated, and what its messages cost beside their bytes. */
static double with_messages_s(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct espi_arena arena;
    double messages = 0;
    espi_arena_init(&arena);
    assert_int_equal(
        espi_messages(plan, plan->size_bytes, plan->slice_bytes, &arena, &messages),
        ESP_OK);
    espi_arena_done(&arena);
    return espi_with_messages_s(p, simulated_s(p, plan), espi_message_s(p) * messages);
}

/* What auto chooses is no later than any classical one, the messages of both counted. */
static void no_later_than_classical_ones(const struct esp_platform *p, double part,
                                         int round)
{
    double size = part * esp_platform_node_count(p);
    struct esp_plan *chosen = planned(p, "auto", size);
    double chosen_s = with_messages_s(p, chosen);
    check_bound(p, chosen);
    for (int i = 0; i < ESPI_ALLTOALL_CLASSICAL; i++) {
        struct esp_plan *plan = planned(p, espi_alltoall_algos[i], size);
        if (plan && !(chosen_s <= with_messages_s(p, plan) * (1 + 1e-9)))
            fail_msg("round %d, %s, parts of %g bytes: %s takes %g s, %s %g s", round,
                     esp_model_name(esp_platform_model(p)), part, chosen->algo, chosen_s,
                     plan->algo, with_messages_s(p, plan));
        esp_plan_free(plan);
    }
    esp_plan_free(chosen);
}

/* Random mixes of speeds. */
static void auto_is_never_worse_than_the_classical_ones(void **state)
{
    (void)state;
    static const int hosts[] = {8, 11, 16, 8, 23, 32, 9, 16, 12, 64};
    static const double ratios[] = {1.2, 1.5, 2, 3, 4, 8, 16};
    for (int round = 0; round < test_draws(70); round++) {
        int n = hosts[round % 10];
        struct esp_platform *p = NULL;
        if (n == 64 && round > 40)
            continue;
        assert_int_equal(
            espi_alltoall_mix(n, ratios[round % 7], test_seed((uint64_t)round), &p, NULL),
            ESP_OK);
        no_later_than_classical_ones(p, 16 * pow(4, (round * 5) % 7), round);
        esp_platform_free(p);
    }
}

/* The same in the other models, on matrices of unequal links and on sparse networks. */
static void auto_is_never_worse_in_any_model(void **state)
{
    (void)state;
    for (int round = 0; round < test_draws(40); round++) {
        esp_model model = (esp_model)(round % ESP_MODEL_COUNT);
        struct esp_platform *p =
            unequal((uint64_t)round + 100, 4 + round % 9, model, round % 3 == 2);
        no_later_than_classical_ones(p, 16 * pow(8, (round / 5 * 3) % 7), round);
        esp_platform_free(p);
    }
}

/* The same where hosts pass on for others. */
static void auto_is_never_worse_on_sparse_networks(void **state)
{
    (void)state;
    for (int round = 0; round < 16; round++) {
        esp_model model = (esp_model)(round % 4);
        struct esp_platform *p = unequal((uint64_t)round + 500, 10 + round, model, 1);
        no_later_than_classical_ones(p, 16 * pow(8, round % 6), round);
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_choice_of_agents_comes_out),
        cmocka_unit_test(simulation_meets_the_estimate_of_a_stage),
        cmocka_unit_test(simulation_brackets_the_estimate_of_the_whole),
        cmocka_unit_test(plans_are_sound_and_both_clocks_agree),
        cmocka_unit_test(regular_exchanges_cost_what_they_cost),
        cmocka_unit_test(steps_survive_a_file),
        cmocka_unit_test(wrong_steps_are_refused),
        cmocka_unit_test(long_messages_cost_their_bytes),
        cmocka_unit_test(auto_is_never_worse_than_the_classical_ones),
        cmocka_unit_test(auto_is_never_worse_in_any_model),
        cmocka_unit_test(auto_is_never_worse_on_sparse_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
