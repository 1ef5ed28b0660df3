/* Programs of plans as the public library gives them to strangers, step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "support/alloc_fail.h"
#include "support/stranger.h"

enum { RANKS = 16 };

/* What each rank has of each slice: a set of ranks' contributions, as bits. */
struct world {
    const struct esp_program *program;
    const struct esp_plan *plan;
    int64_t n_slices;
    unsigned *has;
    struct esp_walk *walk[RANKS];
    int waiting[RANKS];     /* a step of this rank is at hand and not done */
    unsigned char *arrived; /* message */
    unsigned *carried;      /* message, slice -> contributions that are on their way */
    int64_t n_messages;
};

static int needs_are_there(const struct world *w, const struct esp_walk *walk)
{
    for (int i = 0; i < esp_walk_need_count(walk); i++)
        if (w->arrived[esp_walk_need(walk, i)] != 2)
            return 0;
    assert_int_equal(esp_walk_need(walk, esp_walk_need_count(walk)), -1);
    return 1;
}

/* Takes the step at hand if it can be taken: sends never wait for their receiver. */
static int take_step(struct world *w, int rank)
{
    const struct esp_walk *walk = w->walk[rank];
    int64_t message = esp_walk_message(walk);
    assert_true(message >= 0 && message < w->n_messages);
    unsigned *on_way = &w->carried[message * w->n_slices];
    if (esp_walk_is_send(walk)) {
        /* who takes all steps in order has what it needs, always */
        assert_true(needs_are_there(w, walk));
        assert_int_equal(w->arrived[message], 0);
    } else if (w->arrived[message] == 0) {
        return 0;
    }
    for (int i = 0; i < esp_walk_slice_count(walk); i++) {
        int64_t slice = esp_walk_slice(walk, i);
        assert_true(slice >= 0 && slice < w->n_slices);
        unsigned *mine = &w->has[rank * w->n_slices + slice];
        if (esp_walk_is_send(walk)) {
            assert_true(*mine != 0);
            on_way[slice] = *mine;
        } else if (esp_walk_combines(walk)) {
            assert_int_equal(*mine & on_way[slice], 0); /* nothing counts twice */
            *mine |= on_way[slice];
        } else {
            *mine = on_way[slice];
        }
    }
    w->arrived[message] = esp_walk_is_send(walk) ? 1 : 2;
    return 1;
}

/* What ranks have in the beginning: of slice s, which may be some rank's part. */
static unsigned begins_with(const struct world *w, int rank, int64_t slice)
{
    esp_op op = w->plan->op;
    int n = esp_program_rank_count(w->program), n_parts = n;
    if (op == ESP_OP_REDUCE || op == ESP_OP_ALLREDUCE || op == ESP_OP_REDUCE_SCATTER)
        return 1u << rank;
    if (op == ESP_OP_BCAST || op == ESP_OP_MULTICAST || op == ESP_OP_SCATTER)
        return rank == 0;
    n_parts -= op == ESP_OP_GATHER; /* the root has none */
    if (op == ESP_OP_ALLTOALL)
        n_parts *= n - 1; /* a part for each other */
    uint64_t offset = esp_program_slice_offset(w->program, slice);
    int part = (int)((double)offset * n_parts / esp_program_size_bytes(w->program));
    if (op == ESP_OP_ALLTOALL)
        part /= n - 1;
    return rank == part + (op == ESP_OP_GATHER) ? 1 : 0;
}

/* The slices of the parts from all others, which lie by sender and then by receiver. */
static void assert_pairs(const struct world *w, int n)
{
    double size = esp_program_size_bytes(w->program);
    for (int64_t s = 0; s < w->n_slices; s++) {
        double offset = (double)esp_program_slice_offset(w->program, s);
        int part = (int)(offset * n * (n - 1) / size), from = part / (n - 1);
        int to = part % (n - 1) + (part % (n - 1) >= from);
        assert_true(w->has[to * w->n_slices + s] != 0);
        assert_true(w->has[from * w->n_slices + s] != 0);
    }
}

