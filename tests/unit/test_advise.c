/* Settings, the platform of a communicator's ranks, and the choice of a plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "native/simulate.h"
#include "platform/platform.h"
#include "runtime/agreement.h"
#include "runtime/choice.h"
#include "runtime/knobs.h"
#include "runtime/rank_platform.h"
#include "runtime/tuning.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

/* ---- settings ---- */

static const char *env[8][2];

static char *get(const char *name)
{
    for (int i = 0; i < 8; i++)
        if (env[i][0] && strcmp(env[i][0], name) == 0)
            return (char *)(uintptr_t)env[i][1];
    return NULL;
}

static void set_only(const char *name, const char *value)
{
    memset(env, 0, sizeof env);
    env[0][0] = name;
    env[0][1] = value;
}

static void settings_have_defaults(void **state)
{
    (void)state;
    struct espi_settings s;
    memset(env, 0, sizeof env);
    assert_int_equal(espi_settings_read(&s, get, NULL), ESP_OK);
    assert_int_equal(s.mode, ESPI_MODE_AUTO);
    assert_int_equal(s.log, ESPI_LOG_WARN);
    assert_int_equal(s.window, 4);
    assert_true(s.min_bytes == 0 && s.margin == 0.9 && s.slice_bytes == 0);
    assert_string_equal(s.platform, "");
}

static void settings_are_read(void **state)
{
    (void)state;
    struct espi_settings s;
    set_only("ESPALIER_MODE", "off");
    assert_int_equal(espi_settings_read(&s, get, NULL), ESP_OK);
    assert_int_equal(s.mode, ESPI_MODE_OFF);
    set_only("ESPALIER_SLICE", "64KB");
    assert_int_equal(espi_settings_read(&s, get, NULL), ESP_OK);
    assert_true(s.slice_bytes == 64000);
    set_only("ESPALIER_LOG", "debug");
    assert_int_equal(espi_settings_read(&s, get, NULL), ESP_OK);
    assert_int_equal(s.log, ESPI_LOG_DEBUG);
    set_only("ESPALIER_HOSTS", "a,b");
    assert_int_equal(espi_settings_read(&s, get, NULL), ESP_OK);
    assert_string_equal(s.hosts, "a,b");
}

static void wrong_settings_are_named(void **state)
{
    static const char *const wrong[][2] = {
        {"ESPALIER_MODE", "aut"},     {"ESPALIER_MODE", "auto|force"},
        {"ESPALIER_LOG", "loud"},     {"ESPALIER_SLICE", "-1"},
        {"ESPALIER_MIN", "x"},        {"ESPALIER_WINDOW", "0"},
        {"ESPALIER_WINDOW", "99999"}, {"ESPALIER_MARGIN", "nan"}};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct espi_settings s = {.window = 77};
        struct esp_err err;
        set_only(wrong[i][0], wrong[i][1]);
        assert_int_equal(espi_settings_read(&s, get, &err), ESP_EUSAGE);
        assert_non_null(strstr(err.text, wrong[i][0]));
        assert_int_equal(s.window, 77); /* untouched */
    }
    static char long_name[ESPI_PATH_MAX + 1];
    struct espi_settings s;
    memset(long_name, 'a', ESPI_PATH_MAX);
    set_only("ESPALIER_PLATFORM", long_name);
    assert_int_equal(espi_settings_read(&s, get, NULL), ESP_EUSAGE);
}

/* ---- teams ---- */

/* A complete network of n hosts "h0.net", ... with bandwidths by number, and a cable that
 * all links from the first half to the second share. */
