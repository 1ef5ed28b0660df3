#include "solve/priced/front.h"

#include <math.h>

#include "base/err.h"
#include "base/portable_math.h"
#include "solve/priced/instance.h"
#include "solve/priced/tuning.h"

static struct espi_priced_task by_price(const struct espi_priced_task *task,
                                        double deadline_s)
{
    struct espi_priced_task cheap = *task;
    cheap.usd_weight = 1;
    cheap.s_weight = 0;
    cheap.deadline_s = deadline_s;
    return cheap;
}

/* ---- the curve ---- */

struct curve {
    struct espi_priced_instance instance;
    int n;
    struct espi_priced_point *points;
};

static double usd_of(const struct espi_priced *is)
{
    return is->usd_bytes + is->usd_machines;
}

/* Bounds hold for all earlier deadlines. Plans are from one stock, but the last, for
 * which the search went on. */
static void share_bounds(struct curve *c)
{
    for (int i = c->n - 1; i >= 0; i--) {
        struct espi_priced *is = &c->points[i].is;
        if (i + 1 < c->n)
            is->bound = fmax(is->bound, c->points[i + 1].is.bound);
        is->optimal = usd_of(is) <= is->bound * (1 + ESPI_PRICED_OPTIMAL);
    }
}

static esp_status find_point(struct curve *c, int i, double deadline_s,
                             struct esp_err *err)
{
    struct espi_priced_task task = by_price(&c->instance.task, deadline_s);
    c->points[i].deadline_s = deadline_s;
    return espi_priced_answer(&c->instance, &task, &c->points[i].is, err);
}

static esp_status find_between(struct curve *c, void (*progress)(long long done),
                               struct esp_err *err)
{
    double from_s = c->points[0].is.time_s, to_s = c->points[c->n - 1].is.time_s;
    esp_status st = ESP_OK;
    for (int i = 1; i < c->n - 1 && !st; i++) {
        double part = i / (double)(c->n - 1);
        double deadline_s = from_s * espi_exp(espi_log(to_s / from_s) * part);
        st = find_point(c, i, fmax(deadline_s, from_s), err);
        if (progress)
            progress(i);
    }
    return st;
}

/* The ends first: the cheapest as it is found when it is asked for by itself. */
static esp_status find_points(struct curve *c, void (*progress)(long long done),
                              struct esp_err *err)
{
    struct espi_priced_task fast = c->instance.task;
    struct espi_priced first;
    fast.usd_weight = 0;
    fast.s_weight = 1;
    esp_status st = find_point(c, c->n - 1, INFINITY, err);
    if (!st)
        st = espi_priced_answer(&c->instance, &fast, &first, err);
    if (!st)
        st = find_point(c, 0, first.time_s, err);
    return st ? st : find_between(c, progress, err);
}

esp_status espi_priced_front(const struct espi_priced_task *task, int n,
                             struct espi_arena *arena, struct espi_priced_point *out,
                             void (*progress)(long long done), struct esp_err *err)
{
    struct curve c = {.n = n, .points = out};
    esp_status st = espi_priced_instance_init(&c.instance, task, arena, err);
    if (!st)
        st = find_points(&c, progress, err);
    espi_priced_instance_done(&c.instance);
    if (!st)
        share_bounds(&c);
    return st;
}
