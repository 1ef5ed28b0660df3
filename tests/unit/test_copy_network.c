/* The network of a copy, of which hosts and links are left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "copy/network.h"
#include "support/seed.h"

enum { NODES = 6 };

/* Five hosts and a switch, each linked with each, of which everything is known. */
static struct esp_platform *make_known(struct espi_rng *rng)
{
    const char *names[NODES] = {"a", "b", "c", "d", "e", "s"};
    int links[NODES * NODES], n = 0;
    struct esp_builder *b;
    struct esp_platform *p;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_CAPACITY);
    for (int v = 0; v < NODES; v++) {
        struct esp_machines machines = {.usd_per_hour = v + 1, .max_count = 3};
        struct esp_node_spec spec = {.name = names[v],
                                     .kind = v == 5 ? ESP_NODE_SWITCH : ESP_NODE_HOST,
                                     .send_s = ESP_UNSET,
                                     .recv_s = ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
        if (v < 5)
            assert_int_equal(esp_builder_set_machines(b, v, &machines, NULL), ESP_OK);
    }
    for (int u = 0; u < NODES; u++)
        for (int v = 0; v < NODES; v++) {
            double Bps = 1e6 * (double)(1 + espi_rng_next(rng) % 100);
            struct esp_rate_range range = {Bps / 2, 2 * Bps, 0.9};
            if (u == v)
                continue;
            assert_int_equal(esp_builder_add_link(b, u, v, 1e-3, Bps, &links[n], NULL),
                             ESP_OK);
            assert_int_equal(esp_builder_set_link_range(b, links[n], &range, NULL),
                             ESP_OK);
            assert_int_equal(esp_builder_set_link_price(b, links[n], 1e-9 * Bps, NULL),
                             ESP_OK);
            n++;
        }
    assert_int_equal(esp_builder_add_cable(b, "cable", 5e6, links, 7, NULL), ESP_OK);
    assert_int_equal(esp_builder_set_cable_price(b, 0, 0.5, NULL), ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

static char *text_of(const struct esp_platform *p)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_int_equal(esp_platform_write_stream(p, out, NULL), ESP_OK);
    fclose(out);
    return text;
}

static void check_link(const struct esp_platform *p, int e,
                       const struct esp_platform *part)
{
    int from = esp_platform_find_node(
        part, esp_platform_node_name(p, esp_platform_link_from(p, e)));
    int to = esp_platform_find_node(
        part, esp_platform_node_name(p, esp_platform_link_to(p, e)));
    struct esp_rate_range range = esp_platform_link_range(p, e), got;
    int link = from < 0 || to < 0 ? -1 : esp_platform_find_link(part, from, to);
    if (esp_platform_link_from(p, e) == 2 || esp_platform_link_to(p, e) == 2 ||
        (esp_platform_link_from(p, e) == 0 && esp_platform_link_to(p, e) == 1)) {
        assert_int_equal(link, -1);
        return;
    }
    assert_true(link >= 0);
    got = esp_platform_link_range(part, link);
    assert_true(got.low_Bps == range.low_Bps && got.high_Bps == range.high_Bps &&
                got.confidence == range.confidence);
    assert_true(esp_platform_link_price(part, link) == esp_platform_link_price(p, e));
    assert_true(esp_platform_link_bandwidth_Bps(part, link) ==
                esp_platform_link_bandwidth_Bps(p, e));
}

/* What is known of a network stays known where hosts and links are left out. */
static void what_is_known_stays_known(void **state)
{
    (void)state;
    struct espi_rng rng;
    const struct espi_copy_ban ban = {"a", "b"};
    unsigned char keeps[NODES] = {1, 1, 1, 1, 1, 0};
    struct esp_platform *part;
    espi_rng_seed(&rng, test_seed(7));
    struct esp_platform *p = make_known(&rng);
    assert_int_equal(espi_copy_network(p, keeps, NULL, 0, &part, NULL), ESP_OK);
    char *all = text_of(p), *same = text_of(part);
    assert_string_equal(all, same);
    free(all);
    free(same);
    esp_platform_free(part);
    keeps[2] = 0;
    assert_int_equal(espi_copy_network(p, keeps, &ban, 1, &part, NULL), ESP_OK);
    assert_int_equal(esp_platform_node_count(part), NODES - 1);
    for (int e = 0; e < esp_platform_link_count(p); e++)
        check_link(p, e, part);
    assert_true(esp_platform_cable_price(part, 0) == 0.5);
    assert_true(esp_platform_node_machines(part, esp_platform_find_node(part, "d"))
                    .usd_per_hour == 4);
    esp_platform_free(part);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_known_stays_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
