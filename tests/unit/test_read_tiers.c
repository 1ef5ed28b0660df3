/* Tiers output files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/read_cases.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define HEAD         "# NODES\n0 1 1 0\n1 5 5 1\n# EDGES\n"

static void whole_file(void **state)
{
    (void)state;
    struct esp_platform *p = NULL;
    struct esp_err err = {0};
    esp_status status = esp_platform_read(TEST_DATA_DIR "/toy.tiers", NULL, &p, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(status, ESP_OK);
    assert_string_equal(esp_platform_name(p), "toy");
    assert_int_equal(esp_platform_model(p), ESP_MODEL_ONE_PORT);
    assert_int_equal(esp_platform_node_count(p), 8);
    assert_int_equal(esp_platform_host_count(p), 8);
    assert_int_equal(esp_platform_link_count(p), 14);
    assert_link(p, "w0", "w1", 368e-6, 10 * 125e3);
    assert_link(p, "m2", "w0", 51e-6, 10 * 125e3);
    assert_link(p, "l5", "l4", 2750e-6, 1000 * 125e3);
    /* Stands in the file with 1001 first, then with 1002: the first counts. */
    assert_link(p, "m2", "l4", 1001e-6, 100 * 125e3);
    assert_link(p, "l4", "m2", 1001e-6, 100 * 125e3);
    static const char *const sites[] = {"wan0", "wan0", "man0", "man0",
                                        "lan0", "lan0", "lan1", "lan1"};
    for (int v = 0; v < 8; v++)
        assert_string_equal(esp_platform_node_site(p, v), sites[v]);
    assert_int_equal(esp_platform_check_root(p, 7, NULL), ESP_OK);
    esp_platform_free(p);
}

static void small_text(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(espi_read_tiers, HEAD "1 0 3 100 1 0 3");
    assert_link(p, "m1", "w0", 3e-6, 12.5e6);
    assert_link(p, "w0", "m1", 3e-6, 12.5e6);
    esp_platform_free(p);
}

static const struct bad_text bad[] = {
    {"0 1 1 0\n", ":1: data before the line `# NODES`"},
    {"# x\n", ":1: ends before the line `# NODES`"},
    {"# NODES\n0 1 1 0\n", ":2: ends before the line `# EDGES`"},
    {"# NODES\n0 1 1\n", ":2: 3 fields where `node x y type`"},
    {"# NODES\n0 1 1 3\n", "type '3' is not a whole number from 0 to 2"},
    {"# NODES\n0 1 1 x\n", "type 'x' is not a whole number"},
    {"# NODES\n0 1 1 1.5\n", "type '1.5' is not a whole number"},
    {"# NODES\n-1 1 1 0\n", "node '-1' is not a whole number"},
    {"# NODES\n1e300 1 1 0\n", "node '1e300' is not a whole number"},
    {"# NODES\n0 1 1 0\n0 1 1 0\n", ":3: node 0 stands twice"},
    {"# NODES\n1 1 1 0\n", ":2: node 1 stands where node 0 should"},
    {HEAD "0 1 3 10 0 1\n", ":5: 6 fields"},
    {HEAD "0 2 3 10 0 1 3\n", ":5: there is no node 2"},
    {HEAD "0 0 3 10 0 1 3\n", ":5: an edge from node 0 to itself"},
    {HEAD "0 1 3 0 0 1 3\n", "the bandwidth must be more than zero"},
    {HEAD "0 1 3 1e300 0 1 3\n", "the bandwidth must be more than zero and at most"},
    {HEAD "0 1 3 -5 0 1 3\n", "bandwidth '-5' is not a number"},
    {HEAD "0 1 nan 5 0 1 3\n", "delay 'nan' is not a number"},
    {"# Total Number of Nodes (derived) : 3\n" HEAD "0 1 3 10 0 1 3\n",
     "holds 2 nodes where its head says 3"},
    {"# NODES\n# EDGES\n", "a platform needs at least one node"},
};

static void bad_texts(void **state)
{
    (void)state;
    read_bad_table(espi_read_tiers, bad, COUNT(bad));
}

static void no_memory(void **state)
{
    (void)state;
    read_without_memory(espi_read_tiers, HEAD "1 0 3 100 1 0 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_file),
        cmocka_unit_test(small_text),
        cmocka_unit_test(bad_texts),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
