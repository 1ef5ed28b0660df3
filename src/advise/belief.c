#include "advise/belief.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "platform/platform.h"

#define FACTOR_MIN 0.01

/* ---- groups ---- */

static int site_of(const struct esp_platform *p, int node)
{
    return espi_is_switch(p, node) ? -1 : p->node_site[node];
}

/* Links on a cable go with the cable, those between two sites with each other, others
 * alone. Numbers are spread: cables first, pairs of sites, then links. */
static int raw_group(const struct esp_platform *p, int link)
{
    int sites = p->n_sites;
    int from = site_of(p, p->tail[link]), to = site_of(p, p->head[link]);
    if (p->n_shared && p->link_shared.start[link] < p->link_shared.start[link + 1])
        return p->link_shared.item[p->link_shared.start[link]];
    if (from >= 0 && to >= 0 && from != to)
        return p->n_shared + from * sites + to;
    return p->n_shared + sites * sites + link;
}

esp_status espi_belief_init(struct espi_belief *b, const struct esp_platform *net,
                            double forget_s, struct esp_err *err)
{
    size_t raw = (size_t)net->n_shared + (size_t)net->n_sites * (size_t)net->n_sites +
                 (size_t)net->n_links;
    int *number = ESPI_NEW(int, raw + 1);
    *b = (struct espi_belief){.net = net, .forget_s = forget_s};
    b->group = ESPI_NEW(int, (size_t)net->n_links + 1);
    if (!number || !b->group) {
        espi_free(number);
        espi_belief_done(b);
        return espi_err_nomem(err);
    }
    memset(number, -1, raw * sizeof *number);
    for (int e = 0; e < net->n_links; e++) {
        int *at = &number[raw_group(net, e)];
        if (*at < 0)
            *at = b->n_groups++;
        b->group[e] = *at;
    }
    espi_free(number);
    b->fate = espi_calloc((size_t)b->n_groups + 1, sizeof *b->fate);
    if (!b->fate) {
        espi_belief_done(b);
        return espi_err_nomem(err);
    }
    return ESP_OK;
}

void espi_belief_done(struct espi_belief *b)
{
    for (int g = 0; g < b->n_groups && b->fate; g++)
        espi_series_free(b->fate[g].series);
    espi_free(b->fate);
    espi_free(b->group);
    *b = (struct espi_belief){0};
}

esp_status espi_belief_hear(struct espi_belief *b, int group, double factor, double now_s,
                            struct esp_err *err)
{
    struct espi_fate *fate = &b->fate[group];
    if (!fate->series) {
        esp_status st = espi_series_create(&fate->series, err);
        if (st)
            return st;
        espi_series_add(fate->series, 1); /* what the platform says */
    }
    espi_series_add(fate->series, fmin(fmax(factor, FACTOR_MIN), 1));
    fate->heard_s = now_s;
    return ESP_OK;
}

double espi_belief_factor(const struct espi_belief *b, int group, double now_s,
                          double *error)
{
    const struct espi_fate *fate = &b->fate[group];
    struct espi_forecast f;
    if (error)
        *error = 0;
    if (!fate->series || espi_series_next(fate->series, &f))
        return 1;
    double fresh = exp2(-fmax(now_s - fate->heard_s, 0) / b->forget_s);
    if (error)
        *error = fresh * f.mean_error;
    return 1 - fresh * (1 - fmin(fmax(f.value, FACTOR_MIN), 1));
}

esp_status espi_belief_platform(const struct espi_belief *b, double now_s,
                                const double *lots, struct esp_platform **out,
                                struct esp_err *err)
{
    const struct esp_platform *net = b->net;
    double *factor = ESPI_NEW(double, (size_t)net->n_links + 1);
    double *cable = ESPI_NEW(double, (size_t)net->n_shared + 1);
    esp_status st = factor && cable ? ESP_OK : espi_err_nomem(err);
    for (int s = 0; s < net->n_shared && !st; s++)
        cable[s] = 1;
    for (int e = 0; e < net->n_links && !st; e++) {
        double error;
        factor[e] = espi_belief_factor(b, b->group[e], now_s, &error);
        if (lots)
            factor[e] = fmin(fmax(factor[e] + lots[b->group[e]] * error, FACTOR_MIN), 1);
        if (net->n_shared && net->link_shared.start[e] < net->link_shared.start[e + 1])
            cable[net->link_shared.item[net->link_shared.start[e]]] = factor[e];
    }
    if (!st)
        st = espi_platform_scaled(net, factor, cable, out, err);
    espi_free(factor);
    espi_free(cable);
    return st;
}
