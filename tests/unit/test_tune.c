/* The best of what MPI libraries have: nothing that is chosen is later than what is
 * usual, nothing is chosen that is left out, and files say what was chosen. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "native/rank_order.h"
#include "native/tune.h"
#include "native/tuning.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

enum { DRAWS = 12, SIZES = 3, OPS = 4 };

static const esp_op ops[OPS] = {ESP_OP_BCAST, ESP_OP_REDUCE, ESP_OP_ALLREDUCE,
                                ESP_OP_ALLGATHER};
static const double sizes[SIZES] = {2048, 32768, 500000};

/* Sites of hosts, in random order, joined by a cable. */
static struct esp_platform *draw_sites(struct espi_rng *rng, int n)
{
    struct esp_builder *b;
    struct esp_platform *p;
    char name[16];
    int site[16], *slow = calloc((size_t)(n * n), sizeof *slow), m = 0, links = 0;
    double slow_Bps = espi_rng_log_range(rng, 1e5, 1e7);
    double slow_s = espi_rng_range(rng, 0, 1e-2);
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_CAPACITY);
    for (int i = 0; i < n; i++) {
        site[i] = (int)espi_rng_below(rng, 3);
        snprintf(name, sizeof name, "h%d", i);
        struct esp_node_spec spec = {.name = name,
                                     .site = (const char *[]){"a", "b", "c"}[site[i]],
                                     .send_s = ESP_UNSET,
                                     .recv_s = ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            if (i == k)
                continue;
            if (site[i] != site[k])
                slow[m++] = links;
            links++;
            assert_int_equal(esp_builder_add_link(b, i, k,
                                                  site[i] != site[k] ? slow_s : 1e-4, 1e8,
                                                  NULL, NULL),
                             ESP_OK);
        }
    if (m > 0)
        assert_int_equal(esp_builder_add_cable(b, "wan", slow_Bps, slow, m, NULL),
                         ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    free(slow);
    return p;
}

static struct espi_native_table *load(const char *library)
{
    struct espi_native_table *table;
    int is_other;
    assert_int_equal(espi_native_table_load(library, NULL, &table, &is_other, NULL),
                     ESP_OK);
    return table;
}

static struct espi_tune_ask ask_for(const struct espi_native_table *table)
{
    return (struct espi_tune_ask){.table = table,
                                  .protocol = table->protocol,
                                  .ops = ops,
                                  .n_ops = OPS,
                                  .sizes = sizes,
                                  .n_sizes = SIZES,
                                  .first = -1,
                                  .n_orders = 8};
}

/* ---- what is chosen ---- */

static double play_choice(const struct esp_platform *p, const struct espi_tune_ask *ask,
                          const int *nodes, const struct espi_native_choice *c,
                          double size_bytes)
{
    struct espi_native_run run = {.algo = c->algo,
                                  .root = nodes[0],
                                  .size_bytes = size_bytes,
                                  .segment_bytes = c->segment_bytes,
                                  .fanout = c->fanout,
                                  .protocol = ask->protocol,
                                  .nodes = nodes};
    double makespan_s;
    assert_int_equal(espi_native_makespan(p, &run, &makespan_s, NULL), ESP_OK);
    return makespan_s;
}

static void check_cell(const struct esp_platform *p, const struct espi_tune_ask *ask,
                       const struct espi_tune *t, int i)
{
    const struct espi_tune_cell *c = &t->cells[i];
    struct espi_native_task task = {.n_ranks = t->n_ranks,
                                    .segment_bytes = c->chosen.segment_bytes,
                                    .fanout = c->chosen.fanout};
    const struct espi_native_rule *rule = espi_native_rule_for(
        ask->table, c->op, t->n_ranks, espi_native_bytes(p, c->op, c->size_bytes));
    assert_ptr_equal(c->usual.algo, rule->algo);
    assert_true(c->chosen_s <= c->usual_s);
    assert_true(c->chosen_s <= ESPI_ORDER_LATER * c->given_s);
    assert_true(t->is_ordered || c->chosen_s <= c->given_s);
    assert_true(play_choice(p, ask, t->nodes, &c->chosen, c->size_bytes) == c->chosen_s);
    if (!c->is_rule) {
        assert_ptr_equal(c->chosen.algo, c->usual.algo);
        return;
    }
    assert_true(c->chosen_s * ESPI_TUNE_GAIN <= c->usual_s);
    assert_null(
        espi_native_left_out(&ask->table->tuning, c->chosen.algo, &task, ask->promises));
    /* up to the next size */
    if ((i + 1) % t->n_sizes) {
        const struct espi_tune_cell *next = c + 1;
        assert_true(play_choice(p, ask, t->nodes, &c->chosen, next->size_bytes) <=
                    next->usual_s);
    }
}

static void check_nodes(const struct esp_platform *p, const struct espi_tune_ask *ask,
                        const struct espi_tune *t)
{
    int seen[16] = {0};
    for (int r = 0; r < t->n_ranks; r++)
        seen[t->nodes[r]]++;
    for (int u = 0; u < p->n_nodes; u++)
        assert_int_equal(seen[u], 1);
    if (ask->first >= 0)
        assert_int_equal(t->nodes[0], ask->first);
}

/* ---- files, read by the rules that the libraries' documentation gives ---- */

struct told {
    char called[80]; /* "": what is usual */
    int fanout;
    long segment;
};

static char *write_text(esp_status (*write)(const void *, FILE *, struct esp_err *),
                        const struct espi_tune_file *file)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(write(file, out, NULL), ESP_OK);
    fclose(out);
    assert_int_not_equal(size % 4096, 0); /* MPICH maps the file */
    return text;
}

