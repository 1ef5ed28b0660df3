/* What the bound says of the bytes to one target, beside all that a network can do in
 * time, written out: a linear program with every link at every moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "bound/quickest_flow.h"
#include "lp/lp.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

enum { HOSTS_MOST = 5, LINKS_MOST = 20, MOMENTS = 40, ENTRIES = 16 };

/* ---- networks whose latencies are whole moments ---- */

/* Cables that some links share: a port of a host, there or back, or any. */
static void add_cables(struct esp_builder *b, struct espi_rng *r, int n_links,
                       const int *tail, const int *head)
{
    for (int c = 0; c < 4; c++) {
        int links[LINKS_MOST], n = 0, kind = (int)espi_rng_below(r, 3);
        int host = (int)espi_rng_below(r, HOSTS_MOST);
        char name[16];
        for (int e = 0; e < n_links; e++)
            if (kind == 0   ? tail[e] == host
                : kind == 1 ? head[e] == host
                            : espi_rng_below(r, 3) == 0)
                links[n++] = e;
        snprintf(name, sizeof name, "c%d", c);
        if (n > 1)
            assert_int_equal(esp_builder_add_cable(b, name, espi_rng_log_range(r, 1, 8),
                                                   links, n, NULL),
                             ESP_OK);
    }
}

static struct esp_platform *draw_network(struct espi_rng *r)
{
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    int tail[LINKS_MOST], head[LINKS_MOST], n_links = 0;
    int n = 3 + (int)espi_rng_below(r, HOSTS_MOST - 2);
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_CAPACITY);
    for (int i = 0; i < n; i++) {
        char name[] = {(char)('a' + i), 0};
        struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int u = 0; u < n; u++)
        for (int v = 0; v < n; v++) {
            if (u == v || (v != u + 1 && espi_rng_below(r, 4) == 0))
                continue;
            double latency_s = espi_rng_below(r, 6);
            double Bps = espi_rng_log_range(r, 0.5, 8);
            tail[n_links] = u;
            head[n_links++] = v;
            assert_int_equal(esp_builder_add_link(b, u, v, latency_s, Bps, NULL, NULL),
                             ESP_OK);
        }
    add_cables(b, r, n_links, tail, head);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* ---- all that can be done ---- */

/* One link at one moment. */
struct crossing {
    int link, at;
    int leaves, comes; /* in which moments its bytes leave the tail and are at the head */
};

/* All that are over in time. A link is used when its bytes leave, or, if latencies come
 * first, when they come. */
static int list_crossings(const struct espi_cut_net *net, int moments,
                          struct crossing *out)
{
    int n = 0, first = net->place == ESPI_LATENCY_FIRST;
    for (int e = 0; e < net->p->n_links; e++)
        for (int t = 0; t < moments; t++) {
            int latency = (int)net->p->latency_s[e];
            struct crossing x = {e, t, first ? t - latency : t, first ? t : t + latency};
            if (x.leaves >= 0 && x.comes < moments)
                out[n++] = x;
        }
    return n;
}

/* Rows: resource and moment, used by no more than all of it; node and moment, no more has
 * left than has come, but from the root. */
static void add_moments(struct espi_lp *lp, int n_resources, int n_nodes, int moments)
{
    for (int i = 0; i < (n_resources + n_nodes) * moments; i++) {
        int none[] = {0, 0}, node = i / moments - n_resources;
        double upper = node < 0 ? 1 : node == 0 ? INFINITY : 0;
        struct espi_lp_vectors row = {.count = 1, .upper = &upper, .start = none};
        espi_lp_add_rows(lp, &row);
    }
}

static double gained_by(const struct espi_cut_net *net, int link, int target)
{
    return (net->p->head[link] == target) - (net->p->tail[link] == target);
}

static void add_crossing(struct espi_lp *lp, const struct espi_cut_net *net, int target,
                         int moments, const struct crossing *x)
{
    const struct espi_resources *r = &net->uses;
    int index[ENTRIES + 2 * MOMENTS], start[2] = {0, 0}, n = 0;
    double value[ENTRIES + 2 * MOMENTS], cost = -gained_by(net, x->link, target);
    for (int k = r->start[x->link]; k < r->start[x->link + 1]; k++) {
        index[n] = r->resource[k] * moments + x->at;
        value[n++] = r->time_s[k];
    }
    for (int s = x->leaves; s < moments; s++) {
        index[n] = (r->n + net->p->tail[x->link]) * moments + s;
        value[n++] = 1;
    }
    for (int s = x->comes; s < moments; s++) {
        index[n] = (r->n + net->p->head[x->link]) * moments + s;
        value[n++] = -1;
    }
    start[1] = n;
    struct espi_lp_vectors column = {
        .count = 1, .cost = &cost, .start = start, .index = index, .value = value};
    espi_lp_add_columns(lp, &column);
}

