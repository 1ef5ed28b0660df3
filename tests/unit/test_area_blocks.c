/* Areas by likelihood, held to what the definition says of every partition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "measure/area_blocks.h"
#include "measure/tuning.h"
#include "support/seed.h"

enum { HOSTS_MAX = 24, PAIRS_MAX = HOSTS_MAX * HOSTS_MAX };

struct drawn {
    int n, n_pairs, area[HOSTS_MAX];
    struct espi_held_pair pairs[PAIRS_MAX];
};

/* Hosts in areas, each pair of which holds up its own part of the transfers; those within
 * an area are hardly ever held up. */
static struct drawn draw(uint64_t seed, int hosts, int areas, int times)
{
    struct drawn d = {.n = hosts};
    struct espi_rng r;
    uint32_t held_of_100[HOSTS_MAX][HOSTS_MAX];
    espi_rng_seed(&r, seed);
    for (int a = 0; a < areas; a++)
        for (int b = 0; b < areas; b++)
            held_of_100[a][b] = a == b ? 1 : 30 + espi_rng_below(&r, 70);
    for (int h = 0; h < hosts; h++)
        d.area[h] = h % areas;
    for (int k = 0; k < hosts * hosts; k++) {
        int a = k / hosts, b = k % hosts, held = 0;
        for (int i = 0; i < times && a != b; i++)
            held += espi_rng_below(&r, 100) < held_of_100[d.area[a]][d.area[b]];
        if (a != b)
            d.pairs[d.n_pairs++] = (struct espi_held_pair){a, b, times - held, held};
    }
    return d;
}

/* As it is defined. */
static double likelihood_of(const struct drawn *d, const int *area)
{
    int fast[HOSTS_MAX][HOSTS_MAX] = {{0}}, held[HOSTS_MAX][HOSTS_MAX] = {{0}};
    double sum = 0;
    for (int k = 0; k < d->n_pairs; k++) {
        fast[area[d->pairs[k].a]][area[d->pairs[k].b]] += d->pairs[k].fast;
        held[area[d->pairs[k].a]][area[d->pairs[k].b]] += d->pairs[k].held;
    }
    for (int x = 0; x < d->n; x++)
        for (int y = 0; y < d->n; y++)
            sum += x == y ? fast[x][y] * log(1 - ESPI_HELD_UP_INSIDE) +
                                held[x][y] * log(ESPI_HELD_UP_INSIDE)
                          : lgamma(fast[x][y] + 1) + lgamma(held[x][y] + 1) -
                                lgamma(fast[x][y] + held[x][y] + 2);
    return sum;
}

/* Of all partitions of the hosts from that one on. */
static double likeliest(const struct drawn *d, int *area, int host, int n_areas)
{
    double most = -INFINITY;
    if (host == d->n)
        return likelihood_of(d, area);
    for (int a = 0; a <= n_areas; a++) {
        area[host] = a;
        most = fmax(most, likeliest(d, area, host + 1, n_areas + (a == n_areas)));
    }
    return most;
}

static struct espi_area_blocks fit(const struct drawn *d, int *area)
{
    struct espi_area_blocks blocks;
    struct espi_arena arena;
    espi_arena_init(&arena);
    assert_int_equal(
        espi_fit_area_blocks(d->n, d->pairs, d->n_pairs, area, &blocks, &arena), 0);
    espi_arena_done(&arena);
    return blocks;
}

static void start_apart(const struct drawn *d, int *area)
{
    for (int h = 0; h < d->n; h++)
        area[h] = h;
}

/* It never says more than is true, and of few hosts it finds the best of all partitions,
 * or nearly. */
static void test_best_of_all(void **state)
{
    (void)state;
    int found = 0, draws = test_draws(40);
    for (int i = 0; i < draws; i++) {
        struct drawn d = draw(test_seed((uint64_t)i), 6 + i % 2, 2 + i % 3, 3);
        int area[HOSTS_MAX], any[HOSTS_MAX];
        start_apart(&d, area);
        double is = fit(&d, area).likelihood, best = likeliest(&d, any, 0, 0);
        assert_true(fabs(is - likelihood_of(&d, area)) < 1e-6);
        assert_true(is <= best + 1e-6);
        found += is > best - 1e-6;
    }
    if (10 * found < 8 * draws)
        fail_msg("only %d of %d are the best", found, draws);
}

/* Areas that hold their transfers up are found, from all hosts apart as from all in one.
 */
static void test_true_areas(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * test_draws(10); i++) {
        struct drawn d = draw(test_seed((uint64_t)i), 12 + i % 12, 2 + i % 5, 4);
        int area[HOSTS_MAX] = {0};
        if (i % 2)
            start_apart(&d, area);
        double is = fit(&d, area).likelihood;
        assert_true(is >= likelihood_of(&d, d.area) - 1e-6);
    }
}

/* Where there are no transfers between two areas, they may as well be one. */
static void test_unsure(void **state)
{
    (void)state;
    struct drawn d = draw(test_seed(1), 12, 3, 6);
    int area[HOSTS_MAX];
    start_apart(&d, area);
    assert_false(fit(&d, area).unsure);
    int kept = 0;
    for (int k = 0; k < d.n_pairs; k++) {
        int x = d.area[d.pairs[k].a], y = d.area[d.pairs[k].b];
        if (x == y || x + y == 1)
            d.pairs[kept++] = d.pairs[k];
    }
    d.n_pairs = kept;
    memcpy(area, d.area, sizeof area);
    assert_true(fit(&d, area).unsure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_of_all),
        cmocka_unit_test(test_true_areas),
        cmocka_unit_test(test_unsure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
