/* Pairs of matrices. The tests write both as one text, with a line "=" between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "support/read_cases.h"
#include "support/seed.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static esp_status read_pair(const struct espi_source *source, struct esp_platform **out,
                            struct esp_err *err)
{
    const char *cut = memmem(source->text, source->length, "=\n", 2);
    assert_non_null(cut);
    size_t n = (size_t)(cut - source->text);
    struct espi_source latency = *source, bandwidth = *source;
    latency.length = n;
    bandwidth.text += n + 2;
    bandwidth.length -= n + 2;
    bandwidth.where = "dir/in.txt (second)";
    return espi_read_matrix(&latency, &bandwidth, out, err);
}

static const char *const same[] = {
    /* commas; separators and names differ from file to file */
    "0,1ms,2ms\n3ms,0,4ms\n5ms,6ms,0\n=\n0,10,-\n30,0,40\n,60,0\n",
    "# c\n0;1ms;2ms\n3ms;0;4ms\n\n5ms;6ms;0\n=\n- 10 -\n30 9 40\n0 60 0\n",
    "0\t1ms\t2ms\n3ms\t\t4ms\n5ms\t6ms\t\n=\n\t10\t\n30\t\t40\n\t60\t\n",
    "p0,p1,p2\n0,1ms,2ms\n3ms,0,4ms\n5ms,6ms,0\n=\n,10,\n30,,40\n,60,\n",
    ",p0,p1,p2\np0,0,1ms,2ms\np1,3ms,0,4ms\np2,5ms,6ms,0\n=\n,10,\n30,,40\n,60,\n",
    ("p0,p1,p2\np0,0,1ms,2ms\np1,3ms,0,4ms\np2,5ms,6ms,0\n=\n"
     "name,\"p0\",\"p1\" , p2\n\"p0\",,10,\np1,30,,40\np2,,60,\n"),
    "0 1ms 2ms\r\n3ms 0 4ms\r\n5ms 6ms 0\r\n=\np0,0,10,0\np1,30,0,40\np2,-,60,0",
};

static void same_platform(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(same); i++) {
        struct esp_platform *p = read_good(read_pair, same[i]);
        assert_int_equal(esp_platform_model(p), ESP_MODEL_ONE_PORT);
        assert_int_equal(esp_platform_node_count(p), 3);
        assert_int_equal(esp_platform_link_count(p), 4);
        assert_link(p, "p0", "p1", 1e-3, 10);
        assert_link(p, "p1", "p0", 3e-3, 30);
        assert_link(p, "p1", "p2", 4e-3, 40);
        assert_link(p, "p2", "p1", 6e-3, 60);
        esp_platform_free(p);
    }
}

static const struct bad_text bad[] = {
    {"=\n0\n", "there are no rows"},
    {"# x\n=\n0\n", "there are no rows"},
    {"0\n=\n\n", "(second): there are no rows"},
    {"a,b\n=\n0\n", "there are no rows"},
    {"0 1\n1 0\n=\n0\n", "has 2 rows, but dir/in.txt (second) has 1"},
    {"0 1\n1 0 2\n=\n0 1\n1 0\n", ":2: 3 values in a row of a matrix of 2 rows"},
    {"0 1\n1 0\n=\n0 1\n1\n", "(second):2: 1 values in a row"},
    {"0,1\n1,0,\n=\n0 1\n1 0\n", ":2: 3 values in a row"},
    {"0 x1\n1 0\n=\n0 1\n1 0\n", ":1: column 2: latency 'x1' is not a time"},
    {"0 1\n1 x\n=\n0 1\n1 0\n", ":2: column 2: latency 'x' is not a time"},
    {"0 1\n1 0\n=\n0 nan\n1 0\n", ":1: column 2: bandwidth 'nan' is not a bandw"},
    {"0 nan\n1 0\n=\n0 1\n1 0\n", "column 2: latency 'nan' is not a time"},
    {"0 1\n1 0\n=\n0 1\n-4 0\n", ":2: column 1: bandwidth '-4' is negative"},
    {"0 1\n1 0\n=\n0 1\n4Mups 0\n", "'4Mups' is not a bandwidth"},
    {"0,-\n1,0\n=\n0,1\n1,0\n", ":1: column 2: no latency, but"},
    {"a,b\n0,1\n1,0\n=\na,c\n0,1\n1,0\n", ":1: 'c' is not the name of node 1"},
    {"a,b\na,0,1\nc,1,0\n=\n0,1\n1,0\n", ":3: 'c' is not the name of node 1"},
    {"a,a\n0,1\n1,0\n=\n0,1\n1,0\n", ":1: the name 'a' stands twice"},
    {"a,0,1\na,1,0\n=\n0,1\n1,0\n", ":2: the name 'a' stands twice"},
    {"a,\n0,1\n1,0\n=\n0,1\n1,0\n", ":1: the name '' is empty"},
    {"0,\"1\n1,0\n=\n0,1\n1,0\n", ":1: a quotation mark"},
    {"0,\"1\"x\n1,0\n=\n0,1\n1,0\n", ":1: a quotation mark"},
    {"a,\"b\n0,1\n1,0\n=\n0,1\n1,0\n", ":1: a quotation mark"},
    {"a,b,c\n0,1\n1,0\n=\n0,1\n1,0\n", ":1: 3 names above 2 rows"},
};

static void bad_texts(void **state)
{
    (void)state;
    read_bad_table(read_pair, bad, COUNT(bad));
}

static void no_memory(void **state)
{
    (void)state;
    read_without_memory(read_pair, same[5]);
}

/* Random matrices come back as they were written. */
static void random_matrices(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(3));
    for (int round = 0; round < 50; round++) {
        int n = 2 + (int)espi_rng_below(&r, 12);
        double value[2][14][14];
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    value[k][i][j] = espi_rng_below(&r, 4) || !k
                                         ? espi_rng_log_range(&r, 1e-5, 1e9)
                                         : 0;
                    fprintf(f, "%.17g%s", value[k][i][j],
                            j < n - 1        ? ";"
                            : i < n - 1 || k ? "\n"
                                             : "\n=\n");
                }
        fclose(f);
        struct esp_platform *p = read_good(read_pair, text);
        int links = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (i != j && value[1][i][j] > 0) {
                    assert_link(p, esp_platform_node_name(p, i),
                                esp_platform_node_name(p, j), value[0][i][j],
                                value[1][i][j]);
                    links++;
                }
        assert_int_equal(esp_platform_link_count(p), links);
        esp_platform_free(p);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_platform),
        cmocka_unit_test(bad_texts),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(random_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