static struct esp_platform *network(int n)
{
    struct esp_builder *b;
    struct esp_platform *p = NULL;
    int cable[64], n_cable = 0;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%d.net", i);
        struct esp_node_spec spec = {name, i < n / 2 ? "west" : "east", ESP_NODE_HOST,
                                     ESP_UNSET, ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int link, far = (i < n / 2) != (j < n / 2);
            if (i == j)
                continue;
            assert_int_equal(esp_builder_add_link(b, i, j, far ? 5e-3 : 1e-4,
                                                  far ? 1e6 : 1e7 + i, &link, NULL),
                             ESP_OK);
            if (i < n / 2 && j >= n / 2)
                cable[n_cable++] = link;
        }
    assert_int_equal(esp_builder_add_cable(b, "wan", 1e6, cable, n_cable, NULL), ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

static void hosts_are_found_by_name(void **state)
{
    (void)state;
    struct esp_platform *net = network(4);
    static const char *const names[] = {"h2.net", "h2.net", "h0", "h3.elsewhere"};
    static const char *const wrong[] = {"h0", "hx", "h1", "h2"};
    int node[4];
    struct esp_err err;
    assert_int_equal(espi_find_nodes(net, 4, names, node, &err), ESP_OK);
    assert_true(node[0] == 2 && node[1] == 2 && node[2] == 0 && node[3] == 3);
    assert_int_equal(espi_find_nodes(net, 4, wrong, node, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, "rank 1 runs on host hx"));
    esp_platform_free(net);
}

static void short_names_must_be_one_node(void **state)
{
    static const char text[] =
        "{\"format\":\"espalier-platform/1\",\"nodes\":[{\"name\":\"a.x\"},"
        "{\"name\":\"a.y\"}],\"links\":[]}";
    static const char *const name[] = {"a"};
    struct esp_platform *net;
    struct esp_err err;
    int node;
    (void)state;
    assert_int_equal(esp_platform_parse(text, sizeof text - 1, "t", NULL, &net, &err),
                     ESP_OK);
    assert_int_equal(espi_find_nodes(net, 1, name, &node, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, "several"));
    esp_platform_free(net);
}

/* Rank i is node i; network links keep their values, ranks of a machine are joined. */
static void teams_keep_the_network(void **state)
{
    (void)state;
    struct esp_platform *net = network(6);
    static const int node[] = {4, 0, 0, 1, 4, 0};
    struct espi_rank_platform rank_platform;
    assert_int_equal(espi_rank_platform_create(&rank_platform, net, 6, node, NULL),
                     ESP_OK);
    const struct esp_platform *p = rank_platform.p;
    assert_int_equal(esp_platform_node_count(p), 6);
    assert_int_equal(esp_platform_host_count(p), 6);
    assert_string_equal(esp_platform_node_name(p, 1), "h0.net");
    assert_string_equal(esp_platform_node_site(p, 0), "east");
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) {
            int link = esp_platform_find_link(p, a, b);
            int leaders = rank_platform.leader[a] == a && rank_platform.leader[b] == b;
            if (a == b)
                continue;
            if (node[a] == node[b]) {
                assert_true(link >= 0);
                assert_true(p->bandwidth_Bps[link] == ESPI_INSIDE_BPS);
            } else if (leaders) {
                int own = esp_platform_find_link(net, node[a], node[b]);
                assert_int_equal(link, rank_platform.link[own]);
                assert_true(p->bandwidth_Bps[link] == net->bandwidth_Bps[own]);
                assert_true(p->latency_s[link] == net->latency_s[own]);
            } else {
                assert_int_equal(link, -1);
            }
        }
    assert_int_equal(esp_platform_cable_count(p), 1);
    assert_int_equal(p->shared_links.start[1] - p->shared_links.start[0], 2);
    espi_rank_platform_done(&rank_platform);
    esp_platform_free(net);
}

/* a - b - c: without b, a reaches c over it as over a switch; with it, as a host. */
static void hosts_without_ranks_may_forward(void **state)
{
    static const char text[] =
        "{\"format\":\"espalier-platform/"
        "1\",\"nodes\":[{\"name\":\"a\"},{\"name\":\"b\"},"
        "{\"name\":\"c\"}],\"links\":[{\"from\":\"a\",\"to\":\"b\",\"bandwidth_Bps\":5,"
        "\"duplex\":true},{\"from\":\"b\",\"to\":\"c\",\"bandwidth_Bps\":5,"
        "\"duplex\":true}]}";
    static const int two[] = {0, 2};
    struct esp_platform *net;
    struct espi_rank_platform rank_platform;
    (void)state;
    assert_int_equal(esp_platform_parse(text, sizeof text - 1, "t", NULL, &net, NULL),
                     ESP_OK);
    assert_int_equal(espi_rank_platform_create(&rank_platform, net, 2, two, NULL),
                     ESP_OK);
    assert_int_equal(esp_platform_host_count(rank_platform.p), 2);
    assert_int_equal(esp_platform_node_count(rank_platform.p), 3);
    espi_rank_platform_done(&rank_platform);
    esp_platform_free(net);
}

static void equal_teams_reach_all(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 64, 65, 100};
    for (int i = 0; i < 6; i++) {
        struct espi_rank_platform rank_platform;
        assert_int_equal(espi_rank_platform_create_equal(&rank_platform, sizes[i], NULL),
                         ESP_OK);
        assert_int_equal(esp_platform_host_count(rank_platform.p), sizes[i]);
        for (int r = 0; r < sizes[i]; r++)
            assert_int_equal(esp_platform_check_root(rank_platform.p, r, NULL), ESP_OK);
        espi_rank_platform_done(&rank_platform);
    }
}

