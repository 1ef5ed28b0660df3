/* Of many optimal solutions a rule chooses one: by a second cost if there is one, and
 * always the same, whichever way the solver came. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "lp/lp.h"
#include "support/seed.h"

/* ---- by the second cost ---- */

/* x + y + z >= 1 for one each, all at the same cost; the second costs as given. */
static struct espi_lp *choice_of_three(const double *second)
{
    static const double cost[3] = {1, 1, 1}, one = 1;
    static const int start[4] = {0, 1, 2, 3}, row[3] = {0, 0, 0}, none[2] = {0, 0};
    struct espi_lp *lp;
    struct espi_lp_vectors demand = {
        .count = 1, .lower = &one, .start = none, .index = none, .value = &one};
    struct espi_lp_vectors columns = {.count = 3,
                                      .cost = cost,
                                      .second_cost = second,
                                      .start = start,
                                      .index = row,
                                      .value = cost};
    assert_int_equal(espi_lp_create(&lp, NULL), ESP_OK);
    espi_lp_add_rows(lp, &demand);
    espi_lp_add_columns(lp, &columns);
    return lp;
}

static void the_second_cost_decides_between_equals(void **state)
{
    (void)state;
    for (int least = 0; least < 3; least++) {
        double second[3] = {5e-4, 5e-4, 5e-4};
        second[least] = 4e-4;
        struct espi_lp *lp = choice_of_three(second);
        assert_int_equal(espi_lp_solve(lp, ESPI_LP_DUAL), ESPI_LP_OPTIMAL);
        for (int j = 0; j < 3; j++)
            assert_true(espi_lp_values(lp)[j] == (j == least));
        espi_lp_free(lp);
    }
}

static void second_costs_stay_with_their_columns(void **state)
{
    static const double second[3] = {1, 3, 2};
    static const int first = 0;
    struct espi_lp *lp = choice_of_three(second);
    (void)state;
    espi_lp_drop_columns(lp, 1, &first);
    assert_int_equal(espi_lp_solve(lp, ESPI_LP_DUAL), ESPI_LP_OPTIMAL);
    assert_true(espi_lp_values(lp)[0] == 0);
    assert_true(espi_lp_values(lp)[1] == 1);
    espi_lp_free(lp);
}

/* ---- whichever way the solver came ---- */

enum { FROM = 6, TO = 7, LINKS = FROM * TO };

/* Transports of equal amounts at small whole costs: as degenerate as can be. */
static struct espi_lp *transport(const double *cost, const double *second)
{
    int start[LINKS + 1], index[2 * LINKS], none[FROM + TO + 1] = {0};
    double value[2 * LINKS], lower[FROM + TO], upper[FROM + TO];
    struct espi_lp *lp;
    for (int i = 0; i < FROM + TO; i++) {
        lower[i] = i < FROM ? -DBL_MAX : FROM;
        upper[i] = i < FROM ? TO : DBL_MAX;
    }
    for (int e = 0; e < LINKS; e++) {
        start[e] = 2 * e;
        index[2 * e] = e / TO;
        index[2 * e + 1] = FROM + e % TO;
        value[2 * e] = value[2 * e + 1] = 1;
    }
    start[LINKS] = 2 * LINKS;
    struct espi_lp_vectors rows = {.count = FROM + TO,
                                   .lower = lower,
                                   .upper = upper,
                                   .start = none,
                                   .index = none,
                                   .value = value};
    struct espi_lp_vectors columns = {.count = LINKS,
                                      .cost = cost,
                                      .second_cost = second,
                                      .start = start,
                                      .index = index,
                                      .value = value};
    assert_int_equal(espi_lp_create(&lp, NULL), ESP_OK);
    espi_lp_add_rows(lp, &rows);
    espi_lp_add_columns(lp, &columns);
    return lp;
}

static double total(const double *cost, const double *x)
{
    double sum = 0;
    for (int e = 0; e < LINKS; e++)
        sum += cost[e] * x[e];
    return sum;
}

static void draw_costs(struct espi_rng *rng, uint32_t most, double *cost)
{
    for (int e = 0; e < LINKS; e++)
        cost[e] = 1 + espi_rng_below(rng, most);
}

/* Solves from nothing by the dual method, and by the primal method after other costs. */
static void solve_both_ways(struct espi_rng *rng, int has_second)
{
    double cost[LINKS], other[LINKS], second[LINKS];
    draw_costs(rng, 3, cost);
    draw_costs(rng, 9, other);
    draw_costs(rng, 4, second);
    struct espi_lp *a = transport(cost, has_second ? second : NULL);
    struct espi_lp *b = transport(other, has_second ? second : NULL);
    assert_int_equal(espi_lp_solve(a, ESPI_LP_DUAL), ESPI_LP_OPTIMAL);
    assert_int_equal(espi_lp_solve(b, ESPI_LP_PRIMAL), ESPI_LP_OPTIMAL);
    espi_lp_set_costs(b, cost);
    assert_int_equal(espi_lp_solve(b, ESPI_LP_PRIMAL), ESPI_LP_OPTIMAL);
    for (int e = 0; e < LINKS; e++)
        assert_true(espi_lp_values(a)[e] == espi_lp_values(b)[e]);
    for (int i = 0; i < FROM + TO; i++)
        assert_true(espi_lp_duals(a)[i] == espi_lp_duals(b)[i]);
    if (has_second) { /* nothing that costs as little costs less the second time */
        double mixed[LINKS];
        for (int e = 0; e < LINKS; e++)
            mixed[e] = cost[e] + second[e] / 4096;
        espi_lp_set_costs(b, mixed);
        assert_int_equal(espi_lp_solve(b, ESPI_LP_PRIMAL), ESPI_LP_OPTIMAL);
        assert_true(fabs(total(mixed, espi_lp_values(a)) -
                         total(mixed, espi_lp_values(b))) < 1e-9);
    }
    espi_lp_free(a);
    espi_lp_free(b);
}

static void the_way_to_a_solution_does_not_matter(void **state)
{
    struct espi_rng rng;
    (void)state;
    espi_rng_seed(&rng, test_seed(20));
    for (int i = 0; i < 400; i++)
        solve_both_ways(&rng, i % 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_cost_decides_between_equals),
        cmocka_unit_test(second_costs_stay_with_their_columns),
        cmocka_unit_test(the_way_to_a_solution_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
