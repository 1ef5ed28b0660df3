/* Violated cuts of a point y over arcs whose shares into each host sum to 1.
 *
 * A set with too little flow into it that meets several strongly connected components of
 * the support has a part within one of them that is violated as well (the first that the
 * order of components allows), so each component is searched alone, the rest of the graph
 * being its root. In a component hosts are sinks of maximum flows; once a host gets its
 * flow, no violated set holds it, and it becomes a source for the others (the idea of
 * J. Hao, J. Orlin, 1994). A host that gets enough straight from sources needs no search,
 * so that flows are few. Nested cuts are those of T. Koch, A. Martin, Solving Steiner
 * tree problems in graphs to optimality, 1998; their creep flow did not pay. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/maxflow.h"
#include "graph/scc.h"
#include "solve/arcs.h"

static const double POSITIVE = 1e-9; /* rounding: arcs with less carry nothing */

struct search {
    const struct espi_digraph *g;
    const double *y;
    double enough;
    struct espi_cuts *cuts;
    struct espi_arena *arena;
    int *component;
    int *local; /* host -> number in its component, from 1 */
};

/* A component with the rest of the graph as node 0. Arcs 0 .. n_real-1 are those of the
 * graph with flow; arc n_real + i leads from the root to node i + 1, once that is a
 * source. */
struct part {
    int n, m, n_real;
    const int *hosts;
    int *tail, *head;
    double *capacity;
    struct espi_digraph g;
    struct espi_maxflow flow;
    unsigned char *side;
    unsigned char *source; /* no violated set holds it */
    double *inflow;        /* from sources */
    int *ready;
};

void espi_cuts_free(struct espi_cuts *cuts)
{
    espi_free(cuts->start);
    espi_free(cuts->arc);
    *cuts = (struct espi_cuts){0};
}

static int cuts_room(struct espi_cuts *cuts, size_t arcs)
{
    void *start = cuts->start, *arc = cuts->arc;
    size_t used = cuts->n ? (size_t)cuts->start[cuts->n] : 0;
    if (used + arcs > INT32_MAX ||
        espi_grow(&start, &cuts->start_cap, (size_t)cuts->n + 2, sizeof(int)))
        return -1;
    cuts->start = start;
    cuts->start[cuts->n] = (int)used;
    if (espi_grow(&arc, &cuts->arc_cap, used + arcs + 1, sizeof(int)))
        return -1;
    cuts->arc = arc;
    return 0;
}

/* The arcs of the graph into the far side, those that carry nothing too. */
static int list_cut(struct search *s, const struct part *p)
{
    const struct espi_digraph *g = s->g;
    size_t most = 0;
    for (int i = 1; i < p->n; i++)
        if (!p->side[i])
            most +=
                (size_t)(g->in.start[p->hosts[i - 1] + 1] - g->in.start[p->hosts[i - 1]]);
    if (cuts_room(s->cuts, most))
        return -1;
    int at = s->cuts->start[s->cuts->n];
    for (int i = 1; i < p->n; i++) {
        int v = p->hosts[i - 1];
        for (int k = g->in.start[v]; k < g->in.start[v + 1] && !p->side[i]; k++) {
            int u = g->tail[g->in.item[k]];
            if (s->component[u] != s->component[v] || p->side[s->local[u]])
                s->cuts->arc[at++] = g->in.item[k];
        }
    }
    s->cuts->start[++s->cuts->n] = at;
    return 0;
}

/* Adds the cut on whose far side side[] is 0 and makes its arcs large enough. 1: added;
 * 0: all its arcs are in cuts already; -1: out of memory. */
static int add_cut(struct search *s, struct part *p, int even_if_empty)
{
    int fresh = even_if_empty;
    for (int k = 0; k < p->n_real; k++)
        if (p->side[p->tail[k]] && !p->side[p->head[k]]) {
            fresh |= p->capacity[k] < 1;
            p->capacity[k] = fmax(p->capacity[k], 1);
        }
    if (!fresh)
        return 0;
    return list_cut(s, p) ? -1 : 1;
}

static int part_fill(const struct search *s, struct part *p)
{
    const int *hosts = p->hosts;
    const struct espi_digraph *g = s->g;
    int most = 0;
    for (int i = 0; i < p->n - 1; i++)
        most += g->in.start[hosts[i] + 1] - g->in.start[hosts[i]] + 1;
    p->tail = ESPI_ARENA_NEW(s->arena, int, most);
    p->head = ESPI_ARENA_NEW(s->arena, int, most);
    p->capacity = ESPI_ARENA_NEW(s->arena, double, most);
    if (!p->tail || !p->head || !p->capacity)
        return -1;
    for (int i = 0; i < p->n - 1; i++) {
        int v = hosts[i];
        for (int k = g->in.start[v]; k < g->in.start[v + 1]; k++) {
            int e = g->in.item[k], u = g->tail[e];
            if (u == v || s->y[e] <= 0)
                continue;
            p->tail[p->m] = s->component[u] == s->component[v] ? s->local[u] : 0;
            p->head[p->m] = i + 1;
            p->capacity[p->m++] = s->y[e];
        }
    }
    p->n_real = p->m;
    for (int i = 0; i < p->n - 1; i++) {
        p->tail[p->m] = 0;
        p->head[p->m] = i + 1;
        p->capacity[p->m++] = 0;
    }
    return 0;
}

