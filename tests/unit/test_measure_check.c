/* How sure measuring is of what it found, and how it finds out that it is wrong, on
 * networks that are known. */
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

#include "base/arena.h"
#include "measure/certainty_of_rates.h"
#include "measure/measured.h"
#include "measure/probe.h"
#include "measure/recheck.h"
#include "measure/self_check.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/emulated_network.h"
#include "support/measured_network.h"
#include "support/seed.h"

/* ---- networks ---- */

/* Of several kinds, one after the other. */
static struct esp_platform *some_network(int i)
{
    static const int kinds[] = {ESP_MEASURED_FLAT, ESP_MEASURED_FULL, ESP_MEASURED_CHAIN};
    return draw_network(kinds[i % 3], 8 + i * 7 % 17, i % 3 ? 3 : 0, 500 + (uint64_t)i);
}

/* ---- ranges ---- */

/* The chance that the middle lies within is counted right: uniform values about 0. */
static void test_ranges_of_values(void **state)
{
    (void)state;
    enum { DRAWS = 4000 };
    static const int counts[] = {1, 2, 3, 5, 6, 9, 20, 100};
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(1));
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int n = counts[c], inside = 0;
        double confidence = 0, values[100];
        for (int draw = 0; draw < DRAWS; draw++) {
            for (int i = 0; i < n; i++) { /* kept in order */
                double value = espi_rng_uniform(&rng) - 0.5;
                int k = i;
                for (; k > 0 && values[k - 1] > value; k--)
                    values[k] = values[k - 1];
                values[k] = value;
            }
            struct esp_rate_range r = espi_range_of_values(values, n);
            inside += r.low_Bps <= 0 && r.high_Bps >= 0;
            confidence = r.confidence;
        }
        assert_true(confidence >= (n < 6 ? 0 : ESPI_SURE));
        assert_true(fabs((double)inside / DRAWS - confidence) < 0.04);
    }
    double many[5000];
    for (int i = 0; i < 5000; i++)
        many[i] = i;
    struct esp_rate_range r = espi_range_of_values(many, 5000);
    assert_true(r.confidence >= ESPI_SURE && r.confidence <= 1);
    assert_true(r.low_Bps < 2490 && r.high_Bps > 2510 && r.high_Bps - r.low_Bps < 500);
}

/* True rates lie within the ranges at least as often as these say, and nothing is said to
 * be at least more than it is. */
static void test_ranges_hold(void **state)
{
    (void)state;
    int known = 0, within = 0, open_wrong = 0;
    double expected = 0;
    for (int i = 0; i < 12; i++) {
        struct esp_platform *truth = some_network(i);
        struct emulated_network net = emulate_network(truth, test_seed((uint64_t)i));
        struct measured_network m;
        measure_network(&m, &net, 50);
        const struct esp_platform *p = m.seen;
        for (int c = 0; c < p->n_shared; c++) {
            struct esp_rate_range range = esp_platform_cable_range(p, c);
            int there = esp_platform_find_cable(truth, esp_platform_cable_name(p, c));
            assert_true(range.confidence >= 0 && range.confidence <= 1);
            if (there < 0)
                continue;
            double Bps = esp_platform_cable_bandwidth_Bps(truth, there);
            if (isinf(range.high_Bps)) {
                open_wrong += range.low_Bps > 1.05 * Bps;
                continue;
            }
            known++;
            expected += range.confidence;
            within += range.low_Bps <= Bps * 1.01 && range.high_Bps >= Bps * 0.99;
        }
        forget_network(&m);
        esp_platform_free(truth);
    }
    assert_true(known > 250 && within > expected);
    assert_int_equal(open_wrong, 0);
}

/* ---- how well it predicts ---- */

