/* The pipelined heuristics against the vectors of the definition, against readings of it
 * that search from scratch, and against brute force. */
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
#include "algo/pipelined/arc_order.h"
#include "algo/pipelined/grow.h"
#include "algo/pipelined/pruner.h"
#include "graph/reach.h"
#include "support/all_trees.h"
#include "support/alloc_fail.h"
#include "support/seed.h"
#include "support/small_platform.h"

static const struct small_arc v1[] = {{0, 1, 1}, {0, 2, 1}, {1, 2, 2}, {2, 1, 2}};
static const struct small_arc v2[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {1, 3, 3.5}};
static const struct small_arc v3[] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 3}, {2, 0, 3},
                                      {0, 3, 4}, {3, 0, 4}, {1, 2, 2}, {2, 1, 2},
                                      {1, 4, 5}, {4, 1, 5}, {2, 3, 1}, {3, 2, 1},
                                      {2, 4, 2}, {4, 2, 2}, {3, 4, 3}, {4, 3, 3}};
#define VECTOR(arcs) arcs, sizeof(arcs) / sizeof *(arcs)

static struct esp_plan *planned(const struct esp_platform *p, const char *algo)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err = {0};
    esp_request_init(&request, 0);
    request.algo = algo;
    request.slice_bytes = 1;
    request.size_bytes = 100;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s: %s", algo, err.text);
    return plan;
}

/* One-digit nodes, sorted: "01 12 23". */
static void tree_text(const struct esp_plan *plan, char *out)
{
    char seen[10][10] = {{0}};
    for (int i = 0; i < plan->trees[0].n_edges; i++)
        seen[plan->trees[0].edges[i].from][plan->trees[0].edges[i].to] = 1;
    for (int u = 0; u < 10; u++)
        for (int v = 0; v < 10; v++)
            if (seen[u][v])
                out += sprintf(out, "%d%d ", u, v);
    out[-1] = '\0';
}

static const struct {
    const struct small_arc *arcs;
    size_t m;
    int n;
    esp_model model;
    const char *algo, *tree;
    double period_s;
} vectors[] = {
    {VECTOR(v1), 3, ESP_MODEL_ONE_PORT, "prune-simple", "01 02", 2},
    {VECTOR(v1), 3, ESP_MODEL_ONE_PORT, "prune-degree", "02 21", 2},
    {VECTOR(v1), 3, ESP_MODEL_ONE_PORT, "grow", "01 02", 2},
    {VECTOR(v2), 4, ESP_MODEL_ONE_PORT, "grow", "01 02 03", 3},
    {VECTOR(v2), 4, ESP_MODEL_ONE_PORT, "grow:update=correct", "01 02 03", 3},
    {VECTOR(v2), 4, ESP_MODEL_ONE_PORT, "grow:update=printed", "01 02 13", 3.5},
    {VECTOR(v3), 5, ESP_MODEL_ONE_PORT, "prune-simple", "01 12 23 24", 3},
    {VECTOR(v3), 5, ESP_MODEL_ONE_PORT, "prune-degree", "01 12 23 24", 3},
    {VECTOR(v3), 5, ESP_MODEL_ONE_PORT, "grow", "01 12 23 24", 3},
    {VECTOR(v3), 5, ESP_MODEL_MULTI_PORT, "multiport-grow", "01 12 23 24", 2},
    {VECTOR(v3), 5, ESP_MODEL_MULTI_PORT, "multiport-prune-degree", "01 12 23 24", 2},
};

static void the_vectors_come_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct esp_platform *p = small_platform(vectors[i].model, vectors[i].n,
                                                vectors[i].arcs, (int)vectors[i].m);
        struct esp_plan *plan = planned(p, vectors[i].algo);
        char text[64];
        tree_text(plan, text);
        assert_string_equal(text, vectors[i].tree);
        assert_float_equal(1 / plan->throughput_Bps, vectors[i].period_s, 1e-12);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* ---- a view with an arena ---- */

struct scene {
    struct espi_arena arena;
    struct esp_platform *p;
    struct espi_view v;
};