static long next_number(const char **at)
{
    char *end;
    for (;;) {
        *at += strspn(*at, " \n");
        if (**at != '#')
            break;
        *at += strcspn(*at, "\n");
    }
    long number = strtol(*at, &end, 10);
    assert_ptr_not_equal(end, *at);
    *at = end;
    return number;
}

/* The last size of a communicator that is not larger, and of its messages; the first
 * where all are larger. */
static struct told ask_rules(const char *text, const char *collective, int n_ranks,
                             double bytes)
{
    struct told told = {.called = ""};
    const char *at = text;
    long collectives = next_number(&at);
    for (long c = 0; c < collectives; c++) {
        int is_it = next_number(&at) == strtol(collective, NULL, 10);
        long comms = next_number(&at);
        for (long k = 0; k < comms; k++) {
            int fits = next_number(&at) <= n_ranks || k == 0;
            long rules = next_number(&at);
            for (long r = 0; r < rules; r++) {
                long from = next_number(&at), number = next_number(&at);
                long fanout = next_number(&at), segment = next_number(&at);
                assert_true(r > 0 || from == 0);
                if (!is_it || !fits || (double)from > bytes)
                    continue;
                told = (struct told){.fanout = (int)fanout, .segment = segment};
                if (number > 0)
                    snprintf(told.called, sizeof told.called, "%ld", number);
            }
        }
    }
    return told;
}

struct call {
    const char *collective;
    int n_ranks;
    double bytes, whole;
};

