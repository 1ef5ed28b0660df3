#include "support/plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct esp_plan *plan_tried(const struct esp_platform *p, const char *algo, int root)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err = {.text = ""};
    esp_request_init(&request, root);
    request.algo = algo;
    request.size_bytes = 1;
    request.slice_bytes = 0;
    esp_status st = esp_plan_make(p, &request, &plan, &err);
    if (st && st != ESP_EUNSUPPORTED)
        fail_msg("%s: %s", algo, err.text);
    return plan;
}

struct esp_plan *plan_made(const struct esp_platform *p, const char *algo, int root)
{
    struct esp_plan *plan = plan_tried(p, algo, root);
    assert_non_null(plan);
    return plan;
}

void plan_text(const struct esp_plan *plan, char *out)
{
    const struct esp_tree *t = &plan->trees[0];
    *out = '\0';
    for (int i = 0; i < t->n_edges; i++)
        out += sprintf(out, "%s%d%d", i ? " " : "", t->edges[i].from, t->edges[i].to);
}

int plan_is_direct(const struct esp_plan *plan)
{
    for (int t = 0; t < plan->n_trees; t++)
        if (plan->trees[t].n_hops > plan->trees[t].n_edges)
            return 0;
    return 1;
}

char *plan_json(const struct esp_plan *plan, const struct esp_platform *p, size_t *length)
{
    struct esp_plan timeless = *plan;
    char *text = NULL;
    FILE *f = open_memstream(&text, length);
    timeless.plan_s = 0;
    assert_int_equal(esp_plan_write_stream(&timeless, p, f, NULL), ESP_OK);
    fclose(f);
    return text;
}

double fluid_s(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct esp_sim_options o;
    struct esp_sim_result *result = NULL;
    esp_sim_options_defaults(&o);
    o.sharing = ESP_SHARING_FLUID;
    assert_int_equal(esp_simulate(p, plan, &o, &result, NULL), ESP_OK);
    assert_int_equal(result->lost, 0);
    double makespan_s = result->makespan_s;
    esp_sim_result_free(result);
    return makespan_s;
}