static void assert_done(const struct world *w)
{
    int n = esp_program_rank_count(w->program), has_all = 0;
    esp_op op = w->plan->op;
    unsigned all = (1u << n) - 1;
    for (int r = 0; r < n; r++) {
        int complete = 1;
        for (int64_t s = 0; s < w->n_slices; s++) {
            unsigned mine = w->has[r * w->n_slices + s];
            if (op == ESP_OP_REDUCE || op == ESP_OP_ALLREDUCE ||
                op == ESP_OP_REDUCE_SCATTER)
                complete &= mine == all;
            else
                complete &= mine != 0;
        }
        has_all += complete;
    }
    if (op == ESP_OP_BCAST || op == ESP_OP_ALLGATHER || op == ESP_OP_ALLREDUCE)
        assert_int_equal(has_all, n);
    else if (op == ESP_OP_ALLTOALL)
        assert_pairs(w, n);
    else if (op != ESP_OP_REDUCE_SCATTER) /* the root has it all */
        assert_true(has_all >= 1);
    if (op == ESP_OP_REDUCE_SCATTER || op == ESP_OP_SCATTER)
        for (int64_t s = 0; s < w->n_slices; s++) { /* each part is somewhere whole */
            int whole = 0;
            for (int r = 0; r < n; r++)
                whole += w->has[r * w->n_slices + s] == (op == ESP_OP_SCATTER ? 1 : all);
            assert_true(whole >= 1);
        }
}

static void play(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct esp_program *program = NULL;
    struct esp_err err = {0};
    if (esp_program_compile(p, plan, NULL, &program, &err))
        fail_msg("%s", err.text);
    int n = esp_program_rank_count(program), left = n, moved = 1;
    assert_int_equal(n, esp_platform_host_count(p));
    struct world w = {.program = program, .plan = plan};
    w.n_slices = esp_program_slice_count(program);
    for (int r = 0; r < n; r++) {
        assert_int_equal(esp_program_rank(program, esp_program_node(program, r)), r);
        assert_int_equal(esp_walk_create(program, r, ESP_WALK_ALL, &w.walk[r], NULL),
                         ESP_OK);
        while (esp_walk_next(w.walk[r]))
            if (esp_walk_message(w.walk[r]) >= w.n_messages)
                w.n_messages = esp_walk_message(w.walk[r]) + 1;
        esp_walk_free(w.walk[r]);
        assert_int_equal(esp_walk_create(program, r, ESP_WALK_ALL, &w.walk[r], NULL),
                         ESP_OK);
        w.waiting[r] = esp_walk_next(w.walk[r]);
        left -= !w.waiting[r];
    }
    w.has = calloc((size_t)(n * w.n_slices), sizeof *w.has);
    w.arrived = calloc((size_t)w.n_messages, 1);
    w.carried = calloc((size_t)(w.n_messages * w.n_slices), sizeof *w.carried);
    assert_true(w.has && w.arrived && w.carried);
    for (int r = 0; r < n; r++)
        for (int64_t s = 0; s < w.n_slices; s++)
            w.has[r * w.n_slices + s] = begins_with(&w, r, s);
    while (left > 0 && moved) {
        moved = 0;
        for (int r = 0; r < n; r++)
            while (w.waiting[r] && take_step(&w, r)) {
                moved = 1;
                w.waiting[r] = esp_walk_next(w.walk[r]);
                left -= !w.waiting[r];
            }
    }
    assert_int_equal(left, 0); /* nobody waits for ever */
    assert_done(&w);
    for (int r = 0; r < n; r++)
        esp_walk_free(w.walk[r]);
    free(w.has);
    free(w.arrived);
    free(w.carried);
    esp_program_free(program);
}

