/* The wiring of a testbed and the lines that build it; no namespace is made here. The
 * ways between hosts are checked against the platform, by all pairs: on platforms of the
 * sites generator in both of its forms, on networks as they are measured, and on random
 * graphs against shortest paths by relaxation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/generate.h>

#include "support/alloc_fail.h"
#include "support/seed.h"
#include "testbed/testbed.h"

static struct esp_platform *parse(const char *text)
{
    struct esp_platform *p = NULL;
    struct esp_err err = {.text = ""};
    if (esp_platform_parse(text, strlen(text), "test", NULL, &p, &err))
        fail_msg("%s", err.text);
    return p;
}

static void grid_of(struct espi_grid *g, const struct esp_platform *p,
                    struct espi_arena *arena)
{
    struct esp_err err = {.text = ""};
    espi_arena_init(arena);
    if (espi_grid_make(g, p, arena, &err))
        fail_msg("%s", err.text);
}

/* Every host has one wire, which leads to a box that forwards; routes end. */
static void check_grid(const struct espi_grid *g)
{
    for (int h = 0; h < g->n_hosts; h++)
        assert_int_equal(g->boxes[g->host_box[h]].n_wires, 1);
    for (int i = 0; i < g->n_wires; i++) {
        const struct espi_testbed_wire *w = &g->wires[i];
        int hosts = (g->boxes[w->box[0]].host >= 0) + (g->boxes[w->box[1]].host >= 0);
        assert_true(hosts < 2);
        assert_true(hosts == 0 || !espi_wire_delayed(w));
    }
    for (int u = 0; u < g->n_hosts; u++)
        for (int v = 0; v < g->n_hosts; v++) {
            int box = g->host_box[u], steps = 0;
            for (int i; (i = g->next_wire[box * g->n_hosts + v]) >= 0; steps++) {
                const struct espi_testbed_wire *w = &g->wires[i];
                assert_true(w->box[0] == box || w->box[1] == box);
                assert_true(steps < g->n_boxes);
                box = w->box[w->box[0] == box];
                assert_true(g->boxes[box].host < 0 || g->boxes[box].host == v);
            }
            assert_int_equal(box, g->host_box[v]);
        }
}

/* ---- sites, both forms ---- */

static double wanted_Bps(const struct esp_sites_options *o, int u, int v)
{
    if (u / o->hosts == v / o->hosts)
        return o->lan_Bps;
    int site = o->hosts * o->clusters;
    double rate = fmin(o->lan_Bps, o->site_Bps);
    return u / site == v / site ? rate : fmin(rate, o->wan_Bps);
}

static void test_sites(void **state)
{
    (void)state;
    struct esp_sites_options o;
    esp_sites_options_defaults(&o);
    o.wan_latency_s = 7e-3;
    o.site_latency_s = 2e-4;
    for (int form = 0; form < 2; form++)
        for (o.sites = 1; o.sites < 5; o.sites++)
            for (o.hosts = 2; o.hosts < 4; o.hosts++) {
                struct esp_platform *p = NULL;
                struct espi_arena arena;
                struct espi_grid g;
                o.switches = form;
                assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
                grid_of(&g, p, &arena);
                check_grid(&g);
                assert_int_equal(g.n_hosts, o.sites * o.clusters * o.hosts);
                assert_int_equal(g.n_off, 0);
                for (int u = 0; u < g.n_hosts; u++)
                    for (int v = 0; v < g.n_hosts; v++) {
                        int far =
                            u / (o.hosts * o.clusters) != v / (o.hosts * o.clusters);
                        double rate, latency;
                        if (u == v)
                            continue;
                        espi_grid_way(&g, u, v, &rate, &latency);
                        assert_true(rate == wanted_Bps(&o, u, v));
                        assert_true(fabs(latency - (far ? 7e-3 - form * 2e-4 : 0)) <
                                    1e-9);
                    }
                espi_arena_done(&arena);
                esp_platform_free(p);
            }
}

