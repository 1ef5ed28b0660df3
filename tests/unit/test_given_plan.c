/* Plans that travel in the environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/given_plan.h"
#include "support/alloc_fail.h"

static char *piece[ESPI_PLAN_PIECES + 1];

static char *get(const char *name)
{
    int i = strncmp(name, "ESPALIER_PLAN_", 14) == 0 ? atoi(name + 14) : 0;
    return i >= 1 && i <= ESPI_PLAN_PIECES ? piece[i] : NULL;
}

static void forget(void)
{
    for (int i = 1; i <= ESPI_PLAN_PIECES; i++) {
        free(piece[i]);
        piece[i] = NULL;
    }
}

/* As espalier run does it. */
static int cut(const char *text, size_t length, char value[ESPI_PLAN_NAME_MAX])
{
    int n = espi_plan_pieces(length, value);
    for (int i = 1; i <= n; i++) {
        size_t at = (size_t)(i - 1) * ESPI_PLAN_PIECE_BYTES, left = length - at;
        piece[i] = strndup(text + at,
                           left < ESPI_PLAN_PIECE_BYTES ? left : ESPI_PLAN_PIECE_BYTES);
    }
    return n;
}

static void texts_of_all_lengths_come_whole(void **state)
{
    enum { MOST = ESPI_PLAN_PIECE_BYTES * ESPI_PLAN_PIECES };
    static const size_t lengths[] = {1,
                                     100,
                                     ESPI_PLAN_PIECE_BYTES - 1,
                                     ESPI_PLAN_PIECE_BYTES,
                                     ESPI_PLAN_PIECE_BYTES + 1,
                                     MOST - 1,
                                     MOST};
    char value[ESPI_PLAN_NAME_MAX], *text = malloc(MOST + 2);
    struct espi_input in;
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < MOST + 2; i++)
        text[i] = (char)('a' + i % 23);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        assert_true(cut(text, lengths[i], value) > 0);
        assert_int_equal(espi_given_plan_read(&in, value, get, NULL), ESP_OK);
        assert_int_equal(in.length, lengths[i]);
        assert_memory_equal(in.text, text, lengths[i]);
        assert_int_equal(in.text[in.length], '\0');
        espi_input_done(&in);
        forget();
    }
    assert_int_equal(espi_plan_pieces(0, value), 0);
    assert_int_equal(espi_plan_pieces(MOST + 1, value), 0);
    assert_int_equal(espi_plan_pieces(SIZE_MAX, value), 0);
    free(text);
}

static void what_is_not_whole_is_refused(void **state)
{
    static const char *const bad[] = {
        "env:",     "env:1",    "env:1:",         "env:1:0", "env:2:5",  "env:1:05",
        "env:1:-1", "env:1:5x", "env:99:9999999", "env:x:5", "env: 1:5", "env:0:0"};
    struct espi_input in;
    struct esp_err err;
    (void)state;
    piece[1] = strdup("12345");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(espi_given_plan_read(&in, bad[i], get, &err), ESP_EUSAGE);
    assert_int_equal(espi_given_plan_read(&in, "env:1:5", get, &err), ESP_OK);
    espi_input_done(&in);
    assert_int_equal(espi_given_plan_read(&in, "env:1:6", get, &err), ESP_EINPUT);
    assert_int_equal(espi_given_plan_read(&in, "env:1:4", get, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, "--shared"));
    assert_int_equal(espi_given_plan_read(&in, "env:2:65540", get, &err), ESP_EINPUT);
    forget();
    assert_int_equal(espi_given_plan_read(&in, "env:1:5", get, &err), ESP_EINPUT);
    assert_int_equal(espi_given_plan_read(&in, "/no/such/file", get, &err), ESP_EIO);
}

static void white_space_goes_but_for_that_in_names(void **state)
{
    char text[] = " {\n  \"a b\": [1, 2],\t\"c\\\" d\\\\\": \" \"\r}\n", odd[] = "\"a \\";
    (void)state;
    size_t n = espi_plan_squeeze(text, strlen(text));
    assert_string_equal(text, "{\"a b\":[1,2],\"c\\\" d\\\\\":\" \"}");
    assert_int_equal(n, strlen(text));
    n = espi_plan_squeeze(odd, strlen(odd));
    assert_int_equal(n, strlen(odd));
}

static esp_status read_once(void *arg)
{
    struct espi_input in;
    struct esp_err err;
    esp_status st = espi_given_plan_read(&in, arg, get, &err);
    if (!st)
        espi_input_done(&in);
    return st;
}

static void memory_may_run_out(void **state)
{
    static char value[] = "env:1:5";
    (void)state;
    piece[1] = strdup("12345");
    assert_true(alloc_fail_each(read_once, value) > 0);
    forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_all_lengths_come_whole),
        cmocka_unit_test(what_is_not_whole_is_refused),
        cmocka_unit_test(white_space_goes_but_for_that_in_names),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
