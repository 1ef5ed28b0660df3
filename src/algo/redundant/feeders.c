#include "algo/redundant/feeders.h"

#include <math.h>
#include <string.h>

enum { FREE, REVERSE, USED };

static void find_reverses(struct espi_feeders *f, int *seen, int *arc_from)
{
    const struct espi_digraph *g = f->g;
    for (int v = 0; v < g->n; v++)
        seen[v] = -1;
    for (int v = 0; v < g->n; v++) {
        for (int k = g->in.start[v]; k < g->in.start[v + 1]; k++) {
            int arc = g->in.item[k];
            seen[g->tail[arc]] = v;
            arc_from[g->tail[arc]] = arc;
        }
        for (int k = g->out.start[v]; k < g->out.start[v + 1]; k++) {
            int arc = g->out.item[k], to = g->head[arc];
            f->reverse[arc] = seen[to] == v ? arc_from[to] : -1;
        }
    }
}

int espi_feeders_init(struct espi_feeders *f, const struct espi_digraph *g,
                      struct espi_arena *arena)
{
    memset(f, 0, sizeof *f);
    f->g = g;
    f->level = ESPI_ARENA_NEW(arena, unsigned char, g->m);
    f->reverse = ESPI_ARENA_NEW(arena, int, g->m);
    f->free_s = ESPI_ARENA_NEW(arena, double, g->n);
    int *seen = ESPI_ARENA_NEW(arena, int, g->n);
    int *arc_from = ESPI_ARENA_NEW(arena, int, g->n);
    if (!f->level || !f->reverse || !f->free_s || !seen || !arc_from)
        return -1;
    find_reverses(f, seen, arc_from);
    return espi_earliest_init(&f->grower, g, arena);
}

void espi_feeders_start(struct espi_feeders *f, int root, const double *lag_s,
                        const double *hold_s)
{
    f->root = root;
    f->lag_s = lag_s;
    f->hold_s = hold_s;
    memset(f->level, FREE, (size_t)f->g->m);
    memset(f->free_s, 0, (size_t)f->g->n * sizeof *f->free_s);
}

int espi_feeders_first(struct espi_feeders *f, int *chosen)
{
    espi_earliest_start(&f->grower, f->lag_s, f->hold_s, NULL);
    espi_earliest_add(&f->grower, f->root, 0);
    return espi_earliest_grow(&f->grower, NULL, chosen);
}

void espi_feeders_use(struct espi_feeders *f, const int *arcs, int count)
{
    for (int i = 0; i < count; i++) {
        int arc = arcs[i], back = f->reverse[arc];
        int from = f->g->tail[arc], to = f->g->head[arc];
        double start_s = f->free_s[from];
        f->level[arc] = USED;
        if (back >= 0 && f->level[back] == FREE)
            f->level[back] = REVERSE;
        f->free_s[from] = start_s + f->hold_s[arc];
        f->free_s[to] = fmax(f->free_s[to], start_s + f->lag_s[arc]);
    }
}

/* The fastest arc into the host that no tree uses, reverses only where nothing else is;
 * -1: none. */
static int fastest_into(const struct espi_feeders *f, int host)
{
    const struct espi_rows *in = &f->g->in;
    int best = -1;
    for (int k = in->start[host]; k < in->start[host + 1]; k++) {
        int arc = in->item[k];
        if (f->level[arc] == USED || f->g->tail[arc] == host)
            continue;
        if (best < 0 || f->level[arc] < f->level[best] ||
            (f->level[arc] == f->level[best] && f->lag_s[arc] < f->lag_s[best]))
            best = arc;
    }
    return best;
}

int espi_feeders_next(struct espi_feeders *f, int aware, int *chosen)
{
    struct espi_earliest *w = &f->grower;
    const double *not_before_s = aware ? f->free_s : NULL;
    espi_earliest_start(w, f->lag_s, f->hold_s, f->level);
    espi_earliest_add(w, f->root, aware ? f->free_s[f->root] : 0);
    int count = espi_earliest_grow(w, not_before_s, chosen);
    if (w->missing > 0) {
        espi_earliest_allow(w, REVERSE);
        count += espi_earliest_grow(w, not_before_s, chosen + count);
    }
    for (int v = 0; w->missing > 0 && v < f->g->n; v++) {
        int arc = w->has[v] ? -1 : fastest_into(f, v);
        if (arc >= 0)
            chosen[count++] = arc;
    }
    return count;
}
