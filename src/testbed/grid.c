#include "testbed/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "graph/dijkstra.h"
#include "testbed/tuning.h"
#include "testbed/wiring.h"

/* ---- boxes and wires, by the two ways of wiring ---- */

int espi_grid_add_box(struct espi_grid *g, const char *name, int node)
{
    int box = g->n_boxes++;
    int is_host = node >= 0 && !espi_is_switch(g->p, node);

    g->boxes[box] = (struct espi_box){.name = name, .node = node, .host = -1};
    if (is_host) {
        g->boxes[box].host = g->n_hosts;
        g->host_box[g->n_hosts++] = box;
    }
    return box;
}

struct espi_testbed_wire *espi_grid_add_wire(struct espi_grid *g, int a, int b)
{
    struct espi_testbed_wire *w = &g->wires[g->n_wires++];

    *w = (struct espi_testbed_wire){.box = {a, b}};
    w->port[0] = g->boxes[a].n_wires++;
    w->port[1] = g->boxes[b].n_wires++;
    return w;
}

void espi_wire_set(struct espi_testbed_wire *w, int dir, double rate_Bps,
                   double latency_s)
{
    w->rate_Bps[dir] = rate_Bps;
    w->latency_s[dir] = latency_s >= ESPI_GRID_DELAY_MIN_S ? latency_s : 0;
}

char *espi_grid_text(struct espi_arena *arena, const char *first, const char *second)
{
    size_t n = strlen(first), m = strlen(second);
    char *text = ESPI_ARENA_NEW(arena, char, n + m + 1);

    if (text) {
        memcpy(text, first, n);
        memcpy(text + n, second, m + 1);
    }
    return text;
}

/* ---- routes ---- */

/* Each wire gives two arcs, 2 * wire + direction. */
static esp_status make_digraph(const struct espi_grid *g, struct espi_arena *arena,
                               struct espi_digraph *d, double **weight,
                               struct esp_err *err)
{
    int n = 2 * g->n_wires;
    int *tail = ESPI_ARENA_NEW(arena, int, n), *head = ESPI_ARENA_NEW(arena, int, n);

    *weight = ESPI_ARENA_NEW(arena, double, n);
    if (!tail || !head || !*weight)
        return espi_err_nomem(err);
    for (int i = 0; i < n; i++) {
        const struct espi_testbed_wire *w = &g->wires[i / 2];
        /* By the way of a megabyte; a hop more is never for nothing. */
        tail[i] = w->box[i % 2];
        head[i] = w->box[!(i % 2)];
        (*weight)[i] = 1e-6 + w->latency_s[i % 2] +
                       (w->rate_Bps[i % 2] > 0 ? 1e6 / w->rate_Bps[i % 2] : 0);
    }
    return espi_digraph_init(d, g->n_boxes, n, tail, head, arena) ? espi_err_nomem(err)
                                                                  : ESP_OK;
}

/* Backward from the host: the arcs of a wire run both ways, so distances to the host are
 * those from it with each wire's directions exchanged. */
static esp_status make_routes(struct espi_grid *g, struct espi_arena *arena,
                              struct esp_err *err)
{
    struct espi_digraph d;
    struct espi_dijkstra work;
    double *weight, *distance = ESPI_ARENA_NEW(arena, double, g->n_boxes);
    int *last = ESPI_ARENA_NEW(arena, int, g->n_boxes);
    unsigned char *may_pass = ESPI_ARENA_NEW(arena, unsigned char, g->n_boxes);
    esp_status status = make_digraph(g, arena, &d, &weight, err);

    if (status)
        return status;
    g->next_wire = ESPI_ARENA_NEW(arena, int, g->n_boxes * g->n_hosts);
    if (!distance || !last || !may_pass || !g->next_wire ||
        espi_dijkstra_init(&work, g->n_boxes, arena))
        return espi_err_nomem(err);
    for (int i = 0; i < g->n_wires; i++) {
        double forth = weight[2 * i];
        weight[2 * i] = weight[2 * i + 1];
        weight[2 * i + 1] = forth;
    }
    for (int b = 0; b < g->n_boxes; b++)
        may_pass[b] = g->boxes[b].host < 0;
    for (int h = 0; h < g->n_hosts; h++) {
        struct espi_dijkstra_query q = {.weight = weight,
                                        .source = &g->host_box[h],
                                        .n_sources = 1,
                                        .may_pass = may_pass};
        int reached = espi_dijkstra(&work, &d, &q, distance, last);
        if (reached < g->n_boxes)
            return espi_err(err, ESP_EINPUT,
                            "%s: not all nodes are joined, so that host %s cannot reach "
                            "%d of them; a testbed is one network",
                            esp_platform_name(g->p), g->boxes[g->host_box[h]].name,
                            g->n_boxes - reached);
        for (int b = 0; b < g->n_boxes; b++)
            g->next_wire[b * g->n_hosts + h] = last[b] < 0 ? -1 : last[b] / 2;
    }
    return ESP_OK;
}

