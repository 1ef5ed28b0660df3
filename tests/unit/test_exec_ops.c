/* The executor beyond broadcasts: parts that lie anywhere and differ in size, and
 * combinations, over the loop-back transport. */
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

enum { MAX = 16 };

struct job {
    const struct espi_program *prog;
    const int *channel;
    struct espi_loopback *net;
    int rank, result;
    void *data;
    struct espi_run_options options;
};

static void *run_rank(void *arg)
{
    struct job *job = arg;
    struct espi_arena arena;
    struct espi_run run;
    espi_arena_init(&arena);
    job->result = espi_run_init(&run, job->prog, job->rank, job->channel,
                                espi_loopback_rank(job->net, job->rank), job->data,
                                &job->options, &arena)
                      ? -2
                      : espi_run_progress(&run, 1);
    espi_arena_done(&arena);
    return NULL;
}

/* Data and options of each rank are set; all must end well. */
static void run_all(const struct espi_program *prog, struct job *jobs)
{
    pthread_t threads[MAX];
    struct espi_arena arena;
    espi_arena_init(&arena);
    struct espi_loopback *net = espi_loopback_create(prog->n_ranks);
    int *channel = espi_program_channels(prog, &arena);
    for (int r = 0; r < prog->n_ranks; r++) {
        jobs[r].prog = prog;
        jobs[r].channel = channel;
        jobs[r].net = net;
        jobs[r].rank = r;
        pthread_create(&threads[r], NULL, run_rank, &jobs[r]);
    }
    for (int r = 0; r < prog->n_ranks; r++) {
        pthread_join(threads[r], NULL);
        assert_int_equal(jobs[r].result, 1);
    }
    espi_loopback_free(net);
    espi_arena_done(&arena);
}

struct setting {
    struct espi_arena arena;
    struct esp_platform *p;
    struct esp_plan *plan;
    struct espi_program prog;
};

static void set_up(struct setting *s, esp_op op, const char *algo, int n, int root,
                   uint64_t seed, double size, double slice)
{
    struct esp_random_options o;
    struct esp_request request;
    struct esp_err err;
    struct espi_compile_options how = {.size_bytes = size, .slice_bytes = slice};
    esp_random_options_defaults(&o);
    o.nodes = n;
    o.seed = test_seed(seed);
    o.density = 0.5;
    espi_arena_init(&s->arena);
    assert_int_equal(esp_generate_random(&o, &s->p, NULL), ESP_OK);
    esp_request_init(&request, root);
    request.op = op;
    request.algo = algo;
    request.slice_bytes = slice;
    if (esp_plan_make(s->p, &request, &s->plan, &err) ||
        espi_program_compile(s->p, s->plan, &how, &s->arena, &s->prog, &err))
        fail_msg("%s", err.text);
}

static void tear_down(struct setting *s)
{
    esp_plan_free(s->plan);
    esp_platform_free(s->p);
    espi_arena_done(&s->arena);
}

/* ---- parts ---- */

static char expected(int part, uint64_t i)
{
    return (char)((i * 2654435761u + (unsigned)part * 40503u) >> 11);
}

/* Block of part k, full where the rank has it at the start. */
static void make_block(struct espi_block *block, int part, uint64_t bytes, int has)
{
    block->bytes = bytes;
    block->at = malloc(bytes + 1);
    for (uint64_t i = 0; i <= bytes; i++)
        block->at[i] = has && i < bytes ? expected(part, i) : (char)0xee;
}

static void check_block(const struct espi_block *block, int part)
{
    for (uint64_t i = 0; i < block->bytes; i++)
        if (block->at[i] != expected(part, i))
            fail_msg("part %d, byte %d is wrong", part, (int)i);
    assert_int_equal(block->at[block->bytes], (char)0xee);
}

