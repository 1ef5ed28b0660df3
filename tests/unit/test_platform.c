/* Building, looking at, writing and reading platforms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "platform/platform.h"
#include "platform/readers.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

static void add_node(struct esp_builder *b, const char *name, const char *site,
                     esp_node_kind kind, double send_s)
{
    struct esp_node_spec spec = {name, site, kind, send_s, ESP_UNSET};
    assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
}

/* A range about whatever the rate is: most draws miss it, and are refused. */
static void draw_range(struct esp_builder *b, int of_cable, int i, struct espi_rng *rng)
{
    for (int tries = 0; tries < 20; tries++) {
        double low = espi_rng_log_range(rng, 1e-3, 1e12);
        double high = espi_rng_log_range(rng, low, 1e13);
        double confidence = espi_rng_uniform(rng);
        if (espi_rng_below(rng, 2))
            high = INFINITY;
        struct esp_rate_range range = {low, high, confidence};
        if (!(of_cable ? esp_builder_set_cable_range(b, i, &range, NULL)
                       : esp_builder_set_link_range(b, i, &range, NULL)))
            return;
    }
}

/* A random platform with all the trimmings: sites, switches, overheads, cables, ranges.
 */
static struct esp_platform *random_platform(uint64_t seed)
{
    struct espi_rng rng;
    struct esp_builder *b;
    struct esp_platform *p = NULL;
    char name[64], site[32];
    espi_rng_seed(&rng, seed);
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    int n = 2 + (int)espi_rng_below(&rng, 12), m = 0;
    esp_builder_set_model(b, (esp_model)espi_rng_below(&rng, ESP_MODEL_COUNT));
    snprintf(name, sizeof name, "p\"%d\\\xc3\xa9", n);
    assert_int_equal(esp_builder_set_name(b, name, NULL), ESP_OK);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "n%d \"x\"", i);
        snprintf(site, sizeof site, "s%u", espi_rng_below(&rng, 3));
        int has_site = espi_rng_below(&rng, 2) > 0;
        int is_switch = i && !espi_rng_below(&rng, 4);
        double overhead_s = espi_rng_below(&rng, 2) ? ESP_UNSET : espi_rng_uniform(&rng);
        add_node(b, name, has_site ? site : NULL,
                 is_switch ? ESP_NODE_SWITCH : ESP_NODE_HOST, overhead_s);
    }
    for (int u = 0; u < n; u++)
        for (int v = 0; v < n; v++)
            if (u != v && espi_rng_below(&rng, 3) == 0) {
                double bw = espi_rng_log_range(&rng, 1e-3, 1e12);
                assert_int_equal(
                    esp_builder_add_link(b, u, v, espi_rng_uniform(&rng), bw, NULL, NULL),
                    ESP_OK);
                m++;
            }
    for (int s = 0; s < 3 && m; s++) {
        int links[2] = {(int)espi_rng_below(&rng, (uint32_t)m), -1};
        links[1] = (links[0] + 1) % m;
        snprintf(name, sizeof name, "wan%d", s);
        assert_int_equal(esp_builder_add_cable(b, name, espi_rng_range(&rng, 1, 1e9),
                                               links, m > 1 ? 2 : 1, NULL),
                         ESP_OK);
    }
    for (int e = 0; e < m; e += 3)
        draw_range(b, 0, e, &rng);
    for (int s = 1; s < 3 && m; s++)
        draw_range(b, 1, s, &rng);
    struct esp_measurement measured = {9, 2, 30, espi_rng_uniform(&rng), 1};
    if (espi_rng_below(&rng, 2))
        assert_int_equal(esp_builder_set_measurement(b, &measured, NULL), ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

static char *written(const struct esp_platform *p, size_t *length)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, length);
    assert_int_equal(esp_platform_write_stream(p, f, NULL), ESP_OK);
    fclose(f);
    return text;
}

