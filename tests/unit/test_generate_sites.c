/* The sites generator: counts, values, shared cables, switches, the preset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "platform/platform.h"
#include "support/platform_facts.h"
#include "support/seed.h"

static struct esp_platform *make(const struct esp_sites_options *o)
{
    struct esp_platform *p = NULL;
    struct esp_err err = {.text = ""};
    if (esp_generate_sites(o, &p, &err) != ESP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(esp_platform_check_root(p, 0, NULL), ESP_OK);
    assert_int_equal(esp_platform_host_count(p), o->sites * o->clusters * o->hosts);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_ONE_PORT);
    return p;
}

static int site_of(const struct esp_sites_options *o, int host)
{
    return host / (o->clusters * o->hosts);
}

/* The cables that a link lies in: none within a site, else the one of its two sites. */
static void check_cable(const struct esp_platform *p, int link)
{
    int u = p->tail[link], v = p->head[link], *start = p->link_shared.start;
    const char *a = esp_platform_node_site(p, u), *b = esp_platform_node_site(p, v);
    int n_cables = start ? start[link + 1] - start[link] : 0;
    char name[64];
    assert_int_equal(n_cables, strcmp(a, b) != 0);
    if (n_cables == 0)
        return;
    int cable = p->link_shared.item[start[link]];
    snprintf(name, sizeof name, "wan:%s>%s", a, b);
    assert_string_equal(espi_shared_name(p, cable), name);
    assert_true(p->bandwidth_Bps[link] <= p->shared_Bps[cable]);
}

static void test_host_links(void **state)
{
    (void)state;
    struct esp_sites_options o;
    esp_sites_options_defaults(&o);
    for (o.sites = 1; o.sites < 5; o.sites++)
        for (o.clusters = 1; o.clusters < 4; o.clusters++)
            for (o.hosts = 1; o.hosts < 4; o.hosts++) {
                struct esp_platform *p = make(&o);
                int n = o.sites * o.clusters * o.hosts;
                assert_int_equal(esp_platform_node_count(p), n);
                assert_int_equal(esp_platform_link_count(p), n * (n - 1));
                assert_int_equal(esp_platform_cable_count(p), o.sites * (o.sites - 1));
                for (int e = 0; e < n * (n - 1); e++)
                    check_cable(p, e);
                esp_platform_free(p);
            }
}

static void assert_link(const struct esp_platform *p, const char *from, const char *to,
                        double latency_s, double bandwidth_Bps)
{
    int e = esp_platform_find_link(p, esp_platform_find_node(p, from),
                                   esp_platform_find_node(p, to));
    assert_true(e >= 0);
    assert_true(esp_platform_link_latency_s(p, e) == latency_s);
    assert_true(esp_platform_link_bandwidth_Bps(p, e) == bandwidth_Bps);
}

static void test_values(void **state)
{
    (void)state;
    struct esp_sites_options o;
    esp_sites_options_defaults(&o);
    o.lan_Bps = 30;
    o.site_Bps = 20;
    o.wan_Bps = 10;
    struct esp_platform *p = make(&o);
    assert_link(p, "s1-c1-h1", "s1-c1-h2", 50e-6, 30);
    assert_link(p, "s1-c1-h1", "s1-c2-h1", 200e-6, 20);
    assert_link(p, "s4-c7-h3", "s1-c2-h1", 10e-3, 10);
    for (int c = 0; c < esp_platform_cable_count(p); c++)
        assert_true(p->shared_Bps[c] == 10);
    esp_platform_free(p);
    o.wan_Bps = 100; /* a cable wider than a host */
    p = make(&o);
    assert_link(p, "s4-c7-h3", "s1-c2-h1", 10e-3, 20);
    for (int c = 0; c < esp_platform_cable_count(p); c++)
        assert_true(p->shared_Bps[c] == 100);
    esp_platform_free(p);
}

/* Every cable has its own values, the same for all links in it. */
static void test_spread(void **state)
{
    (void)state;
    struct esp_sites_options o;
    double sum = 0;
    int cables = 0;
    esp_sites_options_defaults(&o);
    o.sites = 20;
    o.clusters = 1;
    o.hosts = 2;
    o.spread = 4;
    o.seed = test_seed(1);
    struct esp_platform *p = make(&o);
    for (int c = 0; c < esp_platform_cable_count(p); c++, cables++) {
        const int *links = p->shared_links.item + p->shared_links.start[c];
        assert_int_equal(p->shared_links.start[c + 1] - p->shared_links.start[c], 4);
        assert_true(p->shared_Bps[c] >= o.wan_Bps / 4 &&
                    p->shared_Bps[c] <= o.wan_Bps * 4);
        sum += log(p->shared_Bps[c] / o.wan_Bps);
        for (int i = 0; i < 4; i++) {
            assert_true(p->latency_s[links[i]] == p->latency_s[links[0]]);
            assert_true(p->bandwidth_Bps[links[i]] == p->shared_Bps[c]);
        }
        assert_true(c == 0 || p->shared_Bps[c] != p->shared_Bps[c - 1]);
    }
    assert_int_equal(cables, 380);
    assert_true(fabs(sum / cables) < 6 * log(4) / sqrt(3 * 380));
    esp_platform_free(p);
}

/* Latency along host, switch, router, router, switch, host. */
static double path_s(const struct esp_platform *p, const int *nodes, int count)
{
    double sum = 0;
    for (int i = 0; i + 1 < count; i++) {
        int e = esp_platform_find_link(p, nodes[i], nodes[i + 1]);
        assert_true(e >= 0);
        sum += esp_platform_link_latency_s(p, e);
    }
    return sum;
}

