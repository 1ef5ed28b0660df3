#include "solve/priced/bound_impl.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "solve/priced/tuning.h"

int espi_priced_cuts_add(struct espi_priced_cuts *cuts, const unsigned char *side, int n)
{
    size_t at = (size_t)cuts->count * (size_t)n;
    if (espi_grow((void **)&cuts->side, &cuts->room, at + (size_t)n, 1))
        return -1;
    memcpy(cuts->side + at, side, (size_t)n);
    cuts->count++;
    return 0;
}

/* ---- rows ---- */

static int note_row(struct espi_priced_cut_program *c,
                    enum espi_priced_bound_row_kind kind, int owner)
{
    if (espi_grow((void **)&c->row_owner, &c->owner_room, c->rows + 1, sizeof(int)) ||
        espi_grow((void **)&c->row_what, &c->what_room, c->rows + 1, sizeof(int)))
        return -1;
    c->row_owner[c->rows] = owner;
    c->row_what[c->rows++] = (int)kind;
    return 0;
}

int espi_priced_bound_add_row(struct espi_priced_cut_program *c, int count, double lower,
                              double upper, enum espi_priced_bound_row_kind kind,
                              int owner)
{
    espi_lp_add_row(c->lp, count, c->index, c->value, lower, upper);
    return note_row(c, kind, owner);
}

void espi_priced_bound_put(struct espi_priced_cut_program *c, int at, int column,
                           double value)
{
    c->index[at] = column;
    c->value[at] = value;
}

/* What link e takes of the machines at one end. */
int espi_priced_bound_add_link_row(struct espi_priced_cut_program *c, int e, int at_head)
{
    const struct espi_digraph *g = &c->m->net.g;
    int v = at_head ? g->head[e] : g->tail[e];
    c->has_row[e] |= (unsigned char)(1 << at_head);
    espi_priced_bound_put(c, 0, c->first_link + e, c->m->link_s[e] / c->unit_s);
    espi_priced_bound_put(c, 1, ESPI_BOUND_MACHINES + v, -1);
    return espi_priced_bound_add_row(c, 2, -INFINITY, 0, ESPI_BOUND_ROW_LINK, e);
}

int espi_priced_bound_add_limit_rows(struct espi_priced_cut_program *c)
{
    for (int i = 0; i < c->m->n_limits; i++) {
        const struct espi_priced_limit *limit = &c->m->limits[i];
        for (int k = 0; k < limit->n_links; k++)
            espi_priced_bound_put(c, k, c->first_link + limit->links[k],
                                  limit->load_s / c->unit_s);
        espi_priced_bound_put(
            c, limit->n_links,
            limit->node < 0 ? ESPI_BOUND_TIME : ESPI_BOUND_MACHINES + limit->node, -1);
        if (espi_priced_bound_add_row(c, limit->n_links + 1, -INFINITY, 0,
                                      ESPI_BOUND_ROW_LIMIT, i))
            return -1;
    }
    return 0;
}

int espi_priced_bound_put_links(struct espi_priced_cut_program *c, int at,
                                const struct espi_rows *rows, int v, double value)
{
    for (int k = rows->start[v]; k < rows->start[v + 1]; k++)
        espi_priced_bound_put(c, at++, c->first_link + rows->item[k], value);
    return at;
}

/* T <= M(v) <= max_count T; what comes in goes out, but for targets, once at most. */
int espi_priced_bound_add_node_rows(struct espi_priced_cut_program *c, int v)
{
    const struct espi_digraph *g = &c->m->net.g;
    espi_priced_bound_put(c, 0, ESPI_BOUND_MACHINES + v, 1);
    espi_priced_bound_put(c, 1, ESPI_BOUND_TIME, -c->m->max_count[v]);
    if (espi_priced_bound_add_row(c, 2, -INFINITY, 0, ESPI_BOUND_ROW_OTHER, -1))
        return -1;
    if (c->m->must[v]) {
        espi_priced_bound_put(c, 1, ESPI_BOUND_TIME, -1);
        return espi_priced_bound_add_row(c, 2, 0, INFINITY, ESPI_BOUND_ROW_OTHER, -1);
    }
    int n = espi_priced_bound_put_links(c, 0, &g->in, v, 1);
    if (espi_priced_bound_add_row(c, n, -INFINITY, 1, ESPI_BOUND_ROW_OTHER, -1))
        return -1;
    n = espi_priced_bound_put_links(c, n, &g->out, v, -1);
    return espi_priced_bound_add_row(c, n, -INFINITY, 0, ESPI_BOUND_ROW_OTHER, -1);
}