/* A plan for the network serves teams with any number of ranks on each host, from any
 * rank on the root's machine, and no others. */
static void given_plans_are_adapted(void **state)
{
    (void)state;
    struct esp_platform *net = network(4);
    struct espi_rng rng;
    struct esp_request request;
    espi_rng_seed(&rng, test_seed(5));
    esp_request_init(&request, 2);
    request.algo = "grow";
    struct esp_plan *plan, *mine;
    assert_int_equal(esp_plan_make(net, &request, &plan, NULL), ESP_OK);
    for (int trial = 0; trial < 200; trial++) {
        int n = 1 + (int)espi_rng_below(&rng, 9), node[9], seen = 0;
        struct espi_rank_platform rank_platform;
        for (int i = 0; i < n; i++) {
            node[i] = (int)espi_rng_below(&rng, 4);
            seen |= 1 << node[i];
        }
        assert_int_equal(espi_rank_platform_create(&rank_platform, net, n, node, NULL),
                         ESP_OK);
        for (int root = 0; root < n; root++) {
            esp_status want = seen == 15 && node[root] == 2 ? ESP_OK : ESP_EUNSUPPORTED;
            assert_int_equal(espi_rank_platform_adapt(&rank_platform, net, node, plan,
                                                      root, &mine, NULL),
                             want);
            if (want)
                continue;
            assert_int_equal(esp_plan_check(mine, rank_platform.p, NULL), ESP_OK);
            assert_int_equal(mine->root, root);
            assert_int_equal(mine->trees[0].n_edges, n - 1);
            esp_plan_free(mine);
        }
        espi_rank_platform_done(&rank_platform);
    }
    esp_plan_free(plan);
    esp_platform_free(net);
}

/* ---- choices ---- */

static const esp_op all_ops[] = {ESP_OP_BCAST,  ESP_OP_SCATTER,   ESP_OP_GATHER,
                                 ESP_OP_REDUCE, ESP_OP_ALLREDUCE, ESP_OP_ALLGATHER};
enum { N_OPS = sizeof all_ops / sizeof *all_ops };

struct library {
    struct espi_native_table *table;
    struct espi_native_library library;
};

static struct library library_of(const char *name)
{
    struct library l;
    int is_other;
    assert_int_equal(espi_native_table_load(name, NULL, &l.table, &is_other, NULL),
                     ESP_OK);
    l.library = (struct espi_native_library){l.table, l.table->protocol};
    return l;
}

static void slow_links_are_avoided(void **state)
{
    (void)state;
    /* ranks alternate between the sites: a pipeline in rank order crosses the cable at
     * every step, a good tree once */
    struct esp_platform *net = network(8);
    static const int node[] = {0, 4, 1, 5, 2, 6, 3, 7};
    struct espi_rank_platform rank_platform;
    struct espi_choice choice;
    struct library known = library_of("openmpi");
    struct espi_choice_options options = {.margin = 0.9, .library = &known.library};
    assert_int_equal(espi_rank_platform_create(&rank_platform, net, 8, node, NULL),
                     ESP_OK);
    assert_int_equal(
        espi_choose(rank_platform.p, ESP_OP_BCAST, 0, 8e6, &options, &choice, NULL),
        ESP_OK);
    assert_non_null(choice.plan);
    assert_true(choice.ours_s < 0.9 * choice.native_s);
    int crossings = 0;
    for (int i = 0; i < choice.plan->trees[0].n_edges; i++) {
        const struct esp_edge *e = &choice.plan->trees[0].edges[i];
        crossings += (node[e->from] < 4) != (node[e->to] < 4);
    }
    assert_int_equal(crossings, 1);
    espi_choice_done(&choice);
    options.margin = 1e-9; /* as good as never */
    assert_int_equal(
        espi_choose(rank_platform.p, ESP_OP_BCAST, 0, 8e6, &options, &choice, NULL),
        ESP_OK);
    assert_null(choice.plan);
    assert_true(choice.ours_s > 0);
    options.force = 1;
    options.algo = "chain";
    options.slice_bytes = 1000;
    assert_int_equal(
        espi_choose(rank_platform.p, ESP_OP_BCAST, 3, 8e6, &options, &choice, NULL),
        ESP_OK);
    assert_string_equal(choice.plan->algo, "chain");
    assert_true(choice.plan->slice_bytes == 1000);
    espi_choice_done(&choice);
    espi_native_table_free(known.table);
    espi_rank_platform_done(&rank_platform);
    esp_platform_free(net);
}

