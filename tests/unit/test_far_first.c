/* A root with one port and targets at all distances: of all orders in which parts may
 * leave, tried one by one, the best is the bound of the makespan, and plans of scatters
 * come near it: what goes far leaves first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "support/seed.h"

enum { TARGETS_MOST = 6, STARS = 60 };

struct star {
    int n; /* targets */
    double port_Bps, bytes, latency_s[TARGETS_MOST], link_Bps[TARGETS_MOST];
};

/* What is sent takes about as long as it travels. Links are as fast as the port, or some
 * of them slower. */
static struct star draw_star(struct espi_rng *r, int slow)
{
    struct star s = {.n = 2 + (int)espi_rng_below(r, TARGETS_MOST - 1), .port_Bps = 1e8};
    s.bytes = espi_rng_log_range(r, 2e6, 5e7);
    for (int i = 0; i < s.n; i++)
        s.latency_s[i] = espi_rng_log_range(r, 1e-3, 0.3);
    for (int i = 0; i < s.n; i++)
        s.link_Bps[i] = s.port_Bps * (slow ? espi_rng_log_range(r, 0.1, 1) : 1);
    return s;
}

static struct esp_platform *build_star(const struct star *s)
{
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    int links[TARGETS_MOST];
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_CAPACITY);
    for (int i = 0; i <= s->n; i++) {
        char name[] = {(char)('a' + i), 0};
        struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
        if (i)
            assert_int_equal(esp_builder_add_link(b, 0, i, s->latency_s[i - 1],
                                                  s->link_Bps[i - 1], &links[i - 1],
                                                  NULL),
                             ESP_OK);
    }
    assert_int_equal(esp_builder_add_cable(b, "port", s->port_Bps, links, s->n, NULL),
                     ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* The earliest end of all orders in which the parts that are left can follow what has
 * taken the port until now. */
static double best_order_s(const struct star *s, unsigned sent, double now_s)
{
    double best_s = INFINITY, part_s = s->bytes / s->n / s->port_Bps;
    for (int i = 0; i < s->n; i++)
        if (!(sent & 1u << i)) {
            double rest_s = sent + (1u << i) == (1u << s->n) - 1
                                ? 0
                                : best_order_s(s, sent | 1u << i, now_s + part_s);
            best_s = fmin(best_s, fmax(now_s + part_s + s->latency_s[i], rest_s));
        }
    return best_s;
}

static double bound_s(const struct esp_platform *p, const struct esp_request *request)
{
    struct esp_bound_options options;
    struct esp_bound *bound = NULL;
    esp_bound_options_defaults(&options);
    options.makespan = 1;
    assert_int_equal(esp_bound_compute(p, request, &options, &bound, NULL), ESP_OK);
    double makespan_s = bound->makespan_s;
    esp_bound_free(bound);
    return makespan_s;
}

static double simulated_s(const struct esp_platform *p, const struct esp_request *request)
{
    struct esp_plan *plan = NULL;
    struct esp_sim_options o;
    struct esp_sim_result *result = NULL;
    assert_int_equal(esp_plan_make(p, request, &plan, NULL), ESP_OK);
    esp_sim_options_defaults(&o);
    o.sharing = ESP_SHARING_FLUID;
    assert_int_equal(esp_simulate(p, plan, &o, &result, NULL), ESP_OK);
    double makespan_s = result->makespan_s;
    esp_sim_result_free(result);
    esp_plan_free(plan);
    return makespan_s;
}

static struct esp_request scatter_of(const struct star *s)
{
    struct esp_request request;
    esp_request_init(&request, 0);
    request.op = ESP_OP_SCATTER;
    request.size_bytes = s->bytes;
    return request;
}

static void test_orders(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(21));
    for (int i = 0; i < test_draws(STARS); i++) {
        struct star s = draw_star(&r, 0);
        struct esp_platform *p = build_star(&s);
        struct esp_request request = scatter_of(&s);
        double best_s = best_order_s(&s, 0, 0), low_s = bound_s(p, &request);
        double plan_s = simulated_s(p, &request);
        if (fabs(low_s - best_s) > 1e-6 * best_s)
            fail_msg("star %d: the bound is %.9g s, the best order %.9g s", i, low_s,
                     best_s);
        if (plan_s < best_s * (1 - 1e-9) || plan_s > best_s * 1.05)
            fail_msg("star %d: the plan takes %.9g s, the best order %.9g s", i, plan_s,
                     best_s);
        esp_platform_free(p);
    }
}

/* No order is later than all side by side: what limits them, and the longest way. */
static void test_side_by_side(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(22));
    for (int i = 0; i < test_draws(STARS); i++) {
        struct star s = draw_star(&r, 1);
        struct esp_platform *p = build_star(&s);
        struct esp_request request = scatter_of(&s);
        double sent_s = s.bytes / s.port_Bps, way_s = 0;
        for (int k = 0; k < s.n; k++) {
            sent_s = fmax(sent_s, s.bytes / s.n / s.link_Bps[k]);
            way_s = fmax(way_s, s.latency_s[k]);
        }
        double plan_s = simulated_s(p, &request);
        if (plan_s > (sent_s + way_s) * 1.03)
            fail_msg("star %d: the plan takes %.9g s, side by side %.9g s", i, plan_s,
                     sent_s + way_s);
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_side_by_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
