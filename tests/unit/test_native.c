/* What MPI libraries do: every algorithm leaves the data where its operation says, for
 * any number of ranks, root, size, segment and fan-out, whether sends wait for their
 * receivers or not; and scripts that are played take the time that they must. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "native/native.h"
#include "native/predict.h"
#include "native/simulate.h"
#include "native/table.h"
#include "native/trees.h"
#include "native/tuning.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/script_data.h"
#include "support/seed.h"

enum { DRAWS = 60, MOST_RANKS = 40, MOST_BYTES = 300, MOST_BYTES_A_PAIR = 5 };

/* ---- data ---- */

struct trial {
    const struct espi_native_algo *algo;
    struct espi_native_task t;
};

/* In alltoalls a byte has a name, that of the ranks between which it goes, and lies as
 * src/native/alltoall.c says. */
static uint64_t name_of(const struct trial *x, int from, int to)
{
    return 1 + (uint64_t)(from * x->t.n_ranks + to);
}

static uint64_t given_to_all(const struct trial *x, int rank, int64_t byte)
{
    int n = x->t.n_ranks, place = (int)(byte / x->t.bytes);
    return place < n ? name_of(x, rank, (rank + place) % n) : 0;
}

/* With Bruck's algorithm blocks come to the places that others have left. */
static int is_wanted_of_all(const struct trial *x, int rank, int64_t byte,
                            uint64_t *wanted)
{
    int n = x->t.n_ranks, place = (int)(byte / x->t.bytes);
    int stays = strstr(x->algo->name, "bruck") != NULL;
    *wanted = name_of(x, (rank - place % n + n) % n, rank);
    return place % n && stays == (place < n);
}

/* The contributions that a byte of a rank has at first and at the end; -1: any. */
static uint64_t given(const struct trial *x, int rank, int64_t byte)
{
    uint64_t me = (uint64_t)1 << rank;
    int owner = (int)(byte / x->t.bytes);
    switch (x->algo->op) {
    case ESP_OP_BCAST:
    case ESP_OP_SCATTER:
        return rank == x->t.root ? me : 0;
    case ESP_OP_GATHER:
    case ESP_OP_ALLGATHER:
        return owner == rank ? me : 0;
    case ESP_OP_ALLTOALL:
        return given_to_all(x, rank, byte);
    default:
        return me;
    }
}

static int is_wanted(const struct trial *x, int rank, int64_t byte, uint64_t *wanted)
{
    uint64_t all = x->t.n_ranks == 64 ? ~(uint64_t)0 : ((uint64_t)1 << x->t.n_ranks) - 1;
    int owner = (int)(byte / x->t.bytes);
    switch (x->algo->op) {
    case ESP_OP_BCAST:
        *wanted = (uint64_t)1 << x->t.root;
        return 1;
    case ESP_OP_SCATTER:
        *wanted = (uint64_t)1 << x->t.root;
        return owner == rank && rank != x->t.root;
    case ESP_OP_GATHER:
    case ESP_OP_ALLGATHER:
        *wanted = (uint64_t)1 << owner;
        return x->algo->op == ESP_OP_ALLGATHER || rank == x->t.root;
    case ESP_OP_REDUCE:
        *wanted = all;
        return rank == x->t.root;
    case ESP_OP_REDUCE_SCATTER:
        *wanted = all;
        return owner == rank;
    case ESP_OP_ALLTOALL:
        return is_wanted_of_all(x, rank, byte, wanted);
    default:
        *wanted = all;
        return 1;
    }
}

static void check_data(const struct trial *x, int rendezvous)
{
    struct espi_script s;
    struct script_data d;
    struct esp_err err = {.text = ""};
    uint64_t wanted;
    if (espi_native_write(x->algo, &x->t, &s, &err))
        fail_msg("%s:%s: %d ranks, %d bytes: %s", x->algo->library, x->algo->name,
                 x->t.n_ranks, (int)x->t.bytes, err.text);
    script_data_init(&d, &s);
    for (int r = 0; r < s.n_ranks; r++)
        for (int64_t i = 0; i < s.size_bytes; i++)
            *script_byte(&d, r, i) = given(x, r, i);
    int bad = script_data_run(&d, rendezvous);
    for (int r = 0; r < s.n_ranks && !bad; r++)
        for (int64_t i = 0; i < s.size_bytes && !bad; i++)
            if (is_wanted(x, r, i, &wanted) && *script_byte(&d, r, i) != wanted)
                bad = r + 1;
    if (bad)
        fail_msg("%s:%s:%s: %d ranks, root %d, %d bytes in segments of %d, fan-out %d, "
                 "%s: %d",
                 x->algo->library, esp_op_name(x->algo->op), x->algo->name, x->t.n_ranks,
                 x->t.root, (int)x->t.bytes, (int)x->t.segment_bytes, x->t.fanout,
                 rendezvous ? "rendezvous" : "eager", bad);
    script_data_done(&d);
    espi_script_done(&s);
}

