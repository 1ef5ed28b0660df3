/* Traces: what goes wrong while a plan runs, read from text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <espalier/espalier.h>

#include "sim/trace.h"
#include "support/alloc_fail.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const char platform_text[] =
    "{\"format\": \"espalier-platform/1\", \"name\": \"t\", \"model\": \"one-port\","
    " \"nodes\": [{\"name\": \"a\"}, {\"name\": \"b\"}, {\"name\": \"a:b\"},"
    "             {\"name\": \"c d\"}, {\"name\": \"s\", \"kind\": \"switch\"}],"
    " \"links\": [{\"from\": \"a\", \"to\": \"b\", \"latency_s\": 0,"
    "              \"bandwidth_Bps\": 1, \"duplex\": true},"
    "             {\"from\": \"a:b\", \"to\": \"a\", \"latency_s\": 0,"
    "              \"bandwidth_Bps\": 1},"
    "             {\"from\": \"b\", \"to\": \"c d\", \"latency_s\": 0,"
    "              \"bandwidth_Bps\": 1}],"
    " \"shared\": [{\"name\": \"x\", \"bandwidth_Bps\": 1, \"links\": [[\"a\", \"b\"]]},"
    "              {\"name\": \"wan\", \"bandwidth_Bps\": 1,"
    "               \"links\": [[\"b\", \"a\"]]}]}";

static struct esp_platform *p;

static int set_up(void **state)
{
    (void)state;
    struct esp_err err;
    return esp_platform_parse(platform_text, strlen(platform_text), "t", NULL, &p, &err)
               ? -1
               : 0;
}

static int tear_down(void **state)
{
    (void)state;
    esp_platform_free(p);
    return 0;
}

static int link_of(const char *from, const char *to)
{
    return esp_platform_find_link(p, esp_platform_find_node(p, from),
                                  esp_platform_find_node(p, to));
}

static void assert_change(const struct esp_rate_change *c, double at_s, int is_cable,
                          int id, double factor)
{
    assert_true(c->at_s == at_s);
    assert_int_equal(c->is_cable, is_cable);
    assert_int_equal(c->id, id);
    assert_true(c->factor == factor);
}

static esp_status parse(struct esp_trace *t, const char *text, struct esp_err *err)
{
    return esp_trace_parse(t, p, text, strlen(text), "t.csv", err);
}

static const char good[] = "# what went wrong\n"
                           "5ms, node, a:b\r\n"
                           "\n"
                           "1, link, a, b, 0.25\n"
                           "2s,pair,b,a,down\n"
                           "  3 cable wan up\n"
                           "4,link,b,c d,1e3";

static void good_trace(void **state)
{
    (void)state;
    struct esp_trace t = {0};
    struct esp_err err;
    assert_int_equal(parse(&t, good, &err), ESP_OK);
    assert_int_equal(t.n_stops, 1);
    assert_true(t.stops[0].at_s == 0.005);
    assert_int_equal(t.stops[0].node, esp_platform_find_node(p, "a:b"));
    assert_int_equal(t.n_changes, 5);
    assert_change(&t.changes[0], 1, 0, link_of("a", "b"), 0.25);
    assert_change(&t.changes[1], 2, 0, link_of("b", "a"), 0);
    assert_change(&t.changes[2], 2, 0, link_of("a", "b"), 0);
    assert_change(&t.changes[3], 3, 1, 1, 1);
    assert_change(&t.changes[4], 4, 0, link_of("b", "c d"), 1000);
    espi_trace_done(&t);
}

static const struct {
    const char *text, *cause;
} bad[] = {
    {"1", "t.csv:1: '' is not node, link, pair or cable"},
    {"1,nod,a", "'nod' is not node"},
    {"1,node", "2 cells where 3 make up a change of a node"},
    {"1,node,a,0", "4 cells where 3"},
    {"1,link,a,b", "4 cells where 5"},
    {"# x\n1,link,a,b,1,2,3,4\n", "t.csv:2: 8 cells where 5"},
    {"1,node,e", "no node is named 'e'"},
    {"1,node,", "no node is named ''"},
    {"1,node,s", "s is a switch"},
    {"1,link,a,c d,1", "there is no link a -> c d"},
    {"1,pair,a:b,a,1", "there is no link a -> a:b"},
    {"1,cable,y,1", "no shared link is named 'y'"},
    {"x,node,a", "time 'x' is not a time"},
    {"-1,node,a", "time '-1' is negative"},
    {"1e999,node,a", "is not a time"},
    {"1,cable,x,-1", "'-1' is not a factor"},
    {"1,cable,x,nan", "'nan' is not a factor"},
    {"1,cable,x,inf", "'inf' is not a factor"},
    {"1,cable,x,downs", "'downs' is not a factor"},
    {"1,cable,x,", "'' is not a factor"},
    {"1,node,\x1b[1m", "no node is named '\\u001b[1m'"},
};

/* What was there before a refused text is all that is there after it. */
static void bad_traces(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct esp_trace t = {0};
        struct esp_err err = {0};
        char text[200];
        assert_int_equal(parse(&t, "7,pair,a,b,0\n7,node,a\n", NULL), ESP_OK);
        snprintf(text, sizeof text, "%s\n", bad[i].text);
        assert_int_equal(parse(&t, text, &err), ESP_EINPUT);
        assert_int_equal(err.status, ESP_EINPUT);
        if (!strstr(err.text, bad[i].cause))
            fail_msg("'%s': '%s'", bad[i].text, err.text);
        assert_int_equal(t.n_changes, 2);
        assert_int_equal(t.n_stops, 1);
        espi_trace_done(&t);
    }
}

