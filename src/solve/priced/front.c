#include "solve/priced/front.h"

#include <math.h>

#include "base/err.h"
#include "base/portable_math.h"
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

esp_status espi_priced_fastest(const struct espi_priced_task *task,
                               struct espi_arena *arena, struct espi_priced *out,
                               struct esp_err *err)
{
    struct espi_priced_task fast = *task;
    struct espi_priced first, cheaper;
    fast.usd_weight = 0;
    fast.s_weight = 1;
    esp_status st = espi_priced_solve(&fast, arena, &first, err);
    if (st)
        return st;
    struct espi_priced_task cheap = by_price(task, first.time_s);
    const struct espi_priced *known[] = {&first};
    cheap.budget_usd = INFINITY; /* what is known is within it */
    cheap.known = known;
    cheap.n_known = 1;
    cheap.known_bound = 0;
    st = espi_priced_solve(&cheap, arena, &cheaper, err);
    if (st)
        return st;
    cheaper.objective = cheaper.time_s;
    cheaper.bound = first.bound;
    cheaper.fastest_s = first.fastest_s;
    cheaper.optimal = first.optimal;
    *out = cheaper;
    return ESP_OK;
}

/* ---- the curve ---- */

struct curve {
    const struct espi_priced_task *task;
    struct espi_arena *arena;
    int n;
    struct espi_priced_point *points;
    const struct espi_priced **known; /* plans so far */
    int n_known;
    double least_usd; /* what no plan costs less than, whatever it takes */
};

/* The cheapest within the deadline, no dearer than those that are known. */
static esp_status find_point(struct curve *c, double deadline_s,
                             struct espi_priced_point *out, struct esp_err *err)
{
    struct espi_priced_task task = by_price(c->task, deadline_s);
    struct espi_priced_point point = {.deadline_s = deadline_s};
    task.known = c->known;
    task.n_known = c->n_known;
    task.known_bound = c->least_usd;
    esp_status st = espi_priced_solve(&task, c->arena, &point.is, err);
    if (st)
        return st;
    *out = point;
    c->known[c->n_known++] = &out->is;
    return ESP_OK;
}

static double usd_of(const struct espi_priced *is)
{
    return is->usd_bytes + is->usd_machines;
}

/* Bounds hold for all earlier deadlines, plans for all later ones. The last point was
 * looked for first, before there were plans between. */
static void share_answers(struct curve *c)
{
    struct espi_priced_point *points = c->points;
    for (int i = c->n - 2; i >= 0; i--)
        points[i].is.bound = fmax(points[i].is.bound, points[i + 1].is.bound);
    for (int i = 1; i < c->n; i++)
        if (usd_of(&points[i - 1].is) < usd_of(&points[i].is)) {
            double bound = points[i].is.bound;
            points[i].is = points[i - 1].is;
            points[i].is.bound = bound;
        }
    for (int i = 0; i < c->n; i++)
        points[i].is.optimal =
            points[i].is.objective <= points[i].is.bound * (1 + ESPI_PRICED_OPTIMAL);
}

static esp_status find_between(struct curve *c, void (*progress)(long long done),
                               struct esp_err *err)
{
    double from_s = c->points[0].is.time_s, to_s = c->points[c->n - 1].is.time_s;
    esp_status st = ESP_OK;
    for (int i = 1; i < c->n - 1 && !st; i++) {
        double part = i / (double)(c->n - 1);
        double deadline_s = from_s * espi_exp(espi_log(to_s / from_s) * part);
        st = find_point(c, fmax(deadline_s, from_s), &c->points[i], err);
        if (progress)
            progress(i);
    }
    return st;
}

esp_status espi_priced_front(const struct espi_priced_task *task, int n,
                             struct espi_arena *arena, struct espi_priced_point *out,
                             void (*progress)(long long done), struct esp_err *err)
{
    struct espi_priced fast;
    struct curve c = {.task = task, .arena = arena, .n = n, .points = out};
    c.known = ESPI_ARENA_NEW(arena, const struct espi_priced *, n + 1);
    if (!c.known)
        return espi_err_nomem(err);
    esp_status st = espi_priced_fastest(task, arena, &fast, err);
    if (st)
        return st;
    c.known[c.n_known++] = &fast;
    st = find_point(&c, INFINITY, &out[n - 1], err);
    if (st)
        return st;
    c.least_usd = out[n - 1].is.bound;
    st = find_point(&c, fast.time_s, &out[0], err);
    if (!st)
        st = find_between(&c, progress, err);
    if (!st)
        share_answers(&c);
    return st;
}
