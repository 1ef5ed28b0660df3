/* What the simulator says is what ranks do: each rank of a run over the loop-back
 * transport sends the same slices over the same streams in the same order as in the
 * simulation of its program, for every operation, one tree and many, in all models; where
 * connections go on by themselves (program/connections.h), in the same order on each
 * stream. */
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
#include "exec/backup.h"
#include "exec/exec.h"
#include "exec/loopback.h"
#include "sim/sim.h"
#include "support/kinds.h"
#include "support/seed.h"

enum { SLICE_BYTES = 200, SENDS_MAX = 4096, RANKS_MAX = 32 };

/* ---- sequences of sends ---- */

struct send {
    int stream;
    int64_t slice;
    int at; /* for sorting */
};

struct sequence {
    int n;
    struct send sends[SENDS_MAX];
};

static void add_send(struct sequence *q, int stream, int64_t slice)
{
    assert_true(q->n < SENDS_MAX);
    q->sends[q->n++] = (struct send){.stream = stream, .slice = slice};
}

/* What ranks of a program did, and the bytes by which slices are known. */
struct record {
    struct espi_program prog;
    int *channel;
    unsigned char *data;
    struct sequence *of_rank;
};

static void record_init(struct record *r, const struct esp_platform *p,
                        const struct esp_plan *plan, int slices, struct espi_arena *arena)
{
    struct espi_compile_options o = {.size_bytes = (double)slices * SLICE_BYTES,
                                     .slice_bytes = SLICE_BYTES};
    struct esp_err err;
    *r = (struct record){.data = NULL};
    if (espi_program_compile(p, plan, &o, arena, &r->prog, &err))
        fail_msg("%s", err.text);
    assert_true(r->prog.n_ranks <= RANKS_MAX);
    r->of_rank = calloc((size_t)r->prog.n_ranks, sizeof *r->of_rank);
    r->channel = espi_program_channels(&r->prog, arena);
}

static void record_done(struct record *r)
{
    free(r->of_rank);
    free(r->data);
}

/* ---- simulated ---- */

static void on_simulated_send(void *arg, int stream, int64_t slice)
{
    struct record *r = arg;
    add_send(&r->of_rank[r->prog.streams[stream].from], stream, slice);
}

static void simulate(struct record *r, esp_sharing sharing, struct espi_arena *arena)
{
    struct esp_sim_options o = {.sharing = sharing};
    struct espi_sim sim;
    struct esp_err err;
    if (espi_sim_init(&sim, &r->prog, &o, arena, &err))
        fail_msg("%s", err.text);
    sim.on_send = on_simulated_send;
    sim.on_send_arg = r;
    if (espi_sim_run(&sim, &err))
        fail_msg("%s", err.text);
}

/* ---- run ---- */

enum { NO_POLICY = -2 };

/* A rank's transport: the loop-back's, where what is sent is looked at. */
struct tap {
    struct espi_transport outer;
    const struct espi_transport *inner;
    struct record *record;
    int rank, window, result;
    int backup;      /* whom to ask, but nobody is late; NO_POLICY: runs without */
    int64_t unknown; /* messages that are not what the stream carries */
};

/* The bytes of the slices that a message is, one behind the other. */
static int is_message(const struct record *r, int stream, int64_t slice,
                      const unsigned char *from, size_t bytes)
{
    size_t at = 0;
    for (int k = 0; k < espi_stream_pieces(&r->prog, stream); k++) {
        uint64_t length;
        int64_t piece =
            r->prog.pieces ? r->prog.pieces[r->prog.piece_start[stream] + k] : slice;
        uint64_t place = espi_slice_range(&r->prog, piece, &length);
        if (length == 0 || at + length > bytes ||
            memcmp(from + at, r->data + place, length) != 0)
            return 0;
        at += length;
    }
    return at == bytes;
}

static int find_stream(const struct record *r, int from, int to, int channel)
{
    for (int s = 0; s < r->prog.n_streams; s++)
        if (r->prog.streams[s].from == from && r->prog.streams[s].to == to &&
            r->channel[s] == channel)
            return s;
    return -1;
}

static int64_t find_slice(const struct record *r, int stream, const void *from,
                          size_t bytes)
{
    for (int64_t slice = 0; slice < r->prog.n_slices; slice++)
        if (r->prog.slot_tree[slice % r->prog.slots] == r->prog.streams[stream].tree &&
            is_message(r, stream, slice, from, bytes))
            return slice;
    return -1;
}

