#include "platform/generate_common.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "base/options.h"
#include "platform/generators.h"

#define TITLE_MAX 256

static void append_text(char *text, size_t *used, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void append_text(char *text, size_t *used, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text + *used, TITLE_MAX - *used, fmt, args);
    va_end(args);
    if (n > 0)
        *used = *used + (size_t)n < TITLE_MAX ? *used + (size_t)n : TITLE_MAX - 1;
}

/* "random nodes=50 seed=7": what has to be given to get this platform again. */
static void make_title(char *title, const struct espi_generator *d, const void *options)
{
    size_t used = 0;
    append_text(title, &used, "%s", d->name);
    for (int i = 0; i < d->n_params; i++) {
        const struct espi_param *p = &d->params[i];
        if (p->kind == ESPI_PARAM_SEED)
            append_text(title, &used, " %s=%llu", p->name,
                        (unsigned long long)espi_param_seed(p, options));
        else if (p->kind == ESPI_PARAM_CHOICE)
            append_text(title, &used, " %s=%s", p->name,
                        p->choices[(int)espi_param_value(p, options)]);
        else if (espi_param_value(p, options) != p->standard)
            append_text(title, &used, " %s=%.9g", p->name, espi_param_value(p, options));
    }
}

static uint64_t find_seed(const struct espi_generator *d, const void *options)
{
    for (int i = 0; i < d->n_params; i++)
        if (d->params[i].kind == ESPI_PARAM_SEED)
            return espi_param_seed(&d->params[i], options);
    return 0;
}

static esp_status begin_generating(struct espi_gen *g, const struct espi_generator *d,
                                   const void *options)
{
    char title[TITLE_MAX];
    esp_status status = esp_builder_create(&g->builder, g->err);
    if (status != ESP_OK)
        return status;
    make_title(title, d, options);
    esp_builder_set_model(g->builder, ESP_MODEL_ONE_PORT);
    return esp_builder_set_name(g->builder, title, g->err);
}

esp_status espi_generator_take(const char *generator, const void *given, void *ours,
                               struct esp_err *err)
{
    const struct espi_generator *d = espi_generator_find(generator);
    char name[64];
    if (!given)
        return espi_err(err, ESP_EUSAGE, "%s: there are no options", generator);
    espi_generator_defaults(d, ours);
    snprintf(name, sizeof name, "esp_%s_options", generator);
    return espi_options_take(ours, d->options_size, given, d->options_size, name, err);
}

esp_status espi_generate(const char *generator, const void *given, espi_gen_draw draw,
                         struct esp_platform **out, struct esp_err *err)
{
    union {
        max_align_t align;
        char bytes[ESPI_GENERATOR_OPTIONS_MAX];
    } ours;
    esp_status status = espi_generator_take(generator, given, &ours, err);
    return status ? status : espi_generate_own(generator, &ours, draw, out, err);
}

esp_status espi_generate_own(const char *generator, const void *options,
                             espi_gen_draw draw, struct esp_platform **out,
                             struct esp_err *err)
{
    const struct espi_generator *d = espi_generator_find(generator);
    struct espi_gen g = {.builder = NULL, .err = err};
    esp_status status = espi_generator_check(d, options, err);
    if (status != ESP_OK)
        return status;

    espi_arena_init(&g.arena);
    espi_rng_seed(&g.rng, find_seed(d, options));
    status = begin_generating(&g, d, options);
    if (status == ESP_OK)
        status = draw(&g, options);
    if (status == ESP_OK)
        status = esp_builder_build(g.builder, out, err);
    espi_arena_done(&g.arena);
    esp_builder_free(g.builder);
    return status;
}

esp_status espi_gen_check_links(struct espi_gen *g, double links)
{
    if (links <= ESPI_GEN_LINKS_MAX)
        return ESP_OK;
    return espi_err(g->err, ESP_EUSAGE,
                    "these options ask for about %.3g links, but no more than %.0f can "
                    "be generated",
                    links, ESPI_GEN_LINKS_MAX);
}

esp_status espi_gen_host(struct espi_gen *g, const char *prefix, int number,
                         const char *site)
{
    char name[64];
    snprintf(name, sizeof name, "%s%d", prefix, number);
    struct esp_node_spec spec = {.name = name,
                                 .site = site,
                                 .kind = ESP_NODE_HOST,
                                 .send_s = ESP_UNSET,
                                 .recv_s = ESP_UNSET};
    return esp_builder_add_node(g->builder, &spec, NULL, g->err);
}

esp_status espi_gen_hosts(struct espi_gen *g, int count)
{
    esp_status status = ESP_OK;
    for (int i = 0; i < count && status == ESP_OK; i++)
        status = espi_gen_host(g, "p", i, NULL);
    return status;
}

/* The limit is the 1 MB/s of a mean of 100 MB/s, and more than half of all draws pass it
 * whatever the mean is. */
double espi_gen_bandwidth(struct espi_rng *r, const struct esp_gaussian *law)
{
    double bandwidth;
    do
        bandwidth = espi_rng_gaussian(r, law->mean_Bps, law->deviation_Bps);
    while (bandwidth <= law->mean_Bps / 100);
    return bandwidth;
}

esp_status espi_gen_link(struct espi_gen *g, int from, int to, double latency_s,
                         const struct esp_gaussian *law)
{
    double bandwidth = espi_gen_bandwidth(&g->rng, law);
    return esp_builder_add_link(g->builder, from, to, latency_s, bandwidth, NULL, g->err);
}

esp_status espi_gen_pair(struct espi_gen *g, int u, int v, double latency_s,
                         const struct esp_gaussian *law)
{
    esp_status status = espi_gen_link(g, u, v, latency_s, law);
    return status == ESP_OK ? espi_gen_link(g, v, u, latency_s, law) : status;
}

esp_status espi_gen_duplex(struct espi_gen *g, int u, int v, double latency_s,
                           double bandwidth_Bps)
{
    esp_status status =
        esp_builder_add_link(g->builder, u, v, latency_s, bandwidth_Bps, NULL, g->err);
    if (status != ESP_OK)
        return status;
    return esp_builder_add_link(g->builder, v, u, latency_s, bandwidth_Bps, NULL, g->err);
}
