/* Broadcasts with backup senders, over the loop-back transport with slow links: every
 * byte at every rank, nothing left over, no message more than needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "exec/backup.h"
#include "exec/exec.h"
#include "exec/loopback.h"
#include "exec/slow.h"
#include "support/seed.h"

enum { RANKS_MAX = 12, RUNS_MAX = 6 };

/* Some broadcasts one after the other on the same ranks. */
struct scene {
    int n, n_runs;
    struct esp_platform *p;
    struct espi_arena arena;
    struct espi_program prog[RUNS_MAX];
    int *channel[RUNS_MAX];
    int backup[RUNS_MAX][RANKS_MAX];
    int lost[RANKS_MAX]; /* it has no data */
    int odd;             /* a rank whose program is the other one; 0: none is */
    struct espi_program other;
    double slow_Bps[RANKS_MAX][RANKS_MAX]; /* 0: not slow */
    int window;
    struct espi_backup_options options;
    struct espi_loopback *net;
    long fail_after;
    pthread_barrier_t barrier;
    int notes[RANKS_MAX][RANKS_MAX];
    int meets; /* in the end ranks look until nothing is left, instead of counting */
    int64_t left[RANKS_MAX];
    struct espi_backup_count count[RANKS_MAX]; /* sums over the runs */
    double patience[RANKS_MAX];                /* after the last */
    int code[RANKS_MAX];
    int wrong[RANKS_MAX];
};

struct rank {
    struct scene *scene;
    int rank;
};

static unsigned char expected(int run, size_t i)
{
    return (unsigned char)((i + (size_t)run * 977) * 2654435761u >> 13);
}

static const struct espi_program *program_of(const struct scene *s, int rank, int number)
{
    return s->odd && s->odd == rank ? &s->other : &s->prog[number];
}

/* What is to be told of the rank's part in one run. */
static void add_counts(struct scene *s, int rank, const struct espi_backup *b)
{
    s->patience[rank] = b->session->patience;
    s->count[rank].asked += b->count.asked;
    s->count[rank].helped += b->count.helped;
    s->count[rank].wasted += b->count.wasted;
    s->count[rank].spared += b->count.spared;
    s->count[rank].answers += b->count.answers;
}

/* As the shim does it; also in steps. 0, an error, or BROKEN. */
enum { BROKEN = -2 };

static int run_program(struct scene *s, int rank, int number,
                       const struct espi_transport *t,
                       struct espi_backup_session *session, void *data)
{
    struct espi_backup_options options = s->options;
    struct espi_backup backup;
    struct espi_run_options o = {.window = s->window, .policy = &backup.policy};
    struct espi_arena arena;
    struct espi_run run;
    int result = 0;
    options.sender = s->backup[number][rank];
    espi_arena_init(&arena);
    espi_backup_session_begin(session, t);
    assert_int_equal(espi_backup_init(&backup, program_of(s, rank, number), rank, session,
                                      data, &options, &arena),
                     0);
    assert_int_equal(espi_run_init(&run, program_of(s, rank, number), rank,
                                   s->channel[number], t, data, &o, &arena),
                     0);
    while (result == 0)
        result = espi_run_progress(&run, rank % 3 != 2);
    add_counts(s, rank, &backup);
    espi_backup_done(&backup);
    int code = result < 0 ? run.error : backup.broken ? BROKEN : 0;
    espi_arena_done(&arena);
    return code;
}

static int one_run(struct scene *s, int rank, int number,
                   struct espi_backup_session *session, const struct espi_transport *t)
{
    const struct espi_program *prog = program_of(s, rank, number);
    size_t size = (size_t)prog->size_bytes;
    unsigned char *data = malloc(size);
    for (size_t i = 0; i < size; i++)
        data[i] = rank == prog->root ? expected(number, i) : 0xee;
    int code = run_program(s, rank, number, t, session, s->lost[rank] ? NULL : data);
    for (size_t i = 0; i < size && !code; i++)
        s->wrong[rank] += data[i] != expected(number, i);
    free(data);
    return code;
}

/* Takes the notes that were sent to this rank, or meets the others until all are. */
static int clear(struct scene *s, int rank, struct espi_backup_session *session,
                 const struct espi_transport *t)
{
    int64_t notes = 0, left = 1;
    int code = 0, count = 0;
    for (int from = 0; from < s->n; from++)
        notes += s->notes[from][rank];
    if (!s->meets)
        return espi_backup_session_drain(session, t, notes);
    espi_backup_session_close(session, t);
    while (left && !code) {
        code = espi_backup_session_sweep(session, &count);
        s->left[rank] = espi_backup_session_left(session);
        pthread_barrier_wait(&s->barrier);
        left = 0;
        for (int r = 0; r < s->n; r++)
            left += s->left[r];
        pthread_barrier_wait(&s->barrier);
    }
    return code;
}