static struct espi_native_task draw_task(struct espi_rng *rng,
                                         const struct espi_native_algo *algo)
{
    int n = 1 + (int)espi_rng_below(rng, MOST_RANKS);
    struct espi_native_task t = {.n_ranks = n,
                                 .root = (int)espi_rng_below(rng, (uint32_t)n)};
    int most = algo->op == ESP_OP_ALLTOALL ? MOST_BYTES_A_PAIR : MOST_BYTES;
    t.bytes = 1 + (int)espi_rng_below(rng, (uint32_t)most);
    if (algo->takes_segments && espi_rng_below(rng, 3))
        t.segment_bytes = 1 + (int)espi_rng_below(rng, (uint32_t)t.bytes);
    if (algo->takes_fanout)
        t.fanout = (int)espi_rng_below(rng, 7);
    return t;
}

static void test_data_end_where_they_belong(void **state)
{
    int n;
    const struct espi_native_algo *all = espi_native_algos(&n);
    (void)state;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < test_draws(DRAWS); k++) {
            struct espi_rng rng;
            espi_rng_seed(&rng, test_seed((uint64_t)(1000 * i + k)));
            struct trial x = {&all[i], draw_task(&rng, &all[i])};
            check_data(&x, 0);
            check_data(&x, 1);
        }
}

/* ---- trees, as the libraries' own comments draw them ---- */

static void check_children(espi_children_fn children, int rank, int n, int fanout,
                           int count, const int *expected)
{
    int found[64];
    assert_int_equal(children(rank, n, fanout, found), count);
    for (int i = 0; i < count; i++)
        assert_int_equal(found[i], expected[i]);
}

static void test_trees(void **state)
{
    (void)state;
    check_children(espi_binomial_children, 0, 8, 2, 3, (int[]){1, 2, 4});
    check_children(espi_binomial_children, 1, 8, 2, 2, (int[]){3, 5});
    check_children(espi_binomial_children, 3, 8, 2, 1, (int[]){7});
    check_children(espi_in_order_binomial_children, 4, 8, 2, 2, (int[]){5, 6});
    check_children(espi_knomial_children, 0, 10, 3, 5, (int[]){9, 3, 6, 1, 2});
    check_children(espi_knomial_children, 0, 10, 4, 5, (int[]){4, 8, 1, 2, 3});
    check_children(espi_binary_children, 1, 7, 2, 2, (int[]){3, 5});
    check_children(espi_binary_children, 2, 7, 2, 2, (int[]){4, 6});
    /* 6 on top, left 5 over (4, 3), right 2 over (1, 0); all shifted by one */
    check_children(espi_in_order_binary_children, 0, 7, 2, 2, (int[]){6, 3});
    check_children(espi_in_order_binary_children, 6, 7, 2, 2, (int[]){5, 4});
    check_children(espi_in_order_binary_children, 3, 7, 2, 2, (int[]){2, 1});
    check_children(espi_chain_children, 0, 10, 4, 4, (int[]){1, 4, 6, 8});
    check_children(espi_chain_children, 2, 10, 4, 1, (int[]){3});
    check_children(espi_chain_children, 3, 10, 4, 0, NULL);
}

/* ---- time ---- */

/* Hosts of a network without ports, to be linked. */
static struct esp_builder *begin_hosts(int n)
{
    struct esp_builder *b;
    char name[16];
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_CAPACITY);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "h%d", i);
        struct esp_node_spec spec = {
            .name = name, .send_s = ESP_UNSET, .recv_s = ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    return b;
}