/* A third of the cables at half their rates. */
static struct esp_platform *make_wrong(const struct esp_platform *truth)
{
    struct esp_platform *wrong = NULL;
    double *link = calloc((size_t)truth->n_links, sizeof *link);
    double *cable = calloc((size_t)truth->n_shared, sizeof *cable);
    assert_true(link && cable);
    for (int c = 0; c < truth->n_shared; c++)
        cable[c] = c % 3 ? 1 : 0.5;
    for (int e = 0; e < truth->n_links; e++)
        link[e] = 1;
    assert_int_equal(espi_platform_scaled(truth, link, cable, &wrong, NULL), ESP_OK);
    free(link);
    free(cable);
    return wrong;
}

static struct esp_measurement check_platform(const struct esp_platform *p,
                                             const struct espi_samples *samples)
{
    struct esp_measurement m;
    struct espi_arena arena;
    espi_arena_init(&arena);
    assert_int_equal(espi_self_check(p, samples, &m, NULL, &arena), 0);
    espi_arena_done(&arena);
    return m;
}

/* Random sets of transfers tell the true network from a wrong one. */
static void test_self_check(void **state)
{
    (void)state;
    int slandered = 0, unnoticed = 0;
    for (int i = 0; i < 24; i++) {
        struct esp_platform *truth = some_network(i), *wrong = make_wrong(truth);
        struct emulated_network net = emulate_network(truth, test_seed((uint64_t)i));
        struct measured_network m;
        measure_network(&m, &net, 50);
        struct esp_measurement right = check_platform(truth, &m.samples);
        struct esp_measurement off = check_platform(wrong, &m.samples);
        assert_true(right.transfers > 0 && right.transfers == off.transfers);
        assert_true(right.disturbed < right.rounds);
        assert_true(right.off_95 >= right.off_median && right.off_median > 0);
        slandered += espi_measurement_is_bad(&right);
        unnoticed += !espi_measurement_is_bad(&off);
        forget_network(&m);
        esp_platform_free(wrong);
        esp_platform_free(truth);
    }
    if (slandered > 3 || unnoticed > 1)
        fail_msg("%d slandered, %d unnoticed of 24", slandered, unnoticed);
}

/* What is checked is no part of what is fitted: without the check samples the rates are
 * the same. */
static void test_checks_are_not_fitted(void **state)
{
    (void)state;
    struct esp_platform *truth = some_network(1);
    struct emulated_network net = emulate_network(truth, test_seed(1));
    struct measured_network all, fitted = {.samples = {.n = 0}};
    measure_network(&all, &net, 50);
    assert_int_equal(emulated_hosts(&net, &fitted.samples), ESP_OK);
    for (size_t i = 0; i < all.samples.n; i++)
        if (all.samples.at[i].kind != ESPI_SAMPLE_CHECK)
            assert_int_equal(espi_samples_add(&fitted.samples, &all.samples.at[i], NULL),
                             ESP_OK);
    assert_true(all.samples.n - fitted.samples.n > 20);
    digest_network(&fitted);
    const struct esp_platform *p = all.seen, *q = fitted.seen;
    assert_null(esp_platform_measurement(q));
    assert_int_equal(q->n_shared, p->n_shared);
    for (int c = 0; c < p->n_shared; c++)
        assert_true(p->shared_Bps[c] == q->shared_Bps[c]);
    forget_network(&all);
    forget_network(&fitted);
    esp_platform_free(truth);
}

/* Others' load is seen by what does not come again, and said. */
static void test_load_is_seen(void **state)
{
    (void)state;
    int warned[2] = {0, 0};
    for (int i = 0; i < 24; i++) {
        struct esp_platform *truth = some_network(i);
        struct emulated_network net = emulate_network(truth, test_seed((uint64_t)i));
        net.stalls = i % 2 ? 0.4 : 0.03;
        struct measured_network found;
        measure_network(&found, &net, 50);
        const struct esp_measurement *m = esp_platform_measurement(found.seen);
        assert_non_null(m);
        warned[i % 2] += espi_measurement_is_disturbed(m) || espi_measurement_is_bad(m);
        forget_network(&found);
        esp_platform_free(truth);
    }
    if (warned[0] > 3 || warned[1] < 7)
        fail_msg("%d quiet networks of 12 and %d of 12 under load", warned[0], warned[1]);
}

