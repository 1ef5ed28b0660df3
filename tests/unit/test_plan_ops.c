/* Plans of operations other than broadcast: what the checker asks, and their files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "support/alloc_fail.h"
#include "support/plans.h"
#include "support/seed.h"
#include "support/small_platform.h"

/* A path p0 - p1 - p2 - p3, both ways, and p0 -> p3. */
static struct esp_platform *toy(void)
{
    static const struct small_arc arcs[] = {{0, 1, 1}, {1, 0, 1}, {1, 2, 1}, {2, 1, 1},
                                            {2, 3, 1}, {3, 2, 1}, {0, 3, 1}};
    return small_platform(ESP_MODEL_ONE_PORT, 4, arcs, 7);
}

#define PLAN(op, more, trees)                                                            \
    "{\"format\":\"espalier-plan/1\",\"op\":\"" op "\"," more "\"trees\":[" trees        \
    "],\"root\":\"p0\"}"
#define TREE(weight, more, edges) "{\"weight\":" weight "," more "\"edges\":[" edges "]}"
#define E(a, b)                   "[\"p" #a "\",\"p" #b "\"]"
#define TO(a)                     "\"targets\":[\"p" #a "\"],"
#define TO2(a, b)                 "\"targets\":[\"p" #a "\",\"p" #b "\"],"
#define FROM(a)                   "\"root\":\"p" #a "\","
#define OUT                       E(0, 1) "," E(1, 2) "," E(2, 3)
#define IN                        E(3, 2) "," E(2, 1) "," E(1, 0)
#define FROM1                     E(1, 0) "," E(1, 2) "," E(2, 3)
#define FROM2                     E(2, 1) "," E(1, 0) "," E(2, 3)
#define TO1                       E(3, 2) "," E(2, 1) "," E(0, 1)
#define TO2_                      E(0, 1) "," E(1, 2) "," E(3, 2)
#define TO3                       E(0, 1) "," E(1, 2) "," E(2, 3)
#define Q(root, edges)            TREE("0.25", FROM(root), edges)

