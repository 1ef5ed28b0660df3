/* Redundant plans: the paper's example, a naive reading of the rules, disjointness. */
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

#include "algo/redundant/feeders.h"
#include "platform/platform.h"
#include "support/plans.h"
#include "support/races.h"
#include "support/seed.h"
#include "support/small_platform.h"

/* The transfers of a tree with the times at which they are over, senders working through
 * them in order: "01@2 02@5". */
static void tree_text(const struct esp_plan *plan, const struct esp_platform *p, int t,
                      char *out)
{
    double ready[16] = {0};
    *out = '\0';
    for (int i = 0; i < plan->trees[t].n_edges; i++) {
        const struct esp_edge *e = &plan->trees[t].edges[i];
        int link = plan->trees[t].hops[e->first_hop];
        ready[e->from] += p->latency_s[link];
        ready[e->to] = ready[e->from];
        out += sprintf(out, "%s%d%d@%g", i ? " " : "", e->from, e->to, ready[e->to]);
    }
}

static void the_papers_example(void **state)
{
    (void)state;
    struct esp_platform *p = race_example(0);
    struct esp_plan *plan = plan_made(p, "two-tree", 0);
    char text[256];
    assert_int_equal(plan->n_trees, 2);
    assert_true(plan->redundant && plan->patience == 0);
    tree_text(plan, p, 0, text);
    assert_string_equal(text, "01@2 02@5 13@5 24@8 35@9");
    tree_text(plan, p, 1, text);
    assert_string_equal(text, "03@6 34@11 05@14 41@17 32@18");
    assert_true(plan->makespan_s == 9);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* ---- the rules once more, as naively as can be ---- */

struct naive {
    const struct esp_platform *p; /* no switches: node = host, link = arc */
    int *use;                     /* link: 0 free, 1 reverse of a used one, 2 used */
    double *free_s;               /* node: through with the trees so far */
};

static int allowed(const struct naive *x, const unsigned char *has, int link, int level)
{
    return x->use[link] <= level && has[x->p->tail[link]] && !has[x->p->head[link]];
}

static int naive_next(struct naive *x, int root, int aware, int *links)
{
    const struct esp_platform *p = x->p;
    unsigned char has[64] = {0};
    double ready[64] = {0};
    int count = 0;
    has[root] = 1;
    ready[root] = aware ? x->free_s[root] : 0;
    for (int level = 0; level < 2; level++)
        for (;;) {
            int best = -1;
            for (int e = 0; e < p->n_links; e++) {
                if (!allowed(x, has, e, level))
                    continue;
                double a = ready[p->tail[e]] + p->latency_s[e];
                double b =
                    best < 0 ? INFINITY : ready[p->tail[best]] + p->latency_s[best];
                if (a < b || (a == b && p->tail[e] < p->tail[best]) ||
                    (a == b && p->tail[e] == p->tail[best] &&
                     (p->latency_s[e] < p->latency_s[best] ||
                      (p->latency_s[e] == p->latency_s[best] &&
                       p->head[e] < p->head[best]))))
                    best = e;
            }
            if (best < 0)
                break;
            int u = p->tail[best], v = p->head[best];
            ready[u] += p->latency_s[best];
            ready[v] = aware ? fmax(ready[u], x->free_s[v]) : ready[u];
            has[v] = 1;
            links[count++] = best;
        }
    for (int v = 0; v < p->n_nodes; v++) {
        int best = -1;
        for (int e = 0; e < p->n_links && !has[v]; e++)
            if (p->head[e] == v && x->use[e] < 2 &&
                (best < 0 || x->use[e] < x->use[best] ||
                 (x->use[e] == x->use[best] && p->latency_s[e] < p->latency_s[best])))
                best = e;
        if (best >= 0)
            links[count++] = best;
    }
    return count;
}

static void naive_use(struct naive *x, const int *links, int count)
{
    const struct esp_platform *p = x->p;
    for (int i = 0; i < count; i++) {
        int e = links[i], back = esp_platform_find_link(p, p->head[e], p->tail[e]);
        double *from_s = &x->free_s[p->tail[e]];
        x->use[e] = 2;
        if (back >= 0 && x->use[back] == 0)
            x->use[back] = 1;
        *from_s += p->latency_s[e];
        x->free_s[p->head[e]] = fmax(x->free_s[p->head[e]], *from_s);
    }
}

static void check_against_naive(const struct esp_platform *p, const char *algo, int aware)
{
    struct esp_plan *plan = plan_made(p, algo, 0);
    int use[1024] = {0}, links[64];
    double free_s[64] = {0};
    struct naive x = {p, use, free_s};
    assert_true(p->n_links <= 1024 && p->n_nodes <= 64);
    for (int t = 0; t < plan->n_trees; t++) {
        const struct esp_tree *tree = &plan->trees[t];
        int count = t || strstr(algo, "base") ? tree->n_edges : p->n_nodes - 1;
        if (t || !strstr(algo, "base"))
            count = naive_next(&x, 0, aware && t, links);
        else
            memcpy(links, tree->hops, (size_t)count * sizeof *links);
        assert_int_equal(count, tree->n_edges);
        for (int i = 0; i < count; i++)
            if (tree->hops[tree->edges[i].first_hop] != links[i])
                fail_msg("%s: tree %d, transfer %d is not the naive one", algo, t, i);
        naive_use(&x, links, count);
    }
    if (plan->n_trees < (strstr(algo, "trees=4") ? 4 : 2))
        assert_int_equal(naive_next(&x, 0, aware, links), 0);
    esp_plan_free(plan);
}

static void trees_are_those_of_the_rules(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(5));
    for (int k = 0; k < 400; k++) {
        struct small_options o = {
            .n = 2 + k % 11, .density = 0.1 * (k % 12), .whole = k % 3 ? 0 : 4};
        struct esp_platform *p = small_random(&rng, &o);
        check_against_naive(p, "two-tree", 0);
        check_against_naive(p, "two-tree:trees=4", 0);
        check_against_naive(p, "two-tree:aware=1,trees=4", 1);
        check_against_naive(p, "two-tree:base=look-ahead,trees=4", 0);
        check_against_naive(p, "patient:base=fef", 0);
        esp_platform_free(p);
    }
}

