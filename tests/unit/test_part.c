/* Parts of platforms, held to the widest ways of the whole; which nodes are switches;
 * lists of hosts as batch systems write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "platform/part.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/seed.h"
#include "support/small_platform.h"

enum { MAX = 12 };

/* The widest way from each node to each other, over nodes that may forward. */
static void find_widest(const struct esp_platform *p, const unsigned char *may,
                        double wide[MAX][MAX])
{
    memset(wide, 0, sizeof(double[MAX][MAX]));
    for (int e = 0; e < p->n_links; e++)
        wide[p->tail[e]][p->head[e]] = p->bandwidth_Bps[e];
    for (int k = 0; k < p->n_nodes; k++)
        for (int i = 0; may[k] && i < p->n_nodes; i++)
            for (int j = 0; j < p->n_nodes; j++) {
                double way = wide[i][k] < wide[k][j] ? wide[i][k] : wide[k][j];
                if (way > wide[i][j])
                    wide[i][j] = way;
            }
}

static struct esp_platform *random_mix(struct espi_rng *rng, int n)
{
    struct esp_builder *b;
    struct esp_platform *p;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    for (int v = 0; v < n; v++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", v);
        struct esp_node_spec spec = {name, NULL,
                                     v && espi_rng_below(rng, 3) == 0 ? ESP_NODE_SWITCH
                                                                      : ESP_NODE_HOST,
                                     ESP_UNSET, ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    int links[MAX * MAX], m = 0;
    for (int u = 0; u < n; u++)
        for (int v = 0; v < n; v++)
            if (u != v && espi_rng_below(rng, 4) == 0) {
                double Bps = 1 + (double)espi_rng_below(rng, 9);
                assert_int_equal(esp_builder_add_link(b, u, v, 0, Bps, &links[m], NULL),
                                 ESP_OK);
                assert_int_equal(esp_builder_set_link_price(b, links[m], Bps, NULL),
                                 ESP_OK);
                m++;
            }
    if (m > 2)
        assert_int_equal(esp_builder_add_cable(b, "shared", 5, links, m / 2, NULL),
                         ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* Are all the hosts joined over these nodes? */
static int all_joined(int n, const int *hosts, double wide[MAX][MAX])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j && !(wide[hosts[i]][hosts[j]] > 0))
                return 0;
    return 1;
}

static void check_links(const struct esp_platform *p, const struct esp_platform *part)
{
    for (int e = 0; e < part->n_links; e++) {
        int u = esp_platform_find_node(p, espi_node_name(part, part->tail[e]));
        int v = esp_platform_find_node(p, espi_node_name(part, part->head[e]));
        int same = esp_platform_find_link(p, u, v);
        assert_true(same >= 0 && p->bandwidth_Bps[same] == part->bandwidth_Bps[e]);
        assert_true(esp_platform_link_price(part, e) == part->bandwidth_Bps[e]);
        assert_int_equal(esp_platform_link_cable_count(p, same),
                         esp_platform_link_cable_count(part, e));
    }
}

static int check_part(const struct esp_platform *p, int n, const int *hosts)
{
    struct esp_platform *part = NULL;
    int place[MAX];
    unsigned char near[MAX] = {0}, all[MAX], every[MAX];
    static double within[MAX][MAX], over_all[MAX][MAX], in_part[MAX][MAX];
    memset(all, 1, sizeof all);
    memset(every, 1, sizeof every);
    for (int v = 0; v < p->n_nodes; v++)
        near[v] = (unsigned char)espi_is_switch(p, v);
    for (int i = 0; i < n; i++)
        near[hosts[i]] = 1;
    find_widest(p, near, within);
    find_widest(p, all, over_all);
    int joined = all_joined(n, hosts, within);
    assert_int_equal(espi_platform_part(p, n, hosts, &part, place, NULL), ESP_OK);
    assert_int_equal(part->n_hosts, n);
    find_widest(part, every, in_part);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double(*want)[MAX] = joined ? within : over_all;
            int u = place[hosts[i]], v = place[hosts[j]];
            assert_true(u >= 0 && !espi_is_switch(part, u));
            if (i != j && (joined || all_joined(n, hosts, over_all)))
                assert_true(in_part[u][v] == want[hosts[i]][hosts[j]]);
        }
    check_links(p, part);
    esp_platform_free(part);
    return joined;
}

static void parts_keep_the_ways(void **state)
{
    (void)state;
    struct espi_rng rng;
    int by_themselves = 0, with_others = 0;
    espi_rng_seed(&rng, test_seed(1));
    for (int round = 0; round < 400; round++) {
        struct esp_platform *p = random_mix(&rng, 2 + (int)espi_rng_below(&rng, MAX - 1));
        int hosts[MAX], n = 0;
        for (int v = 0; v < p->n_nodes; v++)
            if (!espi_is_switch(p, v) && (v == 0 || espi_rng_below(&rng, 2)))
                hosts[n++] = v;
        if (check_part(p, n, hosts))
            by_themselves++;
        else
            with_others++;
        esp_platform_free(p);
    }
    assert_true(by_themselves > 20 && with_others > 20);
}

static void all_hosts_are_the_whole(void **state)
{
    (void)state;
    struct esp_platform *p = small_grid(), *part = NULL;
    int hosts[32], n = 0;
    for (int v = 0; v < p->n_nodes; v++)
        if (!espi_is_switch(p, v))
            hosts[n++] = v;
    assert_int_equal(espi_platform_part(p, n, hosts, &part, NULL, NULL), ESP_OK);
    assert_true(esp_platform_equal(p, part));
    esp_platform_free(part);
    /* two hosts of one site need no switch of another */
    assert_int_equal(espi_platform_part(p, 2, hosts, &part, NULL, NULL), ESP_OK);
    assert_true(part->n_nodes < p->n_nodes && part->n_hosts == 2);
    esp_platform_free(part);
    part = NULL;
    assert_int_equal(espi_platform_part(p, 0, hosts, &part, NULL, NULL), ESP_EUSAGE);
    hosts[0] = p->n_nodes;
    assert_int_equal(espi_platform_part(p, 1, hosts, &part, NULL, NULL), ESP_EUSAGE);
    assert_null(part);
    esp_platform_free(p);
}

static esp_status cut_once(void *arg)
{
    struct esp_platform *part = NULL;
    const int hosts[] = {0, 1};
    esp_status st = espi_platform_part(arg, 2, hosts, &part, NULL, NULL);
    esp_platform_free(part);
    return st;
}

static esp_status turn_once(void *arg)
{
    struct esp_platform *p = NULL;
    esp_status st = espi_platform_with_switches(arg, "p0,p1*", &p, NULL);
    esp_platform_free(p);
    return st;
}

static void no_memory(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, 3);
    struct small_options o = {.n = 6, .density = 0.5, .model = ESP_MODEL_CAPACITY};
    struct esp_platform *p = small_random(&rng, &o);
    assert_true(alloc_fail_each(cut_once, p) > 5);
    assert_true(alloc_fail_each(turn_once, p) > 5);
    esp_platform_free(p);
}