static void scene_open(struct scene *s, struct esp_platform *p)
{
    s->p = p;
    espi_arena_init(&s->arena);
    assert_int_equal(espi_view_init(&s->v, p, 1, &s->arena, NULL), ESP_OK);
}

static void scene_close(struct scene *s)
{
    espi_arena_done(&s->arena);
    esp_platform_free(s->p);
}

static struct espi_pruner pruned(struct scene *s, espi_out_load_fn load)
{
    struct espi_pruner p;
    assert_int_equal(espi_pruner_init(&p, &s->v.g, 0, &s->arena), 0);
    if (load)
        assert_int_equal(espi_prune_by_load(&p, &s->v, load, &s->arena), 0);
    else
        espi_prune_in_order(&p, espi_arcs_by_time(&s->v, ESPI_SLOW_FIRST, &s->arena));
    return p;
}

static void deletions_are(struct scene *s, espi_out_load_fn load, const char *order)
{
    struct espi_pruner p = pruned(s, load);
    char text[128], *at = text;
    for (int i = 0; i < p.n_removed; i++)
        at += sprintf(at, "%s%d%d", i ? " " : "", s->v.g.tail[p.removed[i]],
                      s->v.g.head[p.removed[i]]);
    assert_string_equal(text, order);
}

static void deletions_come_in_the_given_order(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, small_platform(ESP_MODEL_ONE_PORT, 5, v3, 16));
    deletions_are(&s, NULL, "14 41 03 30 02 20 34 43 10 21 42 32");
    deletions_are(&s, espi_out_load_sum_s, "41 03 14 20 30 02 21 43 10 34 42 32");
    scene_close(&s);
}

/* ---- the definitions, read naively ---- */

struct naive {
    struct scene *s;
    unsigned char *left, *fixed, *seen;
    int *order, *removed, n_removed;
};

static void naive_open(struct naive *w, struct scene *s)
{
    struct espi_arena *a = &s->arena;
    int m = s->v.g.m, n = s->v.g.n;
    *w = (struct naive){.s = s};
    w->left = ESPI_ARENA_NEW(a, unsigned char, m);
    w->fixed = ESPI_ARENA_ZNEW(a, unsigned char, m);
    w->seen = ESPI_ARENA_NEW(a, unsigned char, n);
    w->order = ESPI_ARENA_NEW(a, int, n);
    w->removed = ESPI_ARENA_NEW(a, int, m);
    memset(w->left, 1, (size_t)m);
}

static int naive_remove(struct naive *w, int e)
{
    const struct espi_digraph *g = &w->s->v.g;
    w->left[e] = 0;
    if (espi_reach(g, 0, w->left, w->seen, w->order) == g->n) {
        w->removed[w->n_removed++] = e;
        return 1;
    }
    w->left[e] = 1;
    w->fixed[e] = 1;
    return 0;
}

/* Is arc a before b by (time descending, tail, head)? */
static int slower(const struct espi_view *v, int a, int b)
{
    if (v->time_s[a] != v->time_s[b])
        return v->time_s[a] > v->time_s[b];
    if (v->g.tail[a] != v->g.tail[b])
        return v->g.tail[a] < v->g.tail[b];
    return v->g.head[a] < v->g.head[b];
}

static void naive_prune_simple(struct naive *w)
{
    const struct espi_view *v = &w->s->v;
    for (;;) {
        int next = -1;
        for (int e = 0; e < v->g.m; e++)
            if (w->left[e] && !w->fixed[e] && (next < 0 || slower(v, e, next)))
                next = e;
        if (next < 0)
            return;
        naive_remove(w, next);
    }
}

/* The sender's load; sum_s is what subtraction left of it. */
static double naive_load_s(const struct naive *w, int u, int multiport,
                           const double *sum_s)
{
    const struct espi_view *v = &w->s->v;
    double slowest_s = 0;
    int degree = 0;
    for (int e = 0; e < v->g.m; e++)
        if (w->left[e] && v->g.tail[e] == u) {
            slowest_s = fmax(slowest_s, v->time_s[e]);
            degree++;
        }
    return multiport ? fmax(degree * v->send_s[u], slowest_s) : sum_s[u];
}