/* The cable between two sites is one wire, whatever the form. */
static void test_cables(void **state)
{
    (void)state;
    struct esp_sites_options o;
    struct esp_platform *p = NULL;
    struct espi_arena arena;
    struct espi_grid g;
    struct esp_err err = {.text = ""};
    int wire, dir, other, back;
    char name[200];
    esp_sites_options_defaults(&o);
    assert_int_equal(esp_sites_options_preset(&o, "testbed", NULL), ESP_OK);
    assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
    grid_of(&g, p, &arena);
    assert_int_equal(g.n_wires, 64 + 6);
    assert_int_equal(espi_grid_find_wire(&g, "wan:sdsc>anl", &wire, &dir, &err), ESP_OK);
    assert_true(g.wires[wire].rate_Bps[dir] == 2e6);
    assert_string_equal(espi_grid_wire_name(&g, wire, dir, name, sizeof name),
                        "wan:sdsc>anl");
    assert_int_equal(espi_grid_find_wire(&g, "wan:anl>sdsc", &other, &back, &err),
                     ESP_OK);
    assert_int_equal(wire, other);
    assert_int_equal(dir, !back);
    assert_int_equal(
        espi_grid_find_wire(&g, "anl:router<>sdsc:router", &other, &back, &err), ESP_OK);
    assert_int_equal(wire, other);
    assert_int_equal(back, -1);
    assert_int_equal(espi_grid_find_wire(&g, "anl:router>", &other, &back, &err),
                     ESP_EUSAGE);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

/* ---- networks as they are measured ---- */

/* Marks the links, u * n_hosts + v, that pass the wire in that direction. */
static void links_over(const struct espi_grid *g, int wire, int dir, unsigned char *over)
{
    for (int u = 0; u < g->n_hosts; u++)
        for (int v = 0; v < g->n_hosts; v++) {
            int box = g->host_box[u];
            over[u * g->n_hosts + v] = 0;
            for (int i; (i = g->next_wire[box * g->n_hosts + v]) >= 0;) {
                const struct espi_testbed_wire *w = &g->wires[i];
                int d = w->box[1] == box;
                over[u * g->n_hosts + v] |= i == wire && d == dir;
                box = w->box[!d];
            }
        }
}

static int is_in_all(const struct espi_grid *g, int cable, const unsigned char *over)
{
    const struct esp_platform *p = g->p;
    for (int k = p->shared_links.start[cable]; k < p->shared_links.start[cable + 1]; k++)
        if (!over[p->tail[p->shared_links.item[k]] * g->n_hosts +
                  p->head[p->shared_links.item[k]]])
            return 0;
    return 1;
}

static int has_all(const struct espi_grid *g, int cable, const unsigned char *over)
{
    const struct esp_platform *p = g->p;
    int n = 0, all = 0;
    for (int k = p->shared_links.start[cable]; k < p->shared_links.start[cable + 1]; k++)
        n += over[p->tail[p->shared_links.item[k]] * g->n_hosts +
                  p->head[p->shared_links.item[k]]];
    for (int k = 0; k < g->n_hosts * g->n_hosts; k++)
        all += over[k];
    return n == all;
}

/* Whatever a cable limits a wire limits, and the other way round. */
static void check_limits(const struct espi_grid *g)
{
    const struct esp_platform *p = g->p;
    unsigned char over[32 * 32], limited[200] = {0};
    assert_true(g->n_hosts <= 32 && p->n_shared <= 200);
    for (int i = 0; i < 2 * g->n_wires; i++) {
        double rate = g->wires[i / 2].rate_Bps[i % 2];
        int found = rate <= 0;
        links_over(g, i / 2, i % 2, over);
        for (int c = 0; c < p->n_shared; c++) {
            limited[c] |= rate > 0 && rate <= p->shared_Bps[c] && is_in_all(g, c, over);
            found |= p->shared_Bps[c] <= rate && has_all(g, c, over);
        }
        assert_true(found);
    }
    for (int c = 0; c < p->n_shared; c++)
        if (!limited[c])
            fail_msg("%s: %s limits nothing", esp_platform_name(p),
                     espi_shared_name(p, c));
}

static void check_measured(const struct esp_measured_options *o)
{
    struct esp_platform *p = NULL;
    struct espi_arena arena;
    struct espi_grid g;
    assert_int_equal(esp_generate_measured(o, &p, NULL), ESP_OK);
    grid_of(&g, p, &arena);
    check_grid(&g);
    check_limits(&g);
    for (int e = 0; e < p->n_links; e++) {
        double rate, latency;
        espi_grid_way(&g, p->tail[e], p->head[e], &rate, &latency);
        assert_true(latency <= p->latency_s[e]);
        assert_true(latency >= p->latency_s[e] * (1 - 3 * o->noise) ||
                    p->latency_s[e] < 2 * ESPI_GRID_DELAY_MIN_S);
    }
    espi_arena_done(&arena);
    esp_platform_free(p);
}

static void test_measured(void **state)
{
    (void)state;
    struct esp_measured_options o;
    esp_measured_options_defaults(&o);
    for (o.kind = ESP_MEASURED_FLAT; o.kind <= ESP_MEASURED_STAR; o.kind++)
        for (uint64_t seed = 0; seed < 12; seed++) {
            o.seed = test_seed(seed);
            o.hosts = 3 + (int)(seed * 2);
            check_measured(&o);
        }
}

/* ---- links that are not built ---- */

static const char clouds[] = "{'format': 'espalier-platform/1', 'model': 'capacity',"
                             " 'nodes': [{'name': 'a'}, {'name': 'b'}, {'name': 'c'}],"
                             " 'links': [{'from': 'a', 'to': 'b', 'bandwidth_Bps': 2e6},"
                             "           {'from': 'a', 'to': 'c', 'bandwidth_Bps': 8e6},"
                             "           {'from': 'b', 'to': 'a', 'bandwidth_Bps': 1e6},"
                             "           {'from': 'b', 'to': 'c', 'bandwidth_Bps': 5e6},"
                             "           {'from': 'c', 'to': 'a', 'bandwidth_Bps': 3e6},"
                             "           {'from': 'c', 'to': 'b', 'bandwidth_Bps': 5e6}],"
                             " 'shared': [{'name': 'out of a', 'bandwidth_Bps': 5e6,"
                             "             'links': [['a', 'b'], ['a', 'c']]},"
                             "            {'name': 'out of b', 'bandwidth_Bps': 5e6,"
                             "             'links': [['b', 'a'], ['b', 'c']]},"
                             "            {'name': 'out of c', 'bandwidth_Bps': 5e6,"
                             "             'links': [['c', 'a'], ['c', 'b']]}]}";

/* The ports of hosts are cables. A link that is slower than these is told of; one that is
 * faster is no faster in the file either. */
static void links_below_ports_are_counted(void **state)
{
    (void)state;
    struct espi_arena arena;
    struct espi_grid g;
    char text[sizeof clouds];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = clouds[i] == '\'' ? '"' : clouds[i];
    struct esp_platform *p = parse(text);
    grid_of(&g, p, &arena);
    /* into a there is no port, but the fastest of its links */
    assert_int_equal(g.n_too_fast, 2);
    assert_int_equal(g.n_off, 2);
    assert_int_equal(g.slowest_link, esp_platform_find_link(p, 1, 0));
    espi_arena_done(&arena);
    esp_platform_free(p);
}

/* ---- any graph ---- */

static void test_random_graphs(void **state)
{
    (void)state;
    struct esp_random_options o;
    esp_random_options_defaults(&o);
    o.nodes = 9;
    o.latency_s = 1e-3;
    for (uint64_t seed = 1; seed < 40; seed++) {
        o.seed = test_seed(seed);
        struct esp_platform *p = NULL;
        struct espi_arena arena;
        struct espi_grid g;
        double far[9][9];
        assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
        grid_of(&g, p, &arena);
        check_grid(&g);
        for (int u = 0; u < 9; u++)
            for (int v = 0; v < 9; v++)
                far[u][v] = u == v ? 0 : INFINITY;
        for (int e = 0; e < p->n_links; e++)
            far[p->tail[e]][p->head[e]] = 1e-3 + 1e6 / p->bandwidth_Bps[e];
        for (int k = 0; k < 9; k++)
            for (int u = 0; u < 9; u++)
                for (int v = 0; v < 9; v++)
                    far[u][v] = fmin(far[u][v], far[u][k] + far[k][v]);
        for (int u = 0; u < 9; u++)
            for (int v = 0; v < 9; v++) {
                double length = 0;
                int box = g.host_box[u];
                for (int i; (i = g.next_wire[box * 9 + v]) >= 0;) {
                    const struct espi_testbed_wire *w = &g.wires[i];
                    int d = w->box[1] == box;
                    int own = g.boxes[w->box[0]].host >= 0;
                    length += own ? 0 : w->latency_s[d] + 1e6 / w->rate_Bps[d];
                    box = w->box[!d];
                }
                assert_true(fabs(length - far[u][v]) < 1e-4 * (1 + far[u][v]));
            }
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* ---- what is refused ---- */

static void refuse(const char *text, const char *reason)
{
    struct esp_platform *p = parse(text);
    struct espi_arena arena;
    struct espi_grid g;
    struct esp_err err = {.text = ""};
    espi_arena_init(&arena);
    assert_int_equal(espi_grid_make(&g, p, &arena, &err), ESP_EINPUT);
    if (!strstr(err.text, reason))
        fail_msg("'%s' does not say '%s'", err.text, reason);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

#define LINK(a, b)                                                                       \
    "{\"from\":\"" a "\",\"to\":\"" b                                                    \
    "\",\"latency_s\":0,\"bandwidth_Bps\":1e6,\"duplex\":true}"
#define FILE_OF(nodes, links, rest)                                                      \
    "{\"format\":\"espalier-platform/1\",\"nodes\":[" nodes "],\"links\":[" links        \
    "]" rest "}"

static void test_refusals(void **state)
{
    (void)state;
    refuse(FILE_OF("{\"name\":\"a\"},{\"name\":\"b;rm\"}", LINK("a", "b;rm"), ""),
           "cannot be the name of a host");
    refuse(FILE_OF("{\"name\":\"a\"}", "", ""), "two hosts");
    refuse(FILE_OF("{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}",
                   "{\"from\":\"a\",\"to\":\"b\",\"bandwidth_Bps\":1e6}", ""),
           "one network");
    refuse(FILE_OF("{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"s\",\"kind\":"
                   "\"switch\"}",
                   LINK("a", "s") "," LINK("b", "s"),
                   ",\"shared\":[{\"name\":\"c\",\"bandwidth_Bps\":1e6,"
                   "\"links\":[[\"a\",\"s\"],[\"b\",\"s\"]]}]"),
           "two more switches");
    /* behind x, what comes from a goes on through y, and what comes from b does not */
    refuse(FILE_OF("{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},"
                   "{\"name\":\"d\"}",
                   LINK("a", "b") "," LINK("a", "c") "," LINK("b", "c") "," LINK(
                       "a", "d") "," LINK("b", "d") "," LINK("c", "d"),
                   ",\"shared\":[{\"name\":\"x\",\"bandwidth_Bps\":3e5,"
                   "\"links\":[[\"a\",\"d\"],[\"b\",\"d\"]]},"
                   "{\"name\":\"y\",\"bandwidth_Bps\":2e5,"
                   "\"links\":[[\"a\",\"d\"],[\"c\",\"d\"]]}]"),
           "different ones");
}

static void test_names(void **state)
{
    (void)state;
    assert_true(espi_testbed_name_ok("grid_2"));
    assert_false(espi_testbed_name_ok(""));
    assert_false(espi_testbed_name_ok("../x"));
    assert_false(espi_testbed_name_ok("a-b"));
    assert_false(espi_testbed_name_ok("123456789012345678901234567890123"));
}

/* ---- lines ---- */

static char *text_of(void (*write)(FILE *, const struct espi_grid *, int),
                     const struct espi_grid *g, int box)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    write(out, g, box);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void expect_line(void (*write)(FILE *, const struct espi_grid *, int),
                        const struct espi_grid *g, int box, const char *line)
{
    char *text = text_of(write, g, box);
    if (!strstr(text, line))
        fail_msg("no '%s' in\n%s", line, text);
    free(text);
}

static void test_lines(void **state)
{
    (void)state;
    struct esp_platform *p = parse(
        FILE_OF("{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"s\",\"kind\":\"switch\"}",
                LINK("a", "s") "," LINK("b", "s"), ""));
    struct espi_arena arena;
    struct espi_grid g;
    grid_of(&g, p, &arena);
    assert_int_equal(g.n_wires, 2);
    expect_line(espi_script_box, &g, 0, "addr add 10.77.0.1/32 dev eth0\n");
    expect_line(espi_script_box, &g, 0,
                "route add 10.77.0.0/16 via 10.78.0.3 dev eth0 onlink src 10.77.0.1\n");
    expect_line(espi_script_box, &g, 2, "route add 10.77.0.2/32 dev w1\n");
    expect_line(espi_script_box, &g, -1, "link set c1 master ctl0 up\n");
    /* 1e6 bytes of programs are 1514 / 1448 times as many on the wire. */
    expect_line(espi_script_rates, &g, 2,
                "qdisc add dev w1 root handle 1: tbf rate 8364641bit burst 30456 "
                "peakrate 10037569bit "
                "mtu 20000 limit 786432\n");
    expect_line(espi_script_settings, &g, 2, "ipv4/ip_forward 1\n");
    char space[ESPI_NAMESPACE_MAX];
    assert_string_equal(espi_namespace(space, "grid", &g, 1), "esp-grid-1-b");
    assert_string_equal(espi_namespace(space, "grid", &g, -1), "esp-grid-control");
    espi_arena_done(&arena);
    esp_platform_free(p);
}

/* ---- memory ---- */

static esp_status make_grid(void *arg)
{
    struct espi_arena arena;
    struct espi_grid g;
    espi_arena_init(&arena);
    esp_status status = espi_grid_make(&g, arg, &arena, NULL);
    espi_arena_done(&arena);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    struct esp_sites_options o;
    esp_sites_options_defaults(&o);
    for (o.switches = 0; o.switches < 2; o.switches++) {
        struct esp_platform *p = NULL;
        assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
        assert_true(alloc_fail_each(make_grid, p) > 0);
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_cables),
        cmocka_unit_test(links_below_ports_are_counted),
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
