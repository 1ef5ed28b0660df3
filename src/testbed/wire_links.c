/* A platform built as it stands: every link, with its opposite, is a wire. A host that
 * has one wire, to a switch and without a long way, ends it itself; any other host gets a
 * box of its own in front of it that forwards, for programs expect one interface. Where
 * the model lets a host send or receive one message at a time, the wire to that box is as
 * fast as the fastest of its links. */
#include <math.h>

#include "base/err.h"
#include "testbed/wiring.h"

struct wiring {
    struct espi_grid *g;
    int *end; /* node -> the box that its links are wired to */
};

static esp_status check_cables(const struct esp_platform *p, struct esp_err *err)
{
    for (int c = 0; c < p->n_shared; c++)
        if (p->shared_links.start[c + 1] - p->shared_links.start[c] > 1)
            return espi_err(err, ESP_EINPUT,
                            "%s: cable %s is shared by several links of a network with "
                            "switches or with hosts that are not all linked; say it with "
                            "two more switches and a link of its rate",
                            esp_platform_name(p), espi_shared_name(p, c));
    return ESP_OK;
}

static double link_Bps(const struct esp_platform *p, int link)
{
    double rate = p->bandwidth_Bps[link];

    if (p->n_shared)
        for (int k = p->link_shared.start[link]; k < p->link_shared.start[link + 1]; k++)
            rate = fmin(rate, p->shared_Bps[p->link_shared.item[k]]);
    return rate;
}

static const char *link_cable(const struct esp_platform *p, int link)
{
    if (!p->n_shared || p->link_shared.start[link] == p->link_shared.start[link + 1])
        return NULL;
    return espi_shared_name(p, p->link_shared.item[p->link_shared.start[link]]);
}

/* The only neighbour of the node, or -1; its fastest link, and its longest way. */
static int only_neighbour(const struct esp_platform *p, int node, double *rate_Bps,
                          double *latency_s)
{
    const struct espi_rows *rows[] = {&p->out, &p->in};
    int only = -2;

    *rate_Bps = *latency_s = 0;
    for (int i = 0; i < 2; i++)
        for (int k = rows[i]->start[node]; k < rows[i]->start[node + 1]; k++) {
            int e = rows[i]->item[k], other = i ? p->tail[e] : p->head[e];
            only = only == -2 || only == other ? other : -1;
            *rate_Bps = fmax(*rate_Bps, link_Bps(p, e));
            *latency_s = fmax(*latency_s, p->latency_s[e]);
        }
    return only < 0 ? -1 : only;
}

static esp_status add_end(struct wiring *w, int node, struct espi_arena *arena,
                          struct esp_err *err)
{
    const struct esp_platform *p = w->g->p;
    double rate, latency;

    w->end[node] = node;
    if (espi_is_switch(p, node))
        return ESP_OK;
    int only = only_neighbour(p, node, &rate, &latency);
    if (only >= 0 && espi_is_switch(p, only) && latency < ESPI_GRID_DELAY_MIN_S)
        return ESP_OK;
    const char *name = espi_grid_text(arena, espi_node_name(p, node), ":ports");
    if (!name)
        return espi_err_nomem(err);
    w->end[node] = espi_grid_add_box(w->g, name, -1);
    struct espi_testbed_wire *wire = espi_grid_add_wire(w->g, node, w->end[node]);
    if (p->model == ESP_MODEL_ONE_PORT || p->model == ESP_MODEL_HALF_DUPLEX)
        wire->rate_Bps[0] = wire->rate_Bps[1] = rate;
    return ESP_OK;
}

esp_status espi_wire_links(struct espi_grid *g, struct espi_arena *arena,
                           struct esp_err *err)
{
    const struct esp_platform *p = g->p;
    struct wiring w = {.g = g, .end = ESPI_ARENA_NEW(arena, int, p->n_nodes)};
    esp_status status = check_cables(p, err);

    if (!w.end)
        return espi_err_nomem(err);
    for (int node = 0; node < p->n_nodes; node++)
        espi_grid_add_box(g, espi_node_name(p, node), node);
    for (int node = 0; node < p->n_nodes && status == ESP_OK; node++)
        status = add_end(&w, node, arena, err);
    for (int e = 0; e < p->n_links && status == ESP_OK; e++) {
        int back = esp_platform_find_link(p, p->head[e], p->tail[e]);
        if (back >= 0 && back < e)
            continue; /* is part of that one's wire */
        struct espi_testbed_wire *wire =
            espi_grid_add_wire(g, w.end[p->tail[e]], w.end[p->head[e]]);
        for (int dir = 0; dir < 2; dir++) {
            int link = dir && back >= 0 ? back : e; /* answers must come back somehow */
            espi_wire_set(wire, dir, link_Bps(p, link), p->latency_s[link]);
            wire->cable[dir] = link_cable(p, link);
        }
    }
    return status;
}
