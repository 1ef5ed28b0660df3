/* Strongly connected components by Tarjan's algorithm (R. E. Tarjan, Depth-first search
 * and linear graph algorithms, 1972), without recursion. */
#include "graph/scc.h"

int espi_scc_init(struct espi_scc *w, int n, struct espi_arena *arena)
{
    w->low = ESPI_ARENA_NEW(arena, int, n);
    w->number = ESPI_ARENA_NEW(arena, int, n);
    w->stack = ESPI_ARENA_NEW(arena, int, n);
    w->call = ESPI_ARENA_NEW(arena, int, n);
    w->next = ESPI_ARENA_NEW(arena, int, n);
    return w->low && w->number && w->stack && w->call && w->next ? 0 : -1;
}

struct search {
    int seen, on_stack, depth, components;
};

static void visit_node(struct espi_scc *w, const struct espi_digraph *g, struct search *s,
                       int v)
{
    w->low[v] = w->number[v] = s->seen++;
    w->stack[s->on_stack++] = v;
    w->call[s->depth++] = v;
    w->next[v] = g->out.start[v];
}

/* All arcs of v are done: closes its component if it is the first of it. */
static void leave_node(struct espi_scc *w, struct search *s, int v, int *component)
{
    s->depth--;
    if (s->depth > 0) {
        int up = w->call[s->depth - 1];
        if (w->low[v] < w->low[up])
            w->low[up] = w->low[v];
    }
    if (w->low[v] != w->number[v])
        return;
    int x;
    do {
        x = w->stack[--s->on_stack];
        component[x] = s->components;
    } while (x != v);
    s->components++;
}

int espi_scc(struct espi_scc *w, const struct espi_digraph *g, const unsigned char *use,
             int *component)
{
    struct search s = {0, 0, 0, 0};
    for (int v = 0; v < g->n; v++)
        w->number[v] = component[v] = -1;
    for (int from = 0; from < g->n; from++) {
        if (w->number[from] >= 0)
            continue;
        visit_node(w, g, &s, from);
        while (s.depth > 0) {
            int v = w->call[s.depth - 1];
            if (w->next[v] == g->out.start[v + 1]) {
                leave_node(w, &s, v, component);
                continue;
            }
            int arc = g->out.item[w->next[v]++], to = g->head[arc];
            if (use && !use[arc])
                continue;
            if (w->number[to] < 0)
                visit_node(w, g, &s, to);
            else if (component[to] < 0 && w->number[to] < w->low[v])
                w->low[v] = w->number[to];
        }
    }
    return s.components;
}
