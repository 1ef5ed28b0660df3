/* Closed-form costs against slow, plain simulations of the same models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "cost/cost.h"
#include "platform/view.h"
#include "support/seed.h"

enum { MAX_NODES = 12 };

static struct espi_arena arena;

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)))))
        fail_msg("%.12g is not %.12g", a, b);
}

static struct esp_platform *complete_random(struct espi_rng *rng, int n, esp_model model)
{
    struct esp_builder *b;
    struct esp_platform *p = NULL;
    char name[16];
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, model);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "p%d", i);
        struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST,
                                     i % 2 ? ESP_UNSET : espi_rng_range(rng, .1, 1),
                                     ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int u = 0; u < n; u++)
        for (int v = 0; v < n; v++) {
            if (u == v)
                continue;
            double latency_s = espi_rng_range(rng, 0, 1);
            double Bps = espi_rng_range(rng, 0.5, 2);
            assert_int_equal(esp_builder_add_link(b, u, v, latency_s, Bps, NULL, NULL),
                             ESP_OK);
        }
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* A random tree: arcs in an order in which senders have the data. */
static void random_tree(struct espi_rng *rng, const struct espi_view *v, int *arcs,
                        int *parent_arc)
{
    int n = v->g.n, order[MAX_NODES];
    for (int i = 0; i < n; i++)
        order[i] = i;
    espi_rng_shuffle(rng, order + 1, n - 1);
    parent_arc[0] = -1;
    for (int i = 1; i < n; i++) {
        int u = order[espi_rng_below(rng, (uint32_t)i)];
        int e = esp_platform_find_link(v->p, u, order[i]);
        arcs[i - 1] = parent_arc[order[i]] = e;
    }
}

/* Every slice one by one: a sender handles slice after slice, each to all its children in
 * order, and a send starts when the slice is there and the sender is free. */
static double simulate(const struct espi_view *v, const int *arcs, int count,
                       double *period_s)
{
    int n = v->g.n;
    double free_s[MAX_NODES] = {0}, finish_s = 0, last_s = 0, before_s = 0;
    for (int slice = 0; slice < count; slice++) {
        double have_s[MAX_NODES] = {0}, slice_s = 0;
        for (int i = 0; i < n - 1; i++) {
            int e = arcs[i], u = v->g.tail[e], to = v->g.head[e];
            double start_s = fmax(have_s[u], free_s[u]);
            free_s[u] = start_s + v->hold_s[e];
            have_s[to] = start_s + v->lag_s[e];
            slice_s = fmax(slice_s, have_s[to]);
        }
        finish_s = fmax(finish_s, slice_s);
        before_s = last_s;
        last_s = finish_s;
    }
    *period_s = last_s - before_s;
    return finish_s;
}

/* After so many slices the busiest sender alone sets the pace: another may be the last
 * for as long as it began later, at most by the fill, and loses a little of that with
 * every slice. */
static double slices_to_pace(const struct espi_view *v, const int *arcs, double fill_s)
{
    double load_s[MAX_NODES] = {0}, most_s = 0, next_s = 0;
    for (int i = 0; i < v->g.n - 1; i++)
        load_s[v->g.tail[arcs[i]]] += v->hold_s[arcs[i]];
    for (int h = 0; h < v->g.n; h++) {
        next_s = fmax(next_s, fmin(most_s, load_s[h]));
        most_s = fmax(most_s, load_s[h]);
    }
    return 2 + fill_s / (most_s - next_s);
}

enum { ROUNDS = 20000, LONG = 20000 };

/* So many slices that the pace is steady, or, where two are about equally busy, LONG;
 * 1 if it is steady. */
static int long_messages_keep_the_pace(const struct espi_view *v, const int *arcs)
{
    struct espi_tree_cost cost;
    double period_s;
    assert_int_equal(espi_tree_cost(v, 0, arcs, 1, &arena, &cost), 0);
    double enough = slices_to_pace(v, arcs, cost.fill_s);
    int count = (int)fmin(ceil(enough), LONG);
    assert_int_equal(espi_tree_cost(v, 0, arcs, count, &arena, &cost), 0);
    near(cost.makespan_s, simulate(v, arcs, count, &period_s));
    if (enough > LONG)
        return 0;
    near(cost.period_s, period_s);
    return 1;
}

