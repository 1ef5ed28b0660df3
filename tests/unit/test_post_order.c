/* Orders of messages: against the same list schedule by plain loops over all messages,
 * that nothing but steps changes and all have their data, and what comes of it where
 * sites share cables. */
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
#include "cost/post_order.h"
#include "platform/resources.h"
#include "platform/view.h"
#include "schedule/posts.h"
#include "support/alloc_fail.h"
#include "support/kinds.h"
#include "support/seed.h"

static struct esp_plan *planned(const struct esp_platform *p, const char *algo,
                                double size)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err = {.text = ""};
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLTOALL;
    request.algo = algo;
    request.size_bytes = size;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s: %s", algo, err.text);
    return plan;
}

/* Hosts that are all joined, with links of their own rates and latencies. */
static struct esp_platform *unequal_hosts(int n, uint64_t seed)
{
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    struct espi_rng rng;
    espi_rng_seed(&rng, seed);
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_ONE_PORT);
    for (int i = 0; i < n; i++) {
        char name[16];
        struct esp_node_spec spec = {.name = name, .kind = ESP_NODE_HOST};
        snprintf(name, sizeof name, "h%d", i);
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double latency_s = espi_rng_range(&rng, 0, 1e-3);
            double Bps = espi_rng_log_range(&rng, 1e6, 1e8);
            if (i != j)
                assert_int_equal(
                    esp_builder_add_link(b, i, j, latency_s, Bps, NULL, NULL), ESP_OK);
        }
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* ---- the same by loops ---- */

enum { POSTS_MAX = 64, NODES_MAX = 16 };

/* Straight messages on ports: sender, receiver, how long both are held. */
struct job {
    int from, to, started;
    double hold_s;
};

static double left_s(const struct job *job, int n, int node, int sends)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (!job[i].started && (sends ? job[i].from : job[i].to) == node)
            sum += job[i].hold_s;
    return sum;
}

/* Of those whose ports are free the first with most left at one of them; -1: none. */
static int choose_job(const struct job *job, int n, const double *out_s,
                      const double *in_s, double now_s)
{
    int best = -1;
    double most_s = -1;
    for (int i = 0; i < n; i++) {
        double s = fmax(left_s(job, n, job[i].from, 1), left_s(job, n, job[i].to, 0));
        if (job[i].started || out_s[job[i].from] > now_s || in_s[job[i].to] > now_s ||
            s <= most_s * (1 + 1e-12))
            continue;
        best = i;
        most_s = s;
    }
    return best;
}

static double next_free_s(const double *free_s, double now_s, double least_s)
{
    for (int v = 0; v < NODES_MAX; v++)
        if (free_s[v] > now_s && free_s[v] < least_s)
            least_s = free_s[v];
    return least_s;
}

/* Fills turn[job]. */
static void list_jobs(struct job *job, int n, int *turn)
{
    double out_s[NODES_MAX] = {0}, in_s[NODES_MAX] = {0}, now_s = 0;
    for (int done = 0; done < n;) {
        int i = choose_job(job, n, out_s, in_s, now_s);
        if (i < 0) {
            now_s = next_free_s(in_s, now_s, next_free_s(out_s, now_s, INFINITY));
            continue;
        }
        job[i].started = 1;
        out_s[job[i].from] = in_s[job[i].to] = now_s + job[i].hold_s;
        turn[i] = done++;
    }
}

/* The messages of a plan as jobs, in its order. */
static int jobs_of(const struct esp_platform *p, const struct esp_plan *plan,
                   struct job *job, int *tree)
{
    struct espi_arena arena;
    struct espi_posts posts;
    espi_arena_init(&arena);
    assert_int_equal(espi_posts_init(&posts, p, plan, &arena), 0);
    assert_true(posts.n <= POSTS_MAX);
    for (int i = 0; i < posts.n; i++) {
        const struct espi_post *x = &posts.post[i];
        job[i] = (struct job){.from = x->from, .to = x->to};
        job[i].hold_s = espi_path_time(p, plan->size_bytes / plan->n_trees,
                                       espi_post_hops(&posts, i), x->n_hops)
                            .hold_s;
        tree[i] = posts.messages.part[posts.messages.start[x->message]].tree;
    }
    int n = posts.n;
    espi_arena_done(&arena);
    return n;
}

