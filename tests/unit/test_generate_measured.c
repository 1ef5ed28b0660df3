/* The generator of measured networks: what is in the files, and the presets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "support/seed.h"

static struct esp_platform *make(const struct esp_measured_options *o)
{
    struct esp_platform *p = NULL;
    struct esp_err err = {.text = ""};
    if (esp_generate_measured(o, &p, &err) != ESP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(esp_platform_host_count(p), o->hosts);
    assert_int_equal(esp_platform_node_count(p), o->hosts);
    assert_int_equal(esp_platform_link_count(p), o->hosts * (o->hosts - 1));
    assert_int_equal(esp_platform_model(p), ESP_MODEL_CAPACITY);
    return p;
}

static struct esp_platform *make_preset(const char *preset)
{
    struct esp_measured_options o;
    esp_measured_options_defaults(&o);
    assert_int_equal(esp_measured_options_preset(&o, preset, NULL), ESP_OK);
    return make(&o);
}

static double cable_Bps(const struct esp_platform *p, const char *name)
{
    int c = esp_platform_find_cable(p, name);
    if (c < 0)
        fail_msg("%s: no cable is called %s", esp_platform_name(p), name);
    return esp_platform_cable_bandwidth_Bps(p, c);
}

/* "a b c", the cables of the link, in their order. */
static void assert_cables(const struct esp_platform *p, const char *from, const char *to,
                          const char *expected)
{
    int link = esp_platform_find_link(p, esp_platform_find_node(p, from),
                                      esp_platform_find_node(p, to));
    char text[300] = "";
    for (int i = 0; i < esp_platform_link_cable_count(p, link); i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 esp_platform_cable_name(p, esp_platform_link_cable(p, link, i)));
    assert_string_equal(text, expected);
}

static int has_cable(const struct esp_platform *p, int link, const char *host,
                     const char *way)
{
    char name[64];
    snprintf(name, sizeof name, "%s:%s", host, way);
    for (int i = 0; i < esp_platform_link_cable_count(p, link); i++)
        if (!strcmp(esp_platform_cable_name(p, esp_platform_link_cable(p, link, i)),
                    name))
            return 1;
    return 0;
}

static void check_link(const struct esp_platform *p, const struct esp_measured_options *o,
                       int link)
{
    int u = esp_platform_link_from(p, link), v = esp_platform_link_to(p, link);
    double latency_s = esp_platform_link_latency_s(p, link);
    double Bps = esp_platform_link_bandwidth_Bps(p, link);
    assert_true(has_cable(p, link, esp_platform_node_name(p, u), "out"));
    assert_true(has_cable(p, link, esp_platform_node_name(p, v), "in"));
    assert_true(Bps >= o->bandwidth_min_Bps && Bps <= o->bandwidth_max_Bps);
    assert_true(latency_s >= 15e-6 && latency_s < 0.5);
    assert_true(latency_s ==
                esp_platform_link_latency_s(p, esp_platform_find_link(p, v, u)));
    if (strcmp(esp_platform_node_site(p, u), esp_platform_node_site(p, v)) != 0)
        assert_true(latency_s > 0.9e-3);
}

/* What areas share can be full: links alone would let more through. */
static void check_cable(const struct esp_platform *p,
                        const struct esp_measured_options *o, int cable)
{
    double Bps = esp_platform_cable_bandwidth_Bps(p, cable), sum = 0;
    assert_true(Bps >= o->bandwidth_min_Bps && Bps <= o->bandwidth_max_Bps);
    for (int i = 0; i < esp_platform_cable_link_count(p, cable); i++)
        sum += esp_platform_link_bandwidth_Bps(p, esp_platform_cable_link(p, cable, i));
    const char *name = esp_platform_cable_name(p, cable);
    if (strchr(name, '/') || !strncmp(name, "wan:", 4))
        assert_true(sum > Bps);
}

static void test_all_kinds(void **state)
{
    (void)state;
    struct esp_measured_options o;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(1));
    esp_measured_options_defaults(&o);
    for (int i = 0; i < test_draws(120); i++) {
        o.kind = i % ESP_MEASURED_KIND_COUNT;
        o.hosts = 3 + (int)espi_rng_below(&r, 30);
        o.seed = test_seed((uint64_t)i);
        struct esp_platform *p = make(&o);
        for (int e = 0; e < esp_platform_link_count(p); e++)
            check_link(p, &o, e);
        for (int c = 0; c < esp_platform_cable_count(p); c++)
            check_cable(p, &o, c);
        esp_platform_free(p);
    }
}

static void test_areas(void **state)
{
    (void)state;
    struct esp_measured_options o;
    esp_measured_options_defaults(&o);
    o.kind = ESP_MEASURED_STAR;
    for (o.areas = 1; o.areas <= 8; o.areas++) {
        struct esp_platform *p = make(&o);
        int sites = 1;
        for (int h = 1; h < o.hosts; h++)
            sites += strcmp(esp_platform_node_site(p, h),
                            esp_platform_node_site(p, h - 1)) != 0;
        assert_int_equal(sites, o.areas);
        esp_platform_free(p);
    }
    struct esp_platform *p = NULL;
    o.areas = 5;
    o.hosts = 4;
    assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_EUSAGE);
    o.areas = 0;
    o.bandwidth_max_Bps = o.bandwidth_min_Bps / 2;
    assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_EUSAGE);
    assert_int_equal(esp_measured_options_preset(&o, "chain", NULL), ESP_OK);
    o.bandwidth_max_Bps = 1e9;
    o.hosts = 27;
    assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_EUSAGE);
}