/* What is predicted of the library is its own algorithm, simulated; of a library that is
 * not known nothing is. */
static void the_library_is_simulated(void **state)
{
    (void)state;
    struct esp_platform *net = network(8);
    static const int node[] = {0, 4, 1, 5, 2, 6, 3, 7};
    static const char *const names[] = {"openmpi", "mpich"};
    struct espi_rank_platform team;
    assert_int_equal(espi_rank_platform_create(&team, net, 8, node, NULL), ESP_OK);
    for (int i = 0; i < 2 * N_OPS * 3; i++) {
        struct library known = library_of(names[i % 2]);
        esp_op op = all_ops[i / 2 % N_OPS];
        double bytes = 100 * pow(300, i / (2 * N_OPS)), native_s;
        struct espi_choice_options options = {.margin = 0.9, .library = &known.library};
        struct espi_choice choice;
        assert_int_equal(espi_choose(team.p, op, 3, bytes, &options, &choice, NULL),
                         ESP_OK);
        const struct espi_native_rule *rule = espi_native_rule_for(
            known.table, op, 8, espi_native_bytes(team.p, op, bytes));
        struct espi_native_run run = {.algo = rule->algo,
                                      .root = 3,
                                      .size_bytes = bytes,
                                      .segment_bytes = rule->segment_bytes,
                                      .fanout = rule->fanout,
                                      .protocol = known.table->protocol};
        assert_int_equal(espi_native_makespan(team.p, &run, &native_s, NULL), ESP_OK);
        assert_true(choice.native_s == native_s);
        double margin = op == ESP_OP_BCAST && bytes <= ESPI_SHORT_BYTES
                            ? 0.9 * ESPI_SHORT_MARGIN
                            : 0.9;
        assert_true((choice.plan != NULL) == (choice.ours_s < margin * native_s));
        espi_choice_done(&choice);
        options.library = NULL;
        assert_int_equal(espi_choose(team.p, op, 3, bytes, &options, &choice, NULL),
                         ESP_OK);
        assert_null(choice.plan);
        assert_true(choice.native_s > 0 && choice.native_s == choice.ours_s);
        espi_native_table_free(known.table);
    }
    espi_rank_platform_done(&team);
    esp_platform_free(net);
}

static void equal_links_are_left_to_the_library(void **state)
{
    (void)state;
    struct espi_rank_platform rank_platform;
    struct library known = library_of("mpich");
    assert_int_equal(espi_rank_platform_create_equal(&rank_platform, 2, NULL), ESP_OK);
    for (double bytes = 1; bytes < 1e8; bytes *= 7) {
        struct espi_choice choice;
        struct espi_choice_options options = {.margin = 0.9, .library = &known.library};
        assert_int_equal(
            espi_choose(rank_platform.p, ESP_OP_BCAST, 1, bytes, &options, &choice, NULL),
            ESP_OK);
        assert_null(choice.plan);
    }
    espi_native_table_free(known.table);
    espi_rank_platform_done(&rank_platform);
}

static void no_plan_is_no_failure(void **state)
{
    static const char text[] =
        "{\"format\":\"espalier-platform/1\",\"nodes\":[{\"name\":\"a\"},"
        "{\"name\":\"b\"}],\"links\":[]}";
    struct esp_platform *p;
    struct espi_choice choice;
    struct espi_choice_options options = {.force = 1};
    (void)state;
    assert_int_equal(esp_platform_parse(text, sizeof text - 1, "t", NULL, &p, NULL),
                     ESP_OK);
    assert_int_equal(espi_choose(p, ESP_OP_BCAST, 0, 1000, &options, &choice, NULL),
                     ESP_OK);
    assert_null(choice.plan);
    esp_platform_free(p);
}

