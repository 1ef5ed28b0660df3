/* The Tiers generator: its geometry against brute force, and the structure of what it
 * makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "platform/tiers_net.h"
#include "support/platform_facts.h"
#include "support/seed.h"

#define MAX_POINTS 40

struct cloud {
    int x[MAX_POINTS], y[MAX_POINTS];
    struct espi_points p;
    int unit;
};

static void make_cloud(struct cloud *c, struct espi_rng *r, int n)
{
    c->unit = 1 << espi_rng_below(r, 4);
    uint32_t side = 2 + espi_rng_below(r, 30); /* small ones have many ties */
    for (int i = 0; i < n; i++) {
        c->x[i] = (int)espi_rng_below(r, side) * c->unit;
        c->y[i] = (int)espi_rng_below(r, side) * c->unit;
    }
    c->p = (struct espi_points){c->x, c->y, n};
}

/* Independent of the code under test: distances by integer square roots. */
static int whole_distance(const struct cloud *c, int a, int b)
{
    int dx = (c->x[a] - c->x[b]) / c->unit, dy = (c->y[a] - c->y[b]) / c->unit, d = 0;
    while ((d + 1) * (d + 1) <= dx * dx + dy * dy)
        d++;
    return d;
}

/* Weight of the tree that a Pruefer sequence of n - 2 nodes stands for. */
static int pruefer_weight(const struct cloud *c, const int *sequence, int n)
{
    int degree[MAX_POINTS], weight = 0;
    for (int v = 0; v < n; v++)
        degree[v] = 1;
    for (int i = 0; i < n - 2; i++)
        degree[sequence[i]]++;
    for (int i = 0; i < n - 2; i++)
        for (int leaf = 0; leaf < n; leaf++)
            if (degree[leaf] == 1) {
                weight += whole_distance(c, leaf, sequence[i]);
                degree[leaf]--;
                degree[sequence[i]]--;
                break;
            }
    int last[2], k = 0;
    for (int v = 0; v < n; v++)
        if (degree[v] == 1)
            last[k++] = v;
    return weight + whole_distance(c, last[0], last[1]);
}

static int least_weight(const struct cloud *c, int n)
{
    int sequence[MAX_POINTS] = {0}, trees = 1, best = INT32_MAX;
    for (int i = 0; i < n - 2; i++)
        trees *= n;
    for (int t = 0; t < trees; t++) {
        for (int i = 0, rest = t; i < n - 2; i++, rest /= n)
            sequence[i] = rest % n;
        int weight = pruefer_weight(c, sequence, n);
        best = weight < best ? weight : best;
    }
    return best;
}

static int find(const int *root, int v)
{
    while (root[v] != v)
        v = root[v];
    return v;
}

/* The weight of the first n - 1 pairs, which must be a spanning tree. */
static int tree_weight(const struct cloud *c, int (*pairs)[2], int n)
{
    int root[MAX_POINTS], weight = 0;
    for (int v = 0; v < n; v++)
        root[v] = v;
    for (int k = 0; k < n - 1; k++) {
        int a = find(root, pairs[k][0]), b = find(root, pairs[k][1]);
        assert_int_not_equal(a, b);
        root[a] = b;
        weight += whole_distance(c, pairs[k][0], pairs[k][1]);
    }
    return weight;
}

static void test_spanning_tree(void **state)
{
    (void)state;
    struct espi_rng r;
    struct espi_arena arena;
    espi_rng_seed(&r, test_seed(1));
    espi_arena_init(&arena);
    for (int trial = 0; trial < 150; trial++) {
        struct cloud c;
        int pairs[MAX_POINTS][2], n = 2 + trial % 5;
        make_cloud(&c, &r, n);
        assert_int_equal(espi_points_connect(&c.p, 1, c.unit, &arena, pairs), n - 1);
        assert_int_equal(tree_weight(&c, pairs, n), least_weight(&c, n));
    }
    espi_arena_done(&arena);
}

/* Where all distances are equal the lower numbers come first. */
static void test_ties(void **state)
{
    (void)state;
    int x[6] = {0}, y[6] = {0}, pairs[6 * 3][2];
    struct espi_points p = {x, y, 6};
    struct espi_arena arena;
    espi_arena_init(&arena);
    assert_int_equal(espi_points_connect(&p, 2, 1, &arena, pairs), 5 + 4);
    const int expected[][2] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5},
                               {1, 2}, {3, 1}, {4, 1}, {5, 1}};
    assert_memory_equal(pairs, expected, sizeof expected);
    espi_arena_done(&arena);
}

