/* Networks on which measuring once went wrong, the worst working seed of each kind that
 * was mended: what was wrong stays mended, whatever the disturbances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include <espalier/espalier.h>

#include "platform/generators.h"
#include "support/measured_network.h"
#include "support/seed.h"

enum { SET_FLOWS = 24, SETS = 20, BUS_HOSTS = 11 };

static int compare_doubles(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* By how much the rates of transfers of random sets are off: 95 of 100 of them. */
static double off_by(const struct esp_platform *truth, const struct esp_platform *seen)
{
    double off[SETS * SET_FLOWS];
    int n_off = 0, hosts = esp_platform_node_count(truth);
    struct espi_rng r;
    espi_rng_seed(&r, 1);
    for (int set = 0; set < SETS; set++) {
        struct espi_trial_flow flows[SET_FLOWS];
        double want[SET_FLOWS], got[SET_FLOWS];
        int n = 1 + (int)espi_rng_below(&r, SET_FLOWS);
        for (int i = 0; i < n; i++) {
            int from = (int)espi_rng_below(&r, (uint32_t)hosts);
            int to = (int)espi_rng_below(&r, (uint32_t)hosts - 1);
            flows[i] = (struct espi_trial_flow){from, to + (to >= from), 0};
        }
        emulated_rates(truth, flows, n, NULL, want);
        emulated_rates(seen, flows, n, NULL, got);
        for (int i = 0; i < n; i++)
            off[n_off++] = fabs(got[i] / want[i] - 1);
    }
    qsort(off, (size_t)n_off, sizeof *off, compare_doubles);
    return off[(int)(0.95 * n_off)];
}

/* Of the cables found, how many the true network has not: all their transfers at once get
 * more than 1.2 times as much. */
static int count_made_up(const struct esp_platform *truth,
                         const struct esp_platform *seen)
{
    int made_up = 0;
    for (int c = 0; c < esp_platform_cable_count(seen); c++) {
        int n = esp_platform_cable_link_count(seen, c);
        struct espi_trial_flow *flows = calloc((size_t)n, sizeof *flows);
        double *Bps = calloc((size_t)n, sizeof *Bps), sum = 0;
        assert_true(flows && Bps);
        for (int i = 0; i < n; i++) {
            int link = esp_platform_cable_link(seen, c, i);
            flows[i] = (struct espi_trial_flow){esp_platform_link_from(seen, link),
                                                esp_platform_link_to(seen, link), 0};
        }
        emulated_rates(truth, flows, n, NULL, Bps);
        for (int i = 0; i < n; i++)
            sum += Bps[i];
        made_up += sum > 1.2 * esp_platform_cable_bandwidth_Bps(seen, c);
        free(flows);
        free(Bps);
    }
    return made_up;
}

/* Of networks with other disturbances, in how many transfers are off by more than this,
 * or more is made up. */
static void measure_often(struct esp_platform *truth, int times, double off_most,
                          int made_up_most, int wrong_most)
{
    int wrong = 0;
    for (int i = 0; i < times; i++) {
        struct emulated_network net = emulate_network(truth, test_seed((uint64_t)i));
        struct measured_network m;
        measure_network(&m, &net, 50);
        wrong += off_by(truth, m.seen) > off_most ||
                 count_made_up(truth, m.seen) > made_up_most;
        forget_network(&m);
    }
    if (wrong > wrong_most)
        fail_msg("%d of %d are wrong", wrong, times);
    esp_platform_free(truth);
}

/* Opposite sites of a ring have two routes, and may take one there and the other back. */
static void test_ring(void **state)
{
    (void)state;
    measure_often(network_of(ESP_MEASURED_RING, 27, 0, 17), test_draws(6), 0.15, 3, 3);
}

/* All transfers share a medium that single hosts nearly fill: their ports are hardly ever
 * what holds them up. */
static void test_bus(void **state)
{
    (void)state;
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    int links[BUS_HOSTS * BUS_HOSTS], n = 0;
    char name[64];
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_CAPACITY);
    for (int h = 0; h < BUS_HOSTS; h++) {
        snprintf(name, sizeof name, "lyon-%d", h + 1);
        struct esp_node_spec spec = {.name = name,
                                     .site = "lyon",
                                     .kind = ESP_NODE_HOST,
                                     .send_s = ESP_UNSET,
                                     .recv_s = ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int k = 0; k < BUS_HOSTS * BUS_HOSTS; k++)
        if (k / BUS_HOSTS != k % BUS_HOSTS)
            assert_int_equal(esp_builder_add_link(b, k / BUS_HOSTS, k % BUS_HOSTS, 1e-4,
                                                  1e6, &links[n++], NULL),
                             ESP_OK);
    assert_int_equal(esp_builder_add_cable(b, "bus", 1.6e6, links, n, NULL), ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    measure_often(p, test_draws(6), 0.15, 0, 3);
}

/* A star of sites: what hosts of a site share on the way out looks like the port of one.
 */
static void test_port_behind_cable(void **state)
{
    (void)state;
    measure_often(network_of(ESP_MEASURED_STAR, 11, 0, 115), test_draws(6), 0.15, 0, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_bus),
        cmocka_unit_test(test_port_behind_cable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