static int tap_send(void *self, int peer, int channel, const void *from, size_t bytes,
                    struct espi_request *request)
{
    struct tap *tap = self;
    int stream = find_stream(tap->record, tap->rank, peer, channel);
    int64_t slice = stream < 0 ? -1 : find_slice(tap->record, stream, from, bytes);
    if (slice < 0)
        tap->unknown++;
    else
        add_send(&tap->record->of_rank[tap->rank], stream, slice);
    return tap->inner->send(tap->inner->self, peer, channel, from, bytes, request);
}

static int tap_recv(void *self, int peer, int channel, void *to, size_t bytes,
                    struct espi_request *request)
{
    const struct tap *tap = self;
    return tap->inner->recv(tap->inner->self, peer, channel, to, bytes, request);
}

static int tap_wait_some(void *self, struct espi_request *requests, int n, int block,
                         int *done, int *n_done)
{
    const struct tap *tap = self;
    return tap->inner->wait_some(tap->inner->self, requests, n, block, done, n_done);
}

static size_t tap_came(void *self, int i)
{
    const struct tap *tap = self;
    return tap->inner->came(tap->inner->self, i);
}

static int tap_poll(void *self, int channel, void *to, size_t bytes, int *peer)
{
    const struct tap *tap = self;
    return tap->inner->poll(tap->inner->self, channel, to, bytes, peer);
}

/* All ranks have the same message, which combinations leave as it is: so a slice is known
 * by its bytes wherever it is. */
static void same_as_mine(void *arg, void *into, const void *from, size_t bytes)
{
    struct tap *tap = arg;
    tap->unknown += memcmp(into, from, bytes) != 0;
}

static int run_plain(struct tap *tap, void *data, struct espi_run_options *o,
                     struct espi_arena *arena)
{
    const struct record *r = tap->record;
    struct espi_run run;
    return espi_run_init(&run, &r->prog, tap->rank, r->channel, &tap->outer, data, o,
                         arena)
               ? -1
               : espi_run_progress(&run, 1);
}

static int run_with_backup(struct tap *tap, void *data, struct espi_run_options *o,
                           struct espi_arena *arena)
{
    const struct espi_program *prog = &tap->record->prog;
    struct espi_backup_options options = {
        .sender = tap->backup, .patience = 1, .grace_s = 1e9};
    struct espi_backup_session *session = espi_backup_session_create(prog->n_ranks);
    struct espi_backup backup;
    espi_backup_session_begin(session, &tap->outer);
    o->policy = &backup.policy;
    int result =
        espi_backup_init(&backup, prog, tap->rank, session, data, &options, arena)
            ? -1
            : run_plain(tap, data, o, arena);
    espi_backup_done(&backup);
    espi_backup_session_free(session);
    return result;
}

static void *run_rank(void *arg)
{
    struct tap *tap = arg;
    const struct record *r = tap->record;
    size_t size = (size_t)r->prog.size_bytes;
    struct espi_run_options o = {
        .window = tap->window, .combine = same_as_mine, .arg = tap};
    struct espi_arena arena;
    void *data = malloc(size);
    memcpy(data, r->data, size);
    espi_arena_init(&arena);
    tap->result = tap->backup == NO_POLICY ? run_plain(tap, data, &o, &arena)
                                           : run_with_backup(tap, data, &o, &arena);
    espi_arena_done(&arena);
    free(data);
    return NULL;
}

static void run_ranks(struct record *r, int with_backup, struct espi_rng *rng)
{
    struct tap taps[RANKS_MAX];
    pthread_t threads[RANKS_MAX];
    struct espi_loopback *net = espi_loopback_create(r->prog.n_ranks);
    r->data = malloc((size_t)r->prog.size_bytes);
    for (size_t i = 0; i < (size_t)r->prog.size_bytes; i++)
        r->data[i] = (unsigned char)espi_rng_below(rng, 256);
    for (int k = 0; k < r->prog.n_ranks; k++) {
        taps[k] = (struct tap){.inner = espi_loopback_rank(net, k),
                               .record = r,
                               .rank = k,
                               .backup = NO_POLICY,
                               .window = 1 + (int)espi_rng_below(rng, 5)};
        taps[k].outer = (struct espi_transport){&taps[k],      tap_send, tap_recv,
                                                tap_wait_some, tap_came, tap_poll};
        if (with_backup)
            taps[k].backup = (int)espi_rng_below(rng, (uint32_t)r->prog.n_ranks + 1) - 1;
        pthread_create(&threads[k], NULL, run_rank, &taps[k]);
    }
    for (int k = 0; k < r->prog.n_ranks; k++)
        pthread_join(threads[k], NULL);
    for (int k = 0; k < r->prog.n_ranks; k++) {
        assert_int_equal(taps[k].result, 1);
        assert_int_equal(taps[k].unknown, 0);
    }
    espi_loopback_free(net);
}