static void round_trip_is_exact(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct esp_platform *p = random_platform(test_seed(seed)), *q = NULL;
        struct esp_err err;
        size_t n, n2;
        char *text = written(p, &n);
        if (espi_read_json(text, n, "mem", &q, &err))
            fail_msg("seed %d: %s", (int)seed, err.text);
        assert_true(esp_platform_equal(p, q));
        char *again = written(q, &n2);
        assert_int_equal(n, n2);
        assert_memory_equal(text, again, n);
        free(text);
        free(again);
        esp_platform_free(p);
        esp_platform_free(q);
    }
}

static void equality_sees_each_difference(void **state)
{
    (void)state;
    /* one that has links */
    struct esp_platform *p = random_platform(3), *q = random_platform(3);
    assert_true(esp_platform_equal(p, q));
    q->latency_s[0] = nextafter(q->latency_s[0], 1);
    assert_false(esp_platform_equal(p, q));
    q->latency_s[0] = p->latency_s[0];
    q->model = (esp_model)((q->model + 1) % ESP_MODEL_COUNT);
    assert_false(esp_platform_equal(p, q));
    q->model = p->model;
    assert_true(esp_platform_equal(p, q));
    q->certainty.measured.disturbed++;
    assert_false(esp_platform_equal(p, q));
    q->certainty.measured = p->certainty.measured;
    struct esp_rate_range range = {p->shared_Bps[0] / 2, INFINITY, 0.5};
    assert_int_equal(
        espi_ranges_set(&q->certainty.cables, 0, q->shared_Bps[0], &range, NULL), ESP_OK);
    assert_false(esp_platform_equal(p, q));
    esp_platform_free(p);
    esp_platform_free(q);
}

static void index_arrays_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct esp_platform *p = random_platform(test_seed(seed));
        for (int e = 0; e < p->n_links; e++) {
            int u = p->tail[e], v = p->head[e], hits = 0;
            assert_int_equal(esp_platform_find_link(p, u, v), e);
            for (int k = p->out.start[u]; k < p->out.start[u + 1]; k++)
                hits += p->out.item[k] == e;
            for (int k = p->in.start[v]; k < p->in.start[v + 1]; k++)
                hits += p->in.item[k] == e;
            assert_int_equal(hits, 2);
        }
        for (int s = 0; s < p->n_shared; s++)
            for (int k = p->shared_links.start[s]; k < p->shared_links.start[s + 1];
                 k++) {
                int e = p->shared_links.item[k], hits = 0;
                for (int i = p->link_shared.start[e]; i < p->link_shared.start[e + 1];
                     i++)
                    hits += p->link_shared.item[i] == s;
                assert_int_equal(hits, 1);
            }
        for (int i = 0; i < p->n_nodes; i++)
            assert_int_equal(esp_platform_find_node(p, espi_node_name(p, i)), i);
        assert_int_equal(esp_platform_find_node(p, "nobody"), -1);
        esp_platform_free(p);
    }
}

static void builder_refuses_nonsense(void **state)
{
    (void)state;
    struct esp_builder *b;
    struct esp_platform *p = NULL;
    struct esp_err err;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, &err), ESP_EINPUT);
    add_node(b, "a", NULL, ESP_NODE_HOST, ESP_UNSET);
    add_node(b, "b", NULL, ESP_NODE_HOST, ESP_UNSET);
    struct esp_node_spec twice = {"a", NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
    assert_int_equal(esp_builder_add_node(b, &twice, NULL, &err), ESP_EINPUT);
    assert_string_equal(err.text, "node 'a' is there twice");
    struct esp_node_spec bad = {"c", NULL, ESP_NODE_HOST, NAN, ESP_UNSET};
    assert_int_equal(esp_builder_add_node(b, &bad, NULL, &err), ESP_EINPUT);
    assert_int_equal(esp_builder_add_link(b, 0, 0, 0, 1, NULL, &err), ESP_EINPUT);
    assert_int_equal(esp_builder_add_link(b, 0, 2, 0, 1, NULL, &err), ESP_EINPUT);
    assert_int_equal(esp_builder_add_link(b, 0, 1, -1, 1, NULL, &err), ESP_EINPUT);
    assert_int_equal(esp_builder_add_link(b, 0, 1, 0, 0, NULL, &err), ESP_EINPUT);
    assert_int_equal(esp_builder_add_link(b, 0, 1, 0, INFINITY, NULL, &err), ESP_EINPUT);
    assert_int_equal(esp_builder_add_link(b, 0, 1, 0, NAN, NULL, &err), ESP_EINPUT);
    assert_int_equal(esp_builder_add_link(b, 0, 1, 0, 1, NULL, &err), ESP_OK);
    int none = 1;
    assert_int_equal(esp_builder_add_cable(b, "w", 1, &none, 1, &err), ESP_EINPUT);
    assert_int_equal(esp_builder_add_link(b, 0, 1, 0, 1, NULL, &err), ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, &err), ESP_EINPUT);
    assert_string_equal(err.text, "link a -> b is there twice");
    assert_null(p);
    esp_builder_free(b);
}

