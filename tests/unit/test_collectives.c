/* Operations other than broadcast from request to the last byte: the right sums, the
 * right parts, mirrors that are mirrors, and simulations that take as long as plans
 * claim. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "exec/exec.h"
#include "exec/loopback.h"
#include "lp/lp.h"
#include "plan/ops.h"
#include "solve/packing.h"
#include "support/alloc_fail.h"
#include "support/pace.h"
#include "support/seed.h"

static struct esp_platform *platform(uint64_t seed, int n, esp_model model)
{
    struct esp_random_options o;
    struct esp_platform *p = NULL, *q = NULL;
    esp_random_options_defaults(&o);
    o.nodes = n;
    o.seed = test_seed(seed);
    o.density = 0.3;
    assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_with_model(p, model, &q, NULL), ESP_OK);
    esp_platform_free(p);
    return q;
}

static struct esp_plan *planned(const struct esp_platform *p, esp_op op, const char *algo,
                                int root, int n_targets, const int *targets)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err = {.text = ""};
    esp_request_init(&request, root);
    request.op = op;
    request.algo = algo;
    request.size_bytes = 1e6;
    request.slice_bytes = 1e4;
    request.targets = targets;
    request.n_targets = n_targets;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s for %s: %s", algo, esp_op_name(op), err.text);
    return plan;
}

/* ---- running programs ---- */

enum { RANKS = 16 };

struct world {
    const struct espi_program *prog;
    size_t size;
    unsigned char *before[RANKS], *data[RANKS];
};

static void add_bytes(void *arg, void *into, const void *from, size_t bytes)
{
    (void)arg;
    unsigned char *a = into;
    const unsigned char *b = from;
    for (size_t i = 0; i < bytes; i++)
        a[i] = (unsigned char)(a[i] + b[i]);
}

/* All ranks in turn, until all are done. */
static void run_world(struct world *w, int window)
{
    struct espi_arena arena;
    struct espi_run runs[RANKS];
    struct espi_run_options o = {.window = window, .combine = add_bytes};
    int n = w->prog->n_ranks, done = 0, idle = 0, result[RANKS] = {0};
    espi_arena_init(&arena);
    struct espi_loopback *net = espi_loopback_create(n);
    int *channel = espi_program_channels(w->prog, &arena);
    for (int r = 0; r < n; r++)
        assert_int_equal(espi_run_init(&runs[r], w->prog, r, channel,
                                       espi_loopback_rank(net, r), w->data[r], &o,
                                       &arena),
                         0);
    while (done < n) {
        done = 0;
        for (int r = 0; r < n; r++) {
            if (result[r] == 0)
                result[r] = espi_run_progress(&runs[r], 0);
            assert_true(result[r] >= 0);
            done += result[r];
        }
        assert_true(++idle < 1000000);
    }
    espi_loopback_free(net);
    espi_arena_done(&arena);
}

static void world_init(struct world *w, const struct espi_program *prog,
                       const struct esp_plan *plan, struct espi_rng *rng)
{
    *w = (struct world){.prog = prog, .size = (size_t)prog->size_bytes};
    for (int r = 0; r < prog->n_ranks; r++) {
        int takes_part = !plan->targets || prog->node[r] == plan->root;
        for (int i = 0; i < plan->n_targets; i++)
            takes_part |= plan->targets[i] == prog->node[r];
        w->before[r] = malloc(w->size);
        w->data[r] = malloc(w->size);
        for (size_t i = 0; i < w->size; i++)
            w->before[r][i] = takes_part ? (unsigned char)espi_rng_below(rng, 256) : 0;
        memcpy(w->data[r], w->before[r], w->size);
    }
}

static void world_free(struct world *w)
{
    for (int r = 0; r < w->prog->n_ranks; r++) {
        free(w->before[r]);
        free(w->data[r]);
    }
}

static unsigned char sum_at(const struct world *w, size_t i)
{
    unsigned sum = 0;
    for (int r = 0; r < w->prog->n_ranks; r++)
        sum += w->before[r][i];
    return (unsigned char)sum;
}

