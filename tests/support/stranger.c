#include "support/stranger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/seed.h"

struct esp_platform *stranger_sites(void)
{
    struct esp_sites_options o;
    struct esp_platform *p = NULL;
    esp_sites_options_defaults(&o);
    o.sites = 2;
    o.clusters = 1;
    o.hosts = 3;
    o.seed = test_seed(3);
    assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
    return p;
}

struct esp_platform *stranger_workstations(void)
{
    struct esp_hnow_options o;
    struct esp_platform *p = NULL;
    esp_hnow_options_defaults(&o);
    o.fast = 3;
    o.slow = 3;
    assert_int_equal(esp_generate_hnow(&o, &p, NULL), ESP_OK);
    return p;
}

struct esp_plan *stranger_plan(const struct esp_platform *p, esp_op op, const char *algo)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err = {0};
    esp_request_init(&request, 0);
    request.op = op;
    request.algo = algo;
    request.size_bytes = 6e5;
    request.slice_bytes = algo[0] == 'a' ? ESP_SLICE_AUTO : 5e4;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s: %s", algo, err.text);
    return plan;
}
