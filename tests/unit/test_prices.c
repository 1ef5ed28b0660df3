/* Prices of platforms: read, written, copied, refused; limits by site. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/read_cases.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const char table[] = "# of three clouds\n"
                            "from,to,throughput_bps,usd_per_GB\n"
                            "aws:a,gcp:b,8000,0.147\r\n"
                            "gcp:b , aws:a,2kbps,0\n"
                            "gcp:b,plain,16e3,0.02\n"
                            "aws:a,plain,8,0.05\n";

static void table_of_links(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(espi_read_links, table);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_CAPACITY);
    assert_int_equal(esp_platform_node_count(p), 3);
    assert_link(p, "aws:a", "gcp:b", 0, 1000);
    assert_link(p, "gcp:b", "aws:a", 0, 250);
    assert_link(p, "aws:a", "plain", 0, 1);
    assert_string_equal(esp_platform_node_site(p, 0), "aws");
    assert_null(esp_platform_node_site(p, 2));
    assert_true(esp_platform_has_prices(p));
    assert_true(esp_platform_link_price(p, 0) == 0.147);
    assert_true(esp_platform_link_price(p, 1) == 0);
    assert_true(esp_platform_link_price(p, 3) == 0.05);
    assert_true(isnan(esp_platform_link_price(p, 4)));
    assert_int_equal(esp_platform_node_machines(p, 0).max_count, 1);
    esp_platform_free(p);
    read_without_memory(espi_read_links, table);
}

static void columns_in_any_order(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(
        espi_read_links, "usd_per_GB,note,to,from,latency_s,bandwidth_Bps\n1.5,x,b,a,"
                         "2ms,10MBps\n");
    assert_link(p, "a", "b", 2e-3, 10e6);
    assert_true(esp_platform_link_price(p, 0) == 1.5);
    esp_platform_free(p);
    p = read_good(espi_read_links, "from,to,throughput_bps\na,b,8\n");
    assert_false(esp_platform_has_prices(p));
    esp_platform_free(p);
}

static const struct bad_text bad[] = {
    {"a,b,1,2\n", ":1: the first line names the columns, and there is no 'from'"},
    {"from,x\n", "there is no 'to'"},
    {"from,to,usd_per_GB\n", ":1: there must be one of the columns"},
    {"from,to,throughput_bps,bandwidth_Bps\n", ":1: there must be one of the columns"},
    {"from,to,from,throughput_bps\n", "the column from is there twice"},
    {"from,to,throughput_bps\na,b\n", ":2: 2 cells where the header has 3"},
    {"from,to,throughput_bps\na,b,1,2\n", ":2: 4 cells where the header has 3"},
    {"from,to,throughput_bps\na,b,0\n", ":2: the throughput must be more than zero"},
    {"from,to,throughput_bps\na,b,-1\n", "throughput_bps '-1' is negative"},
    {"from,to,throughput_bps\na,a,1\n", ":2: a link from 'a' to itself"},
    {"from,to,throughput_bps\n,a,1\n", ":2: "},
    {"from,to,throughput_bps\na,b,1\na,b,1\n", "link a -> b is there twice"},
    {"from,to,throughput_bps,usd_per_GB\na,b,1,-2\n", "usd_per_GB '-2' is not a number"},
    {"from,to,throughput_bps,usd_per_GB\na,b,1,\n", "usd_per_GB '' is not a number"},
    {"from,to,throughput_bps,usd_per_GB\na,b,1,nan\n", "is not a number"},
    {"from,to,throughput_bps,latency_s\na,b,1,2GB\n", "latency_s '2GB' is not a time"},
    {"from,to,throughput_bps\n", "a platform needs at least one node"},
};

static void bad_tables(void **state)
{
    (void)state;
    read_bad_table(espi_read_links, bad, COUNT(bad));
}

static esp_status read_native(const struct espi_source *source, struct esp_platform **out,
                              struct esp_err *err)
{
    return espi_read_json(source->text, source->length, source->where, out, err);
}

#define JSON_HEAD                                                                        \
    "{\"format\": \"espalier-platform/1\", \"name\": \"in\", \"model\": \"capacity\", "
static const char native[] = JSON_HEAD
    "\"nodes\": [{\"name\": \"a\", \"site\": \"x\", \"usd_per_hour\": 0.5, "
    "\"max_count\": 3}, {\"name\": \"b\", \"site\": \"y\"}, "
    "{\"name\": \"c\", \"site\": \"y\", \"max_count\": 2}],"
    "\"links\": [{\"from\": \"a\", \"to\": \"b\", \"bandwidth_Bps\": 9, \"duplex\": true,"
    "\"usd_per_GB\": 0.25}, {\"from\": \"b\", \"to\": \"c\", \"bandwidth_Bps\": 9},"
    "{\"from\": \"c\", \"to\": \"b\", \"bandwidth_Bps\": 9, \"usd_per_GB\": 4}],"
    "\"shared\": [{\"name\": \"sea\", \"bandwidth_Bps\": 7, \"usd_per_GB\": 1.5, "
    "\"links\": [[\"a\", \"b\"], [\"b\", \"a\"]]}]}";

static void check_native(const struct esp_platform *p)
{
    assert_true(esp_platform_node_machines(p, 0).usd_per_hour == 0.5);
    assert_int_equal(esp_platform_node_machines(p, 0).max_count, 3);
    assert_int_equal(esp_platform_node_machines(p, 1).max_count, 1);
    assert_int_equal(esp_platform_node_machines(p, 2).max_count, 2);
    assert_true(esp_platform_link_price(p, 0) == 0.25);
    assert_true(esp_platform_link_price(p, 1) == 0.25);
    assert_true(esp_platform_link_price(p, 2) == 0);
    assert_true(esp_platform_link_price(p, 3) == 4);
    assert_true(esp_platform_cable_price(p, 0) == 1.5);
}

/* Written and read again, turned round twice: nothing is lost, and all counts as a
 * difference. */
