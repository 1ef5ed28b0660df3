/* The list of generators with their parameters. The command line, the documentation and
 * the checks of the options are derived from it: one table in
 * generators.c.
 *
 * To run one by name: find it, take options of options_size bytes, fill them with
 * espi_generator_defaults, apply a preset, write parameters at their offsets, run. */
#ifndef ESPI_PLATFORM_GENERATORS_H
#define ESPI_PLATFORM_GENERATORS_H

#include <stddef.h>

#include <espalier/generate.h>

typedef enum espi_param_kind {
    ESPI_PARAM_INT,       /* int */
    ESPI_PARAM_DOUBLE,    /* double */
    ESPI_PARAM_BANDWIDTH, /* double, bytes a second */
    ESPI_PARAM_TIME,      /* double, seconds */
    ESPI_PARAM_FLAG,      /* int, 0 or 1 */
    ESPI_PARAM_SEED,      /* uint64_t, any value */
    ESPI_PARAM_CHOICE,    /* int, the number of a name in `choices` */
} espi_param_kind;

struct espi_param {
    const char *name; /* as after "--" */
    espi_param_kind kind;
    size_t offset;   /* in the options */
    double standard; /* the default */
    double min, max; /* inclusive; unused for flags and seeds */
    const char *meaning;
    const char *const *choices; /* ended by NULL */
};

struct espi_preset {
    const char *name, *meaning;
    void (*apply)(void *options); /* after the defaults, before single parameters */
};

struct espi_generator {
    const char *name, *summary;
    size_t options_size;
    const struct espi_param *params;
    int n_params;
    const struct espi_preset *presets;
    int n_presets;
    esp_status (*run)(const void *options, struct esp_platform **out,
                      struct esp_err *err);
};

/* No options are larger: memory for any of them. */
#define ESPI_GENERATOR_OPTIONS_MAX 256

const struct espi_generator *espi_generators(int *count);
const struct espi_generator *espi_generator_find(const char *name); /* or NULL */
const struct espi_param *espi_param_find(const struct espi_generator *g,
                                         const char *name); /* or NULL */

/* The value of a parameter; a seed loses bits as a double and so has its own way out. */
double espi_param_value(const struct espi_param *p, const void *options);
uint64_t espi_param_seed(const struct espi_param *p, const void *options);

/* Writes a parameter; a value without its type's range is the caller's mistake. Seeds
 * beyond 2^53 are to be copied to the offset instead. */
void espi_param_set(const struct espi_param *p, void *options, double value);

void espi_generator_defaults(const struct espi_generator *g, void *options);

/* ESP_EUSAGE naming the presets there are when it is none of them. */
esp_status espi_generator_preset(const struct espi_generator *g, void *options,
                                 const char *preset, struct esp_err *err);

/* Is every parameter in its range? */
esp_status espi_generator_check(const struct espi_generator *g, const void *options,
                                struct esp_err *err);

#endif
