/* `auto` is no later than any row of `compare`, of every operation: what plans claim and
 * what their messages cost, at the slices that are asked for. Of trees in the hnow model,
 * of which claims are estimates, what the simulator finds. Where slices are left open,
 * none of the list that are a little longer or shorter are better for its trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include <espalier/espalier.h>

#include "algo/algo.h"
#include "cost/cost.h"
#include "plan/ops.h"
#include "plan/schedule.h"
#include "platform/platform.h"
#include "select/contest.h"
#include "select/slices.h"
#include "support/kinds.h"
#include "support/seed.h"

/* What it is through by, with what its messages cost. */
static double with_messages_s(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct espi_arena arena;
    double messages = 0, finish_s = plan->makespan_s;
    if (p->model == ESP_MODEL_HNOW && !espi_plan_has_steps(plan))
        finish_s = esp_judge_by_simulation(NULL, p, plan);
    espi_arena_init(&arena);
    assert_int_equal(
        espi_messages(plan, plan->size_bytes, plan->slice_bytes, &arena, &messages),
        ESP_OK);
    espi_arena_done(&arena);
    return espi_with_messages_s(p, finish_s, messages * espi_message_s(p));
}

/* Infinity: the algorithm cannot be used. */
static double judged_s(const struct esp_platform *p, const struct esp_request *request,
                       const char *algo)
{
    struct esp_request asked = *request;
    struct esp_plan *plan = NULL;
    asked.algo = algo;
    if (esp_plan_make(p, &asked, &plan, NULL))
        return INFINITY;
    double s = with_messages_s(p, plan);
    esp_plan_free(plan);
    return s;
}

/* Of searches those that are tried last, or in the slices in which they are named, on so
 * many hosts; and of allgathers in hnow not all trees are simulated. */
static int is_weighed(const struct espi_algo *algo, int n_hosts)
{
    const struct espi_algo_use *u = algo->uses;
    if (algo->flags & (ESPI_ALGO_CHOOSES | ESPI_ALGO_REDUNDANT))
        return 0;
    while (u && u->use &&
           (!(u->use & (ESPI_USE_LAST | ESPI_USE_USUAL_SLICES)) ||
            (u->max_hosts && n_hosts > u->max_hosts)))
        u++;
    return !(algo->flags & ESPI_ALGO_SEARCHES) || (u && u->use);
}

static int is_row(const struct espi_algo *algo, const struct esp_platform *p, esp_op op)
{
    return is_weighed(algo, p->n_hosts) && espi_algo_serves(algo, op, 0) &&
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

/* Each kind of network with each model, a few of them of as many hosts as all searches
 * are tried on; Tiers have more than they are asked for. */
enum { DRAWS = KINDS * ESP_MODEL_COUNT };

static int drawn_hosts(int round)
{
    return round % 3 == 0 && round % KINDS != 2 ? ESPI_LAST_HOSTS : 4 + round % 5;
}

/* What takes a plan for every host, and what is planned as another operation is, in turn.
 */
static int is_drawn(int round, esp_op op)
{
    int turn = round / KINDS % 2;
    return !(op == ESP_OP_REDUCE_SCATTER && turn) && !(op == ESP_OP_MULTICAST && !turn);
}

static void auto_is_beaten_by_no_row(void **state)
{
    static const struct {
        double bytes, slice;
    } messages[] = {{1e3, 65536}, {3e5, 2e4}, {4e6, 65536}};
    (void)state;
    for (int round = 0; round < test_draws(DRAWS); round++) {
        uint64_t seed = test_seed((uint64_t)round + 1);
        struct esp_platform *p = kind_platform(round % KINDS, drawn_hosts(round), seed,
                                               (esp_model)(round % ESP_MODEL_COUNT));
        for (int op = 0; op < ESP_OP_COUNT; op++) {
            struct esp_request request;
            esp_request_init(&request, 0);
            request.op = (esp_op)op;
            request.size_bytes = messages[round % 3].bytes;
            request.slice_bytes = messages[round % 3].slice;
            if (is_drawn(round, request.op))
                check_rows(p, &request);
        }
        esp_platform_free(p);
    }
}

/* The same trees in other slices, in the order that is found for them. */
static double cut_otherwise_s(const struct esp_platform *p, const struct esp_plan *plan,
                              double slice_bytes)
{
    struct esp_plan *other = NULL;
    assert_int_equal(esp_plan_copy(plan, &other, NULL), ESP_OK);
    espi_schedule_free(other->schedule);
    other->schedule = NULL;
    other->slice_bytes = espi_slices(plan->size_bytes, slice_bytes).bytes;
    assert_int_equal(esp_plan_evaluate(other, p, NULL), ESP_OK);
    double s = with_messages_s(p, other);
    esp_plan_free(other);
    return s;
}

/* Are these slices weighed by what they will claim, or by the simulator? Longer messages
 * are weighed some hundredths off. */
static int is_weighed_exactly(const struct esp_platform *p, const struct esp_plan *plan,
                              double slice_bytes)
{
    double count = espi_slices(plan->size_bytes, slice_bytes).count;
    return p->model == ESP_MODEL_HNOW || espi_plan_is_short(p, plan, count, 0);
}

/* Where an algorithm chose the order itself, slices and order are one. */
static void check_neighbours(const struct esp_platform *p, const struct esp_plan *plan)
{
    double bytes[ESPI_SLICE_SIZES_MAX], best_s = with_messages_s(p, plan);
    int n = espi_slice_sizes(plan->size_bytes, espi_plan_parts(plan, p->n_hosts), bytes);
    int at = 0;
    while (at < n && espi_slices(plan->size_bytes, bytes[at]).bytes != plan->slice_bytes)
        at++;
    if (at == n || !is_weighed_exactly(p, plan, bytes[at]) ||
        cut_otherwise_s(p, plan, bytes[at]) > best_s * (1 + 1e-9))
        return;
    for (int i = at - 1; i <= at + 1; i++) {
        double s = i < 0 || i >= n || !is_weighed_exactly(p, plan, bytes[i])
                       ? INFINITY
                       : cut_otherwise_s(p, plan, bytes[i]);
        if (!(best_s <= s * (1 + 1e-9)))
            fail_msg("%s of %g bytes, %s, %d hosts: by %s in slices of %g it takes %g s, "
                     "in slices of %g %g s",
                     esp_op_name(plan->op), plan->size_bytes, esp_model_name(p->model),
                     p->n_hosts, plan->algo, plan->slice_bytes, best_s, bytes[i], s);
    }
}

static void slices_near_the_best_are_no_better(void **state)
{
    (void)state;
    for (int round = 0; round < test_draws(10); round++) {
        uint64_t seed = test_seed((uint64_t)round + 1);
        struct esp_platform *p = kind_platform(round % KINDS, 4 + round % 5, seed,
                                               (esp_model)(round % ESP_MODEL_COUNT));
        for (int op = 0; op < ESP_OP_COUNT; op++) {
            struct esp_request request;
            struct esp_plan *plan = NULL;
            esp_request_init(&request, 0);
            request.op = (esp_op)op;
            request.size_bytes = round % 2 ? 16e6 : 1e6;
            if (!is_drawn(round, request.op) || esp_plan_make(p, &request, &plan, NULL))
                continue;
            if (!espi_plan_has_steps(plan))
                check_neighbours(p, plan);
            esp_plan_free(plan);
        }
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_is_beaten_by_no_row),
        cmocka_unit_test(slices_near_the_best_are_no_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