static void native_and_copies(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(read_native, native), *again, *other;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    check_native(p);
    assert_int_equal(esp_platform_write_stream(p, out, NULL), ESP_OK);
    fclose(out);
    again = read_good(read_native, text);
    check_native(again);
    assert_true(esp_platform_equal(p, again));
    esp_platform_free(again);
    free(text);
    assert_int_equal(esp_platform_with_model(p, ESP_MODEL_ONE_PORT, &again, NULL),
                     ESP_OK);
    check_native(again);
    esp_platform_free(again);
    static const struct {
        const char *from, *to;
    } changes[] = {
        {"0.25", "0.26"}, {"0.5", "0.6"}, {"_count\": 2", "_count\": 4"}, {"1.5", "1.6"}};
    for (size_t i = 0; i < COUNT(changes); i++) {
        char changed[sizeof native + 8];
        const char *at = strstr(native, changes[i].from);
        assert_non_null(at);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - native), native,
                 changes[i].to, at + strlen(changes[i].from));
        other = read_good(read_native, changed);
        assert_false(esp_platform_equal(p, other));
        esp_platform_free(other);
    }
    esp_platform_free(p);
    read_without_memory(read_native, native);
}

static const struct bad_text bad_native[] = {
    {JSON_HEAD "\"nodes\": [{\"name\": \"a\", \"usd_per_hour\": -1}]}",
     "usd_per_hour -1 must be finite and not negative"},
    {JSON_HEAD "\"nodes\": [{\"name\": \"a\", \"max_count\": 0}]}",
     "max_count is a whole number from 1"},
    {JSON_HEAD "\"nodes\": [{\"name\": \"a\", \"max_count\": 1.5}]}",
     "is not a whole number"},
    {JSON_HEAD
     "\"nodes\": [{\"name\": \"a\"}, {\"name\": \"b\"}], \"links\": [{\"from\": "
     "\"a\", \"to\": \"b\", \"bandwidth_Bps\": 1, \"usd_per_GB\": -3}]}",
     "usd_per_GB -3 must be"},
};

#define XML_HEAD                                                                         \
    "<graphml><key id=\"b\" for=\"edge\" attr.name=\"bandwidth\"/>"                      \
    "<key id=\"u\" for=\"edge\" attr.name=\"usd_per_GB\"/>"                              \
    "<key id=\"h\" for=\"node\" attr.name=\"usd_per_hour\"/>"                            \
    "<key id=\"m\" for=\"node\" attr.name=\"max_count\"/><graph>"
#define XML_TAIL "</graph></graphml>"

