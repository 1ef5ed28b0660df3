#include "solve/flow_net.h"

#include <math.h>

int espi_flow_net_init(struct espi_flow_net *net, const struct esp_platform *p,
                       double slice_bytes, int root, int n_targets, const int *targets,
                       struct espi_arena *arena)
{
    *net = (struct espi_flow_net){.p = p, .slice_bytes = slice_bytes, .root = root};
    net->g =
        (struct espi_digraph){p->n_nodes, p->n_links, p->tail, p->head, p->out, p->in};
    net->is_target = ESPI_ARENA_ZNEW(arena, unsigned char, p->n_nodes);
    int *all = ESPI_ARENA_NEW(arena, int, p->n_nodes);
    if (!net->is_target || !all || espi_resources_init(&net->res, p, slice_bytes, arena))
        return -1;
    for (int v = 0; v < p->n_nodes && !targets; v++)
        if (v != root && !espi_is_switch(p, v))
            all[net->n_targets++] = v;
    for (int i = 0; i < n_targets && targets; i++)
        all[net->n_targets++] = targets[i];
    for (int i = 0; i < net->n_targets; i++)
        net->is_target[all[i]] = 1;
    net->targets = all;
    for (int k = 0; k < net->res.start[p->n_links]; k++)
        net->unit_s = fmax(net->unit_s, net->res.time_s[k]);
    if (!(net->unit_s > 0))
        net->unit_s = 1;
    return 0;
}

int espi_flow_net_add_loads(const struct espi_flow_net *net, int n_copies,
                            struct espi_lp *lp, struct espi_arena *arena)
{
    const struct espi_resources *r = &net->res;
    int m = net->g.m, uses = r->start[m], n_rows = 0;
    struct espi_arena_mark mark = espi_arena_mark(arena);
    int *count = ESPI_ARENA_ZNEW(arena, int, r->n);
    int *row = ESPI_ARENA_NEW(arena, int, r->n);
    int *start = ESPI_ARENA_NEW(arena, int, (size_t)r->n + 1);
    size_t most = (size_t)uses * (size_t)n_copies + (size_t)r->n;
    int *index = ESPI_ARENA_NEW(arena, int, most);
    double *value = ESPI_ARENA_NEW(arena, double, most);
    double *upper = ESPI_ARENA_ZNEW(arena, double, r->n);
    if (!count || !row || !start || !index || !value || !upper)
        return -1;
    for (int k = 0; k < uses; k++)
        count[r->resource[k]] += r->time_s[k] > 0;
    start[0] = 0;
    for (int i = 0; i < r->n; i++)
        if (count[i]) {
            start[n_rows + 1] = start[n_rows] + count[i] * n_copies + 1;
            index[start[n_rows]] = 0;
            value[start[n_rows]] = -1;
            row[i] = n_rows++;
            count[i] = 1;
        }
    for (int copy = 0; copy < n_copies; copy++)
        for (int e = 0; e < m; e++)
            for (int k = r->start[e]; k < r->start[e + 1]; k++) {
                if (!(r->time_s[k] > 0))
                    continue;
                int at = start[row[r->resource[k]]] + count[r->resource[k]]++;
                index[at] = 1 + copy * m + e;
                value[at] = r->time_s[k] / net->unit_s;
            }
    struct espi_lp_vectors rows = {
        .count = n_rows, .upper = upper, .start = start, .index = index, .value = value};
    espi_lp_add_rows(lp, &rows);
    espi_arena_release(arena, mark);
    return 0;
}

double espi_flow_net_period_s(const struct espi_flow_net *net, const double *y,
                              struct espi_arena *arena)
{
    const struct espi_resources *r = &net->res;
    struct espi_arena_mark mark = espi_arena_mark(arena);
    double *load = ESPI_ARENA_ZNEW(arena, double, r->n), most = 0;
    if (!load)
        return NAN;
    for (int e = 0; e < net->g.m; e++)
        espi_resources_add(r, e, y[e], load);
    for (int i = 0; i < r->n; i++)
        most = fmax(most, load[i]);
    espi_arena_release(arena, mark);
    return most;
}