/* What byte i of rank r must be afterwards; -1: anything. */
static int wanted(const struct world *w, const struct esp_plan *plan, int r, size_t i,
                  int64_t slice)
{
    const struct espi_program *prog = w->prog;
    const struct esp_tree *tree = &plan->trees[prog->slot_tree[slice % prog->slots]];
    int node = prog->node[r], is_target = plan->targets == NULL;
    for (int k = 0; k < plan->n_targets; k++)
        is_target |= plan->targets[k] == node;
    switch (plan->op) {
    case ESP_OP_BCAST:
    case ESP_OP_MULTICAST:
        return is_target ? w->before[prog->root][i] : -1;
    case ESP_OP_SCATTER:
        return tree->targets[0] == node ? w->before[prog->root][i] : -1;
    case ESP_OP_GATHER:
        return r == prog->root ? w->before[prog->rank[tree->targets[0]]][i] : -1;
    case ESP_OP_REDUCE:
        return r == prog->root ? sum_at(w, i) : -1;
    case ESP_OP_ALLREDUCE:
        return sum_at(w, i);
    case ESP_OP_ALLGATHER:
        return w->before[prog->rank[tree->root]][i];
    case ESP_OP_REDUCE_SCATTER:
        return tree->root == node ? sum_at(w, i) : -1;
    case ESP_OP_ALLTOALL:
        return tree->targets[0] == node ? w->before[prog->rank[tree->root]][i] : -1;
    default:
        return -1;
    }
}

static void check_world(const struct world *w, const struct esp_plan *plan)
{
    const struct espi_program *prog = w->prog;
    for (int r = 0; r < prog->n_ranks; r++)
        for (int64_t s = 0; s < prog->n_slices; s++) {
            uint64_t length, first = espi_slice_range(prog, s, &length);
            for (size_t i = first; i < first + length; i++) {
                int want = wanted(w, plan, r, i, s);
                if (want >= 0 && w->data[r][i] != want)
                    fail_msg("%s by %s: rank %d, byte %zu is %d, not %d",
                             esp_op_name(plan->op), plan->algo, r, i, w->data[r][i],
                             want);
            }
        }
}

static void run_plan(const struct esp_platform *p, const struct esp_plan *plan,
                     struct espi_rng *rng)
{
    struct espi_arena arena;
    struct espi_program prog;
    struct world w;
    struct espi_compile_options o = {.size_bytes = 1 + espi_rng_below(rng, 20000)};
    o.slice_bytes = 1 + espi_rng_below(rng, 300);
    espi_arena_init(&arena);
    assert_int_equal(espi_program_compile(p, plan, &o, &arena, &prog, NULL), ESP_OK);
    world_init(&w, &prog, plan, rng);
    run_world(&w, 1 + (int)espi_rng_below(rng, 6));
    check_world(&w, plan);
    world_free(&w);
    espi_arena_done(&arena);
}

