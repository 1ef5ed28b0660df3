/* The local searches: against brute force over all trees, against what they start from,
 * and their running loads against loads computed afresh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "algo/algo.h"
#include "algo/search/search.h"
#include "algo/search/starts.h"
#include "algo/search/tree_state.h"
#include "algo/tuning.h"
#include "base/rng.h"
#include "solve/packing.h"
#include "select/slices.h"
#include "select/tuning.h"
#include "support/all_trees.h"
#include "support/pace.h"
#include "support/plans.h"
#include "support/seed.h"
#include "support/small_platform.h"

static struct esp_plan *planned(const struct esp_platform *p, const char *algo,
                                double count)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err = {0};
    esp_request_init(&request, 0);
    request.algo = algo;
    request.slice_bytes = 1;
    request.size_bytes = count;
    esp_status st = esp_plan_make(p, &request, &plan, &err);
    if (st && st != ESP_EUNSUPPORTED)
        fail_msg("%s: %s", algo, err.text);
    return plan;
}

/* ---- the running state ---- */

static void first_tree(const struct espi_view *v, int root, int *parent_arc)
{
    int *queue = calloc((size_t)v->g.n, sizeof *queue), size = 1;
    memset(parent_arc, -1, (size_t)v->g.n * sizeof *parent_arc);
    queue[0] = root;
    for (int i = 0; i < size; i++)
        for (int k = v->g.out.start[queue[i]]; k < v->g.out.start[queue[i] + 1]; k++) {
            int e = v->g.out.item[k], to = v->g.head[e];
            if (to != root && parent_arc[to] < 0) {
                parent_arc[to] = e;
                queue[size++] = to;
            }
        }
    assert_int_equal(size, v->g.n);
    free(queue);
}

static void check_state(const struct espi_tree_state *s, double *fresh)
{
    const struct espi_view *v = s->v;
    double period_s = espi_tree_period_s(v, s->parent_arc, fresh);
    for (int r = 0; r < v->links.n; r++) {
        double uses_s = 0;
        for (int k = s->first_use[r]; k >= 0; k = s->next_use[k])
            uses_s += v->use_s[k];
        assert_true(fabs(s->load[r] - fresh[r]) <= 1e-9 * period_s);
        assert_true(fabs(uses_s - fresh[r]) <= 1e-9 * period_s);
    }
    assert_true(fabs(espi_tree_state_period_s(s) - period_s) <= 1e-9 * period_s);
    int seen = 0;
    for (int h = 0; h < v->g.n; h++) {
        int steps = 0, at = h;
        for (; at != s->root && steps <= v->g.n; steps++)
            at = v->g.tail[s->parent_arc[at]];
        assert_int_equal(at, s->root);
        for (int kid = s->first_kid[h]; kid >= 0; kid = s->next_kid[kid], seen++)
            assert_int_equal(v->g.tail[s->parent_arc[kid]], h);
    }
    assert_int_equal(seen, v->g.n - 1);
}

/* Can the path from x down to z be turned round? */
static int can_turn(const struct espi_tree_state *s, int x, int z)
{
    for (; z != x; z = s->v->g.tail[s->parent_arc[z]])
        if (s->reverse[s->parent_arc[z]] < 0)
            return 0;
    return 1;
}

static void random_moves(struct espi_tree_state *s, struct espi_rng *rng, int moves)
{
    const struct espi_digraph *g = &s->v->g;
    double *fresh = calloc((size_t)s->v->links.n, sizeof *fresh);
    int done = 0, turned = 0;
    for (int i = 0; i < moves; i++) {
        int in = (int)espi_rng_below(rng, (uint32_t)g->m);
        int z = g->head[in], x = z;
        if (z == s->root)
            continue;
        while (espi_rng_below(rng, 2) && g->tail[s->parent_arc[x]] != s->root)
            x = g->tail[s->parent_arc[x]];
        espi_tree_state_mark(s, x);
        if (espi_tree_state_marked(s, g->tail[in]) || !can_turn(s, x, z))
            continue;
        int old = s->parent_arc[x];
        espi_tree_state_rehang(s, x, in);
        if (i % 7 == 0) { /* and back again */
            espi_tree_state_rehang(s, z, old);
            assert_int_equal(s->parent_arc[x], old);
        }
        done++;
        turned += x != z;
        if (i % 50 == 0)
            check_state(s, fresh);
    }
    check_state(s, fresh);
    assert_true(done > moves / 10 && turned > 0);
    free(fresh);
}

