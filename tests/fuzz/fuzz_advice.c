/* A file in the advisor's folder, as ranks read it: anything may stand in it. What is
 * taken for a plan goes the way of advice: fitted to the ranks, weighed, and made a
 * program. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <espalier/espalier.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "channel/report.h"
#include "program/program.h"
#include "runtime/choice.h"
#include "runtime/rank_platform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char platform_text[] =
    "{\"format\":\"espalier-platform/1\",\"model\":\"one-port\",\"nodes\":["
    "{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"d\"},"
    "{\"name\":\"s\",\"kind\":\"switch\"}],\"links\":["
    "{\"from\":\"a\",\"to\":\"b\",\"bandwidth_Bps\":1e6,\"duplex\":true},"
    "{\"from\":\"b\",\"to\":\"c\",\"bandwidth_Bps\":2e6,\"duplex\":true},"
    "{\"from\":\"c\",\"to\":\"d\",\"bandwidth_Bps\":3e6,\"duplex\":true},"
    "{\"from\":\"a\",\"to\":\"s\",\"bandwidth_Bps\":4e6,\"duplex\":true},"
    "{\"from\":\"s\",\"to\":\"d\",\"bandwidth_Bps\":5e6,\"duplex\":true}]}";

/* Five ranks, two of them on the first host. */
enum { RANKS = 5 };
static const int node[RANKS] = {0, 1, 2, 3, 0};
static struct esp_platform *net;
static struct espi_rank_platform rank_platform;
static char folder[] = "/tmp/espalier-fuzz-XXXXXX";

static void clean(void)
{
    espi_advice_clean(folder);
    espi_rank_platform_done(&rank_platform);
    esp_platform_free(net);
}

static void begin(void)
{
    if (net)
        return;
    if (esp_platform_parse(platform_text, sizeof platform_text - 1, "p", NULL, &net,
                           NULL) ||
        espi_rank_platform_create(&rank_platform, net, RANKS, node, NULL) ||
        !mkdtemp(folder) || atexit(clean))
        abort();
}

static void put(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "%s/plan-0-20.json", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
        abort();
}

/* As the ranks do it. */
static void use(const struct esp_plan *plan)
{
    struct esp_plan *given = NULL;
    struct espi_choice choice = {0};
    struct espi_program program;
    struct espi_arena arena;
    if (espi_rank_platform_adapt(&rank_platform, net, node, plan, 0, &given, NULL))
        return;
    struct espi_choice_options options = {
        .force = 1, .slice_bytes = plan->slice_bytes, .given = given};
    if (espi_choose(rank_platform.p, ESP_OP_BCAST, 0, 1 << 20, &options, &choice, NULL))
        abort();
    espi_arena_init(&arena);
    if (choice.plan) {
        double slice = choice.plan->slice_bytes;
        struct espi_compile_options compile = {.size_bytes = 1e6,
                                               .slice_bytes = slice > 1e3 ? slice : 1e3};
        espi_program_compile(rank_platform.p, choice.plan, &compile, &arena, &program,
                             NULL);
    }
    espi_arena_done(&arena);
    espi_choice_done(&choice);
    esp_plan_free(given);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct espi_advice_seen seen = {0};
    struct esp_plan *plan = NULL;
    char *text = NULL;
    size_t length = 0;
    begin();
    put(data, size);
    int fresh = espi_advice_read(folder, 0, 20, &seen, &text, &length);
    if (fresh != (size > 0 && size <= ESPI_ADVICE_MAX) || (fresh && length != size))
        abort();
    if (!fresh)
        return 0;
    if (!esp_plan_parse(text, length, "the advice", net, &plan, NULL) &&
        plan->op == ESP_OP_BCAST && !plan->redundant && plan->size_bytes >= 1 &&
        plan->size_bytes < 1e15)
        use(plan);
    esp_plan_free(plan);
    espi_free(text);
    return 0;
}
