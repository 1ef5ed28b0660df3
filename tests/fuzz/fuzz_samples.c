/* Samples: what is taken must survive being written and read again, and be digested
 * without harm; what is refused must be refused with one sentence. */
#include "reader.h"

#include "measure/measured.h"

static void digest(const struct espi_samples *s)
{
    struct espi_measured net;
    struct espi_arena arena;
    struct esp_err err = {0};
    struct esp_platform *p = NULL;
    espi_arena_init(&arena);
    esp_status status = espi_measured_init(&net, s, &arena, &err);
    if (status == ESP_OK) {
        /* few hosts with direct links, more with switches */
        status = espi_measured_platform(&net, "fuzz", 4, &p, &arena, &err);
        espi_measured_done(&net);
    }
    judge(status, p, &err);
    espi_arena_done(&arena);
}

static void write_again(const struct espi_samples *s)
{
    struct espi_samples again = {.n = 0};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out || espi_samples_write_stream(s, out, NULL) || fclose(out) ||
        espi_samples_parse(&again, text, length, "again", NULL) || again.n != s->n ||
        again.hosts.n != s->hosts.n)
        abort();
    espi_samples_done(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct espi_samples s = {.n = 0};
    struct esp_err err = {0};
    esp_status status = espi_samples_parse(&s, (const char *)data, size, "fuzz", &err);
    if (status != ESP_OK) {
        judge(status, NULL, &err);
        return 0;
    }
    write_again(&s);
    digest(&s);
    espi_samples_done(&s);
    return 0;
}