/* Wires that differ by direction, and such that do not; slow hosts; one transfer that
 * does not fill a wire: there are some of each. */
static void test_variety(void **state)
{
    (void)state;
    int unlike = 0, alike = 0, slow = 0, narrow = 0;
    struct esp_measured_options o;
    esp_measured_options_defaults(&o);
    o.kind = ESP_MEASURED_FULL;
    o.areas = 2;
    o.noise = 0;
    for (int i = 0; i < 60; i++) {
        o.seed = test_seed((uint64_t)i);
        struct esp_platform *p = make(&o);
        int there = esp_platform_find_cable(p, "wan:lyon>nice");
        int back = esp_platform_find_cable(p, "wan:nice>lyon");
        double out = cable_Bps(p, "lyon-1:out"), most = 0;
        for (int h = 2; esp_platform_node_site(p, h - 1)[0] == 'l'; h++) {
            char name[32];
            snprintf(name, sizeof name, "lyon-%d:out", h - 1);
            slow += cable_Bps(p, name) < out / 1.9;
        }
        if (there < 0 || back < 0) {
            esp_platform_free(p);
            continue;
        }
        double Bps = esp_platform_cable_bandwidth_Bps(p, there);
        unlike += Bps != esp_platform_cable_bandwidth_Bps(p, back);
        alike += Bps == esp_platform_cable_bandwidth_Bps(p, back);
        for (int k = 0; k < esp_platform_cable_link_count(p, there); k++)
            most = fmax(most, esp_platform_link_bandwidth_Bps(
                                  p, esp_platform_cable_link(p, there, k)));
        narrow += most < 0.5 * Bps;
        esp_platform_free(p);
    }
    assert_true(unlike > 3 && alike > 3 && slow > 3 && narrow > 3);
}

static void test_three_sites(void **state)
{
    (void)state;
    struct esp_platform *p = make_preset("three-sites");
    assert_int_equal(esp_platform_cable_count(p), 2 * 24 + 6);
    assert_true(cable_Bps(p, "nice-8:in") == 12e6);
    assert_true(cable_Bps(p, "wan:lille>nice") == 4e6);
    assert_cables(p, "lyon-1", "nice-1", "lyon-1:out nice-1:in wan:lyon>nice");
    assert_cables(p, "lyon-1", "lyon-2", "lyon-1:out lyon-2:in");
    esp_platform_free(p);
}

static void test_four_racks(void **state)
{
    (void)state;
    struct esp_platform *p = make_preset("four-racks");
    assert_int_equal(esp_platform_cable_count(p), 2 * 24 + 8);
    assert_true(cable_Bps(p, "lyon/3:in") == 10e6);
    assert_cables(p, "lyon-1", "lyon-7", "lyon-1:out lyon-7:in lyon/1:out lyon/2:in");
    assert_cables(p, "lyon-7", "lyon-8", "lyon-7:out lyon-8:in");
    esp_platform_free(p);
}

static void test_one_switch(void **state)
{
    (void)state;
    struct esp_platform *p = make_preset("one-switch");
    double least = INFINITY, most = 0;
    assert_int_equal(esp_platform_cable_count(p), 2 * 24);
    for (int c = 0; c < 48; c++) {
        least = fmin(least, esp_platform_cable_bandwidth_Bps(p, c));
        most = fmax(most, esp_platform_cable_bandwidth_Bps(p, c));
    }
    assert_true(least == 1.5e6 && most == 12e6);
    esp_platform_free(p);
}

static void test_chain(void **state)
{
    (void)state;
    struct esp_platform *p = make_preset("chain");
    assert_cables(p, "lyon-1", "nice-1",
                  "lyon-1:out nice-1:in wan:lyon>nice wan:lyon:out");
    assert_cables(p, "lyon-1", "lille-4",
                  "lyon-1:out lille-4:in wan:lyon>lille wan:lyon:out wan:lille:in");
    assert_cables(p, "nice-3", "lille-1",
                  "nice-3:out lille-1:in wan:nice>lille wan:lille:in");
    assert_true(cable_Bps(p, "wan:lyon:out") == 3e6);
    assert_true(cable_Bps(p, "wan:lille:in") == 1.5e6);
    assert_true(cable_Bps(p, "wan:lyon>lille") == 1.5e6);
    assert_true(esp_platform_link_latency_s(
                    p, esp_platform_find_link(
                           p, 0, esp_platform_find_node(p, "lille-1"))) > 0.02);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds),  cmocka_unit_test(test_areas),
        cmocka_unit_test(test_variety),    cmocka_unit_test(test_three_sites),
        cmocka_unit_test(test_four_racks), cmocka_unit_test(test_one_switch),
        cmocka_unit_test(test_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