/* Replays the redundant pairs: each must belong to the first node that has too few, and
 * go to its nearest node apart, of equal ones the first. */
static void check_redundancy(const struct cloud *c, int (*pairs)[2], int n_pairs,
                             int redundancy)
{
    int n = c->p.count, degree[MAX_POINTS] = {0};
    char joined[MAX_POINTS][MAX_POINTS] = {{0}};
    int enough = redundancy < n - 1 ? redundancy : n - 1;
    for (int k = 0; k < n_pairs; k++) {
        int a = pairs[k][0], b = pairs[k][1], u = 0, best = -1;
        while (u < n && degree[u] >= enough)
            u++;
        for (int v = 0; v < n && k >= n - 1; v++)
            if (v != u && !joined[u][v] &&
                (best < 0 || whole_distance(c, u, v) < whole_distance(c, u, best)))
                best = v;
        assert_true(k < n - 1 || (a == u && b == best));
        assert_false(joined[a][b]);
        joined[a][b] = joined[b][a] = 1;
        degree[a]++;
        degree[b]++;
    }
    for (int v = 0; v < n; v++)
        assert_true(degree[v] >= enough);
}

static void test_redundancy(void **state)
{
    (void)state;
    struct espi_rng r;
    struct espi_arena arena;
    espi_rng_seed(&r, test_seed(2));
    espi_arena_init(&arena);
    for (int trial = 0; trial < 400; trial++) {
        struct cloud c;
        int n = 1 + (int)espi_rng_below(&r, MAX_POINTS);
        int redundancy = 1 + (int)espi_rng_below(&r, 8);
        int pairs[MAX_POINTS * 9][2];
        make_cloud(&c, &r, n);
        int n_pairs = espi_points_connect(&c.p, redundancy, c.unit, &arena, pairs);
        assert_true(n_pairs >= n - 1 && n_pairs <= espi_points_max_pairs(n, redundancy));
        tree_weight(&c, pairs, n);
        check_redundancy(&c, pairs, n_pairs, redundancy);
    }
    espi_arena_done(&arena);
}

static void test_nearest(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(3));
    for (int trial = 0; trial < 300; trial++) {
        struct cloud c;
        int n = 1 + (int)espi_rng_below(&r, MAX_POINTS), near[MAX_POINTS];
        int anchor = (int)espi_rng_below(&r, (uint32_t)n), seen[MAX_POINTS] = {0};
        long last = -1;
        make_cloud(&c, &r, n);
        espi_points_nearest(&c.p, anchor, n, near);
        assert_int_equal(near[0], anchor);
        for (int i = 0; i < n; i++) {
            long dx = c.x[near[i]] - c.x[anchor], dy = c.y[near[i]] - c.y[anchor];
            long key = (dx * dx + dy * dy) * MAX_POINTS + near[i];
            assert_int_equal(seen[near[i]]++, 0);
            assert_true(i < 2 || key > last);
            last = key;
        }
    }
}

