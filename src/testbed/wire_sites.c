/* A platform of host-to-host links built as what such links are measured on: boxes and
 * wires follow from the cables that links share (areas.h).
 *
 * The hosts of an area hang on one router, each by a wire as fast as its ports, or, where
 * the platform says nothing of them, as its fastest link. From each area to each other
 * leads a lane, with the latency of the links between the two, and the rate of a cable
 * that only they share. A cable that several pairs of areas share is a wire of its own
 * between two boxes, in one direction, through which the lanes of these pairs lead, one
 * after the other where they share several. Where two areas share nothing with others
 * both lanes are one wire from router to router.
 *
 * Boxes know only where packets go to, so cables come in an order such that all that
 * passes one on its way to an area goes on alike: on the way to a place more and more
 * comes together, hence first those cables that fewer areas use to get there. Latencies
 * below half a millisecond are the machine's. */
#include <math.h>

#include "base/err.h"
#include "testbed/areas.h"
#include "testbed/wiring.h"

int espi_wiring_is_direct(const struct esp_platform *p)
{
    if (p->n_hosts < p->n_nodes)
        return 0;
    for (int u = 0; u < p->n_nodes; u++)
        for (int v = 0; v < p->n_nodes; v++)
            if (u != v && esp_platform_find_link(p, u, v) < 0)
                return 0;
    return 1;
}

struct town {
    struct espi_grid *g;
    const struct espi_areas *areas;
    int *router;      /* area -> box */
    int *begin, *end; /* cable -> its boxes, -1: is the own one of a pair of areas */
    int *users; /* cable * n_areas + to area -> how many areas use it to get there */
};

/* ---- routers and hosts ---- */

/* "SITE:router", "SITE/2:router" where the site has several areas, or "router". */
static const char *router_name(const struct town *t, int area, struct espi_arena *arena)
{
    const struct esp_platform *p = t->g->p;
    int site = p->node_site[t->areas->first[area]], before = 0, all = 0;
    char number[16] = "";

    for (int a = 0; a < t->areas->n_areas; a++) {
        int same = p->node_site[t->areas->first[a]] == site;
        all += same;
        before += same && a < area;
    }
    if (all > 1)
        snprintf(number, sizeof number, "/%d", before + 1);
    const char *text =
        espi_grid_text(arena, site < 0 ? "" : espi_names_text(&p->sites, site), number);
    return text ? espi_grid_text(arena, text, *text ? ":router" : "router") : NULL;
}

static esp_status add_routers(struct town *t, struct espi_arena *arena,
                              struct esp_err *err)
{
    for (int area = 0; area < t->areas->n_areas; area++) {
        const char *name = router_name(t, area, arena);
        if (!name)
            return espi_err_nomem(err);
        t->router[area] = espi_grid_add_box(t->g, name, -1);
    }
    return ESP_OK;
}

static void wire_host(struct town *t, int node)
{
    const struct esp_platform *p = t->g->p;
    const struct espi_rows *rows[] = {&p->out, &p->in};
    struct espi_testbed_wire *w =
        espi_grid_add_wire(t->g, node, t->router[t->areas->of[node]]);

    for (int dir = 0; dir < 2; dir++) {
        int port = t->areas->port[dir][node];
        double rate = port < 0 ? 0 : p->shared_Bps[port];
        for (int k = rows[dir]->start[node]; port < 0 && k < rows[dir]->start[node + 1];
             k++)
            rate = fmax(rate, p->bandwidth_Bps[rows[dir]->item[k]]);
        espi_wire_set(w, dir, rate, 0);
        w->cable[dir] = port < 0 ? NULL : espi_shared_name(p, port);
    }
}

/* ---- cables ---- */

static void count_users(struct town *t)
{
    const struct espi_areas *a = t->areas;

    for (int c = 0; c < a->n_cables; c++)
        for (int to = 0; to < a->n_areas; to++) {
            t->users[c * a->n_areas + to] = 0;
            for (int from = 0; from < a->n_areas; from++)
                t->users[c * a->n_areas + to] += espi_areas_share(a, c, from, to);
        }
}

static int is_of_one_pair(const struct town *t, int cable)
{
    int pairs = 0;

    for (int to = 0; to < t->areas->n_areas; to++)
        pairs += t->users[cable * t->areas->n_areas + to];
    return pairs == 1;
}