/* ---- does a platform still hold? ---- */

/* What a check of the file on this network finds. */
struct rechecked {
    struct espi_samples samples;
    struct espi_arena arena;
    struct espi_recheck found;
    struct esp_platform *right;
};

static void recheck(struct rechecked *c, struct emulated_network *net,
                    const struct esp_platform *file, double budget_s)
{
    struct espi_probe_driver prober = emulated_prober(net, budget_s);
    struct esp_err err = {0};
    memset(c, 0, sizeof *c);
    espi_arena_init(&c->arena);
    assert_int_equal(emulated_hosts(net, &c->samples), ESP_OK);
    esp_status status = espi_probe_recheck(&prober, file, &c->samples, &err);
    if (!status)
        status = espi_recheck_digest(&c->found, file, &c->samples, &c->arena, &err);
    if (!status)
        status = espi_recheck_update(&c->found, &c->samples, &c->right, &c->arena, &err);
    if (status)
        fail_msg("%s", err.text);
}

static void recheck_done(struct rechecked *c)
{
    esp_platform_free(c->right);
    espi_arena_done(&c->arena);
    espi_samples_done(&c->samples);
}

/* A platform in which one cable has another rate, and with it its links. */
static struct esp_platform *change_cable(const struct esp_platform *p, int cable,
                                         double factor)
{
    struct esp_platform *changed = NULL;
    double *links = calloc((size_t)p->n_links, sizeof *links);
    double *cables = calloc((size_t)p->n_shared, sizeof *cables);
    assert_true(links && cables);
    for (int c = 0; c < p->n_shared; c++)
        cables[c] = c == cable ? factor : 1;
    for (int e = 0; e < p->n_links; e++) {
        double least = INFINITY;
        for (int k = 0; k < esp_platform_link_cable_count(p, e); k++) {
            int c = esp_platform_link_cable(p, e, k);
            least = fmin(least, p->shared_Bps[c] * cables[c]);
        }
        links[e] = least / p->bandwidth_Bps[e];
    }
    assert_int_equal(espi_platform_scaled(p, links, cables, &changed, NULL), ESP_OK);
    free(links);
    free(cables);
    return changed;
}

/* A network as the emulation has it, without windows of single transfers. */
static struct esp_platform *plain_network(int i)
{
    struct esp_platform *drawn = some_network(i);
    struct esp_platform *p = change_cable(drawn, -1, 1);
    esp_platform_free(drawn);
    return p;
}

/* A file that is true is said to be, in ten seconds, and most of it was tried. Noise
 * makes a rate look off now and then: of 480 networks with some 35 rates each 21 rates
 * were, and 15 networks looked bad. */
static void test_true_files_hold(void **state)
{
    (void)state;
    int off = 0, bad = 0, seen = 0, all = 0, networks = test_draws(48);
    for (int i = 0; i < networks; i++) {
        struct esp_platform *truth = plain_network(i);
        struct emulated_network net = emulate_network(truth, test_seed((uint64_t)i));
        struct rechecked c;
        recheck(&c, &net, truth, 10);
        assert_true(net.now_s < 13);
        off += espi_recheck_count_off(&c.found);
        seen += espi_recheck_count_seen(&c.found);
        all += c.found.n_targets;
        bad += espi_measurement_is_bad(esp_platform_measurement(c.right));
        recheck_done(&c);
        esp_platform_free(truth);
    }
    if (off > networks / 6 || bad > networks / 6 || seen < all * 2 / 3)
        fail_msg("%d off, %d bad, %d of %d seen", off, bad, seen, all);
}

/* One port or cable of the network has changed: it is found, with its new rate, and
 * hardly anything else. */