static const struct {
    const char *text, *why; /* NULL: it is good */
} texts[] = {
    {PLAN("multicast", TO(2), TREE("1", "", E(0, 1) "," E(1, 2))), NULL},
    {PLAN("multicast", TO2(2, 3), TREE("0.5", "", OUT) "," TREE("0.5", "", OUT)), NULL},
    {PLAN("multicast", "", TREE("1", "", OUT)), NULL},
    {PLAN("multicast", TO(2), TREE("1", "", E(0, 1))), "does not reach p2"},
    {PLAN("multicast", "", TREE("1", "", E(0, 1))), "does not reach p2"},
    {PLAN("multicast", TO2(2, 2), TREE("1", "", OUT)), "p2 is a target twice"},
    {PLAN("multicast", TO(0), TREE("1", "", OUT)), "or the root"},
    {PLAN("multicast", "\"targets\":[],", TREE("1", "", OUT)), "empty"},
    {PLAN("multicast", "\"targets\":[\"q\"],", TREE("1", "", OUT)), "named 'q'"},
    {PLAN("multicast", "\"targets\":\"p1\",", TREE("1", "", OUT)), ""},
    {PLAN("multicast", TO(2), TREE("1", TO(2), OUT)), "no targets of their own"},
    {PLAN("multicast", TO(2), TREE("1", FROM(1), FROM1)), "have its root"},
    {PLAN("multicast", "\"targets\":[\"p1\",\"p1\",\"p1\",\"p1\",\"p1\"],",
          TREE("1", "", OUT)),
     "more targets than nodes"},
    {PLAN("bcast", TO(2), TREE("1", "", OUT)), "it is for all hosts"},

    {PLAN("scatter", "",
          TREE("0.3333333333", TO(1), E(0, 1)) "," TREE(
              "0.3333333333", TO(3), E(0, 3)) "," TREE("0.3333333333", TO(2),
                                                       E(0, 1) "," E(1, 2))),
     NULL},
    {PLAN("scatter", TO2(1, 3),
          TREE("0.5", TO(1), E(0, 1)) "," TREE("0.5", TO(3), E(0, 3))),
     NULL},
    {PLAN("scatter", TO2(1, 3),
          TREE("0.5", TO(1), E(0, 1)) "," TREE("0.25", TO(3),
                                               E(0, 3)) "," TREE("0.25", TO(3), OUT)),
     NULL},
    {PLAN("scatter", TO2(1, 3),
          TREE("0.4", TO(1), E(0, 1)) "," TREE("0.6", TO(3), E(0, 3))),
     "trees of p1 sum to 0.4, not to 1/2"},
    {PLAN("scatter", TO(1), TREE("0.5", TO(1), E(0, 1)) "," TREE("0.5", TO(3), E(0, 3))),
     "p3 has no part"},
    {PLAN("scatter", TO(2), TREE("1", TO(2), E(0, 1))), "is a path"},
    {PLAN("scatter", TO(2), TREE("1", "", E(0, 1) "," E(1, 2))), "is a path"},
    {PLAN("scatter", TO(2), TREE("1", TO2(2, 3), OUT)), "not one host"},
    {PLAN("scatter", TO(3), TREE("1", TO(3), E(0, 1) "," E(0, 3))), "does not go on"},
    {PLAN("scatter", TO(3), TREE("1", TO(3) FROM(1), E(1, 2) "," E(2, 3))),
     "have its root"},
    {PLAN("scatter", TO(2), TREE("1", TO(0), "")), "p0 has no part"},

    {PLAN("gather", TO(2), TREE("1", TO(2), E(2, 1) "," E(1, 0))), NULL},
    {PLAN("gather", TO(2), TREE("1", TO(2), E(0, 1) "," E(1, 2))), "has sent before"},
    {PLAN("gather", TO(2), TREE("1", TO(2), E(2, 1))), "has sent before"},
    {PLAN("gather", TO(2), TREE("1", TO(2), E(1, 0) "," E(2, 1))), "has sent before"},

    {PLAN("reduce", "", TREE("1", "", IN)), NULL},
    {PLAN("reduce", TO(2), TREE("1", "", E(2, 1) "," E(1, 0))), NULL},
    {PLAN("reduce", "", TREE("1", "", E(2, 1) "," E(1, 0))), "does not reach p3"},
    {PLAN("reduce", "", TREE("1", "", E(2, 1) "," E(3, 2) "," E(1, 0))),
     "has sent before"},
    {PLAN("reduce", "", TREE("1", "", E(2, 1) "," IN)), "sends again"},
    {PLAN("reduce", "", TREE("1", "", OUT)), "has sent before"},

    {PLAN("allreduce", "", TREE("1", "", IN "," OUT)), NULL},
    {PLAN("allreduce", "", TREE("1", FROM(1), TO1 "," FROM1)), NULL},
    {PLAN("allreduce", "", TREE("1", FROM(1), TO1 "," OUT)), "yet"},
    {PLAN("allreduce", "", TREE("1", "", IN)), "as many"},
    {PLAN("allreduce", "", TREE("1", "", E(1, 0) "," E(0, 1))), "does not reach p2"},

    {PLAN("allgather", "", Q(0, OUT) "," Q(1, FROM1) "," Q(2, FROM2) "," Q(3, IN)), NULL},
    {PLAN("allgather", "", Q(0, OUT) "," Q(1, FROM1) "," Q(2, FROM2) "," Q(2, FROM2)),
     "trees of p2 sum to 0.5, not to 1/4"},
    {PLAN("allgather", TO(1), TREE("1", "", OUT)), "for all hosts"},
    {PLAN("allgather", "", TREE("1", "", OUT)), "not to 1/4"},
    {PLAN("reduce-scatter", "", Q(0, IN) "," Q(1, TO1) "," Q(2, TO2_) "," Q(3, TO3)),
     NULL},
    {PLAN("reduce-scatter", "", Q(0, OUT) "," Q(1, TO1) "," Q(2, TO2_) "," Q(3, TO3)),
     "sent before"},
};