/* ---- what must hold of every plan ---- */

static void no_link_is_used_twice(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(9));
    for (int k = 0; k < 200; k++) {
        struct small_options o = {.n = 3 + k % 20, .density = 0.3 * (k % 4)};
        struct esp_platform *p = small_random(&rng, &o);
        struct esp_plan *plan = plan_made(p, k % 2 ? "patient" : "two-tree:trees=3", 0);
        unsigned char used[1024] = {0};
        assert_int_equal(esp_plan_check(plan, p, NULL), ESP_OK);
        for (int t = 0; t < plan->n_trees; t++)
            for (int h = 0; h < plan->trees[t].n_hops; h++)
                assert_int_equal(used[plan->trees[t].hops[h]]++, 0);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

static void the_first_tree_is_that_of_the_base(void **state)
{
    (void)state;
    static const char *const names[] = {"ecef", "fef", "look-ahead", "mateescu"};
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(3));
    for (int k = 0; k < 40; k++) {
        struct small_options o = {.n = 4 + k % 6, .density = 0.5};
        struct esp_platform *p = small_random(&rng, &o);
        char a[256], b[256], algo[64];
        snprintf(algo, sizeof algo, "two-tree:base=%s", names[k % 4]);
        struct esp_plan *one = plan_made(p, names[k % 4], 0),
                        *two = plan_made(p, algo, 0);
        plan_text(one, a);
        plan_text(two, b);
        assert_string_equal(a, b);
        assert_true(one->makespan_s == two->makespan_s);
        assert_true(one->throughput_Bps == two->throughput_Bps);
        esp_plan_free(one);
        esp_plan_free(two);
        esp_platform_free(p);
    }
}