static void *run_rank(void *arg)
{
    const struct rank *me = arg;
    struct scene *s = me->scene;
    int rank = me->rank, code = 0;
    struct espi_backup_session *session = espi_backup_session_create(s->n);
    struct espi_slow *slow = espi_slow_create(espi_loopback_rank(s->net, rank), s->n);
    const struct espi_transport *t = espi_slow_transport(slow);
    for (int to = 0; to < s->n; to++)
        espi_slow_link(slow, to, s->slow_Bps[rank][to]);
    for (int run = 0; run < s->n_runs && !code; run++)
        code = one_run(s, rank, run, session, t);
    memcpy(s->notes[rank], session->notes_sent,
           (size_t)s->n * sizeof *session->notes_sent);
    pthread_barrier_wait(&s->barrier);
    int cleared = code == 0 || code == BROKEN ? clear(s, rank, session, t) : 0;
    if (!code)
        code = cleared;
    s->code[rank] = code;
    pthread_barrier_wait(&s->barrier);
    espi_backup_session_free(session);
    espi_slow_free(slow);
    return NULL;
}

/* A complete platform; what its links are like is of no account here. */
static void scene_init(struct scene *s, int n)
{
    struct esp_random_options o;
    memset(s, 0, sizeof *s);
    s->n = n;
    esp_random_options_defaults(&o);
    o.nodes = n;
    o.density = 1;
    assert_int_equal(esp_generate_random(&o, &s->p, NULL), ESP_OK);
    espi_arena_init(&s->arena);
    s->window = 2;
    s->options = (struct espi_backup_options){.patience = 1, .grace_s = 1e9};
}

/* Adds a broadcast along the tree that parents[] tells. */
static void scene_add(struct scene *s, int root, const int *parent, double size,
                      double slice)
{
    struct espi_compile_options o = {.size_bytes = size, .slice_bytes = slice};
    struct esp_plan *plan = NULL;
    struct esp_err err;
    unsigned char has[RANKS_MAX] = {0};
    int links[RANKS_MAX], n_links = 0;
    has[root] = 1;
    while (n_links < s->n - 1)
        for (int v = 0; v < s->n; v++)
            if (!has[v] && has[parent[v]]) {
                links[n_links++] = esp_platform_find_link(s->p, parent[v], v);
                has[v] = 1;
            }
    assert_int_equal(esp_plan_create(ESP_OP_BCAST, root, "test", &plan, NULL), ESP_OK);
    assert_int_equal(esp_plan_add_simple_tree(plan, s->p, 1, n_links, links, NULL),
                     ESP_OK);
    plan->size_bytes = size;
    plan->slice_bytes = slice;
    assert_int_equal(esp_plan_schedule(plan, s->p, NULL), ESP_OK);
    assert_int_equal(esp_plan_check(plan, s->p, NULL), ESP_OK);
    struct espi_program *prog = &s->prog[s->n_runs];
    if (espi_program_compile(s->p, plan, &o, &s->arena, prog, &err))
        fail_msg("%s", err.text);
    assert_true(espi_backup_applies(prog));
    s->channel[s->n_runs] = espi_program_channels(prog, &s->arena);
    for (int v = 0; v < s->n; v++)
        s->backup[s->n_runs][v] = -1;
    s->n_runs++;
    esp_plan_free(plan);
}

static void all_links(struct scene *s, double bandwidth_Bps)
{
    for (int from = 0; from < s->n; from++)
        for (int to = 0; to < s->n; to++)
            s->slow_Bps[from][to] = bandwidth_Bps;
}

static void scene_run(struct scene *s)
{
    pthread_t threads[RANKS_MAX];
    struct rank ranks[RANKS_MAX];
    s->net = espi_loopback_create(s->n);
    assert_non_null(s->net);
    espi_loopback_fail_after(s->net, s->fail_after);
    pthread_barrier_init(&s->barrier, NULL, (unsigned)s->n);
    for (int r = 0; r < s->n; r++) {
        ranks[r] = (struct rank){s, r};
        pthread_create(&threads[r], NULL, run_rank, &ranks[r]);
    }
    for (int r = 0; r < s->n; r++)
        pthread_join(threads[r], NULL);
    pthread_barrier_destroy(&s->barrier);
}

static void scene_done(struct scene *s)
{
    espi_loopback_free(s->net);
    espi_arena_done(&s->arena);
    esp_platform_free(s->p);
}

static void expect_right(struct scene *s)
{
    for (int r = 0; r < s->n; r++) {
        assert_int_equal(s->code[r], 0);
        assert_int_equal(s->wrong[r], 0);
    }
    assert_true(espi_loopback_is_empty(s->net));
}

