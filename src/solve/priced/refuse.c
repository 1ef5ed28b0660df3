/* Where no plan meets what is asked for: what would do. */
#include <math.h>

#include "base/err.h"
#include "base/units.h"
#include "solve/priced/bound.h"
#include "solve/priced/instance.h"
#include "solve/priced/tuning.h"

static esp_status least_usd(const struct espi_priced_task *task, double *usd,
                            struct esp_err *err)
{
    struct espi_priced_task cheap = *task;
    struct espi_arena arena;
    struct espi_priced_model m;
    struct espi_priced_bound bound = {0};
    cheap.usd_weight = 1;
    cheap.s_weight = 0;
    cheap.budget_usd = INFINITY;
    espi_arena_init(&arena);
    esp_status st = espi_priced_model_init(&m, &cheap, &arena, err);
    if (!st)
        st = espi_priced_bound(&m, ESPI_PRICED_FLAT, &arena, &bound, err);
    *usd = bound.objective;
    espi_arena_done(&arena);
    return st;
}

/* Names what would do. */
static esp_status no_plan(const struct espi_priced_task *task, double fastest_s,
                          struct esp_err *err)
{
    char asked[32], fastest[32];
    double usd = 0;
    if (task->deadline_s < fastest_s)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "no plan meets a deadline of %s: the fastest takes %s or more. "
                        "Allow more time, or more machines (max_count)",
                        espi_format_time(asked, sizeof asked, task->deadline_s),
                        espi_format_time(fastest, sizeof fastest, fastest_s));
    esp_status st = least_usd(task, &usd, err);
    if (st)
        return st;
    return espi_err(err, ESP_EUNSUPPORTED,
                    "no plan%s costs %.4g USD or less: the cheapest costs %.4g USD or "
                    "more. Raise the budget%s",
                    isfinite(task->deadline_s) ? " that meets the deadline" : "",
                    task->budget_usd, usd,
                    isfinite(task->deadline_s) ? ", or allow more time" : "");
}

/* All that meet the deadline were ruled out. */
static esp_status no_parts(const struct espi_priced_task *task, double fastest_s,
                           struct esp_err *err)
{
    char asked[32], fastest[32];
    return espi_err(
        err, ESP_EUNSUPPORTED,
        "no plan of %d partitions meets a deadline of %s (of partitions of any "
        "size, the fastest takes %s or more). Allow more time, more machines "
        "(max_count), or more partitions",
        task->partitions, espi_format_time(asked, sizeof asked, task->deadline_s),
        espi_format_time(fastest, sizeof fastest, fastest_s));
}

/* The nearest in stock: the fastest, or the cheapest within the deadline. */
static esp_status not_found(const struct espi_priced_stock *stock,
                            const struct espi_priced_task *task, struct esp_err *err)
{
    char nearest[32];
    int i = 0;
    while (i + 1 < stock->n_offers && stock->offers[i + 1].time_s <= task->deadline_s)
        i++;
    const struct espi_priced_offer *offer = &stock->offers[i];
    return espi_err(err, ESP_EUNSUPPORTED,
                    "no plan of %d partitions was found within deadline and budget, "
                    "though the bound does not rule one out: the nearest takes %s and "
                    "costs %.4g USD. Allow more, or partitions of any size (0)",
                    task->partitions,
                    espi_format_time(nearest, sizeof nearest, offer->time_s),
                    offer->usd_bytes + offer->usd_machines);
}

esp_status espi_priced_refuse(const struct espi_priced_instance *instance,
                              const struct espi_priced_task *task, double fastest_s,
                              struct esp_err *err)
{
    const struct espi_priced_stock *stock = &instance->stock;
    if (!instance->filled)
        return no_plan(task, fastest_s, err);
    if (stock->all || task->deadline_s < stock->fastest_bound)
        return no_parts(task, fastest_s, err);
    return not_found(stock, task, err);
}
