/* The packing of trees: exact vectors, the full program as judge, certificates. */
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
#include "bound/certificate.h"
#include "solve/arcs.h"
#include "solve/full_lp.h"
#include "solve/packing.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

static struct esp_builder *nodes(int hosts, int switches, esp_model model)
{
    struct esp_builder *b = NULL;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, model);
    for (int i = 0; i < hosts + switches; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        struct esp_node_spec spec = {.name = name,
                                     .kind = i < hosts ? ESP_NODE_HOST : ESP_NODE_SWITCH,
                                     .send_s = ESP_UNSET,
                                     .recv_s = ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    return b;
}

static int link_of(struct esp_builder *b, int from, int to, double time_s)
{
    int link;
    assert_int_equal(esp_builder_add_link(b, from, to, 0, 1 / time_s, &link, NULL),
                     ESP_OK);
    return link;
}

static struct esp_platform *built(struct esp_builder *b)
{
    struct esp_platform *p = NULL;
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* Links u, v, time of the papers; both ways with `both`. */
static struct esp_platform *from_times(int n, int both, const double (*t)[3], int count)
{
    struct esp_builder *b = nodes(n, 0, ESP_MODEL_ONE_PORT);
    for (int i = 0; i < count; i++) {
        link_of(b, (int)t[i][0], (int)t[i][1], t[i][2]);
        if (both)
            link_of(b, (int)t[i][1], (int)t[i][0], t[i][2]);
    }
    return built(b);
}

struct solved {
    struct espi_arena arena;
    struct espi_view v;
    struct espi_packing packing;
};

static void solve_with(struct solved *s, const struct esp_platform *p, double slice_bytes,
                       const struct espi_packing_options *options)
{
    struct esp_err err = {0};
    struct espi_certificate c;
    double gap = options && options->gap > 0 ? options->gap : ESPI_PACKING_GAP;
    espi_arena_init(&s->arena);
    if (espi_view_init(&s->v, p, slice_bytes, &s->arena, &err) ||
        espi_packing_solve(&s->v, 0, options, &s->arena, &s->packing, &err) ||
        espi_certificate_check(&s->v, 0, &s->packing, gap * (1 + 1e-6), &s->arena, &c,
                               &err))
        fail_msg("%s: %s", esp_platform_name(p), err.text);
}

static void solve(struct solved *s, const struct esp_platform *p)
{
    solve_with(s, p, 1, NULL);
}

static void done(struct solved *s, struct esp_platform *p)
{
    espi_arena_done(&s->arena);
    esp_platform_free(p);
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fabs(b)))
        fail_msg("%.15g is not %.15g", a, b);
}

static const double v1[][3] = {{0, 1, 1}, {0, 2, 1}, {1, 2, 2}, {2, 1, 2}};
static const double v2[][3] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {1, 3, 3.5}};
static const double v3[][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {1, 2, 2},
                               {1, 4, 5}, {2, 3, 1}, {2, 4, 2}, {3, 4, 3}};

static void vectors_of_the_paper(void **state)
{
    (void)state;
    struct {
        struct esp_platform *p;
        double rate;
    } cases[] = {{from_times(3, 0, v1, 4), 3.0 / 4},
                 {from_times(4, 0, v2, 4), 7.0 / 17},
                 {from_times(5, 1, v3, 8), 7.0 / 15}};
    for (int i = 0; i < 3; i++) {
        struct solved s;
        solve(&s, cases[i].p);
        assert_near(s.packing.rate, cases[i].rate, 1e-9);
        assert_near(s.packing.bound, cases[i].rate, 1e-9);
        done(&s, cases[i].p);
    }
}