/* ---- whole platforms ---- */

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static struct esp_platform *make(const struct esp_tiers_options *o)
{
    struct esp_platform *p = NULL;
    struct esp_err err = {.text = ""};
    if (esp_generate_tiers(o, &p, &err) != ESP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(esp_platform_check_root(p, 0, NULL), ESP_OK);
    return p;
}

/* Where a node is, from its number alone. */
struct place {
    int level, man, lan, index; /* lan within its MAN, index within its network */
};

static struct place place_of(const struct esp_tiers_options *o, int node)
{
    int mans = o->nm * o->sm;
    if (node < o->sw)
        return (struct place){0, -1, -1, node};
    node -= o->sw;
    if (node < mans)
        return (struct place){1, node / o->sm, -1, node % o->sm};
    node -= mans;
    return (struct place){2, node / (o->nl * o->sl), node / o->sl % o->nl, node % o->sl};
}

static void check_names(const struct esp_platform *p, const struct esp_tiers_options *o)
{
    int first[] = {0, o->sw, o->sw + o->nm * o->sm};
    for (int v = 0; v < esp_platform_node_count(p); v++) {
        struct place at = place_of(o, v);
        char name[32], site[32] = "wan";
        snprintf(name, sizeof name, "%c%d", "wml"[at.level], v - first[at.level]);
        if (at.level == 1)
            snprintf(site, sizeof site, "man%d", at.man);
        if (at.level == 2)
            snprintf(site, sizeof site, "man%d.lan%d", at.man, at.lan);
        assert_string_equal(esp_platform_node_name(p, v), name);
        assert_string_equal(esp_platform_node_site(p, v), site);
    }
}

static void check_link(const struct esp_tiers_options *o, struct place a, struct place b)
{
    if (a.level == b.level) {
        assert_int_equal(a.man, b.man);
        assert_int_equal(a.lan, b.lan);
        if (a.level == 2) /* a hub is at one of the ends */
            assert_true(smaller(a.index, b.index) < o->rl);
    } else {
        assert_int_equal(a.level - 1, b.level);
        if (a.level == 2) {
            assert_int_equal(a.man, b.man);
            assert_true(a.index < o->rl);
        }
    }
}

static void check_structure(const struct esp_platform *p,
                            const struct esp_tiers_options *o)
{
    int n = esp_platform_node_count(p), lan_inside = 0;
    int *inner = calloc((size_t)n, sizeof *inner); /* links within the network */
    int man_up[16] = {0}, lan_up[256] = {0}, hub_up[256] = {0};
    assert_int_equal(n, o->sw + o->nm * o->sm + o->nm * o->nl * o->sl);
    for (int e = 0; e < esp_platform_link_count(p); e++) {
        int u = esp_platform_link_from(p, e), v = esp_platform_link_to(p, e);
        struct place a = place_of(o, u), b = place_of(o, v);
        assert_true(esp_platform_find_link(p, v, u) >= 0);
        if (a.level < b.level)
            continue;
        check_link(o, a, b);
        inner[u] += a.level == b.level;
        lan_inside += a.level == 2 && b.level == 2;
        man_up[a.man < 0 ? 0 : a.man] += a.level == 1 && b.level == 0;
        if (a.level == 2)
            lan_up[a.man * o->nl + a.lan] += b.level == 1;
        if (a.level == 2)
            hub_up[a.index] += b.level == 1;
    }
    int hubs = smaller(o->rl, o->sl); /* all pairs with a hub */
    assert_int_equal(lan_inside, o->nm * o->nl * hubs * (2 * o->sl - hubs - 1));
    for (int v = 0; v < n; v++) {
        int level = place_of(o, v).level;
        int least = level == 0 ? smaller(o->rw, o->sw - 1) : smaller(o->rm, o->sm - 1);
        assert_true(level == 2 || inner[v] >= least);
    }
    for (int h = 0; h < hubs; h++) { /* hubs take turns */
        int links = smaller(o->rlm, o->sm);
        assert_int_equal(hub_up[h], o->nm * o->nl * ((links - h + hubs - 1) / hubs));
    }
    for (int i = 0; i < o->nm; i++)
        assert_int_equal(man_up[i], smaller(o->rmw, o->sw));
    for (int i = 0; i < o->nm * o->nl; i++)
        assert_int_equal(lan_up[i], smaller(o->rlm, o->sm));
    free(inner);
}

static void test_structure(void **state)
{
    (void)state;
    struct espi_rng r;
    struct esp_tiers_options o;
    espi_rng_seed(&r, test_seed(5));
    esp_tiers_options_defaults(&o);
    for (int trial = 0; trial < 300; trial++) {
        int *const sizes[] = {&o.nm, &o.nl, &o.sw, &o.sm,  &o.sl,
                              &o.rw, &o.rm, &o.rl, &o.rmw, &o.rlm};
        for (int i = 0; i < 10; i++)
            *sizes[i] = (i >= 2) + (int)espi_rng_below(&r, 6);
        o.seed = espi_rng_next(&r);
        struct esp_platform *p = make(&o);
        check_structure(p, &o);
        check_names(p, &o);
        esp_platform_free(p);
    }
}

static void test_no_redundancy_is_tree(void **state)
{
    (void)state;
    struct esp_tiers_options o;
    esp_tiers_options_defaults(&o);
    esp_tiers_options_preset(&o, "65", NULL);
    o.rw = o.rm = o.rl = o.rmw = o.rlm = 1;
    o.density_min = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        o.seed = test_seed(seed);
        struct esp_platform *p = make(&o);
        assert_int_equal(esp_platform_link_count(p), 2 * 64);
        esp_platform_free(p);
    }
}

