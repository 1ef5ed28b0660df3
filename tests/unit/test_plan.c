/* Plans: the checker, files, and hostile input. */
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
#include "plan/plan.h"
#include "platform/platform.h"
#include "platform/readers.h"
#include "support/alloc_fail.h"

/* Hosts a b c d, a switch s; links a-b, b-c, c-d, a-s, s-d both ways. */
static struct esp_platform *toy(void)
{
    static const char text[] =
        "{\"format\":\"espalier-platform/1\",\"name\":\"toy\",\"model\":\"one-port\","
        "\"nodes\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"d\"},"
        "{\"name\":\"s\",\"kind\":\"switch\"}],\"links\":["
        "{\"from\":\"a\",\"to\":\"b\",\"bandwidth_Bps\":1,\"duplex\":true},"
        "{\"from\":\"b\",\"to\":\"c\",\"bandwidth_Bps\":1,\"duplex\":true},"
        "{\"from\":\"c\",\"to\":\"d\",\"bandwidth_Bps\":1,\"duplex\":true},"
        "{\"from\":\"a\",\"to\":\"s\",\"bandwidth_Bps\":1,\"duplex\":true},"
        "{\"from\":\"s\",\"to\":\"d\",\"bandwidth_Bps\":1,\"duplex\":true}]}";
    struct esp_platform *p = NULL;
    assert_int_equal(espi_read_json(text, sizeof text - 1, "toy", &p, NULL), ESP_OK);
    return p;
}

#define PLAN(root, trees)                                                                \
    "{\"format\":\"espalier-plan/1\",\"op\":\"bcast\",\"root\":\"" root                  \
    "\",\"trees\":[" trees "]}"
#define REDUNDANT(trees)                                                                 \
    "{\"format\":\"espalier-plan/1\",\"redundant\":true,\"patience\":1.5,"               \
    "\"root\":\"a\",\"trees\":[" trees "]}"
#define TREE(weight, edges) "{\"weight\":" weight ",\"edges\":[" edges "]}"
#define RENTED(machines, trees)                                                          \
    "{\"format\":\"espalier-plan/"                                                       \
    "1\",\"op\":\"multicast\",\"root\":\"a\",\"targets\":[\"c\"],"                       \
    "\"machines\":{" machines "},\"trees\":[" trees "]}"
#define AB    "[\"a\",\"b\"]"
#define BC    "[\"b\",\"c\"]"
#define CD    "[\"c\",\"d\"]"
#define ASD   "[\"a\",\"s\",\"d\"]"
#define CHAIN AB "," BC "," CD

static const struct {
    const char *text, *why; /* NULL: it is good */
} texts[] = {
    {PLAN("a", TREE("1", CHAIN)), NULL},
    {PLAN("a", TREE("1", AB "," BC "," ASD)), NULL},
    {PLAN("a", TREE("0.25", CHAIN) "," TREE("0.75", ASD "," AB "," BC)), NULL},
    {PLAN("d", TREE("1", "[\"d\",\"c\",\"b\"],[\"d\",\"c\"],[\"d\",\"s\",\"a\"]")), NULL},
    {REDUNDANT(TREE("1", CHAIN) "," TREE("1", ASD)), NULL},
    {REDUNDANT(TREE("1", CHAIN) "," TREE("1", "[\"d\",\"c\"],[\"c\",\"b\"]")), NULL},
    {REDUNDANT(TREE("1", CHAIN) "," TREE("1", "")), NULL},
    {REDUNDANT(TREE("1", AB "," BC) "," TREE("1", CHAIN)), "tree 0 does not reach d"},
    {REDUNDANT(TREE("1", CHAIN) "," TREE("0.5", CHAIN)), "with weight 1"},
    {REDUNDANT(TREE("1", CHAIN) "," TREE("1", ASD "," CD)), "has the data already"},
    {REDUNDANT(TREE("1", CHAIN) "," TREE("1", "[\"b\",\"a\"]")), "has the data already"},
    {REDUNDANT(TREE("1", CHAIN) "," TREE("1", "[\"s\",\"d\"]")),
     "a switch only forwards"},
    {RENTED("\"a\":1,\"b\":1,\"c\":1", TREE("1", AB "," BC)), NULL},
    {RENTED("\"a\":1,\"c\":1", TREE("1", AB "," BC)), "no machine at 'b'"},
    {RENTED("\"a\":1,\"b\":2,\"c\":1", TREE("1", AB "," BC)), "there may be 1 to 1"},
    {RENTED("\"a\":1,\"a\":1,\"b\":1,\"c\":1", TREE("1", AB "," BC)), "twice"},
    {RENTED("\"a\":0.5,\"b\":1,\"c\":1", TREE("1", AB "," BC)), "are counted from 1"},
    {RENTED("\"z\":1", TREE("1", AB "," BC)), "the platform does not have"},
    {PLAN("a", TREE("1", AB "," BC)), "tree 0 does not reach d"},
    {PLAN("a", TREE("1", BC "," AB "," CD)), "does not have the data yet"},
    {PLAN("a", TREE("1", CHAIN "," ASD)), "has the data already"},
    {PLAN("a", TREE("1", AB "," BC ",[\"a\",\"s\"]")), "a switch only forwards"},
    {PLAN("a", TREE("1", AB "," BC ",[\"s\",\"d\"]")), "a switch only forwards"},
    {PLAN("a", TREE("1", AB ",[\"a\",\"c\"]")), "no link a -> c"},
    {PLAN("a", TREE("1", AB ",[\"b\",\"a\",\"b\",\"c\"]")), "meets a node twice"},
    {PLAN("a", TREE("1", AB ",[\"b\",\"z\"]")), "no node named 'z'"},
    {PLAN("a", TREE("1", AB ",[\"b\"]")), "at least two nodes"},
    {PLAN("a", TREE("1", AB ",[]")), "at least two nodes"},
    {PLAN("s", TREE("1", CHAIN)), "the root is a switch"},
    {PLAN("z", TREE("1", CHAIN)), "no node named 'z'"},
    {PLAN("a", ""), "the plan has no tree"},
    {PLAN("a", TREE("0.5", CHAIN)), "sum to 0.5"},
    {PLAN("a", TREE("0", CHAIN) "," TREE("1", CHAIN)), "not in (0, 1]"},
    {PLAN("a", TREE("-1", CHAIN) "," TREE("2", CHAIN)), "not in (0, 1]"},
    {PLAN("a", "{\"weight\":1}"), "no \"edges\""},
    {PLAN("a", "{\"edges\":[]}"), "no \"weight\""},
    {"{\"format\":\"espalier-plan/1\"}", "there is no \"root\""},
    {"{\"format\":\"espalier-platform/1\"}", "this is no plan"},
    {"{\"format\":\"espalier-plan/1\",\"op\":\"dance\"}", "not known"},
    {"{\"makespan_s\":-1,\"format\":\"espalier-plan/1\",\"root\":\"a\",\"trees\":[" TREE(
         "1", CHAIN) "]}",
     "finite and not negative"},
    {"", "the text ends here"},
};

