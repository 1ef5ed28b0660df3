/* What is slower than its peers or than expected: slowed links and ports of networks in
 * which all are alike are found, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "measure/health.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

enum { HOSTS = 6 };
static const double TOLERANCE = 0.2;

/* One site whose hosts have ports of one rate, each pair a link that is faster. */
static struct esp_platform *draw_even(double port_Bps)
{
    struct esp_measured_options o;
    struct esp_platform *p = NULL, *even = NULL;
    esp_measured_options_defaults(&o);
    o.hosts = HOSTS;
    assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_OK);
    double *link = calloc((size_t)p->n_links + 1, sizeof *link);
    double *cable = calloc((size_t)p->n_shared + 1, sizeof *cable);
    assert_true(link && cable && p->n_shared >= 2 * HOSTS);
    for (int e = 0; e < p->n_links; e++)
        link[e] = 2 * port_Bps / p->bandwidth_Bps[e];
    for (int i = 0; i < p->n_shared; i++)
        cable[i] = port_Bps / p->shared_Bps[i];
    assert_int_equal(espi_platform_scaled(p, link, cable, &even, NULL), ESP_OK);
    esp_platform_free(p);
    free(link);
    free(cable);
    return even;
}

struct slowed {
    struct esp_platform *p;
    unsigned char *link, *cable; /* was it slowed? */
    int n;
};

/* Less than half of each kind, so that the middle one is as it was. */
static void slow_some(const struct esp_platform *p, struct espi_rng *rng,
                      struct slowed *s)
{
    double *link = calloc((size_t)p->n_links + 1, sizeof *link);
    double *cable = calloc((size_t)p->n_shared + 1, sizeof *cable);
    s->link = calloc((size_t)p->n_links + 1, 1);
    s->cable = calloc((size_t)p->n_shared + 1, 1);
    assert_true(link && cable && s->link && s->cable);
    for (int e = 0; e < p->n_links; e++)
        link[e] = 1;
    for (int i = 0; i < p->n_shared; i++)
        cable[i] = 1;
    for (int k = 0; k < 2; k++) {
        int i = (int)espi_rng_below(rng, (uint32_t)p->n_shared);
        int e = (int)espi_rng_below(rng, (uint32_t)p->n_links);
        s->n += !s->cable[i] + !s->link[e];
        s->cable[i] = s->link[e] = 1;
        cable[i] = espi_rng_range(rng, 0.3, 0.7);
        link[e] = espi_rng_range(rng, 0.05, 0.1); /* below any port */
    }
    assert_int_equal(espi_platform_scaled(p, link, cable, &s->p, NULL), ESP_OK);
    free(link);
    free(cable);
}

static void check_found(const struct slowed *s, const struct espi_ailment *found, int n)
{
    assert_int_equal(n, s->n);
    for (int i = 0; i < n; i++) {
        assert_true((found[i].is_cable ? s->cable : s->link)[found[i].owner]);
        assert_true(found[i].is_Bps < (1 - TOLERANCE) * found[i].should_Bps);
        if (i)
            assert_true(found[i - 1].is_Bps / found[i - 1].should_Bps <=
                        found[i].is_Bps / found[i].should_Bps);
    }
}

static void what_was_slowed_is_found(void **state)
{
    (void)state;
    struct esp_platform *even = draw_even(1e8);
    for (int round = 0; round < test_draws(50); round++) {
        struct slowed s = {.n = 0};
        struct espi_arena arena;
        struct espi_ailment *found;
        struct espi_rng rng;
        int n;
        espi_rng_seed(&rng, test_seed((uint64_t)round + 1));
        slow_some(even, &rng, &s);
        espi_arena_init(&arena);
        assert_int_equal(espi_health_by_peers(s.p, TOLERANCE, &arena, &found, &n),
                         ESP_OK);
        check_found(&s, found, n);
        assert_int_equal(
            espi_health_by_expected(s.p, even, TOLERANCE, &arena, &found, &n), ESP_OK);
        check_found(&s, found, n);
        assert_int_equal(espi_health_by_peers(even, TOLERANCE, &arena, &found, &n),
                         ESP_OK);
        assert_int_equal(n, 0);
        espi_arena_done(&arena);
        esp_platform_free(s.p);
        free(s.link);
        free(s.cable);
    }
    esp_platform_free(even);
}

static esp_status find(void *platform)
{
    struct espi_arena arena;
    struct espi_ailment *found;
    int n;
    espi_arena_init(&arena);
    esp_status status = espi_health_by_peers(platform, TOLERANCE, &arena, &found, &n);
    if (status == ESP_OK)
        status =
            espi_health_by_expected(platform, platform, TOLERANCE, &arena, &found, &n);
    espi_arena_done(&arena);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    struct esp_platform *even = draw_even(1e8);
    assert_true(alloc_fail_each(find, even) > 0);
    esp_platform_free(even);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_slowed_is_found),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