/* What goes before a plan counts against it, and not against the library. */
static void what_goes_before_counts(void **state)
{
    (void)state;
    struct esp_platform *net = network(8);
    static const int node[] = {0, 4, 1, 5, 2, 6};
    struct espi_rank_platform rank_platform;
    struct espi_choice plain, behind;
    struct espi_choice_options options = {.margin = 1e3, .keep = 1};
    assert_int_equal(espi_rank_platform_create(&rank_platform, net, 6, node, NULL),
                     ESP_OK);
    const struct esp_platform *p = rank_platform.p;
    assert_int_equal(espi_choose(p, ESP_OP_SCATTER, 1, 1e6, &options, &plain, NULL), 0);
    assert_true(plain.plan && !plain.is_native);
    options.before_s = 2e3 * plain.ours_s;
    assert_int_equal(espi_choose(p, ESP_OP_SCATTER, 1, 1e6, &options, &behind, NULL), 0);
    assert_true(behind.plan && behind.is_native);
    assert_true(behind.native_s == plain.native_s);
    assert_true(behind.ours_s == plain.ours_s + options.before_s);
    espi_choice_done(&plain);
    espi_choice_done(&behind);
    espi_rank_platform_done(&rank_platform);
    esp_platform_free(net);
}

/* Libraries have trees for parts of one size, and send others directly: a crossing less.
 */
static void unequal_parts_go_directly(void **state)
{
    (void)state;
    struct esp_platform *net = network(8);
    static const int node[] = {0, 4, 1, 5, 2, 6};
    struct espi_rank_platform rank_platform;
    struct library known = library_of("mpich");
    struct espi_choice equal, unequal;
    struct espi_choice_options options = {
        .margin = 1, .keep = 1, .library = &known.library};
    assert_int_equal(espi_rank_platform_create(&rank_platform, net, 6, node, NULL),
                     ESP_OK);
    const struct esp_platform *p = rank_platform.p;
    assert_int_equal(espi_choose(p, ESP_OP_SCATTER, 0, 500, &options, &equal, NULL), 0);
    options.unequal = 1;
    assert_int_equal(espi_choose(p, ESP_OP_SCATTER, 0, 500, &options, &unequal, NULL), 0);
    assert_true(unequal.native_s > 0 && unequal.native_s < equal.native_s);
    assert_true(unequal.ours_s == equal.ours_s);
    espi_choice_done(&equal);
    espi_choice_done(&unequal);
    espi_native_table_free(known.table);
    espi_rank_platform_done(&rank_platform);
    esp_platform_free(net);
}

/* One crossing of a long way at least, and no more than some. */
static void telling_takes_a_crossing(void **state)
{
    (void)state;
    struct esp_platform *net = network(8);
    static const int node[] = {0, 4, 1, 5, 2, 6};
    struct espi_rank_platform rank_platform;
    struct library known = library_of("mpich");
    double way_s, took_s;
    assert_int_equal(espi_rank_platform_create(&rank_platform, net, 6, node, NULL),
                     ESP_OK);
    assert_int_equal(espi_longest_way(rank_platform.p, &way_s, NULL), ESP_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(espi_predict_telling(rank_platform.p,
                                              i % 2 ? &known.library : NULL, i / 2, 3,
                                              &took_s, NULL),
                         ESP_OK);
        assert_true(took_s >= way_s * 0.99 && took_s < way_s * 20);
    }
    espi_native_table_free(known.table);
    espi_rank_platform_done(&rank_platform);
    esp_platform_free(net);
}