static void the_checker_tells_good_from_bad(void **state)
{
    (void)state;
    struct esp_platform *p = toy();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct esp_plan *plan = NULL;
        struct esp_err err = {0};
        esp_status st =
            esp_plan_parse(texts[i].text, strlen(texts[i].text), "f", p, &plan, &err);
        if (!texts[i].why ? st != ESP_OK
                          : st != ESP_EINPUT || plan || !strstr(err.text, texts[i].why) ||
                                strncmp(err.text, "f:", 2))
            fail_msg("%s: status %d, '%s'", texts[i].text, st, err.text);
        esp_plan_free(plan);
    }
    esp_platform_free(p);
}

static void structs_from_outside_are_checked_too(void **state)
{
    (void)state;
    struct esp_platform *p = toy();
    struct esp_plan *plan = NULL;
    assert_int_equal(
        esp_plan_parse(texts[1].text, strlen(texts[1].text), "f", p, &plan, NULL),
        ESP_OK);
    struct esp_edge *e = &plan->trees[0].edges[2], saved = *e;
    const struct esp_edge wrong[] = {
        {saved.from, saved.to, -1, 2},        {saved.from, saved.to, 2, 0},
        {saved.from, saved.to, 2, INT32_MAX}, {saved.from, saved.to, INT32_MAX, 2},
        {saved.from, 2, saved.first_hop, 2},  {saved.from, saved.to, 0, 2},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        *e = wrong[i];
        assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
    }
    *e = saved;
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_OK);
    plan->trees[0].hops[3] = 99;
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
    plan->root = 77;
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static char *written(const struct esp_plan *plan, const struct esp_platform *p,
                     size_t *length)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, length);
    assert_int_equal(esp_plan_write_stream(plan, p, f, NULL), ESP_OK);
    fclose(f);
    return text;
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    struct esp_platform *p = toy();
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !texts[i].why; i++) {
        struct esp_plan *plan = NULL, *again = NULL;
        size_t n, n2;
        assert_int_equal(
            esp_plan_parse(texts[i].text, strlen(texts[i].text), "f", p, &plan, NULL),
            ESP_OK);
        plan->throughput_Bps = 1.0 / 3;
        plan->bound_Bps = 0.7;
        char *text = written(plan, p, &n);
        assert_int_equal(esp_plan_parse(text, n, "f", p, &again, NULL), ESP_OK);
        assert_true(again->throughput_Bps == 1.0 / 3 && again->bound_Bps == 0.7);
        char *text2 = written(again, p, &n2);
        assert_string_equal(text, text2);
        free(text);
        free(text2);
        esp_plan_free(plan);
        esp_plan_free(again);
    }
    esp_platform_free(p);
}

/* All that is written of a plan is in a copy. */
static void a_copy_is_the_same_plan(void **state)
{
    (void)state;
    struct esp_platform *p = toy();
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !texts[i].why; i++) {
        struct esp_plan *plan = NULL, *copy = NULL;
        size_t n;
        assert_int_equal(
            esp_plan_parse(texts[i].text, strlen(texts[i].text), "f", p, &plan, NULL),
            ESP_OK);
        assert_int_equal(esp_plan_copy(plan, &copy, NULL), ESP_OK);
        char *text = written(plan, p, &n), *text2 = written(copy, p, &n);
        assert_string_equal(text, text2);
        free(text);
        free(text2);
        esp_plan_free(plan);
        esp_plan_free(copy);
    }
    esp_platform_free(p);
}

static esp_status parse_one(void *arg)
{
    struct esp_plan *plan = NULL;
    esp_status st =
        esp_plan_parse(texts[2].text, strlen(texts[2].text), "f", arg, &plan, NULL);
    esp_plan_free(plan);
    return st;
}

static esp_status make_one(void *arg)
{
    struct esp_plan *plan = NULL;
    struct esp_request request;
    esp_request_init(&request, 0);
    request.algo = "flat"; /* each algorithm has its turn in the sweep */
    esp_status st = esp_plan_make(arg, &request, &plan, NULL);
    esp_plan_free(plan);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = toy();
    assert_true(alloc_fail_each(parse_one, p) > 5);
    assert_true(alloc_fail_each(make_one, p) > 3);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checker_tells_good_from_bad),
        cmocka_unit_test(structs_from_outside_are_checked_too),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(a_copy_is_the_same_plan),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
