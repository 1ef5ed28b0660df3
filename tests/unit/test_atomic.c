/* The heuristics for one message against the vectors of the definitions, against naive
 * readings of them, and against brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include <espalier/espalier.h>

#include "algo/algo.h"
#include "support/pace.h"
#include "support/all_trees.h"
#include "support/plans.h"
#include "support/seed.h"
#include "support/small_platform.h"

enum { MAX_N = 9 };

/* ---- vectors ---- */

static const double b1[] = {0,   156, 325, 39,  156, 0,   163, 115,
                            325, 163, 0,   257, 39,  115, 257, 0};
static const double b2[] = {0, 5, 6, 9, 4, 5, 0, 1, 8, 3, 7, 2, 0,
                            2, 6, 9, 8, 2, 0, 1, 4, 9, 9, 9, 0};

static struct esp_platform *from_matrix(int n, const double *time_s)
{
    struct small_arc arcs[MAX_N * MAX_N];
    int m = 0;
    for (int u = 0; u < n; u++)
        for (int v = 0; v < n; v++)
            if (u != v)
                arcs[m++] = (struct small_arc){u, v, time_s[u * n + v]};
    return small_platform(ESP_MODEL_ONE_PORT, n, arcs, m);
}

static const struct {
    const double *matrix;
    int n;
    const char *algo, *sends;
    double makespan_s;
} vectors[] = {
    {b1, 4, "fef", "03 31 12", 317},
    {b1, 4, "ecef", "03 31 12", 317},
    {b1, 4, "look-ahead", "03 31 12", 317},
    {b1, 4, "look-ahead:variant=min", "03 31 12", 317},
    {b1, 4, "look-ahead:variant=avg", "03 31 12", 317},
    {b1, 4, "look-ahead:variant=set", "03 31 12", 317},
    {b1, 4, "fnf", "03 31 02", 364},
    {b1, 4, "spoc", "01 03 12", 319},
    {b1, 4, "binomial", "02 01 23", 582},
    {b1, 4, "chain", "01 12 23", 576},
    {b1, 4, "flat", "01 02 03", 520},
    {b2, 5, "fef", "04 01 12 23", 12},
    {b2, 5, "ecef", "04 01 12 23", 12},
    {b2, 5, "look-ahead:variant=min", "01 12 23 04", 9},
    {b2, 5, "look-ahead:variant=avg", "01 12 23 04", 9},
    {b2, 5, "look-ahead:variant=set", "02 23 34 21", 10},
    {b2, 5, "fnf", NULL, 14},
    {b2, 5, "spoc", NULL, 11},
};

static void the_vectors_come_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct esp_platform *p = from_matrix(vectors[i].n, vectors[i].matrix);
        struct esp_plan *plan = plan_made(p, vectors[i].algo, 0);
        char text[64];
        plan_text(plan, text);
        if (plan->makespan_s != vectors[i].makespan_s ||
            (vectors[i].sends && strcmp(text, vectors[i].sends)))
            fail_msg("vector %zu, %s: %s takes %g", i, vectors[i].algo, text,
                     plan->makespan_s);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* ---- binomial trees ---- */

static const struct small_arc v3[] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 3}, {2, 0, 3},
                                      {0, 3, 4}, {3, 0, 4}, {1, 2, 2}, {2, 1, 2},
                                      {1, 4, 5}, {4, 1, 5}, {2, 3, 1}, {3, 2, 1},
                                      {2, 4, 2}, {4, 2, 2}, {3, 4, 3}, {4, 3, 3}};
static const struct small_arc v4[] = {{0, 1, 1}, {1, 0, 1}, {1, 2, 1},
                                      {2, 1, 1}, {2, 3, 1}, {3, 2, 1}};

/* The period when a link that several transfers use is paid for once. */
static double set_period_s(const struct esp_platform *p, const struct esp_plan *plan)
{
    double out[MAX_N] = {0}, in[MAX_N] = {0}, most = 0;
    for (int e = 0; e < esp_platform_link_count(p); e++) {
        int used = 0;
        for (int h = 0; h < plan->trees[0].n_hops; h++)
            used |= plan->trees[0].hops[h] == e;
        double time_s = used ? esp_platform_link_time_s(p, e, 1) : 0;
        out[esp_platform_link_from(p, e)] += time_s;
        in[esp_platform_link_to(p, e)] += time_s;
    }
    for (int h = 0; h < MAX_N; h++)
        most = fmax(most, fmax(out[h], in[h]));
    return most;
}

