#include "platform/prices.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "platform/platform.h"

enum { MACHINES_MAX = 1000000 }; /* limit: of what a file says */

void espi_prices_done(struct espi_prices *prices)
{
    espi_free(prices->links.at);
    espi_free(prices->cables.at);
    espi_free(prices->machines.at);
    memset(prices, 0, sizeof *prices);
}

/* ---- prices of bytes ---- */

esp_status espi_price_set(struct espi_price_list *list, int i, double usd_per_GB,
                          struct esp_err *err)
{
    if (!(usd_per_GB >= 0 && isfinite(usd_per_GB)))
        return espi_err(err, ESP_EINPUT, "usd_per_GB %g must be finite and not negative",
                        usd_per_GB);
    if (usd_per_GB == 0 && (size_t)i >= list->n)
        return ESP_OK;
    if (espi_grow((void **)&list->at, &list->room, (size_t)i + 1, sizeof *list->at))
        return espi_err_nomem(err);
    while (list->n <= (size_t)i)
        list->at[list->n++] = 0;
    list->at[i] = usd_per_GB;
    return ESP_OK;
}

double espi_price_get(const struct espi_price_list *list, int i)
{
    return (size_t)i < list->n ? list->at[i] : 0;
}

/* ---- machines ---- */

static const struct esp_machines one_machine = {0, 1};

static int is_one_machine(const struct esp_machines *m)
{
    return m->usd_per_hour == one_machine.usd_per_hour &&
           m->max_count == one_machine.max_count;
}

esp_status espi_machines_set(struct espi_prices *prices, int node,
                             const struct esp_machines *machines, struct esp_err *err)
{
    if (!(machines->usd_per_hour >= 0 && isfinite(machines->usd_per_hour)))
        return espi_err(err, ESP_EINPUT,
                        "usd_per_hour %g must be finite and not negative",
                        machines->usd_per_hour);
    if (machines->max_count < 1 || machines->max_count > MACHINES_MAX)
        return espi_err(err, ESP_EINPUT, "max_count is a whole number from 1 to %d",
                        MACHINES_MAX);
    if ((size_t)node >= prices->machines.n && is_one_machine(machines))
        return ESP_OK;
    if (espi_grow((void **)&prices->machines.at, &prices->machines.room, (size_t)node + 1,
                  sizeof *prices->machines.at))
        return espi_err_nomem(err);
    while (prices->machines.n <= (size_t)node)
        prices->machines.at[prices->machines.n++] = one_machine;
    prices->machines.at[node] = *machines;
    return ESP_OK;
}

struct esp_machines espi_machines_get(const struct espi_prices *prices, int node)
{
    return (size_t)node < prices->machines.n ? prices->machines.at[node] : one_machine;
}

/* ---- all of them ---- */

static int same_prices(const struct espi_price_list *a, const struct espi_price_list *b,
                       int n)
{
    for (int i = 0; i < n && (a->n || b->n); i++)
        if (espi_price_get(a, i) != espi_price_get(b, i))
            return 0;
    return 1;
}

int espi_prices_equal(const struct espi_prices *a, const struct espi_prices *b,
                      int n_nodes, int n_links, int n_cables)
{
    for (int i = 0; i < n_nodes; i++) {
        struct esp_machines x = espi_machines_get(a, i), y = espi_machines_get(b, i);
        if (x.usd_per_hour != y.usd_per_hour || x.max_count != y.max_count)
            return 0;
    }
    return same_prices(&a->links, &b->links, n_links) &&
           same_prices(&a->cables, &b->cables, n_cables);
}

esp_status espi_prices_copy(const struct espi_prices *prices, struct esp_builder *b,
                            struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (size_t e = 0; e < prices->links.n && !st; e++)
        st = esp_builder_set_link_price(b, (int)e, prices->links.at[e], err);
    for (size_t s = 0; s < prices->cables.n && !st; s++)
        st = esp_builder_set_cable_price(b, (int)s, prices->cables.at[s], err);
    for (size_t i = 0; i < prices->machines.n && !st; i++)
        st = esp_builder_set_machines(b, (int)i, &prices->machines.at[i], err);
    return st;
}

/* ---- of platforms ---- */

double esp_platform_link_price(const struct esp_platform *p, int link)
{
    if (!p || link < 0 || link >= p->n_links)
        return NAN;
    return espi_price_get(&p->prices.links, link);
}

double esp_platform_cable_price(const struct esp_platform *p, int cable)
{
    if (!p || cable < 0 || cable >= p->n_shared)
        return NAN;
    return espi_price_get(&p->prices.cables, cable);
}

struct esp_machines esp_platform_node_machines(const struct esp_platform *p, int node)
{
    if (!p || node < 0 || node >= p->n_nodes)
        return (struct esp_machines){NAN, 0};
    return espi_machines_get(&p->prices, node);
}

int esp_platform_has_prices(const struct esp_platform *p)
{
    return p && (p->prices.links.n || p->prices.cables.n || p->prices.machines.n);
}

int espi_port_owner(const struct esp_platform *p, int cable, int *is_out)
{
    const struct espi_rows *rows = &p->shared_links;
    int first = rows->start[cable], end = rows->start[cable + 1];
    int out = first < end, in = first < end;
    for (int k = first + 1; k < end; k++) {
        out = out && p->tail[rows->item[k]] == p->tail[rows->item[first]];
        in = in && p->head[rows->item[k]] == p->head[rows->item[first]];
    }
    *is_out = out;
    return out ? p->tail[rows->item[first]] : in ? p->head[rows->item[first]] : -1;
}