/* The shares of the lexicographic optimum, by arc as listed. */
static void least_shares_of_the_paper(void **state)
{
    (void)state;
    static const struct {
        int from, to;
        double n;
    } want[] = {{0, 1, 7}, {1, 2, 7}, {2, 3, 3}, {2, 4, 6}, {4, 3, 4}, {3, 4, 1}};
    struct esp_platform *p = from_times(5, 1, v3, 8);
    struct espi_arena arena;
    struct espi_view v;
    struct espi_arcs arcs;
    struct espi_solve_budget endless = espi_solve_budget_of(0, 0);
    espi_arena_init(&arena);
    assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
    struct espi_arcs_task task = {
        .v = &v, .unit_s = 1, .budget = &endless, .least_time = 1};
    assert_int_equal(espi_arcs_solve(&task, &arena, &arcs, NULL), ESP_OK);
    assert_true(arcs.complete);
    assert_near(arcs.period_s, 15.0 / 7, 1e-9);
    double sum = 0;
    for (int e = 0; e < v.g.m; e++)
        sum += arcs.y[e];
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        int e = esp_platform_find_link(p, want[i].from, want[i].to);
        assert_near(arcs.y[e] / arcs.period_s, want[i].n / 15, 1e-8);
        sum -= arcs.y[e];
    }
    assert_true(fabs(sum) < 1e-8);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

static void shapes_with_known_answers(void **state)
{
    (void)state;
    struct solved s;
    struct esp_builder *b = nodes(2, 0, ESP_MODEL_ONE_PORT); /* two nodes */
    link_of(b, 0, 1, 4);
    struct esp_platform *p = built(b);
    solve(&s, p);
    assert_near(s.packing.rate, 0.25, 1e-12);
    done(&s, p);

    b = nodes(9, 0, ESP_MODEL_ONE_PORT); /* a chain: its slowest link */
    for (int i = 0; i < 8; i++)
        link_of(b, i, i + 1, i == 5 ? 3 : 1);
    p = built(b);
    solve(&s, p);
    assert_near(s.packing.rate, 1.0 / 3, 1e-12);
    assert_int_equal(s.packing.n_trees, 1);
    done(&s, p);

    b = nodes(9, 0, ESP_MODEL_ONE_PORT); /* a star: the root sends to all */
    for (int i = 1; i < 9; i++)
        link_of(b, 0, i, i);
    p = built(b);
    solve(&s, p);
    assert_near(s.packing.rate, 1.0 / 36, 1e-12);
    done(&s, p);

    b = nodes(1, 0, ESP_MODEL_ONE_PORT); /* nobody to send to */
    p = built(b);
    solve(&s, p);
    assert_true(isinf(s.packing.rate));
    assert_int_equal(s.packing.n_trees, 1);
    done(&s, p);
}

/* All links equal: 1 slice a unit of time, as a chain does, in every size. */
static void equal_weights_everywhere(void **state)
{
    (void)state;
    for (int n = 2; n < 40; n += 7) {
        struct solved s;
        struct esp_builder *b = nodes(n, 0, ESP_MODEL_ONE_PORT);
        for (int u = 0; u < n; u++)
            for (int v = 0; v < n; v++)
                if (u != v)
                    link_of(b, u, v, 1);
        struct esp_platform *p = built(b);
        solve(&s, p);
        assert_near(s.packing.rate, 1, 1e-7);
        done(&s, p);
    }
}

/* ---- random platforms against the full program ---- */

struct recipe {
    int hosts, switches, cables;
    esp_model model;
    double low, high; /* times, drawn in the logarithm */
    double density;
};

static double draw_time(struct espi_rng *rng, const struct recipe *r)
{
    double t = espi_rng_log_range(rng, r->low, r->high);
    return espi_rng_below(rng, 4) ? t : r->low; /* many ties */
}

/* A random tree over all nodes and more links at random, both ways. */
static struct esp_platform *random_platform(struct espi_rng *rng, const struct recipe *r)
{
    int n = r->hosts + r->switches, links = 0;
    struct esp_builder *b = nodes(r->hosts, r->switches, r->model);
    for (int v = 1; v < n; v++)
        for (int u = 0, tree = (int)espi_rng_below(rng, (uint32_t)v); u < v; u++)
            if (u == tree || espi_rng_range(rng, 0, 1) < r->density) {
                link_of(b, u, v, draw_time(rng, r));
                link_of(b, v, u, draw_time(rng, r));
                links += 2;
            }
    for (int c = 0; c < r->cables; c++) {
        int on[3], count = 0;
        char name[16];
        for (int i = 0; i < 3; i++) {
            int link = (int)espi_rng_below(rng, (uint32_t)links);
            if (!(count && on[count - 1] >= link))
                on[count++] = link;
        }
        snprintf(name, sizeof name, "cable%d", c);
        assert_int_equal(
            esp_builder_add_cable(b, name, 1 / draw_time(rng, r), on, count, NULL),
            ESP_OK);
    }
    return built(b);
}