static void check_routed(const struct small_arc *arcs, int m, int n, esp_model model,
                         const char *sends, double period_s, double set_s)
{
    struct esp_platform *p = small_platform(model, n, arcs, m);
    struct esp_plan *plan = plan_made(p, "binomial-sp", 0);
    char text[64];
    plan_text(plan, text);
    assert_string_equal(text, sends);
    assert_true(1 / load_Bps(p, plan) == period_s);
    assert_true(set_period_s(p, plan) == set_s);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void binomial_over_shortest_paths(void **state)
{
    (void)state;
    check_routed(v3, 16, 5, ESP_MODEL_ONE_PORT, "02 01 23 04", 8, 5);
    check_routed(v3, 16, 5, ESP_MODEL_MULTI_PORT, "02 01 04 23", 6, 5);
    check_routed(v4, 6, 4, ESP_MODEL_ONE_PORT, "02 01 23", 2, 1);
    /* V3: the hops are 02 twice, 01, 23 and 24. */
    struct esp_platform *p = small_platform(ESP_MODEL_ONE_PORT, 5, v3, 16);
    struct esp_plan *plan = plan_made(p, "binomial-sp", 0);
    int uses[16] = {0};
    for (int h = 0; h < plan->trees[0].n_hops; h++)
        uses[plan->trees[0].hops[h]]++;
    for (int e = 0; e < 16; e++)
        assert_int_equal(uses[e], e == 2 ? 2 : e == 0 || e == 10 || e == 12);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void binomial_is_that_of_mpich(void **state)
{
    (void)state;
    static const char *const sends[] = {
        [2] = "01",
        [3] = "02 01",
        [6] = "04 02 01 23 45",
        [8] = "04 02 01 23 46 45 67",
    };
    double ones[64];
    for (int i = 0; i < 64; i++)
        ones[i] = 1;
    for (int n = 2; n <= 8; n++) {
        struct esp_platform *p = from_matrix(n, ones);
        struct esp_plan *plan = plan_made(p, "binomial", 0);
        char text[64];
        plan_text(plan, text);
        if (sends[n])
            assert_string_equal(text, sends[n]);
        assert_true(plan->makespan_s == ceil(log2(n)));
        esp_plan_free(plan);
        plan = plan_made(p, "binomial", n - 1); /* the root comes first, then 0, 1, ... */
        assert_int_equal(plan->trees[0].edges[0].from, n - 1);
        assert_true(plan->makespan_s == ceil(log2(n)));
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* ---- naive readings ---- */

struct naive {
    int n, n_sends;
    int from[MAX_N], to[MAX_N];
    double lag[MAX_N][MAX_N], hold[MAX_N][MAX_N]; /* infinite: no arc */
    double slowest;
    double ready[MAX_N];
    int informed[MAX_N];
};

static void naive_init(struct naive *x, const struct esp_platform *p, int root)
{
    struct espi_arena arena;
    struct espi_view v;
    espi_arena_init(&arena);
    assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
    *x = (struct naive){.n = v.g.n};
    x->informed[root] = 1;
    for (int i = 0; i < MAX_N; i++)
        for (int j = 0; j < MAX_N; j++)
            x->lag[i][j] = x->hold[i][j] = INFINITY;
    for (int e = 0; e < v.g.m; e++) {
        x->lag[v.g.tail[e]][v.g.head[e]] = v.lag_s[e];
        x->hold[v.g.tail[e]][v.g.head[e]] = v.hold_s[e];
        x->slowest = fmax(x->slowest, v.lag_s[e]);
    }
    espi_arena_done(&arena);
}

static double or_slowest(const struct naive *x, double time_s)
{
    return isfinite(time_s) ? time_s : x->slowest;
}

static double ahead_min(const struct naive *x, int j)
{
    double least = INFINITY;
    int others = 0;
    for (int k = 0; k < x->n; k++)
        if (!x->informed[k] && k != j) {
            others++;
            least = fmin(least, x->lag[j][k]);
        }
    return others ? or_slowest(x, least) : 0;
}

static double ahead_avg(const struct naive *x, int j)
{
    double sum = 0;
    int others = 0;
    for (int k = 0; k < x->n; k++)
        if (!x->informed[k] && k != j) {
            others++;
            sum += or_slowest(x, x->lag[j][k]);
        }
    return others ? sum / others : 0;
}

static double ahead_set(const struct naive *x, int j)
{
    double sum = 0;
    int others = 0;
    for (int k = 0; k < x->n; k++) {
        if (x->informed[k] || k == j)
            continue;
        double least = x->lag[j][k];
        for (int a = 0; a < x->n; a++)
            if (x->informed[a])
                least = fmin(least, x->lag[a][k]);
        others++;
        sum += or_slowest(x, least);
    }
    return others ? sum / others : 0;
}

static double ahead_none(const struct naive *x, int j)
{
    (void)x;
    (void)j;
    return 0;
}

static void naive_send(struct naive *x, int i, int j)
{
    x->ready[j] = x->ready[i] + x->lag[i][j];
    x->ready[i] += x->hold[i][j];
    x->informed[j] = 1;
    x->from[x->n_sends] = i;
    x->to[x->n_sends++] = j;
}

/* The pair with the least (key, finish, sender, receiver), n - 1 times. With `idle`, the
 * ready time of the sender does not count in the key. */
static void naive_greedy(struct naive *x, double (*ahead)(const struct naive *, int),
                         int idle)
{
    for (int step = 1; step < x->n; step++) {
        int bi = -1, bj = -1;
        double best_key = 0, best_finish = 0;
        for (int i = 0; i < x->n; i++)
            for (int j = 0; j < x->n; j++) {
                if (!x->informed[i] || x->informed[j] || !isfinite(x->lag[i][j]))
                    continue;
                double finish = x->ready[i] + x->lag[i][j];
                double key = idle ? x->lag[i][j]
                             : ahead == ahead_min
                                 ? x->ready[i] + (x->lag[i][j] + ahead(x, j))
                                 : finish + ahead(x, j);
                if (bi >= 0 &&
                    (key > best_key || (key == best_key && finish >= best_finish)))
                    continue;
                bi = i;
                bj = j;
                best_key = key;
                best_finish = finish;
            }
        naive_send(x, bi, bj);
    }
}

static void naive_ecef(struct naive *x)
{
    naive_greedy(x, ahead_none, 0);
}

static void naive_fef(struct naive *x)
{
    naive_greedy(x, ahead_none, 1);
}

static void naive_min(struct naive *x)
{
    naive_greedy(x, ahead_min, 0);
}

static void naive_avg(struct naive *x)
{
    naive_greedy(x, ahead_avg, 0);
}

static void naive_set(struct naive *x)
{
    naive_greedy(x, ahead_set, 0);
}

static void naive_fnf(struct naive *x)
{
    double cost[MAX_N];
    for (int i = 0; i < x->n; i++) {
        double sum = 0;
        int arcs = 0;
        for (int j = 0; j < x->n; j++)
            if (isfinite(x->lag[i][j])) {
                sum += x->lag[i][j];
                arcs++;
            }
        cost[i] = arcs ? sum / arcs : INFINITY;
    }
    for (int step = 1; step < x->n; step++) {
        int bi = -1, bj = -1;
        for (int j = 0; j < x->n; j++)
            for (int i = 0; i < x->n; i++)
                if (x->informed[i] && !x->informed[j] && isfinite(x->lag[i][j]) &&
                    (bj < 0 || cost[j] < cost[bj] ||
                     (j == bj && x->ready[i] + cost[i] < x->ready[bi] + cost[bi]))) {
                    bi = i;
                    bj = j;
                }
        naive_send(x, bi, bj);
    }
}

static const struct {
    const char *algo;
    void (*run)(struct naive *x);
    /* Sums of more than two times are rounded according to their order, which decides
     * ties of times that are neither whole (as the send overheads of the multi-port model
     * are not) nor so different that there are no ties. */
    enum { ALWAYS, NO_ROUNDED_TIES, WHOLE } when;
} readings[] = {
    {"fef", naive_fef, ALWAYS},
    {"ecef", naive_ecef, ALWAYS},
    {"look-ahead:variant=min", naive_min, NO_ROUNDED_TIES},
    {"look-ahead:variant=avg", naive_avg, WHOLE},
    {"look-ahead:variant=set", naive_set, WHOLE},
    {"fnf", naive_fnf, ALWAYS},
};

static void same_sends(const struct esp_plan *plan, const struct naive *x)
{
    assert_int_equal(plan->trees[0].n_edges, x->n_sends);
    for (int i = 0; i < x->n_sends; i++) {
        const struct esp_edge *e = &plan->trees[0].edges[i];
        if (e->from != x->from[i] || e->to != x->to[i])
            fail_msg("%s: send %d is %d -> %d, not %d -> %d", plan->algo, i, e->from,
                     e->to, x->from[i], x->to[i]);
    }
}

static void fast_ones_do_what_the_definitions_say(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(5));
    static const double densities[] = {0, 0.15, 0.5, 1};
    static const int wholes[] = {1, 2, 5, 30, 0};
    for (int round = 0; round < 6000; round++) {
        struct small_options o = {.n = 2 + (int)espi_rng_below(&rng, MAX_N - 1),
                                  .density = densities[round % 4],
                                  .whole = wholes[round % 5],
                                  .model = (esp_model)(round / 7 % ESP_MODEL_COUNT)};
        struct esp_platform *p = small_random(&rng, &o);
        int root = o.density == 1 ? (int)espi_rng_below(&rng, (uint32_t)o.n) : 0;
        for (size_t a = 0; a < sizeof readings / sizeof *readings; a++) {
            int ties = o.whole > 0, rounded = !ties || o.model == ESP_MODEL_MULTI_PORT;
            if (readings[a].when == NO_ROUNDED_TIES ? ties && rounded
                                                    : readings[a].when && rounded)
                continue;
            struct naive x;
            naive_init(&x, p, root);
            readings[a].run(&x);
            struct esp_plan *plan = plan_made(p, readings[a].algo, root);
            same_sends(plan, &x);
            esp_plan_free(plan);
        }
        esp_platform_free(p);
    }
}

/* ---- brute force ---- */

static void nobody_beats_brute_force(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(8));
    int count, optimal = 0, routed = 0;
    const struct espi_algo *const *algos = espi_algos(&count);
    for (int round = 0; round < 200; round++) {
        struct small_options o = {.n = 2 + round % 4,
                                  .density = round % 2 ? 1 : 0.4,
                                  .whole = round % 3 ? 6 : 0,
                                  .model = (esp_model)(round / 5 % ESP_MODEL_COUNT)};
        struct esp_platform *p = small_random(&rng, &o);
        struct espi_arena arena;
        struct espi_view v;
        espi_arena_init(&arena);
        assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
        double best_s = all_trees_best(&v, 0, 1).fill_s;
        espi_arena_done(&arena);
        for (int a = 0; a < count; a++) {
            if (strcmp(algos[a]->family, "atomic") != 0)
                continue;
            struct esp_plan *plan = plan_tried(p, algos[a]->name, 0);
            if (!plan) /* no way between two hosts that it wants to join */
                continue;
            if (plan->makespan_s < best_s * (1 - 1e-12))
                fail_msg("%s: %g beats %g", algos[a]->name, plan->makespan_s, best_s);
            optimal += plan->makespan_s == best_s;
            routed += !plan_is_direct(plan);
            esp_plan_free(plan);
        }
        esp_platform_free(p);
    }
    assert_true(optimal > 100 && routed > 100); /* or it would prove nothing */
}

/* Host 1 passes on what 2 and 3 get, and can send only one thing at a time. */
static void relays_send_one_thing_at_a_time(void **state)
{
    (void)state;
    static const struct small_arc arcs[] = {{0, 1, 1}, {1, 2, 10}, {1, 3, 10}};
    struct esp_platform *p = small_platform(ESP_MODEL_ONE_PORT, 4, arcs, 3);
    struct esp_plan *flat = plan_made(p, "flat", 0), *ecef = plan_made(p, "ecef", 0);
    assert_true(flat->makespan_s == 22); /* 1 has its second copy at 2 */
    assert_true(ecef->makespan_s == 21);
    esp_plan_free(flat);
    esp_plan_free(ecef);
    esp_platform_free(p);
}

/* The simulator also knows that a relay receives one thing at a time. */
static void routed_plans_take_no_less_than_predicted(void **state)
{
    (void)state;
    static const char *const algos[] = {"flat", "chain", "binomial", "binomial-sp",
                                        "spoc"};
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(13));
    int routed = 0, equal = 0;
    for (int round = 0; round < 400; round++) {
        struct small_options o = {.n = 3 + round % 7,
                                  .density = 0.2,
                                  .whole = round % 2 ? 7 : 0,
                                  .model = (esp_model)(round % ESP_MODEL_COUNT)};
        struct esp_platform *p = small_random(&rng, &o);
        struct esp_plan *plan = plan_tried(p, algos[round % 5], 0);
        struct esp_sim_options options = {.size = sizeof options,
                                          .sharing = ESP_SHARING_MODEL};
        struct esp_sim_result *result = NULL;
        if (plan) {
            assert_int_equal(esp_simulate(p, plan, &options, &result, NULL), ESP_OK);
            assert_true(result->makespan_s >= plan->makespan_s * (1 - 1e-12));
            routed += !plan_is_direct(plan);
            equal += result->makespan_s <= plan->makespan_s * (1 + 1e-12);
        }
        esp_sim_result_free(result);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
    assert_true(routed > 80 && equal > 80);
}

/* ---- sites ---- */

static int sites_entered_once(const struct esp_platform *p, const struct esp_plan *plan)
{
    int between = 0;
    for (int i = 0; i < plan->trees[0].n_edges; i++) {
        const struct esp_edge *e = &plan->trees[0].edges[i];
        const char *to = esp_platform_node_site(p, e->to);
        if (!strcmp(esp_platform_node_site(p, e->from), to))
            continue;
        between++;
        assert_string_not_equal(to, esp_platform_node_site(p, plan->root));
        for (int k = 0; k < i; k++) { /* nobody else brings it to that site */
            const struct esp_edge *f = &plan->trees[0].edges[k];
            assert_true(strcmp(esp_platform_node_site(p, f->to), to) != 0);
        }
    }
    return between;
}

static void one_message_enters_each_site(void **state)
{
    (void)state;
    struct esp_sites_options o;
    esp_sites_options_defaults(&o);
    for (int round = 0; round < 24; round++) {
        o.sites = 1 + round % 4;
        o.clusters = 1 + round % 2;
        o.hosts = 1 + round % 3;
        o.switches = round % 5 == 0;
        struct esp_platform *p = NULL;
        assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
        int root = (round * 5) % esp_platform_host_count(p);
        struct esp_plan *flat = plan_made(p, "hierarchical", root);
        struct esp_plan *binomial = plan_made(p, "hierarchical:wan=binomial", root);
        assert_int_equal(sites_entered_once(p, flat), o.sites - 1);
        assert_int_equal(sites_entered_once(p, binomial), o.sites - 1);
        for (int i = 0; i < o.sites - 1; i++)
            assert_int_equal(flat->trees[0].edges[i].from, root);
        esp_plan_free(flat);
        esp_plan_free(binomial);
        esp_platform_free(p);
    }
}

static void without_sites_hierarchical_is_binomial(void **state)
{
    (void)state;
    struct esp_platform *p = from_matrix(5, b2);
    struct esp_plan *plan = plan_made(p, "hierarchical", 2);
    struct esp_plan *binomial = plan_made(p, "binomial", 2);
    char a[64], b[64];
    plan_text(plan, a);
    plan_text(binomial, b);
    assert_string_equal(a, b);
    esp_plan_free(plan);
    esp_plan_free(binomial);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_come_out),
        cmocka_unit_test(binomial_over_shortest_paths),
        cmocka_unit_test(binomial_is_that_of_mpich),
        cmocka_unit_test(fast_ones_do_what_the_definitions_say),
        cmocka_unit_test(nobody_beats_brute_force),
        cmocka_unit_test(relays_send_one_thing_at_a_time),
        cmocka_unit_test(routed_plans_take_no_less_than_predicted),
        cmocka_unit_test(one_message_enters_each_site),
        cmocka_unit_test(without_sites_hierarchical_is_binomial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
