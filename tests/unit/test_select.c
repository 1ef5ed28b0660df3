/* The choice of plans: the registry says who is tried where, there is one list of slices
 * and one cost of a message, and what is planned is what runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "algo/algo.h"
#include "cost/cost.h"
#include "plan/ops.h"
#include "plan/schedule.h"
#include "platform/platform.h"
#include "runtime/choice.h"
#include "runtime/rank_platform.h"
#include "select/contest.h"
#include "select/slices.h"
#include "support/alloc_fail.h"
#include "support/kinds.h"
#include "support/seed.h"
#include "support/small_platform.h"

/* ---- the registry ---- */

static const char *const lp_ids[] = {
#define ALGO(id)
#define ALGO_LP(id) #id,
#include "algo/algo_list.def"
#undef ALGO
#undef ALGO_LP
};

/* The list says what is linked into MPI programs, the flag what is tried. */
static int is_listed_with_lp(const struct espi_algo *algo)
{
    for (size_t i = 0; i < sizeof lp_ids / sizeof *lp_ids; i++) {
        char id[64];
        snprintf(id, sizeof id, "%s", lp_ids[i]);
        for (char *at = id; (at = strchr(at, '_'));)
            *at = '-';
        if (!strcmp(id, algo->name))
            return 1;
    }
    return 0;
}

static void entries_say_what_they_are(void **state)
{
    (void)state;
    int count, standard[ESP_OP_COUNT] = {0};
    const struct espi_algo *const *algos = espi_algos(&count);
    for (int i = 0; i < count; i++) {
        const struct espi_algo *a = algos[i];
        assert_int_equal((a->flags & ESPI_ALGO_NEEDS_LP) != 0, is_listed_with_lp(a));
        standard[a->op] += (a->flags & ESPI_ALGO_STANDARD) != 0;
        for (const struct espi_algo_use *u = a->uses; u && u->use; u++)
            /* ranks have no linear programs, and no time */
            assert_false(u->use & ESPI_USE_QUICK &&
                         a->flags & (ESPI_ALGO_NEEDS_LP | ESPI_ALGO_CHOOSES));
    }
    assert_int_equal(standard[ESP_OP_BCAST], 1);
    assert_int_equal(standard[ESP_OP_SCATTER], 1);
    assert_int_equal(standard[ESP_OP_MULTICAST], 1);
    assert_int_equal(standard[ESP_OP_ALLGATHER], 1);
}

/* How a use is written is read back as the same options. */
static void uses_are_written_as_they_are_read(void **state)
{
    (void)state;
    int count, n_uses = 0;
    const struct espi_algo *const *algos = espi_algos(&count);
    for (int i = 0; i < count; i++)
        for (const struct espi_algo_use *u = algos[i]->uses; u && u->use; u++) {
            double meant[ESPI_ALGO_OPTIONS_MAX] = {0};
            double read[ESPI_ALGO_OPTIONS_MAX] = {0};
            const struct espi_algo *found = NULL;
            char text[ESPI_CANDIDATE_TEXT];
            espi_algo_use_options(algos[i], u, 12345, meant);
            espi_algo_format(algos[i], meant, text, sizeof text);
            assert_int_equal(espi_algo_parse(text, &found, read, NULL), ESP_OK);
            assert_ptr_equal(found, algos[i]);
            for (int k = 0; k < ESPI_ALGO_OPTIONS_MAX; k++)
                assert_true(meant[k] == read[k]);
            n_uses++;
        }
    assert_true(n_uses > 20);
}

/* ---- slices ---- */

static void slices_get_smaller_and_cut_evenly(void **state)
{
    (void)state;
    for (double size = 1; size < 1e12; size *= 7)
        for (int parts = 1; parts < 100; parts += 13) {
            double bytes[ESPI_SLICE_SIZES_MAX], part = size / parts;
            int n = espi_slice_sizes(size, parts, bytes), usual = 0;
            assert_true(n >= 1 && bytes[0] == part);
            for (int i = 0; i < n; i++) {
                double pieces = part / bytes[i];
                assert_true(i == 0 || bytes[i] < bytes[i - 1]);
                assert_true(bytes[i] == part || bytes[i] > 500);
                assert_true(fabs(pieces - round(pieces)) < 1e-6 * pieces);
                usual += bytes[i] == espi_usual_slices(size, parts);
            }
            assert_int_equal(usual, 1);
        }
}

