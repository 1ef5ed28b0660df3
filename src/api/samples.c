/* From samples to a platform. */
#include <espalier/samples.h>

#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/options.h"
#include "measure/measured.h"

struct esp_samples {
    struct espi_samples all;
};

_Static_assert((int)ESP_SAMPLE_LATENCY == (int)ESPI_SAMPLE_LATENCY &&
                   (int)ESP_SAMPLE_SEND == (int)ESPI_SAMPLE_SEND &&
                   (int)ESP_SAMPLE_RECV == (int)ESPI_SAMPLE_RECV &&
                   (int)ESP_SAMPLE_QUICK == (int)ESPI_SAMPLE_QUICK &&
                   (int)ESP_SAMPLE_RATE == (int)ESPI_SAMPLE_RATE &&
                   (int)ESP_SAMPLE_BUS == (int)ESPI_SAMPLE_BUS &&
                   (int)ESP_SAMPLE_CHECK == (int)ESPI_SAMPLE_CHECK &&
                   (int)ESP_SAMPLE_KIND_COUNT == (int)ESPI_SAMPLE_KINDS,
               "the kinds of samples are numbered alike");

esp_status esp_samples_create(struct esp_samples **out, struct esp_err *err)
{
    if (!out)
        return espi_err(err, ESP_EUSAGE, "there is no place for the samples");
    struct esp_samples *samples = espi_calloc(1, sizeof *samples);
    if (!samples)
        return espi_err_nomem(err);
    *out = samples;
    return ESP_OK;
}

void esp_samples_free(struct esp_samples *samples)
{
    if (!samples)
        return;
    espi_samples_done(&samples->all);
    espi_free(samples);
}

esp_status esp_samples_add_host(struct esp_samples *samples, const char *name, int ranks,
                                struct esp_err *err)
{
    if (!samples || !name)
        return espi_err(err, ESP_EUSAGE, "a host needs samples to be in, and a name");
    return espi_samples_add_host(&samples->all, name, ranks, err);
}

esp_status esp_samples_add(struct esp_samples *samples, esp_sample_kind kind, int round,
                           int from, int to, double value, struct esp_err *err)
{
    if (!samples || (unsigned)kind >= ESP_SAMPLE_KIND_COUNT)
        return espi_err(err, ESP_EUSAGE, "there is no such kind of sample");
    struct espi_sample one = {(enum espi_sample_kind)kind, round, from, to, value};
    return espi_samples_add(&samples->all, &one, err);
}

int esp_samples_host_count(const struct esp_samples *samples)
{
    return samples ? espi_samples_hosts(&samples->all) : 0;
}

size_t esp_samples_count(const struct esp_samples *samples)
{
    return samples ? samples->all.n : 0;
}

/* ---- as a text ---- */

static esp_status hand_over(struct esp_samples *samples, esp_status st,
                            struct esp_samples **out)
{
    if (st)
        esp_samples_free(samples);
    else
        *out = samples;
    return st;
}

esp_status esp_samples_read(const char *path, struct esp_samples **out,
                            struct esp_err *err)
{
    struct esp_samples *samples = NULL;
    if (!path || !out)
        return espi_err(err, ESP_EUSAGE, "samples need a file to be read from");
    esp_status st = esp_samples_create(&samples, err);
    if (!st)
        st = espi_samples_read(&samples->all, path, err);
    return hand_over(samples, st, out);
}

esp_status esp_samples_parse(const char *text, size_t length, const char *where,
                             struct esp_samples **out, struct esp_err *err)
{
    struct esp_samples *samples = NULL;
    if (!text || !where || !out)
        return espi_err(err, ESP_EUSAGE, "samples need a text to be read from");
    esp_status st = esp_samples_create(&samples, err);
    if (!st)
        st = espi_samples_parse(&samples->all, text, length, where, err);
    return hand_over(samples, st, out);
}

esp_status esp_samples_write_stream(const struct esp_samples *samples, FILE *out,
                                    struct esp_err *err)
{
    if (!samples || !out)
        return espi_err(err, ESP_EUSAGE, "there are no samples to be written");
    return espi_samples_write_stream(&samples->all, out, err);
}

/* ---- as a platform ---- */

void esp_samples_options_defaults_sized(struct esp_samples_options *options, size_t size)
{
    struct esp_samples_options standard = {
        .size = size, .name = "measured", .direct_max = ESPI_MEASURED_DIRECT_MAX};
    espi_options_give(options, size, &standard, sizeof standard);
}

static esp_status take_options(struct esp_samples_options *ours,
                               const struct esp_samples_options *given,
                               struct esp_err *err)
{
    esp_samples_options_defaults(ours);
    esp_status st = ESP_OK;
    if (given)
        st = espi_options_take(ours, sizeof *ours, given,
                               ESPI_SIZE_UP_TO(struct esp_samples_options, direct_max),
                               "esp_samples_options", err);
    if (!st && (!ours->name || ours->direct_max < 0))
        return espi_err(err, ESP_EUSAGE,
                        "a platform needs a name, and a number of hosts from 0 up");
    return st;
}

esp_status esp_samples_platform(const struct esp_samples *samples,
                                const struct esp_samples_options *options,
                                struct esp_platform **out, struct esp_err *err)
{
    struct esp_samples_options how;
    struct espi_measured net;
    struct espi_arena arena;
    if (!samples || !out)
        return espi_err(err, ESP_EUSAGE, "there are no samples");
    esp_status st = take_options(&how, options, err);
    if (st)
        return st;
    espi_arena_init(&arena);
    st = espi_measured_init(&net, &samples->all, &arena, err);
    if (!st) {
        st = espi_measured_platform(&net, how.name, how.direct_max, out, &arena, err);
        espi_measured_done(&net);
    }
    espi_arena_done(&arena);
    return st;
}
