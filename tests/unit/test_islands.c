/* Groups of hosts that reach one another, against all pairs tried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "platform/islands.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/seed.h"
#include "support/small_platform.h"

enum { N = 7, MOST_ARCS = 14 };

struct reach {
    unsigned char to[N][N];
};

static void close_reach(const struct esp_platform *p, struct reach *r)
{
    memset(r, 0, sizeof *r);
    for (int v = 0; v < N; v++)
        r->to[v][v] = 1;
    for (int e = 0; e < p->n_links; e++)
        r->to[p->tail[e]][p->head[e]] = 1;
    for (int k = 0; k < N; k++)
        for (int u = 0; u < N; u++)
            for (int v = 0; v < N; v++)
                r->to[u][v] |= r->to[u][k] && r->to[k][v];
}

static struct esp_platform *draw_network(uint64_t seed)
{
    struct small_arc arcs[MOST_ARCS];
    struct espi_rng rng;
    int n = 0;
    espi_rng_seed(&rng, seed);
    int wanted = 1 + (int)espi_rng_below(&rng, MOST_ARCS);
    while (n < wanted) {
        int u = (int)espi_rng_below(&rng, N), v = (int)espi_rng_below(&rng, N);
        int known = u == v;
        for (int i = 0; i < n; i++)
            known |= arcs[i].from == u && arcs[i].to == v;
        if (known)
            wanted--;
        else
            arcs[n++] = (struct small_arc){u, v, 1};
    }
    return n ? small_platform(ESP_MODEL_CAPACITY, N, arcs, n) : NULL;
}

/* How many hosts are with this one, and is it the first of them? */
static int hosts_with(const struct reach *r, int host, int *is_first)
{
    int n = 0;
    *is_first = 1;
    for (int v = 0; v < N; v++) {
        int together = r->to[host][v] && r->to[v][host];
        n += together;
        if (together && v < host)
            *is_first = 0;
    }
    return n;
}

static void check_islands(const struct esp_platform *p, const struct espi_island *all,
                          int n, int reached)
{
    struct reach r;
    int groups = 0, somebody = 0;
    close_reach(p, &r);
    for (int u = 0; u < N; u++) {
        int is_first, hosts = hosts_with(&r, u, &is_first), all_of_them = 1, found = 0;
        for (int v = 0; v < N; v++)
            all_of_them &= r.to[u][v];
        somebody |= all_of_them;
        groups += is_first;
        for (int i = 0; i < n; i++)
            found |= all[i].first_host == u && all[i].n_hosts == hosts;
        assert_int_equal(found, is_first);
    }
    assert_int_equal(groups, n);
    assert_int_equal(somebody, reached);
    for (int i = 1; i < n; i++)
        assert_true(all[i - 1].n_hosts >= all[i].n_hosts);
}

static void islands_are_those_of_all_pairs(void **state)
{
    (void)state;
    for (int round = 0; round < test_draws(200); round++) {
        struct esp_platform *p = draw_network(test_seed((uint64_t)round + 1));
        struct espi_arena arena;
        struct espi_island *all;
        int n, reached;
        if (!p)
            continue;
        espi_arena_init(&arena);
        assert_int_equal(espi_find_islands(p, &arena, &all, &n, &reached), ESP_OK);
        check_islands(p, all, n, reached);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* Two triangles of two sites each, and a host without a site. */
static void islands_know_their_sites(void **state)
{
    (void)state;
    static const char *const site[] = {"x", "y", "x", "z", "z", "z", NULL};
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    struct espi_arena arena;
    struct espi_island *all;
    char name[2] = "a";
    int n, reached;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    for (int u = 0; u < N; u++, name[0]++)
        esp_builder_add_node(
            b,
            &(struct esp_node_spec){name, site[u], ESP_NODE_HOST, ESP_UNSET, ESP_UNSET},
            NULL, NULL);
    for (int u = 0; u < N - 1; u++)
        esp_builder_add_link(b, u, u / 3 * 3 + (u + 1) % 3, 0, 1, NULL, NULL);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    espi_arena_init(&arena);
    assert_int_equal(espi_find_islands(p, &arena, &all, &n, &reached), ESP_OK);
    assert_int_equal(n, 3);
    assert_int_equal(all[0].n_sites, 2);
    assert_string_equal(espi_names_text(&p->sites, all[0].site[0]), "x");
    assert_string_equal(espi_names_text(&p->sites, all[0].site[1]), "y");
    assert_int_equal(all[1].n_sites, 1);
    assert_string_equal(espi_names_text(&p->sites, all[1].site[0]), "z");
    assert_int_equal(all[2].n_sites, 0);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

static esp_status find(void *platform)
{
    struct espi_arena arena;
    struct espi_island *all;
    int n, reached;
    espi_arena_init(&arena);
    esp_status status = espi_find_islands(platform, &arena, &all, &n, &reached);
    espi_arena_done(&arena);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    struct esp_platform *p = NULL;
    for (uint64_t seed = 1; !p; seed++)
        p = draw_network(seed);
    assert_true(alloc_fail_each(find, p) > 0);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(islands_are_those_of_all_pairs),
        cmocka_unit_test(islands_know_their_sites),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