/* The first arc that goes when senders are tried by load; -1: none. */
static int naive_prune_one(struct naive *w, int multiport, double *sum_s)
{
    const struct espi_view *v = &w->s->v;
    unsigned char *tried = calloc((size_t)v->g.n, 1);
    for (int round = 0; round < v->g.n; round++) {
        int u = -1;
        for (int h = 0; h < v->g.n; h++)
            if (!tried[h] && (u < 0 || naive_load_s(w, h, multiport, sum_s) >
                                           naive_load_s(w, u, multiport, sum_s)))
                u = h;
        tried[u] = 1;
        for (;;) {
            int next = -1;
            for (int e = 0; e < v->g.m; e++)
                if (w->left[e] && !w->fixed[e] && v->g.tail[e] == u &&
                    (next < 0 || slower(v, e, next)))
                    next = e;
            if (next < 0)
                break;
            if (naive_remove(w, next)) {
                sum_s[u] -= v->time_s[next];
                free(tried);
                return next;
            }
        }
    }
    free(tried);
    return -1;
}

static void naive_prune_degree(struct naive *w, int multiport)
{
    const struct espi_view *v = &w->s->v;
    double *sum_s = ESPI_ARENA_ZNEW(&w->s->arena, double, v->g.n);
    for (int e = 0; e < v->g.m; e++)
        sum_s[v->g.tail[e]] += v->time_s[e];
    while (naive_prune_one(w, multiport, sum_s) >= 0)
        continue;
}

enum grow_kind { GROW_CORRECT, GROW_PRINTED, GROW_MULTIPORT };

static void naive_grow(struct scene *s, enum grow_kind kind, int *parent_arc)
{
    const struct espi_view *v = &s->v;
    struct espi_arena *a = &s->arena;
    double *load_s = ESPI_ARENA_ZNEW(a, double, v->g.n);
    double *slowest_s = ESPI_ARENA_ZNEW(a, double, v->g.n);
    int *kids = ESPI_ARENA_ZNEW(a, int, v->g.n);
    unsigned char *in = ESPI_ARENA_ZNEW(a, unsigned char, v->g.n);
    in[0] = 1;
    parent_arc[0] = -1;
    for (int i = 1; i < v->g.n; i++) {
        int best = -1;
        double best_s = 0;
        for (int e = 0; e < v->g.m; e++) {
            int u = v->g.tail[e];
            if (!in[u] || in[v->g.head[e]])
                continue;
            double t = v->time_s[e], cost_s = load_s[u] + t;
            if (kind == GROW_MULTIPORT)
                cost_s = fmax((kids[u] + 1) * v->send_s[u], fmax(t, slowest_s[u]));
            int tie = best >= 0 && cost_s == best_s;
            if (tie && t == v->time_s[best]
                    ? slower(v, e, best)
                    : best < 0 || cost_s < best_s || (tie && t < v->time_s[best])) {
                best = e;
                best_s = cost_s;
            }
        }
        int u = v->g.tail[best];
        load_s[u] += kind == GROW_PRINTED ? best_s : v->time_s[best];
        slowest_s[u] = fmax(slowest_s[u], v->time_s[best]);
        kids[u]++;
        in[v->g.head[best]] = 1;
        parent_arc[v->g.head[best]] = best;
    }
}

/* ---- fast and naive agree ---- */

static struct esp_platform *random_platform(struct espi_rng *rng, int max_n)
{
    static const int whole[] = {0, 1, 3, 20};
    struct small_options o = {
        .n = 2 + (int)espi_rng_below(rng, (uint32_t)max_n - 1),
        .model = ESP_MODEL_MULTI_PORT, /* so that there are send overheads */
    };
    o.density = espi_rng_uniform(rng);
    o.density *= espi_rng_uniform(rng);
    o.whole = whole[espi_rng_below(rng, 4)];
    return small_random(rng, &o);
}

static void same_pruning(struct scene *s, const struct naive *w, espi_out_load_fn load)
{
    struct espi_pruner p = pruned(s, load);
    /* The naive reading goes on to test all; the fast one stops at a tree. */
    assert_int_equal(p.n_removed, w->n_removed);
    assert_memory_equal(p.removed, w->removed, (size_t)p.n_removed * sizeof *p.removed);
    for (int h = 1; h < s->v.g.n; h++)
        assert_true(w->left[p.parent_arc[h]] && s->v.g.head[p.parent_arc[h]] == h);
}