static void test_presets(void **state)
{
    (void)state;
    const char *const names[] = {"30", "30b", "65", "65b"};
    const int nodes[] = {30, 30, 65, 65};
    const double mean[] = {0.147, 0.1103, 0.0503, 0.0561};
    for (int k = 0; k < 4; k++) {
        struct esp_tiers_options o;
        double sum = 0;
        esp_tiers_options_defaults(&o);
        assert_int_equal(esp_tiers_options_preset(&o, names[k], NULL), ESP_OK);
        for (uint64_t seed = 1; seed <= 300; seed++) {
            o.seed = test_seed(seed);
            struct esp_platform *p = make(&o);
            int n = esp_platform_node_count(p);
            double density = esp_platform_link_count(p) / (n * (n - 1.0));
            assert_int_equal(n, nodes[k]);
            assert_true(density >= 0.05 && density <= 0.15);
            sum += density;
            esp_platform_free(p);
        }
        assert_true(fabs(sum / 300 - mean[k]) < 0.001);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    struct esp_tiers_options o;
    esp_tiers_options_defaults(&o);
    o.seed = test_seed(1);
    for (o.nodes = 10; o.nodes <= 10000; o.nodes += 1 + o.nodes / 10) {
        struct esp_platform *p = make(&o);
        assert_int_equal(esp_platform_node_count(p), o.nodes);
        esp_platform_free(p);
    }
}

/* The bandwidths and delays in the files of the original. */
static void test_classes(void **state)
{
    (void)state;
    static const struct {
        double bandwidth_Bps, fixed, per_unit;
        int unit;
    } classes[] = {{1.25e6, 5, 1, 40},
                   {1.25e6, 51, 0, 1},
                   {12.5e6, 100, 10, 8},
                   {12.5e6, 1001, 0, 1},
                   {125e6, 150, 100, 2}};
    struct esp_tiers_options o;
    esp_tiers_options_defaults(&o);
    esp_tiers_options_preset(&o, "65b", NULL);
    o.classes = 1;
    o.seed = test_seed(1);
    struct esp_platform *p = make(&o);
    for (int e = 0; e < esp_platform_link_count(p); e++) {
        int u = esp_platform_link_from(p, e), v = esp_platform_link_to(p, e);
        int c = place_of(&o, u).level + place_of(&o, v).level;
        int step = (int)classes[c].per_unit * classes[c].unit;
        double us = esp_platform_link_latency_s(p, e) * 1e6 - classes[c].fixed;
        assert_true(esp_platform_link_bandwidth_Bps(p, e) == classes[c].bandwidth_Bps);
        assert_true(fabs(us - lround(us)) < 1e-6);
        assert_int_equal(step ? lround(us) % step : lround(us), 0);
        assert_true(us < 142.0 * (step + 1)); /* the diagonal of the grid */
    }
    esp_platform_free(p);
}

static void test_bandwidths(void **state)
{
    (void)state;
    struct esp_tiers_options o;
    double mean, deviation;
    esp_tiers_options_defaults(&o);
    o.nodes = 10000;
    o.latency_s = 0.125;
    o.seed = test_seed(1);
    struct esp_platform *p = make(&o);
    platform_bandwidths(p, &mean, &deviation);
    /* six standard errors of some 40,000 links */
    assert_true(fabs(mean - 100e6) < 0.6e6 && fabs(deviation - 20e6) < 0.5e6);
    assert_true(esp_platform_link_latency_s(p, 5) == 0.125);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_ONE_PORT);
    esp_platform_free(p);
}

static void assert_refused(const struct esp_tiers_options *o, const char *text)
{
    struct esp_platform *p = NULL;
    struct esp_err err = {.text = ""};
    assert_int_equal(esp_generate_tiers(o, &p, &err), ESP_EUSAGE);
    if (!strstr(err.text, text))
        fail_msg("%s", err.text);
    assert_null(p);
}

static void test_refused(void **state)
{
    (void)state;
    struct esp_tiers_options o;
    esp_tiers_options_defaults(&o);
    o.nodes = 9;
    assert_refused(&o, "nodes is 9");
    o.nodes = 0;
    o.density_min = 0.9;
    assert_refused(&o, "no draw of 100");
    o.density_max = 0.8;
    assert_refused(&o, "density-min is 0.9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spanning_tree),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_redundancy),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_no_redundancy_is_tree),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_bandwidths),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
