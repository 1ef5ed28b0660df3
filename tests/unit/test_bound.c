/* The public bound, and the algorithms that follow the optimum. */
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

#include "base/number.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/pace.h"
#include "support/seed.h"

static struct esp_platform *parse(const char *text)
{
    struct esp_platform *p = NULL;
    struct esp_err err = {0};
    if (esp_platform_parse(text, strlen(text), "test", NULL, &p, &err))
        fail_msg("%s", err.text);
    return p;
}

#define NODE(name) "{\"name\":\"" name "\"}"
#define LINK(from, to, time)                                                             \
    "{\"from\":\"" from "\",\"to\":\"" to "\",\"bandwidth_Bps\":" time "}"
#define PLATFORM(model, nodes, links, more)                                              \
    "{\"format\":\"espalier-platform/1\",\"name\":\"t\",\"model\":\"" model              \
    "\",\"nodes\":[" nodes "],\"links\":[" links "]" more "}"
#define BOTH(a, b, bandwidth) LINK(a, b, bandwidth) "," LINK(b, a, bandwidth)

/* V2 and V3 of the papers: bandwidth 1 / time, slices of one byte. */
#define V2                                                                               \
    PLATFORM("one-port", NODE("0") "," NODE("1") "," NODE("2") "," NODE("3"),            \
             LINK("0", "1", "1") "," LINK("0", "2", "1") "," LINK(                       \
                 "0", "3", "1") "," LINK("1", "3", "0.28571428571428571"),               \
             "")
#define V3                                                                                                   \
    PLATFORM(                                                                                                \
        "one-port", NODE("0") "," NODE("1") "," NODE("2") "," NODE("3") "," NODE("4"),                       \
        BOTH("0", "1", "0.5") "," BOTH("0", "2", "0.33333333333333333") "," BOTH("0", "3", "0.25") "," BOTH( \
            "1", "2",                                                                                        \
            "0.5") "," BOTH("1", "4",                                                                        \
                            "0.2") "," BOTH("2", "3",                                                        \
                                            "1") "," BOTH("2", "4",                                          \
                                                          "0.5") "," BOTH("3", "4",                          \
                                                                          "0."                               \
                                                                          "333333333333"                     \
                                                                          "33333"),                          \
        "")

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fabs(b)))
        fail_msg("%.15g is not %.15g", a, b);
}

/* A broadcast from that host in such slices. */
static struct esp_request asked(int root, double slice_bytes)
{
    struct esp_request request;
    esp_request_init(&request, root);
    request.slice_bytes = slice_bytes;
    return request;
}

static struct esp_bound *bound_of(const struct esp_platform *p, esp_bound_method method)
{
    struct esp_bound *b = NULL;
    struct esp_err err = {0};
    struct esp_bound_options o;
    struct esp_request request = asked(0, 1);
    esp_bound_options_defaults(&o);
    o.method = method;
    o.what_if = 3;
    if (esp_bound_compute(p, &request, &o, &b, &err))
        fail_msg("%s", err.text);
    return b;
}

static void three_methods_agree(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double rate;
    } cases[] = {{V2, 7.0 / 17}, {V3, 7.0 / 15}};
    for (int i = 0; i < 2; i++) {
        struct esp_platform *p = parse(cases[i].text);
        for (int m = 0; m < ESP_BOUND_METHOD_COUNT; m++) {
            struct esp_bound *b = bound_of(p, (esp_bound_method)m);
            assert_near(b->slices_per_s, cases[i].rate, 1e-7);
            assert_near(b->throughput_Bps, cases[i].rate, 1e-7);
            assert_true(b->exact && b->reachable && b->gap < 1e-6);
            double sum = 0;
            for (int k = 0; k < b->n_bottlenecks; k++)
                sum += b->bottlenecks[k]->price;
            assert_near(sum, 1, 1e-4);
            assert_int_equal(b->cut[0], 0);
            assert_true(b->n_cut < esp_platform_node_count(p));
            esp_bound_free(b);
        }
        esp_platform_free(p);
    }
}

