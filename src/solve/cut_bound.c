#include "solve/cut_bound.h"

#include <math.h>
#include <string.h>

#include "graph/maxflow.h"

static const double BALANCED = 1e-12; /* rounding: of the sum of bandwidths */

struct search {
    const struct espi_view *v;
    const struct esp_platform *p;
    struct espi_digraph g; /* nodes, links, and a source with an arc to every host */
    struct espi_maxflow flow;
    double *capacity;
    unsigned char *side;
    double period_s;
    unsigned char *tightest; /* of the cut that asks for that period */
};

static int search_init(struct search *s, struct espi_arena *a)
{
    int n = s->p->n_nodes, m = s->p->n_links, hosts = s->v->g.n;
    int *tail = ESPI_ARENA_NEW(a, int, (size_t)m + (size_t)hosts);
    int *head = ESPI_ARENA_NEW(a, int, (size_t)m + (size_t)hosts);
    s->capacity = ESPI_ARENA_NEW(a, double, (size_t)m + (size_t)hosts);
    s->side = ESPI_ARENA_NEW(a, unsigned char, (size_t)n + 1);
    if (!tail || !head || !s->capacity || !s->side)
        return -1;
    for (int e = 0; e < m; e++) {
        tail[e] = s->p->tail[e];
        head[e] = s->p->head[e];
    }
    for (int h = 0; h < hosts; h++) {
        tail[m + h] = n;
        head[m + h] = s->v->node[h];
    }
    if (espi_digraph_init(&s->g, n + 1, m + hosts, tail, head, a))
        return -1;
    return espi_maxflow_init(&s->flow, &s->g, a);
}

/* Slices a second. */
static double slice_rate(const struct search *s, int link)
{
    return s->p->bandwidth_Bps[link] / s->v->slice_bytes;
}

static void set_capacities(struct search *s)
{
    int m = s->p->n_links, hosts = s->v->g.n;
    for (int e = 0; e < m; e++)
        s->capacity[e] = s->period_s * slice_rate(s, e);
    for (int h = 0; h < hosts; h++)
        s->capacity[m + h] = 1.0 / hosts;
}

/* The time that the cut asks for. */
static double time_of_cut(const struct search *s)
{
    double crossing = 0, inside = 0;
    for (int e = 0; e < s->p->n_links; e++)
        if (s->side[s->p->tail[e]] && !s->side[s->p->head[e]])
            crossing += slice_rate(s, e);
    for (int h = 0; h < s->v->g.n; h++)
        inside += s->side[s->v->node[h]];
    return inside / s->v->g.n / crossing;
}

/* Does all get to the host in the period? If not, the period grows. */
static int grows(struct search *s, int host)
{
    double all = 1 - 1e-12;
    set_capacities(s);
    if (espi_maxflow(&s->flow, s->capacity, s->p->n_nodes, s->v->node[host], all) >= all)
        return 0;
    espi_maxflow_source_cut(&s->flow, s->side);
    double needs_s = time_of_cut(s);
    if (!(needs_s > s->period_s * (1 + 1e-13)) || !isfinite(needs_s))
        return 0;
    s->period_s = needs_s;
    memcpy(s->tightest, s->side, (size_t)s->p->n_nodes * sizeof *s->side);
    return 1;
}

int espi_all_cut_s(const struct espi_view *v, struct espi_arena *arena, double *period_s,
                   unsigned char *side)
{
    struct search s = {.v = v, .p = v->p, .tightest = side};
    struct espi_arena_mark mark = espi_arena_mark(arena);
    memset(side, 0, (size_t)v->p->n_nodes * sizeof *side);
    *period_s = 0;
    if (v->p->model != ESP_MODEL_CAPACITY || v->g.n < 2)
        return 0;
    if (search_init(&s, arena))
        return -1;
    for (int e = 0; e < v->p->n_links; e++) /* so that something flows */
        s.period_s = fmax(s.period_s, 1e-6 / slice_rate(&s, e));
    for (int h = 0, quiet = 0; quiet < v->g.n; h = (h + 1) % v->g.n)
        quiet = grows(&s, h) ? 0 : quiet + 1;
    *period_s = s.period_s;
    espi_arena_release(arena, mark);
    return 0;
}

/* Has every node as much bandwidth in as out? */
static int is_balanced(const struct esp_platform *p, double *surplus_Bps,
                       double *through_Bps)
{
    for (int e = 0; e < p->n_links; e++) {
        surplus_Bps[p->tail[e]] -= p->bandwidth_Bps[e];
        surplus_Bps[p->head[e]] += p->bandwidth_Bps[e];
        through_Bps[p->tail[e]] += p->bandwidth_Bps[e];
        through_Bps[p->head[e]] += p->bandwidth_Bps[e];
    }
    for (int i = 0; i < p->n_nodes; i++)
        if (fabs(surplus_Bps[i]) > BALANCED * through_Bps[i])
            return 0;
    return 1;
}

int espi_all_cut_is_tight(const struct espi_view *v, struct espi_arena *arena)
{
    const struct esp_platform *p = v->p;
    if (p->model != ESP_MODEL_CAPACITY || p->n_shared > 0)
        return 0;
    if (v->g.n == p->n_nodes)
        return 1;
    struct espi_arena_mark mark = espi_arena_mark(arena);
    double *surplus_Bps = ESPI_ARENA_ZNEW(arena, double, p->n_nodes);
    double *through_Bps = ESPI_ARENA_ZNEW(arena, double, p->n_nodes);
    if (!surplus_Bps || !through_Bps)
        return -1;
    int balanced = is_balanced(p, surplus_Bps, through_Bps);
    espi_arena_release(arena, mark);
    return balanced;
}