static void order_is_that_of_the_list_schedule(void **state)
{
    (void)state;
    for (int round = 0; round < test_draws(40); round++) {
        struct job job[POSTS_MAX];
        int tree[POSTS_MAX], turn[POSTS_MAX];
        struct esp_platform *p =
            unequal_hosts(2 + round % 6, test_seed((uint64_t)round + 1));
        struct esp_plan *before = planned(p, "pairwise", 1e6);
        struct esp_plan *after = planned(p, "open-shop", 1e6);
        int n = jobs_of(p, before, job, tree);
        list_jobs(job, n, turn);
        for (int i = 0; i < n; i++)
            assert_int_equal(after->trees[tree[i]].steps[0], turn[i]);
        esp_plan_free(before);
        esp_plan_free(after);
        esp_platform_free(p);
    }
}

/* ---- what it keeps ---- */

static int messages_of(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct espi_arena arena;
    struct espi_posts posts;
    espi_arena_init(&arena);
    assert_int_equal(espi_posts_init(&posts, p, plan, &arena), 0);
    int n = posts.messages.n;
    espi_arena_done(&arena);
    return n;
}

/* The same edges and messages, and still a plan; of hnow the same steps. */
static void check_kept(const struct esp_platform *p, const char *algo)
{
    struct espi_arena arena;
    struct esp_plan *before = NULL;
    struct esp_request request;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLTOALL;
    request.algo = algo;
    request.size_bytes = 1e6;
    if (esp_plan_make(p, &request, &before, NULL))
        return;
    struct esp_plan *after = NULL;
    assert_int_equal(esp_plan_copy(before, &after, NULL), ESP_OK);
    espi_arena_init(&arena);
    assert_int_equal(espi_plan_order_messages(after, p, 1e6, &arena), ESP_OK);
    espi_arena_done(&arena);
    assert_int_equal(esp_plan_check(after, p, NULL), ESP_OK);
    assert_int_equal(messages_of(p, before), messages_of(p, after));
    for (int t = 0; t < before->n_trees; t++) {
        size_t n = (size_t)before->trees[t].n_edges;
        assert_memory_equal(before->trees[t].edges, after->trees[t].edges,
                            n * sizeof *before->trees[t].edges);
        if (esp_platform_model(p) == ESP_MODEL_HNOW)
            assert_memory_equal(before->trees[t].steps, after->trees[t].steps,
                                n * sizeof(int));
    }
    esp_plan_free(before);
    esp_plan_free(after);
}

static void nothing_but_steps_changes(void **state)
{
    static const char *const algos[] = {"pairwise", "digits", "by-site",
                                        "by-site:agents=2"};
    (void)state;
    for (int round = 0; round < test_draws(40); round++) {
        struct esp_platform *p =
            kind_platform(round % KINDS, 4 + round % 7, test_seed((uint64_t)round + 1),
                          (esp_model)(round / KINDS % ESP_MODEL_COUNT));
        for (int i = 0; i < 4; i++)
            check_kept(p, algos[i]);
        esp_platform_free(p);
    }
}

/* ---- what it gains ---- */

/* Cables need not wait until sites have collected what crosses. */
static void sites_work_while_cables_do(void **state)
{
    (void)state;
    struct esp_sites_options o;
    struct esp_platform *p = NULL;
    esp_sites_options_defaults(&o);
    o.sites = 3;
    o.clusters = 1;
    o.hosts = 5;
    o.seed = 4;
    assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
    struct esp_plan *steps = planned(p, "by-site:agents=0", 15 * 14 * 64e3);
    struct esp_plan *left = planned(p, "by-site:agents=0,order=left", 15 * 14 * 64e3);
    assert_true(left->makespan_s < 0.95 * steps->makespan_s);
    esp_plan_free(steps);
    esp_plan_free(left);
    esp_platform_free(p);
}

/* ---- memory ---- */

static esp_status order_it(void *arg)
{
    const struct esp_platform *p = arg;
    struct esp_request request;
    struct esp_plan *plan = NULL;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLTOALL;
    request.algo = "open-shop";
    request.size_bytes = 1e6;
    esp_status st = esp_plan_make(p, &request, &plan, NULL);
    esp_plan_free(plan);
    return st;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    struct esp_platform *p = unequal_hosts(4, test_seed(1));
    assert_true(alloc_fail_each(order_it, p) > 10);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_that_of_the_list_schedule),
        cmocka_unit_test(nothing_but_steps_changes),
        cmocka_unit_test(sites_work_while_cables_do),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