static void loads_stay_right(void **state)
{
    (void)state;
    struct esp_random_options o;
    struct espi_rng rng;
    esp_random_options_defaults(&o);
    o.nodes = 30;
    o.density = 0.15;
    espi_rng_seed(&rng, test_seed(3));
    for (int model = 0; model < ESP_MODEL_COUNT; model++) {
        struct esp_platform *made = NULL, *p = NULL;
        struct espi_arena arena;
        struct espi_view v;
        struct espi_tree_state s;
        o.seed = test_seed((uint64_t)model + 1);
        espi_arena_init(&arena);
        assert_int_equal(esp_generate_random(&o, &made, NULL), ESP_OK);
        assert_int_equal(esp_platform_with_model(made, (esp_model)model, &p, NULL), 0);
        assert_int_equal(espi_view_init(&v, p, 65536, &arena, NULL), ESP_OK);
        int *tree = calloc((size_t)v.g.n, sizeof *tree);
        first_tree(&v, 0, tree);
        assert_int_equal(espi_tree_state_init(&s, &v, 0, &arena), 0);
        espi_tree_state_set(&s, tree);
        random_moves(&s, &rng, 5000);
        free(tree);
        espi_arena_done(&arena);
        esp_platform_free(made);
        esp_platform_free(p);
    }
}

/* ---- brute force ---- */

struct score {
    int cases, optimal;
};

static void compare_with_best(const struct esp_platform *p, double count,
                              struct score *period, struct score *finish)
{
    struct espi_arena arena;
    struct espi_view v;
    espi_arena_init(&arena);
    assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
    struct all_trees_best best = all_trees_best(&v, 0, count);
    struct esp_plan *fast = planned(p, "refine", count);
    struct esp_plan *early = planned(p, "refine:objective=makespan", count);
    double period_s = 1 / fast->throughput_Bps;
    assert_true(period_s >= best.period_s * (1 - 1e-9));
    double early_s = closed_finish_s(p, early);
    assert_true(early_s >= best.makespan_s * (1 - 1e-9));
    assert_true(early_s <= closed_finish_s(p, fast) * (1 + 1e-9));
    period->cases++;
    finish->cases++;
    period->optimal += period_s <= best.period_s * (1 + 1e-9);
    finish->optimal += early_s <= best.makespan_s * (1 + 1e-9);
    esp_plan_free(fast);
    esp_plan_free(early);
    espi_arena_done(&arena);
}

static void small_platforms_come_out_optimal(void **state)
{
    (void)state;
    struct espi_rng rng;
    struct score period = {0, 0}, finish = {0, 0};
    espi_rng_seed(&rng, test_seed(11));
    for (int i = 0; i < test_draws(120); i++) {
        struct small_options o = {.n = 2 + i % 5,
                                  .density = 0.2 + 0.1 * (i % 7),
                                  .whole = i % 3 == 0 ? 4 : 0,
                                  .model = (esp_model)(i % 3)};
        struct esp_platform *p = small_random(&rng, &o);
        compare_with_best(p, i % 2 ? 1 : 5, &period, &finish);
        esp_platform_free(p);
    }
    assert_int_equal(period.optimal, period.cases);
    assert_true(finish.optimal >= finish.cases * 97 / 100);
}

/* ---- never worse than the start ---- */

static void no_worse_than(const struct esp_platform *p, const char *start, double count)
{
    char algo[2][100];
    snprintf(algo[0], sizeof algo[0], "refine:work=200,start=%s", start);
    snprintf(algo[1], sizeof algo[1], "refine:work=200,objective=makespan,start=%s",
             start);
    struct esp_plan *old = planned(p, start, count);
    if (!old)
        return;
    struct esp_plan *fast = planned(p, algo[0], count),
                    *best = planned(p, "refine", count);
    struct esp_plan *early = planned(p, algo[1], count);
    struct esp_plan *earliest = planned(p, "refine:objective=makespan", count);
    assert_true(fast->throughput_Bps >= old->throughput_Bps * (1 - 1e-9));
    assert_true(best->throughput_Bps >= old->throughput_Bps * (1 - 1e-9));
    double old_s = closed_finish_s(p, old) * (1 + 1e-9);
    assert_true(closed_finish_s(p, early) <= old_s);
    assert_true(closed_finish_s(p, earliest) <= old_s);
    esp_plan_free(old);
    esp_plan_free(fast);
    esp_plan_free(best);
    esp_plan_free(early);
    esp_plan_free(earliest);
}

