#include "measure/recheck.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/portable_math.h"
#include "measure/certainty_of_rates.h"
#include "measure/self_check.h"

/* ---- can it be? ---- */

static esp_status check_hosts(const struct esp_platform *p,
                              const struct espi_samples *samples, struct esp_err *err)
{
    char shown[64];
    esp_status status = ESP_OK;
    if (p->model != ESP_MODEL_CAPACITY)
        return espi_err(err, ESP_EINPUT,
                        "only platforms of the model 'capacity', as 'espalier measure' "
                        "writes them, can be checked, not '%s'",
                        esp_model_name(p->model));
    for (int h = 0; h < espi_samples_hosts(samples) && !status; h++) {
        const char *name = espi_names_text(&samples->hosts, h);
        int node = esp_platform_find_node(p, name);
        espi_quote(shown, sizeof shown, name);
        if (node < 0 || espi_is_switch(p, node))
            return espi_err(err, ESP_EINPUT,
                            "host %s is not in the platform: measure it anew", shown);
        status = esp_platform_check_root(p, node, err);
    }
    return status;
}

double espi_recheck_was_Bps(const struct espi_recheck *c, int resource)
{
    const struct esp_platform *p = c->p;
    return resource < p->n_shared ? p->shared_Bps[resource]
                                  : p->bandwidth_Bps[resource - p->n_shared];
}

/* ---- what was seen ---- */

struct held_value {
    int resource;
    double Bps;
};

static int by_held_resource(const void *x, const void *y)
{
    const struct held_value *a = x, *b = y;
    if (a->resource != b->resource)
        return a->resource < b->resource ? -1 : 1;
    return (a->Bps > b->Bps) - (a->Bps < b->Bps);
}

static int is_target(const struct esp_platform *p, int resource)
{
    return resource < p->n_shared ||
           esp_platform_link_cable_count(p, resource - p->n_shared) == 0;
}

static int gather_held(struct espi_recheck *c, const struct espi_trial_rounds *rounds,
                       struct held_value *values, struct espi_arena *arena)
{
    int n = 0;
    for (int k = 0; k < rounds->n; k++) {
        const struct espi_trial_flow *flows = &rounds->flows[rounds->start[k]];
        struct espi_round_forecast f;
        struct espi_arena_mark mark = espi_arena_mark(arena);
        if (espi_round_forecast(&c->flows, flows, rounds->start[k + 1] - rounds->start[k],
                                &f, arena))
            return -1;
        for (int r = 0; r < f.n; r++)
            if (espi_round_is_held(&f, r) && is_target(c->p, f.resource[r]))
                values[n++] =
                    (struct held_value){f.resource[r], espi_round_seen(&f, flows, r)};
        espi_arena_release(arena, mark);
    }
    return n;
}

/* Further than transfers usually deviate. */
static int is_far(double Bps, double was)
{
    return fabs(espi_log(Bps / was)) > ESPI_SPREAD;
}

/* A cable carries less than it could when others that its transfers use are slow, and
 * seems to carry more when what has piled up in a machine that stood still comes at once.
 * So it is slower than the file says if it is at its best, and faster if it is at its
 * worst; else the file holds. What it is then is the middle. n values, which get
 * sorted. */
static double judge_values(double *Bps, int n, double was)
{
    double best = espi_confirmed_top(Bps, n), worst = Bps[n - 1];
    return is_far(fmin(best, was), was) || is_far(fmax(worst, was), was) ? Bps[n / 2]
                                                                         : was;
}

static int note_best(struct espi_recheck *c, struct held_value *values, int n,
                     struct espi_arena *arena)
{
    double *Bps = ESPI_ARENA_NEW(arena, double, (size_t)n + 1);
    if (!Bps)
        return -1;
    qsort(values, (size_t)n, sizeof *values, by_held_resource);
    for (int i = 0, end; i < n; i = end) {
        for (end = i; end < n && values[end].resource == values[i].resource; end++)
            Bps[end - i] = values[end].Bps;
        int r = values[i].resource;
        c->times[r] = end - i;
        c->seen_Bps[r] = judge_values(Bps, end - i, espi_recheck_was_Bps(c, r));
    }
    return 0;
}

static int list_targets(struct espi_recheck *c, struct espi_arena *arena)
{
    c->target = ESPI_ARENA_NEW(arena, int, (size_t)c->flows.n_resources + 1);
    c->seen_Bps = ESPI_ARENA_NEW(arena, double, (size_t)c->flows.n_resources + 1);
    c->times = ESPI_ARENA_ZNEW(arena, int, (size_t)c->flows.n_resources + 1);
    if (!c->target || !c->seen_Bps || !c->times)
        return -1;
    for (int r = 0; r < c->flows.n_resources; r++) {
        c->seen_Bps[r] = -1;
        if (is_target(c->p, r))
            c->target[c->n_targets++] = r;
    }
    return 0;
}

static int digest_rounds(struct espi_recheck *c, const struct espi_samples *samples,
                         struct espi_arena *arena)
{
    struct espi_trial_rounds rounds = {0};
    if (list_targets(c, arena) ||
        espi_trial_rounds_gather(&rounds, samples, ESPI_SAMPLE_RATE, arena))
        return -1;
    espi_rounds_of_nodes(&c->flows, &rounds);
    size_t room = espi_rounds_uses(&c->flows, &rounds, arena);
    struct held_value *values = ESPI_ARENA_NEW(arena, struct held_value, room + 1);
    int n = room && values ? gather_held(c, &rounds, values, arena) : -1;
    return n < 0 ? -1 : note_best(c, values, n, arena);
}