static void compare_with_full(struct esp_platform *p)
{
    struct solved s;
    struct esp_err err = {0};
    double rate;
    struct espi_packing_options exact = {.gap = 1e-8};
    solve_with(&s, p, 1, &exact);
    if (espi_full_lp_solve(&s.v, 0, 0, &s.arena, &rate, NULL, &err))
        fail_msg("%s", err.text);
    assert_near(s.packing.rate, rate, 1e-7);
    assert_near(s.packing.bound, rate, 1e-7);
    done(&s, p);
}

static void as_the_full_program_says(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(42));
    for (int i = 0; i < test_draws(240); i++) {
        struct recipe r = {.hosts = 2 + (int)espi_rng_below(&rng, i % 12 ? 9 : 20),
                           .model = (esp_model)(i % ESP_MODEL_COUNT),
                           .low = 1,
                           .high = i % 5 ? 20 : 1};
        r.cables = i % 3 ? 0 : (int)espi_rng_below(&rng, 4);
        r.density = espi_rng_range(&rng, 0, 0.5);
        compare_with_full(random_platform(&rng, &r));
    }
}

static void as_the_full_program_says_with_switches(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(43));
    for (int i = 0; i < test_draws(100); i++) {
        struct recipe r = {.hosts = 2 + (int)espi_rng_below(&rng, 5),
                           .model = (esp_model)(i % ESP_MODEL_COUNT),
                           .low = 1,
                           .high = 10};
        r.switches = 1 + (int)espi_rng_below(&rng, 4);
        r.cables = i % 3 ? 0 : (int)espi_rng_below(&rng, 3);
        r.density = espi_rng_range(&rng, 0, 0.6);
        struct esp_platform *p = random_platform(&rng, &r);
        compare_with_full(p);
    }
}

static void weights_over_nine_orders(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(44));
    for (int i = 0; i < test_draws(80); i++) {
        struct recipe r = {.hosts = 3 + (int)espi_rng_below(&rng, 25),
                           .model = (esp_model)(i % ESP_MODEL_COUNT),
                           .low = 1e-6,
                           .high = 1e3};
        r.density = espi_rng_range(&rng, 0, 0.6);
        struct esp_platform *p = random_platform(&rng, &r);
        struct solved s;
        solve(&s, p);
        done(&s, p);
    }
}

static struct esp_platform *hub(int n, uint64_t seed)
{
    struct esp_hub_options o;
    struct esp_platform *p = NULL;
    esp_hub_options_defaults(&o);
    o.nodes = n;
    o.seed = test_seed(seed);
    assert_int_equal(esp_generate_hub(&o, &p, NULL), ESP_OK);
    return p;
}

/* Many ports bind: the way over arcs is the one taken, and agrees with the full one. */
static void hubs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++)
        compare_with_full(hub(16, seed));
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct solved s;
        struct esp_platform *p = hub(90, seed);
        solve(&s, p);
        done(&s, p);
    }
}

static void tiers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct esp_tiers_options o;
        struct esp_platform *p = NULL;
        struct solved s;
        esp_tiers_options_defaults(&o);
        esp_tiers_options_preset(&o, seed == 1 ? "65" : "30", NULL);
        o.seed = test_seed(seed);
        assert_int_equal(esp_generate_tiers(&o, &p, NULL), ESP_OK);
        if (seed > 1) {
            compare_with_full(p);
            continue;
        }
        solve_with(&s, p, 65536, NULL);
        done(&s, p);
    }
}

/* The cut program alone, without any trees to start from, is a second opinion. */
static void cuts_agree_with_trees(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(45));
    for (int i = 0; i < test_draws(100); i++) {
        struct recipe r = {.hosts = 3 + (int)espi_rng_below(&rng, 20),
                           .cables = i % 3 ? 0 : 2,
                           .model = (esp_model)(i % ESP_MODEL_COUNT),
                           .low = 1,
                           .high = 30};
        r.density = espi_rng_range(&rng, 0, 0.5);
        struct esp_platform *p = random_platform(&rng, &r);
        struct solved s;
        struct espi_arcs arcs;
        struct espi_solve_budget endless = espi_solve_budget_of(0, 0);
        solve(&s, p);
        struct espi_arcs_task task = {.v = &s.v, .unit_s = 10, .budget = &endless};
        assert_int_equal(espi_arcs_solve(&task, &s.arena, &arcs, NULL), ESP_OK);
        assert_true(arcs.complete);
        assert_near(1 / arcs.period_s, s.packing.rate, 1e-7);
        done(&s, p);
    }
}