static void nothing_gets_worse(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(5));
    for (int i = 0; i < test_draws(12); i++) {
        struct small_options o = {
            .n = 8 + i, .density = 0.3, .model = (esp_model)(i % 3)};
        struct esp_platform *p = small_random(&rng, &o);
        static const char starts[] = ESPI_STARTS;
        for (const char *at = strchr(starts, '|'); at; at = strchr(at, '|')) {
            char name[40];
            at++;
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "|"), at);
            if (espi_algo_find(name, strlen(name)))
                no_worse_than(p, name, i % 2 ? 1 : 20);
        }
        esp_platform_free(p);
    }
}

/* ---- how near the optimum of many trees ---- */

static double throughput(const struct esp_platform *p, int root, const char *algo)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    esp_request_init(&request, root);
    request.algo = algo;
    if (esp_plan_make(p, &request, &plan, NULL) != ESP_OK)
        return 0;
    double Bps = plan->throughput_Bps;
    esp_plan_free(plan);
    return Bps;
}

/* What branch and bound proved within so many steps, and where refine missed that. */
struct proofs {
    int proven, missed;
};

/* On Tiers platforms, from node 0 and from the last node, which stands in a LAN. One tree
 * cannot reach the optimum of many: the best means of such platforms are 0.80 of it with
 * 30 nodes, and 0.89 and 0.93 with 65. */
static struct proofs compare_with_proofs(const char *preset, int platforms,
                                         const char *exact)
{
    struct proofs all = {0, 0};
    for (int i = 0; i < platforms; i++) {
        struct esp_tiers_options o;
        struct esp_platform *p = NULL;
        esp_tiers_options_defaults(&o);
        assert_int_equal(esp_tiers_options_preset(&o, preset, NULL), ESP_OK);
        o.seed = test_seed((uint64_t)i + 1);
        assert_int_equal(esp_generate_tiers(&o, &p, NULL), ESP_OK);
        int roots[] = {0, esp_platform_node_count(p) - 1};
        for (int k = 0; k < 2; k++) {
            double best = throughput(p, roots[k], exact);
            if (!(best > 0))
                continue;
            double found = throughput(p, roots[k], "refine");
            assert_true(found <= best * (1 + 1e-9));
            all.proven++;
            all.missed += found < best * (1 - 1e-9);
        }
        esp_platform_free(p);
    }
    return all;
}

/* The search may miss the best tree: of 413 proofs with 65 nodes it missed one, 4 with a
 * seventh of the work, 12 with a twentieth, 33 with a sixtieth; of 800 with 30 nodes
 * none. At one miss in 413, more than three in the 80 or so proofs of a run come once in
 * 18,000 runs; at one in twelve, as with a sixtieth of the work, nine times in ten. */
static void tiers_trees_are_as_good_as_a_tree_can_be(void **state)
{
    (void)state;
    int few = test_draws(20), many = test_draws(80);
    struct proofs small = compare_with_proofs("30", few, "exact:steps=1e6");
    assert_true(small.proven >= 38 * few / 20);
    assert_int_equal(small.missed, 0);
    struct proofs large = compare_with_proofs("65", many, "exact:steps=20000");
    assert_true(large.proven >= 10 * many / 20);
    assert_true(large.missed <= 3);
}

/* ---- auto ---- */

/* The finish that the plan claims, in hnow that of the simulator, for its claims are
 * estimates; and what its messages cost beside their bytes. */
static double judged_s(const struct esp_platform *p, const char *algo, double size_bytes,
                       double slice_bytes)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    esp_request_init(&request, 0);
    request.algo = algo;
    request.size_bytes = size_bytes;
    request.slice_bytes = slice_bytes;
    if (esp_plan_make(p, &request, &plan, NULL))
        return INFINITY;
    if (slice_bytes > 0) /* what was asked for is kept */
        assert_true(plan->slice_bytes <= slice_bytes);
    double slices = espi_slices(size_bytes, plan->slice_bytes).count;
    double finish_s = esp_platform_model(p) == ESP_MODEL_HNOW
                          ? esp_judge_by_simulation(NULL, p, plan)
                          : plan->makespan_s;
    double at_s = espi_with_messages_s(p, finish_s, espi_message_s(p) * slices);
    esp_plan_free(plan);
    return at_s;
}