static esp_status parse(const char *text, const struct esp_platform *p,
                        struct esp_plan **plan, struct esp_err *err)
{
    return esp_plan_parse(text, strlen(text), "f", p, plan, err);
}

static void the_checker_tells_good_from_bad(void **state)
{
    (void)state;
    struct esp_platform *p = toy();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct esp_plan *plan = NULL;
        struct esp_err err = {.text = ""};
        esp_status st = parse(texts[i].text, p, &plan, &err);
        if (!texts[i].why ? st != ESP_OK
                          : st != ESP_EINPUT || plan || !strstr(err.text, texts[i].why))
            fail_msg("%s: status %d, '%s'", texts[i].text, st, err.text);
        esp_plan_free(plan);
    }
    esp_platform_free(p);
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    struct esp_platform *p = toy();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct esp_plan *plan = NULL, *again = NULL;
        size_t n, n2;
        if (texts[i].why)
            continue;
        assert_int_equal(parse(texts[i].text, p, &plan, NULL), ESP_OK);
        char *text = plan_json(plan, p, &n);
        assert_int_equal(parse(text, p, &again, NULL), ESP_OK);
        char *text2 = plan_json(again, p, &n2);
        assert_string_equal(text, text2);
        assert_int_equal(again->n_targets, plan->n_targets);
        assert_int_equal(again->trees[0].root, plan->trees[0].root);
        free(text);
        free(text2);
        esp_plan_free(plan);
        esp_plan_free(again);
    }
    esp_platform_free(p);
}

static void structs_from_outside_are_checked_too(void **state)
{
    (void)state;
    struct esp_platform *p = toy();
    struct esp_plan *plan = NULL;
    const char *text = PLAN("scatter", TO(2), TREE("1", TO(2), E(0, 1) "," E(1, 2)));
    assert_int_equal(parse(text, p, &plan, NULL), ESP_OK);
    static const int wrong[] = {-1, 4, INT32_MAX};
    for (int i = 0; i < 3; i++) {
        plan->targets[0] = wrong[i];
        assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
        plan->targets[0] = 2;
        plan->trees[0].targets[0] = wrong[i];
        assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
        plan->trees[0].targets[0] = 2;
        plan->trees[0].root = wrong[i];
        assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
        plan->trees[0].root = 0;
    }
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_OK);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void names_of_operations_are_understood(void **state)
{
    (void)state;
    for (int i = 0; i < ESP_OP_COUNT; i++) {
        esp_op op = ESP_OP_COUNT;
        assert_int_equal(esp_op_parse(esp_op_name((esp_op)i), &op), 0);
        assert_int_equal((int)op, i);
    }
}

static void reversing_twice_changes_nothing(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(7));
    for (int round = 0; round < 20; round++) {
        struct small_options o = {.n = 6,
                                  .density = 0.3,
                                  .whole = 5,
                                  .model = (esp_model)(round % ESP_MODEL_COUNT)};
        struct esp_platform *p = small_random(&rng, &o), *r = NULL, *again = NULL;
        assert_int_equal(esp_platform_reversed(p, &r, NULL), ESP_OK);
        assert_int_equal(esp_platform_reversed(r, &again, NULL), ESP_OK);
        assert_true(esp_platform_equal(p, again));
        for (int e = 0; e < esp_platform_link_count(p); e++) {
            assert_int_equal(esp_platform_link_from(p, e), esp_platform_link_to(r, e));
            assert_int_equal(esp_platform_link_to(p, e), esp_platform_link_from(r, e));
        }
        esp_platform_free(p);
        esp_platform_free(r);
        esp_platform_free(again);
    }
}

static esp_status parse_one(void *arg)
{
    struct esp_plan *plan = NULL;
    esp_status st = parse(texts[15].text, arg, &plan, NULL);
    esp_plan_free(plan);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = toy();
    assert_true(alloc_fail_each(parse_one, p) > 8);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checker_tells_good_from_bad),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(structs_from_outside_are_checked_too),
        cmocka_unit_test(names_of_operations_are_understood),
        cmocka_unit_test(reversing_twice_changes_nothing),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