void espi_grid_way(const struct espi_grid *g, int from_host, int to_host,
                   double *rate_Bps, double *latency_s)
{
    int box = g->host_box[from_host];

    *rate_Bps = INFINITY;
    *latency_s = 0;
    for (int i; (i = g->next_wire[box * g->n_hosts + to_host]) >= 0;) {
        const struct espi_testbed_wire *w = &g->wires[i];
        int dir = w->box[1] == box;
        if (w->rate_Bps[dir] > 0)
            *rate_Bps = fmin(*rate_Bps, w->rate_Bps[dir]);
        *latency_s += w->latency_s[dir];
        box = w->box[!dir];
    }
}

/* Enough to fill the longest of the ways. Buffers are counted with what the kernel needs
 * to keep them, about twice. */
static long window_bytes(const struct espi_grid *g)
{
    double most = 0;

    for (int u = 0; u < g->n_hosts; u++)
        for (int v = 0; v < g->n_hosts; v++) {
            double rate, latency, back;
            if (u == v)
                continue;
            espi_grid_way(g, v, u, &rate, &back);
            espi_grid_way(g, u, v, &rate, &latency);
            if (isfinite(rate))
                most = fmax(most, rate * (latency + back));
        }
    return (long)fmin(fmax(4 * most, 256 << 10), 16 << 20);
}

/* What the platform lets through, of which cables may leave less than the link has. */
static double usable_Bps(const struct esp_platform *p, int link)
{
    const struct espi_rows *cables = &p->link_shared;
    double rate = p->bandwidth_Bps[link];

    for (int k = p->n_shared ? cables->start[link] : 0;
         p->n_shared && k < cables->start[link + 1]; k++)
        rate = fmin(rate, p->shared_Bps[cables->item[k]]);
    return rate;
}

static void note_too_fast(struct espi_grid *g, int link)
{
    const double *Bps = g->p->bandwidth_Bps;

    if (!g->n_too_fast++ || Bps[link] < Bps[g->slowest_link])
        g->slowest_link = link;
}

/* Which host-to-host links do the wires not give? */
static void compare_links(struct espi_grid *g)
{
    double worst = ESPI_GRID_OFF;

    for (int e = 0; e < g->p->n_links; e++) {
        int from = g->boxes[g->p->tail[e]].host, to = g->boxes[g->p->head[e]].host;
        if (from < 0 || to < 0)
            continue;
        double rate, latency;
        espi_grid_way(g, from, to, &rate, &latency);
        double ratio = rate / usable_Bps(g->p, e);
        double off = fmax(ratio, 1 / ratio);
        g->n_off += off > ESPI_GRID_OFF;
        if (ratio > ESPI_GRID_OFF)
            note_too_fast(g, e);
        if (off > worst) {
            worst = off;
            g->worst_ratio = ratio;
            g->worst_link = e;
        }
    }
}

/* ---- the whole ---- */

/* Launchers, and files of host names, take no other. */
static esp_status check_names(const struct esp_platform *p, struct esp_err *err)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_.-";
    char quoted[80];

    for (int node = 0; node < p->n_nodes; node++) {
        const char *name = espi_node_name(p, node);
        size_t n = strspn(name, plain);
        if (!espi_is_switch(p, node) && (name[n] || n > 63 || strchr("-.", name[0])))
            return espi_err(
                err, ESP_EINPUT,
                "%s: '%s' cannot be the name of a host: letters, digits, '.', "
                "'-' and '_', at most 63",
                esp_platform_name(p), espi_quote(quoted, sizeof quoted, name));
    }
    return ESP_OK;
}

