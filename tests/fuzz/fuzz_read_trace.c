/* Traces, as a text and as a word. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "sim/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char platform_text[] = "a b 1Bps\nb a 1Bps\na a:b 1Bps\na:b b 1Bps\n";

/* Refused with one sentence and nothing added, or within what the simulator takes. */
static void judge(esp_status status, const struct esp_trace *t,
                  const struct esp_platform *p, const struct esp_err *err)
{
    if (status != ESP_OK && (t->n_changes || t->n_stops || err->status != status ||
                             !err->text[0] || strchr(err->text, '\n')))
        abort();
    for (size_t i = 0; i < t->n_changes; i++)
        if (!(t->changes[i].at_s >= 0) || !(t->changes[i].factor >= 0) ||
            t->changes[i].is_cable || t->changes[i].id < 0 ||
            t->changes[i].id >= esp_platform_link_count(p))
            abort();
    for (size_t i = 0; i < t->n_stops; i++)
        if (!(t->stops[i].at_s >= 0) || t->stops[i].node < 0 ||
            t->stops[i].node >= esp_platform_node_count(p))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct esp_read_options options = {
        .size = sizeof options, .format = ESP_FORMAT_EDGES, .model = ESP_MODEL_DEFAULT};
    struct esp_platform *p = NULL;
    struct esp_trace t = {0}, one = {0};
    struct esp_err err = {0};
    char *word = calloc(size + 1, 1);
    if (!word ||
        esp_platform_parse(platform_text, strlen(platform_text), "p", &options, &p, &err))
        abort();
    if (size)
        memcpy(word, data, size);
    esp_status status = esp_trace_parse(&t, p, word, size, "fuzz", &err);
    judge(status, &t, p, &err);
    status = esp_trace_add(&one, p, word, &err);
    judge(status, &one, p, &err);
    espi_trace_done(&t);
    espi_trace_done(&one);
    esp_platform_free(p);
    free(word);
    return 0;
}
