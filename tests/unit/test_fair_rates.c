/* Fair rates that are kept up to date, against progressive filling from the start. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/rng.h"
#include "graph/fair_rates.h"
#include "support/seed.h"

enum { FLOWS = 12, RESOURCES = 9, USES = 3, STEPS = 60, CASES = 40 };

struct net {
    struct espi_arena arena;
    struct espi_fair_rates rates;
    int use_start[FLOWS + 1], use_resource[FLOWS * USES];
    int is_there[FLOWS];
};

/* Each flow uses three resources, by parts from 0 to 1; some of none at all. Every second
 * flow takes thousandths of what the others do, as over links that are so much faster. */
static void draw_parts(struct net *n, struct espi_rng *rng, int flow)
{
    double scale = flow % 2 ? 1e-3 : 1;
    for (int k = n->use_start[flow]; k < n->use_start[flow + 1]; k++) {
        double part = scale * espi_rng_range(rng, 0.1, 1);
        n->rates.part[k] = espi_rng_below(rng, 5) > 0 ? part : 0;
    }
    n->rates.part[n->use_start[flow]] = scale * espi_rng_range(rng, 0.1, 1);
}

static void net_init(struct net *n, struct espi_rng *rng)
{
    memset(n, 0, sizeof *n);
    espi_arena_init(&n->arena);
    for (int i = 0; i < FLOWS; i++) {
        int first = (int)espi_rng_below(rng, RESOURCES);
        n->use_start[i + 1] = n->use_start[i] + USES;
        for (int k = 0; k < USES; k++)
            n->use_resource[i * USES + k] = (first + k * k + k) % RESOURCES;
    }
    assert_int_equal(espi_fair_rates_init(&n->rates, FLOWS, RESOURCES, n->use_start,
                                          n->use_resource, &n->arena),
                     0);
    for (int i = 0; i < FLOWS; i++)
        draw_parts(n, rng, i);
}

static double part_of(const struct net *n, int flow, int resource)
{
    double part = 0;
    for (int k = n->use_start[flow]; k < n->use_start[flow + 1]; k++)
        part += n->use_resource[k] == resource ? n->rates.part[k] : 0;
    return part;
}

/* All rates grow alike until a resource is full; its flows stay, the others go on. */
static void fill_from_start(const struct net *n, double *rate)
{
    int grows[FLOWS], left = 0;
    for (int i = 0; i < FLOWS; i++) {
        rate[i] = 0;
        grows[i] = n->is_there[i];
        left += grows[i];
    }
    while (left > 0) {
        double step = INFINITY;
        int full = -1;
        for (int r = 0; r < RESOURCES; r++) {
            double used = 0, growth = 0;
            for (int i = 0; i < FLOWS; i++) {
                used += n->is_there[i] ? rate[i] * part_of(n, i, r) : 0;
                growth += grows[i] ? part_of(n, i, r) : 0;
            }
            if (growth > 0 && fmax(1 - used, 0) / growth < step) {
                step = fmax(1 - used, 0) / growth;
                full = r;
            }
        }
        for (int i = 0; i < FLOWS; i++)
            rate[i] += grows[i] ? step : 0;
        for (int i = 0; i < FLOWS; i++)
            if (grows[i] && part_of(n, i, full) > 0) {
                grows[i] = 0;
                left--;
            }
    }
}

/* Flows come and go, some of them both before the next update, and some change. */
static void change(struct net *n, struct espi_rng *rng)
{
    for (int i = 0; i < 3; i++) {
        int flow = (int)espi_rng_below(rng, FLOWS);
        n->is_there[flow] = (int)espi_rng_below(rng, 2);
        espi_fair_rates_set(&n->rates, flow, n->is_there[flow]);
    }
    if (espi_rng_below(rng, 3))
        return;
    int flow = (int)espi_rng_below(rng, FLOWS);
    espi_fair_rates_drop(&n->rates, flow);
    draw_parts(n, rng, flow);
}

static void rates_are_those_of_filling(void **state)
{
    (void)state;
    for (int seed = 0; seed < CASES; seed++) {
        struct net n;
        struct espi_rng rng;
        double wanted[FLOWS];
        espi_rng_seed(&rng, test_seed((uint64_t)seed));
        net_init(&n, &rng);
        for (int step = 0; step < STEPS; step++) {
            change(&n, &rng);
            espi_fair_rates_update(&n.rates);
            fill_from_start(&n, wanted);
            for (int i = 0; i < FLOWS; i++)
                if (!(fabs(n.rates.rate[i] - wanted[i]) <= 1e-9 * (1 + wanted[i])))
                    fail_msg("flow %d has %.12g, not %.12g", i, n.rates.rate[i],
                             wanted[i]);
        }
        espi_arena_done(&n.arena);
    }
}

/* A flow that goes and is back changes no rate, and none is looked at. */
static void what_is_back_changes_nothing(void **state)
{
    (void)state;
    struct net n;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(1));
    net_init(&n, &rng);
    for (int i = 0; i < FLOWS; i++)
        espi_fair_rates_set(&n.rates, i, 1);
    espi_fair_rates_update(&n.rates);
    assert_int_equal(n.rates.n_updated, FLOWS);
    espi_fair_rates_set(&n.rates, 3, 0);
    espi_fair_rates_set(&n.rates, 3, 1);
    espi_fair_rates_update(&n.rates);
    assert_int_equal(n.rates.n_updated, 0);
    espi_arena_done(&n.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_those_of_filling),
        cmocka_unit_test(what_is_back_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