/* While all is in time there is no note and no answer. */
static void nothing_more_in_the_good_case(void **state)
{
    (void)state;
    struct scene s;
    int parent[5] = {0, 0, 0, 1, 1};
    scene_init(&s, 5);
    scene_add(&s, 0, parent, 100000, 1000);
    for (int v = 1; v < 5; v++)
        s.backup[0][v] = v % 2 ? 2 : 1;
    scene_run(&s);
    expect_right(&s);
    for (int r = 0; r < 5; r++) {
        assert_int_equal(s.count[r].asked + s.count[r].answers + s.count[r].spared, 0);
        for (int to = 0; to < 5; to++)
            assert_int_equal(s.notes[r][to], 0);
    }
    scene_done(&s);
}

/* The link from 0 to 1 would need half a minute for the message, the others a tenth of a
 * second. Rank 1 gets nearly all of it from rank 2, so that rank 0 does not send it, and
 * passes it on to 3 and 4. */
static void backup_replaces_slow_link(void **state)
{
    (void)state;
    struct scene s;
    int parent[5] = {0, 0, 0, 1, 3};
    scene_init(&s, 5);
    scene_add(&s, 0, parent, 300000, 3000);
    s.backup[0][1] = 2;
    all_links(&s, 3e6);
    s.slow_Bps[0][1] = 1e4;
    s.options.grace_s = 5e-3;
    scene_run(&s);
    expect_right(&s);
    assert_true(s.count[1].helped >= 90);
    assert_true(s.count[0].spared >= 90);
    assert_true(s.count[2].answers >= s.count[1].helped);
    scene_done(&s);
}

/* A parent serves the others of its children beside one that takes next to nothing: rank
 * 1 gets its message from 3, in time, which has it by way of 2. */
static void slow_child_does_not_hold_up_others(void **state)
{
    (void)state;
    struct scene s;
    int parent[4] = {0, 0, 0, 2};
    scene_init(&s, 4);
    scene_add(&s, 0, parent, 64000, 1000);
    s.backup[0][1] = 3; /* has its data by way of 2 */
    all_links(&s, 1e6);
    s.slow_Bps[0][1] = 5e3;
    s.options.grace_s = 2e-3;
    scene_run(&s);
    expect_right(&s);
    assert_true(s.count[1].helped >= 50);
    scene_done(&s);
}

/* Without backups too slow children get all. */
static void slow_children_get_all(void **state)
{
    (void)state;
    struct scene s;
    int parent[4] = {0, 0, 0, 0};
    scene_init(&s, 4);
    scene_add(&s, 0, parent, 20000, 1000);
    s.slow_Bps[0][1] = 1e5;
    s.slow_Bps[0][3] = 2e5;
    s.options.grace_s = 1e-3;
    scene_run(&s);
    expect_right(&s);
    assert_int_equal(s.count[0].spared, 0);
    scene_done(&s);
}

/* A rank that has lost its data passes on empty messages, and all who depend on it learn
 * that theirs are not right; the others have theirs. */
static void lost_data_are_told_of(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct scene s;
        int parent[6] = {0, 0, 0, 1, 3, 2};
        static const int without[6] = {0, 1, 0, 1, 1, 0};
        scene_init(&s, 6);
        scene_add(&s, 0, parent, 30000, 1000);
        for (int v = 0; v < 6; v++)
            s.backup[0][v] = round % 4 ? (v + round) % 6 : -1;
        s.lost[1] = 1;
        s.options.grace_s = round % 3 ? 0 : 1e9;
        scene_run(&s);
        for (int r = 0; r < 6; r++) {
            int may_be_saved = round % 4 && round % 3 && without[r] && r != 1;
            if (!may_be_saved)
                assert_int_equal(s.code[r], without[r] ? BROKEN : 0);
            assert_int_equal(s.wrong[r], 0);
        }
        scene_done(&s);
    }
}

/* Ranks that expect a message of another size notice it, and nobody waits for ever. */
static void other_sizes_are_noticed(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct scene s;
        int parent[5] = {0, 0, 0, 1, 2}, odd = 1 + round % 4;
        scene_init(&s, 5);
        scene_add(&s, 0, parent, 30000, 1000);
        for (int v = 0; v < 5; v++)
            s.backup[0][v] = (v + round) % 5;
        s.other = s.prog[0];
        s.other.size_bytes = round % 2 ? 27000 : 36000;
        s.odd = odd;
        s.options.grace_s = round % 3 ? 0 : 1e9;
        scene_run(&s);
        /* This network cuts long messages; then those that they are passed on to notice.
         */
        if (round % 2 == 0)
            assert_int_equal(s.code[odd], BROKEN);
        else if (odd <= 2 && round % 3 == 0)
            assert_int_equal(s.code[odd + 2], BROKEN);
        for (int r = 0; r < 5; r++)
            assert_true(s.code[r] == 0 || s.code[r] == BROKEN);
        assert_int_equal(s.code[0], 0);
        scene_done(&s);
    }
}