static esp_status add_cables(struct town *t, struct espi_arena *arena,
                             struct esp_err *err)
{
    const struct esp_platform *p = t->g->p;

    count_users(t);
    for (int c = 0; c < t->areas->n_cables; c++) {
        const char *name = espi_shared_name(p, t->areas->cable[c]);
        t->begin[c] = t->end[c] = -1;
        if (is_of_one_pair(t, c))
            continue;
        const char *end = espi_grid_text(arena, name, ":end");
        if (!end)
            return espi_err_nomem(err);
        t->begin[c] = espi_grid_add_box(t->g, name, -1);
        t->end[c] = espi_grid_add_box(t->g, end, -1);
        struct espi_testbed_wire *w = espi_grid_add_wire(t->g, t->begin[c], t->end[c]);
        espi_wire_set(w, 0, p->shared_Bps[t->areas->cable[c]], 0);
        w->cable[0] = name;
    }
    return ESP_OK;
}

/* The cable of several pairs that comes next on the way, behind this one (-1: first). */
static int cable_behind(const struct town *t, int cable, int from, int to)
{
    const struct espi_areas *a = t->areas;
    const int *users = t->users + to;
    int n = a->n_areas, next = -1;

    for (int c = 0; c < a->n_cables; c++) {
        if (t->begin[c] < 0 || !espi_areas_share(a, c, from, to))
            continue;
        int behind = cable < 0 || users[c * n] > users[cable * n] ||
                     (users[c * n] == users[cable * n] && c > cable);
        if (behind && (next < 0 || users[c * n] < users[next * n]))
            next = c;
    }
    return next;
}

/* ---- lanes and routes ---- */

static void set_lane(const struct town *t, struct espi_testbed_wire *w, int dir, int from,
                     int to)
{
    const struct esp_platform *p = t->g->p;
    const struct espi_areas *a = t->areas;
    double latency = INFINITY, rate = 0;

    for (int u = 0; u < p->n_nodes; u++)
        for (int v = 0; v < p->n_nodes && a->of[u] == from; v++)
            if (a->of[v] == to)
                latency = fmin(latency, p->latency_s[esp_platform_find_link(p, u, v)]);
    for (int c = 0; c < a->n_cables; c++)
        if (t->begin[c] < 0 && espi_areas_share(a, c, from, to)) {
            rate = p->shared_Bps[a->cable[c]];
            w->cable[dir] = espi_shared_name(p, a->cable[c]);
        }
    espi_wire_set(w, dir, rate, latency);
}

/* A wire from one box to another without limits, which may be there already. */
static int plain_wire(struct town *t, int from, int to)
{
    for (int i = 0; i < t->g->n_wires; i++) {
        const struct espi_testbed_wire *w = &t->g->wires[i];
        if (w->box[0] == from && w->box[1] == to && w->rate_Bps[0] <= 0 &&
            !espi_wire_delayed(w))
            return i;
    }
    espi_grid_add_wire(t->g, from, to);
    return t->g->n_wires - 1;
}

static int add_lane(struct town *t, int from, int to, int box)
{
    struct espi_testbed_wire limits = {.box = {0}};

    set_lane(t, &limits, 0, from, to);
    if (limits.rate_Bps[0] <= 0 && !espi_wire_delayed(&limits))
        return plain_wire(t, t->router[from], box);
    espi_grid_add_wire(t->g, t->router[from], box);
    set_lane(t, &t->g->wires[t->g->n_wires - 1], 0, from, to);
    return t->g->n_wires - 1;
}

/* What goes to the hosts of the area leaves the box by the wire; 0: it would have to
 * leave by another one, too. */
static int route_area(struct town *t, int box, int area, int wire)
{
    int ok = 1;

    for (int host = 0; host < t->g->p->n_nodes; host++) {
        int *next = &t->g->next_wire[box * t->g->n_hosts + host];
        if (t->areas->of[host] != area)
            continue;
        ok &= *next < 0 || *next == wire;
        *next = wire;
    }
    return ok;
}