static void pruning_is_as_defined(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(21));
    for (int round = 0; round < 1500; round++) {
        struct scene s;
        struct naive w;
        scene_open(&s, random_platform(&rng, round % 50 ? 10 : 40));
        naive_open(&w, &s);
        naive_prune_simple(&w);
        same_pruning(&s, &w, NULL);
        naive_open(&w, &s);
        naive_prune_degree(&w, 0);
        same_pruning(&s, &w, espi_out_load_sum_s);
        naive_open(&w, &s);
        naive_prune_degree(&w, 1);
        same_pruning(&s, &w, espi_out_load_multiport_s);
        scene_close(&s);
    }
}

static void growing_is_as_defined(void **state)
{
    (void)state;
    static const struct espi_grow_rule *const rules[] = {
        &espi_grow_correct, &espi_grow_printed, &espi_grow_multiport};
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(22));
    for (int round = 0; round < 3000; round++) {
        struct scene s;
        int fast[60], naive[60];
        scene_open(&s, random_platform(&rng, round % 10 ? 12 : 60));
        for (enum grow_kind k = GROW_CORRECT; k <= GROW_MULTIPORT; k++) {
            assert_int_equal(espi_grow_tree(&s.v, 0, rules[k], &s.arena, fast, NULL), 0);
            naive_grow(&s, k, naive);
            assert_memory_equal(fast, naive, (size_t)s.v.g.n * sizeof *fast);
        }
        scene_close(&s);
    }
}

/* ---- against brute force, in every model ---- */

static const char *const algos[] = {"prune-simple",   "prune-degree",
                                    "grow",           "grow:update=printed",
                                    "multiport-grow", "multiport-prune-degree"};

static void never_better_than_the_best_tree(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(23));
    int met = 0;
    for (int round = 0; round < 300; round++) {
        struct small_options o = {.n = 2 + (int)espi_rng_below(&rng, 5),
                                  .whole = round % 2 ? 4 : 0,
                                  .model = (esp_model)(round % ESP_MODEL_COUNT)};
        o.density = espi_rng_uniform(&rng);
        struct scene s;
        scene_open(&s, small_random(&rng, &o));
        double best_s = all_trees_best(&s.v, 0, 0).period_s;
        int n_algos = o.model == ESP_MODEL_MULTI_PORT ? 6 : 4;
        for (int i = 0; i < n_algos; i++) {
            struct esp_plan *plan = planned(s.p, algos[i]);
            assert_true(1 / plan->throughput_Bps >= best_s * (1 - 1e-12));
            met += 1 / plan->throughput_Bps <= best_s * (1 + 1e-12);
            esp_plan_free(plan);
        }
        scene_close(&s);
    }
    assert_true(met > 300); /* and often as good */
}

static void the_enumerator_counts_right(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, small_platform(ESP_MODEL_ONE_PORT, 5, v3, 16));
    struct all_trees_best best = all_trees_best(&s.v, 0, 3);
    assert_int_equal(best.n_trees, 45);
    assert_true(best.period_s == 3);
    scene_close(&s);
    scene_open(&s, small_platform(ESP_MODEL_ONE_PORT, 3, v1, 4));
    best = all_trees_best(&s.v, 0, 0);
    assert_int_equal(best.n_trees, 3);
    assert_true(best.period_s == 2);
    scene_close(&s);
}

/* ---- as published: the simple pruning is the worst of the three ---- */

/* The mean of so many is above 1 by five of its standard errors or more: on 10 nodes grow
 * gets 1.15 of what prune-simple does, with a deviation of 0.28. */
enum { PLATFORMS = 100 };