/* Is a plan that takes auto_s no later than one that takes at_s? A contest ends before
 * all were weighed when nobody can be earlier by more than ESPI_CONTEST_ENOUGH, which the
 * bound of mtp for the message in one piece says. */
static int is_no_later(const struct esp_platform *p, double size_bytes, double auto_s,
                       double at_s)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    if (auto_s <= at_s * (1 + 1e-9))
        return 1;
    esp_request_init(&request, 0);
    request.algo = "mtp";
    request.size_bytes = size_bytes;
    request.slice_bytes = 0;
    if (esp_plan_make(p, &request, &plan, NULL))
        return 0;
    double least_s = plan->bound_Bps > 0 ? size_bytes / plan->bound_Bps : 0;
    esp_plan_free(plan);
    return auto_s <= least_s * (1 + ESPI_CONTEST_ENOUGH) * (1 + 1e-9);
}

/* Those that auto does not weigh: they take long, or are for other ends. It does not
 * weigh itself in slices that are given: few trees are looked for in one size. */
static int is_apart(const struct espi_algo *algo)
{
    return algo->flags & ESPI_ALGO_CHOOSES || !strcmp(algo->name, "exact") ||
           !strcmp(algo->family, "redundant") || !strcmp(algo->family, "anneal");
}

/* Chunks are matched with links for slices that are given, if they are few: it takes long
 * to try several numbers of them, or many. */
static int is_weighed(const struct espi_algo *algo, double size_bytes, double slice_bytes)
{
    double bytes = slice_bytes > 0 ? slice_bytes : size_bytes;
    return strcmp(algo->family, "synthesis") != 0 ||
           (slice_bytes != ESP_SLICE_AUTO &&
            espi_slices(size_bytes, bytes).count <= ESPI_SYNTHESIS_FEW_CHUNKS);
}

static void no_later_than(const struct esp_platform *p, const struct espi_algo *algo,
                          double size_bytes, double slice_bytes, double auto_s)
{
    if (!is_weighed(algo, size_bytes, slice_bytes))
        return;
    double at_s = judged_s(p, algo->name, size_bytes, slice_bytes);
    if (!is_no_later(p, size_bytes, auto_s, at_s))
        fail_msg("%s, %g bytes in slices of %g: auto takes %.9g s, %s %.9g s",
                 esp_model_name(esp_platform_model(p)), size_bytes, slice_bytes, auto_s,
                 algo->name, at_s);
}

/* Whoever names an algorithm and no slices gets the usual ones. auto with slices left
 * open is held to these and to the message in one piece, by whatever algorithm. */
static void no_later_than_all(const struct esp_platform *p, double size_bytes)
{
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    double usual_bytes = espi_usual_slices(size_bytes, 1);
    double any_s = judged_s(p, "auto", size_bytes, ESP_SLICE_AUTO);
    double kept_s = judged_s(p, "auto", size_bytes, usual_bytes);
    double whole_s = judged_s(p, "auto", size_bytes, 0);
    for (int i = 0; i < count; i++) {
        if (is_apart(algos[i]))
            continue;
        no_later_than(p, algos[i], size_bytes, usual_bytes, kept_s);
        no_later_than(p, algos[i], size_bytes, 0, whole_s);
        no_later_than(p, algos[i], size_bytes, usual_bytes, any_s);
        no_later_than(p, algos[i], size_bytes, 0, any_s);
        no_later_than(p, algos[i], size_bytes, ESP_SLICE_AUTO, any_s);
    }
}

static void auto_is_the_best_of_all(void **state)
{
    (void)state;
    static const double sizes[] = {100, 4e6, 3e7};
    struct esp_matrix_options o;
    esp_matrix_options_defaults(&o);
    o.nodes = 12;
    for (int i = 0; i < test_draws(3 * ESP_MODEL_COUNT); i++) {
        esp_model model = (esp_model)(i % ESP_MODEL_COUNT);
        struct esp_platform *made = NULL, *p = NULL;
        o.seed = test_seed((uint64_t)model + 1);
        assert_int_equal(esp_generate_matrix(&o, &made, NULL), ESP_OK);
        assert_int_equal(esp_platform_with_model(made, model, &p, NULL), 0);
        no_later_than_all(p, sizes[i % 3]);
        esp_platform_free(made);
        esp_platform_free(p);
    }
}