/* a -> b -> c: the slow link b -> c holds both its ends, and only it helps. */
static void a_chain_is_explained(void **state)
{
    (void)state;
    struct esp_platform *p =
        parse(PLATFORM("one-port", NODE("a") "," NODE("b") "," NODE("c"),
                       LINK("a", "b", "4") "," LINK("b", "c", "1"), ""));
    struct esp_bound *b = bound_of(p, ESP_BOUND_TREES);
    assert_near(b->slices_per_s, 1, 1e-9);
    assert_int_equal(b->n_cut, 2);
    assert_int_equal(b->cut[1], 1);
    assert_true(b->n_what_if > 0);
    assert_near(b->what_if[0]->gain, 0.1, 1e-6);
    assert_true(b->what_if[0]->estimate > 0.08 && b->what_if[0]->estimate < 0.1);
    assert_non_null(strstr(b->text, "limited by the "));
    assert_non_null(
        strstr(b->text,
               "the next 10% of bandwidth on link b -> c would raise throughput by 10%"));
    esp_bound_free(b);
    esp_platform_free(p);
}

static void a_shared_cable_is_named(void **state)
{
    (void)state;
    struct esp_platform *p =
        parse(PLATFORM("capacity", NODE("a") "," NODE("b") "," NODE("c"),
                       LINK("a", "b", "9") "," LINK("a", "c", "9"),
                       ",\"shared\":[{\"name\":\"wan\",\"bandwidth_Bps\":1,\"links\":[["
                       "\"a\",\"b\"],[\"a\",\"c\"]]}]"));
    struct esp_bound *b = bound_of(p, ESP_BOUND_TREES);
    assert_near(b->slices_per_s, 0.5, 1e-9);
    assert_int_equal(b->n_bottlenecks, 1);
    assert_int_equal(b->bottlenecks[0]->kind, ESP_RESOURCE_CABLE);
    assert_string_equal(b->bottlenecks[0]->text, "the shared link wan");
    assert_non_null(strstr(b->text, "limited by the shared link wan; the next 10% of "
                                    "bandwidth on the shared link wan would raise "
                                    "throughput by 10%"));
    assert_true(b->n_cut < 3);
    esp_bound_free(b);
    esp_platform_free(p);
}

static void half_duplex_is_only_a_bound(void **state)
{
    (void)state;
    struct esp_platform *p =
        parse(PLATFORM("half-duplex", NODE("a") "," NODE("b") "," NODE("c"),
                       LINK("a", "b", "1") "," LINK("b", "c", "1"), ""));
    struct esp_bound *b = bound_of(p, ESP_BOUND_TREES);
    assert_near(b->slices_per_s, 0.5, 1e-9);
    assert_false(b->reachable);
    assert_string_equal(b->bottlenecks[0]->text, "the port of b");
    esp_bound_free(b);
    esp_platform_free(p);
}

static void one_host_alone(void **state)
{
    (void)state;
    struct esp_platform *p = parse(PLATFORM("one-port", NODE("a"), "", ""));
    for (int m = 0; m < ESP_BOUND_METHOD_COUNT; m++) {
        struct esp_bound *b = bound_of(p, (esp_bound_method)m);
        assert_true(isinf(b->throughput_Bps));
        assert_string_equal(b->text, "there is nobody to send to");
        esp_bound_free(b);
    }
    esp_platform_free(p);
}

