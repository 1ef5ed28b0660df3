#include "support/measured_network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "measure/probe.h"
#include "support/seed.h"

struct esp_platform *network_of(int kind, int hosts, int areas, uint64_t seed)
{
    struct esp_measured_options o;
    struct esp_platform *p = NULL;
    esp_measured_options_defaults(&o);
    o.kind = kind;
    o.hosts = hosts;
    o.areas = areas;
    o.seed = seed;
    assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_OK);
    return p;
}

struct esp_platform *draw_network(int kind, int hosts, int areas, uint64_t seed)
{
    return network_of(kind, hosts, areas, test_seed(seed));
}

struct esp_platform *preset_of(const char *name)
{
    struct esp_measured_options o;
    struct esp_platform *p = NULL;
    esp_measured_options_defaults(&o);
    assert_int_equal(esp_measured_options_preset(&o, name, NULL), ESP_OK);
    assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_OK);
    return p;
}

void measure_network(struct measured_network *m, struct emulated_network *truth,
                     double budget_s)
{
    struct espi_probe_driver prober = emulated_prober(truth, budget_s);
    struct esp_err err = {0};
    memset(m, 0, sizeof *m);
    assert_int_equal(emulated_hosts(truth, &m->samples), ESP_OK);
    if (espi_probe(&prober, &m->samples, &err))
        fail_msg("%s", err.text);
    digest_network(m);
}

void digest_network(struct measured_network *m)
{
    struct esp_err err = {0};
    espi_arena_init(&m->arena);
    esp_status status = espi_measured_init(&m->net, &m->samples, &m->arena, &err);
    if (!status)
        status = espi_measured_platform(&m->net, "x", 128, &m->seen, &m->arena, &err);
    if (status)
        fail_msg("%s", err.text);
}

void forget_network(struct measured_network *m)
{
    esp_platform_free(m->seen);
    espi_measured_done(&m->net);
    espi_arena_done(&m->arena);
    espi_samples_done(&m->samples);
}
