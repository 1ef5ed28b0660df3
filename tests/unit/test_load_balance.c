/* Mixes whose trees turn to hosts with time to spare: the certificate is the judge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <espalier/espalier.h>

#include "algo/many_trees/load_balance.h"
#include "base/rng.h"
#include "bound/certificate.h"
#include "support/alloc_fail.h"
#include "support/seed.h"
#include "support/small_platform.h"

struct solved {
    struct espi_arena arena;
    struct espi_view v;
    struct espi_packing packing;
};

static void solve(struct solved *s, const struct esp_platform *p, double slice_bytes)
{
    espi_arena_init(&s->arena);
    assert_int_equal(espi_view_init(&s->v, p, slice_bytes, &s->arena, NULL), ESP_OK);
    assert_int_equal(espi_packing_solve(&s->v, 0, NULL, &s->arena, &s->packing, NULL),
                     ESP_OK);
}

/* What each resource is in use, of the time; the caller frees it. */
static double *uses(const struct solved *s)
{
    double *in_use = calloc((size_t)s->v.links.n, sizeof *in_use);
    for (int t = 0; t < s->packing.n_trees; t++) {
        const struct espi_packing_tree *tree = &s->packing.tree[t];
        for (int k = 0; k < tree->hop_start[s->v.g.n]; k++)
            espi_resources_add(&s->v.links, tree->hops[k], tree->rate, in_use);
    }
    return in_use;
}

/* Depth of the hosts in the trees, weighted by the rates. */
static double mean_depth(const struct solved *s)
{
    double sum = 0;
    for (int t = 0; t < s->packing.n_trees; t++) {
        const struct espi_packing_tree *tree = &s->packing.tree[t];
        for (int h = 0; h < s->v.g.n; h++)
            for (int at = h; at != 0; sum += tree->rate)
                at = s->v.host[s->v.p->tail[tree->hops[tree->hop_start[at]]]];
    }
    return sum / s->packing.rate / s->v.g.n;
}

static double unrest(const struct solved *s)
{
    double sum = 0.1 * mean_depth(s), *in_use = uses(s);
    for (int r = 0; r < s->v.links.n; r++)
        sum += pow(in_use[r], 8);
    free(in_use);
    return sum;
}

/* Relieves the packing and checks what is promised. */
static void relieve(struct solved *s)
{
    struct espi_certificate c;
    struct esp_err err = {0};
    double before = unrest(s);
    assert_int_equal(espi_balance_loads(&s->v, 0, &s->packing, &s->arena), 0);
    if (espi_certificate_check(&s->v, 0, &s->packing, ESPI_PACKING_GAP * (1 + 1e-6),
                               &s->arena, &c, &err))
        fail_msg("%s", err.text);
    assert_true(unrest(s) <= before + 1e-9);
}

static void mixes_stay_optimal(void **state)
{
    struct espi_rng rng;
    (void)state;
    espi_rng_seed(&rng, test_seed(7));
    for (int i = 0; i < 120; i++) {
        static const esp_model models[] = {ESP_MODEL_CAPACITY, ESP_MODEL_ONE_PORT,
                                           ESP_MODEL_MULTI_PORT, ESP_MODEL_HALF_DUPLEX};
        struct small_options o = {.n = 2 + i % 11,
                                  .density = 0.2 + 0.1 * (i % 8),
                                  .whole = i % 3 * 4,
                                  .model = models[i % 4]};
        struct esp_platform *p = small_random(&rng, &o);
        struct solved s;
        solve(&s, p, 1);
        relieve(&s);
        espi_arena_done(&s.arena);
        esp_platform_free(p);
    }
}

static void paths_through_switches_stay_valid(void **state)
{
    (void)state;
    struct esp_platform *p = small_grid();
    struct solved s;
    solve(&s, p, 65536);
    relieve(&s);
    espi_arena_done(&s.arena);
    esp_platform_free(p);
}

/* ---- sites as the probe writes them: ports and cables are shared ---- */

enum { SITES = 3, HOSTS = 6, ALL = SITES * HOSTS };

/* All links of which the ends are as asked; -1: any host, or any site but that one. */
static void share(struct esp_builder *b, const int *link, int from, int to, int sites,
                  double bandwidth_Bps, const char *name)
{
    int some[ALL * ALL], n = 0;
    for (int u = 0; u < ALL; u++)
        for (int v = 0; v < ALL; v++) {
            int x = sites ? u / HOSTS : u, y = sites ? v / HOSTS : v;
            if (u != v && (from < 0 || x == from) && (to < 0 || y == to))
                some[n++] = link[u * ALL + v];
        }
    assert_int_equal(esp_builder_add_cable(b, name, bandwidth_Bps, some, n, NULL),
                     ESP_OK);
}

static struct esp_platform *three_sites(void)
{
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    int link[ALL * ALL];
    char name[32];
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_CAPACITY);
    for (int i = 0; i < ALL; i++) {
        snprintf(name, sizeof name, "n%d", i);
        struct esp_node_spec spec = {.name = name,
                                     .kind = ESP_NODE_HOST,
                                     .send_s = ESP_UNSET,
                                     .recv_s = ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int u = 0; u < ALL; u++)
        for (int v = 0; v < ALL; v++)
            if (u != v)
                assert_int_equal(
                    esp_builder_add_link(b, u, v, 1e-4, 12e6, &link[u * ALL + v], NULL),
                    ESP_OK);
    for (int u = 0; u < ALL; u++) {
        snprintf(name, sizeof name, "n%d:out", u);
        share(b, link, u, -1, 0, 12e6, name);
        snprintf(name, sizeof name, "n%d:in", u);
        share(b, link, -1, u, 0, 12e6, name);
    }
    for (int x = 0; x < SITES; x++)
        for (int y = 0; y < SITES; y++)
            if (x != y) {
                snprintf(name, sizeof name, "wan:%d>%d", x, y);
                share(b, link, x, y, 1, 1e6 * (1 + x + y), name);
            }
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* The cables between the sites must be full; hosts receive everything once and pass on
 * as much on average, a third of their ports, and none needs to do much more. */
static void only_what_limits_is_full(void **state)
{
    (void)state;
    struct esp_platform *p = three_sites();
    struct solved s;
    solve(&s, p, 32768);
    relieve(&s);
    double *in_use = uses(&s);
    for (int r = 0; r < s.v.links.n; r++) {
        int owner;
        char text[96];
        espi_resource_kind kind = espi_resource_kind_of(&s.v.links, r, &owner);
        if (in_use[r] > 0.75 && (kind != ESPI_CABLE || owner < 2 * ALL))
            fail_msg("%s: %g", espi_resource_text(&s.v.links, p, r, text, sizeof text),
                     in_use[r]);
    }
    assert_true(mean_depth(&s) < 4);
    free(in_use);
    espi_arena_done(&s.arena);
    esp_platform_free(p);
}

static esp_status plan_sites(void *arg)
{
    struct esp_request request;
    struct esp_plan *plan;
    esp_request_init(&request, 0);
    request.algo = "mtp";
    esp_status st = esp_plan_make(arg, &request, &plan, NULL);
    if (!st)
        esp_plan_free(plan);
    return st;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct esp_platform *p = three_sites();
    assert_true(alloc_fail_some(plan_sites, p, 40) > 0);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixes_stay_optimal),
        cmocka_unit_test(paths_through_switches_stay_valid),
        cmocka_unit_test(only_what_limits_is_full),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