/* ---- compared ---- */

static int by_stream(const void *x, const void *y)
{
    const struct send *a = x, *b = y;
    return a->stream != b->stream ? (a->stream < b->stream ? -1 : 1)
           : a->at < b->at        ? -1
                                  : 1;
}

/* Those of each stream together, in their order. */
static void sort_by_stream(struct sequence *q)
{
    for (int i = 0; i < q->n; i++)
        q->sends[i].at = i;
    qsort(q->sends, (size_t)q->n, sizeof *q->sends, by_stream);
}

static void sort_ranks(struct record *r)
{
    for (int k = 0; k < r->prog.n_ranks; k++)
        sort_by_stream(&r->of_rank[k]);
}

static int64_t expect_same(const struct record *simulated, const struct record *ran,
                           const char *what)
{
    int64_t sends = 0;
    for (int k = 0; k < ran->prog.n_ranks; k++) {
        const struct sequence *a = &simulated->of_rank[k], *b = &ran->of_rank[k];
        for (int i = 0; i < a->n && i < b->n; i++)
            if (a->sends[i].stream != b->sends[i].stream ||
                a->sends[i].slice != b->sends[i].slice)
                fail_msg("%s: send %d of rank %d: slice %d by stream %d is simulated, "
                         "slice %d by stream %d is sent",
                         what, i, k, (int)a->sends[i].slice, a->sends[i].stream,
                         (int)b->sends[i].slice, b->sends[i].stream);
        assert_int_equal(a->n, b->n);
        sends += a->n;
    }
    return sends;
}

/* What was compared: plans of each operation, by one tree and by many, with steps, and
 * with backup senders. */
static int compared[ESP_OP_COUNT][2], with_steps, with_backups;

static void compare_run(const struct esp_platform *p, const struct esp_plan *plan,
                        int slices, struct record *simulated, struct espi_rng *rng)
{
    struct espi_arena arena;
    espi_arena_init(&arena);
    for (int with_backup = 0; with_backup < 2; with_backup++) {
        struct record ran;
        if (with_backup && !espi_backup_applies(&simulated->prog))
            continue;
        record_init(&ran, p, plan, slices, &arena);
        run_ranks(&ran, with_backup, rng);
        if (with_backup || ran.prog.ordered == ESPI_FREE) {
            sort_ranks(simulated);
            sort_ranks(&ran);
        }
        int64_t sends = expect_same(simulated, &ran, plan->algo);
        compared[plan->op][plan->n_trees > 1] += sends > 0;
        with_steps += plan->trees[0].steps != NULL;
        with_backups += with_backup;
        record_done(&ran);
    }
    espi_arena_done(&arena);
}

static void compare(const struct esp_platform *p, const struct esp_plan *plan, int slices,
                    struct espi_rng *rng)
{
    struct espi_arena arena;
    espi_arena_init(&arena);
    for (int fluid = 0; fluid < 2; fluid++) {
        struct record simulated;
        if (fluid && p->model == ESP_MODEL_HNOW)
            continue; /* there is none */
        record_init(&simulated, p, plan, slices, &arena);
        simulate(&simulated, fluid ? ESP_SHARING_FLUID : ESP_SHARING_EXCLUSIVE, &arena);
        compare_run(p, plan, slices, &simulated, rng);
        record_done(&simulated);
    }
    espi_arena_done(&arena);
}