static void wrong_calls_are_told(void **state)
{
    (void)state;
    struct esp_platform *p =
        parse(PLATFORM("one-port", NODE("a") "," NODE("b"), LINK("a", "b", "1"), ""));
    struct esp_bound *b = NULL;
    struct esp_bound_options o;
    struct esp_request request = asked(1, 1);
    esp_bound_options_defaults(&o);
    assert_int_equal(esp_bound_compute(p, &request, &o, &b, NULL), ESP_EINPUT);
    request = asked(2, 1);
    assert_int_equal(esp_bound_compute(p, &request, &o, &b, NULL), ESP_EUSAGE);
    request = asked(0, -2);
    assert_int_equal(esp_bound_compute(p, &request, &o, &b, NULL), ESP_EUSAGE);
    request = asked(0, NAN);
    assert_int_equal(esp_bound_compute(p, &request, &o, &b, NULL), ESP_EUSAGE);
    request = asked(0, 1);
    request.op = ESP_OP_COUNT;
    assert_int_equal(esp_bound_compute(p, &request, &o, &b, NULL), ESP_EUSAGE);
    request = asked(0, 1);
    assert_int_equal(esp_bound_compute(NULL, &request, &o, &b, NULL), ESP_EUSAGE);
    assert_int_equal(esp_bound_compute(p, NULL, &o, &b, NULL), ESP_EUSAGE);
    assert_int_equal(esp_bound_compute(p, &request, &o, NULL, NULL), ESP_EUSAGE);
    o.gap = -1;
    assert_int_equal(esp_bound_compute(p, &request, &o, &b, NULL), ESP_EUSAGE);
    o.gap = 0;
    o.what_if = -1;
    assert_int_equal(esp_bound_compute(p, &request, &o, &b, NULL), ESP_EUSAGE);
    o.what_if = 0;
    o.method = ESP_BOUND_METHOD_COUNT;
    assert_int_equal(esp_bound_compute(p, &request, &o, &b, NULL), ESP_EUSAGE);
    assert_null(b);
    esp_bound_method method;
    assert_int_equal(esp_bound_method_parse("cuts", &method), 0);
    assert_int_equal(method, ESP_BOUND_CUTS);
    assert_int_equal(esp_bound_method_parse("magic", &method), -1);
    esp_platform_free(p);
}

/* The gain of 10% more bandwidth, by solving a platform that has it. */
static double gain_by_hand(const struct esp_platform *p, const struct esp_what_if *w,
                           double rate)
{
    struct esp_platform *more = NULL;
    double *factor = malloc((size_t)p->n_links * sizeof *factor);
    assert_non_null(factor);
    for (int e = 0; e < p->n_links; e++)
        factor[e] =
            (w->kind == ESP_RESOURCE_LINK && e == w->owner) ||
                    (w->kind == ESP_RESOURCE_SEND_PORT && p->tail[e] == w->owner) ||
                    (w->kind == ESP_RESOURCE_RECV_PORT && p->head[e] == w->owner)
                ? 1.1
                : 1;
    assert_int_equal(espi_platform_scaled(p, factor, NULL, &more, NULL), ESP_OK);
    struct esp_bound *b = bound_of(more, ESP_BOUND_TREES);
    double gain = b->slices_per_s / rate - 1;
    esp_bound_free(b);
    esp_platform_free(more);
    free(factor);
    return gain;
}

/* On a random platform without cables. What prices tell of it is no bound of the gain, in
 * either direction: trees that were not worth it become so. */
static void answers_are_those_by_hand(void **state)
{
    (void)state;
    struct esp_hub_options h;
    struct esp_platform *p = NULL;
    esp_hub_options_defaults(&h);
    h.nodes = 20;
    h.seed = test_seed(1);
    assert_int_equal(esp_generate_hub(&h, &p, NULL), ESP_OK);
    struct esp_bound *b = bound_of(p, ESP_BOUND_TREES);
    assert_true(b->n_what_if > 2);
    for (int i = 0; i < b->n_what_if; i++) {
        assert_true(b->what_if[i]->gain >= 0 && b->what_if[i]->gain <= 0.1 + 1e-6);
        assert_true(b->what_if[i]->estimate > 0 && b->what_if[i]->estimate < 0.1);
        double by_hand = gain_by_hand(p, b->what_if[i], b->slices_per_s);
        assert_true(fabs(b->what_if[i]->gain - by_hand) < 1e-6);
        /* in order to the digits that are meant */
        assert_true(i == 0 || espi_round_digits(b->what_if[i]->gain, 6) <=
                                  espi_round_digits(b->what_if[i - 1]->gain, 6));
    }
    esp_bound_free(b);
    esp_platform_free(p);
}

static esp_status compute_once(void *arg)
{
    struct esp_bound *b = NULL;
    struct esp_request request = asked(0, 1);
    struct esp_bound_options o;
    esp_bound_options_defaults(&o);
    o.what_if = 3;
    esp_status st = esp_bound_compute(arg, &request, &o, &b, NULL);
    esp_bound_free(b);
    return st;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    struct esp_platform *p = parse(V2);
    assert_true(alloc_fail_each(compute_once, p) > 0);
    esp_platform_free(p);
}

