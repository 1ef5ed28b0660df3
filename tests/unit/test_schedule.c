/* Periodic schedules: vectors, the checker, files, and programs that follow them. */
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
#include "graph/colouring.h"
#include "plan/schedule.h"
#include "platform/platform.h"
#include "schedule/legs.h"
#include "schedule/periodic.h"
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

/* ---- the colouring alone ---- */

/* Every edge is active for its weight, no vertex is in a matching twice, and all of it
 * lasts as long as the heaviest vertex weighs. */
static void check_colouring(int n, int m, const int *left, const int *right,
                            const int64_t *weight)
{
    struct espi_arena arena;
    struct espi_colouring c;
    int64_t *has = calloc((size_t)m + 1, sizeof *has), heaviest = 0, total = 0;
    int64_t *sum = calloc(2 * (size_t)n + 1, sizeof *sum);
    espi_arena_init(&arena);
    assert_int_equal(espi_colouring_init(&c, n, n, m, left, right, weight, &arena), 0);
    for (int i = 0; i < c.n; i++) {
        unsigned char seen[2][64] = {{0}};
        assert_true(c.ticks[i] > 0);
        total += c.ticks[i];
        for (int k = c.start[i]; k < c.start[i + 1]; k++) {
            int e = c.edge[k];
            assert_int_equal(seen[0][left[e]]++, 0);
            assert_int_equal(seen[1][right[e]]++, 0);
            has[e] += c.ticks[i];
        }
    }
    for (int e = 0; e < m; e++) {
        assert_int_equal(has[e], weight[e]);
        sum[left[e]] += weight[e];
        sum[n + right[e]] += weight[e];
    }
    for (int v = 0; v < 2 * n; v++)
        heaviest = sum[v] > heaviest ? sum[v] : heaviest;
    assert_int_equal(total, heaviest);
    assert_int_equal(c.total, heaviest);
    espi_arena_done(&arena);
    free(has);
    free(sum);
}

static void colourings_are_exact(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(1));
    for (int round = 0; round < test_draws(1000); round++) {
        int n = 1 + (int)espi_rng_below(&rng, 12), left[80], right[80];
        int m = (int)espi_rng_below(&rng, 81);
        int64_t weight[80];
        for (int e = 0; e < m; e++) {
            left[e] = (int)espi_rng_below(&rng, (uint32_t)n);
            right[e] = (int)espi_rng_below(&rng, (uint32_t)n);
            weight[e] = round % 3 ? (int64_t)espi_rng_below(&rng, 4)
                                  : (int64_t)(espi_rng_next(&rng) >> 24);
        }
        check_colouring(n, m, left, right, weight);
    }
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