static const struct kind_case cases[] = {
    {ESP_OP_BCAST, "binomial-sp", 0},
    {ESP_OP_ALLGATHER, "all-roots", 0},
    {ESP_OP_SCATTER, "scatter", 0},
    {ESP_OP_REDUCE, "grow", 0},
    {ESP_OP_BCAST, "mtp", 0},
    {ESP_OP_ALLREDUCE, "tree-pairs", 0},
    {ESP_OP_ALLREDUCE, "ring-allreduce", 0},
    {ESP_OP_ALLREDUCE, "rabenseifner", 0},
    {ESP_OP_ALLREDUCE, "swing", 0},
    {ESP_OP_REDUCE_SCATTER, "all-roots", 0},
    {ESP_OP_ALLTOALL, "all-pairs", 0},
    {ESP_OP_GATHER, "scatter-tree", 0},
    {ESP_OP_MULTICAST, "mcph", 1},
    {ESP_OP_ALLGATHER, "ring", 0},
    {ESP_OP_BCAST, "chain", 0},
    {ESP_OP_REDUCE, "mtp", 0},
    {ESP_OP_SCATTER, "scatter-tree", 0},
    {ESP_OP_REDUCE_SCATTER, "ring", 0},
    {ESP_OP_ALLTOALL, "digits", 0},
    {ESP_OP_ALLREDUCE, "grow", 0},
    {ESP_OP_ALLGATHER, "bruck", 0},
    {ESP_OP_MULTICAST, "multisource", 1},
    {ESP_OP_GATHER, "scatter", 1},
    {ESP_OP_REDUCE_SCATTER, "bruck", 0},
    {ESP_OP_BCAST, "ecef", 0},
    {ESP_OP_ALLGATHER, "combining", 0},
    {ESP_OP_MULTICAST, "steiner-cg", 1},
    {ESP_OP_REDUCE_SCATTER, "combining", 0},
};

enum { CASES = sizeof cases / sizeof *cases, AT_A_TIME = 5 };

static struct kind_scope scope = {60, -1};

static void compare_case(const struct esp_platform *p, const struct kind_case *c,
                         struct espi_rng *rng)
{
    int slices = 1 + (int)espi_rng_below(rng, 30);
    struct esp_plan *plan = NULL;
    struct esp_err err;
    esp_status st = kind_plan_make(p, c, slices, &plan, &err);
    if (st == ESP_EUNSUPPORTED)
        return;
    if (st)
        fail_msg("%s: %s", c->algo, err.text);
    compare(p, plan, slices, rng);
    esp_plan_free(plan);
}

static void ranks_send_what_was_simulated(void **state)
{
    esp_model model = *(const esp_model *)*state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(31 + model));
    for (int i = 0; i < test_draws(scope.platforms); i++) {
        int n = 3 + (int)espi_rng_below(&rng, 6);
        struct esp_platform *p =
            kind_platform(i % KINDS, n, test_seed((uint64_t)i), model);
        for (int k = 0; k < AT_A_TIME; k++)
            compare_case(p, &cases[(i * AT_A_TIME + k) % CASES], &rng);
        esp_platform_free(p);
    }
}

static void workstations_send_what_was_simulated(void **state)
{
    struct espi_rng rng;
    (void)state;
    espi_rng_seed(&rng, test_seed(30));
    for (int i = 0; i < test_draws(scope.platforms); i++) {
        struct esp_hnow_options o;
        struct esp_platform *p = NULL;
        esp_hnow_options_defaults(&o);
        o.fast = 1 + (int)espi_rng_below(&rng, 4);
        o.slow = 2 + (int)espi_rng_below(&rng, 4);
        assert_int_equal(esp_generate_hnow(&o, &p, NULL), ESP_OK);
        for (int k = 0; k < AT_A_TIME; k++)
            compare_case(p, &cases[(i * AT_A_TIME + k) % CASES], &rng);
        esp_platform_free(p);
    }
}

/* Operations in which each host has a part have a tree for each of them. */
static void every_operation_was_compared(void **state)
{
    (void)state;
    for (int op = 0; op < ESP_OP_COUNT; op++) {
        int has_parts = op == ESP_OP_SCATTER || op == ESP_OP_GATHER ||
                        op == ESP_OP_ALLGATHER || op == ESP_OP_REDUCE_SCATTER ||
                        op == ESP_OP_ALLTOALL;
        print_message("%s: %d runs along one tree, %d along many\n",
                      esp_op_name((esp_op)op), compared[op][0], compared[op][1]);
        assert_true(has_parts || compared[op][0] > 0);
        assert_true(compared[op][1] > 0);
    }
    assert_true(with_steps > 0);
    assert_true(with_backups > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        KIND_TESTS(ranks_send_what_was_simulated),
        cmocka_unit_test(workstations_send_what_was_simulated),
        cmocka_unit_test(every_operation_was_compared),
    };
    kind_arguments(&scope, argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