esp_status espi_recheck_digest(struct espi_recheck *c, const struct esp_platform *p,
                               const struct espi_samples *samples,
                               struct espi_arena *arena, struct esp_err *err)
{
    *c = (struct espi_recheck){.p = p};
    esp_status status = check_hosts(p, samples, err);
    if (status)
        return status;
    return espi_platform_flows_init(&c->flows, p, samples, arena) ||
                   digest_rounds(c, samples, arena)
               ? espi_err_nomem(err)
               : ESP_OK;
}

/* ---- what is off ---- */

int espi_recheck_is_odd(const struct espi_recheck *c, int resource)
{
    double seen = c->seen_Bps[resource], was = espi_recheck_was_Bps(c, resource);
    return seen > 0 && is_far(seen, was);
}

int espi_recheck_is_off(const struct espi_recheck *c, int resource)
{
    return c->times[resource] > 1 && espi_recheck_is_odd(c, resource);
}

int espi_recheck_count_off(const struct espi_recheck *c)
{
    int n = 0;
    for (int i = 0; i < c->n_targets; i++)
        n += espi_recheck_is_off(c, c->target[i]);
    return n;
}

int espi_recheck_count_seen(const struct espi_recheck *c)
{
    int n = 0;
    for (int i = 0; i < c->n_targets; i++)
        n += c->times[c->target[i]] > (espi_recheck_is_odd(c, c->target[i]) ? 1 : 0);
    return n;
}

/* ---- put right ---- */

static double factor_of(const struct espi_recheck *c, int resource,
                        enum espi_recheck_which which)
{
    double factor = c->seen_Bps[resource] / espi_recheck_was_Bps(c, resource);
    int is_meant = which == ESPI_RECHECK_OFF ? espi_recheck_is_off(c, resource)
                                             : espi_recheck_is_odd(c, resource);
    return is_meant && (factor > 1 || which != ESPI_RECHECK_RAISED) ? factor : 1;
}

/* A link is as fast as the slowest of its cables, or slower by itself. */
static double link_factor(const struct espi_recheck *c, int link, const double *cable)
{
    const struct esp_platform *p = c->p;
    double least = INFINITY, was = p->bandwidth_Bps[link];
    for (int k = 0; k < esp_platform_link_cable_count(p, link); k++) {
        int i = esp_platform_link_cable(p, link, k);
        least = fmin(least, p->shared_Bps[i] * cable[i]);
    }
    return (isinf(c->flows.capacity[p->n_shared + link]) ? least : fmin(was, least)) /
           was;
}

esp_status espi_recheck_correct(const struct espi_recheck *c,
                                enum espi_recheck_which which, struct esp_platform **out,
                                struct espi_arena *arena, struct esp_err *err)
{
    const struct esp_platform *p = c->p;
    double *cable = ESPI_ARENA_NEW(arena, double, (size_t)p->n_shared + 1);
    double *link = ESPI_ARENA_NEW(arena, double, (size_t)p->n_links + 1);
    if (!cable || !link)
        return espi_err_nomem(err);
    for (int i = 0; i < p->n_shared; i++)
        cable[i] = factor_of(c, i, which);
    for (int e = 0; e < p->n_links; e++)
        link[e] = is_target(p, p->n_shared + e) ? factor_of(c, p->n_shared + e, which)
                                                : link_factor(c, e, cable);
    esp_status status = espi_platform_scaled(p, link, cable, out, err);
    if (!status)
        (*out)->certainty.measured = (struct esp_measurement){0};
    return status;
}

/* ---- what is to be written ---- */

/* Ranges of what has changed are those of what was seen now. */
static esp_status renew_ranges(const struct espi_recheck *c,
                               const struct espi_samples *samples, struct esp_platform *p,
                               struct espi_arena *arena, struct esp_err *err)
{
    struct espi_certainty seen = {0};
    esp_status status = espi_certainty_of_rates(p, samples, &seen, arena, err);
    for (int i = 0; i < c->n_targets && !status; i++) {
        int r = c->target[i], is_cable = r < p->n_shared;
        int k = is_cable ? r : r - p->n_shared;
        double Bps = is_cable ? p->shared_Bps[k] : p->bandwidth_Bps[k];
        struct esp_rate_range range =
            espi_ranges_get(is_cable ? &seen.cables : &seen.links, k, Bps);
        if (espi_recheck_is_off(c, r) && range.confidence != ESP_UNSET)
            status =
                espi_ranges_set(is_cable ? &p->certainty.cables : &p->certainty.links, k,
                                Bps, &range, err);
    }
    espi_certainty_done(&seen);
    return status;
}

esp_status espi_recheck_update(const struct espi_recheck *c,
                               const struct espi_samples *samples,
                               struct esp_platform **out, struct espi_arena *arena,
                               struct esp_err *err)
{
    struct esp_platform *p = NULL;
    esp_status status = espi_recheck_correct(c, ESPI_RECHECK_OFF, &p, arena, err);
    if (!status)
        status = renew_ranges(c, samples, p, arena, err);
    if (!status && espi_self_check(p, samples, &p->certainty.measured, NULL, arena))
        status = espi_err_nomem(err);
    if (status)
        esp_platform_free(p);
    else
        *out = p;
    return status;
}
