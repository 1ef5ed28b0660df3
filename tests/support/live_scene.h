/* An advisor of a small grid and its ledger, for tests of what the live page shows.
 * Only for programs that link the live page, so all of it is here. */
#ifndef TESTS_SUPPORT_LIVE_SCENE_H
#define TESTS_SUPPORT_LIVE_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <espalier/espalier.h>

#include "live/live_log_impl.h"
#include "support/small_platform.h"

struct scene {
    struct esp_platform *p;
    struct espi_advisor *a;
    struct espi_live_log *l;
};

static inline void begin(struct scene *s)
{
    s->p = small_grid();
    static struct esp_sim_options fluid = {.size = sizeof fluid,
                                           .sharing = ESP_SHARING_FLUID};
    struct espi_advisor_options options = {
        .work = 1, .judge = esp_judge_by_simulation, .judge_arg = &fluid};
    assert_int_equal(espi_advisor_create(s->p, &options, &s->a, NULL), ESP_OK);
    assert_int_equal(espi_live_log_create(&s->l, NULL), ESP_OK);
    assert_int_equal(espi_live_log_set_network(s->l, s->p, 0, NULL), ESP_OK);
    s->l->begun_s -= 1e6; /* there is time for forecasts */
}

static inline void end(struct scene *s)
{
    espi_live_log_free(s->l);
    espi_advisor_free(s->a);
    esp_platform_free(s->p);
}

static inline struct esp_plan *publish(struct scene *s, double bytes, double now_s)
{
    struct espi_advice advice;
    struct esp_plan *plan;
    assert_int_equal(espi_advisor_plan_for(s->a, 0, bytes, now_s, &advice, NULL), ESP_OK);
    plan = advice.plan;
    espi_live_log_publish(s->l, s->a, &advice, now_s);
    assert_null(advice.plan);
    return plan; /* the ledger's */
}

static inline struct espi_outcome outcome_of(uint64_t call, double bytes)
{
    return (struct espi_outcome){.magic = ESPI_OUTCOME_MAGIC,
                                 .version = ESPI_OUTCOME_VERSION,
                                 .op = ESP_OP_BCAST,
                                 .ranks = 6,
                                 .ours = 1,
                                 .call = call,
                                 .bytes = (uint64_t)bytes,
                                 .total_s = 0.5,
                                 .at_s = 100,
                                 .ours_s = 0.4,
                                 .native_s = 0.9,
                                 .algo = "tree"};
}

#endif
