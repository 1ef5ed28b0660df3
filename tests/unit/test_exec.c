/* The executor over the loop-back transport: every byte at every rank. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "exec/exec.h"
#include "exec/loopback.h"
#include "support/seed.h"

struct job {
    const struct espi_program *prog;
    const int *channel;
    struct espi_loopback *net;
    int rank, window, blocking, result;
    unsigned char *data;
};

static void *run_rank(void *arg)
{
    struct job *job = arg;
    struct espi_arena arena;
    struct espi_run run;
    struct espi_run_options o = {.window = job->window};
    espi_arena_init(&arena);
    if (espi_run_init(&run, job->prog, job->rank, job->channel,
                      espi_loopback_rank(job->net, job->rank), job->data, &o, &arena)) {
        job->result = -2;
    } else if (job->blocking) {
        job->result = espi_run_progress(&run, 1);
    } else {
        while ((job->result = espi_run_progress(&run, 0)) == 0)
            sched_yield();
    }
    espi_arena_done(&arena);
    return NULL;
}

static unsigned char expected(size_t i)
{
    return (unsigned char)(i * 2654435761u >> 13);
}

/* Runs the program on all ranks; gives the number of ranks that ended well. */
static int run_program(const struct espi_program *prog, int window, long fail_after,
                       int check)
{
    enum { MAX = 32 };
    struct espi_arena arena;
    struct job jobs[MAX];
    pthread_t threads[MAX];
    size_t size = (size_t)prog->size_bytes;
    int good = 0;
    espi_arena_init(&arena);
    struct espi_loopback *net = espi_loopback_create(prog->n_ranks);
    int *channel = espi_program_channels(prog, &arena);
    assert_non_null(net);
    assert_non_null(channel);
    espi_loopback_fail_after(net, fail_after);
    for (int r = 0; r < prog->n_ranks; r++) {
        jobs[r] =
            (struct job){prog, channel, net, r, window, r % 3 != 1, 0, malloc(size)};
        for (size_t i = 0; i < size; i++)
            jobs[r].data[i] = r == prog->root ? expected(i) : 0xee;
        pthread_create(&threads[r], NULL, run_rank, &jobs[r]);
    }
    for (int r = 0; r < prog->n_ranks; r++) {
        pthread_join(threads[r], NULL);
        good += jobs[r].result == 1;
        for (size_t i = 0; check && i < size; i++)
            if (jobs[r].data[i] != expected(i))
                fail_msg("rank %d, byte %zu of %zu is wrong", r, i, size);
        free(jobs[r].data);
    }
    espi_loopback_free(net);
    espi_arena_done(&arena);
    return good;
}

static struct esp_platform *platform(uint64_t seed, int n)
{
    struct esp_random_options o;
    struct esp_platform *p = NULL;
    esp_random_options_defaults(&o);
    o.nodes = n;
    o.seed = test_seed(seed);
    o.density = 0.5;
    assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
    return p;
}

/* Random trees with random weights; chains of transfers through other hosts too. */
static struct esp_plan *random_plan(const struct esp_platform *p, struct espi_rng *rng)
{
    struct esp_plan *plan = NULL;
    int n = esp_platform_node_count(p), m = esp_platform_link_count(p), arcs[32];
    int n_trees = 1 + (int)espi_rng_below(rng, 4);
    assert_int_equal(esp_plan_create(ESP_OP_BCAST, 0, "random", &plan, NULL), ESP_OK);
    for (int t = 0; t < n_trees; t++) {
        unsigned char has[32] = {1};
        for (int size = 0; size < n - 1;) {
            int e = (int)espi_rng_below(rng, (uint32_t)m);
            int u = esp_platform_link_from(p, e), v = esp_platform_link_to(p, e);
            if (has[u] && !has[v]) {
                has[v] = 1;
                arcs[size++] = e;
            }
        }
        double weight = (t + 1.0) * 2 / (n_trees * (n_trees + 1.0));
        assert_int_equal(esp_plan_add_simple_tree(plan, p, weight, n - 1, arcs, NULL),
                         ESP_OK);
    }
    return plan;
}

static void compile(const struct esp_platform *p, struct esp_plan *plan, double size,
                    double slice, struct espi_arena *arena, struct espi_program *prog)
{
    struct espi_compile_options o = {.size_bytes = size, .slice_bytes = slice};
    struct esp_err err;
    plan->size_bytes = size;
    plan->slice_bytes = slice;
    assert_int_equal(esp_plan_schedule(plan, p, NULL), ESP_OK);
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_OK);
    if (espi_program_compile(p, plan, &o, arena, prog, &err))
        fail_msg("%s", err.text);
}

static void every_byte_arrives(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(21));
    for (int round = 0; round < 60; round++) {
        struct espi_arena arena;
        struct espi_program prog;
        struct esp_platform *p = platform((uint64_t)round, 2 + round % 9);
        struct esp_plan *plan = random_plan(p, &rng);
        double size = 1 + espi_rng_below(&rng, 200000);
        double slice = 1 + espi_rng_below(&rng, round % 2 ? 5000 : 300000);
        espi_arena_init(&arena);
        compile(p, plan, size, slice < size / 2000 ? size / 2000 : slice, &arena, &prog);
        assert_int_equal(run_program(&prog, 1 + (int)espi_rng_below(&rng, 8), 0, 1),
                         prog.n_ranks);
        espi_arena_done(&arena);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* The algorithms' own plans, those with transfers routed through other hosts among them.
 */
static void plans_of_algorithms_run(void **state)
{
    (void)state;
    static const char *const algos[] = {"flat", "chain", "binomial-sp", "ecef", "grow"};
    for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
        struct espi_arena arena;
        struct espi_program prog;
        struct esp_platform *p = platform(7 + i, 12);
        struct esp_plan *plan = NULL;
        struct esp_request request;
        esp_request_init(&request, 3);
        request.algo = algos[i];
        assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
        espi_arena_init(&arena);
        compile(p, plan, 100000, 1000, &arena, &prog);
        assert_int_equal(run_program(&prog, 3, 0, 1), 12);
        espi_arena_done(&arena);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* A transport that breaks: every rank ends, and those that say so have all bytes. */
static void broken_transports_end(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(22));
    struct esp_platform *p = platform(4, 6);
    struct esp_plan *plan = random_plan(p, &rng);
    for (long nth = 1; nth < 400; nth += 13) {
        struct espi_arena arena;
        struct espi_program prog;
        espi_arena_init(&arena);
        compile(p, plan, 10000, 500, &arena, &prog);
        assert_true(run_program(&prog, 2, nth, 0) <= prog.n_ranks);
        espi_arena_done(&arena);
    }
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void streams_of_a_pair_have_their_own_channels(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(23));
    struct esp_platform *p = platform(9, 8);
    struct esp_plan *plan = random_plan(p, &rng);
    struct espi_arena arena;
    struct espi_program prog;
    espi_arena_init(&arena);
    compile(p, plan, 1000, 10, &arena, &prog);
    int *channel = espi_program_channels(&prog, &arena);
    for (int a = 0; a < prog.n_streams; a++)
        for (int b = 0; b < a; b++)
            assert_false(prog.streams[a].from == prog.streams[b].from &&
                         prog.streams[a].to == prog.streams[b].to &&
                         channel[a] == channel[b]);
    espi_arena_done(&arena);
    esp_plan_free(plan);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_arrives),
        cmocka_unit_test(plans_of_algorithms_run),
        cmocka_unit_test(broken_transports_end),
        cmocka_unit_test(streams_of_a_pair_have_their_own_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