static void one_port_makespan_is_exact(void **state)
{
    (void)state;
    struct espi_rng rng;
    int steady = 0;
    espi_rng_seed(&rng, test_seed(11));
    for (int round = 0; round < ROUNDS; round++) {
        int n = 2 + (int)espi_rng_below(&rng, MAX_NODES - 1), arcs[MAX_NODES],
            parent[MAX_NODES], count = 1 + (int)espi_rng_below(&rng, 40);
        struct esp_platform *p = complete_random(&rng, n, ESP_MODEL_ONE_PORT);
        struct espi_view v;
        struct espi_tree_cost cost;
        double load[MAX_NODES * (MAX_NODES + 2)], period_s;
        assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
        random_tree(&rng, &v, arcs, parent);
        assert_int_equal(espi_tree_cost(&v, 0, arcs, count, &arena, &cost), 0);
        near(cost.makespan_s, simulate(&v, arcs, count, &period_s));
        near(cost.fill_s, simulate(&v, arcs, 1, &period_s));
        near(cost.period_s, espi_tree_period_s(&v, parent, load));
        steady += long_messages_keep_the_pace(&v, arcs);
        esp_platform_free(p);
    }
    assert_true(steady > ROUNDS * 9 / 10);
}

/* The same plan through the file-level function. */
static void plan_and_tree_costs_agree(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(12));
    for (int round = 0; round < 400; round++) {
        esp_model model = (esp_model)(round % ESP_MODEL_COUNT);
        int n = 2 + (int)espi_rng_below(&rng, MAX_NODES - 1), arcs[MAX_NODES],
            parent[MAX_NODES];
        struct esp_platform *p = complete_random(&rng, n, model);
        struct espi_view v;
        struct espi_tree_cost cost;
        struct espi_cost whole;
        struct esp_plan *plan = NULL;
        assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
        random_tree(&rng, &v, arcs, parent);
        assert_int_equal(esp_plan_create(ESP_OP_BCAST, 0, "x", &plan, NULL), ESP_OK);
        assert_int_equal(espi_plan_add_arcs(plan, &v, 1, arcs, n - 1, &arena, NULL),
                         ESP_OK);
        assert_int_equal(esp_plan_check(plan, p, NULL), ESP_OK);
        assert_int_equal(espi_plan_cost(p, plan, 7, 1, &arena, &whole, NULL), ESP_OK);
        assert_int_equal(espi_tree_cost(&v, 0, arcs, 7, &arena, &cost), 0);
        near(whole.makespan_s, cost.makespan_s);
        near(whole.fill_s, cost.fill_s);
        near(whole.period_s, cost.period_s);
        near(whole.throughput_Bps, 1 / cost.period_s);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* The least fill over all orders of all children, by trying them. */
static double least_fill(const struct espi_view *v, const int *parent_arc, int host)
{
    int kids[MAX_NODES], n_kids = 0;
    double rest[MAX_NODES];
    for (int h = 0; h < v->g.n; h++)
        if (parent_arc[h] >= 0 && v->g.tail[parent_arc[h]] == host) {
            rest[n_kids] = least_fill(v, parent_arc, h);
            kids[n_kids++] = parent_arc[h];
        }
    int order[MAX_NODES], done = n_kids == 0;
    double best = n_kids ? INFINITY : 0;
    for (int i = 0; i < n_kids; i++)
        order[i] = i;
    while (!done) {
        double busy_s = 0, fill_s = 0;
        for (int i = 0; i < n_kids; i++) {
            int e = kids[order[i]];
            fill_s = fmax(fill_s, busy_s + v->lag_s[e] + rest[order[i]]);
            busy_s += v->hold_s[e];
        }
        best = fmin(best, fill_s);
        /* the next permutation */
        int i = n_kids - 2, j = n_kids - 1, t;
        while (i >= 0 && order[i] > order[i + 1])
            i--;
        done = i < 0;
        if (done)
            break;
        while (order[j] < order[i])
            j--;
        t = order[i], order[i] = order[j], order[j] = t;
        for (int a = i + 1, b = n_kids - 1; a < b; a++, b--)
            t = order[a], order[a] = order[b], order[b] = t;
    }
    return best;
}

static void children_are_served_in_the_best_order(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(13));
    for (int round = 0; round < 1000; round++) {
        esp_model model = (esp_model)(round % ESP_MODEL_COUNT);
        int n = 2 + (int)espi_rng_below(&rng, 6), arcs[MAX_NODES], parent[MAX_NODES];
        struct esp_platform *p = complete_random(&rng, n, model);
        struct espi_view v;
        struct espi_tree_cost cost;
        double fill_s;
        assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
        random_tree(&rng, &v, arcs, parent);
        assert_int_equal(espi_order_tree(&v, 0, parent, &arena, arcs, &fill_s), 0);
        near(fill_s, least_fill(&v, parent, 0));
        assert_int_equal(espi_tree_cost(&v, 0, arcs, 1, &arena, &cost), 0);
        near(fill_s, cost.fill_s);
        near(fill_s, cost.makespan_s);
        esp_platform_free(p);
    }
}