static void programs_do_what_they_are_for(void **state)
{
    (void)state;
    static const struct {
        esp_op op;
        const char *algo;
    } cases[] = {
        {ESP_OP_BCAST, "ecef"},         {ESP_OP_BCAST, "mtp"},
        {ESP_OP_MULTICAST, "auto"},     {ESP_OP_SCATTER, "auto"},
        {ESP_OP_GATHER, "auto"},        {ESP_OP_REDUCE, "ecef"},
        {ESP_OP_ALLREDUCE, "ecef"},     {ESP_OP_ALLREDUCE, "tree-pairs"},
        {ESP_OP_ALLGATHER, "ring"},     {ESP_OP_ALLGATHER, "all-roots"},
        {ESP_OP_ALLGATHER, "two-step"}, {ESP_OP_REDUCE_SCATTER, "ring"},
        {ESP_OP_ALLTOALL, "digits"},    {ESP_OP_ALLTOALL, "all-pairs"},
        {ESP_OP_ALLTOALL, "by-site"},
    };
    static const esp_model models[] = {ESP_MODEL_ONE_PORT, ESP_MODEL_HALF_DUPLEX,
                                       ESP_MODEL_CAPACITY};
    struct esp_platform *base = stranger_sites();
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct esp_platform *p = NULL;
        assert_int_equal(esp_platform_with_model(base, models[m], &p, NULL), ESP_OK);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            int a = esp_algorithm_find(cases[i].algo);
            if (strcmp(cases[i].algo, "auto") != 0 && !esp_algorithm_applies(a, p))
                continue;
            struct esp_plan *plan = stranger_plan(p, cases[i].op, cases[i].algo);
            play(p, plan);
            esp_plan_free(plan);
        }
        esp_platform_free(p);
    }
    esp_platform_free(base);
}