static const struct {
    esp_op op;
    const char *algo;
    int some; /* targets only */
} cases[] = {
    {ESP_OP_BCAST, "binomial-sp", 0}, /* its hosts pass on what is not for them */
    {ESP_OP_MULTICAST, "mc-scatter", 1},
    {ESP_OP_MULTICAST, "mc-broadcast", 1},
    {ESP_OP_MULTICAST, "reduced-broadcast", 1},
    {ESP_OP_MULTICAST, "augmented-multicast", 1},
    {ESP_OP_MULTICAST, "multisource", 1},
    {ESP_OP_MULTICAST, "mcph", 1},
    {ESP_OP_MULTICAST, "steiner-cg", 1},
    {ESP_OP_MULTICAST, "grow", 0},
    {ESP_OP_SCATTER, "scatter", 1},
    {ESP_OP_SCATTER, "scatter", 0},
    {ESP_OP_GATHER, "scatter", 1},
    {ESP_OP_GATHER, "scatter", 0},
    {ESP_OP_REDUCE, "grow", 0},
    {ESP_OP_REDUCE, "binomial-sp", 0},
    {ESP_OP_REDUCE, "steiner-cg", 1},
    {ESP_OP_REDUCE, "mc-broadcast", 0},
    {ESP_OP_REDUCE, "multisource", 1},
    {ESP_OP_ALLREDUCE, "grow", 0},
    {ESP_OP_ALLREDUCE, "chain", 0},
    {ESP_OP_ALLREDUCE, "flat", 0},
    {ESP_OP_ALLREDUCE, "tree-pairs", 0},
    {ESP_OP_ALLREDUCE, "ring-allreduce", 0},
    {ESP_OP_ALLREDUCE, "rabenseifner", 0},
    {ESP_OP_ALLREDUCE, "swing", 0},
    {ESP_OP_REDUCE_SCATTER, "grow", 0},
    {ESP_OP_REDUCE_SCATTER, "mtp", 0},
    {ESP_OP_REDUCE_SCATTER, "binomial", 0},
    {ESP_OP_ALLGATHER, "ring", 0},
    {ESP_OP_ALLGATHER, "bruck", 0},
    {ESP_OP_ALLGATHER, "simultaneous", 0},
    {ESP_OP_ALLGATHER, "combining:order=turns", 0},
    {ESP_OP_ALLGATHER, "gather-broadcast", 0},
    {ESP_OP_ALLGATHER, "gather-broadcast:agents=2", 0},
    {ESP_OP_ALLGATHER, "two-step:agents=3", 0},
    {ESP_OP_ALLGATHER, "magpie", 0},
    {ESP_OP_ALLGATHER, "all-roots", 0},
    {ESP_OP_ALLGATHER, "auto", 0},
    {ESP_OP_REDUCE_SCATTER, "all-roots", 0},
    {ESP_OP_REDUCE_SCATTER, "ring", 0},
    {ESP_OP_REDUCE_SCATTER, "bruck", 0},
    {ESP_OP_REDUCE_SCATTER, "combining", 0},
    {ESP_OP_REDUCE_SCATTER, "two-step:agents=2", 0},
    {ESP_OP_REDUCE_SCATTER, "magpie", 0},
    {ESP_OP_ALLTOALL, "pairwise", 0},
    {ESP_OP_ALLTOALL, "open-shop", 0},
    {ESP_OP_ALLTOALL, "digits", 0},
    {ESP_OP_ALLTOALL, "digits:radix=3", 0},
    {ESP_OP_ALLTOALL, "spread-pairs", 0},
    {ESP_OP_ALLTOALL, "spread-pairs:rounds=0", 0},
    {ESP_OP_ALLTOALL, "all-pairs", 0},
    {ESP_OP_ALLTOALL, "auto", 0},
};

enum { CASES = sizeof cases / sizeof *cases };

static struct esp_plan *plan_case(const struct esp_platform *p, int i, int root)
{
    int targets[RANKS], n = 0;
    for (int v = 0; v < esp_platform_node_count(p); v++)
        if (v != root && v % 3 != 1)
            targets[n++] = v;
    return planned(p, cases[i].op, cases[i].algo, root, cases[i].some ? n : 0,
                   cases[i].some ? targets : NULL);
}

static void every_byte_is_right(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(3));
    for (int round = 0; round < 8; round++) {
        int n = 4 + round;
        struct esp_platform *p =
            platform((uint64_t)round, n, (esp_model)(round % ESP_MODEL_COUNT));
        for (int i = 0; i < CASES; i++) {
            if ((i + round) % 4 >= test_draws(4))
                continue;
            struct esp_plan *plan = plan_case(p, i, round % n);
            run_plan(p, plan, &rng);
            esp_plan_free(plan);
        }
        esp_platform_free(p);
    }
}

/* ---- simulation ---- */