static int holds(const char *key, const struct call *c)
{
    double limit;
    char text[80];
    if (sscanf(key, "collective=%79s", text) == 1)
        return strcmp(text, c->collective) == 0;
    if (sscanf(key, "comm_size<=%lf", &limit) == 1)
        return c->n_ranks <= limit;
    if (sscanf(key, "comm_size<%lf", &limit) == 1)
        return c->n_ranks < limit;
    if (sscanf(key, "avg_msg_size<=%lf", &limit) == 1)
        return c->bytes <= limit;
    if (sscanf(key, "avg_msg_size<%lf", &limit) == 1)
        return c->bytes < limit;
    if (sscanf(key, "total_msg_size<=%lf", &limit) == 1)
        return c->whole <= limit;
    if (sscanf(key, "total_msg_size<%lf", &limit) == 1)
        return c->whole < limit;
    if (strcmp(key, "comm_size=pow2") == 0)
        return (c->n_ranks & (c->n_ranks - 1)) == 0;
    if (strcmp(key, "count<pow2") == 0)
        return c->bytes < c->n_ranks / 2;
    return strcmp(key, "comm_type=intra") == 0 ||
           strcmp(key, "is_op_built_in=yes") == 0 ||
           strcmp(key, "is_commutative=yes") == 0 || strstr(key, "=any") != NULL;
}

/* The first condition that holds, and so on below it. */
static const char *ask_selection(json_t *tree, const struct call *c)
{
    const char *key;
    json_t *value;
    json_object_foreach(tree, key, value)
    {
        if (strncmp(key, "algorithm=", 10) == 0)
            return key + 10;
        if (holds(key, c))
            return ask_selection(value, c);
    }
    return "none";
}

static void check_rules(const struct espi_tune_file *f)
{
    char *text = write_text(espi_tune_write_rules, f);
    const struct espi_tune *t = f->tune;
    const struct espi_native_tuning *tuning = &f->table->tuning;
    for (int i = 0; i < t->n_cells; i++) {
        const struct espi_tune_cell *c = &t->cells[i];
        const char *collective = tuning->op_called[c->op];
        struct told told = ask_rules(text, collective, t->n_ranks, c->size_bytes);
        assert_string_equal(
            told.called,
            c->is_rule ? espi_native_name_of(tuning, c->chosen.algo)->called : "");
        if (c->is_rule) {
            assert_int_equal(told.fanout, c->chosen.fanout);
            assert_int_equal(told.segment, c->chosen.segment_bytes);
        }
        for (int n = 1; n < 40; n += 1 + (n + 1 == t->n_ranks))
            if (n != t->n_ranks)
                assert_string_equal(ask_rules(text, collective, n, c->size_bytes).called,
                                    "");
    }
    free(text);
}

static void check_selection(const struct espi_tune_file *f)
{
    char *text = write_text(espi_tune_write_selection, f);
    const struct espi_tune *t = f->tune;
    const struct espi_native_tuning *tuning = &f->table->tuning;
    json_t *tree = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(tree);
    for (int i = 0; i < t->n_cells; i++)
        for (int n = 2; n < 20; n++) {
            const struct espi_tune_cell *c = &t->cells[i];
            int has_parts = c->op == ESP_OP_ALLGATHER;
            double bytes = has_parts ? ceil(c->size_bytes / n) : c->size_bytes;
            struct call call = {tuning->op_called[c->op], n, bytes, bytes * n};
            const struct espi_native_algo *expected =
                n == t->n_ranks
                    ? c->chosen.algo
                    : espi_native_rule_for(f->table, c->op, n, (int64_t)bytes)->algo;
            assert_string_equal(ask_selection(tree, &call),
                                espi_native_name_of(tuning, expected)->called);
        }
    json_decref(tree);
    free(text);
}

/* ---- all of it ---- */

static void tune_draw(const char *library, uint64_t seed)
{
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(seed));
    struct esp_platform *p = draw_sites(&rng, 3 + (int)espi_rng_below(&rng, 8));
    struct espi_native_table *table = load(library);
    struct espi_tune_ask ask = ask_for(table);
    struct espi_tune *t;
    ask.promises = (int)espi_rng_below(&rng, 4);
    ask.first = (int)espi_rng_below(&rng, (uint32_t)p->n_hosts + 1) - 1;
    assert_int_equal(espi_tune(p, &ask, &t, NULL), ESP_OK);
    assert_int_equal(t->n_cells, OPS * SIZES);
    check_nodes(p, &ask, t);
    for (int i = 0; i < t->n_cells; i++)
        check_cell(p, &ask, t, i);
    struct espi_tune_file file = {table, t};
    if (strcmp(library, "openmpi") == 0)
        check_rules(&file);
    else
        check_selection(&file);
    espi_tune_free(t);
    espi_native_table_free(table);
    esp_platform_free(p);
}