/* Sends and receives walked alone are those of the walk of all, in their order. */
static void walks_agree(void **state)
{
    (void)state;
    struct esp_platform *p = stranger_sites();
    struct esp_plan *plan = stranger_plan(p, ESP_OP_BCAST, "mtp");
    struct esp_program *program = NULL;
    struct esp_compile_options o;
    uint64_t at = 0;
    esp_compile_options_defaults(&o);
    o.size_bytes = 1e6 + 1;
    o.slice_bytes = 1e5;
    assert_int_equal(esp_program_compile(p, plan, &o, &program, NULL), ESP_OK);
    assert_true(esp_program_size_bytes(program) == 1e6 + 1);
    for (int64_t s = 0; s < esp_program_slice_count(program); s++) {
        assert_int_equal(esp_program_slice_offset(program, s), at);
        at += esp_program_slice_bytes(program, s);
    }
    assert_int_equal(at, 1000001);
    for (int r = 0; r < esp_program_rank_count(program); r++) {
        struct esp_walk *sends, *receives, *all;
        esp_walk_create(program, r, ESP_WALK_SENDS, &sends, NULL);
        esp_walk_create(program, r, ESP_WALK_RECEIVES, &receives, NULL);
        esp_walk_create(program, r, ESP_WALK_ALL, &all, NULL);
        while (esp_walk_next(all)) {
            struct esp_walk *own = esp_walk_is_send(all) ? sends : receives;
            assert_true(esp_walk_next(own));
            assert_int_equal(esp_walk_message(own), esp_walk_message(all));
            assert_true(esp_walk_peer(all) != r && esp_walk_tree(all) < plan->n_trees);
            assert_true(esp_walk_keeps(all));
            int ends[2] = {r, esp_walk_peer(all)}, to = esp_walk_is_send(all);
            assert_int_equal(esp_platform_link_from(p, esp_walk_hop(all, 0)),
                             esp_program_node(program, ends[!to]));
            assert_int_equal(
                esp_platform_link_to(p, esp_walk_hop(all, esp_walk_hop_count(all) - 1)),
                esp_program_node(program, ends[to]));
            assert_int_equal(esp_walk_hop(all, esp_walk_hop_count(all)), -1);
        }
        assert_false(esp_walk_next(sends) || esp_walk_next(receives));
        assert_false(esp_walk_next(all));
        assert_int_equal(esp_walk_message(all), -1);
        assert_int_equal(esp_walk_slice_count(all), 0);
        esp_walk_free(sends);
        esp_walk_free(receives);
        esp_walk_free(all);
    }
    esp_program_free(program);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void programs_of_wrong_arguments(void **state)
{
    (void)state;
    struct esp_platform *p = stranger_sites(), *other = stranger_workstations();
    struct esp_plan *plan = stranger_plan(p, ESP_OP_BCAST, "ecef");
    struct esp_program *program = NULL;
    struct esp_compile_options o;
    struct esp_walk *walk = NULL;
    assert_int_equal(esp_program_compile(NULL, plan, NULL, &program, NULL), ESP_EUSAGE);
    assert_int_equal(esp_program_compile(p, NULL, NULL, &program, NULL), ESP_EUSAGE);
    assert_int_equal(esp_program_compile(p, plan, NULL, NULL, NULL), ESP_EUSAGE);
    plan->trees[0].edges[0].first_hop = 0;
    plan->trees[0].hops[0] = 1 << 20;
    assert_int_not_equal(esp_program_compile(p, plan, NULL, &program, NULL), ESP_OK);
    esp_plan_free(plan);
    plan = stranger_plan(p, ESP_OP_BCAST, "ecef");
    static const double sizes[][2] = {{NAN, 0}, {-1, 0},       {0, NAN},
                                      {0, -2},  {INFINITY, 0}, {9e15, 1e-3}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        esp_compile_options_defaults(&o);
        o.size_bytes = sizes[i][0];
        o.slice_bytes = sizes[i][1];
        assert_int_equal(esp_program_compile(p, plan, &o, &program, NULL), ESP_EUSAGE);
    }
    assert_null(program);
    assert_int_equal(esp_program_compile(p, plan, NULL, &program, NULL), ESP_OK);
    int n = esp_program_rank_count(program);
    assert_int_equal(esp_program_node(program, -1), -1);
    assert_int_equal(esp_program_node(program, n), -1);
    assert_int_equal(esp_program_rank(program, -1), -1);
    assert_int_equal(esp_program_rank(program, esp_platform_node_count(p)), -1);
    assert_int_equal(esp_program_slice_bytes(program, -1), 0);
    assert_int_equal(esp_program_slice_bytes(program, esp_program_slice_count(program)),
                     0);
    assert_int_equal(esp_program_slice_offset(program, INT64_MAX), 0);
    assert_int_equal(esp_walk_create(program, n, ESP_WALK_ALL, &walk, NULL), ESP_EUSAGE);
    assert_int_equal(esp_walk_create(program, -1, ESP_WALK_ALL, &walk, NULL), ESP_EUSAGE);
    assert_int_equal(esp_walk_create(program, 0, (esp_walk_kind)3, &walk, NULL),
                     ESP_EUSAGE);
    assert_int_equal(esp_walk_create(NULL, 0, ESP_WALK_ALL, &walk, NULL), ESP_EUSAGE);
    assert_int_equal(esp_walk_create(program, 0, ESP_WALK_ALL, NULL, NULL), ESP_EUSAGE);
    assert_null(walk);
    assert_int_equal(esp_walk_create(program, 0, ESP_WALK_ALL, &walk, NULL), ESP_OK);
    assert_int_equal(esp_walk_peer(walk), -1); /* before the first step */
    assert_int_equal(esp_walk_is_send(walk), 0);
    assert_int_equal(esp_walk_slice(walk, 0), -1);
    assert_int_equal(esp_walk_hop(walk, 0), -1);
    esp_walk_free(walk);
    assert_int_equal(esp_walk_next(NULL), 0);
    assert_int_equal(esp_walk_message(NULL), -1);
    assert_int_equal(esp_program_rank_count(NULL), 0);
    assert_int_equal(esp_program_node(NULL, 0), -1);
    assert_int_equal(esp_program_slice_count(NULL), 0);
    esp_program_free(NULL);
    esp_walk_free(NULL);
    esp_program_free(program);
    esp_plan_free(plan);
    esp_platform_free(other);
    esp_platform_free(p);
}

/* ---- memory ---- */

struct job {
    struct esp_platform *p;
    struct esp_plan *plan;
};

static esp_status walk_once(void *arg)
{
    struct job *job = arg;
    struct esp_program *program = NULL;
    struct esp_walk *walk = NULL;
    esp_status st = esp_program_compile(job->p, job->plan, NULL, &program, NULL);
    if (!st)
        st = esp_walk_create(program, 0, ESP_WALK_ALL, &walk, NULL);
    esp_walk_free(walk);
    esp_program_free(program);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct job job = {.p = stranger_sites()};
    job.plan = stranger_plan(job.p, ESP_OP_BCAST, "mtp");
    assert_int_equal(esp_plan_schedule(job.plan, job.p, NULL), ESP_OK);
    assert_true(alloc_fail_each(walk_once, &job) > 2);
    esp_plan_free(job.plan);
    esp_platform_free(job.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_do_what_they_are_for),
        cmocka_unit_test(walks_agree),
        cmocka_unit_test(programs_of_wrong_arguments),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
