/* The network of a copy, of which hosts and links are left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <espalier/algo.h>

#include "base/rng.h"
#include "copy/network.h"
#include "copy/once.h"
#include "plan/legs.h"
#include "support/alloc_fail.h"
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

/* ---- who gets what twice ---- */

enum { HOSTS = 8 };

/* A ring with some links across: most ways lead over other hosts. */
static struct esp_platform *make_sparse(struct espi_rng *rng)
{
    struct esp_builder *b;
    struct esp_platform *p;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, espi_rng_next(rng) % 2 ? ESP_MODEL_CAPACITY
                                                    : ESP_MODEL_ONE_PORT);
    for (int v = 0; v < HOSTS; v++) {
        char name[8];
        snprintf(name, sizeof name, "h%d", v);
        struct esp_node_spec spec = {.name = name,
                                     .kind = ESP_NODE_HOST,
                                     .send_s = ESP_UNSET,
                                     .recv_s = ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int u = 0; u < HOSTS; u++)
        for (int v = 0; v < HOSTS; v++) {
            double Bps = 1e6 * (double)(1 + espi_rng_next(rng) % 20);
            int is_near = v == (u + 1) % HOSTS || u == (v + 1) % HOSTS;
            if (u != v && (is_near || espi_rng_next(rng) % 10 == 0))
                assert_int_equal(esp_builder_add_link(b, u, v, 1e-4, Bps, NULL, NULL),
                                 ESP_OK);
        }
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

static void plan_for(const struct esp_platform *p, struct espi_rng *rng,
                     struct esp_plan **plan)
{
    static const int targets[] = {2, 3, 5};
    struct esp_request request;
    int few = espi_rng_next(rng) % 2 == 0;
    esp_request_init(&request, 0);
    request.algo = few ? "mcph" : "flat";
    request.size_bytes = 1e6;
    request.slice_bytes = 65536;
    if (few) {
        request.op = ESP_OP_MULTICAST;
        request.targets = targets;
        request.n_targets = 3;
    }
    assert_int_equal(esp_plan_make(p, &request, plan, NULL), ESP_OK);
}

static int count_twice(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct espi_arena arena;
    struct espi_legs legs;
    int twice = 0;
    espi_arena_init(&arena);
    assert_int_equal(espi_legs_init(&legs, p, plan, &arena), 0);
    for (int i = 0; i < legs.n; i++)
        for (int j = 0; j < i; j++)
            twice +=
                legs.leg[i].tree == legs.leg[j].tree && legs.leg[i].to == legs.leg[j].to;
    espi_arena_done(&arena);
    return twice;
}

/* A plan that agents can run: checked, and nobody gets anything twice. */
static void each_gets_it_once(void **state)
{
    (void)state;
    struct espi_rng rng;
    int changed = 0;
    espi_rng_seed(&rng, test_seed(8));
    for (int draw = 0; draw < test_draws(40); draw++) {
        struct esp_platform *p = make_sparse(&rng);
        struct esp_plan *plan = NULL;
        plan_for(p, &rng, &plan);
        changed += count_twice(p, plan) > 0;
        assert_int_equal(espi_copy_once(p, &plan, NULL), ESP_OK);
        assert_int_equal(count_twice(p, plan), 0);
        assert_int_equal(esp_plan_check(plan, p, NULL), ESP_OK);
        assert_non_null(plan->schedule);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
    assert_true(changed > 0);
}

struct pruned {
    const struct esp_platform *p;
    const struct esp_plan *plan;
};

static esp_status prune_copy(void *arg)
{
    const struct pruned *u = arg;
    struct esp_plan *plan = NULL;
    esp_status status = esp_plan_copy(u->plan, &plan, NULL);
    if (!status)
        status = espi_copy_once(u->p, &plan, NULL);
    esp_plan_free(plan);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct espi_rng rng;
    struct esp_plan *plan = NULL;
    espi_rng_seed(&rng, test_seed(9));
    struct esp_platform *p = make_sparse(&rng);
    do {
        esp_plan_free(plan);
        plan = NULL;
        plan_for(p, &rng, &plan);
    } while (count_twice(p, plan) == 0);
    struct pruned u = {p, plan};
    assert_true(alloc_fail_each(prune_copy, &u) > 3);
    esp_plan_free(plan);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_known_stays_known),
                                       cmocka_unit_test(each_gets_it_once),
                                       cmocka_unit_test(memory_may_run_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
