/* `auto` is no later than any row of `compare`, of every operation: what plans claim and
 * what their messages cost, at the slices that are asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include <espalier/espalier.h>

#include "algo/algo.h"
#include "plan/ops.h"
#include "platform/platform.h"
#include "select/contest.h"
#include "select/slices.h"
#include "support/kinds.h"
#include "support/seed.h"

/* Infinity: the algorithm cannot be used. */
static double judged_s(const struct esp_platform *p, const struct esp_request *request,
                       const char *algo)
{
    struct esp_request asked = *request;
    struct esp_plan *plan = NULL;
    struct espi_arena arena;
    double messages = 0;
    asked.algo = algo;
    if (esp_plan_make(p, &asked, &plan, NULL))
        return INFINITY;
    espi_arena_init(&arena);
    assert_int_equal(
        espi_messages(plan, plan->size_bytes, plan->slice_bytes, &arena, &messages),
        ESP_OK);
    espi_arena_done(&arena);
    double s = espi_with_messages_s(p, plan->makespan_s, messages * espi_message_s(p));
    esp_plan_free(plan);
    return s;
}

/* Searches go on for as long as they may, and what an allgather by trees takes in hnow is
 * an estimate, which the simulator corrects. */
static int is_row(const struct espi_algo *algo, const struct esp_platform *p, esp_op op)
{
    return !(algo->flags & ESPI_NOT_WEIGHED) && espi_algo_serves(algo, op, 0) &&
           espi_algo_applies(algo, p) &&
           !(p->model == ESP_MODEL_HNOW && espi_op_has_parts(op));
}

static void check_rows(const struct esp_platform *p, const struct esp_request *request)
{
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    double best_s = judged_s(p, request, "auto");
    assert_true(isfinite(best_s));
    for (int i = 0; i < count; i++) {
        if (!is_row(algos[i], p, request->op))
            continue;
        double s = judged_s(p, request, algos[i]->name);
        if (!(best_s <= s * (1 + 1e-9)))
            fail_msg("%s of %g bytes in slices of %g, %s, %d hosts: %s takes %g s, "
                     "auto %g s",
                     esp_op_name(request->op), request->size_bytes, request->slice_bytes,
                     esp_model_name(p->model), p->n_hosts, algos[i]->name, s, best_s);
    }
}

static void auto_is_beaten_by_no_row(void **state)
{
    static const struct {
        double bytes, slice;
    } messages[] = {{1e3, 65536}, {3e5, 2e4}, {4e6, 65536}};
    (void)state;
    for (int round = 0; round < test_draws(24); round++) {
        uint64_t seed = test_seed((uint64_t)round + 1);
        struct esp_platform *p = kind_platform(round % KINDS, 4 + round % 5, seed,
                                               (esp_model)(round % ESP_MODEL_COUNT));
        for (int op = 0; op < ESP_OP_COUNT; op++) {
            struct esp_request request;
            esp_request_init(&request, 0);
            request.op = (esp_op)op;
            request.size_bytes = messages[round % 3].bytes;
            request.slice_bytes = messages[round % 3].slice;
            check_rows(p, &request);
        }
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_is_beaten_by_no_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
