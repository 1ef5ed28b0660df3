/* What the public library gives to strangers: samples, and platforms made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include <espalier/espalier.h>

static const char samples_file[] = TEST_DATA_DIR "/samples.txt";

static void samples_become_a_platform(void **state)
{
    (void)state;
    struct esp_samples *samples = NULL, *again = NULL;
    struct esp_platform *p = NULL, *q = NULL;
    struct esp_samples_options o;
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(esp_samples_read(samples_file, &samples, NULL), ESP_OK);
    int n = esp_samples_host_count(samples);
    assert_true(n > 1 && esp_samples_count(samples) > (size_t)n);
    assert_int_equal(esp_samples_platform(samples, NULL, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_host_count(p), n);
    assert_string_equal(esp_platform_name(p), "measured");
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_int_equal(esp_samples_write_stream(samples, out, NULL), ESP_OK);
    fclose(out);
    assert_int_equal(esp_samples_parse(text, length, "t", &again, NULL), ESP_OK);
    assert_int_equal(esp_samples_platform(again, NULL, &q, NULL), ESP_OK);
    assert_true(esp_platform_equal(p, q));
    esp_platform_free(q);
    esp_samples_options_defaults(&o);
    o.direct_max = 1;
    o.name = "with switches";
    assert_int_equal(esp_samples_platform(samples, &o, &q, NULL), ESP_OK);
    assert_true(esp_platform_node_count(q) > n);
    assert_string_equal(esp_platform_name(q), "with switches");
    esp_platform_free(p);
    esp_platform_free(q);
    esp_samples_free(samples);
    esp_samples_free(again);
    free(text);
}

static void samples_of_ones_own(void **state)
{
    (void)state;
    struct esp_samples *samples = NULL;
    struct esp_platform *p = NULL;
    struct esp_err err = {0};
    assert_int_equal(esp_samples_create(&samples, NULL), ESP_OK);
    assert_int_not_equal(esp_samples_platform(samples, NULL, &p, &err), ESP_OK);
    assert_int_equal(esp_samples_add_host(samples, "a", 1, NULL), ESP_OK);
    assert_int_equal(esp_samples_add_host(samples, "b", 1, NULL), ESP_OK);
    assert_int_not_equal(esp_samples_add_host(samples, "b", 1, NULL), ESP_OK);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(
            esp_samples_add(samples, ESP_SAMPLE_LATENCY, 0, k, !k, 1e-4, NULL), ESP_OK);
        assert_int_equal(
            esp_samples_add(samples, ESP_SAMPLE_RATE, k + 1, k, !k, 1e8, NULL), ESP_OK);
    }
    assert_int_equal(esp_samples_add(samples, ESP_SAMPLE_RATE, 1, 0, 2, 1e8, NULL),
                     ESP_EINPUT);
    assert_int_equal(esp_samples_add(samples, ESP_SAMPLE_RATE, 1, 0, 1, NAN, NULL),
                     ESP_EINPUT);
    assert_int_equal(esp_samples_add(samples, ESP_SAMPLE_KIND_COUNT, 1, 0, 1, 1, NULL),
                     ESP_EUSAGE);
    assert_int_equal(esp_samples_count(samples), 4);
    assert_int_equal(esp_samples_platform(samples, NULL, &p, NULL), ESP_OK);
    assert_true(esp_platform_link_bandwidth_Bps(p, esp_platform_find_link(p, 0, 1)) ==
                1e8);
    esp_platform_free(p);
    p = NULL;
    struct esp_samples_options o;
    esp_samples_options_defaults(&o);
    o.direct_max = -1;
    assert_int_equal(esp_samples_platform(samples, &o, &p, NULL), ESP_EUSAGE);
    o.direct_max = 1;
    o.name = NULL;
    assert_int_equal(esp_samples_platform(samples, &o, &p, NULL), ESP_EUSAGE);
    esp_samples_free(samples);
    samples = NULL;
    assert_int_equal(esp_samples_create(NULL, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_read(NULL, &samples, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_read(samples_file, NULL, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_parse(NULL, 0, "t", &samples, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_parse("x", 1, "t", &samples, NULL), ESP_EINPUT);
    assert_int_equal(esp_samples_platform(NULL, NULL, &p, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_write_stream(NULL, stdout, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_add_host(NULL, "a", 1, NULL), ESP_EUSAGE);
    assert_int_equal(esp_samples_host_count(NULL), 0);
    assert_int_equal(esp_samples_count(NULL), 0);
    assert_null(samples);
    assert_null(p);
    esp_samples_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_become_a_platform),
        cmocka_unit_test(samples_of_ones_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
