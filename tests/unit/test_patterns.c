/* Trees and allreduces by the places of hosts alone: what their papers say of them on
 * equal hosts, of any number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include <espalier/espalier.h>

#include "algo/partners.h"
#include "platform/platform.h"
#include "support/pace.h"

static const double link_Bps = 1e6;

enum { MOST_HOSTS = 21 };

/* Hosts with a port each, and a link from each to each. */
static struct esp_platform *equal_hosts(int n)
{
    struct esp_builder *b;
    struct esp_platform *p;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_ONE_PORT);
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%d", i);
        struct esp_node_spec spec = {
            .name = name, .send_s = ESP_UNSET, .recv_s = ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (i != k)
                assert_int_equal(esp_builder_add_link(b, i, k, 0, link_Bps, NULL, NULL),
                                 ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

static struct esp_plan *planned(const struct esp_platform *p, esp_op op, int root,
                                const char *algo)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err = {.text = ""};
    esp_request_init(&request, root);
    request.op = op;
    request.algo = algo;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s of %d hosts: %s", algo, p->n_hosts, err.text);
    return plan;
}

/* ---- allreduces ---- */

/* Of each part a host sends what it has combined, and later what all have. */
static void expect_rate(int n, const char *algo, double a_message)
{
    struct esp_platform *p = equal_hosts(n);
    struct esp_plan *plan = planned(p, ESP_OP_ALLREDUCE, 0, algo);
    assert_float_equal(load_Bps(p, plan), link_Bps / a_message, 1e-3 * link_Bps);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void test_ports_carry_what_they_must(void **state)
{
    (void)state;
    for (int n = 2; n <= MOST_HOSTS; n++)
        expect_rate(n, "ring-allreduce", 2.0 * (n - 1) / n);
    for (int n = 2; n <= 16; n *= 2) {
        expect_rate(n, "rabenseifner", 2.0 * (n - 1) / n);
        expect_rate(n, "swing", 2.0 * (n - 1) / n);
    }
}

/* With too many for a power of two, some send for others, too. */
static void test_any_number_of_hosts(void **state)
{
    static const char *const algos[] = {"ring-allreduce", "rabenseifner", "swing"};
    (void)state;
    for (int n = 1; n <= MOST_HOSTS; n++)
        for (int i = 0; i < 3; i++) {
            struct esp_platform *p = equal_hosts(n);
            struct esp_plan *plan = planned(p, ESP_OP_ALLREDUCE, 0, algos[i]);
            assert_int_equal(esp_plan_check(plan, p, NULL), ESP_OK);
            assert_int_equal(plan->n_trees, i ? espi_power_of_two(n) : n);
            esp_plan_free(plan);
            esp_platform_free(p);
        }
}

static void test_partners_are_each_others(void **state)
{
    static const espi_partner_fn partners[] = {espi_bit_partner, espi_swing_partner};
    (void)state;
    for (int places = 2, steps = 1; places <= 1024; places *= 2, steps++)
        for (int step = 0; step < steps; step++)
            for (int at = 0; at < places; at++)
                for (int i = 0; i < 2; i++) {
                    int to = partners[i](at, step, places);
                    assert_true(to >= 0 && to < places && to != at);
                    assert_int_equal(partners[i](to, step, places), at);
                }
}

/* ---- broadcasts ---- */

/* How many transfers the deepest host is from the root, and who sends. */
static int depth_of(const struct esp_plan *plan, int tree, int n, int *sends)
{
    int depth[MOST_HOSTS] = {0}, deepest = 0;
    memset(sends, 0, (size_t)n * sizeof *sends);
    for (int changes = 1; changes;) {
        changes = 0;
        for (int i = 0; i < plan->trees[tree].n_edges; i++) {
            const struct esp_edge *e = &plan->trees[tree].edges[i];
            sends[e->from] = 1;
            changes |= depth[e->to] != depth[e->from] + 1;
            depth[e->to] = depth[e->from] + 1;
        }
    }
    for (int h = 0; h < n; h++)
        deepest = depth[h] > deepest ? depth[h] : deepest;
    return deepest;
}

static void expect_depth(int n, int root, const char *algo, int depth)
{
    int sends[MOST_HOSTS];
    struct esp_platform *p = equal_hosts(n);
    struct esp_plan *plan = planned(p, ESP_OP_BCAST, root, algo);
    assert_int_equal(plan->n_trees, 1);
    assert_int_equal(depth_of(plan, 0, n, sends), depth);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* The most digits that are not 0 in numbers below n. */
static int most_digits(int n, int radix)
{
    int most = 0;
    for (int i = 0; i < n; i++) {
        int digits = 0;
        for (int rest = i; rest; rest /= radix)
            digits += rest % radix != 0;
        most = digits > most ? digits : most;
    }
    return most;
}

static void test_depths(void **state)
{
    (void)state;
    for (int n = 1; n <= MOST_HOSTS; n++) {
        int power = espi_power_of_two(n);
        expect_depth(n, n / 2, "knomial:radix=2", most_digits(n, 2));
        expect_depth(n, n / 3, "knomial", most_digits(n, 4));
        expect_depth(n, 0, "knomial:radix=7", most_digits(n, 7));
        if (n == power)
            expect_depth(n, n / 2, "bine", most_digits(n, 2));
    }
}

/* Who sends in one tree receives only in the other, but for one of an odd number; so
 * hosts send no more than the message, and all goes at the full rate. */
static void test_two_trees_share_the_work(void **state)
{
    (void)state;
    for (int n = 3; n <= MOST_HOSTS; n++) {
        int sends[2][MOST_HOSTS], both = 0, root = n / 3;
        struct esp_platform *p = equal_hosts(n);
        struct esp_plan *plan = planned(p, ESP_OP_BCAST, root, "double-tree");
        assert_int_equal(plan->n_trees, 2);
        for (int t = 0; t < 2; t++)
            assert_true(depth_of(plan, t, n, sends[t]) <= most_digits(n, 2) + 2);
        for (int h = 0; h < n; h++)
            both += h != root && sends[0][h] && sends[1][h];
        assert_true(both <= (n - 1) % 2);
        if (!both)
            assert_float_equal(load_Bps(p, plan), link_Bps, 1e-3 * link_Bps);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ports_carry_what_they_must),
        cmocka_unit_test(test_any_number_of_hosts),
        cmocka_unit_test(test_partners_are_each_others),
        cmocka_unit_test(test_depths),
        cmocka_unit_test(test_two_trees_share_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
