/* Edge lists, and the scanner of lines they are read with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/scan.h"
#include "support/read_cases.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const char good[] = "# a comment\n"
                           "\n"
                           "gpu0 sw 100Bps # with a comment\r\n"
                           "\tsw   gpu1\t25GBps 500ns\n"
                           "gpu1 gpu0 1.5e9B/s 0.25";

static void good_list(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(espi_read_edges, good);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_CAPACITY);
    assert_int_equal(esp_platform_node_count(p), 3);
    assert_int_equal(esp_platform_link_count(p), 3);
    assert_string_equal(esp_platform_node_name(p, 1), "sw");
    assert_link(p, "gpu0", "sw", 0, 100);
    assert_link(p, "sw", "gpu1", 500e-9, 25e9);
    assert_link(p, "gpu1", "gpu0", 0.25, 1.5e9);
    assert_int_equal(esp_platform_find_link(p, 1, 0), -1);
    esp_platform_free(p);
}

static void byte_order_mark(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(espi_read_edges, "\xef\xbb\xbf"
                                                        "a b\xc3\xa9 1Bps\n");
    assert_int_equal(esp_platform_find_node(p, "a"), 0);
    assert_int_equal(esp_platform_find_node(p, "b\xc3\xa9"), 1);
    esp_platform_free(p);
}

static const struct bad_text bad[] = {
    {"a b\n", ":1: 2 fields"},
    {"a b 1Bps\na b 2 3 4\n", ":2: 5 fields"},
    {"a", ":1: 1 fields"},
    {"a b 0Bps\n", ":1: the capacity must be more than zero"},
    {"a b -1\n", "capacity '-1' is negative"},
    {"a b nan\n", "capacity 'nan' is not a bandwidth"},
    {"a b inf\n", "capacity 'inf' is not a bandwidth"},
    {"a b 0x10\n", "is not a bandwidth"},
    {"a b 1Mfps\n", "'1Mfps' is not a bandwidth"},
    {"a b 1Bps 2Mbps\n", "latency '2Mbps' is not a time"},
    {"a b 1Bps -2\n", "latency '-2' is negative"},
    {"# x\n\na b 1Bps\nc c 1Bps\n", ":4: a link from 'c' to itself"},
    {"a b 1Bps\nb a 1Bps\na b 1Bps\n", "link a -> b is there twice"},
    {"a \x1b[1m 1Bps\n", ":1: the name '\\u001b[1m' is not printable"},
    {"a \xff 1Bps\n", "is not printable UTF-8"},
    {"a \xc0\xaf 1Bps\n", "is not printable UTF-8"},
    {"a \xed\xa0\x80 1Bps\n", "is not printable UTF-8"},
    {"a \xf4\x90\x80\x80 1Bps\n", "is not printable UTF-8"},
    {"a \xe2\x82 1Bps\n", "is not printable UTF-8"},
    {"# nothing\n", "a platform needs at least one node"},
    {"a b 1Bps\na b 3\n", ":2: capacity '3' has no unit"},
    {"a b {'weight': 3}\n", "capacity '{'weight':' is not a bandwidth"},
    {"unit 3GBps\n", "'3GBps' is no unit of bandwidth"},
    {"unit ms\n", "'ms' is no unit of bandwidth"},
    {"switch sw*\na b 1Bps\n", ": no node is named 'sw*', which is to be a switch"},
    {"switch *\na b 1Bps\n", ": with '*' as switches no host is left"},
    {"undirected\na b 1Bps\nb a 1Bps\n", "is there twice"},
};

static void bad_lists(void **state)
{
    (void)state;
    read_bad_table(espi_read_edges, bad, COUNT(bad));
    read_bad(espi_read_edges, "a b 1Bps\na\0b 1Bps\n", 18, ":2: holds a zero byte");
}

static void long_lines(void **state)
{
    (void)state;
    size_t n = 3u << 20;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'x', n);
    read_bad(espi_read_edges, text, n, ":1: 3145728 characters long");
    memcpy(text + 256, " a 1Bps\n", 8);
    read_bad(espi_read_edges, text, 264, "is longer than 255 bytes");
    free(text);
}

static void no_memory(void **state)
{
    (void)state;
    read_without_memory(espi_read_edges, good);
}

static void model_is_taken(void **state)
{
    (void)state;
    struct espi_source source = {"a b 1\n", 6, "x", ESP_MODEL_HALF_DUPLEX, "GBps", 1, 0};
    struct esp_platform *p = NULL;
    assert_int_equal(espi_read_edges(&source, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_HALF_DUPLEX);
    assert_string_equal(esp_platform_name(p), "x");
    assert_int_equal(esp_platform_link_count(p), 2);
    assert_link(p, "b", "a", 0, 1e9);
    esp_platform_free(p);
}

/* What a list says of itself: unit, directions, switches. */
static void remarks(void **state)
{
    (void)state;
    static const char text[] = "unit Gbps # of all\nundirected\nswitch sw?\nswitch hub\n"
                               "a sw1 8\nb sw1 2MBps 1ms\nhub sw1 16\n";
    struct esp_platform *p = read_good(espi_read_edges, text);
    assert_int_equal(esp_platform_link_count(p), 6);
    assert_int_equal(esp_platform_host_count(p), 2);
    assert_link(p, "sw1", "a", 0, 1e9);
    assert_link(p, "sw1", "b", 1e-3, 2e6);
    assert_int_equal(esp_platform_node_kind(p, 1), ESP_NODE_SWITCH);
    esp_platform_free(p);
    read_without_memory(espi_read_edges, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_list), cmocka_unit_test(byte_order_mark),
        cmocka_unit_test(bad_lists), cmocka_unit_test(long_lines),
        cmocka_unit_test(no_memory), cmocka_unit_test(model_is_taken),
        cmocka_unit_test(remarks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