static void vector_1(void **state)
{
    (void)state;
    struct esp_platform *p = v1();
    struct esp_plan *plan = v1_plan(p);
    cut(plan, 300);
    attach(plan, p);
    const struct esp_schedule *s = plan->schedule;
    near(s->period_s, 4, 1e-12);
    assert_int_equal(s->slices_per_period, 3);
    assert_int_equal(s->n_slots, 2);
    for (int i = 0; i < 2; i++) {
        char nodes[16] = "", *at = nodes;
        near(s->slots[i].duration_s, 2, 1e-12);
        for (int k = 0; k < s->slots[i].n_transfers; k++) {
            const struct esp_transfer *t = &s->transfers[s->slots[i].first_transfer + k];
            const struct esp_edge *e = &plan->trees[t->tree].edges[t->edge];
            at += sprintf(at, "%d%d ", e->from, e->to);
        }
        /* two slices on the arc from the root, one on the other */
        assert_true(!strcmp(nodes, "02 02 21 ") || !strcmp(nodes, "01 01 12 "));
    }
    assert_true(simulated_s(p, plan) <= 4 * (100 + 1));
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void vector_3(void **state)
{
    (void)state;
    struct esp_platform *p = v3();
    struct esp_plan *plan = v3_plan(p);
    struct espi_arena arena;
    struct espi_legs legs;
    double sum_s = 0;
    cut(plan, 700);
    attach(plan, p);
    const struct esp_schedule *s = plan->schedule;
    near(s->period_s, 15, 1e-12);
    assert_int_equal(s->slices_per_period, 7);
    for (int i = 0; i < s->n_slots; i++)
        sum_s += s->slots[i].duration_s;
    near(sum_s, 15, 1e-12);
    assert_true(s->n_slots <= 6);
    espi_arena_init(&arena);
    assert_int_equal(espi_legs_init(&legs, p, plan, &arena), 0);
    double periods = ceil(700.0 / s->slices_per_period) + legs.max_depth;
    espi_arena_done(&arena);
    near(periods * s->period_s, 1545, 1e-12);
    double through_s = simulated_s(p, plan);
    if (through_s > 1545 + 1e-9 || through_s < 1500)
        fail_msg("%.12g s", through_s);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* ---- random plans ---- */

static const esp_model port_models[] = {ESP_MODEL_ONE_PORT, ESP_MODEL_HALF_DUPLEX};

/* The load of the busiest resource bounds the period from below; where ports are
 * exclusive and there are two sides the schedule reaches it. */
static void random_schedules_pass_the_checker(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(7));
    for (int round = 0; round < test_draws(2000); round++) {
        struct small_options o = {.n = 2 + (int)espi_rng_below(&rng, 14),
                                  .density = 0.3,
                                  .whole = round % 2 ? 5 : 0,
                                  .model = port_models[round % 3 == 2]};
        struct esp_platform *p = small_random(&rng, &o);
        struct esp_plan *plan =
            random_plan(p, &rng, 1 + (int)espi_rng_below(&rng, 6), round % 5 == 0);
        struct espi_arena arena;
        struct espi_cost cost;
        cut(plan, 100);
        attach(plan, p);
        const struct esp_schedule *s = plan->schedule;
        if (!s) {
            assert_true(o.model == ESP_MODEL_ONE_PORT && plan->n_trees == 1);
        } else {
            /* what the shares that were chosen load, not the weights */
            for (int t = 0; t < plan->n_trees; t++)
                plan->trees[t].weight =
                    fmax(1e-300, (double)s->tree_slices[t] / s->slices_per_period);
            espi_arena_init(&arena);
            assert_int_equal(espi_plan_cost(p, plan, 100, 1, &arena, &cost, NULL), 0);
            espi_arena_done(&arena);
            double best_s = cost.load_s * s->slices_per_period;
            assert_true(s->period_s >= best_s * (1 - 1e-9));
            if (o.model == ESP_MODEL_ONE_PORT || plan->n_trees == 1)
                near(s->period_s, best_s, 1e-9);
            else
                assert_true(s->period_s <= 2 * best_s);
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

static void spoil(struct esp_schedule *s, int how)
{
    struct esp_slot *slot = &s->slots[1];
    struct esp_transfer *t = &s->transfers[slot->first_transfer];
    switch (how) {
    case 0:
        s->period_s *= 1.001;
        break;
    case 1:
        s->period_s = NAN;
        break;
    case 2:
        s->slices_per_period++;
        break;
    case 3:
        s->tree_slices[0] = -1;
        break;
    case 4:
        s->tree_slices[0] += 2;
        s->tree_slices[2] -= 2;
        break;
    case 5:
        t->tree = 3;
        break;
    case 6:
        t->edge = -1;
        break;
    case 7:
        t->part = 1;
        break;
    case 8:
        t->duration_s *= 1.5;
        break;
    case 9:
        t->duration_s = -1;
        break;
    case 10:
        slot->duration_s = INFINITY;
        break;
    case 11:
        slot->n_transfers--;
        break;
    case 12:
        slot->first_transfer = s->n_transfers;
        break;
    case 13:
        slot->n_transfers = INT32_MAX;
        break;
    case 14:
        slot->first_transfer = -1;
        break;
    case 15:
        s->slots[0] = s->slots[1];
        break;
    case 16:
        s->n_slots--;
        break;
    case 17:
        s->slice_bytes = 0;
        break;
    case 18:
        s->slices_per_period = 0;
        break;
    /* the same ports for two arcs at once */
    default:
        s->slots[0].n_transfers += slot->n_transfers;
        break;
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
        spoil(plan->schedule, how);
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
    assert_non_null(strstr(text, "\"slices_per_period\": 7"));
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
#define V1_SLOTS(slots)                                                                  \
    "{\"period_s\":3,\"slice_bytes\":1,\"slices_per_period\":1,\"tree_slices\":[1],"     \
    "\"slots\":[" slots "]}"

static void hostile_schedules_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why; /* NULL: it is good */
    } texts[] = {
        {V1_PLAN(V1_SLOTS("{\"duration_s\":1,\"transfers\":[[0,0]]},"
                          "{\"duration_s\":2,\"transfers\":[[0,1]]}")),
         NULL},
        {V1_PLAN(V1_SLOTS("{\"transfers\":[[0,0]],\"duration_s\":1},"
                          "{\"duration_s\":2,\"transfers\":[[0,1,2,0]]}")),
         NULL},
        {V1_PLAN(V1_SLOTS("{\"duration_s\":1,\"transfers\":[[0,0]]}")), "last 1 s"},
        {V1_PLAN(V1_SLOTS("{\"duration_s\":1,\"transfers\":[[0,0]]},"
                          "{\"duration_s\":2,\"transfers\":[[0,1,1]]}")),
         "edge 1 1 s, not the 2 s"},
        {V1_PLAN(V1_SLOTS("{\"duration_s\":3,\"transfers\":[[0,0,1],[0,0,1]]}")),
         "not the"},
        {V1_PLAN(V1_SLOTS("{\"duration_s\":3,\"transfers\":[[0,7]]}")), "no such"},
        {V1_PLAN(V1_SLOTS("{\"duration_s\":3,\"transfers\":[[0,0,1,9]]}")), "no such"},
        {V1_PLAN(V1_SLOTS("{\"duration_s\":3,\"transfers\":[[0.5,0]]}")), "whole number"},
        {V1_PLAN(V1_SLOTS("{\"duration_s\":3,\"transfers\":[[-1,0]]}")), "whole number"},
        {V1_PLAN(V1_SLOTS("{\"duration_s\":3,\"transfers\":[[1e300,0]]}")),
         "whole number"},
        {V1_PLAN(V1_SLOTS("{\"duration_s\":3,\"transfers\":[[0]]}")), "a tree and an"},
        {V1_PLAN(V1_SLOTS("{\"duration_s\":3,\"transfers\":[[0,0,1,0,0]]}")),
         "at most four"},
        {V1_PLAN(V1_SLOTS("{\"transfers\":[[0,0]]}")), "slot 0"},
        {V1_PLAN(V1_SLOTS("7")), ""},
        {V1_PLAN("{}"), "no \"period_s\""},
        {V1_PLAN("[]"), ""},
        {V1_PLAN("{\"period_s\":1,\"slice_bytes\":1,\"slices_per_period\":2,"
                 "\"tree_slices\":[1,1],\"slots\":[]}"),
         "for 2 trees"},
        {V1_PLAN("{\"period_s\":1,\"slice_bytes\":1,\"slices_per_period\":1,"
                 "\"tree_slices\":[1],\"slots\":[],\"slots\":[]}"),
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
    /* c gets two slices a period, a second each */
    near(plan->schedule->period_s, 2, 1e-9);
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
        cmocka_unit_test(colourings_are_exact),
        cmocka_unit_test(vector_1),
        cmocka_unit_test(vector_3),
        cmocka_unit_test(random_schedules_pass_the_checker),
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
