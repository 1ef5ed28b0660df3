/* Schedules: vectors, the checker, files, and programs that follow them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "cost/cost.h"
#include "plan/schedule.h"
#include "platform/platform.h"
#include "program/program.h"
#include "schedule/arrange.h"
#include "support/alloc_fail.h"
#include "support/plans.h"
#include "support/random_plan.h"
#include "support/seed.h"
#include "support/small_platform.h"

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b))))
        fail_msg("%.12g is not %.12g", a, b);
}

/* ---- vectors ---- */

static struct esp_plan *plan_of(const struct esp_platform *p, int n_trees,
                                const char *const *trees, const int *count)
{
    struct esp_plan *plan = NULL;
    int sum = 0;
    for (int t = 0; t < n_trees; t++)
        sum += count[t];
    assert_int_equal(esp_plan_create(ESP_OP_BCAST, 0, "given", &plan, NULL), ESP_OK);
    for (int t = 0; t < n_trees; t++) {
        int links[16], n = 0;
        for (const char *at = trees[t]; *at; at += 2 + (at[2] == ' '))
            links[n++] = esp_platform_find_link(p, at[0] - '0', at[1] - '0');
        assert_int_equal(
            esp_plan_add_simple_tree(plan, p, (double)count[t] / sum, n, links, NULL),
            ESP_OK);
    }
    return plan;
}

static struct esp_platform *v1(void)
{
    static const struct small_arc arcs[] = {{0, 1, 1}, {0, 2, 1}, {1, 2, 2}, {2, 1, 2}};
    return small_platform(ESP_MODEL_ONE_PORT, 3, arcs, 4);
}

static struct esp_plan *v1_plan(const struct esp_platform *p)
{
    static const char *const trees[] = {"01 02", "01 12", "02 21"};
    return plan_of(p, 3, trees, (int[]){1, 1, 1});
}

static struct esp_platform *v3(void)
{
    static const int ends[][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {1, 2, 2},
                                  {1, 4, 5}, {2, 3, 1}, {2, 4, 2}, {3, 4, 3}};
    struct small_arc arcs[16];
    for (int i = 0; i < 8; i++) {
        arcs[2 * i] = (struct small_arc){ends[i][0], ends[i][1], ends[i][2]};
        arcs[2 * i + 1] = (struct small_arc){ends[i][1], ends[i][0], ends[i][2]};
    }
    return small_platform(ESP_MODEL_ONE_PORT, 5, arcs, 16);
}

static struct esp_plan *v3_plan(const struct esp_platform *p)
{
    static const char *const trees[] = {"01 12 23 24", "01 12 23 34", "01 12 24 43"};
    return plan_of(p, 3, trees, (int[]){2, 1, 4});
}

static void cut(struct esp_plan *plan, double n_slices)
{
    plan->size_bytes = n_slices;
    plan->slice_bytes = 1;
}

static void attach(struct esp_plan *plan, const struct esp_platform *p)
{
    struct esp_err err = {.text = ""};
    if (esp_plan_schedule(plan, p, &err) || esp_plan_check(plan, p, &err))
        fail_msg("%s", err.text);
}

static double simulated_s(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct esp_sim_result *r = NULL;
    struct esp_err err = {.text = ""};
    if (esp_simulate(p, plan, NULL, &r, &err))
        fail_msg("%s", err.text);
    double s = r->makespan_s;
    assert_int_equal(r->lost, 0);
    esp_sim_result_free(r);
    return s;
}

static double claimed_s(const struct esp_platform *p, struct esp_plan *plan)
{
    assert_int_equal(esp_plan_evaluate(plan, p, NULL), ESP_OK);
    return plan->makespan_s;
}

/* Three trees of a slice each: the ports of the two receivers are busy for 4 s of every
 * round, and nothing else is. */