static esp_status lead_lane(struct town *t, int from, int to, struct esp_err *err)
{
    const struct esp_platform *p = t->g->p;
    int cable = cable_behind(t, -1, from, to);
    int wire = add_lane(t, from, to, cable < 0 ? t->router[to] : t->begin[cable]);

    route_area(t, t->router[from], to, wire);
    while (cable >= 0) {
        int next = cable_behind(t, cable, from, to);
        wire = plain_wire(t, t->end[cable], next < 0 ? t->router[to] : t->begin[next]);
        if (!route_area(t, t->end[cable], to, wire))
            return espi_err(err, ESP_EINPUT,
                            "%s: what shares cable %s on its way to %s shares different "
                            "ones behind it; describe this network with switches to "
                            "build it",
                            esp_platform_name(p),
                            espi_shared_name(p, t->areas->cable[cable]),
                            espi_node_name(p, t->areas->first[to]));
        cable = next;
    }
    return ESP_OK;
}

static esp_status join_areas(struct town *t, int a, int b, struct esp_err *err)
{
    if (cable_behind(t, -1, a, b) < 0 && cable_behind(t, -1, b, a) < 0) {
        struct espi_testbed_wire *w =
            espi_grid_add_wire(t->g, t->router[a], t->router[b]);
        set_lane(t, w, 0, a, b);
        set_lane(t, w, 1, b, a);
        route_area(t, t->router[a], b, t->g->n_wires - 1);
        route_area(t, t->router[b], a, t->g->n_wires - 1);
        return ESP_OK;
    }
    esp_status status = lead_lane(t, a, b, err);
    return status ? status : lead_lane(t, b, a, err);
}

/* The wires of hosts are the first, in their order; that of a cable is the first of the
 * box that it begins at. */
static void route_ends(struct town *t)
{
    struct espi_grid *g = t->g;

    for (int i = 0; i < g->n_boxes * g->n_hosts; i++)
        g->next_wire[i] = -1;
    for (int host = 0; host < g->n_hosts; host++) {
        for (int to = 0; to < g->n_hosts; to++)
            if (to != host)
                g->next_wire[host * g->n_hosts + to] = host;
        g->next_wire[t->router[t->areas->of[host]] * g->n_hosts + host] = host;
    }
    for (int i = 0; i < g->n_wires; i++)
        for (int c = 0; c < t->areas->n_cables; c++)
            if (g->wires[i].box[0] == t->begin[c])
                for (int area = 0; area < t->areas->n_areas; area++)
                    route_area(t, t->begin[c], area, i);
}

/* ---- the whole ---- */

static esp_status take_memory(struct town *t, struct espi_arena *arena,
                              struct esp_err *err)
{
    const struct esp_platform *p = t->g->p;
    size_t cables = (size_t)p->n_shared + 1;

    t->areas = espi_areas_find(p, arena);
    if (!t->areas)
        return espi_err_nomem(err);
    t->router = ESPI_ARENA_NEW(arena, int, t->areas->n_areas);
    t->begin = ESPI_ARENA_NEW(arena, int, cables);
    t->end = ESPI_ARENA_NEW(arena, int, cables);
    t->users = ESPI_ARENA_NEW(arena, int, cables *(size_t)t->areas->n_areas);
    return t->router && t->begin && t->end && t->users ? ESP_OK : espi_err_nomem(err);
}

esp_status espi_wire_sites(struct espi_grid *g, struct espi_arena *arena,
                           struct esp_err *err)
{
    const struct esp_platform *p = g->p;
    struct town t = {.g = g};
    esp_status status = take_memory(&t, arena, err);

    if (status)
        return status;
    for (int node = 0; node < p->n_nodes; node++)
        espi_grid_add_box(g, espi_node_name(p, node), node);
    status = add_routers(&t, arena, err);
    for (int node = 0; node < p->n_nodes && status == ESP_OK; node++)
        wire_host(&t, node);
    if (status == ESP_OK)
        status = add_cables(&t, arena, err);
    if (status)
        return status;
    g->next_wire = ESPI_ARENA_NEW(arena, int, g->n_boxes * g->n_hosts);
    if (!g->next_wire)
        return espi_err_nomem(err);
    route_ends(&t);
    for (int a = 0; a < t.areas->n_areas && status == ESP_OK; a++)
        for (int b = a + 1; b < t.areas->n_areas && status == ESP_OK; b++)
            if (g->n_wires <= ESPI_GRID_WIRES_MAX)
                status = join_areas(&t, a, b, err);
    return status;
}
