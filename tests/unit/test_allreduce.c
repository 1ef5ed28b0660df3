/* The best allreduce by pairs of trees: as good as all pairs of small platforms packed
 * together, never above its bound on larger ones, and never below what goes by one root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "bound/op_bound.h"
#include "solve/allreduce.h"
#include "solve/tree_mix_lp.h"
#include "support/all_trees.h"
#include "support/alloc_fail.h"
#include "support/pace.h"
#include "support/seed.h"
#include "support/small_platform.h"

enum { MOST_TREES = 400 };

/* ---- every pair of trees ---- */

struct loads {
    const struct espi_view *v;
    int n;
    double *load[MOST_TREES];
};

/* Resources of a platform and of the reversed one: ports change sides. */
static int opposite(const struct espi_resources *r, int resource)
{
    int owner;
    espi_resource_kind kind = espi_resource_kind_of(r, resource, &owner);
    if (r->first_recv == 0) /* half-duplex: one port */
        return resource;
    return kind == ESPI_SEND_PORT   ? r->first_recv + owner
           : kind == ESPI_RECV_PORT ? owner
                                    : resource;
}

static void add_loads(void *arg, const int *parent_arc)
{
    struct loads *x = arg;
    const struct espi_view *v = x->v;
    assert_true(x->n < MOST_TREES);
    double *load = calloc((size_t)v->links.n, sizeof *load);
    for (int h = 0; h < v->g.n; h++)
        if (parent_arc[h] >= 0)
            espi_resources_add(&v->links, parent_arc[h], 1, load);
    x->load[x->n++] = load;
}

static void free_loads(struct loads *x)
{
    for (int i = 0; i < x->n; i++)
        free(x->load[i]);
}

/* The optimum over all roots, trees towards them and trees from them. One-port. */
static double optimum_s(const struct esp_platform *p)
{
    struct esp_platform *reversed = NULL;
    struct espi_arena arena;
    struct espi_view out, in;
    struct espi_tree_mix_lp mx;
    espi_arena_init(&arena);
    assert_int_equal(esp_platform_reversed(p, &reversed, NULL), ESP_OK);
    assert_int_equal(espi_view_init(&out, p, 1, &arena, NULL), ESP_OK);
    assert_int_equal(espi_view_init(&in, reversed, 1, &arena, NULL), ESP_OK);
    int n_res = out.links.n;
    double unit_s = esp_platform_link_time_s(p, 0, 1);
    double *sum = ESPI_ARENA_NEW(&arena, double, n_res);
    assert_int_equal(espi_tree_mix_lp_init(&mx, n_res, NULL, unit_s, &arena, NULL),
                     ESP_OK);
    for (int root = 0; root < out.g.n; root++) {
        struct loads away = {.v = &out}, towards = {.v = &in};
        all_trees_visit(&out, root, add_loads, &away);
        all_trees_visit(&in, root, add_loads, &towards);
        for (int i = 0; i < away.n; i++)
            for (int k = 0; k < towards.n; k++) {
                for (int r = 0; r < n_res; r++)
                    sum[r] = away.load[i][r] + towards.load[k][opposite(&in.links, r)];
                espi_tree_mix_lp_add(&mx, sum);
            }
        free_loads(&away);
        free_loads(&towards);
    }
    assert_int_equal(espi_tree_mix_lp_solve(&mx, ESPI_LP_PRIMAL, NULL, NULL), ESP_OK);
    double s = mx.period_s;
    espi_tree_mix_lp_free(&mx);
    espi_arena_done(&arena);
    esp_platform_free(reversed);
    return s;
}

static struct esp_platform *strong(uint64_t seed, int n, double density)
{
    struct esp_random_options o;
    struct esp_platform *p = NULL;
    esp_random_options_defaults(&o);
    o.nodes = n;
    o.seed = test_seed(seed);
    o.density = density;
    assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
    return p;
}

static void the_best_of_all_pairs_is_found(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        struct esp_platform *p =
            strong((uint64_t)round + 1, 3 + round % 3, round % 3 == 2 ? 0.1 : 0.6);
        struct espi_arena arena;
        struct espi_view v;
        struct espi_allreduce best;
        espi_arena_init(&arena);
        assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
        assert_int_equal(espi_allreduce_solve(&v, NULL, &arena, &best, NULL), ESP_OK);
        double s = optimum_s(p);
        assert_true(fabs(best.period_s - s) < 3e-6 * s);
        assert_true(best.bound_s <= s * (1 + 1e-7));
        assert_true(best.bound_s >= s * (1 - 3e-6));
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* ---- plans ---- */

static struct esp_plan *planned(const struct esp_platform *p, esp_op op, const char *algo)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err = {.text = ""};
    esp_request_init(&request, 0);
    request.op = op;
    request.algo = algo;
    request.slice_bytes = 65536;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s", err.text);
    return plan;
}