/* ---- limits ---- */

static void count_progress(void *arg, double gap, double elapsed_s)
{
    assert_true(gap >= 0 && elapsed_s >= 0);
    ++*(int *)arg;
}

static void time_limit_gives_the_best_so_far(void **state)
{
    (void)state;
    struct esp_platform *p = hub(200, 1);
    struct espi_arena arena;
    struct espi_view v;
    struct espi_packing packing;
    struct espi_certificate c;
    int calls = 0;
    struct espi_packing_options o = {
        .time_limit_s = 1e-3, .progress = count_progress, .progress_arg = &calls};
    espi_arena_init(&arena);
    assert_int_equal(espi_view_init(&v, p, 65536, &arena, NULL), ESP_OK);
    assert_int_equal(espi_packing_solve(&v, 0, &o, &arena, &packing, NULL), ESP_OK);
    assert_int_equal(espi_certificate_check(&v, 0, &packing, INFINITY, &arena, &c, NULL),
                     ESP_OK);
    assert_true(calls > 0);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

static void bad_packings_are_found_out(void **state)
{
    (void)state;
    struct esp_platform *p = from_times(5, 1, v3, 8);
    struct solved s;
    struct espi_certificate c;
    solve(&s, p);
    struct espi_packing good = s.packing;
    double rate = good.tree[0].rate;
    good.tree[0].rate = 1.01 * rate;
    assert_int_equal(espi_certificate_check(&s.v, 0, &good, 1, &s.arena, &c, NULL),
                     ESP_EINTERNAL);
    good.tree[0].rate = 0.99 * rate;
    assert_int_equal(espi_certificate_check(&s.v, 0, &good, 1, &s.arena, &c, NULL),
                     ESP_EINTERNAL);
    good.tree[0].rate = rate;
    int hops[4];
    memcpy(hops, good.tree[0].hops, sizeof hops);
    good.tree[0].hops = hops;
    hops[0] = hops[1];
    assert_int_equal(espi_certificate_check(&s.v, 0, &good, 1, &s.arena, &c, NULL),
                     ESP_EINTERNAL);
    good.tree[0].hops = s.packing.tree[1].hops;
    double *price = ESPI_ARENA_ZNEW(&s.arena, double, s.v.links.n);
    price[esp_platform_node_count(p)] = 1;
    good.price = price;
    assert_int_equal(espi_certificate_check(&s.v, 0, &good, 1e-6, &s.arena, &c, NULL),
                     ESP_EINTERNAL);
    done(&s, p);
}

static esp_status solve_hub(void *arg)
{
    struct espi_arena arena;
    struct espi_view v;
    struct espi_packing packing;
    espi_arena_init(&arena);
    esp_status st = espi_view_init(&v, arg, 65536, &arena, NULL);
    if (!st)
        st = espi_packing_solve(&v, 0, NULL, &arena, &packing, NULL);
    espi_arena_done(&arena);
    return st;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    struct esp_platform *p = hub(12, 1);
    assert_true(alloc_fail_each(solve_hub, p) > 0);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_the_paper),
        cmocka_unit_test(least_shares_of_the_paper),
        cmocka_unit_test(shapes_with_known_answers),
        cmocka_unit_test(equal_weights_everywhere),
        cmocka_unit_test(as_the_full_program_says),
        cmocka_unit_test(as_the_full_program_says_with_switches),
        cmocka_unit_test(weights_over_nine_orders),
        cmocka_unit_test(hubs),
        cmocka_unit_test(tiers),
        cmocka_unit_test(cuts_agree_with_trees),
        cmocka_unit_test(time_limit_gives_the_best_so_far),
        cmocka_unit_test(bad_packings_are_found_out),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
