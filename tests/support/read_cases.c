#include "support/read_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/alloc_fail.h"

static const char where[] = "dir/in.txt";

/* A copy of exactly that length, so that sanitizers see a read past its end. */
static char *exact_copy(const char *text, size_t length)
{
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    return copy;
}

struct esp_platform *read_good(reader_fn read, const char *text)
{
    struct esp_err err = {0};
    struct esp_platform *p = NULL;
    size_t n = strlen(text);
    char *copy = exact_copy(text, n);
    struct espi_source source = {copy, n, where, ESP_MODEL_DEFAULT, NULL, 0, 0};
    if (read(&source, &p, &err) != ESP_OK)
        fail_msg("%s\nfor\n%s", err.text, text);
    free(copy);
    assert_non_null(p);
    assert_string_equal(esp_platform_name(p), "in");
    return p;
}

void read_bad(reader_fn read, const char *text, size_t length, const char *cause)
{
    struct esp_err err = {0};
    struct esp_platform *out = (struct esp_platform *)(uintptr_t)&err, *before = out;
    char *copy = exact_copy(text, length);
    struct espi_source source = {copy, length, where, ESP_MODEL_DEFAULT, NULL, 0, 0};
    esp_status status = read(&source, &out, &err);
    free(copy);
    if (status != ESP_EINPUT || err.status != ESP_EINPUT || out != before)
        fail_msg("status %d, not ESP_EINPUT, for\n%.200s", (int)status, text);
    if (strncmp(err.text, where, strlen(where)) != 0 || !strstr(err.text, cause) ||
        strchr(err.text, '\n'))
        fail_msg("'%s' instead of '%s' for\n%.200s", err.text, cause, text);
}

void read_bad_table(reader_fn read, const struct bad_text *table, size_t n)
{
    for (size_t i = 0; i < n; i++)
        read_bad(read, table[i].text, strlen(table[i].text), table[i].cause);
}

struct work {
    reader_fn read;
    const char *text;
};

static esp_status read_once(void *arg)
{
    const struct work *w = arg;
    struct espi_source source = {
        w->text, strlen(w->text), where, ESP_MODEL_DEFAULT, NULL, 0, 0};
    struct esp_platform *p = NULL;
    struct esp_err err = {0};
    esp_status status = w->read(&source, &p, &err);
    esp_platform_free(p);
    return status;
}

void read_without_memory(reader_fn read, const char *text)
{
    struct work w = {read, text};
    assert_true(alloc_fail_each(read_once, &w) > 5);
}

void assert_link(const struct esp_platform *p, const char *from, const char *to,
                 double latency_s, double bandwidth_Bps)
{
    int link = esp_platform_find_link(p, esp_platform_find_node(p, from),
                                      esp_platform_find_node(p, to));
    if (link < 0)
        fail_msg("there is no link %s -> %s", from, to);
    if (esp_platform_link_latency_s(p, link) != latency_s ||
        esp_platform_link_bandwidth_Bps(p, link) != bandwidth_Bps)
        fail_msg("link %s -> %s: %.17g s, %.17g B/s", from, to,
                 esp_platform_link_latency_s(p, link),
                 esp_platform_link_bandwidth_Bps(p, link));
}