static void check_path(const struct esp_platform *p, const struct esp_sites_options *o,
                       int u, int v)
{
    int n_clusters = o->sites * o->clusters, first = o->sites * o->clusters * o->hosts;
    int cu = u / o->hosts, cv = v / o->hosts, su = site_of(o, u), sv = site_of(o, v);
    int routers = first + n_clusters;
    int near[] = {u, first + cu, v};
    int mid[] = {u, first + cu, routers + su, first + cv, v};
    int far[] = {u, first + cu, routers + su, routers + sv, first + cv, v};
    if (cu == cv)
        assert_true(fabs(path_s(p, near, 3) - o->lan_latency_s) < 1e-12);
    else if (su == sv)
        assert_true(fabs(path_s(p, mid, 5) - o->site_latency_s) < 1e-12);
    else
        assert_true(fabs(path_s(p, far, 6) - o->wan_latency_s) < 1e-12);
}

static void test_switches(void **state)
{
    (void)state;
    struct esp_sites_options o;
    esp_sites_options_defaults(&o);
    o.switches = 1;
    o.sites = 3;
    struct esp_platform *p = make(&o);
    int hosts = 24, clusters = 6;
    assert_int_equal(esp_platform_node_count(p), hosts + clusters + 3);
    assert_int_equal(esp_platform_link_count(p), 2 * hosts + 2 * clusters + 6);
    assert_int_equal(esp_platform_cable_count(p), 0);
    for (int v = 0; v < esp_platform_node_count(p); v++)
        assert_int_equal(esp_platform_node_kind(p, v),
                         v < hosts ? ESP_NODE_HOST : ESP_NODE_SWITCH);
    for (int u = 0; u < hosts; u++)
        for (int v = 0; v < hosts; v++)
            if (u != v)
                check_path(p, &o, u, v);
    assert_link(p, "s2-router", "s3-router", 10e-3 - 200e-6, 12.5e6);
    assert_link(p, "s2-c3-switch", "s2-router", (200e-6 - 50e-6) / 2, 1250e6);
    assert_link(p, "s2-c3-h4", "s2-c3-switch", 25e-6, 125e6);
    esp_platform_free(p);
    o.wan_latency_s = o.site_latency_s = 0; /* parts that would be negative are 0 */
    p = make(&o);
    assert_link(p, "s2-router", "s3-router", 0, 12.5e6);
    assert_link(p, "s2-c3-switch", "s2-router", 0, 1250e6);
    esp_platform_free(p);
}

static void test_teragrid(void **state)
{
    (void)state;
    struct esp_sites_options o;
    int at[4] = {0};
    const char *const sites[] = {"sdsc", "anl", "ncsa", "psc"};
    esp_sites_options_defaults(&o);
    assert_int_equal(esp_sites_options_preset(&o, "teragrid", NULL), ESP_OK);
    struct esp_platform *p = make(&o);
    assert_int_equal(esp_platform_node_count(p), 64);
    assert_int_equal(esp_platform_cable_count(p), 12);
    for (int v = 0; v < 64; v++)
        for (int s = 0; s < 4; s++)
            at[s] += strcmp(esp_platform_node_site(p, v), sites[s]) == 0;
    for (int s = 0; s < 4; s++)
        assert_int_equal(at[s], 16);
    assert_link(p, "sdsc-c2-h1", "sdsc-c2-h8", 100e-6, 12.5e6);
    assert_link(p, "sdsc-c1-h1", "sdsc-c2-h8", 500e-6, 12.5e6);
    assert_link(p, "sdsc-c2-h1", "psc-c8-h8", 0.036, 3.75e6);
    assert_link(p, "ncsa-c5-h3", "anl-c3-h8", 0.002, 3.75e6);
    for (int e = 0; e < esp_platform_link_count(p); e++) {
        int back = esp_platform_find_link(p, p->head[e], p->tail[e]);
        assert_true(p->latency_s[e] == p->latency_s[back]);
        check_cable(p, e);
    }
    esp_platform_free(p);
}

static void assert_refused(const struct esp_sites_options *o, const char *text)
{
    struct esp_platform *p = NULL;
    struct esp_err err = {.text = ""};
    assert_int_equal(esp_generate_sites(o, &p, &err), ESP_EUSAGE);
    if (!strstr(err.text, text))
        fail_msg("%s", err.text);
    assert_null(p);
}

static void test_table(void **state)
{
    (void)state;
    struct esp_sites_options o;
    const char *names[] = {"lyon", "nancy"};
    double wan_Bps[] = {-1, 5, 7, NAN}; /* the diagonal is not looked at */
    double latency_s[] = {0, 1, 2, 0};
    struct esp_site_table table = {2, names, latency_s, wan_Bps};
    esp_sites_options_defaults(&o);
    o.table = &table;
    assert_refused(&o, "sites is 4, but the table (or preset) describes 2");
    o.sites = 2;
    struct esp_platform *p = make(&o);
    assert_link(p, "lyon-c1-h1", "nancy-c3-h1", 1, 5);
    assert_link(p, "nancy-c3-h1", "lyon-c1-h1", 2, 7);
    esp_platform_free(p);
    wan_Bps[1] = 0;
    assert_refused(&o, "wan_Bps of the table is 0");
    table.wan_Bps = NULL;
    latency_s[2] = NAN;
    assert_refused(&o, "wan_latency_s of the table is nan");
    table.wan_latency_s = NULL;
    names[1] = "";
    assert_refused(&o, "name of site 1");
    table.names = NULL;
    p = make(&o);
    assert_link(p, "s1-c1-h1", "s2-c3-h1", 10e-3, 12.5e6);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_links), cmocka_unit_test(test_values),
        cmocka_unit_test(test_spread),     cmocka_unit_test(test_switches),
        cmocka_unit_test(test_teragrid),   cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
