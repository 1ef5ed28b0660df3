/* Text from outside: what of it reaches messages, terminals and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/json_text.h"
#include "base/text.h"
#include "report/markup.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* The character as UTF-8, written in another way than the code does. */
static size_t encode(uint32_t c, char out[5])
{
    static const uint32_t mark[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t k = n; k-- > 1; c >>= 6)
        out[k] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(mark[n] | c);
    out[n] = '\0';
    return n;
}

static int is_surrogate(uint32_t c)
{
    return c >= 0xd800 && c <= 0xdfff;
}

/* Those that the terminal must not get, one by one. */
static int must_not_be_shown(uint32_t c)
{
    static const uint32_t single[] = {0x7f,   0x61c,  0x200e, 0x200f,
                                      0x2028, 0x2029, 0xfeff};
    for (size_t i = 0; i < COUNT(single); i++)
        if (c == single[i])
            return 1;
    return c < 0x20 || (c >= 0x80 && c <= 0x9f) || (c >= 0x200b && c <= 0x200d) ||
           (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void every_character(void **state)
{
    (void)state;
    for (uint32_t c = 1; c <= 0x10ffff; c++) {
        char text[5], shown[32], expected[32];
        uint32_t back = 0;
        size_t n = encode(c, text);
        if (is_surrogate(c)) {
            assert_int_equal(espi_utf8(text, n, &back), 0);
            continue;
        }
        assert_int_equal(espi_utf8(text, n, &back), n);
        assert_int_equal(back, c);
        assert_int_equal(espi_utf8(text, n - 1, &back), 0);
        if (must_not_be_shown(c) && espi_is_harmless(c))
            fail_msg("U+%04X is let through", (unsigned)c);
        espi_quote(shown, sizeof shown, text);
        snprintf(expected, sizeof expected, c > 0xffff ? "\\U%08x" : "\\u%04x",
                 (unsigned)c);
        assert_string_equal(shown, espi_is_harmless(c) ? text : expected);
    }
}

static void ordinary_text(void **state)
{
    (void)state;
    static const char *const plain[] = {
        "griffon-1.nancy.grid5000.fr",
        "Zürich",
        "Ελλάδα",
        "東京",
        "دمشق",
        "ירושלים",
        "🙂",
        "a?b\\c\"d'",
        "",
    };
    char out[64];
    for (size_t i = 0; i < COUNT(plain); i++) {
        assert_string_equal(espi_quote(out, sizeof out, plain[i]), plain[i]);
        assert_true(espi_is_harmless_text(plain[i], strlen(plain[i])));
        assert_true(espi_is_printable(plain[i], strlen(plain[i])));
    }
}

static void hostile_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"a\033[31mb", "a\\u001b[31mb"},
        {"a\nb\r\tc", "a\\u000ab\\u000d\\u0009c"},
        {"a\xc2\x9b"
         "31m",
         "a\\u009b31m"},
        {"\xe2\x80\xae"
         "cod.exe",
         "\\u202ecod.exe"},
        {"a\xe2\x80\x8b\xe2\x80\xa8", "a\\u200b\\u2028"},
        {"a\x9b\xff\xc0\x80", "a\\x9b\\xff\\xc0\\x80"},
        {"\xe2\x80", "\\xe2\\x80"},
        {"\xf3\xa0\x81\x81", "\\U000e0041"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char out[64];
        struct esp_err err = {0};
        assert_string_equal(espi_quote(out, sizeof out, cases[i].text), cases[i].shown);
        assert_false(espi_is_harmless_text(cases[i].text, strlen(cases[i].text)));
        /* no message has them, whoever forgets to quote */
        espi_err_fill(&err, ESP_EINPUT, "%s", cases[i].text);
        assert_string_equal(err.text, cases[i].shown);
    }
}

/* Nothing is cut in two, and no byte is written past the end. */
static void long_text(void **state)
{
    (void)state;
    for (size_t size = 1; size < 40; size++) {
        char out[41];
        memset(out, '#', sizeof out);
        espi_quote(out, size,
                   "ab\xc3\xa9\033\xf0\x9f\x99\x82"
                   "cdefghijklmnopqrstuvwxyz");
        assert_true(strnlen(out, size) < size);
        assert_int_equal(out[size], '#');
        assert_true(espi_is_harmless_text(out, strlen(out)));
        const char *code = strchr(out, '\\');
        if (code)
            assert_memory_equal(code, "\\u001b", 6);
    }
    char out[10];
    assert_string_equal(espi_quote(out, sizeof out, "abcdef"), "abcdef");
    assert_string_equal(espi_quote(out, sizeof out, "abcdefg"), "abcdef...");
}

/* Of a path the end is kept. */
static void long_path(void **state)
{
    (void)state;
    static const char path[] = "/abc/\033\xc3\xa9/file";
    for (size_t size = 1; size < 40; size++) {
        char out[41];
        memset(out, '#', sizeof out);
        espi_quote_end(out, size, path);
        assert_true(strnlen(out, size) < size);
        assert_int_equal(out[size], '#');
        assert_true(espi_is_harmless_text(out, strlen(out)));
        if (size >= 12)
            assert_string_equal(out + strlen(out) - 5, "/file");
        if (size >= 22)
            assert_string_equal(out, "/abc/\\u001b\xc3\xa9/file");
        else if (size >= 8)
            assert_memory_equal(out, "...", 3);
    }
}

/* In JSON the text is the same text, and a terminal may still see it. */
static void json(void **state)
{
    (void)state;
    static const char text[] =
        "a\"\\\033\n\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81\xc3\xa9<&>";
    for (int markup = 0; markup < 2; markup++) {
        char *out = NULL;
        size_t length = 0;
        FILE *f = open_memstream(&out, &length);
        assert_non_null(f);
        (markup ? espi_markup_json_string : espi_json_put_string)(f, text);
        fclose(f);
        assert_true(espi_is_harmless_text(out, length));
        assert_true(!markup || !strpbrk(out, "<>&"));
        json_t *back = json_loads(out, JSON_DECODE_ANY, NULL);
        assert_non_null(back);
        assert_string_equal(json_string_value(back), text);
        json_decref(back);
        free(out);
    }
}

static void markup(void **state)
{
    (void)state;
    char *out = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&out, &length);
    assert_non_null(f);
    espi_markup_text(f, "<a&\"'>\t\n\033\xc2\x9b\xe2\x80\xae\xc3\xa9\xff");
    fclose(f);
    assert_string_equal(out, "&lt;a&amp;&quot;&#39;&gt;\t\n?&#x9b;&#x202e;\xc3\xa9?");
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character), cmocka_unit_test(ordinary_text),
        cmocka_unit_test(hostile_text),    cmocka_unit_test(long_text),
        cmocka_unit_test(long_path),       cmocka_unit_test(json),
        cmocka_unit_test(markup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