/* In every model, with and without switches: no plan is above the bound, none of one
 * root above that of pairs, and a broadcast or reduce alone is faster. */
static void plans_stay_below_the_bound(void **state)
{
    (void)state;
    static const char *const algos[] = {"grow", "mtp", "refine", "chain"};
    for (int round = 0; round < 8; round++) {
        struct esp_platform *q = strong((uint64_t)round + 70, 5 + round, 0.2);
        struct esp_platform *p = NULL;
        esp_model model = (esp_model)(round % ESP_MODEL_COUNT);
        assert_int_equal(esp_platform_with_model(q, model, &p, NULL), ESP_OK);
        struct espi_op_bound_task task = {p, ESP_OP_ALLREDUCE, 0, 0, NULL, 65536, 0};
        struct espi_op_bound bound, part;
        struct esp_plan *best = planned(p, ESP_OP_ALLREDUCE, "tree-pairs");
        task.slice_bytes = best->slice_bytes;
        assert_int_equal(espi_op_bound(&task, &bound, NULL), ESP_OK);
        assert_true(best->throughput_Bps <= bound.throughput_Bps * (1 + 1e-9));
        assert_true(load_Bps(p, best) >= bound.throughput_Bps * (1 - 1e-5));
        for (esp_op op = ESP_OP_BCAST; op <= ESP_OP_REDUCE;
             op = op == ESP_OP_BCAST ? ESP_OP_REDUCE : ESP_OP_COUNT) {
            task.op = op;
            assert_int_equal(espi_op_bound(&task, &part, NULL), ESP_OK);
            assert_true(bound.throughput_Bps <= part.throughput_Bps * (1 + 1e-6));
        }
        for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
            struct esp_plan *plan = planned(p, ESP_OP_ALLREDUCE, algos[i]);
            assert_true(plan->throughput_Bps <= bound.throughput_Bps * (1 + 1e-6));
            esp_plan_free(plan);
        }
        esp_plan_free(best);
        esp_platform_free(p);
        esp_platform_free(q);
    }
}

/* Nor is any reduce above the bound of reduces; also where overheads of sends are those
 * of the links, which differ from host to host (multi-port). */
static void no_reduce_beats_its_bound(void **state)
{
    (void)state;
    static const char *const algos[] = {"grow", "mtp", "refine", "chain"};
    for (int round = 0; round < 40; round++) {
        struct esp_platform *q = strong((uint64_t)round + 200, 4 + round % 8, 0.3);
        struct esp_platform *p = NULL;
        esp_model model = (esp_model)(round % ESP_MODEL_COUNT);
        assert_int_equal(esp_platform_with_model(q, model, &p, NULL), ESP_OK);
        struct espi_op_bound_task task = {p, ESP_OP_REDUCE, 0, 0, NULL, 65536, 0};
        struct espi_op_bound bound;
        assert_int_equal(espi_op_bound(&task, &bound, NULL), ESP_OK);
        for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
            struct esp_plan *plan = planned(p, ESP_OP_REDUCE, algos[i]);
            assert_true(load_Bps(p, plan) <= bound.throughput_Bps * (1 + 1e-6));
            esp_plan_free(plan);
        }
        esp_platform_free(p);
        esp_platform_free(q);
    }
}

/* Equal hosts, each linked with each: a host must send and receive 2 (n - 1) / n of the
 * message, and pairs of trees do it with that. */
static void equal_hosts_share_the_work(void **state)
{
    (void)state;
    for (int n = 2; n <= 6; n++) {
        struct small_arc arcs[30];
        int m = 0;
        for (int u = 0; u < n; u++)
            for (int v = 0; v < n; v++)
                if (u != v)
                    arcs[m++] = (struct small_arc){u, v, 1};
        struct esp_platform *p = small_platform(ESP_MODEL_ONE_PORT, n, arcs, m);
        struct espi_op_bound_task task = {p, ESP_OP_ALLREDUCE, 0, 0, NULL, 1, 0};
        struct espi_op_bound bound;
        assert_int_equal(espi_op_bound(&task, &bound, NULL), ESP_OK);
        assert_float_equal(bound.throughput_Bps, n / (2.0 * (n - 1)), 1e-5);
        assert_true(bound.exact);
        esp_platform_free(p);
    }
}

static esp_status plan_pairs(void *arg)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLREDUCE;
    request.algo = "tree-pairs";
    esp_status st = esp_plan_make(arg, &request, &plan, NULL);
    esp_plan_free(plan);
    return st;
}

static void failing_allocations_are_told(void **state)
{
    (void)state;
    struct esp_platform *p = strong(5, 4, 0.5);
    assert_true(alloc_fail_some(plan_pairs, p, 30) > 0);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_of_all_pairs_is_found),
        cmocka_unit_test(plans_stay_below_the_bound),
        cmocka_unit_test(no_reduce_beats_its_bound),
        cmocka_unit_test(equal_hosts_share_the_work),
        cmocka_unit_test(failing_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