/* A backup that itself depends on the one it is to help does no harm, and is asked less
 * and less. */
static void useless_backups_are_left_alone(void **state)
{
    (void)state;
    struct scene s;
    int parent[3] = {0, 0, 1};
    scene_init(&s, 3);
    scene_add(&s, 0, parent, 50000, 250);
    s.backup[0][1] = 2;
    s.slow_Bps[0][1] = 5e5;
    s.options.grace_s = 1e-4;
    scene_run(&s);
    expect_right(&s);
    assert_int_equal(s.count[1].helped, 0);
    /* How often it is late, and how much comes until the backup hears that it is of no
     * use, depends on what else runs on the machine; but each time in vain doubles the
     * patience, and nothing is sent twice in answer to one. */
    assert_true(s.count[1].wasted == 0 || s.patience[1] >= 2);
    assert_true(s.patience[1] <= pow(2, (double)s.count[1].asked));
    assert_true(s.count[1].asked <= 8);
    assert_true(s.count[1].wasted <= s.count[1].asked * 200);
    scene_done(&s);
}

static void random_tree(struct espi_rng *rng, int n, int root, int *parent)
{
    int order[RANKS_MAX];
    for (int v = 0; v < n; v++)
        order[v] = v;
    order[0] = root;
    order[root] = 0;
    for (int i = n - 1; i > 1; i--) {
        int j = 1 + (int)espi_rng_below(rng, (uint32_t)i), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (int i = 1; i < n; i++)
        parent[order[i]] = order[espi_rng_below(rng, (uint32_t)i)];
}

/* Trees, roots and backups of all kinds, some links slow, and patience of none at all:
 * several broadcasts one after the other, so that notes and answers of one arrive in
 * another. */
static void random_scenes(void **state)
{
    (void)state;
    struct espi_rng rng;
    int64_t helped = 0, wasted = 0;
    espi_rng_seed(&rng, test_seed(5));
    for (int round = 0; round < 40; round++) {
        struct scene s;
        int parent[RANKS_MAX], n = 2 + (int)espi_rng_below(&rng, RANKS_MAX - 2);
        scene_init(&s, n);
        for (int k = 0; k < RUNS_MAX; k++) {
            int root = (int)espi_rng_below(&rng, (uint32_t)n);
            double size = 1 + espi_rng_below(&rng, 20000);
            random_tree(&rng, n, root, parent);
            scene_add(&s, root, parent, size, 1 + size / (1 + espi_rng_below(&rng, 30)));
            for (int v = 0; v < n; v++)
                s.backup[k][v] = (int)espi_rng_below(&rng, (uint32_t)n + 1) - 1;
        }
        for (int k = 0; k < n; k++) {
            uint32_t from = espi_rng_below(&rng, (uint32_t)n);
            s.slow_Bps[from][espi_rng_below(&rng, (uint32_t)n)] = 2e6;
        }
        s.window = 1 + (int)espi_rng_below(&rng, 5);
        s.options.grace_s = round % 2 ? 0 : 1e-3;
        s.meets = round % 4 >= 2;
        scene_run(&s);
        expect_right(&s);
        for (int v = 0; v < n; v++) {
            helped += s.count[v].helped;
            wasted += s.count[v].wasted;
        }
        scene_done(&s);
    }
    assert_true(helped > 0);
    assert_true(wasted > 0);
}

/* A network that fails: every rank comes back. */
static void failures_end_the_run(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(9));
    for (int round = 0; round < 30; round++) {
        struct scene s;
        int parent[6], failed = 0;
        scene_init(&s, 6);
        random_tree(&rng, 6, 0, parent);
        scene_add(&s, 0, parent, 6000, 500);
        for (int v = 0; v < 6; v++)
            s.backup[0][v] = (v + 3) % 6;
        s.options.grace_s = 0;
        s.fail_after = 1 + 7 * round;
        scene_run(&s);
        for (int r = 0; r < 6; r++)
            failed += s.code[r] != 0;
        assert_true(failed > 0 || round > 10);
        scene_done(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_more_in_the_good_case),
        cmocka_unit_test(backup_replaces_slow_link),
        cmocka_unit_test(slow_child_does_not_hold_up_others),
        cmocka_unit_test(slow_children_get_all),
        cmocka_unit_test(lost_data_are_told_of),
        cmocka_unit_test(other_sizes_are_noticed),
        cmocka_unit_test(useless_backups_are_left_alone),
        cmocka_unit_test(random_scenes),
        cmocka_unit_test(failures_end_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