/* Long messages take a period a slice within a hundredth, whatever the model. */
static void simulations_keep_what_plans_claim(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        esp_model model = (esp_model)round;
        struct esp_platform *p = platform((uint64_t)round + 50, 7, model);
        for (int i = 0; i < CASES; i++) {
            if ((i + round) % 4 >= test_draws(4))
                continue;
            struct esp_plan *plan = plan_case(p, i, 0);
            if (plan->trees[0].steps) { /* nothing follows anything */
                esp_plan_free(plan);
                continue;
            }
            plan->size_bytes = 8192 * plan->slice_bytes;
            assert_int_equal(esp_plan_schedule(plan, p, NULL), ESP_OK);
            assert_int_equal(esp_plan_evaluate(plan, p, NULL), ESP_OK);
            double s = plan->slice_bytes / pace_of(p, plan, 8192).steady_Bps;
            double claim_s = plan->slice_bytes / plan->throughput_Bps;
            if (s > 1.01 * claim_s || s < 0.99 * claim_s)
                fail_msg("%s by %s, %s: %g s a slice, not %g (%d trees)",
                         esp_op_name(plan->op), plan->algo, esp_model_name(model), s,
                         claim_s, plan->n_trees);
            esp_plan_free(plan);
        }
        esp_platform_free(p);
    }
}

/* ---- mirrors ---- */

/* The period of the best reduce, from first principles: every host's data flow to the
 * root, and what crosses a link is the most of any host's flow. One-port. Variables: the
 * period, the n_links uses, then a flow for each host. */
static double reduce_period_s(const struct esp_platform *p, int root, double slice)
{
    enum { MOST = 60000 };
    int n = esp_platform_node_count(p), m = esp_platform_link_count(p), rows = 0, at = 0;
    static int start[MOST], index[MOST];
    static double value[MOST], lower[MOST], upper[MOST], cost[MOST];
    struct espi_lp *lp = NULL;
    int columns = 1 + m + (n - 1) * m;
    assert_int_equal(espi_lp_create(&lp, NULL), ESP_OK);
    memset(cost, 0, sizeof cost);
    memset(start, 0, sizeof start);
    cost[0] = 1;
    struct espi_lp_vectors c = {
        .count = columns, .cost = cost, .start = start, .index = index, .value = value};
    espi_lp_add_columns(lp, &c);
    for (int u = 0; u < n; u++) /* ports */
        for (int out = 0; out < 2; out++, rows++) {
            start[rows] = at;
            lower[rows] = -1e30;
            upper[rows] = 0;
            index[at] = 0;
            value[at++] = -1;
            for (int e = 0; e < m; e++)
                if ((out ? esp_platform_link_from(p, e) : esp_platform_link_to(p, e)) ==
                    u) {
                    index[at] = 1 + e;
                    value[at++] = esp_platform_link_time_s(p, e, slice) * 1e3;
                }
        }
    for (int w = 0, k = 0; w < n; w++) {
        if (w == root)
            continue;
        int first = 1 + m + k++ * m;
        for (int v = 0; v < n; v++, rows++) { /* flows: in - out */
            start[rows] = at;
            lower[rows] = upper[rows] = v == w ? -1 : v == root ? 1 : 0;
            for (int e = 0; e < m; e++) {
                int d = (esp_platform_link_to(p, e) == v) -
                        (esp_platform_link_from(p, e) == v);
                if (d) {
                    index[at] = first + e;
                    value[at++] = d;
                }
            }
        }
        for (int e = 0; e < m; e++, rows++) { /* flow <= use */
            start[rows] = at;
            lower[rows] = -1e30;
            upper[rows] = 0;
            index[at] = first + e;
            value[at++] = 1;
            index[at] = 1 + e;
            value[at++] = -1;
        }
    }
    start[rows] = at;
    assert_true(at < MOST && rows < MOST);
    struct espi_lp_vectors r = {.count = rows,
                                .lower = lower,
                                .upper = upper,
                                .start = start,
                                .index = index,
                                .value = value};
    espi_lp_add_rows(lp, &r);
    assert_int_equal(espi_lp_solve(lp, ESPI_LP_PRIMAL), ESPI_LP_OPTIMAL);
    double period_s = espi_lp_values(lp)[0] * 1e-3;
    espi_lp_free(lp);
    return period_s;
}