static void a_zero_byte(void **state)
{
    (void)state;
    struct esp_trace t = {0};
    struct esp_err err;
    assert_int_equal(esp_trace_parse(&t, p, "1,node,a\n1,node,b\0\n", 19, "t", &err),
                     ESP_EINPUT);
    assert_non_null(strstr(err.text, "t:2: holds a zero byte"));
    assert_int_equal(t.n_stops, 0);
    espi_trace_done(&t);
}

static void good_words(void **state)
{
    (void)state;
    static const char *const words[] = {"node:a:b@2ms", "link:a:b@1=0.5", "pair:a:b@3",
                                        "link:a:b:a@4", "cable:wan@5s=up"};
    struct esp_trace t = {0};
    struct esp_err err;
    for (size_t i = 0; i < COUNT(words); i++)
        assert_int_equal(esp_trace_add(&t, p, words[i], &err), ESP_OK);
    assert_int_equal(t.n_stops, 1);
    assert_true(t.stops[0].at_s == 0.002);
    assert_int_equal(t.stops[0].node, esp_platform_find_node(p, "a:b"));
    assert_int_equal(t.n_changes, 5);
    assert_change(&t.changes[0], 1, 0, link_of("a", "b"), 0.5);
    assert_change(&t.changes[1], 3, 0, link_of("a", "b"), 0);
    assert_change(&t.changes[2], 3, 0, link_of("b", "a"), 0);
    assert_change(&t.changes[3], 4, 0, link_of("a:b", "a"), 0);
    assert_change(&t.changes[4], 5, 1, 1, 1);
    espi_trace_done(&t);
}

static void bad_words(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        esp_status status;
    } table[] = {
        {"", ESP_EUSAGE},
        {"node", ESP_EUSAGE},
        {"node:a", ESP_EUSAGE},
        {"node:a@", ESP_EUSAGE},
        {"a@1:2", ESP_EUSAGE},
        {"@:", ESP_EUSAGE},
        {"host:a@1", ESP_EUSAGE},
        {"node:a@1=0", ESP_EUSAGE},
        {"node:a@-1", ESP_EUSAGE},
        {"link:a@1", ESP_EUSAGE},
        {"link:a:b@1=", ESP_EUSAGE},
        {"link:a:b@1=x", ESP_EUSAGE},
        {"link:a:b@1=1=1", ESP_EUSAGE},
        {"node:e@1", ESP_EINPUT},
        {"node:s@1", ESP_EINPUT},
        {"node:@1", ESP_EINPUT},
        {"link:a:e@1", ESP_EINPUT},
        {"link::@1", ESP_EINPUT},
        {"pair:a:b:a@1", ESP_EINPUT}, /* one direction is there */
        {"cable:y@1", ESP_EINPUT},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct esp_trace t = {0};
        struct esp_err err = {0};
        esp_status st = esp_trace_add(&t, p, table[i].word, &err);
        if (st != table[i].status || err.status != st || !err.text[0])
            fail_msg("'%s': %d, %s", table[i].word, st, err.text);
        assert_int_equal(t.n_changes + t.n_stops, 0);
        espi_trace_done(&t);
    }
}

static esp_status read_good(void *arg)
{
    (void)arg;
    struct esp_trace t = {0};
    esp_status st = parse(&t, good, NULL);
    espi_trace_done(&t);
    return st;
}

static void without_memory(void **state)
{
    (void)state;
    assert_true(alloc_fail_each(read_good, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_trace),  cmocka_unit_test(bad_traces),
        cmocka_unit_test(a_zero_byte), cmocka_unit_test(good_words),
        cmocka_unit_test(bad_words),   cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