static int part_ready(const struct search *s, struct part *p)
{
    p->side = ESPI_ARENA_NEW(s->arena, unsigned char, p->n);
    p->source = ESPI_ARENA_ZNEW(s->arena, unsigned char, p->n);
    p->inflow = ESPI_ARENA_ZNEW(s->arena, double, p->n);
    p->ready = ESPI_ARENA_NEW(s->arena, int, p->n);
    if (!p->side || !p->source || !p->inflow || !p->ready ||
        espi_digraph_init(&p->g, p->n, p->m, p->tail, p->head, s->arena) ||
        espi_maxflow_init(&p->flow, &p->g, s->arena))
        return -1;
    return 0;
}

/* Cuts that keep flow from host v, each made large enough for the next to show; two at a
 * time, the nearest to v and the nearest to the sources. */
static int cut_off(struct search *s, struct part *p, int v)
{
    double flow;
    while ((flow = espi_maxflow(&p->flow, p->capacity, 0, v, s->enough)) < s->enough) {
        espi_maxflow_sink_cut(&p->flow, p->side);
        int near = add_cut(s, p, !(flow > 0));
        espi_maxflow_source_cut(&p->flow, p->side);
        int far = near < 0 ? -1 : add_cut(s, p, 0);
        if (far < 0)
            return -1;
        if (!(flow > 0) || (!near && !far))
            break; /* no arc to make larger, or rounding */
    }
    return 0;
}

/* Node v is a source from now on, and so are those that get all their flow from sources
 * straight away. */
static void spread_source(const struct search *s, struct part *p, int v)
{
    int count = 0;
    p->ready[count++] = v;
    p->source[v] = 1;
    while (count > 0) {
        int u = p->ready[--count];
        if (u > 0)
            p->capacity[p->n_real + u - 1] = 2;
        for (int i = p->g.out.start[u]; i < p->g.out.start[u + 1]; i++) {
            int k = p->g.out.item[i], w = p->head[k];
            if (k >= p->n_real || p->source[w])
                continue;
            p->inflow[w] += p->capacity[k];
            if (p->inflow[w] >= s->enough) {
                p->source[w] = 1;
                p->ready[count++] = w;
            }
        }
    }
}

/* The node that gets most from the sources; 0: all are sources. */
static int next_sink(const struct part *p)
{
    int best = 0;
    for (int v = 1; v < p->n; v++)
        if (!p->source[v] && (!best || p->inflow[v] > p->inflow[best]))
            best = v;
    return best;
}

static int search_part(struct search *s, const int *hosts, int count)
{
    struct espi_arena_mark mark = espi_arena_mark(s->arena);
    struct part p = {.n = count + 1, .hosts = hosts};
    for (int i = 0; i < count; i++)
        s->local[hosts[i]] = i + 1;
    int failed = part_fill(s, &p) || part_ready(s, &p);
    if (!failed)
        spread_source(s, &p, 0);
    for (int v; !failed && (v = next_sink(&p)) != 0;) {
        failed = cut_off(s, &p, v);
        spread_source(s, &p, v);
    }
    espi_arena_release(s->arena, mark);
    return failed ? -1 : 0;
}

static int components(struct search *s, int root, struct espi_rows *rows, int *count)
{
    const struct espi_digraph *g = s->g;
    struct espi_scc scc;
    unsigned char *use = ESPI_ARENA_NEW(s->arena, unsigned char, g->m);
    s->component = ESPI_ARENA_NEW(s->arena, int, g->n);
    s->local = ESPI_ARENA_NEW(s->arena, int, g->n);
    if (!use || !s->component || !s->local || espi_scc_init(&scc, g->n, s->arena))
        return -1;
    for (int e = 0; e < g->m; e++)
        use[e] = s->y[e] > POSITIVE && g->head[e] != root;
    *count = espi_scc(&scc, g, use, s->component);
    return espi_rows_build(rows, *count, g->n, s->component, s->arena);
}

int espi_cuts_find(const struct espi_digraph *g, int root, const double *y, double slack,
                   struct espi_cuts *cuts, struct espi_arena *arena)
{
    struct search s = {.g = g, .y = y, .enough = 1 - slack, .cuts = cuts, .arena = arena};
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct espi_rows rows;
    int count = 0, before = cuts->n;
    int failed = components(&s, root, &rows, &count);
    for (int c = 0; c < count && !failed; c++) {
        int size = rows.start[c + 1] - rows.start[c];
        if (size > 1)
            failed = search_part(&s, rows.item + rows.start[c], size);
    }
    espi_arena_release(arena, mark);
    return failed ? -1 : cuts->n - before;
}
