/* How finely messages may be cut: whatever a file says, slices can be counted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <espalier/espalier.h>

#include "base/arena.h"
#include "plan/slices.h"
#include "program/program.h"
#include "support/small_platform.h"

static const struct small_arc arcs[] = {{0, 1, 1}, {1, 2, 1}};

static const struct {
    double size, slice;
    int is_good;
} cases[] = {
    {0, 0, 1},         {1, 0, 1},           {9e15, 0, 1},       {9e15, 1, 1},
    {6.4e7, 65536, 1}, {6.4e7, 1, 1},       {100, 0.5, 1},      {100, 6e-6, 1},
    {100, 1e300, 1},   {1, 1 / 16e6, 1},    {9.1e15, 0, 0},     {1e300, 1e299, 0},
    {6.4e7, 0.9, 0},   {100, 5e-6, 0},      {6.4e7, 1e-300, 0}, {1, 5e-324, 0},
    {9e15, 0.99, 0},   {1e-300, 1e-320, 0}, {1e300, 1e-300, 0}, {0, 1e-300, 1},
};

#define COUNT (sizeof cases / sizeof *cases)

static void check(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        struct esp_err err = {0};
        esp_status st =
            espi_slices_check(cases[i].size, cases[i].slice, ESP_EINPUT, &err);
        if (st != (cases[i].is_good ? ESP_OK : ESP_EINPUT))
            fail_msg("%g in slices of %g: %s", cases[i].size, cases[i].slice, err.text);
        if (st && !strstr(err.text, "16777216") && !strstr(err.text, "9e+15"))
            fail_msg("'%s' says no limit", err.text);
        if (!st)
            assert_true(espi_slices(cases[i].size, cases[i].slice).count <= 9e15);
    }
}

/* Plans of files: refused with the file's name, or compiled with as many slices. */
static void files(void **state)
{
    (void)state;
    struct esp_platform *p = small_platform(ESP_MODEL_ONE_PORT, 3, arcs, 2);
    for (size_t i = 0; i < COUNT; i++) {
        char text[400];
        struct esp_plan *plan = NULL;
        struct esp_err err = {0};
        struct espi_arena arena;
        struct espi_program prog;
        snprintf(
            text, sizeof text,
            "{\"format\": \"espalier-plan/1\", \"op\": \"bcast\", \"root\": \"p0\", "
            "\"size_bytes\": %.17g, \"slice_bytes\": %.17g, \"trees\": [{\"weight\": "
            "1, \"edges\": [[\"p0\", \"p1\"], [\"p1\", \"p2\"]]}]}",
            cases[i].size, cases[i].slice);
        esp_status st = esp_plan_parse(text, strlen(text), "f.json", p, &plan, &err);
        assert_int_equal(st, cases[i].is_good ? ESP_OK : ESP_EINPUT);
        assert_true(!st || strncmp(err.text, "f.json: ", 8) == 0);
        if (st || cases[i].size == 0) {
            esp_plan_free(plan);
            continue;
        }
        espi_arena_init(&arena);
        assert_int_equal(esp_plan_schedule(plan, p, &err), ESP_OK);
        assert_int_equal(espi_program_compile(p, plan, NULL, &arena, &prog, &err),
                         ESP_OK);
        double count = espi_slices(cases[i].size, cases[i].slice).count;
        assert_true((double)prog.n_slices == count);
        espi_arena_done(&arena);
        esp_plan_free(plan);
    }
    esp_platform_free(p);
}

/* Slices that are good for the plan's message may be too fine for another, as under MPI.
 */
static void other_sizes(void **state)
{
    (void)state;
    struct esp_platform *p = small_platform(ESP_MODEL_ONE_PORT, 3, arcs, 2);
    struct esp_request request = {.size = sizeof request,
                                  .op = ESP_OP_BCAST,
                                  .root = 0,
                                  .algo = "chain",
                                  .size_bytes = 100,
                                  .slice_bytes = 1e-3};
    struct esp_plan *plan = NULL;
    struct esp_err err = {0};
    struct espi_arena arena;
    struct espi_program prog;
    espi_arena_init(&arena);
    assert_int_equal(esp_plan_make(p, &request, &plan, &err), ESP_OK);
    struct espi_compile_options o = {.size_bytes = 1e9};
    assert_int_equal(espi_program_compile(p, plan, &o, &arena, &prog, &err), ESP_EUSAGE);
    o.slice_bytes = 1e-300;
    assert_int_equal(espi_program_compile(p, plan, &o, &arena, &prog, &err), ESP_EUSAGE);
    esp_plan_free(plan);
    /* and no plan is made of them */
    plan = NULL;
    for (size_t i = 0; i < COUNT; i++) {
        request.size_bytes = cases[i].size;
        request.slice_bytes = cases[i].slice;
        if (!cases[i].is_good)
            assert_int_equal(esp_plan_make(p, &request, &plan, &err), ESP_EUSAGE);
    }
    espi_arena_done(&arena);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check),
        cmocka_unit_test(files),
        cmocka_unit_test(other_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