/* y into the nodes that are not on the root's side is at least one. */
int espi_priced_bound_add_cut(struct espi_priced_cut_program *c)
{
    const struct espi_digraph *g = &c->m->net.g;
    int n = 0;
    for (int e = 0; e < g->m; e++)
        if (c->side[g->tail[e]] && !c->side[g->head[e]])
            espi_priced_bound_put(c, n++, c->first_link + e, 1);
    if (espi_priced_cuts_add(&c->all, c->side, c->n))
        return -1;
    return espi_priced_bound_add_row(c, n, 1, INFINITY, ESPI_BOUND_ROW_CUT, c->cuts++);
}

int espi_priced_bound_add_first_cuts(struct espi_priced_cut_program *c)
{
    const struct espi_flow_net *net = &c->m->net;
    for (int i = 0; i < net->n_targets; i++) {
        memset(c->side, 1, (size_t)c->n);
        c->side[net->targets[i]] = 0;
        if (espi_priced_bound_add_cut(c))
            return -1;
    }
    memset(c->side, 0, (size_t)c->n);
    c->side[net->root] = 1;
    return espi_priced_bound_add_cut(c);
}

/* ---- cuts to begin with ---- */

/* side: 0 for what leads to the target over links of which nothing is left; their number,
 * or 0 when the root is among them. */
static int saturated_set(struct espi_priced_cut_program *c, const double *left,
                         int target)
{
    const struct espi_digraph *g = &c->m->net.g;
    int n = 0;
    memset(c->side, 1, (size_t)c->n);
    c->side[target] = 0;
    c->index[n++] = target;
    for (int i = 0; i < n; i++)
        for (int v = c->index[i], k = g->in.start[v]; k < g->in.start[v + 1]; k++) {
            int e = g->in.item[k], u = g->tail[e];
            if (!c->side[u] || left[e] > 0)
                continue;
            if (u == c->m->net.root)
                return 0;
            c->side[u] = 0;
            c->index[n++] = u;
        }
    return n;
}

/* R. Wong's dual ascent: as long as some target is not reached over links whose price is
 * used up, the smallest set that leads to such a target raises the bound by the least
 * that is left on a link into it; its cut is kept. O(cuts * targets * m). */
int espi_priced_bound_add_ascent_cuts(struct espi_priced_cut_program *c)
{
    const struct espi_flow_net *net = &c->m->net;
    const struct espi_digraph *g = &net->g;
    double *left = c->capacity;
    for (int e = 0; e < c->links; e++)
        left[e] = c->m->link_usd[e];
    for (int round = 0; round < ESPI_PRICED_ASCENT; round++) {
        int best = -1, least = c->n + 1;
        for (int i = 0; i < net->n_targets; i++) {
            int size = saturated_set(c, left, net->targets[i]);
            if (size && size < least) {
                least = size;
                best = net->targets[i];
            }
        }
        if (best < 0)
            return 0;
        saturated_set(c, left, best);
        double step = INFINITY;
        for (int e = 0; e < c->links; e++)
            if (c->side[g->tail[e]] && !c->side[g->head[e]] && left[e] < step)
                step = left[e];
        for (int e = 0; e < c->links; e++)
            if (c->side[g->tail[e]] && !c->side[g->head[e]])
                left[e] = left[e] > step ? left[e] - step : 0;
        if (least > 1 && espi_priced_bound_add_cut(c))
            return -1;
    }
    return 0;
}