/* The root is so fast that the first tree is a star: nothing leads on from the root. */
static void a_flat_first_tree_leaves_everybody_a_second_sender(void **state)
{
    (void)state;
    struct small_arc arcs[20];
    int m = 0;
    for (int u = 0; u < 5; u++)
        for (int v = 0; v < 5; v++)
            if (u != v)
                arcs[m++] = (struct small_arc){u, v, u == 0 ? 1 : 100 + 10 * u + v};
    struct esp_platform *p = small_platform(ESP_MODEL_ONE_PORT, 5, arcs, m);
    struct esp_plan *plan = plan_made(p, "two-tree", 0);
    char text[256];
    assert_int_equal(plan->n_trees, 2);
    tree_text(plan, p, 0, text);
    assert_string_equal(text, "01@1 02@2 03@3 04@4");
    static const int from[] = {2, 1, 1, 1};
    assert_int_equal(plan->trees[1].n_edges, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(plan->trees[1].edges[i].from, from[i]);
        assert_int_equal(plan->trees[1].edges[i].to, i + 1);
    }
    esp_plan_free(plan);
    esp_platform_free(p);
    /* Where the leaves are not joined there is no second way in at all. */
    p = small_platform(ESP_MODEL_ONE_PORT, 5, arcs, 4);
    plan = plan_made(p, "two-tree", 0);
    assert_int_equal(plan->n_trees, 1);
    assert_true(plan->redundant);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* Many receivers of one sender, so that its arcs get sorted; and ties. */
static void the_kernel_grows_the_trees_of_ecef(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(11));
    for (int k = 0; k < 60; k++) {
        struct small_options o = {.n = 2 + 3 * (k % 20),
                                  .density = k % 3 ? 0.2 * (k % 6) : 0,
                                  .whole = k % 2 ? 3 : 0};
        struct esp_platform *p = small_random(&rng, &o);
        struct esp_plan *plan = plan_made(p, "ecef", 0);
        struct espi_arena arena;
        struct espi_digraph g;
        struct espi_feeders f;
        int chosen[64];
        espi_arena_init(&arena);
        assert_int_equal(
            espi_digraph_init(&g, p->n_nodes, p->n_links, p->tail, p->head, &arena), 0);
        assert_int_equal(espi_feeders_init(&f, &g, &arena), 0);
        for (int again = 0; again < 2; again++) { /* the work space is as new */
            espi_feeders_start(&f, 0, p->latency_s, p->latency_s);
            assert_int_equal(espi_feeders_first(&f, chosen), p->n_nodes - 1);
            assert_memory_equal(chosen, plan->trees[0].hops,
                                (size_t)(p->n_nodes - 1) * sizeof *chosen);
        }
        espi_arena_done(&arena);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

static void a_star_of_many_is_sorted(void **state)
{
    (void)state;
    enum { N = 200 };
    struct small_arc arcs[N];
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(2));
    for (int v = 1; v < N; v++)
        arcs[v - 1] = (struct small_arc){0, v, 1 + espi_rng_below(&rng, 90)};
    struct esp_platform *p = small_platform(ESP_MODEL_ONE_PORT, N, arcs, N - 1);
    struct espi_arena arena;
    struct espi_digraph g;
    struct espi_feeders f;
    int chosen[N];
    espi_arena_init(&arena);
    assert_int_equal(
        espi_digraph_init(&g, p->n_nodes, p->n_links, p->tail, p->head, &arena), 0);
    assert_int_equal(espi_feeders_init(&f, &g, &arena), 0);
    espi_feeders_start(&f, 0, p->latency_s, p->latency_s);
    assert_int_equal(espi_feeders_first(&f, chosen), N - 1);
    for (int i = 1; i < N - 1; i++) {
        double a = p->latency_s[chosen[i - 1]], b = p->latency_s[chosen[i]];
        assert_true(a < b || (a == b && p->head[chosen[i - 1]] < p->head[chosen[i]]));
    }
    espi_arena_done(&arena);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_example),
        cmocka_unit_test(trees_are_those_of_the_rules),
        cmocka_unit_test(no_link_is_used_twice),
        cmocka_unit_test(the_first_tree_is_that_of_the_base),
        cmocka_unit_test(a_flat_first_tree_leaves_everybody_a_second_sender),
        cmocka_unit_test(the_kernel_grows_the_trees_of_ecef),
        cmocka_unit_test(a_star_of_many_is_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
