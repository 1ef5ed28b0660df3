/* The tester of failing allocations must itself be able to fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/alloc.h"
#include "support/alloc_fail.h"

static esp_status two_blocks(void *arg)
{
    (void)arg;
    char *a = espi_malloc(10);
    char *b = a ? espi_malloc(20) : NULL;
    esp_status status = b ? ESP_OK : ESP_ENOMEM;
    espi_free(a);
    espi_free(b);
    return status;
}

static esp_status json_value(void *arg)
{
    (void)arg;
    json_t *value = json_integer(7);
    if (!value)
        return ESP_ENOMEM;
    json_decref(value);
    return ESP_OK;
}

static esp_status swallows_failure(void *arg)
{
    (void)arg;
    espi_free(espi_malloc(10));
    return ESP_OK;
}

static esp_status wrong_status(void *arg)
{
    return two_blocks(arg) ? ESP_EINPUT : ESP_OK;
}

static esp_status never_works(void *arg)
{
    (void)arg;
    return ESP_ENOMEM;
}

static void *kept[16];
static int n_kept;

static esp_status leaks(void *arg)
{
    (void)arg;
    void *a = espi_malloc(10);
    if (a && n_kept < 16)
        kept[n_kept++] = a;
    void *b = espi_malloc(10);
    espi_free(b);
    return a && b ? ESP_OK : ESP_ENOMEM;
}

static void counts_allocations(void **state)
{
    (void)state;
    assert_int_equal(alloc_fail_each(two_blocks, NULL), 2);
    assert_int_equal(alloc_fail_each(json_value, NULL), 1);
    assert_int_equal(two_blocks(NULL), ESP_OK);
}

static void reports_bad_work(void **state)
{
    (void)state;
    assert_int_equal(alloc_fail_each(swallows_failure, NULL), -1);
    assert_int_equal(alloc_fail_each(wrong_status, NULL), -1);
    assert_int_equal(alloc_fail_each(never_works, NULL), -1);
}

static void sees_leaks_under_sanitizers(void **state)
{
    (void)state;
    int got = alloc_fail_each(leaks, NULL);
    while (n_kept > 0)
        espi_free(kept[--n_kept]);
#ifdef __SANITIZE_ADDRESS__
    assert_int_equal(got, -1);
#else
    assert_int_equal(got, 2);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_allocations),
        cmocka_unit_test(reports_bad_work),
        cmocka_unit_test(sees_leaks_under_sanitizers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