static const char graphml[] =
    XML_HEAD "<node id=\"a\"><data key=\"h\">0.54</data><data key=\"m\">4</data></node>"
             "<node id=\"b\"/><edge source=\"a\" target=\"b\"><data key=\"b\">5</data>"
             "<data key=\"u\">0.09</data></edge>" XML_TAIL;

static const struct bad_text bad_graphml[] = {
    {XML_HEAD "<node id=\"a\"><data key=\"h\">x</data></node>" XML_TAIL,
     "usd_per_hour 'x' is not a number"},
    {XML_HEAD "<node id=\"a\"><data key=\"m\">1.5</data></node>" XML_TAIL,
     "max_count is a whole number"},
    {XML_HEAD "<node id=\"a\"/><node id=\"b\"/><edge source=\"a\" target=\"b\"><data "
              "key=\"b\">5</data><data key=\"u\">-1</data></edge>" XML_TAIL,
     "usd_per_GB '-1' is not a number"},
};

static void native_and_graphml(void **state)
{
    (void)state;
    read_bad_table(read_native, bad_native, COUNT(bad_native));
    struct esp_platform *p = read_good(espi_read_graphml, graphml);
    assert_true(esp_platform_node_machines(p, 0).usd_per_hour == 0.54);
    assert_int_equal(esp_platform_node_machines(p, 0).max_count, 4);
    assert_true(esp_platform_link_price(p, 0) == 0.09);
    assert_true(esp_platform_link_price(p, 1) == 0.09);
    esp_platform_free(p);
    read_bad_table(espi_read_graphml, bad_graphml, COUNT(bad_graphml));
}

static esp_status limit_once(void *arg)
{
    struct esp_platform *out = NULL;
    struct esp_err err = {0};
    esp_status st =
        espi_platform_with_limits(arg, "aws=5/10,gcp=7/16", 4, 0.5, &out, &err);
    esp_platform_free(out);
    return st;
}

static void limits_by_site(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(espi_read_links, table), *out = NULL;
    struct esp_err err = {0};
    int is_out;
    assert_int_equal(
        espi_platform_with_limits(p, "aws=5/10,gcp=7bps/16bps", 4, 0.5, &out, &err),
        ESP_OK);
    assert_int_equal(esp_platform_cable_count(out), 4);
    int cable = esp_platform_find_cable(out, "out of gcp:b");
    assert_true(esp_platform_cable_bandwidth_Bps(out, cable) == 7.0 / 8);
    assert_int_equal(esp_platform_cable_link_count(out, cable), 2);
    assert_int_equal(espi_port_owner(out, cable, &is_out), 1);
    assert_int_equal(is_out, 1);
    cable = esp_platform_find_cable(out, "into aws:a");
    assert_int_equal(espi_port_owner(out, cable, &is_out), 1); /* of a single link */
    assert_int_equal(esp_platform_node_machines(out, 2).max_count, 4);
    assert_true(esp_platform_node_machines(out, 2).usd_per_hour == 0.5);
    assert_true(esp_platform_link_price(out, 3) == 0.05);
    esp_platform_free(out);
    out = NULL;
    static const char *const wrong[] = {
        "aws",    "aws=5",    "azure=1/2",       "aws=0/2",
        "aws=1/", "aws=1/2,", "aws=1/2,aws=1/2", ""};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(espi_platform_with_limits(p, wrong[i], 0, ESP_UNSET, &out, &err),
                         ESP_EUSAGE);
        assert_null(out);
        assert_non_null(strstr(err.text, "SITE=OUT/IN"));
    }
    assert_true(alloc_fail_each(limit_once, p) > 0);
    esp_platform_free(p);
}

static void found_by_its_header(void **state)
{
    (void)state;
    struct esp_platform *p = NULL;
    assert_int_equal(esp_platform_parse(table, sizeof table - 1, "x.csv", NULL, &p, NULL),
                     ESP_OK);
    assert_true(esp_platform_has_prices(p));
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_of_links),      cmocka_unit_test(columns_in_any_order),
        cmocka_unit_test(bad_tables),          cmocka_unit_test(native_and_copies),
        cmocka_unit_test(native_and_graphml),  cmocka_unit_test(limits_by_site),
        cmocka_unit_test(found_by_its_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
