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
                           "gpu0 sw 100 # bytes a second\r\n"
                           "\tsw   gpu1\t25GBps 500ns\n"
                           "gpu1 gpu0 1.5e9 0.25";

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
                                                        "a b\xc3\xa9 1\n");
    assert_int_equal(esp_platform_find_node(p, "a"), 0);
    assert_int_equal(esp_platform_find_node(p, "b\xc3\xa9"), 1);
    esp_platform_free(p);
}

static const struct bad_text bad[] = {
    {"a b\n", ":1: 2 fields"},
    {"a b 1\na b 2 3 4\n", ":2: 5 fields"},
    {"a", ":1: 1 fields"},
    {"a b 0\n", ":1: the capacity must be more than zero"},
    {"a b -1\n", "capacity '-1' is negative"},
    {"a b nan\n", "capacity 'nan' is not a bandwidth"},
    {"a b inf\n", "capacity 'inf' is not a bandwidth"},
    {"a b 0x10\n", "is not a bandwidth"},
    {"a b 1Mfps\n", "'1Mfps' is not a bandwidth"},
    {"a b 1 2Mbps\n", "latency '2Mbps' is not a time"},
    {"a b 1 -2\n", "latency '-2' is negative"},
    {"# x\n\na b 1\nc c 1\n", ":4: a link from 'c' to itself"},
    {"a b 1\nb a 1\na b 1\n", "link a -> b is there twice"},
    {"a \x1b[1m 1\n", ":1: the name '\\u001b[1m' is not printable"},
    {"a \xff 1\n", "is not printable UTF-8"},
    {"a \xc0\xaf 1\n", "is not printable UTF-8"},
    {"a \xed\xa0\x80 1\n", "is not printable UTF-8"},
    {"a \xf4\x90\x80\x80 1\n", "is not printable UTF-8"},
    {"a \xe2\x82 1\n", "is not printable UTF-8"},
    {"# nothing\n", "a platform needs at least one node"},
};

static void bad_lists(void **state)
{
    (void)state;
    read_bad_table(espi_read_edges, bad, COUNT(bad));
    read_bad(espi_read_edges, "a b 1\na\0b 1\n", 12, ":2: holds a zero byte");
}

static void long_lines(void **state)
{
    (void)state;
    size_t n = 3u << 20;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'x', n);
    read_bad(espi_read_edges, text, n, ":1: 3145728 characters long");
    memcpy(text + 256, " a 1\n", 5);
    read_bad(espi_read_edges, text, 261, "is longer than 255 bytes");
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
    struct espi_source source = {"a b 1\n", 6, "x", ESP_MODEL_HALF_DUPLEX};
    struct esp_platform *p = NULL;
    assert_int_equal(espi_read_edges(&source, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_HALF_DUPLEX);
    assert_string_equal(esp_platform_name(p), "x");
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_list), cmocka_unit_test(byte_order_mark),
        cmocka_unit_test(bad_lists), cmocka_unit_test(long_lines),
        cmocka_unit_test(no_memory), cmocka_unit_test(model_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