/* ---- the algorithms ---- */

static struct esp_plan *plan_of(const struct esp_platform *p, const char *algo)
{
    struct esp_request r;
    struct esp_plan *plan = NULL;
    struct esp_err err = {0};
    esp_request_init(&r, 0);
    r.algo = algo;
    r.size_bytes = 1000;
    r.slice_bytes = 1;
    if (esp_plan_make(p, &r, &plan, &err))
        fail_msg("%s: %s", algo, err.text);
    return plan;
}

static void assert_edges(const struct esp_plan *plan, const char *want)
{
    char got[64] = "";
    assert_int_equal(plan->n_trees, 1);
    for (int to = 0; to < 10; to++)
        for (int i = 0; i < plan->trees[0].n_edges; i++)
            if (plan->trees[0].edges[i].to == to) {
                size_t at = strlen(got);
                snprintf(got + at, sizeof got - at, "%d%d ", plan->trees[0].edges[i].from,
                         to);
            }
    assert_string_equal(got, want);
}

static void trees_of_the_paper(void **state)
{
    (void)state;
    static const char *const algos[] = {"lp-grow", "lp-prune"};
    struct esp_platform *p2 = parse(V2), *p3 = parse(V3);
    for (int i = 0; i < 2; i++) {
        struct esp_plan *plan = plan_of(p2, algos[i]);
        assert_edges(plan, "01 02 13 ");
        assert_near(plan->throughput_Bps, 2.0 / 7, 1e-9);
        esp_plan_free(plan);
        plan = plan_of(p3, algos[i]);
        assert_edges(plan, "01 12 43 24 ");
        assert_near(plan->throughput_Bps, 1.0 / 3, 1e-9);
        assert_near(plan->bound_Bps, 7.0 / 15, 1e-7);
        esp_plan_free(plan);
    }
    esp_platform_free(p2);
    esp_platform_free(p3);
}

/* Every plan of mtp reaches its bound, and fewer trees never reach more; but for what is
 * lost where whole slices take turns on many trees, of which its own throughput tells. */
static void many_trees_reach_the_bound(void **state)
{
    (void)state;
    struct esp_hub_options h;
    struct esp_sites_options s;
    struct esp_platform *p[2] = {NULL, NULL};
    esp_hub_options_defaults(&h);
    h.nodes = 40;
    h.seed = test_seed(1);
    assert_int_equal(esp_generate_hub(&h, &p[0], NULL), ESP_OK);
    esp_sites_options_defaults(&s);
    s.switches = 1;
    assert_int_equal(esp_generate_sites(&s, &p[1], NULL), ESP_OK);
    for (int i = 0; i < 2; i++) {
        struct esp_plan *all = plan_of(p[i], "mtp");
        assert_near(load_Bps(p[i], all), all->bound_Bps, 1e-6);
        assert_true(all->throughput_Bps <= all->bound_Bps * (1 + 1e-9));
        double last = 0;
        for (int k = 1; k <= 4; k++) {
            char algo[16];
            snprintf(algo, sizeof algo, "mtp:k=%d", k);
            struct esp_plan *few = plan_of(p[i], algo);
            assert_true(few->n_trees <= k);
            assert_true(load_Bps(p[i], few) >= last * (1 - 1e-9));
            assert_true(load_Bps(p[i], few) <= all->bound_Bps * (1 + 1e-9));
            last = load_Bps(p[i], few);
            esp_plan_free(few);
        }
        esp_plan_free(all);
        esp_platform_free(p[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_methods_agree),
        cmocka_unit_test(a_chain_is_explained),
        cmocka_unit_test(a_shared_cable_is_named),
        cmocka_unit_test(half_duplex_is_only_a_bound),
        cmocka_unit_test(one_host_alone),
        cmocka_unit_test(wrong_calls_are_told),
        cmocka_unit_test(answers_are_those_by_hand),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(trees_of_the_paper),
        cmocka_unit_test(many_trees_reach_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
