/* Whom ranks ask for help: never one that depends on them, never their parent, and
 * somebody wherever there is such a one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <espalier/espalier.h>

#include "runtime/backup_senders.h"
#include "runtime/knobs.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

enum { N = 12 };

static void parents(const struct esp_plan *plan, int *parent)
{
    for (int v = 0; v < N; v++)
        parent[v] = -1;
    for (int i = 0; i < plan->trees[0].n_edges; i++)
        parent[plan->trees[0].edges[i].to] = plan->trees[0].edges[i].from;
}

static int depends_on(const int *parent, int who, int whom)
{
    while (who >= 0 && who != whom)
        who = parent[who];
    return who == whom;
}

static int may_help(const struct esp_platform *p, const int *parent, int who, int whom)
{
    return who != parent[whom] && !depends_on(parent, who, whom) &&
           esp_platform_find_link(p, who, whom) >= 0;
}

static void check(const struct esp_platform *p, const struct esp_plan *plan,
                  const int *helper)
{
    int parent[N];
    parents(plan, parent);
    for (int v = 0; v < N; v++) {
        int any = 0;
        for (int u = 0; u < N && parent[v] >= 0; u++)
            any += may_help(p, parent, u, v);
        assert_int_equal(helper[v] >= 0, any > 0);
        if (helper[v] >= 0)
            assert_true(may_help(p, parent, helper[v], v));
    }
}

static struct esp_plan *make(const struct esp_platform *p, int root, const char *algo)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    esp_request_init(&request, root);
    request.algo = algo;
    request.size_bytes = 1e6;
    request.slice_bytes = 1e4;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s", err.text);
    return plan;
}

static struct esp_platform *random_platform(uint64_t seed, double density)
{
    struct esp_random_options o;
    struct esp_platform *p = NULL;
    esp_random_options_defaults(&o);
    o.nodes = N;
    o.seed = test_seed(seed);
    o.density = density;
    assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
    return p;
}

static void helpers_are_independent(void **state)
{
    static const char *const algos[] = {"grow", "chain", "ecef", "two-tree"};
    (void)state;
    for (uint64_t seed = 0; seed < 80; seed++) {
        const char *algo = algos[seed % 4];
        struct esp_platform *p = random_platform(seed, seed % 4 == 1 ? 1 : 0.35);
        struct esp_plan *plan = make(p, (int)(seed % N), algo);
        int helper[N];
        struct esp_err err;
        if (espi_find_backup_senders(p, plan, 1e4, helper, &err))
            fail_msg("%s", err.text);
        check(p, plan, helper);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* The second tree of a redundant plan is followed where it can be. */
static void second_tree_counts(void **state)
{
    (void)state;
    int followed = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct esp_platform *p = random_platform(seed, 1);
        struct esp_plan *plan = make(p, 0, "two-tree");
        int helper[N], parent[N];
        assert_int_equal(espi_find_backup_senders(p, plan, 1e4, helper, NULL), ESP_OK);
        parents(plan, parent);
        for (int i = 0; i < plan->trees[1].n_edges; i++) {
            const struct esp_edge *e = &plan->trees[1].edges[i];
            if (!may_help(p, parent, e->from, e->to))
                continue;
            assert_int_equal(helper[e->to], e->from);
            followed++;
        }
        esp_plan_free(plan);
        esp_platform_free(p);
    }
    assert_true(followed > 0);
}

static void mixes_have_no_helpers(void **state)
{
    (void)state;
    struct esp_platform *p = random_platform(1, 1);
    struct esp_plan *plan = make(p, 0, "mtp");
    int helper[N];
    if (plan->n_trees > 1)
        assert_int_equal(espi_find_backup_senders(p, plan, 1e4, helper, NULL),
                         ESP_EUNSUPPORTED);
    esp_plan_free(plan);
    esp_platform_free(p);
}

struct attempt {
    const struct esp_platform *p;
    const struct esp_plan *plan;
};

static esp_status find_again(void *arg)
{
    const struct attempt *a = arg;
    int helper[N];
    return espi_find_backup_senders(a->p, a->plan, 1e4, helper, NULL);
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = random_platform(3, 1);
    struct esp_plan *plan = make(p, 0, "grow");
    struct attempt a = {p, plan};
    assert_true(alloc_fail_each(find_again, &a) > 0);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void slow_links_are_read(void **state)
{
    (void)state;
    struct espi_slow_setting s;
    assert_int_equal(espi_slow_parse("12>3=1MBps,x", 10, &s), 0);
    assert_int_equal(s.from, 12);
    assert_int_equal(s.to, 3);
    assert_true(s.bandwidth_Bps == 1e6);
    assert_int_equal(espi_slow_parse("*>7=8Mbps", 9, &s), 0);
    assert_int_equal(s.from, -1);
    assert_int_equal(s.to, 7);
    assert_true(s.bandwidth_Bps == 1e6);
    const char *const bad[] = {
        "",           "1",      "1>2",  "1>2=", "1>2=0", "-1>2=5",          "1.5>2=5",
        "1>2=-5MBps", "**>1=5", ">1=5", "1>=5", "1=2>5", "99999999999>1=5", "a>b=1",
        "1>2=fast"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(espi_slow_parse(bad[i], strlen(bad[i]), &s), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(helpers_are_independent), cmocka_unit_test(second_tree_counts),
        cmocka_unit_test(mixes_have_no_helpers),   cmocka_unit_test(allocations_may_fail),
        cmocka_unit_test(slow_links_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
