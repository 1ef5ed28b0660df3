#include "support/sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "support/seed.h"
#include "support/small_platform.h"

/* ---- platforms ---- */

static struct sweep_places places;

static void add(const char *what, struct esp_platform *p)
{
    assert_true(places.n < SWEEP_PLACES_MAX);
    assert_non_null(p);
    places.what[places.n] = what;
    places.p[places.n++] = p;
}

static void add_random(uint64_t seed)
{
    struct esp_random_options o;
    struct esp_platform *p = NULL;
    esp_random_options_defaults(&o);
    o.nodes = 4 + 5 * (int)seed;
    o.density = 0.1 * (double)seed;
    o.latency_s = 1e-4;
    o.seed = test_seed(seed);
    assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
    add("random", p);
}

static void add_hub(uint64_t seed)
{
    struct esp_hub_options o;
    struct esp_platform *p = NULL;
    esp_hub_options_defaults(&o);
    o.nodes = 6 + 3 * (int)seed;
    o.attach = 1 + (int)seed % 2;
    o.seed = test_seed(seed);
    assert_int_equal(esp_generate_hub(&o, &p, NULL), ESP_OK);
    add("hub", p);
}

static void add_complete(uint64_t seed)
{
    struct esp_complete_options o;
    struct esp_platform *p = NULL;
    esp_complete_options_defaults(&o);
    o.nodes = 2 + 3 * (int)seed;
    o.seed = test_seed(seed);
    if (seed == 2) /* all links alike */
        o.bandwidth.deviation_Bps = 0;
    assert_int_equal(esp_generate_complete(&o, &p, NULL), ESP_OK);
    add("complete", p);
}

static void add_tiers(uint64_t seed)
{
    struct esp_tiers_options o;
    struct esp_platform *p = NULL;
    esp_tiers_options_defaults(&o);
    assert_int_equal(esp_tiers_options_preset(&o, "30", NULL), ESP_OK);
    o.seed = test_seed(seed);
    assert_int_equal(esp_generate_tiers(&o, &p, NULL), ESP_OK);
    add("tiers", p);
}

static void add_sites(uint64_t seed)
{
    struct esp_sites_options o;
    struct esp_platform *p = NULL;
    esp_sites_options_defaults(&o);
    o.sites = 1 + (int)seed;
    o.clusters = 1 + (int)seed % 2;
    o.hosts = 2;
    o.spread = 1.5;
    o.seed = test_seed(seed);
    for (o.switches = 0; o.switches < 2; o.switches++) {
        assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
        add(o.switches ? "sites with switches" : "sites with shared cables", p);
    }
}

static void add_matrix(uint64_t seed)
{
    struct esp_matrix_options o;
    struct esp_platform *p = NULL;
    esp_matrix_options_defaults(&o);
    o.nodes = 5 + (int)seed;
    if (seed == 2) { /* nine orders of magnitude */
        o.log = 1;
        o.latency_min_s = 1e-9;
        o.latency_max_s = 1;
        o.bandwidth_min_Bps = 1;
        o.bandwidth_max_Bps = 1e9;
    }
    o.seed = test_seed(seed);
    assert_int_equal(esp_generate_matrix(&o, &p, NULL), ESP_OK);
    add(seed == 2 ? "matrix, nine orders of magnitude" : "matrix", p);
}

static void add_hnow(void)
{
    struct esp_hnow_options o;
    struct esp_platform *p = NULL;
    esp_hnow_options_defaults(&o);
    o.fast = 3;
    o.slow = 4;
    assert_int_equal(esp_generate_hnow(&o, &p, NULL), ESP_OK);
    add("hnow", p);
}

static void add_by_hand(void)
{
    static const struct small_arc two[] = {{0, 1, 3}};
    static const struct small_arc chain[] = {{0, 1, 1}, {1, 0, 1}, {1, 2, 2},
                                             {2, 1, 2}, {2, 3, 1}, {3, 2, 1}};
    static const struct small_arc star[] = {{0, 1, 1}, {1, 0, 1}, {0, 2, 1},
                                            {2, 0, 1}, {0, 3, 1}, {3, 0, 1}};
    static const struct small_arc ring[] = {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}};
    static const struct small_arc down[] = {{0, 1, 2}, {0, 2, 1}, {1, 3, 1}, {2, 4, 5}};
    add("one host", small_platform(ESP_MODEL_ONE_PORT, 1, NULL, 0));
    add("two hosts", small_platform(ESP_MODEL_ONE_PORT, 2, two, 1));
    add("chain", small_platform(ESP_MODEL_ONE_PORT, 4, chain, 6));
    add("star", small_platform(ESP_MODEL_ONE_PORT, 4, star, 6));
    add("ring in one direction", small_platform(ESP_MODEL_ONE_PORT, 4, ring, 4));
    add("tree with no way back", small_platform(ESP_MODEL_ONE_PORT, 5, down, 4));
}

const struct sweep_places *sweep_places(void)
{
    if (places.n > 0)
        return &places;
    for (uint64_t seed = 1; seed <= (uint64_t)test_draws(2); seed++) {
        add_random(seed);
        add_hub(seed);
        add_complete(seed);
        add_tiers(seed);
        add_sites(seed);
        add_matrix(seed);
    }
    add_hnow();
    add_by_hand();
    return &places;
}

void sweep_places_free(void)
{
    for (int i = 0; i < places.n; i++)
        esp_platform_free(places.p[i]);
    places.n = 0;
}

/* ---- algorithms, each with each of its choices ---- */

static const char *little_effort(const struct espi_algo *algo)
{
    for (const struct espi_algo_option *o = algo->options; o && o->name; o++)
        if (!strcmp(o->name, "steps"))
            return "steps=3000";
        else if (!strcmp(o->name, "work"))
            return "work=50";
        else if (!strcmp(o->name, "evaluations"))
            return "evaluations=100";
    return "";
}

static void each_choice(const struct espi_algo *algo, sweep_fn fn, void *arg)
{
    const char *effort = little_effort(algo);
    char text[128];
    snprintf(text, sizeof text, "%s%s%s", algo->name, *effort ? ":" : "", effort);
    fn(algo, text, arg);
    for (const struct espi_algo_option *o = algo->options; o && o->name; o++) {
        const char *at = o->choices;
        for (int i = 0; at && *at; i++) {
            int length = (int)strcspn(at, "|");
            snprintf(text, sizeof text, "%s:%s%s%s=%.*s", algo->name, effort,
                     *effort ? "," : "", o->name, length, at);
            if (i != (int)o->standard)
                fn(algo, text, arg);
            at += length + (at[length] == '|');
        }
    }
}

void sweep_algos(sweep_fn fn, void *arg)
{
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    for (int i = 0; i < count; i++)
        each_choice(algos[i], fn, arg);
}