static double mean_throughput(const char *algo, int n)
{
    double sum = 0;
    for (uint64_t seed = 1; seed <= PLATFORMS; seed++) {
        struct esp_random_options o;
        struct esp_platform *p = NULL;
        esp_random_options_defaults(&o);
        o.nodes = n;
        o.density = 0.04 * (double)(1 + seed % 5);
        o.seed = test_seed(seed);
        assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
        struct esp_plan *plan = planned(p, algo), *base = planned(p, "prune-simple");
        sum += plan->throughput_Bps / base->throughput_Bps;
        esp_plan_free(plan);
        esp_plan_free(base);
        esp_platform_free(p);
    }
    return sum / PLATFORMS;
}

static void the_refined_ones_beat_the_simple_one(void **state)
{
    (void)state;
    for (int n = 10; n <= 50; n += 20) {
        assert_true(mean_throughput("prune-degree", n) > 1);
        assert_true(mean_throughput("grow", n) > 1);
    }
}

static void multiport_ones_want_that_model(void **state)
{
    (void)state;
    struct esp_platform *p = small_platform(ESP_MODEL_ONE_PORT, 5, v3, 16);
    struct esp_request request;
    struct esp_plan *plan = NULL;
    esp_request_init(&request, 0);
    for (int i = 4; i < 6; i++) {
        request.algo = algos[i];
        assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_EUNSUPPORTED);
        assert_null(plan);
    }
    esp_platform_free(p);
}

static struct esp_plan *in_slices(const struct esp_platform *p, const char *algo,
                                  int slices)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    esp_request_init(&request, 0);
    request.algo = algo;
    request.slice_bytes = 65536;
    request.size_bytes = 65536.0 * slices;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    return plan;
}

static void same_trees(const struct esp_plan *a, const struct esp_plan *b)
{
    assert_int_equal(a->n_trees, b->n_trees);
    for (int t = 0; t < a->n_trees; t++) {
        assert_true(a->trees[t].weight == b->trees[t].weight);
        assert_int_equal(a->trees[t].n_edges, b->trees[t].n_edges);
        for (int i = 0; i < a->trees[t].n_edges; i++)
            assert_memory_equal(&a->trees[t].edges[i], &b->trees[t].edges[i],
                                sizeof a->trees[t].edges[i]);
    }
}

/* What says that its trees hang on the size of slices only is as good as its word. */
static void so_many_slices_the_same_trees(void **state)
{
    (void)state;
    int count, said = 0;
    const struct espi_algo *const *all = espi_algos(&count);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct esp_random_options o;
        struct esp_platform *p;
        esp_random_options_defaults(&o);
        o.nodes = 12;
        o.density = 0.3;
        o.seed = test_seed(seed);
        assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
        for (int i = 0; i < count; i++) {
            if (!all[i]->by_slice || !espi_algo_applies(all[i], p))
                continue;
            struct esp_plan *one = in_slices(p, all[i]->name, 1);
            struct esp_plan *many = in_slices(p, all[i]->name, 512);
            same_trees(one, many);
            esp_plan_free(one);
            esp_plan_free(many);
            said++;
        }
        esp_platform_free(p);
    }
    assert_true(said >= 4 * 5);
}

struct attempt {
    struct esp_platform *p;
    const char *algo;
};

static esp_status attempt(void *arg)
{
    const struct attempt *a = arg;
    struct esp_request request;
    struct esp_plan *plan = NULL;
    esp_request_init(&request, 0);
    request.algo = a->algo;
    esp_status st = esp_plan_make(a->p, &request, &plan, NULL);
    esp_plan_free(plan);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct attempt a = {small_platform(ESP_MODEL_MULTI_PORT, 5, v3, 16), NULL};
    for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
        a.algo = algos[i];
        assert_true(alloc_fail_each(attempt, &a) > 3);
    }
    esp_platform_free(a.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_come_out),
        cmocka_unit_test(deletions_come_in_the_given_order),
        cmocka_unit_test(pruning_is_as_defined),
        cmocka_unit_test(growing_is_as_defined),
        cmocka_unit_test(never_better_than_the_best_tree),
        cmocka_unit_test(the_enumerator_counts_right),
        cmocka_unit_test(the_refined_ones_beat_the_simple_one),
        cmocka_unit_test(multiport_ones_want_that_model),
        cmocka_unit_test(so_many_slices_the_same_trees),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