static void every_operation_gets_a_plan_that_runs(void **state)
{
    (void)state;
    struct esp_platform *net = network(8);
    static const int node[] = {0, 4, 1, 5, 2, 6, 3, 7, 0, 4};
    struct library known = library_of("openmpi");
    for (int i = 0; i < 8 * N_OPS; i++) {
        struct espi_rank_platform rank_platform;
        struct espi_choice choice, again;
        struct espi_choice_options options = {.force = 1, .library = &known.library};
        esp_op op = all_ops[i % N_OPS];
        int n = 2 + i % 9, root = i / N_OPS % n;
        double bytes = i % 3 ? 1e6 : 4000;
        assert_int_equal(espi_rank_platform_create(&rank_platform, net, n, node, NULL),
                         ESP_OK);
        assert_int_equal(
            espi_choose(rank_platform.p, op, root, bytes, &options, &choice, NULL),
            ESP_OK);
        assert_int_equal(
            espi_choose(rank_platform.p, op, root, bytes, &options, &again, NULL),
            ESP_OK);
        assert_non_null(choice.plan);
        assert_true(choice.plan->op == op && choice.plan->root == root);
        assert_true(choice.plan->slice_bytes > 0 && choice.plan->slice_bytes <= bytes);
        assert_true(choice.ours_s > 0 && choice.native_s > 0);
        assert_true(choice.ours_s == again.ours_s && choice.native_s == again.native_s);
        assert_int_equal(esp_plan_check(choice.plan, rank_platform.p, NULL), ESP_OK);
        espi_choice_done(&choice);
        espi_choice_done(&again);
        espi_rank_platform_done(&rank_platform);
    }
    espi_native_table_free(known.table);
    esp_platform_free(net);
}

/* Plans from outside for other operations than broadcasts. */
static void plans_of_all_operations_are_adapted(void **state)
{
    (void)state;
    struct esp_platform *net = network(6);
    static const int node[] = {2, 4, 1, 5, 0, 3, 3};
    for (int i = 0; i < N_OPS; i++) {
        struct espi_rank_platform rank_platform;
        struct esp_request request;
        struct esp_plan *plan = NULL, *mine = NULL;
        esp_request_init(&request, 4);
        request.op = all_ops[i];
        int any_root = request.op == ESP_OP_ALLREDUCE || request.op == ESP_OP_ALLGATHER;
        if (request.op == ESP_OP_ALLGATHER)
            request.algo = "spread";
        assert_int_equal(esp_plan_make(net, &request, &plan, NULL), ESP_OK);
        assert_int_equal(espi_rank_platform_create(&rank_platform, net, 6, node, NULL),
                         ESP_OK);
        assert_int_equal(
            espi_rank_platform_adapt(&rank_platform, net, node, plan, 1, &mine, NULL),
            ESP_OK);
        assert_int_equal(mine->root, 1);
        assert_int_equal(mine->n_trees, plan->n_trees);
        esp_plan_free(mine);
        assert_int_equal(
            espi_rank_platform_adapt(&rank_platform, net, node, plan, 2, &mine, NULL),
            any_root ? ESP_OK : ESP_EUNSUPPORTED);
        if (any_root)
            esp_plan_free(mine);
        espi_rank_platform_done(&rank_platform);
        assert_int_equal(espi_rank_platform_create(&rank_platform, net, 7, node, NULL),
                         ESP_OK);
        assert_int_equal(
            espi_rank_platform_adapt(&rank_platform, net, node, plan, 1, &mine, NULL),
            all_ops[i] == ESP_OP_BCAST ? ESP_OK : ESP_EUNSUPPORTED);
        if (all_ops[i] == ESP_OP_BCAST)
            esp_plan_free(mine);
        espi_rank_platform_done(&rank_platform);
        esp_plan_free(plan);
    }
    esp_platform_free(net);
}

static const char *const in_steps[] = {
    "gather-broadcast",   "two-step", "simultaneous",      "combining", "ring",
    "recursive-doubling", "bruck",    "neighbor-exchange", "magpie"};

/* Allgathers whose parts travel together: as plans from outside, and where a message
 * costs much in itself. */