static void test_choices_and_files(void **state)
{
    (void)state;
    for (int i = 0; i < test_draws(DRAWS); i++)
        tune_draw(i % 2 ? "mpich" : "openmpi", (uint64_t)(9000 + i));
}

/* Sites beside each other: two sites in turns, a cable that all share. */
static void test_sites_are_packed(void **state)
{
    struct espi_rng rng;
    (void)state;
    espi_rng_seed(&rng, test_seed(77));
    struct esp_platform *p = draw_sites(&rng, 10);
    int nodes[10], seen[3] = {0}, last = -1;
    assert_int_equal(espi_rank_order_first(p, 4, ESPI_ORDER_BY_SITE, nodes, NULL),
                     ESP_OK);
    assert_int_equal(nodes[0], 4);
    for (int r = 0; r < 10; r++) {
        int site = p->node_site[nodes[r]];
        assert_true(site == last || !seen[site]);
        seen[site] = 1;
        last = site;
    }
    esp_platform_free(p);
}

static esp_status tune_once(void *platform)
{
    static const double one[] = {4096};
    struct espi_native_table *table;
    struct espi_tune *t;
    struct esp_err err;
    int is_other;
    esp_status st = espi_native_table_load("mpich", NULL, &table, &is_other, &err);
    if (st)
        return st;
    struct espi_tune_ask ask = ask_for(table);
    ask.n_ops = 1;
    ask.sizes = one;
    ask.n_sizes = 1;
    ask.n_orders = 2;
    st = espi_tune(platform, &ask, &t, &err);
    if (!st)
        espi_tune_free(t);
    espi_native_table_free(table);
    return st;
}

static void test_tune_out_of_memory(void **state)
{
    struct espi_rng rng;
    (void)state;
    espi_rng_seed(&rng, 5);
    struct esp_platform *p = draw_sites(&rng, 3);
    assert_true(alloc_fail_each(tune_once, p) > 0);
    esp_platform_free(p);
}

static void test_bad_tune(void **state)
{
    static const char *const bad[] = {
        "{\"operations\": {\"sort\": {}}}",
        "{\"operations\": {\"bcast\": {\"called\": \"a b\"}}}",
        "{\"operations\": {\"bcast\": {\"bytes_of\": \"half\"}}}",
        "{\"operations\": {\"bcast\": {\"algorithms\": {\"none\": \"1\"}}}}",
        "{\"operations\": {\"bcast\": {\"instead\": {\"binomial\": \"binomial\"}}}}",
        "{\"leave_out\": [{\"operation\": \"bcast\", \"with\": \"luck\"}]}",
        "{\"leave_out\": [{\"operation\": \"bcast\", \"unless\": \"asked\"}]}",
        "{\"leave_out\": [{\"algorithm\": \"binomial\"}]}",
        "{\"selection\": [\"comm_size=any\"]}",
        "{\"selection\": [\"collective=bcast \\\"}\"]}",
        "{\"more\": 1}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct espi_native_table *table = NULL;
        struct esp_err err = {.text = ""};
        char text[400];
        snprintf(text, sizeof text, "{\"library\": \"mpich\", \"tune\": %s}", bad[i]);
        assert_int_equal(
            espi_native_table_parse(text, strlen(text), "t.json", &table, &err),
            ESP_EINPUT);
        assert_null(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choices_and_files), cmocka_unit_test(test_sites_are_packed),
        cmocka_unit_test(test_tune_out_of_memory), cmocka_unit_test(test_bad_tune)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