/* Every rank but the root has a part; the sizes differ, some have nothing. */
static void run_parts(struct setting *s, esp_op op, struct espi_rng *rng)
{
    struct espi_block blocks[MAX][MAX];
    struct job jobs[MAX];
    uint64_t bytes[MAX];
    int n = s->prog.n_ranks, root = s->prog.root;
    memset(blocks, 0, sizeof blocks);
    memset(jobs, 0, sizeof jobs);
    for (int k = 0; k < n - 1; k++)
        bytes[k] = espi_rng_below(rng, 4) ? espi_rng_below(rng, 30000) : 0;
    for (int r = 0; r < n; r++) {
        for (int k = 0; k < n - 1; k++) {
            int owner = k + (k >= root);
            blocks[r][k].bytes = bytes[k];
            if (r == root || r == owner)
                make_block(&blocks[r][k], k, bytes[k],
                           op == ESP_OP_SCATTER ? r == root : r == owner);
        }
        jobs[r].options = (struct espi_run_options){
            .window = 1 + (int)espi_rng_below(rng, 5), .blocks = blocks[r]};
    }
    run_all(&s->prog, jobs);
    for (int r = 0; r < n; r++)
        for (int k = 0; k < n - 1; k++) {
            if (blocks[r][k].at)
                check_block(&blocks[r][k], k);
            free(blocks[r][k].at);
        }
}

static void parts_lie_anywhere(void **state)
{
    struct espi_rng rng;
    (void)state;
    espi_rng_seed(&rng, test_seed(5));
    for (int round = 0; round < 40; round++) {
        struct setting s;
        esp_op op = round % 2 ? ESP_OP_SCATTER : ESP_OP_GATHER;
        int n = 2 + round % 7, root = round % n;
        double slice = 100 + espi_rng_below(&rng, 20000);
        set_up(&s, op, "scatter", n, root, (uint64_t)round, 20000.0 * (n - 1), slice);
        run_parts(&s, op, &rng);
        tear_down(&s);
    }
}

/* ---- combinations ---- */

static void add_doubles(void *arg, void *into, const void *from, size_t bytes)
{
    double *x = into;
    const double *y = from;
    (void)arg;
    assert_int_equal(bytes % sizeof *x, 0);
    assert_int_equal((uintptr_t)y % sizeof *y, 0);
    for (size_t i = 0; i < bytes / sizeof *x; i++)
        x[i] += y[i];
}

static double element(int rank, size_t i, int exact)
{
    double x = (double)((i * 7919 + (size_t)rank * 104729) % 1000);
    return exact ? x : 1 / (x + 1);
}

/* Sums over all ranks; gives the root's, of n_elements, to be freed. */
static double *run_sum(struct setting *s, size_t n_elements, int window, int exact)
{
    struct job jobs[MAX];
    int n = s->prog.n_ranks;
    memset(jobs, 0, sizeof jobs);
    for (int r = 0; r < n; r++) {
        double *x = malloc(n_elements * sizeof *x);
        for (size_t i = 0; i < n_elements; i++)
            x[i] = element(r, i, exact);
        jobs[r].data = x;
        jobs[r].options = (struct espi_run_options){
            .window = window, .combine = add_doubles, .element_bytes = sizeof(double)};
    }
    run_all(&s->prog, jobs);
    for (int r = 0; r < n; r++) {
        if (s->plan->op == ESP_OP_ALLREDUCE) /* the same bits for all */
            assert_memory_equal(jobs[r].data, jobs[s->prog.root].data,
                                n_elements * sizeof(double));
        if (r != s->prog.root)
            free(jobs[r].data);
    }
    return jobs[s->prog.root].data;
}

static void sums_are_right_and_repeat(void **state)
{
    static const char *const algos[] = {"flat", "chain", "binomial", "grow", "mtp"};
    struct espi_rng rng;
    (void)state;
    espi_rng_seed(&rng, test_seed(6));
    for (int round = 0; round < 60; round++) {
        struct setting s;
        int n = 2 + round % 8;
        size_t elements = 1 + espi_rng_below(&rng, 6000);
        double slice = 8 + espi_rng_below(&rng, round % 4 ? 3000 : 40000);
        set_up(&s, round % 2 ? ESP_OP_REDUCE : ESP_OP_ALLREDUCE, algos[round % 5], n,
               round % n, (uint64_t)round, (double)(elements * 8), slice);
        double *x = run_sum(&s, elements, 1 + round % 4, 1);
        for (size_t i = 0; i < elements; i++) {
            double sum = 0;
            for (int r = 0; r < n; r++)
                sum += element(r, i, 1);
            assert_true(x[i] == sum);
        }
        free(x);
        x = run_sum(&s, elements, 1 + round % 4, 0);
        double *y = run_sum(&s, elements, 4, 0);
        assert_memory_equal(x, y, elements * sizeof *x);
        free(x);
        free(y);
        tear_down(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_lie_anywhere),
        cmocka_unit_test(sums_are_right_and_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