static void plans_with_steps_are_adapted(void **state)
{
    (void)state;
    struct esp_platform *net = network(8);
    static const int node[] = {2, 4, 1, 5, 0, 3, 7, 6};
    struct espi_rank_platform rank_platform;
    assert_int_equal(espi_rank_platform_create(&rank_platform, net, 8, node, NULL),
                     ESP_OK);
    for (size_t i = 0; i < sizeof in_steps / sizeof *in_steps; i++) {
        struct esp_request request;
        struct esp_plan *plan = NULL, *mine = NULL;
        struct espi_choice choice;
        esp_request_init(&request, 0);
        request.op = ESP_OP_ALLGATHER;
        request.algo = in_steps[i];
        request.size_bytes = 4000;
        assert_int_equal(esp_plan_make(net, &request, &plan, NULL), ESP_OK);
        assert_int_equal(
            espi_rank_platform_adapt(&rank_platform, net, node, plan, 0, &mine, NULL),
            ESP_OK);
        for (int t = 0; t < plan->n_trees; t++)
            assert_memory_equal(mine->trees[t].steps, plan->trees[t].steps,
                                (size_t)plan->trees[t].n_edges * sizeof(int));
        struct espi_choice_options options = {.force = 1, .given = mine};
        assert_int_equal(espi_choose(rank_platform.p, ESP_OP_ALLGATHER, 0, 4000, &options,
                                     &choice, NULL),
                         ESP_OK);
        assert_non_null(choice.plan);
        assert_non_null(choice.plan->trees[0].steps);
        assert_int_equal(esp_plan_check(choice.plan, rank_platform.p, NULL), ESP_OK);
        espi_choice_done(&choice);
        assert_int_equal(espi_choose(rank_platform.p, ESP_OP_ALLGATHER, 0, 1e9, &options,
                                     &choice, NULL),
                         ESP_OK);
        assert_null(choice.plan); /* too much to pack */
        esp_plan_free(mine);
        esp_plan_free(plan);
    }
    espi_rank_platform_done(&rank_platform);
    esp_platform_free(net);
}

static void short_allgathers_go_in_steps(void **state)
{
    (void)state;
    struct espi_rank_platform rank_platform;
    struct espi_choice choice;
    struct espi_choice_options options = {.force = 1};
    assert_int_equal(espi_rank_platform_create_equal(&rank_platform, 16, NULL), ESP_OK);
    assert_int_equal(
        espi_choose(rank_platform.p, ESP_OP_ALLGATHER, 0, 256, &options, &choice, NULL),
        ESP_OK);
    assert_non_null(choice.plan->trees[0].steps);
    espi_choice_done(&choice);
    espi_rank_platform_done(&rank_platform);
}

/* ---- every allocation fails once ---- */

struct whole {
    struct esp_platform *net;
    struct library known;
};

static esp_status whole_way(void *arg)
{
    static const int node[] = {0, 3, 1, 1, 2, 0};
    const struct whole *whole = arg;
    const struct esp_platform *net = whole->net;
    struct espi_rank_platform rank_platform;
    struct espi_choice choice;
    struct espi_choice_options options = {
        .margin = 0.9, .algo = "grow", .library = &whole->known.library};
    esp_status st = espi_rank_platform_create(&rank_platform, net, 6, node, NULL);
    if (st)
        return st;
    st = espi_choose(rank_platform.p, ESP_OP_BCAST, 2, 1e6, &options, &choice, NULL);
    if (!st)
        espi_choice_done(&choice);
    espi_rank_platform_done(&rank_platform);
    if (!st)
        st = espi_rank_platform_create_equal(&rank_platform, 3, NULL);
    if (!st)
        espi_rank_platform_done(&rank_platform);
    return st;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    struct whole whole = {network(4), library_of("openmpi")};
    assert_true(alloc_fail_each(whole_way, &whole) > 10);
    espi_native_table_free(whole.known.table);
    esp_platform_free(whole.net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_have_defaults),
        cmocka_unit_test(settings_are_read),
        cmocka_unit_test(wrong_settings_are_named),
        cmocka_unit_test(hosts_are_found_by_name),
        cmocka_unit_test(short_names_must_be_one_node),
        cmocka_unit_test(teams_keep_the_network),
        cmocka_unit_test(hosts_without_ranks_may_forward),
        cmocka_unit_test(equal_teams_reach_all),
        cmocka_unit_test(given_plans_are_adapted),
        cmocka_unit_test(slow_links_are_avoided),
        cmocka_unit_test(the_library_is_simulated),
        cmocka_unit_test(equal_links_are_left_to_the_library),
        cmocka_unit_test(no_plan_is_no_failure),
        cmocka_unit_test(what_goes_before_counts),
        cmocka_unit_test(unequal_parts_go_directly),
        cmocka_unit_test(telling_takes_a_crossing),
        cmocka_unit_test(every_operation_gets_a_plan_that_runs),
        cmocka_unit_test(plans_of_all_operations_are_adapted),
        cmocka_unit_test(plans_with_steps_are_adapted),
        cmocka_unit_test(short_allgathers_go_in_steps),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
