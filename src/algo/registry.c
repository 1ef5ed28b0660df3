#include <stdio.h>
#include <string.h>

#include "algo/algo.h"
#include "base/err.h"
#include "base/units.h"
#include "plan/ops.h"

/* Compiled twice: with ESPI_WITHOUT_LP for what goes into other people's programs. */
#define ALGO(id) extern const struct espi_algo espi_algo_##id;
#define ALGO_LP  ALGO
#include "algo/algo_list.def"
#undef ALGO
#undef ALGO_LP

static const struct espi_algo *const algos[] = {
#define ALGO(id) &espi_algo_##id,
#ifdef ESPI_WITHOUT_LP
#define ALGO_LP(id)
#else
#define ALGO_LP ALGO
#endif
#include "algo/algo_list.def"
#undef ALGO
#undef ALGO_LP
};

/* The identifiers of those that may not be here: their names, with _ for -. */
static const char *const lp_ids[] = {
#define ALGO(id)
#define ALGO_LP(id) #id,
#include "algo/algo_list.def"
#undef ALGO
#undef ALGO_LP
};

enum { N_ALGOS = sizeof algos / sizeof *algos };

const struct espi_algo *const *espi_algos(int *count)
{
    *count = N_ALGOS;
    return algos;
}

const struct espi_algo *espi_algo_find(const char *name, size_t length)
{
    for (int i = 0; i < N_ALGOS; i++)
        if (strlen(algos[i]->name) == length && !memcmp(algos[i]->name, name, length))
            return algos[i];
    return NULL;
}

static int is_lp_name(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof lp_ids / sizeof *lp_ids; i++) {
        size_t k = 0;
        while (k < length && lp_ids[i][k] &&
               name[k] == (lp_ids[i][k] == '_' ? '-' : lp_ids[i][k]))
            k++;
        if (k == length && !lp_ids[i][k])
            return 1;
    }
    return 0;
}

static esp_status unknown(const char *text, size_t length, struct esp_err *err)
{
    char shown[64];
    espi_quote(shown, sizeof shown, text);
    if (is_lp_name(text, length)) /* and yet not found */
        return espi_err(err, ESP_EUSAGE,
                        "'%s' solves linear programs, which is not done inside an MPI "
                        "program: make the plan before (`espalier run --algo`, or "
                        "`espalier plan` and ESPALIER_PLAN)",
                        shown);
    return espi_err(err, ESP_EUSAGE,
                    "no algorithm '%s' (`espalier algorithms` lists them)", shown);
}

int espi_algo_serves(const struct espi_algo *algo, esp_op op, int has_targets)
{
    esp_op there = op == ESP_OP_ALLREDUCE ? ESP_OP_BCAST : espi_op_mirror(op);
    if (algo->op == op || algo->op == there)
        return 1;
    if (algo->op != ESP_OP_BCAST)
        return 0;
    return op == ESP_OP_REDUCE_SCATTER || (there == ESP_OP_MULTICAST && !has_targets);
}

int espi_algo_applies(const struct espi_algo *algo, const struct esp_platform *p)
{
    return (algo->models & ESPI_MODEL_BIT(p->model)) &&
           (!algo->max_hosts || p->n_hosts <= algo->max_hosts);
}

void espi_algo_standard(const struct espi_algo *algo, double *values)
{
    for (int i = 0; algo->options && algo->options[i].name; i++)
        values[i] = algo->options[i].standard;
}

void espi_algo_use_options(const struct espi_algo *algo, const struct espi_algo_use *use,
                           double work, double *values)
{
    espi_algo_standard(algo, values);
    for (int i = 0; i < use->n_set; i++)
        values[use->set[i].option] = use->set[i].value;
    if (use->work)
        values[use->work - 1] = work;
}

/* The word at an index of "a|b|c", and its length. */
static const char *choice_word(const char *choices, int index, int *length)
{
    for (int i = 0; i < index && strchr(choices, '|'); i++)
        choices = strchr(choices, '|') + 1;
    *length = (int)strcspn(choices, "|");
    return choices;
}

void espi_algo_format(const struct espi_algo *algo, const double *values, char *text,
                      size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", algo->name);
    char mark = ':';
    for (int i = 0; algo->options && algo->options[i].name && n < size; i++) {
        const struct espi_algo_option *o = &algo->options[i];
        int length;
        if (values[i] == o->standard)
            continue;
        if (o->choices) {
            const char *word = choice_word(o->choices, (int)values[i], &length);
            n += (size_t)snprintf(text + n, size - n, "%c%s=%.*s", mark, o->name, length,
                                  word);
        } else {
            n +=
                (size_t)snprintf(text + n, size - n, "%c%s=%g", mark, o->name, values[i]);
        }
        mark = ',';
    }
}

/* The index of the word in "a|b|c", or -1. */
static int choice_index(const char *choices, const char *word, size_t length)
{
    for (int i = 0; *choices; i++) {
        size_t n = strcspn(choices, "|");
        if (n == length && !memcmp(choices, word, n))
            return i;
        choices += n + (choices[n] == '|');
    }
    return -1;
}

static esp_status parse_value(const struct espi_algo_option *option, const char *text,
                              size_t length, double *value, struct esp_err *err)
{
    char word[64], shown[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), text);
    espi_quote(shown, sizeof shown, word);
    if (option->choices) {
        int i = choice_index(option->choices, text, length);
        if (i < 0)
            return espi_err(err, ESP_EUSAGE, "option %s is one of %s, not '%s'",
                            option->name, option->choices, shown);
        *value = i;
        return ESP_OK;
    }
    double x;
    if (espi_parse_number(text, length, &x) || x < option->min || x > option->max)
        return espi_err(err, ESP_EUSAGE, "option %s is a number from %g to %g, not '%s'",
                        option->name, option->min, option->max, shown);
    *value = x;
    return ESP_OK;
}

static esp_status parse_option(const struct espi_algo *algo, const char *text,
                               size_t length, double *values, struct esp_err *err)
{
    const char *equals = memchr(text, '=', length);
    size_t n = equals ? (size_t)(equals - text) : length;
    for (int i = 0; algo->options && algo->options[i].name; i++) {
        const char *name = algo->options[i].name;
        if (strlen(name) == n && !memcmp(name, text, n) && equals)
            return parse_value(&algo->options[i], equals + 1, length - n - 1, &values[i],
                               err);
    }
    char word[64], shown[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), text);
    return espi_err(err, ESP_EUSAGE,
                    "algorithm %s has no option '%s' (write name:option=value; "
                    "`espalier algorithms %s` lists them)",
                    algo->name, espi_quote(shown, sizeof shown, word), algo->name);
}

esp_status espi_algo_parse(const char *text, const struct espi_algo **algo,
                           double *values, struct esp_err *err)
{
    size_t n = strcspn(text, ":");
    const struct espi_algo *found = espi_algo_find(text, n);
    if (!found)
        return unknown(text, n, err);
    espi_algo_standard(found, values);
    const char *at = text + n + (text[n] == ':');
    while (*at) {
        size_t length = strcspn(at, ",");
        esp_status st = parse_option(found, at, length, values, err);
        if (st)
            return st;
        at += length + (at[length] == ',');
    }
    *algo = found;
    return ESP_OK;
}