_Static_assert(ESP_MODEL_COUNT % 3 != 0, "every model meets every size above");

/* Messages too long to be played to their end where they are weighed. */
static void auto_is_the_best_for_long_messages(void **state)
{
    (void)state;
    struct esp_random_options o;
    esp_random_options_defaults(&o);
    o.nodes = 12;
    o.density = 0.15;
    for (int i = 0; i < test_draws(12); i++) {
        struct esp_platform *made = NULL, *p = NULL;
        o.seed = test_seed((uint64_t)i + 1);
        assert_int_equal(esp_generate_random(&o, &made, NULL), ESP_OK);
        assert_int_equal(esp_platform_with_model(made, (esp_model)(i % 3), &p, NULL), 0);
        double any_s = judged_s(p, "auto", 1e9, ESP_SLICE_AUTO);
        assert_true(is_no_later(p, 1e9, any_s, judged_s(p, "mtp", 1e9, ESP_SLICE_AUTO)));
        assert_true(is_no_later(p, 1e9, any_s, judged_s(p, "grow", 1e9, ESP_SLICE_AUTO)));
        esp_platform_free(made);
        esp_platform_free(p);
    }
}

/* With latency, neither tiny slices nor the whole message are best. */
static void auto_chooses_slices(void **state)
{
    (void)state;
    struct esp_sites_options o;
    struct esp_platform *p = NULL;
    struct esp_request request;
    esp_sites_options_defaults(&o);
    assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
    esp_request_init(&request, 0);
    assert_string_equal(request.algo, "auto");
    double last_bytes = 0;
    for (double size = 1e3; size < 1e9; size *= 100) {
        struct esp_plan *plan = NULL;
        request.size_bytes = size;
        assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
        assert_true(size < 1e6 || plan->slice_bytes < size);
        last_bytes = plan->slice_bytes;
        esp_plan_free(plan);
    }
    assert_true(last_bytes > 65536);
    esp_platform_free(p);
}

/* ---- the same seed, the same plan ---- */

static void seeds_decide(void **state)
{
    (void)state;
    struct esp_random_options o;
    struct esp_platform *p = NULL;
    esp_random_options_defaults(&o);
    o.nodes = 40;
    o.seed = test_seed(1);
    o.density = 0.2;
    assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
    static const char *const algos[] = {"refine", "refine:objective=makespan", "auto"};
    for (int i = 0; i < 3; i++) {
        size_t length[2];
        char *text[2];
        for (int k = 0; k < 2; k++) {
            struct esp_plan *plan = planned(p, algos[i], 1e6);
            text[k] = plan_json(plan, p, &length[k]);
            esp_plan_free(plan);
        }
        assert_int_equal(length[0], length[1]);
        assert_memory_equal(text[0], text[1], length[0]);
        free(text[0]);
        free(text[1]);
    }
    esp_platform_free(p);
}

/* ---- time in place of work ---- */

static void a_time_budget_is_kept(void **state)
{
    (void)state;
    struct esp_hub_options o;
    struct esp_platform *p = NULL;
    struct esp_request request;
    esp_hub_options_defaults(&o);
    o.nodes = 60;
    o.seed = test_seed(1);
    assert_int_equal(esp_generate_hub(&o, &p, NULL), ESP_OK);
    esp_request_init(&request, 0);
    request.algo = "refine:objective=makespan";
    request.budget_s = 0.05;
    struct esp_plan *plan = NULL;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    assert_true(plan->plan_s >= 0.04); /* it does use it */
    esp_plan_free(plan);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_stay_right),
        cmocka_unit_test(small_platforms_come_out_optimal),
        cmocka_unit_test(nothing_gets_worse),
        cmocka_unit_test(tiers_trees_are_as_good_as_a_tree_can_be),
        cmocka_unit_test(auto_is_the_best_of_all),
        cmocka_unit_test(auto_is_the_best_for_long_messages),
        cmocka_unit_test(auto_chooses_slices),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(a_time_budget_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