esp_status espi_grid_make(struct espi_grid *g, const struct esp_platform *p,
                          struct espi_arena *arena, struct esp_err *err)
{
    /* A router a host, and two boxes a cable; joining two areas takes at most as many
     * wires as there are boxes, and ends when there are too many. */
    size_t boxes_max = 2 * ((size_t)p->n_nodes + (size_t)p->n_shared);
    size_t wires_max = (size_t)p->n_links + 2 * boxes_max + ESPI_GRID_WIRES_MAX;

    *g = (struct espi_grid){.p = p, .worst_link = -1, .worst_ratio = 1};
    if (p->n_nodes > ESPI_GRID_BOXES_MAX)
        return espi_err(err, ESP_EINPUT,
                        "%s: %d nodes, but a testbed has at most %d on one machine",
                        esp_platform_name(p), p->n_nodes, ESPI_GRID_BOXES_MAX);
    g->boxes = ESPI_ARENA_NEW(arena, struct espi_box, boxes_max);
    g->host_box = ESPI_ARENA_NEW(arena, int, p->n_nodes);
    g->wires = ESPI_ARENA_NEW(arena, struct espi_testbed_wire, wires_max);
    if (!g->boxes || !g->host_box || !g->wires)
        return espi_err_nomem(err);
    esp_status status = check_names(p, err);
    if (status == ESP_OK)
        status = espi_wiring_is_direct(p) ? espi_wire_sites(g, arena, err)
                                          : espi_wire_links(g, arena, err);
    if (status == ESP_OK && g->n_wires > ESPI_GRID_WIRES_MAX)
        status = espi_err(err, ESP_EINPUT,
                          "%s: would take %d wires, but a testbed has at most %d",
                          esp_platform_name(p), g->n_wires, ESPI_GRID_WIRES_MAX);
    if (status == ESP_OK && g->n_hosts < 2)
        status = espi_err(err, ESP_EINPUT, "%s: a testbed needs two hosts or more",
                          esp_platform_name(p));
    if (status == ESP_OK && !g->next_wire)
        status = make_routes(g, arena, err);
    if (status == ESP_OK) {
        g->window_bytes = window_bytes(g);
        compare_links(g);
    }
    return status;
}

/* ---- names ---- */

int espi_grid_find_box(const struct espi_grid *g, const char *name)
{
    for (int b = 0; b < g->n_boxes; b++)
        if (strcmp(g->boxes[b].name, name) == 0)
            return b;
    return -1;
}

const char *espi_grid_wire_name(const struct espi_grid *g, int wire, int dir, char *out,
                                size_t size)
{
    const struct espi_testbed_wire *w = &g->wires[wire];

    if (w->cable[dir])
        snprintf(out, size, "%s", w->cable[dir]);
    else
        snprintf(out, size, "%s>%s", g->boxes[w->box[dir]].name,
                 g->boxes[w->box[!dir]].name);
    return out;
}

/* Is text "FROM>TO" or "FROM<>TO" of the wire? -2: no, -1: both directions. */
static int named_so(const struct espi_grid *g, const struct espi_testbed_wire *w,
                    const char *text)
{
    for (int dir = 0; dir < 2; dir++) {
        const char *from = g->boxes[w->box[dir]].name, *to = g->boxes[w->box[!dir]].name;
        size_t n = strlen(from);
        if (strncmp(text, from, n) != 0)
            continue;
        if (text[n] == '>' && strcmp(text + n + 1, to) == 0)
            return dir;
        if (text[n] == '<' && text[n + 1] == '>' && strcmp(text + n + 2, to) == 0)
            return -1;
    }
    return -2;
}

esp_status espi_grid_find_wire(const struct espi_grid *g, const char *text, int *wire,
                               int *dir, struct esp_err *err)
{
    char quoted[120];

    for (int i = 0; i < g->n_wires; i++) {
        int found = named_so(g, &g->wires[i], text);
        for (int k = 0; k < 2 && found == -2; k++)
            if (g->wires[i].cable[k] && strcmp(g->wires[i].cable[k], text) == 0)
                found = k;
        if (found == -2)
            continue;
        *wire = i;
        *dir = found;
        return ESP_OK;
    }
    return espi_err(err, ESP_EUSAGE,
                    "no link is called '%s': say FROM>TO, FROM<>TO or the name of a "
                    "cable, as 'espalier testbed status' lists them",
                    espi_quote(quoted, sizeof quoted, text));
}