/* Plainly: by trying all that a star may stand for. */
static int fits_plainly(const char *pattern, const char *text)
{
    if (!*pattern)
        return !*text;
    if (*pattern == '*')
        return fits_plainly(pattern + 1, text) ||
               (*text && fits_plainly(pattern, text + 1));
    return *text && (*pattern == '?' || *pattern == *text) &&
           fits_plainly(pattern + 1, text + 1);
}

static void patterns(void **state)
{
    (void)state;
    struct espi_rng rng;
    int fitting = 0;
    espi_rng_seed(&rng, test_seed(2));
    for (int round = 0; round < 20000; round++) {
        char pattern[7] = "", text[7] = "";
        for (int i = 0, n = (int)espi_rng_below(&rng, 7); i < n; i++)
            pattern[i] = "ab*?"[espi_rng_below(&rng, 4)];
        for (int i = 0, n = (int)espi_rng_below(&rng, 7); i < n; i++)
            text[i] = "ab"[espi_rng_below(&rng, 2)];
        int fits = espi_fits_pattern(pattern, strlen(pattern), text);
        assert_int_equal(fits, fits_plainly(pattern, text));
        fitting += fits;
    }
    assert_true(fitting > 500);
}

static void switches(void **state)
{
    (void)state;
    static const struct small_arc arcs[] = {{0, 1, 1}, {1, 0, 1}, {0, 2, 1}, {2, 1, 1}};
    struct esp_platform *p = small_platform(ESP_MODEL_ONE_PORT, 3, arcs, 4), *q = NULL;
    struct esp_err err = {0};
    int leaves;
    assert_int_equal(espi_platform_with_switches(p, "p1", &q, &err), ESP_OK);
    assert_int_equal(esp_platform_host_count(q), 2);
    assert_int_equal(esp_platform_node_kind(q, 1), ESP_NODE_SWITCH);
    assert_int_equal(esp_platform_node_kind(p, 1), ESP_NODE_HOST);
    esp_platform_free(q);
    q = NULL;
    assert_int_equal(espi_platform_with_switches(p, "p1,x*", &q, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, "no node is named 'x*'"));
    assert_int_equal(espi_platform_with_switches(p, "p*", &q, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, "no host is left"));
    assert_null(q);
    assert_int_equal(espi_find_likely_switch(p, &leaves), -1);
    esp_platform_free(p);
}

/* Which name, or place, makes a node look like a switch? */
static void likely_switches(void **state)
{
    (void)state;
    static const struct {
        const char *list, *likely;
        int leaves;
    } cases[] = {
        {"a b 1\nb a 1\n", NULL, 0},
        {"a nvswitch 1\nnvswitch b 1\n", "nvswitch", 0},
        {"swan cores 1\ncores swan 1\n", NULL, 0},
        {"a rack3-leaf2 1\nrack3-leaf2 a 1\n", "rack3-leaf2", 0},
        {"a m 1\nb m 1\nc m 1\nm a 1\nm b 1\nm c 1\n", "m", 3},
        {"a b 1\nb c 1\nc a 1\n", NULL, 0},
        {"switch m\na m 1\nm b 1\nm c 1\n", NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct esp_read_options options;
        struct esp_platform *p = NULL;
        int leaves, node;
        esp_read_options_defaults(&options);
        options.format = ESP_FORMAT_EDGES;
        options.rate_unit = "GBps";
        assert_int_equal(esp_platform_parse(cases[i].list, strlen(cases[i].list), "x",
                                            &options, &p, NULL),
                         ESP_OK);
        node = espi_find_likely_switch(p, &leaves);
        if (cases[i].likely)
            assert_string_equal(espi_node_name(p, node), cases[i].likely);
        else
            assert_int_equal(node, -1);
        assert_int_equal(leaves, cases[i].leaves);
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_keep_the_ways),
        cmocka_unit_test(all_hosts_are_the_whole),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(patterns),
        cmocka_unit_test(switches),
        cmocka_unit_test(likely_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
