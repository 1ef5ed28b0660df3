#include "sim/repair.h"

#include <math.h>

#include "base/err.h"
#include "graph/earliest.h"
#include "platform/view.h"

enum { USABLE, UNUSABLE };

struct work {
    struct espi_repair *r;
    struct espi_view view;
    struct espi_path_sim path_sim; /* path i: what is left of arc i of the view */
    struct espi_earliest grower;
    unsigned char *level;
};

static int rank_of(const struct work *w, int host)
{
    return w->path_sim.prog.rank[w->view.node[host]];
}

static int in_reality(const struct espi_repair *r, int link)
{
    const struct esp_platform *p = r->p, *q = r->path_sim->sim.reality;
    if (p == q)
        return 1;
    int u = esp_platform_find_node(q, espi_node_name(p, p->tail[link]));
    int v = esp_platform_find_node(q, espi_node_name(p, p->head[link]));
    return u >= 0 && v >= 0 && esp_platform_find_link(q, u, v) >= 0;
}

/* Arcs over links that are not there in reality get an empty path, and no use. */
static esp_status lay_course(struct work *w, struct espi_arena *arena,
                             struct esp_err *err)
{
    const struct espi_view *v = &w->view;
    struct espi_paths paths = {.n = v->g.m};
    int *start = ESPI_ARENA_NEW(arena, int, (size_t)v->g.m + 1), kept = 0;
    int *hops = ESPI_ARENA_NEW(arena, int, v->hop_start[v->g.m]);
    w->level = ESPI_ARENA_NEW(arena, unsigned char, v->g.m);
    if (!start || !hops || !w->level)
        return espi_err_nomem(err);
    for (int e = 0; e < v->g.m; e++) {
        start[e] = kept;
        w->level[e] = USABLE;
        for (int k = v->hop_start[e]; k < v->hop_start[e + 1]; k++) {
            if (!in_reality(w->r, v->hops[k]))
                w->level[e] = UNUSABLE;
            hops[kept++] = v->hops[k];
        }
        if (w->level[e] == UNUSABLE)
            kept = start[e];
    }
    start[v->g.m] = kept;
    paths.start = start;
    paths.hops = hops;
    return espi_path_sim_init(&w->path_sim, w->r->p, w->r->plan, w->r->options, &paths,
                              arena, err);
}

/* Hosts that stop take no part as receivers; they may send while they live. */
static void add_hosts(struct work *w)
{
    for (int h = 0; h < w->view.g.n; h++) {
        int rank = rank_of(w, h);
        double stop_s = w->path_sim.sim.stop_s[rank];
        if (isfinite(w->r->delivered_s[rank]))
            espi_earliest_add(&w->grower, h,
                              fmax(w->r->ready_s[rank], w->r->delivered_s[rank]));
        else if (isfinite(stop_s))
            espi_earliest_add(&w->grower, h, INFINITY);
    }
}

static void transfer(struct work *w, int arc)
{
    struct espi_repair *r = w->r;
    int sender = w->view.g.tail[arc], from = rank_of(w, sender);
    int to = rank_of(w, w->view.g.head[arc]);
    double start_s = w->grower.ready_s[sender], silent_s;
    double stop_s = w->path_sim.sim.stop_s[from];
    if (stop_s <= start_s) {
        espi_earliest_settle(&w->grower, arc, INFINITY, INFINITY);
        return;
    }
    double end_s = espi_path_sim_arrival_s(&w->path_sim, arc, start_s, &silent_s);
    int lost = fmin(silent_s, stop_s) < end_s;
    if (lost) {
        end_s = fmax(fmin(silent_s, stop_s), start_s) + r->timeout * w->view.lag_s[arc];
        w->level[arc] = UNUSABLE;
    } else {
        r->delivered_s[to] = end_s;
        r->adopted++;
    }
    r->on_transfer(r->arg, from, to, start_s, end_s, lost);
    espi_path_sim_use(&w->path_sim, arc, end_s - start_s);
    espi_earliest_settle(&w->grower, arc, stop_s <= end_s ? INFINITY : end_s,
                         lost ? INFINITY : end_s);
}

esp_status espi_repair(struct espi_repair *r, struct espi_arena *arena,
                       struct esp_err *err)
{
    struct work w = {.r = r};
    esp_status st =
        espi_view_init(&w.view, r->p, r->path_sim->prog.size_bytes, arena, err);
    if (!st)
        st = lay_course(&w, arena, err);
    if (st)
        return st;
    if (espi_earliest_init(&w.grower, &w.view.g, arena))
        return espi_err_nomem(err);
    espi_earliest_start(&w.grower, w.view.lag_s, w.view.lag_s, w.level);
    add_hosts(&w);
    for (int arc; (arc = espi_earliest_next(&w.grower)) >= 0;)
        transfer(&w, arc);
    for (int k = 0; k < w.path_sim.sim.links.n; k++)
        r->path_sim->sim.busy_s[k] += w.path_sim.sim.busy_s[k];
    return ESP_OK;
}