static struct esp_platform *end_links(struct esp_builder *b)
{
    struct esp_platform *p;
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* Hosts in a row, each with links both ways to all others of 1 MB/s and 10 ms. */
static struct esp_platform *full_mesh(int n)
{
    struct esp_builder *b = begin_hosts(n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (i != k)
                assert_int_equal(esp_builder_add_link(b, i, k, 0.01, 1e6, NULL, NULL),
                                 ESP_OK);
    return end_links(b);
}

static double play_time(const struct esp_platform *p, const char *library,
                        const char *name, struct espi_native_run run)
{
    double makespan_s;
    run.algo = espi_native_find(library, ESP_OP_BCAST, name);
    assert_non_null(run.algo);
    assert_int_equal(espi_native_makespan(p, &run, &makespan_s, NULL), ESP_OK);
    return makespan_s;
}

static void test_protocols(void **state)
{
    struct esp_platform *p = full_mesh(4);
    struct espi_native_run eager = {.size_bytes = 1e5, .protocol = {1e6, 0, 0}};
    struct espi_native_run late = {.size_bytes = 1e5, .protocol = {1e4, 0, 0}};
    struct espi_native_run early = {.size_bytes = 1e5, .protocol = {1e4, 1e4, 0}};
    (void)state;
    /* one hop: 0.1 s and a latency; rendezvous: two more latencies, less what left before
     */
    assert_true(fabs(play_time(p, "openmpi", "basic_linear", eager) - 0.11) < 1e-9);
    assert_true(fabs(play_time(p, "openmpi", "basic_linear", late) - 0.13) < 1e-9);
    assert_true(fabs(play_time(p, "openmpi", "basic_linear", early) - 0.13) < 1e-9);
    assert_true(fabs(play_time(p, "openmpi", "pipeline", eager) - 0.33) < 1e-9);
    /* the root sends to 2, then to 1 when that is over; eager, at once */
    assert_true(fabs(play_time(p, "mpich", "binomial", eager) - 0.22) < 1e-9);
    assert_true(fabs(play_time(p, "mpich", "binomial", late) - 0.26) < 1e-9);
    /* ten segments down a chain of three hops */
    eager.segment_bytes = 10000;
    assert_true(fabs(play_time(p, "openmpi", "pipeline", eager) - (0.12 + 0.03)) < 1e-9);
    /* each message in the sender's hand, one after the other, then in the receiver's */
    eager.segment_bytes = 0;
    eager.protocol.message_s = 0.02;
    assert_true(fabs(play_time(p, "openmpi", "basic_linear", eager) -
                     (3 * 0.02 + 0.11 + 0.02)) < 1e-9);
    assert_true(fabs(play_time(p, "openmpi", "pipeline", eager) - 3 * (0.04 + 0.11)) <
                1e-9);
    late.protocol.message_s = 0.02;
    assert_true(fabs(play_time(p, "openmpi", "basic_linear", late) -
                     (3 * 0.02 + 0.13 + 0.02)) < 1e-9);
    esp_platform_free(p);
}

/* What is later than until_s takes for ever; what is not, as long as without it. */
static void test_until(void **state)
{
    struct esp_platform *p = full_mesh(4);
    struct espi_native_run run = {.size_bytes = 1e5, .protocol = {1e6, 0, 0}};
    (void)state;
    double end_s = play_time(p, "openmpi", "pipeline", run);
    run.until_s = end_s;
    assert_true(play_time(p, "openmpi", "pipeline", run) == end_s);
    run.until_s = end_s * 0.99;
    assert_true(isinf(play_time(p, "openmpi", "pipeline", run)));
    esp_platform_free(p);
}

/* Links between all hosts, of random rates, and cables that half of them share. */
static struct esp_platform *random_mesh(struct espi_rng *rng, int n)
{
    struct esp_builder *b = begin_hosts(n);
    int links = n * (n - 1), *shared = calloc((size_t)links, sizeof *shared), m = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            double latency_s = espi_rng_range(rng, 0, 1e-2);
            double bandwidth_Bps = espi_rng_log_range(rng, 1e5, 1e7);
            if (i != k)
                assert_int_equal(
                    esp_builder_add_link(b, i, k, latency_s, bandwidth_Bps, NULL, NULL),
                    ESP_OK);
        }
    for (int e = 0; e < links; e++)
        if (espi_rng_below(rng, 2))
            shared[m++] = e;
    if (m > 0)
        assert_int_equal(esp_builder_add_cable(b, "wan", 1e6, shared, m, NULL), ESP_OK);
    free(shared);
    return end_links(b);
}

/* Of a ring on random networks the first rounds tell what all take, within three tenths;
 * a limit that is not reached changes nothing. */
static void test_enough_messages(void **state)
{
    (void)state;
    double worst = 1;
    for (int i = 0; i < test_draws(30); i++) {
        struct espi_rng rng;
        espi_rng_seed(&rng, test_seed((uint64_t)(9000 + i)));
        int n = 8 + (int)espi_rng_below(&rng, 20);
        struct esp_platform *p = random_mesh(&rng, n);
        double all_s, some_s;
        struct espi_native_run run = {
            .algo = espi_native_find("openmpi", ESP_OP_ALLGATHER, "ring"),
            .size_bytes = espi_rng_log_range(&rng, 1e4, 1e7),
            .protocol = {65536, 0, 5e-6},
            .rounds_most = (uint64_t)n};
        assert_int_equal(espi_native_makespan(p, &run, &some_s, NULL), ESP_OK);
        run.rounds_most = 0;
        assert_int_equal(espi_native_makespan(p, &run, &all_s, NULL), ESP_OK);
        assert_true(all_s == some_s);
        run.rounds_most = ESPI_PREDICT_ROUNDS;
        assert_int_equal(espi_native_makespan(p, &run, &some_s, NULL), ESP_OK);
        worst = fmax(worst, fmax(all_s / some_s, some_s / all_s));
        esp_platform_free(p);
    }
    if (!(worst > 1 && worst < 1.5))
        fail_msg("off by %g", worst);
}

/* ---- limits that a job has set ---- */

static const char *variable, *value;

static char *get_variable(const char *name)
{
    static char copy[64];
    if (strcmp(name, variable) != 0)
        return NULL;
    snprintf(copy, sizeof copy, "%s", value);
    return copy;
}

static struct espi_protocol limits_with(const char *library, const char *name,
                                        const char *text)
{
    struct espi_protocol protocol = {1, 2, 3};
    variable = name;
    value = text;
    espi_native_read_limits(library, get_variable, &protocol);
    return protocol;
}

static void test_limits(void **state)
{
    static const char *const none[] = {"", "auto", "inf", "12 k", "8kk", "-1", "1e99"};
    static const char eager[] = "OMPI_MCA_btl_tcp_eager_limit", ucx[] = "UCX_RNDV_THRESH";
    (void)state;
    assert_true(limits_with("openmpi", eager, "131072").eager_bytes == 131072);
    assert_true(
        limits_with("openmpi", "OMPI_MCA_btl_tcp_rndv_eager_limit", "7").first_bytes ==
        7);
    assert_true(limits_with("mpich", ucx, "128k").eager_bytes == 131072);
    assert_true(limits_with("mpich", ucx, "2MB").eager_bytes == 2097152);
    assert_true(limits_with("mpich", ucx, "2MB").first_bytes == 2);
    assert_true(limits_with("mpich", eager, "131072").eager_bytes == 1);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_true(limits_with("mpich", ucx, none[i]).eager_bytes == 1);
}

/* ---- the same as the simulator of plans ---- */

/* The broadcast along a tree of ranks, as a plan. */
static double plan_time(const struct esp_platform *p, espi_children_fn children,
                        double size_bytes, double slice_bytes)
{
    struct espi_rank_tree tree;
    struct esp_plan *plan;
    struct esp_sim_result *result;
    int links[MOST_RANKS], n = p->n_hosts, m = 0;
    assert_int_equal(espi_rank_tree_init(&tree, n, 1, children), 0);
    for (int r = 0; r < n; r++) /* parents have lower numbers in these trees */
        for (int k = tree.child_start[r]; k < tree.child_start[r + 1]; k++)
            links[m++] = esp_platform_find_link(p, r, tree.child[k]);
    assert_int_equal(esp_plan_create(ESP_OP_BCAST, 0, "", &plan, NULL), ESP_OK);
    assert_int_equal(esp_plan_add_simple_tree(plan, p, 1, m, links, NULL), ESP_OK);
    plan->size_bytes = size_bytes;
    plan->slice_bytes = slice_bytes;
    assert_int_equal(esp_simulate(p, plan, NULL, &result, NULL), ESP_OK);
    double makespan_s = result->makespan_s;
    esp_sim_result_free(result);
    esp_plan_free(plan);
    espi_rank_tree_done(&tree);
    return makespan_s;
}

/* Where no sender waits for a receiver, segments go along a tree as slices of a plan do:
 * two simulators that have nothing in common but the rates. */
static void test_as_plans(void **state)
{
    static const struct {
        const char *name;
        espi_children_fn children;
    } trees[] = {{"pipeline", espi_chain_children},
                 {"binary_tree", espi_binary_children},
                 {"binomial", espi_binomial_children}};
    (void)state;
    for (int i = 0; i < test_draws(60); i++) {
        struct espi_rng rng;
        espi_rng_seed(&rng, test_seed((uint64_t)(7000 + i)));
        struct esp_platform *p = random_mesh(&rng, 2 + (int)espi_rng_below(&rng, 12));
        int slices = 1 + (int)espi_rng_below(&rng, 30);
        struct espi_native_run run = {.size_bytes = 10000.0 * slices,
                                      .segment_bytes = 10000,
                                      .protocol = {INFINITY, 0, 0}};
        double ours_s = plan_time(p, trees[i % 3].children, run.size_bytes, 10000);
        double its_s = play_time(p, "openmpi", trees[i % 3].name, run);
        if (fabs(ours_s - its_s) > 1e-6 * ours_s)
            fail_msg("draw %d, %s, %d slices: %.9g s as a plan, %.9g s as a script", i,
                     trees[i % 3].name, slices, ours_s, its_s);
        esp_platform_free(p);
    }
}

static esp_status simulate_chain(void *platform)
{
    const struct esp_platform *p = platform;
    struct esp_sim_result *result;
    struct espi_native_run run = {.algo =
                                      espi_native_find("openmpi", ESP_OP_BCAST, "chain"),
                                  .size_bytes = 5000,
                                  .segment_bytes = 1000,
                                  .protocol = {1000, 500, 0}};
    struct esp_err err;
    esp_status st = espi_native_simulate(p, &run, &result, &err);
    if (!st)
        esp_sim_result_free(result);
    return st;
}

static void test_out_of_memory(void **state)
{
    struct esp_platform *p = full_mesh(5);
    (void)state;
    assert_true(alloc_fail_each(simulate_chain, p) > 0);
    esp_platform_free(p);
}

/* ---- tables ---- */

static const char *chosen(const char *library, esp_op op, int n_ranks, int64_t bytes)
{
    struct espi_native_table *table;
    int is_other;
    assert_int_equal(espi_native_table_load(library, NULL, &table, &is_other, NULL),
                     ESP_OK);
    const struct espi_native_rule *rule = espi_native_rule_for(table, op, n_ranks, bytes);
    const char *name = rule ? rule->algo->name : "none";
    espi_native_table_free(table);
    return name;
}

/* Said by the libraries' own decision functions. */
static void test_choices(void **state)
{
    (void)state;
    assert_string_equal(chosen("openmpi", ESP_OP_BCAST, 3, 31), "pipeline");
    assert_string_equal(chosen("openmpi", ESP_OP_BCAST, 15, 1 << 20), "basic_linear");
    assert_string_equal(chosen("openmpi", ESP_OP_BCAST, 16, (1 << 20) - 1), "binomial");
    assert_string_equal(chosen("openmpi", ESP_OP_BCAST, 16, 1 << 20),
                        "scatter_allgather");
    assert_string_equal(chosen("openmpi", ESP_OP_BCAST, 64, 1 << 24), "knomial");
    assert_string_equal(chosen("openmpi", ESP_OP_BCAST, 5000, 8192), "binary_tree");
    assert_string_equal(chosen("mpich", ESP_OP_BCAST, 7, 1 << 24), "binomial");
    assert_string_equal(chosen("mpich", ESP_OP_BCAST, 16, 12288), "binomial");
    assert_string_equal(chosen("mpich", ESP_OP_BCAST, 16, 524288),
                        "scatter_recursive_doubling_allgather");
    assert_string_equal(chosen("mpich", ESP_OP_BCAST, 12, 12289),
                        "scatter_ring_allgather");
    assert_string_equal(chosen("openmpi", ESP_OP_ALLGATHER, 2, 1), "two_proc");
    assert_string_equal(chosen("openmpi", ESP_OP_ALLGATHER, 31, 1 << 20),
                        "recursive_doubling");
    assert_string_equal(chosen("openmpi", ESP_OP_ALLGATHER, 64, 65535), "neighbor");
    assert_string_equal(chosen("openmpi", ESP_OP_REDUCE, 16, 4096), "binomial");
    assert_string_equal(chosen("openmpi", ESP_OP_SCATTER, 24, 16384), "basic_linear");
    assert_string_equal(chosen("openmpi", ESP_OP_GATHER, 6, 262144), "linear_sync");
    assert_string_equal(chosen("mpich", ESP_OP_ALLGATHER, 12, 6826), "brucks");
    assert_string_equal(chosen("mpich", ESP_OP_ALLGATHER, 12, 6827), "ring");
    assert_string_equal(chosen("mpich", ESP_OP_REDUCE, 12, 2048), "binomial");
    assert_string_equal(chosen("openmpi", ESP_OP_REDUCE_SCATTER, 40, 1),
                        "non-overlapping");
    assert_string_equal(chosen("openmpi", ESP_OP_REDUCE_SCATTER, 64, 64), "butterfly");
    assert_string_equal(chosen("openmpi", ESP_OP_REDUCE_SCATTER, 16, 16384), "ring");
    assert_string_equal(chosen("openmpi", ESP_OP_ALLTOALL, 64, 1023), "modified_bruck");
    assert_string_equal(chosen("openmpi", ESP_OP_ALLTOALL, 200, 1 << 20), "pairwise");
    assert_string_equal(chosen("mpich", ESP_OP_REDUCE_SCATTER, 16, 32768), "pairwise");
    assert_string_equal(chosen("mpich", ESP_OP_ALLTOALL, 8, 1), "scattered");
    assert_string_equal(chosen("mpich", ESP_OP_ALLTOALL, 9, 256), "brucks");
    assert_string_equal(chosen("mpich", ESP_OP_ALLTOALL, 9, 32769), "pairwise");
    assert_string_equal(chosen("mpich", ESP_OP_MULTICAST, 12, 12289), "none");
}

static void test_versions(void **state)
{
    struct espi_native_table *table;
    struct espi_native_version v;
    int is_other;
    (void)state;
    assert_int_equal(espi_native_version_parse("4.1.", &v, NULL), ESP_EUSAGE);
    assert_int_equal(espi_native_version_parse("", &v, NULL), ESP_EUSAGE);
    assert_int_equal(espi_native_version_parse("4.1.2.3", &v, NULL), ESP_EUSAGE);
    assert_int_equal(espi_native_version_parse("5", &v, NULL), ESP_OK);
    assert_int_equal(espi_native_table_load("openmpi", &v, &table, &is_other, NULL),
                     ESP_OK);
    assert_true(is_other);
    espi_native_table_free(table);
    assert_int_equal(espi_native_version_parse("4.1.4", &v, NULL), ESP_OK);
    assert_int_equal(espi_native_table_load("openmpi", &v, &table, &is_other, NULL),
                     ESP_OK);
    assert_false(is_other);
    espi_native_table_free(table);
}

static void test_bad_tables(void **state)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"library\": \"lam\"}",
        "{\"library\": \"openmpi\", \"format\": \"espalier-native/2\"}",
        "{\"library\": \"openmpi\", \"versions\": [\"4.1\"]}",
        "{\"library\": \"openmpi\", \"versions\": [\"4.2\", \"4.1\"]}",
        "{\"library\": \"openmpi\", \"eager_bytes\": -1}",
        "{\"operations\": {\"bcast\": {\"rules\": []}}, \"library\": \"mpich\"}",
        "{\"library\": \"mpich\", \"operations\": {\"sort\": {}}}",
        "{\"library\": \"mpich\", \"operations\": {\"bcast\": {\"rules\": [{}]}}}",
        "{\"library\": \"mpich\", \"operations\": {\"bcast\": {\"rules\": "
        "[{\"algorithm\": \"chain\"}]}}}",
        "{\"library\": \"mpich\", \"operations\": {\"bcast\": {\"rules\": "
        "[{\"algorithm\": \"binomial\", \"fanout\": 1.5}]}}}",
        "{\"library\": \"mpich\"} x",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct espi_native_table *table = NULL;
        struct esp_err err = {.text = ""};
        assert_int_equal(
            espi_native_table_parse(bad[i], strlen(bad[i]), "t.json", &table, &err),
            ESP_EINPUT);
        assert_non_null(strstr(err.text, "t.json"));
        assert_null(table);
    }
}

static esp_status load_openmpi(void *unused)
{
    struct espi_native_table *table;
    int is_other;
    (void)unused;
    esp_status st = espi_native_table_load("openmpi", NULL, &table, &is_other, NULL);
    if (!st)
        espi_native_table_free(table);
    return st;
}

static void test_tables_out_of_memory(void **state)
{
    (void)state;
    assert_true(alloc_fail_each(load_openmpi, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_end_where_they_belong),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_protocols),
        cmocka_unit_test(test_until),
        cmocka_unit_test(test_enough_messages),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_as_plans),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_tables_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