/* The most bytes with the target after so many moments. What comes in a moment may go on
 * in it, and latencies are whole moments: nothing is lost by them. */
static double most_bytes(const struct espi_cut_net *net, int target, int moments)
{
    struct crossing x[LINKS_MOST * MOMENTS];
    int n = list_crossings(net, moments, x);
    struct espi_lp *lp = NULL;
    double most = 0;
    assert_int_equal(espi_lp_create(&lp, NULL), ESP_OK);
    add_moments(lp, net->uses.n, net->p->n_nodes, moments);
    for (int i = 0; i < n; i++)
        add_crossing(lp, net, target, moments, &x[i]);
    if (n)
        assert_int_equal(espi_lp_solve(lp, ESPI_LP_PRIMAL), ESPI_LP_OPTIMAL);
    for (int i = 0; i < n; i++)
        most += espi_lp_values(lp)[i] * gained_by(net, x[i].link, target);
    espi_lp_free(lp);
    return most;
}

/* ---- the bound beside it ---- */

static struct espi_cut_net net_of(const struct esp_platform *p, espi_latency_place place,
                                  struct espi_dijkstra *paths, struct espi_arena *arena)
{
    struct espi_cut_net net = {
        .p = p, .slice_bytes = 1, .place = place, .paths = paths, .arena = arena};
    net.last_arc = ESPI_ARENA_NEW(arena, int, p->n_nodes);
    assert_non_null(net.last_arc);
    assert_int_equal(espi_dijkstra_init(paths, p->n_nodes, arena), 0);
    assert_int_equal(espi_resources_init(&net.uses, p, 1, arena), 0);
    return net;
}

/* What the flow is bound to, and when it is there at the latest. */
static int try_network(struct espi_rng *r, double *bound_s, double *end_s)
{
    struct esp_platform *p = draw_network(r);
    struct espi_arena arena;
    struct espi_dijkstra paths;
    espi_arena_init(&arena);
    struct espi_cut_net net = net_of(
        p, espi_rng_below(r, 2) ? ESPI_LATENCY_FIRST : ESPI_LATENCY_LAST, &paths, &arena);
    int target = p->n_nodes - 1;
    int moments = 6 + (int)espi_rng_below(r, MOMENTS - 6);
    double bytes = most_bytes(&net, target, moments) * (1 - 1e-9);
    *end_s = moments;
    *bound_s = 1e-3;
    if (bytes > 0)
        assert_int_equal(espi_quickest_flow_s(&net, 0, target, bytes, bound_s, NULL),
                         ESP_OK);
    espi_arena_done(&arena);
    esp_platform_free(p);
    return bytes > 0;
}

static void test_beside_all_that_can_be_done(void **state)
{
    (void)state;
    int tried = test_draws(150), counts = 0;
    double sum = 0;
    for (int i = 0; i < tried; i++) {
        struct espi_rng r;
        double bound_s, end_s;
        espi_rng_seed(&r, test_seed((uint64_t)i));
        if (!try_network(&r, &bound_s, &end_s))
            continue;
        if (bound_s > end_s)
            fail_msg("network %d: no flow ends before %.9g, but one does at %g", i,
                     bound_s, end_s);
        sum += bound_s / end_s;
        counts++;
    }
    if (!(sum >= 0.9 * counts && 2 * counts > tried))
        fail_msg("bounds are %.4f of what can be done, of %d networks", sum / counts,
                 counts);
}

/* 4 bytes a second at once, 6 more after 3 s: within 8 s there are 4 * 8 + 6 * 5. */
static void test_two_ways(void **state)
{
    (void)state;
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    struct espi_arena arena;
    struct espi_dijkstra paths;
    double bound_s = 1;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_CAPACITY);
    for (int i = 0; i < 3; i++) {
        char name[] = {(char)('a' + i), 0};
        struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    assert_int_equal(esp_builder_add_link(b, 0, 2, 0, 4, NULL, NULL), ESP_OK);
    assert_int_equal(esp_builder_add_link(b, 0, 1, 2, 9, NULL, NULL), ESP_OK);
    assert_int_equal(esp_builder_add_link(b, 1, 2, 1, 6, NULL, NULL), ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    espi_arena_init(&arena);
    struct espi_cut_net net = net_of(p, ESPI_LATENCY_LAST, &paths, &arena);
    assert_int_equal(espi_quickest_flow_s(&net, 0, 2, 62, &bound_s, NULL), ESP_OK);
    if (!(bound_s <= 8 && bound_s > 8 * (1 - 1e-3)))
        fail_msg("%.9g is not 8", bound_s);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beside_all_that_can_be_done),
        cmocka_unit_test(test_two_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
