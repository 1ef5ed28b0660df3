/* Plans from outside, against a small platform with a switch and parallel ways. What is
 * taken must pass the checker, have a cost, run in the simulator, and survive writing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/arena.h"
#include "plan/slices.h"
#include "program/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char platform_text[] =
    "{\"format\":\"espalier-platform/1\",\"model\":\"one-port\",\"nodes\":["
    "{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"d\"},"
    "{\"name\":\"s\",\"kind\":\"switch\"}],\"links\":["
    "{\"from\":\"a\",\"to\":\"b\",\"bandwidth_Bps\":1e6,\"duplex\":true},"
    "{\"from\":\"b\",\"to\":\"c\",\"bandwidth_Bps\":2e6,\"duplex\":true},"
    "{\"from\":\"c\",\"to\":\"d\",\"bandwidth_Bps\":3e6,\"duplex\":true},"
    "{\"from\":\"a\",\"to\":\"s\",\"bandwidth_Bps\":4e6,\"duplex\":true},"
    "{\"from\":\"s\",\"to\":\"d\",\"bandwidth_Bps\":5e6,\"duplex\":true}],"
    "\"shared\":[{\"name\":\"w\",\"bandwidth_Bps\":1e6,"
    "\"links\":[[\"a\",\"b\"],[\"s\",\"d\"]]}]}";

/* With the sizes that the file has, and for a large message, as under MPI. */
static void compile(const struct esp_plan *plan, const struct esp_platform *p)
{
    for (int i = 0; i < 2; i++) {
        struct espi_compile_options o = {.size_bytes = i ? 1e9 : 0};
        struct espi_arena arena;
        struct espi_program prog;
        espi_arena_init(&arena);
        if (!espi_program_compile(p, plan, &o, &arena, &prog, NULL) &&
            (prog.n_slices < 1 || prog.n_slices > ESPI_SIZE_MAX + prog.slots))
            abort();
        espi_arena_done(&arena);
    }
}

static void use_plan(struct esp_plan *plan, const struct esp_platform *p)
{
    struct esp_sim_result *result = NULL;
    struct esp_plan *again = NULL;
    char *text = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&text, &length);
    if (!f || esp_plan_write_stream(plan, p, f, NULL))
        abort();
    fclose(f);
    if (esp_plan_parse(text, length, "again", p, &again, NULL))
        abort();
    esp_plan_free(again);
    free(text);
    compile(plan, p);
    plan->size_bytes = 1e5;
    plan->slice_bytes = 1e4;
    if (esp_simulate(p, plan, NULL, &result, NULL) || result->lost)
        abort();
    esp_sim_result_free(result);
    if (esp_plan_evaluate(plan, p, NULL) || esp_simulate(p, plan, NULL, &result, NULL) ||
        result->lost)
        abort();
    esp_sim_result_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct esp_platform *p;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    if (!p &&
        esp_platform_parse(platform_text, sizeof platform_text - 1, "p", NULL, &p, NULL))
        abort();
    esp_status st = esp_plan_parse((const char *)data, size, "plan", p, &plan, &err);
    if (st == ESP_OK)
        use_plan(plan, p);
    else if (plan || strlen(err.text) == 0)
        abort();
    esp_plan_free(plan);
    return 0;
}