static void vector_1(void **state)
{
    (void)state;
    struct esp_platform *p = v1();
    struct esp_plan *plan = v1_plan(p);
    cut(plan, 300);
    attach(plan, p);
    const struct esp_schedule *s = plan->schedule;
    assert_int_equal(s->slots % 3, 0);
    assert_int_equal(s->n_sends, 2 * s->slots);
    for (int t = 0; t < 3; t++)
        assert_int_equal(s->tree_slices[t], s->slots / 3);
    double through_s = simulated_s(p, plan);
    assert_true(through_s >= 400 && through_s <= 404);
    near(claimed_s(p, plan), through_s, 1e-12);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* Seven slices take the busiest port 15 s. */
static void vector_3(void **state)
{
    (void)state;
    struct esp_platform *p = v3();
    struct esp_plan *plan = v3_plan(p);
    cut(plan, 700);
    attach(plan, p);
    double through_s = simulated_s(p, plan);
    if (through_s > 1545 + 1e-9 || through_s < 1500)
        fail_msg("%.12g s", through_s);
    near(claimed_s(p, plan), through_s, 1e-12);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* ---- random plans ---- */

static const esp_model port_models[] = {ESP_MODEL_ONE_PORT, ESP_MODEL_HALF_DUPLEX};

/* Is the plan's schedule one that passes the checker, whatever the effort? And is a round
 * no shorter than its busiest resource? */
static void check_random(const struct esp_platform *p, struct esp_plan *plan,
                         espi_effort effort)
{
    struct espi_arena arena;
    struct espi_cost cost;
    struct esp_err err = {.text = ""};
    double n = ceil(plan->size_bytes / plan->slice_bytes);
    if (espi_plan_schedule(plan, p, effort, &err) || esp_plan_check(plan, p, &err))
        fail_msg("%s", err.text);
    const struct esp_schedule *s = plan->schedule;
    double through_s = simulated_s(p, plan);
    /* what the shares that were chosen load, not the weights */
    for (int t = 0; t < plan->n_trees; t++)
        plan->trees[t].weight = fmax(1e-300, (double)s->tree_slices[t] / s->slots);
    espi_arena_init(&arena);
    assert_int_equal(espi_plan_cost(p, plan, n, 1, &arena, &cost, NULL), 0);
    espi_arena_done(&arena);
    double whole = floor(n / s->slots) * s->slots;
    assert_true(through_s >= whole * cost.load_s * (1 - 1e-9));
}

static void random_schedules_pass_the_checker(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(7));
    for (int round = 0; round < test_draws(2000); round++) {
        struct small_options o = {.n = 2 + (int)espi_rng_below(&rng, 14),
                                  .density = 0.3,
                                  .whole = round % 2 ? 5 : 0,
                                  .model = (esp_model)(round % ESP_MODEL_COUNT)};
        struct esp_platform *p = small_random(&rng, &o);
        int n_trees = 1 + (int)espi_rng_below(&rng, 6);
        struct esp_plan *plan = random_plan(p, &rng, n_trees, round % 5 == 0);
        cut(plan, 1 + round % 100);
        check_random(p, plan, round % 3 ? ESPI_EFFORT_QUICK : ESPI_EFFORT_FULL);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* A schedule can be followed with more slices and with fewer than it was made for, and by
 * messages of less than a round. */
static void other_messages_follow_it(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(17));
    for (int round = 0; round < test_draws(500); round++) {
        struct small_options o = {.n = 2 + (int)espi_rng_below(&rng, 10),
                                  .density = 0.4,
                                  .model = (esp_model)(round % ESP_MODEL_COUNT)};
        struct esp_platform *p = small_random(&rng, &o);
        int n_trees = 1 + (int)espi_rng_below(&rng, 5);
        struct esp_plan *plan = random_plan(p, &rng, n_trees, 0);
        cut(plan, 1 + espi_rng_below(&rng, 60));
        attach(plan, p);
        int slots = plan->schedule->slots;
        for (int n = 1; n <= 2 * slots + 1; n += 1 + slots / 3) {
            struct esp_sim_options other;
            esp_sim_options_defaults(&other);
            other.size_bytes = n * 3.0;
            other.slice_bytes = 3;
            struct esp_sim_result *r = NULL;
            assert_int_equal(esp_simulate(p, plan, &other, &r, NULL), ESP_OK);
            assert_int_equal(r->lost, 0);
            esp_sim_result_free(r);
        }
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* All slices arrive whatever the model, the plan, the message: there is no deadlock. */
static void programs_run_to_their_end(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(11));
    for (int round = 0; round < test_draws(1500); round++) {
        struct small_options o = {.n = 2 + (int)espi_rng_below(&rng, 10),
                                  .density = 0.4,
                                  .whole = round % 2 ? 3 : 0,
                                  .model = (esp_model)(round % ESP_MODEL_COUNT)};
        struct esp_platform *p = small_random(&rng, &o);
        struct esp_plan *plan =
            random_plan(p, &rng, 1 + (int)espi_rng_below(&rng, 5), round % 3 == 0);
        cut(plan, 1 + espi_rng_below(&rng, 90));
        if (round % 7 == 0)
            attach(plan, p);
        assert_true(simulated_s(p, plan) > 0);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* Long messages come within 1% of what the loads allow. In half-duplex several trees may
 * not: no schedule reaches the loads of three nodes that all talk to each other. */
static void long_messages_reach_the_loads(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(13));
    for (int round = 0; round < test_draws(120); round++) {
        struct small_options o = {.n = 3 + (int)espi_rng_below(&rng, 15),
                                  .density = 0.4,
                                  .model = port_models[round % 3 == 2]};
        struct esp_platform *p = small_random(&rng, &o);
        int n_trees = o.model == ESP_MODEL_ONE_PORT ? 2 + round % 4 : 1;
        struct esp_plan *plan = random_plan(p, &rng, n_trees, 0);
        struct espi_arena arena;
        struct espi_cost cost;
        cut(plan, 8000);
        espi_arena_init(&arena);
        assert_int_equal(espi_plan_cost(p, plan, 8000, 1, &arena, &cost, NULL), ESP_OK);
        espi_arena_done(&arena);
        double through_s = simulated_s(p, plan);
        if (through_s > 8000 * cost.period_s * 1.01)
            fail_msg("round %d: %d nodes, %d trees: %.4f of the throughput", round, o.n,
                     n_trees, 8000 * cost.period_s / through_s);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* ---- the checker and files ---- */

/* The first send that waits for another, and the one it waits for. */
static void find_pair(const struct esp_plan *plan, int *before, int *after)
{
    const struct esp_schedule *s = plan->schedule;
    for (*after = 0; *after < s->n_sends; ++*after) {
        const struct esp_send *x = &s->sends[*after];
        const struct esp_tree *tree = &plan->trees[x->tree];
        for (*before = 0; *before < s->n_sends; ++*before) {
            const struct esp_send *y = &s->sends[*before];
            if (y->tree == x->tree && y->slice == x->slice &&
                tree->edges[y->edge].to == tree->edges[x->edge].from)
                return;
        }
    }
    fail_msg("nothing waits for anything");
}

static void spoil(const struct esp_plan *plan, int how)
{
    struct esp_schedule *s = plan->schedule;
    struct esp_send *x = &s->sends[3];
    int before = 0, after = 0;
    find_pair(plan, &before, &after);
    switch (how) {
    case 0:
        s->slots++;
        break;
    case 1:
        s->slots = 0;
        break;
    case 2:
        s->slots = INT32_MAX;
        break;
    case 3:
        s->tree_slices[0] = -1;
        break;
    case 4:
        s->tree_slices[0] += 2;
        s->tree_slices[2] -= 2;
        break;
    case 5:
        x->tree = 3;
        break;
    case 6:
        x->edge = -1;
        break;
    case 7:
        x->part = 1;
        break;
    case 8:
        x->slice = s->tree_slices[x->tree];
        break;
    case 9:
        x->slice = -1;
        break;
    case 10:
        x->lag = -1;
        break;
    case 11:
        x->lag = INT32_MAX;
        break;
    case 12:
        s->sends[4] = *x;
        break;
    case 13:
        s->n_sends--;
        break;
    case 14:
        s->slice_bytes = 0;
        break;
    case 15:
        s->slice_bytes = NAN;
        break;
    case 16:
        x->tree = -1;
        break;
    case 17:
        x->part = -1;
        break;
    case 18: /* earlier than what it waits for, by a round */
        s->sends[before].lag = s->sends[after].lag + 1;
        break;
    default: { /* and in its round */
        int first = before < after ? before : after, last = before + after - first;
        struct esp_send one = s->sends[before], other = s->sends[after];
        one.lag = other.lag;
        s->sends[first] = other;
        s->sends[last] = one;
    }
    }
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    struct esp_platform *p = v3();
    for (int how = 0; how < 20; how++) {
        struct esp_plan *plan = v3_plan(p);
        struct esp_err err = {.text = ""};
        cut(plan, 700);
        attach(plan, p);
        spoil(plan, how);
        if (esp_plan_check(plan, p, &err) != ESP_EINPUT || !err.text[0])
            fail_msg("spoilt in way %d, and not refused", how);
        esp_plan_free(plan);
    }
    esp_platform_free(p);
}

static esp_status parse(const struct esp_platform *p, const char *text,
                        struct esp_plan **out, struct esp_err *err)
{
    return esp_plan_parse(text, strlen(text), "f", p, out, err);
}

static void schedules_are_written_and_read(void **state)
{
    (void)state;
    struct esp_platform *p = v3();
    struct esp_plan *plan = v3_plan(p), *again = NULL;
    struct esp_err err = {.text = ""};
    size_t n, n2;
    cut(plan, 700);
    attach(plan, p);
    char *text = plan_json(plan, p, &n);
    assert_non_null(strstr(text, "\"tree_slices\": ["));
    if (parse(p, text, &again, &err))
        fail_msg("%s", err.text);
    char *text2 = plan_json(again, p, &n2);
    assert_string_equal(text, text2);
    assert_true(simulated_s(p, plan) == simulated_s(p, again));
    int links[4] = {0, 6, 10, 12};
    assert_int_equal(esp_plan_add_simple_tree(again, p, 0.1, 4, links, NULL), ESP_OK);
    assert_null(again->schedule);
    free(text);
    free(text2);
    esp_plan_free(plan);
    esp_plan_free(again);
    esp_platform_free(p);
}

#define V1_PLAN(schedule)                                                                \
    "{\"format\":\"espalier-plan/1\",\"root\":\"p0\",\"schedule\":" schedule             \
    ",\"trees\":[{\"weight\":1,\"edges\":[[\"p0\",\"p1\"],[\"p1\",\"p2\"]]}]}"
#define V1_SENDS(sends)                                                                  \
    "{\"slice_bytes\":1,\"slots\":1,\"tree_slices\":[1],\"sends\":[" sends "]}"

static void hostile_schedules_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why; /* NULL: it is good */
    } texts[] = {
        {V1_PLAN(V1_SENDS("[0,0],[0,1]")), NULL},
        {V1_PLAN(V1_SENDS("[0,1,0,1],[0,0,0,0,0]")), NULL},
        {V1_PLAN(V1_SENDS("[0,1],[0,0]")), "before it is there"},
        {V1_PLAN(V1_SENDS("[0,0,0,1],[0,1]")), "before it is there"},
        {V1_PLAN(V1_SENDS("[0,0],[0,0]")), "there before"},
        {V1_PLAN(V1_SENDS("[0,0]")), "has 1 sends, its rounds have 2"},
        {V1_PLAN(V1_SENDS("[0,0],[0,1],[0,1]")), "has 3 sends"},
        {V1_PLAN(V1_SENDS("")), "has 0 sends"},
        {V1_PLAN(V1_SENDS("[0,0],[0,7]")), "no such"},
        {V1_PLAN(V1_SENDS("[0,0],[1,1]")), "no such"},
        {V1_PLAN(V1_SENDS("[0,0],[0,1,1]")), "no such"},
        {V1_PLAN(V1_SENDS("[0,0],[0,1,0,0,1]")), "no such"},
        {V1_PLAN(V1_SENDS("[0,0],[0,1,0,1000000]")), "lags 1000000 rounds"},
        {V1_PLAN(V1_SENDS("[0.5,0]")), "whole number"},
        {V1_PLAN(V1_SENDS("[-1,0]")), "whole number"},
        {V1_PLAN(V1_SENDS("[1e300,0]")), "whole number"},
        {V1_PLAN(V1_SENDS("[0]")), "a tree and an"},
        {V1_PLAN(V1_SENDS("[0,0,1,0,0,0]")), "at most five"},
        {V1_PLAN(V1_SENDS("7")), ""},
        {V1_PLAN("{}"), "no \"slice_bytes\""},
        {V1_PLAN("{\"slice_bytes\":1}"), "no \"slots\""},
        {V1_PLAN("{\"slice_bytes\":1,\"slots\":1}"), "no \"tree_slices\""},
        {V1_PLAN("{\"slice_bytes\":1,\"slots\":1,\"tree_slices\":[1]}"), "no \"sends\""},
        {V1_PLAN("[]"), ""},
        {V1_PLAN("{\"slice_bytes\":1,\"slots\":2,\"tree_slices\":[1,1],\"sends\":[]}"),
         "for 2 trees"},
        {V1_PLAN("{\"slice_bytes\":-1,\"slots\":1,\"tree_slices\":[1],\"sends\":[]}"),
         "positive slice"},
        {V1_PLAN("{\"slice_bytes\":1,\"slots\":1000000000,\"tree_slices\":[1000000000],"
                 "\"sends\":[]}"),
         "a round of"},
        {V1_PLAN("{\"slice_bytes\":1,\"slots\":1,\"tree_slices\":[1],\"sends\":[],"
                 "\"sends\":[]}"),
         "twice"},
    };
    struct esp_platform *p = v1();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct esp_plan *plan = NULL;
        struct esp_err err = {.text = ""};
        esp_status st = parse(p, texts[i].text, &plan, &err);
        if (!texts[i].why ? st != ESP_OK
                          : st != ESP_EINPUT || plan || !strstr(err.text, texts[i].why))
            fail_msg("%s: status %d, '%s'", texts[i].text, st, err.text);
        esp_plan_free(plan);
    }
    esp_platform_free(p);
}

/* ---- resources beyond ports ---- */

/* A star whose centre reaches its leaves over a switch, half as fast at the leaves: the
 * port of a leaf is held twice as long as that of the centre. Two leaves at a time. */
static void switches_and_cables(void **state)
{
    (void)state;
    static const char text[] =
        "{\"format\":\"espalier-platform/1\",\"model\":\"one-port\",\"nodes\":["
        "{\"name\":\"a\"},{\"name\":\"s\",\"kind\":\"switch\"},{\"name\":\"b\"},"
        "{\"name\":\"c\"}],\"links\":["
        "{\"from\":\"a\",\"to\":\"s\",\"bandwidth_Bps\":2},"
        "{\"from\":\"s\",\"to\":\"b\",\"bandwidth_Bps\":1},"
        "{\"from\":\"s\",\"to\":\"c\",\"bandwidth_Bps\":1},"
        "{\"from\":\"b\",\"to\":\"c\",\"bandwidth_Bps\":4,\"duplex\":true}],"
        "\"shared\":[{\"name\":\"w\",\"bandwidth_Bps\":4,"
        "\"links\":[[\"a\",\"s\"],[\"b\",\"c\"]]}]}";
    static const char trees[] =
        "{\"format\":\"espalier-plan/1\",\"root\":\"a\",\"size_bytes\":1000,"
        "\"slice_bytes\":1,\"trees\":["
        "{\"weight\":0.5,\"edges\":[[\"a\",\"s\",\"b\"],[\"a\",\"s\",\"c\"]]},"
        "{\"weight\":0.5,\"edges\":[[\"a\",\"s\",\"c\"],[\"c\",\"b\"]]}]}";
    struct esp_platform *p = NULL;
    struct esp_plan *plan = NULL;
    assert_int_equal(esp_platform_parse(text, sizeof text - 1, "t", NULL, &p, NULL),
                     ESP_OK);
    assert_int_equal(parse(p, trees, &plan, NULL), ESP_OK);
    attach(plan, p);
    /* c gets every slice, a second each */
    assert_true(simulated_s(p, plan) <= 1000 * 1.01);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* ---- memory ---- */

static struct esp_platform *kept_platform;
static char *kept_text;

static esp_status schedule_kept(void *arg)
{
    struct esp_plan *plan = arg;
    espi_schedule_free(plan->schedule);
    plan->schedule = NULL;
    return esp_plan_schedule(plan, kept_platform, NULL);
}

static esp_status simulate_kept(void *arg)
{
    struct esp_sim_result *r = NULL;
    esp_status st = esp_simulate(kept_platform, arg, NULL, &r, NULL);
    esp_sim_result_free(r);
    return st;
}

static esp_status parse_kept(void *arg)
{
    struct esp_plan *plan = NULL;
    (void)arg;
    esp_status st = parse(kept_platform, kept_text, &plan, NULL);
    esp_plan_free(plan);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    size_t n;
    for (int half = 0; half < 2; half++) {
        struct esp_platform *p = v3();
        assert_int_equal(
            esp_platform_with_model(p, port_models[half], &kept_platform, NULL), ESP_OK);
        esp_platform_free(p);
        struct esp_plan *plan = v3_plan(kept_platform);
        cut(plan, 70);
        assert_true(alloc_fail_each(schedule_kept, plan) > 3);
        assert_true(alloc_fail_each(simulate_kept, plan) > 3);
        kept_text = plan_json(plan, kept_platform, &n);
        assert_true(alloc_fail_each(parse_kept, NULL) > 3);
        free(kept_text);
        esp_plan_free(plan);
        esp_platform_free(kept_platform);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_1),
        cmocka_unit_test(vector_3),
        cmocka_unit_test(random_schedules_pass_the_checker),
        cmocka_unit_test(other_messages_follow_it),
        cmocka_unit_test(programs_run_to_their_end),
        cmocka_unit_test(long_messages_reach_the_loads),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(schedules_are_written_and_read),
        cmocka_unit_test(hostile_schedules_are_refused),
        cmocka_unit_test(switches_and_cables),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
