/* The registry of algorithms, by numbers. */
#include <espalier/algo.h>

#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "base/err.h"

static const struct espi_algo *algo_at(int algorithm)
{
    int n;
    const struct espi_algo *const *algos = espi_algos(&n);
    return algorithm >= 0 && algorithm < n ? algos[algorithm] : NULL;
}

int esp_algorithm_count(void)
{
    int n;
    espi_algos(&n);
    return n;
}

int esp_algorithm_find(const char *name)
{
    int n;
    const struct espi_algo *const *algos = espi_algos(&n);
    size_t length = name ? strcspn(name, ":") : 0;
    for (int i = 0; name && i < n; i++)
        if (strlen(algos[i]->name) == length && !memcmp(algos[i]->name, name, length))
            return i;
    return -1;
}

esp_status esp_algorithm_check(const char *text, struct esp_err *err)
{
    double values[ESPI_ALGO_OPTIONS_MAX];
    const struct espi_algo *algo;
    if (!text)
        return espi_err(err, ESP_EUSAGE, "there is no name of an algorithm");
    return espi_algo_parse(text, &algo, values, err);
}

const char *esp_algorithm_name(int algorithm)
{
    const struct espi_algo *a = algo_at(algorithm);
    return a ? a->name : NULL;
}

const char *esp_algorithm_family(int algorithm)
{
    const struct espi_algo *a = algo_at(algorithm);
    return a ? a->family : NULL;
}

const char *esp_algorithm_summary(int algorithm)
{
    const struct espi_algo *a = algo_at(algorithm);
    return a ? a->summary : NULL;
}

const char *esp_algorithm_source(int algorithm)
{
    const struct espi_algo *a = algo_at(algorithm);
    return a ? a->paper : NULL;
}

const char *esp_algorithm_complexity(int algorithm)
{
    const struct espi_algo *a = algo_at(algorithm);
    return a ? a->complexity : NULL;
}

esp_op esp_algorithm_op(int algorithm)
{
    const struct espi_algo *a = algo_at(algorithm);
    return a ? a->op : ESP_OP_COUNT;
}

int esp_algorithm_serves(int algorithm, esp_op op, int to_some)
{
    const struct espi_algo *a = algo_at(algorithm);
    return a && (unsigned)op < ESP_OP_COUNT && espi_algo_serves(a, op, to_some != 0);
}

int esp_algorithm_knows_model(int algorithm, esp_model model)
{
    const struct espi_algo *a = algo_at(algorithm);
    return a && (unsigned)model < ESP_MODEL_COUNT &&
           (a->models & ESPI_MODEL_BIT(model)) != 0;
}

int esp_algorithm_max_hosts(int algorithm)
{
    const struct espi_algo *a = algo_at(algorithm);
    return a ? a->max_hosts : 0;
}

int esp_algorithm_applies(int algorithm, const struct esp_platform *p)
{
    const struct espi_algo *a = algo_at(algorithm);
    return a && p && espi_algo_applies(a, p);
}

/* ---- options ---- */

int esp_algorithm_option_count(int algorithm)
{
    const struct espi_algo *a = algo_at(algorithm);
    int n = 0;
    while (a && a->options && a->options[n].name)
        n++;
    return n;
}

static const struct espi_algo_option *option_at(int algorithm, int option)
{
    return option >= 0 && option < esp_algorithm_option_count(algorithm)
               ? &algo_at(algorithm)->options[option]
               : NULL;
}

const char *esp_algorithm_option_name(int algorithm, int option)
{
    const struct espi_algo_option *o = option_at(algorithm, option);
    return o ? o->name : NULL;
}

const char *esp_algorithm_option_meaning(int algorithm, int option)
{
    const struct espi_algo_option *o = option_at(algorithm, option);
    return o ? o->meaning : NULL;
}

const char *esp_algorithm_option_choices(int algorithm, int option)
{
    const struct espi_algo_option *o = option_at(algorithm, option);
    return o ? o->choices : NULL;
}

double esp_algorithm_option_default(int algorithm, int option)
{
    const struct espi_algo_option *o = option_at(algorithm, option);
    return o ? o->standard : NAN;
}

double esp_algorithm_option_min(int algorithm, int option)
{
    const struct espi_algo_option *o = option_at(algorithm, option);
    return o && !o->choices ? o->min : NAN;
}

double esp_algorithm_option_max(int algorithm, int option)
{
    const struct espi_algo_option *o = option_at(algorithm, option);
    return o && !o->choices ? o->max : NAN;
}
