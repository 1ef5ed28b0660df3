/* What holds for every generator: it is described, checks its options, gives the same
 * platform for the same seed, reaches all hosts and survives failing allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "platform/generators.h"
#include "support/alloc_fail.h"
#include "support/platform_facts.h"
#include "support/seed.h"

union options {
    double align;
    uint64_t align_too;
    char bytes[ESPI_GENERATOR_OPTIONS_MAX];
};

struct job {
    const struct espi_generator *g;
    union options o;
};

static struct esp_platform *run(const struct espi_generator *g, const union options *o)
{
    struct esp_platform *p = NULL;
    struct esp_err err = {.text = ""};
    if (g->run(o, &p, &err) != ESP_OK)
        fail_msg("%s: %s", g->name, err.text);
    return p;
}

static void each(void (*check)(const struct espi_generator *g, union options *o))
{
    int count;
    const struct espi_generator *all = espi_generators(&count);
    assert_int_equal(count, 9);
    for (int i = 0; i < count; i++) {
        union options o;
        espi_generator_defaults(&all[i], &o);
        check(&all[i], &o);
    }
}

static void set(const struct espi_generator *g, union options *o, const char *name,
                double value)
{
    const struct espi_param *p = espi_param_find(g, name);
    assert_non_null(p);
    espi_param_set(p, o, value);
}

static void described(const struct espi_generator *g, union options *o)
{
    assert_ptr_equal(espi_generator_find(g->name), g);
    assert_true(strlen(g->summary) > 10);
    for (int i = 0; i < g->n_params; i++) {
        const struct espi_param *p = &g->params[i];
        assert_ptr_equal(espi_param_find(g, p->name), p);
        assert_true(strlen(p->meaning) > 5);
        assert_true(p->offset < g->options_size);
        assert_true(espi_param_value(p, o) == p->standard);
        assert_int_equal(strspn(p->name, "abcdefghijklmnopqrstuvwxyz-"), strlen(p->name));
        for (int k = 0; k < i; k++)
            assert_true(g->params[k].offset != p->offset);
        espi_param_set(p, o, p->kind == ESPI_PARAM_FLAG ? 1 : 7);
        assert_true(espi_param_value(p, o) == (p->kind == ESPI_PARAM_FLAG ? 1 : 7));
    }
}

static void test_described(void **state)
{
    (void)state;
    each(described);
    assert_null(espi_generator_find("nothing"));
    assert_null(espi_param_find(espi_generator_find("hub"), "nothing"));
}

static void refuses(const struct espi_generator *g, const union options *o,
                    const char *word)
{
    struct esp_platform *p = (void *)o;
    struct esp_err err = {.text = ""};
    assert_int_equal(g->run(o, &p, &err), ESP_EUSAGE);
    assert_int_equal(g->run(o, &p, NULL), ESP_EUSAGE);
    if (!strstr(err.text, word))
        fail_msg("\"%s\" does not name %s", err.text, word);
    assert_ptr_equal(p, o);
}

static void checked(const struct espi_generator *g, union options *o)
{
    for (int i = 0; i < g->n_params; i++) {
        const struct espi_param *p = &g->params[i];
        union options bad = *o;
        if (p->kind == ESPI_PARAM_SEED || p->kind == ESPI_PARAM_FLAG)
            continue;
        int whole = p->kind == ESPI_PARAM_INT || p->kind == ESPI_PARAM_CHOICE;
        espi_param_set(p, &bad, whole ? p->min - 1 : p->min - 0.1);
        refuses(g, &bad, p->name);
        espi_param_set(p, &bad, whole ? p->max + 1 : p->max * 1.1);
        refuses(g, &bad, p->name);
        if (whole)
            continue;
        espi_param_set(p, &bad, NAN);
        refuses(g, &bad, p->name);
        espi_param_set(p, &bad, INFINITY);
        refuses(g, &bad, p->name);
    }
}

static void test_out_of_range(void **state)
{
    (void)state;
    each(checked);
}

static void seeded(const struct espi_generator *g, union options *o)
{
    struct esp_platform *a, *b;
    if (!espi_param_find(g, "seed"))
        return;
    if (espi_param_find(g, "spread"))
        set(g, o, "spread", 3);
    for (int seed = 0; seed < 20; seed++) {
        set(g, o, "seed", (double)test_seed((uint64_t)seed));
        a = run(g, o);
        b = run(g, o);
        assert_true(esp_platform_equal(a, b));
        assert_true(platform_same_links(a, b));
        assert_int_equal(esp_platform_check_root(a, 0, NULL), ESP_OK);
        esp_platform_free(b);
        set(g, o, "seed", (double)test_seed((uint64_t)seed + 1));
        b = run(g, o);
        assert_false(platform_same_links(a, b));
        esp_platform_free(a);
        esp_platform_free(b);
    }
}

static void test_seeds(void **state)
{
    (void)state;
    each(seeded);
}

/* The bytes that seed 7 gives. They change only when a generator changes, and then so do
 * all platforms that users have made with it: say so in the change log. */