static double best_broadcast_s(const struct esp_platform *p, int root, double slice)
{
    struct espi_arena arena;
    struct espi_view view;
    struct espi_packing packing;
    espi_arena_init(&arena);
    assert_int_equal(espi_view_init(&view, p, slice, &arena, NULL), ESP_OK);
    assert_int_equal(
        espi_packing_solve(&view, view.host[root], NULL, &arena, &packing, NULL), ESP_OK);
    double period_s = 1 / packing.bound;
    espi_arena_done(&arena);
    return period_s;
}

static void the_best_reduce_is_the_best_broadcast_reversed(void **state)
{
    (void)state;
    for (int round = 0; round < test_draws(12); round++) {
        struct esp_platform *p = platform((uint64_t)round + 9, 6, ESP_MODEL_ONE_PORT);
        struct esp_platform *reversed = NULL;
        int root = round % 6;
        assert_int_equal(esp_platform_reversed(p, &reversed, NULL), ESP_OK);
        double best_s = reduce_period_s(p, root, 1e4);
        double there_s = best_broadcast_s(reversed, root, 1e4);
        assert_true(fabs(best_s - there_s) < 1e-6 * best_s);
        struct esp_plan *plan = planned(p, ESP_OP_REDUCE, "mc-broadcast", root, 0, NULL);
        double period_s = plan->slice_bytes / load_Bps(p, plan);
        assert_true(fabs(period_s - best_s) < 1e-6 * best_s);
        esp_plan_free(plan);
        esp_platform_free(p);
        esp_platform_free(reversed);
    }
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    struct esp_platform *p = platform(1, 6, ESP_MODEL_ONE_PORT);
    static const int twice[] = {1, 1}, far[] = {1, 99}, root[] = {0}, one[] = {1};
    static const struct {
        esp_op op;
        const char *algo;
        const int *targets;
        int n;
        const char *why;
    } wrong[] = {
        {ESP_OP_MULTICAST, "mcph", twice, 2, "twice"},
        {ESP_OP_MULTICAST, "mcph", far, 2, "no node number 99"},
        {ESP_OP_MULTICAST, "mcph", root, 1, "is the root"},
        {ESP_OP_MULTICAST, "mcph", one, 0, "no targets"},
        {ESP_OP_BCAST, "grow", one, 1, "takes no targets"},
        {ESP_OP_BCAST, "mcph", NULL, 0, "not for bcast"},
        {ESP_OP_REDUCE, "grow", one, 1, "not for reduce to some hosts"},
        {ESP_OP_GATHER, "grow", NULL, 0, "not for gather"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct esp_request request;
        struct esp_plan *plan = NULL;
        struct esp_err err = {.text = ""};
        esp_request_init(&request, 0);
        request.op = wrong[i].op;
        request.algo = wrong[i].algo;
        request.targets = wrong[i].targets;
        request.n_targets = wrong[i].n;
        assert_int_equal(esp_plan_make(p, &request, &plan, &err), ESP_EUSAGE);
        if (!strstr(err.text, wrong[i].why))
            fail_msg("'%s' does not say '%s'", err.text, wrong[i].why);
    }
    esp_platform_free(p);
}

static esp_status make_and_simulate(void *arg)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_sim_result *result = NULL;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLREDUCE;
    request.algo = "grow";
    request.size_bytes = 1e4;
    request.slice_bytes = 1e3;
    esp_status st = esp_plan_make(arg, &request, &plan, NULL);
    if (!st)
        st = esp_simulate(arg, plan, NULL, &result, NULL);
    esp_sim_result_free(result);
    esp_plan_free(plan);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = platform(1, 5, ESP_MODEL_ONE_PORT);
    assert_true(alloc_fail_each(make_and_simulate, p) > 10);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_right),
        cmocka_unit_test(simulations_keep_what_plans_claim),
        cmocka_unit_test(the_best_reduce_is_the_best_broadcast_reversed),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