/* Without latencies the smallest slices would be best if messages cost nothing. */
static void tiny_slices_lose_by_themselves(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct esp_request request;
        struct esp_plan *plan = NULL;
        struct esp_platform *p =
            kind_platform(0, 10, test_seed(seed), ESP_MODEL_ONE_PORT);
        esp_request_init(&request, 0);
        assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
        double count = request.size_bytes / plan->slice_bytes;
        assert_true(count * espi_message_s(p) < 0.1 * plan->makespan_s);
        assert_true(count > 8); /* and yet it is cut */
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

static void messages_cost_what_is_known_of_them(void **state)
{
    static const char text[] =
        "{\"format\":\"espalier-platform/"
        "1\",\"model\":\"%s\",\"nodes\":[{\"name\":\"a\"%s},"
        "{\"name\":\"b\"}],\"links\":[{\"from\":\"a\",\"to\":\"b\",\"latency_s\":%s,"
        "\"bandwidth_Bps\":1e8}]}";
    static const struct {
        const char *model, *node, *latency;
        double message_s;
    } cases[] = {
        {"one-port", "", "0", 5e-6},
        {"one-port", "", "1e-3", 5e-6},
        {"one-port", "", "1e-6", 1e-6},
        {"capacity", ",\"send_s\":2e-5,\"recv_s\":1e-5", "1e-3", 3e-5},
        {"capacity", ",\"send_s\":0,\"recv_s\":0", "1e-3", 0}, /* all in the latency */
        {"multi-port", ",\"send_s\":2e-5", "1e-3", 0},         /* in the model */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[512];
        struct esp_platform *p = NULL;
        int n = snprintf(json, sizeof json, text, cases[i].model, cases[i].node,
                         cases[i].latency);
        assert_int_equal(esp_platform_parse(json, (size_t)n, "t", NULL, &p, NULL),
                         ESP_OK);
        assert_true(fabs(espi_message_s(p) - cases[i].message_s) < 1e-12);
        esp_platform_free(p);
    }
}

/* ---- what is planned is what runs ---- */

/* As the ranks of a program get it: written, read, and adapted to them. */
static struct esp_plan *handed_over(const struct esp_plan *plan,
                                    const struct esp_platform *net,
                                    const struct espi_rank_platform *team,
                                    const int *node)
{
    struct esp_plan *read = NULL, *mine = NULL;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_int_equal(esp_plan_write_stream(plan, net, out, NULL), ESP_OK);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(esp_plan_parse(text, length, "t", net, &read, NULL), ESP_OK);
    assert_int_equal(espi_rank_platform_adapt(team, net, node, read, 0, &mine, NULL),
                     ESP_OK);
    esp_plan_free(read);
    free(text);
    return mine;
}

static void assert_same(const struct esp_plan *planned, const struct esp_plan *runs,
                        const int *node)
{
    assert_int_equal(planned->n_trees, runs->n_trees);
    assert_true(fabs(planned->slice_bytes - runs->slice_bytes) < 1e-6);
    for (int t = 0; t < planned->n_trees; t++) {
        const struct esp_tree *a = &planned->trees[t], *b = &runs->trees[t];
        assert_true(fabs(a->weight - b->weight) < 1e-9);
        assert_int_equal(a->n_edges, b->n_edges);
        for (int i = 0; i < a->n_edges; i++) {
            assert_int_equal(a->edges[i].from, node[b->edges[i].from]);
            assert_int_equal(a->edges[i].to, node[b->edges[i].to]);
        }
    }
}

static int find_hosts(const struct esp_platform *p, int *node)
{
    int n = 0;
    for (int v = 0; v < p->n_nodes; v++)
        if (!espi_is_switch(p, v))
            node[n++] = v;
    return n;
}

/* What `espalier plan` says of messages of a size, and what ranks do with that plan, made
 * before they start as `espalier run` makes it, for a message of the size. */
static void compare_with_run(const struct esp_platform *net, double size_bytes)
{
    struct esp_request request;
    struct esp_plan *planned = NULL;
    struct espi_rank_platform team;
    struct espi_choice choice;
    int node[256], n = find_hosts(net, node);
    esp_request_init(&request, node[0]);
    request.size_bytes = size_bytes;
    assert_int_equal(esp_plan_make(net, &request, &planned, NULL), ESP_OK);
    assert_int_equal(espi_rank_platform_create(&team, net, n, node, NULL), ESP_OK);
    struct esp_plan *given = handed_over(planned, net, &team, node);
    struct espi_choice_options options = {
        .force = 1, .algo = request.algo, .given = given};
    /* ranks plan for the power of two above */
    double class_bytes = ldexp(1, (int)ceil(log2(size_bytes)));
    assert_int_equal(
        espi_choose(team.p, ESP_OP_BCAST, 0, class_bytes, &options, &choice, NULL),
        ESP_OK);
    assert_non_null(choice.plan);
    assert_same(planned, choice.plan, node);
    assert_string_equal(choice.plan->algo, planned->algo);
    espi_choice_done(&choice);
    esp_plan_free(given);
    espi_rank_platform_done(&team);
    esp_plan_free(planned);
}

static void what_is_planned_is_what_runs(void **state)
{
    static const esp_model models[] = {ESP_MODEL_ONE_PORT, ESP_MODEL_CAPACITY,
                                       ESP_MODEL_MULTI_PORT};
    (void)state;
    int compared = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (uint64_t i = 0; i < 3; i++) {
            struct esp_platform *p =
                kind_platform(kind, 8, test_seed(10 * i + 1), models[i]);
            compare_with_run(p, i == 0 ? 64e6 : i == 1 ? 1e6 : 3e5);
            esp_platform_free(p);
            compared++;
        }
    assert_true(compared >= 10);
}

/* For other sizes the plan is weighed with what ranks find themselves: neither makes it
 * worse. */
static void other_sizes_are_weighed(void **state)
{
    (void)state;
    struct esp_platform *p = kind_platform(3, 8, test_seed(5), ESP_MODEL_ONE_PORT);
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct espi_rank_platform team;
    int node[256], n = find_hosts(p, node);
    esp_request_init(&request, node[0]);
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    assert_int_equal(espi_rank_platform_create(&team, p, n, node, NULL), ESP_OK);
    struct esp_plan *given = handed_over(plan, p, &team, node);
    for (int k = 10; k < 26; k++) {
        struct espi_choice both, alone, quick;
        struct espi_choice_options options = {
            .force = 1, .algo = request.algo, .given = given};
        assert_int_equal(
            espi_choose(team.p, ESP_OP_BCAST, 0, ldexp(1, k), &options, &both, NULL),
            ESP_OK);
        options.algo = NULL;
        assert_int_equal(
            espi_choose(team.p, ESP_OP_BCAST, 0, ldexp(1, k), &options, &alone, NULL),
            ESP_OK);
        options.given = NULL;
        assert_int_equal(
            espi_choose(team.p, ESP_OP_BCAST, 0, ldexp(1, k), &options, &quick, NULL),
            ESP_OK);
        assert_true(both.ours_s <= alone.ours_s && both.ours_s <= quick.ours_s);
        espi_choice_done(&both);
        espi_choice_done(&alone);
        espi_choice_done(&quick);
    }
    esp_plan_free(given);
    espi_rank_platform_done(&team);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* ---- alternatives ---- */

enum { ALTERNATIVES = 3, ALL_PLANS = 256 };

static int same_trees(const struct esp_plan *a, const struct esp_plan *b)
{
    int same = a->n_trees == b->n_trees;
    for (int t = 0; t < a->n_trees && same; t++) {
        const struct esp_tree *x = &a->trees[t], *y = &b->trees[t];
        same = x->n_edges == y->n_edges && x->n_hops == y->n_hops &&
               !memcmp(x->edges, y->edges, (size_t)x->n_edges * sizeof *x->edges) &&
               !memcmp(x->hops, y->hops, (size_t)x->n_hops * sizeof *x->hops);
    }
    return same;
}

/* All plans of these uses, each of its trees once, with what a contest says of it alone.
 */
static int all_plans(const struct esp_platform *p, const struct esp_request *request,
                     struct espi_arena *arena, struct espi_placed out[ALL_PLANS])
{
    struct espi_candidate candidates[ESPI_CANDIDATES_MAX];
    double slices[ESPI_FEW_SLICES];
    int n = 0, known;
    int count = espi_candidates(request, p->n_hosts, ESPI_USE_ADVISOR, 0, candidates);
    int sizes = espi_few_slices(request->size_bytes, slices);
    for (int i = 0; i < count * sizes; i++) {
        struct espi_contest c;
        espi_contest_init(&c, p, request, arena);
        c.judge.few_sizes = 1;
        assert_int_equal(espi_contest_enter(&c, candidates[i % count].algo,
                                            candidates[i % count].option,
                                            slices[i / count], NULL),
                         ESP_OK);
        struct espi_placed found = espi_contest_take(&c, 0);
        for (known = 0; known < n && found.plan; known++)
            if (same_trees(found.plan, out[known].plan))
                break;
        if (found.plan && known == n)
            out[n++] = found;
        else
            esp_plan_free(found.plan);
        assert_null(espi_contest_take(&c, 0).plan);
        espi_contest_done(&c);
    }
    return n;
}

static int by_verdict(const void *a, const void *b)
{
    double x = ((const struct espi_placed *)a)->verdict.judged_s;
    double y = ((const struct espi_placed *)b)->verdict.judged_s;
    return (x > y) - (x < y);
}

/* Who wants more than the best gets the next best, no two of the same trees, in whatever
 * turn they came. */
static void the_next_best_are_kept(void **state)
{
    (void)state;
    int several = 0;
    for (int i = 0; i < test_draws(30); i++) {
        struct esp_platform *p =
            kind_platform(i % KINDS, 5 + i % 7, test_seed((uint64_t)i + 1),
                          (esp_model)(i % ESP_MODEL_COUNT));
        struct espi_placed all[ALL_PLANS];
        struct espi_contest c;
        struct espi_arena arena;
        struct esp_request request;
        espi_request_init(&request, 0);
        request.size_bytes = i % 2 ? 3e5 : 5e6;
        espi_arena_init(&arena);
        int n = all_plans(p, &request, &arena, all);
        qsort(all, (size_t)n, sizeof *all, by_verdict);
        espi_contest_init(&c, p, &request, &arena);
        c.judge.few_sizes = 1;
        c.others_wanted = ALTERNATIVES;
        assert_int_equal(espi_contest_enter_in_turn(&c, ESPI_USE_ADVISOR, 2 * i, NULL),
                         ESP_OK);
        several += c.n_others > 0;
        for (int k = 0; k <= ALTERNATIVES; k++) {
            struct espi_placed found = espi_contest_take(&c, k);
            assert_int_equal(found.plan != NULL, k < n);
            if (found.plan)
                assert_true(fabs(found.verdict.judged_s / all[k].verdict.judged_s - 1) <
                            1e-9);
            esp_plan_free(found.plan);
        }
        for (int k = 0; k < n; k++)
            esp_plan_free(all[k].plan);
        espi_contest_done(&c);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
    assert_true(several > 0);
}

/* ---- every allocation fails once ---- */

static esp_status whole_contest(void *arg)
{
    struct espi_contest c;
    struct espi_arena arena;
    struct esp_request request;
    espi_request_init(&request, 0);
    request.size_bytes = 1e5;
    espi_arena_init(&arena);
    espi_contest_init(&c, arg, &request, &arena);
    c.judge.closer_looks = 1;
    c.others_wanted = 2;
    esp_status st = espi_contest_enter_uses(&c, ESPI_USE_QUICK, 0,
                                            espi_contest_first_slices(&c), NULL);
    assert_true(st || c.best);
    espi_contest_done(&c);
    espi_arena_done(&arena);
    return st;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    struct esp_platform *p = kind_platform(0, 4, 1, ESP_MODEL_ONE_PORT);
    assert_true(alloc_fail_each(whole_contest, p) > 10);
    esp_platform_free(p);
}

/* ---- weighing ---- */

/* What is said to be exact is what the plan will claim; on shared networks a part of a
 * long message tells the rest, which may be off. */
static void exact_weighing_is_the_claim(void **state)
{
    (void)state;
    int n_exact = 0;
    for (int i = 0; i < test_draws(24); i++) {
        struct esp_measured_options o;
        struct esp_platform *p = NULL;
        struct esp_request request;
        struct esp_plan *plan = NULL;
        struct espi_arena arena;
        esp_measured_options_defaults(&o);
        o.kind = (esp_measured_kind)(i % ESP_MEASURED_KIND_COUNT);
        o.hosts = 5 + i % 7;
        o.seed = test_seed((uint64_t)i + 1);
        assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_OK);
        esp_request_init(&request, 0);
        request.algo = "mtp";
        request.size_bytes = 64e6;
        assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
        espi_schedule_free(plan->schedule);
        plan->schedule = NULL;
        espi_arena_init(&arena);
        for (double slices = 32; slices <= 8192; slices *= 4) {
            struct espi_finish weighed, claim;
            double bytes = plan->size_bytes / slices;
            if (!espi_plan_is_exact(p, plan, slices, 0))
                continue;
            n_exact++;
            assert_int_equal(espi_plan_finish(p, plan, plan->size_bytes, bytes, 0, &arena,
                                              &weighed, NULL),
                             ESP_OK);
            assert_int_equal(
                espi_plan_claim(p, plan, plan->size_bytes, bytes, &arena, &claim, NULL),
                ESP_OK);
            if (!(fabs(weighed.makespan_s / claim.makespan_s - 1) < 1e-9))
                fail_msg("%d hosts, %g slices: weighed %.12g s, claims %.12g s", o.hosts,
                         slices, weighed.makespan_s, claim.makespan_s);
        }
        espi_arena_done(&arena);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
    assert_true(n_exact > 0);
}

/* A plan comes with what playing it anew finds, though what the contest played is not
 * played again. */
static void claims_are_those_of_plans_played_anew(void **state)
{
    static const esp_model models[] = {ESP_MODEL_CAPACITY, ESP_MODEL_ONE_PORT,
                                       ESP_MODEL_HALF_DUPLEX, ESP_MODEL_MULTI_PORT};
    static const esp_op ops[] = {ESP_OP_BCAST, ESP_OP_BCAST, ESP_OP_BCAST, ESP_OP_REDUCE,
                                 ESP_OP_ALLREDUCE};
    (void)state;
    for (int i = 0; i < test_draws(12); i++) {
        struct esp_measured_options o;
        struct esp_platform *measured = NULL, *p = NULL;
        struct esp_request request;
        struct esp_plan *plan = NULL;
        esp_measured_options_defaults(&o);
        o.kind = (esp_measured_kind)(i % ESP_MEASURED_KIND_COUNT);
        o.hosts = 5 + i % 7;
        o.seed = test_seed((uint64_t)i + 1);
        assert_int_equal(esp_generate_measured(&o, &measured, NULL), ESP_OK);
        assert_int_equal(esp_platform_with_model(measured, models[i % 4], &p, NULL),
                         ESP_OK);
        esp_request_init(&request, 0);
        request.op = ops[i % 5];
        request.size_bytes = i % 3 ? 64e6 : 1e5;
        assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
        double makespan_s = plan->makespan_s, throughput_Bps = plan->throughput_Bps;
        assert_int_equal(esp_plan_evaluate(plan, p, NULL), ESP_OK);
        if (plan->makespan_s != makespan_s || plan->throughput_Bps != throughput_Bps)
            fail_msg("%d: makespan %.17g s, anew %.17g s; %.17g B/s, anew %.17g B/s", i,
                     makespan_s, plan->makespan_s, throughput_Bps, plan->throughput_Bps);
        esp_plan_free(plan);
        esp_platform_free(p);
        esp_platform_free(measured);
    }
}

/* There is nothing to send, in whatever model and operation. */
static void a_host_alone_has_its_plan(void **state)
{
    (void)state;
    for (int i = 0; i < ESP_MODEL_COUNT * ESP_OP_COUNT; i++) {
        esp_model model = (esp_model)(i % ESP_MODEL_COUNT);
        struct esp_platform *p = small_platform(model, 1, NULL, 0);
        struct esp_request request;
        struct esp_plan *plan = NULL;
        esp_request_init(&request, 0);
        request.op = (esp_op)(i / ESP_MODEL_COUNT);
        request.size_bytes = 4e6;
        assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
        assert_true(plan->makespan_s == 0);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_are_those_of_plans_played_anew),
        cmocka_unit_test(entries_say_what_they_are),
        cmocka_unit_test(a_host_alone_has_its_plan),
        cmocka_unit_test(uses_are_written_as_they_are_read),
        cmocka_unit_test(slices_get_smaller_and_cut_evenly),
        cmocka_unit_test(tiny_slices_lose_by_themselves),
        cmocka_unit_test(messages_cost_what_is_known_of_them),
        cmocka_unit_test(what_is_planned_is_what_runs),
        cmocka_unit_test(other_sizes_are_weighed),
        cmocka_unit_test(the_next_best_are_kept),
        cmocka_unit_test(exact_weighing_is_the_claim),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