static void golden(const struct espi_generator *g, union options *o)
{
    static const struct {
        const char *name;
        uint64_t hash;
    } expected[] = {
        {"random", 0x6fce46d9d54dcacd},   {"tiers", 0xe01194eb6f78872d},
        {"sites", 0xe480e794adc2ea10},    {"matrix", 0x4dcc1ffeb7f20773},
        {"hnow", 0x29677c2252a5c959},     {"hub", 0x44c3d47327d4b493},
        {"complete", 0x329ce6b5d428dd70}, {"fabric", 0x3b76f7f11737f8cf},
        {"measured", 0x450682b6b910a8b2},
    };
    const struct espi_param *seed = espi_param_find(g, "seed");
    if (seed)
        espi_param_set(seed, o, 7);
    if (espi_param_find(g, "spread"))
        set(g, o, "spread", 3);
    struct esp_platform *p = run(g, o);
    uint64_t hash = platform_hash(p);
    esp_platform_free(p);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!strcmp(expected[i].name, g->name)) {
            if (hash != expected[i].hash)
                fail_msg("%s: hash 0x%016llx", g->name, (unsigned long long)hash);
            return;
        }
    fail_msg("%s has no golden hash", g->name);
}

static void test_golden(void **state)
{
    (void)state;
    each(golden);
}

static void test_presets(void **state)
{
    (void)state;
    int count;
    const struct espi_generator *all = espi_generators(&count);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < all[i].n_presets; k++) {
            union options o;
            espi_generator_defaults(&all[i], &o);
            assert_int_equal(
                espi_generator_preset(&all[i], &o, all[i].presets[k].name, NULL), ESP_OK);
            if (espi_param_find(&all[i], "seed"))
                set(&all[i], &o, "seed", (double)test_seed(1));
            struct esp_platform *p = run(&all[i], &o);
            assert_int_equal(esp_platform_check_root(p, 0, NULL), ESP_OK);
            esp_platform_free(p);
        }
    union options o, before;
    struct esp_err err;
    espi_generator_defaults(espi_generator_find("tiers"), &o);
    before = o;
    assert_int_equal(esp_tiers_options_preset((void *)&o, "31\n", &err), ESP_EUSAGE);
    assert_string_equal(err.text,
                        "tiers: no preset is called \"31\\u000a\"; there are: 30, 30b, "
                        "65, 65b, 10000");
    assert_memory_equal(&o, &before, sizeof(struct esp_tiers_options));
    assert_int_equal(espi_generator_preset(espi_generator_find("hub"), &o, "x", &err),
                     ESP_EUSAGE);
    assert_string_equal(err.text, "hub: no preset is called \"x\"; there are: none");
}

static void test_name_tells_options(void **state)
{
    (void)state;
    struct esp_random_options o;
    struct esp_platform *p = NULL;
    esp_random_options_defaults(&o);
    o.density = 0.04;
    o.directed = 1;
    o.seed = UINT64_MAX;
    assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
    assert_string_equal(esp_platform_name(p), "random density=0.04 directed=1 "
                                              "seed=18446744073709551615");
    esp_platform_free(p);
}

/* The smallest sizes there are. */
static void smallest(const struct espi_generator *g, union options *o)
{
    for (int i = 0; i < g->n_params; i++)
        if (g->params[i].kind == ESPI_PARAM_INT)
            espi_param_set(&g->params[i], o, g->params[i].min);
    if (!strcmp(g->name, "hnow")) {
        refuses(g, o, "fast");
        set(g, o, "slow", 1);
    }
    struct esp_platform *p = run(g, o);
    assert_int_equal(esp_platform_node_count(p), 1);
    assert_int_equal(esp_platform_link_count(p), 0);
    esp_platform_free(p);
}

static void test_smallest(void **state)
{
    (void)state;
    each(smallest);
}

static esp_status generate_once(void *arg)
{
    struct job *job = arg;
    struct esp_platform *p = NULL;
    esp_status status = job->g->run(&job->o, &p, NULL);
    if (status != ESP_OK && p)
        return ESP_EINTERNAL;
    esp_platform_free(p);
    return status;
}

static void out_of_memory(const struct espi_generator *g, union options *o)
{
    struct job job = {g, *o};
    assert_true(alloc_fail_each(generate_once, &job) > 5);
    if (espi_param_find(g, "switches")) {
        set(g, &job.o, "switches", 1);
        assert_true(alloc_fail_each(generate_once, &job) > 5);
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    each(out_of_memory);
}

static void too_many(const char *generator, const char *a, double va, const char *b,
                     double vb)
{
    const struct espi_generator *g = espi_generator_find(generator);
    union options o;
    espi_generator_defaults(g, &o);
    set(g, &o, a, va);
    set(g, &o, b, vb);
    refuses(g, &o, strcmp(a, "nm") ? "links" : "nodes");
}

static void test_too_many_links(void **state)
{
    (void)state;
    too_many("random", "nodes", 10e6, "density", 1);
    too_many("hub", "nodes", 10e6, "attach", 1000);
    too_many("sites", "sites", 3000, "hosts", 1e6);
    too_many("tiers", "nm", 1e6, "sl", 1e6);
    too_many("tiers", "sl", 1e6, "rl", 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_described),      cmocka_unit_test(test_out_of_range),
        cmocka_unit_test(test_seeds),          cmocka_unit_test(test_golden),
        cmocka_unit_test(test_presets),        cmocka_unit_test(test_name_tells_options),
        cmocka_unit_test(test_smallest),       cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_too_many_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