/* One host with three children over links of time 1, 2 and 3 for a slice of 1 byte. */
static void each_model_lists_its_resources(void **state)
{
    (void)state;
    static const struct {
        esp_model model;
        double period_s, fill_s;
    } wanted[] = {
        {ESP_MODEL_ONE_PORT, 6, 6},
        {ESP_MODEL_HALF_DUPLEX, 6, 6},
        {ESP_MODEL_MULTI_PORT, 3, 4.5}, /* overhead 0.5: the third send starts at 1 */
        {ESP_MODEL_CAPACITY, 3, 3},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct esp_builder *b;
        struct esp_platform *p = NULL;
        struct espi_view v;
        struct espi_tree_cost cost;
        int arcs[3] = {0, 1, 2};
        assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
        esp_builder_set_model(b, wanted[i].model);
        for (int h = 0; h < 4; h++) {
            char name[2] = {(char)('a' + h), 0};
            struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, 0.5, ESP_UNSET};
            assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
        }
        for (int h = 1; h < 4; h++)
            assert_int_equal(esp_builder_add_link(b, 0, h, 0, 1.0 / h, NULL, NULL),
                             ESP_OK);
        assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
        esp_builder_free(b);
        assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
        assert_int_equal(espi_tree_cost(&v, 0, arcs, 1, &arena, &cost), 0);
        near(cost.period_s, wanted[i].period_s);
        near(cost.fill_s, wanted[i].fill_s);
        esp_platform_free(p);
    }
}

static void messages_are_cut_evenly(void **state)
{
    (void)state;
    struct espi_slices s = espi_slices(100, 30);
    assert_true(s.count == 4 && s.bytes == 25);
    s = espi_slices(100, 25);
    assert_true(s.count == 4 && s.bytes == 25);
    s = espi_slices(100, 0);
    assert_true(s.count == 1 && s.bytes == 100);
    s = espi_slices(100, 1e9);
    assert_true(s.count == 1 && s.bytes == 100);
    s = espi_slices(0.3, 0.1); /* 0.3 / 0.1 is a hair more than 3 */
    assert_true(s.count == 3);
}

/* Cables and switches: a and b send through switch s over one cable to c and d. */
static void cables_and_switches_count(void **state)
{
    (void)state;
    static const char text[] =
        "{\"format\":\"espalier-platform/1\",\"model\":\"one-port\",\"nodes\":["
        "{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},"
        "{\"name\":\"s\",\"kind\":\"switch\"},{\"name\":\"t\",\"kind\":\"switch\"}],"
        "\"links\":[{\"from\":\"a\",\"to\":\"s\",\"latency_s\":1,\"bandwidth_Bps\":4},"
        "{\"from\":\"s\",\"to\":\"t\",\"bandwidth_Bps\":2},"
        "{\"from\":\"t\",\"to\":\"b\",\"bandwidth_Bps\":8},"
        "{\"from\":\"t\",\"to\":\"c\",\"bandwidth_Bps\":8}],"
        "\"shared\":[{\"name\":\"w\",\"bandwidth_Bps\":1,"
        "\"links\":[[\"t\",\"b\"],[\"t\",\"c\"]]}]}";
    struct esp_platform *p = NULL;
    struct espi_view v;
    struct espi_tree_cost cost;
    struct esp_err err;
    char shown[64];
    if (esp_platform_parse(text, sizeof text - 1, "t", NULL, &p, &err))
        fail_msg("%s", err.text);
    assert_int_equal(espi_view_init(&v, p, 8, &arena, NULL), ESP_OK);
    assert_int_equal(v.g.n, 3);
    assert_int_equal(v.g.m, 2); /* a -> b and a -> c, both through s and t */
    near(v.time_s[0], 1 + 8.0 / 2);
    near(v.hold_s[0], 1 + 8.0 / 4);
    int arcs[2] = {0, 1};
    assert_int_equal(espi_tree_cost(&v, 0, arcs, 1, &arena, &cost), 0);
    near(cost.period_s, 16);   /* the cable: two slices of 8 at 1 B/s */
    near(cost.fill_s, 3 + 5);  /* the second send starts at 3 */
    near(cost.makespan_s, 16); /* but the cable is not through by then */
    double load[64];
    int parent[3] = {-1, 0, 1};
    near(espi_tree_period_s(&v, parent, load), 16);
    int cable = v.links.first_cable;
    assert_string_equal(espi_resource_text(&v.links, p, cable, shown, sizeof shown),
                        "the shared link w");
    near(load[cable], 16);
    near(load[v.links.first_link + 1], 8); /* s -> t, two slices at 2 B/s */
    near(load[0], 6);                      /* the send port of a */
    esp_platform_free(p);
}

static int setup(void **state)
{
    (void)state;
    espi_arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    espi_arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_port_makespan_is_exact, setup, teardown),
        cmocka_unit_test_setup_teardown(plan_and_tree_costs_agree, setup, teardown),
        cmocka_unit_test_setup_teardown(children_are_served_in_the_best_order, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(each_model_lists_its_resources, setup, teardown),
        cmocka_unit_test(messages_are_cut_evenly),
        cmocka_unit_test_setup_teardown(cables_and_switches_count, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