static void test_changes_are_found(void **state)
{
    (void)state;
    int tried = 0, found = 0, right = 0, others = 0;
    for (int i = 0; i < 24; i++) {
        struct esp_platform *file = plain_network(i);
        int cable = i % 2 ? file->n_shared - 1 - i % 3 : i * 5 % file->n_shared;
        double factor = i % 4 < 2 ? 0.5 : 1.6;
        struct esp_platform *truth = change_cable(file, cable, factor);
        struct emulated_network net = emulate_network(truth, test_seed((uint64_t)i));
        struct rechecked c;
        recheck(&c, &net, file, 20);
        int is_off = espi_recheck_is_off(&c.found, cable);
        if (c.found.times[cable] > 1) {
            tried++;
            found += is_off;
            right +=
                fabs(c.right->shared_Bps[cable] / truth->shared_Bps[cable] - 1) < 0.1;
        }
        others += espi_recheck_count_off(&c.found) - is_off;
        recheck_done(&c);
        esp_platform_free(truth);
        esp_platform_free(file);
    }
    if (tried < 12 || found < tried * 5 / 6 || right < tried * 2 / 3 || others > 6)
        fail_msg("%d tried, %d found, %d right, %d others", tried, found, right, others);
}

/* Files that cannot be held to the hosts of a job are refused. */
static void test_other_files_are_refused(void **state)
{
    (void)state;
    struct esp_platform *truth = plain_network(0), *one_port = NULL;
    struct emulated_network net = emulate_network(truth, test_seed(1));
    struct espi_probe_driver prober = emulated_prober(&net, 10);
    struct espi_samples samples = {.n = 0}, strangers = {.n = 0};
    struct esp_err err = {0};
    assert_int_equal(emulated_hosts(&net, &samples), ESP_OK);
    assert_int_equal(esp_platform_with_model(truth, ESP_MODEL_ONE_PORT, &one_port, NULL),
                     ESP_OK);
    assert_int_equal(espi_probe_recheck(&prober, one_port, &samples, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, "capacity"));
    assert_int_equal(espi_probe_recheck(&prober, truth, &strangers, &err), ESP_EINPUT);
    assert_int_equal(espi_samples_add_host(&strangers, "a", 1, NULL), ESP_OK);
    assert_int_equal(espi_samples_add_host(&strangers, "b", 1, NULL), ESP_OK);
    assert_int_equal(espi_probe_recheck(&prober, truth, &strangers, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, "not in the platform"));
    espi_samples_done(&samples);
    espi_samples_done(&strangers);
    esp_platform_free(one_port);
    esp_platform_free(truth);
}

static esp_status recheck_all(void *arg)
{
    const struct esp_platform *file = arg;
    struct emulated_network net = emulate_network(file, 5);
    struct espi_probe_driver prober = emulated_prober(&net, 5);
    struct espi_samples samples = {.n = 0};
    struct espi_recheck found;
    struct espi_arena arena;
    struct esp_platform *right = NULL;
    espi_arena_init(&arena);
    esp_status status = emulated_hosts(&net, &samples);
    if (!status)
        status = espi_probe_recheck(&prober, file, &samples, NULL);
    if (!status)
        status = espi_recheck_digest(&found, file, &samples, &arena, NULL);
    if (!status)
        status = espi_recheck_update(&found, &samples, &right, &arena, NULL);
    esp_platform_free(right);
    espi_arena_done(&arena);
    espi_samples_done(&samples);
    return status;
}

static void test_memory_of_rechecks(void **state)
{
    (void)state;
    struct esp_platform *file = plain_network(1);
    assert_true(alloc_fail_some(recheck_all, file, 40) > 10);
    esp_platform_free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_of_values),
        cmocka_unit_test(test_ranges_hold),
        cmocka_unit_test(test_self_check),
        cmocka_unit_test(test_checks_are_not_fitted),
        cmocka_unit_test(test_load_is_seen),
        cmocka_unit_test(test_true_files_hold),
        cmocka_unit_test(test_changes_are_found),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_memory_of_rechecks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
