/* Samples: what was measured of a network, and the platform that they tell of.
 *
 * A text, a line a host or a value, as `espalier measure` keeps it:
 *
 *   espalier-samples/1
 *   host NAME RANKS              numbered 0, 1, 2, ...
 *   latency ROUND FROM TO S      one way, of a message of a few bytes
 *   send ROUND FROM TO S         time that the sender spends on such a message
 *   recv ROUND FROM TO S         time that the receiver spends on one that has arrived
 *   quick ROUND FROM TO BPS      rate of a few packets, a rough value
 *   rate ROUND FROM TO BPS       rate of a transfer that lasts
 *   bus ROUND HOST HOST BPS      rate between two ranks of one host
 *   check ROUND FROM TO BPS      like rate, but what is made of the others is held to it
 *
 * Transfers of one round ran side by side, which is what tells of cables that they
 * share. */
#ifndef ESPALIER_SAMPLES_H
#define ESPALIER_SAMPLES_H

#include <stdio.h>

#include <espalier/platform.h>
#include <espalier/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct esp_samples;

typedef enum esp_sample_kind {
    ESP_SAMPLE_LATENCY,
    ESP_SAMPLE_SEND,
    ESP_SAMPLE_RECV,
    ESP_SAMPLE_QUICK,
    ESP_SAMPLE_RATE,
    ESP_SAMPLE_BUS,
    ESP_SAMPLE_CHECK,
    ESP_SAMPLE_KIND_COUNT
} esp_sample_kind;

ESP_API esp_status esp_samples_create(struct esp_samples **out, struct esp_err *err);
ESP_API void esp_samples_free(struct esp_samples *samples);

/* Adds a host on which so many ranks ran, and a value in seconds or bytes a second. On
 * failure nothing is added. */
ESP_API esp_status esp_samples_add_host(struct esp_samples *samples, const char *name,
                                        int ranks, struct esp_err *err);
ESP_API esp_status esp_samples_add(struct esp_samples *samples, esp_sample_kind kind,
                                   int round, int from, int to, double value,
                                   struct esp_err *err);

ESP_API int esp_samples_host_count(const struct esp_samples *samples);
ESP_API size_t esp_samples_count(const struct esp_samples *samples); /* of values */

/* "-" is standard input; `where` names the text in messages. */
ESP_API esp_status esp_samples_read(const char *path, struct esp_samples **out,
                                    struct esp_err *err);
ESP_API esp_status esp_samples_parse(const char *text, size_t length, const char *where,
                                     struct esp_samples **out, struct esp_err *err);
ESP_API esp_status esp_samples_write_stream(const struct esp_samples *samples, FILE *out,
                                            struct esp_err *err);

struct esp_samples_options {
    size_t size;      /* set by esp_samples_options_defaults */
    const char *name; /* of the platform: "measured" */
    int direct_max;   /* links from host to host for up to so many hosts (128), and
                         switches for more */
};

ESP_API void esp_samples_options_defaults_sized(struct esp_samples_options *options,
                                                size_t size);
static inline void esp_samples_options_defaults(struct esp_samples_options *options)
{
    esp_samples_options_defaults_sized(options, sizeof *options);
}

/* The network that the samples tell of: sites, ports of hosts, cables that hosts share,
 * as `espalier measure` finds them. options may be NULL. */
ESP_API esp_status esp_samples_platform(const struct esp_samples *samples,
                                        const struct esp_samples_options *options,
                                        struct esp_platform **out, struct esp_err *err);

#ifdef __cplusplus
}
#endif
#endif