static void unreachable_hosts_are_named(void **state)
{
    (void)state;
    struct esp_builder *b;
    struct esp_platform *p;
    struct esp_err err;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    add_node(b, "a", NULL, ESP_NODE_HOST, ESP_UNSET);
    add_node(b, "b", NULL, ESP_NODE_HOST, ESP_UNSET);
    add_node(b, "sw", NULL, ESP_NODE_SWITCH, ESP_UNSET);
    assert_int_equal(esp_builder_add_link(b, 0, 1, 0, 1, NULL, NULL), ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    assert_int_equal(esp_platform_check_root(p, 0, &err), ESP_OK);
    assert_int_equal(esp_platform_check_root(p, 1, &err), ESP_EINPUT);
    assert_string_equal(err.text, "1 of 2 hosts cannot be reached from b: a");
    assert_int_equal(esp_platform_check_root(p, 2, &err), ESP_EINPUT);
    assert_int_equal(esp_platform_check_root(p, 3, &err), ESP_EUSAGE);
    esp_platform_free(p);
}

static const char good[] =
    "{ \"format\": \"espalier-platform/1\", \"name\": \"toy\", \"model\": \"one-port\",\n"
    "  \"links\": [ {\"from\": \"p0\", \"to\": \"p1\", \"latency_s\": 1e-4,"
    " \"bandwidth_Bps\": \"100Mbps\", \"duplex\": true} ],\n"
    "  \"shared\": [ {\"name\": \"wan\", \"bandwidth_Bps\": 5e6,"
    " \"low_Bps\": \"4MBps\", \"confidence\": 0.75,"
    " \"links\": [[\"p0\",\"p1\"]]} ],\n"
    "  \"measured\": {\"rounds\": 20, \"disturbed\": 3, \"transfers\": 50,"
    " \"off_median\": 0.04, \"off_95\": 0.11},\n"
    "  \"nodes\": [ {\"name\": \"p0\", \"site\": \"lyon\", \"send_s\": 9e-5},"
    " {\"name\": \"p1\"}, {\"name\": \"r\", \"kind\": \"switch\"} ] }";

static void members_in_any_order(void **state)
{
    (void)state;
    struct esp_platform *p = NULL;
    struct esp_err err;
    if (espi_read_json(good, sizeof good - 1, "good", &p, &err))
        fail_msg("%s", err.text);
    assert_int_equal(p->n_links, 2);
    assert_int_equal(p->n_hosts, 2);
    assert_true(p->bandwidth_Bps[1] == 12.5e6);
    assert_string_equal(esp_platform_node_site(p, 0), "lyon");
    assert_int_equal(p->link_shared.start[1] - p->link_shared.start[0], 1);
    struct esp_rate_range range = esp_platform_cable_range(p, 0);
    assert_true(range.low_Bps == 4e6 && isinf(range.high_Bps) &&
                range.confidence == 0.75);
    assert_true(esp_platform_link_range(p, 0).confidence == ESP_UNSET);
    assert_int_equal(esp_platform_measurement(p)->disturbed, 3);
    esp_platform_free(p);
}

#define PLATFORM(rest) "{\"format\":\"espalier-platform/1\"," rest "}"
#define NODES          "\"nodes\":[{\"name\":\"a\"},{\"name\":\"b\"}]"
#define LINK(rest)     PLATFORM(NODES ",\"links\":[{\"from\":\"a\",\"to\":\"b\"," rest "}]")

static const struct {
    const char *text, *why; /* why: part of the message */
} bad_texts[] = {
    {"", "f:1:1: the text ends here"},
    {"[]", "an object {...} was expected, not an array"},
    {"{", "the text ends here"},
    {"{}", "there is no \"format\""},
    {"{\"format\":\"espalier-platform/2\"}", "newer espalier"},
    {"{\"format\":1}", "a string was expected, not a number"},
    {PLATFORM("\"nodes\":[]"), "at least one node"},
    {PLATFORM("\"x\":1"), "there are no \"nodes\""},
    {PLATFORM("\"nodes\":[{}]"), "this node has no \"name\""},
    {PLATFORM("\"nodes\":[{\"name\":\"\"}]"), "a name that is not empty"},
    {PLATFORM("\"nodes\":[{\"name\":\"a\"},{\"name\":\"a\"}]"), "'a' is there twice"},
    {PLATFORM("\"nodes\":[{\"name\":\"a\",\"send_s\":-1}]"), "must not be negative"},
    {PLATFORM("\"nodes\":[{\"name\":\"a\",\"kind\":\"hub\"}]"), "kind is"},
    {PLATFORM("\"nodes\":[{\"name\":\"a\",\"kind\":\"switch\"}]"), "at least one host"},
    {PLATFORM("\"nodes\":[{\"name\":\"a\\u0000\"}]"), "not allowed in a string"},
    {PLATFORM("\"nodes\":[{\"name\":\"\xff\"}]"), "not UTF-8"},
    {PLATFORM("\"nodes\":[{\"name\":\"\\ud800\"}]"), "surrogate"},
    {PLATFORM("\"model\":\"two-port\"," NODES), "no model 'two-port'"},
    {LINK("\"latency_s\":0"), "no \"bandwidth_Bps\""},
    {LINK("\"bandwidth_Bps\":0"), "must be finite and positive"},
    {LINK("\"bandwidth_Bps\":-3"), "must be finite and positive"},
    {LINK("\"bandwidth_Bps\":NaN"), "a value was expected, not 'N'"},
    {LINK("\"bandwidth_Bps\":1e999"), "out of range"},
    {LINK("\"bandwidth_Bps\":01"), "not a number"},
    {LINK("\"bandwidth_Bps\":\"5 potatoes\""), "potatoes"},
    {LINK("\"bandwidth_Bps\":true"), "not true"},
    {LINK("\"bandwidth_Bps\":1,\"latency_s\":-1"), "not negative"},
    {LINK("\"bandwidth_Bps\":1,\"duplex\":1"), "true or false was expected"},
    {LINK("\"bandwidth_Bps\":5,\"low_Bps\":4"), "a range has"},
    {LINK("\"bandwidth_Bps\":5,\"confidence\":1"), "a range has"},
    {LINK("\"bandwidth_Bps\":5,\"high_Bps\":6"), "a range has"},
    {LINK("\"bandwidth_Bps\":5,\"low_Bps\":6,\"confidence\":1"), "low_Bps 6"},
    {LINK("\"bandwidth_Bps\":5,\"low_Bps\":0,\"confidence\":1"), "low_Bps 0"},
    {LINK("\"bandwidth_Bps\":5,\"low_Bps\":4,\"high_Bps\":4,\"confidence\":1"),
     "high_Bps 4"},
    {LINK("\"bandwidth_Bps\":5,\"low_Bps\":4,\"confidence\":1.5"), "a confidence of 1.5"},
    {LINK("\"bandwidth_Bps\":5,\"low_Bps\":4,\"confidence\":-1"), "a confidence of -1"},
    {LINK("\"bandwidth_Bps\":5,\"low_Bps\":4,\"confidence\":\"yes\""),
     "a number was expected"},
    {PLATFORM(NODES ",\"measured\":{}"), "a measurement has"},
    {PLATFORM(NODES ",\"measured\":7"), "an object"},
    {PLATFORM(NODES ",\"measured\":{\"rounds\":1.5}"), "not a whole number"},
    {PLATFORM(NODES ",\"measured\":{\"rounds\":1e10}"), "not a whole number"},
    {PLATFORM(NODES ",\"measured\":{\"rounds\":1,\"disturbed\":2}"), "no more that"},
    {PLATFORM(NODES ",\"measured\":{\"rounds\":1,\"off_median\":1}"), "off_median"},
    {PLATFORM(NODES ",\"measured\":{\"rounds\":1,\"off_median\":-1}"), "off_median"},
    {PLATFORM(NODES ",\"links\":[{\"from\":\"a\",\"to\":\"z\"}]"), "no node named 'z'"},
    {PLATFORM(NODES ",\"links\":[{\"from\":\"a\",\"to\":\"a\",\"bandwidth_Bps\":1}]"),
     "a link to itself"},
    {PLATFORM(NODES ",\"links\":[{\"to\":\"a\",\"bandwidth_Bps\":1}]"), "no \"from\""},
    {PLATFORM(NODES ",\"shared\":[{\"name\":\"w\",\"bandwidth_Bps\":1,"
                    "\"links\":[[\"a\",\"b\"]]}]"),
     "there is no such link"},
    {PLATFORM(NODES ",\"shared\":[{\"name\":\"w\",\"bandwidth_Bps\":1,"
                    "\"links\":[[\"a\"]]}]"),
     "given as"},
    {PLATFORM(NODES "," NODES), "\"nodes\" is there twice"},
    {PLATFORM(NODES) " x", "text follows"},
    {"{\"format\":\"espalier-platform/1\",\"nodes\":[{\"name\":\"a", "has no end"},
};

static void bad_texts_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_texts / sizeof *bad_texts; i++) {
        struct esp_platform *p = NULL;
        struct esp_err err = {0};
        esp_status st =
            espi_read_json(bad_texts[i].text, strlen(bad_texts[i].text), "f", &p, &err);
        if (st != ESP_EINPUT || p || !strstr(err.text, bad_texts[i].why))
            fail_msg("%s: status %d, '%s'", bad_texts[i].text, st, err.text);
    }
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    for (size_t n = 0; n + 1 < sizeof good - 1; n++) {
        struct esp_platform *p = NULL;
        char *copy = malloc(n + 1); /* exact size: a sanitizer sees a read too far */
        memcpy(copy, good, n);
        assert_int_equal(espi_read_json(copy, n, "cut", &p, NULL), ESP_EINPUT);
        free(copy);
    }
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    size_t n = 10000;
    char *text = malloc(n);
    memset(text, '[', n);
    memcpy(text, "{\"x\":", 5);
    struct esp_platform *p = NULL;
    struct esp_err err;
    assert_int_equal(espi_read_json(text, n, "deep", &p, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, "nested more than"));
    free(text);
}

static esp_status read_good(void *arg)
{
    struct esp_platform *p = NULL;
    (void)arg;
    esp_status st = espi_read_json(good, sizeof good - 1, "good", &p, NULL);
    esp_platform_free(p);
    return st;
}

static esp_status copy_model(void *arg)
{
    struct esp_platform *q = NULL;
    esp_status st = esp_platform_with_model(arg, ESP_MODEL_CAPACITY, &q, NULL);
    if (!st)
        assert_int_equal(q->model, ESP_MODEL_CAPACITY);
    esp_platform_free(q);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = random_platform(5);
    assert_true(alloc_fail_each(read_good, NULL) > 10);
    assert_true(alloc_fail_each(copy_model, p) > 10);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_is_exact),
        cmocka_unit_test(equality_sees_each_difference),
        cmocka_unit_test(index_arrays_agree),
        cmocka_unit_test(builder_refuses_nonsense),
        cmocka_unit_test(unreachable_hosts_are_named),
        cmocka_unit_test(members_in_any_order),
        cmocka_unit_test(bad_texts_are_refused),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
