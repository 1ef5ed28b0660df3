/* Reading, writing and checking a generator's options by the table of its parameters. */
#include "platform/generators.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"

/* memcpy, because the options come as bytes of any effective type. */
double espi_param_value(const struct espi_param *p, const void *options)
{
    const char *at = (const char *)options + p->offset;
    int whole;
    double real;
    switch (p->kind) {
    case ESPI_PARAM_INT:
    case ESPI_PARAM_CHOICE:
    case ESPI_PARAM_FLAG:
        memcpy(&whole, at, sizeof whole);
        return whole;
    case ESPI_PARAM_SEED:
        return (double)espi_param_seed(p, options);
    default:
        memcpy(&real, at, sizeof real);
        return real;
    }
}

uint64_t espi_param_seed(const struct espi_param *p, const void *options)
{
    uint64_t seed;
    memcpy(&seed, (const char *)options + p->offset, sizeof seed);
    return seed;
}

void espi_param_set(const struct espi_param *p, void *options, double value)
{
    char *at = (char *)options + p->offset;
    int whole;
    uint64_t seed;
    switch (p->kind) {
    case ESPI_PARAM_INT:
    case ESPI_PARAM_CHOICE:
    case ESPI_PARAM_FLAG:
        whole = (int)value;
        memcpy(at, &whole, sizeof whole);
        break;
    case ESPI_PARAM_SEED:
        seed = (uint64_t)value;
        memcpy(at, &seed, sizeof seed);
        break;
    default:
        memcpy(at, &value, sizeof value);
    }
}

const struct espi_param *espi_param_find(const struct espi_generator *g, const char *name)
{
    for (int i = 0; i < g->n_params; i++)
        if (strcmp(g->params[i].name, name) == 0)
            return &g->params[i];
    return NULL;
}

void espi_generator_defaults(const struct espi_generator *g, void *options)
{
    memset(options, 0, g->options_size);
    memcpy(options, &g->options_size, sizeof g->options_size);
    for (int i = 0; i < g->n_params; i++)
        espi_param_set(&g->params[i], options, g->params[i].standard);
}

esp_status espi_generator_preset(const struct espi_generator *g, void *options,
                                 const char *preset, struct esp_err *err)
{
    char quoted[64], list[128] = "none";
    size_t used = 0;
    for (int i = 0; i < g->n_presets; i++) {
        if (strcmp(g->presets[i].name, preset) == 0) {
            g->presets[i].apply(options);
            return ESP_OK;
        }
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                     i ? ", " : "", g->presets[i].name);
    }
    return espi_err(err, ESP_EUSAGE, "%s: no preset is called \"%s\"; there are: %s",
                    g->name, espi_quote(quoted, sizeof quoted, preset), list);
}

static const char *unit(espi_param_kind kind)
{
    return kind == ESPI_PARAM_BANDWIDTH ? " B/s" : kind == ESPI_PARAM_TIME ? " s" : "";
}

esp_status espi_generator_check(const struct espi_generator *g, const void *options,
                                struct esp_err *err)
{
    for (int i = 0; i < g->n_params; i++) {
        const struct espi_param *p = &g->params[i];
        double value = espi_param_value(p, options);
        if (p->kind == ESPI_PARAM_SEED || p->kind == ESPI_PARAM_FLAG)
            continue;
        if (!(value >= p->min && value <= p->max)) /* also refuses NaN */
            return espi_err(err, ESP_EUSAGE,
                            "%s: %s is %.10g%s, but must lie between %.10g and %.10g%s",
                            g->name, p->name, value, unit(p->kind), p->min, p->max,
                            unit(p->kind));
    }
    return ESP_OK;
}
