/* Cheapest trees at prices of resources: a minimum-cost arborescence over the links, or
 * with switches over the cheapest paths between hosts at these very prices.
 * O(m log n); with switches O(hosts * m log n). */
#include <math.h>
#include <string.h>

#include "solve/packing_impl.h"

/* Numbers the resources that links take time of, and copies those uses. */
static int gather_uses(struct espi_pricer *pr, struct espi_arena *a)
{
    const struct espi_resources *r = &pr->v->links;
    int m = pr->v->p->n_links + pr->v->n_sources, at = 0;
    int *number = ESPI_ARENA_NEW(a, int, r->n);
    pr->resource = ESPI_ARENA_NEW(a, int, r->n);
    pr->use_start = ESPI_ARENA_NEW(a, int, (size_t)m + 1);
    pr->use_res = ESPI_ARENA_NEW(a, int, r->start[m]);
    pr->use_s = ESPI_ARENA_NEW(a, double, r->start[m]);
    if (!number || !pr->resource || !pr->use_start || !pr->use_res || !pr->use_s)
        return -1;
    memset(number, 0, (size_t)r->n * sizeof *number);
    for (int k = 0; k < r->start[m]; k++)
        number[r->resource[k]] |= r->time_s[k] > 0;
    for (int i = 0; i < r->n; i++)
        if (number[i]) {
            number[i] = pr->n_res;
            pr->resource[pr->n_res++] = i;
        }
    for (int e = 0; e < m; e++) {
        pr->use_start[e] = at;
        for (int k = r->start[e]; k < r->start[e + 1]; k++)
            if (r->time_s[k] > 0) {
                pr->use_res[at] = number[r->resource[k]];
                pr->use_s[at++] = r->time_s[k];
            }
    }
    pr->use_start[m] = at;
    return 0;
}

/* The graph of pairs of hosts that paths through switches join: the arcs of the view. */
static int init_switched(struct espi_pricer *pr, struct espi_arena *a)
{
    const struct esp_platform *p = pr->v->p;
    pr->links =
        (struct espi_digraph){p->n_nodes, p->n_links, p->tail, p->head, p->out, p->in};
    pr->pairs = pr->v->g;
    pr->is_switch = ESPI_ARENA_NEW(a, unsigned char, p->n_nodes);
    pr->distance = ESPI_ARENA_NEW(a, double, p->n_nodes);
    pr->pair_cost = ESPI_ARENA_NEW(a, double, pr->pairs.m);
    pr->last_arc = ESPI_ARENA_NEW(a, int, (size_t)p->n_hosts *(size_t)p->n_nodes);
    if (!pr->is_switch || !pr->distance || !pr->pair_cost || !pr->last_arc ||
        espi_dijkstra_init(&pr->dijkstra, p->n_nodes, a))
        return -1;
    for (int i = 0; i < p->n_nodes; i++)
        pr->is_switch[i] = (unsigned char)espi_is_switch(p, i);
    return 0;
}

int espi_pricer_init(struct espi_pricer *pr, const struct espi_view *v, int root,
                     struct espi_arena *arena)
{
    *pr = (struct espi_pricer){.v = v, .root = root};
    pr->switched = v->p->n_hosts < v->p->n_nodes;
    pr->link_cost = ESPI_ARENA_NEW(arena, double, v->p->n_links + v->n_sources);
    pr->path = ESPI_ARENA_NEW(arena, int, v->p->n_nodes);
    pr->parent_arc = ESPI_ARENA_NEW(arena, int, v->g.n);
    if (!pr->link_cost || !pr->path || !pr->parent_arc || gather_uses(pr, arena) ||
        (pr->switched && init_switched(pr, arena)))
        return -1;
    return espi_arborescence_init(&pr->arb, &v->g, arena);
}

static void find_paths(struct espi_pricer *pr)
{
    const struct espi_view *v = pr->v;
    for (int h = 0; h < v->n_sources; h++)
        pr->pair_cost[v->g.m - v->n_sources + h] = pr->link_cost[v->p->n_links + h];
    for (int h = 0; h < v->p->n_hosts; h++) {
        int *last = pr->last_arc + (size_t)h * (size_t)v->p->n_nodes;
        struct espi_dijkstra_query q = {pr->link_cost, &v->node[h], 1, pr->is_switch};
        espi_dijkstra(&pr->dijkstra, &pr->links, &q, pr->distance, last);
        for (int k = v->g.out.start[h]; k < v->g.out.start[h + 1]; k++) {
            int pair = v->g.out.item[k];
            pr->pair_cost[pair] = pr->distance[v->node[v->g.head[pair]]];
        }
    }
}

int espi_pricer_init_inward(struct espi_pricer *pr, struct espi_arena *arena)
{
    const struct espi_digraph *g = &pr->v->g;
    pr->turned = (struct espi_digraph){g->n, g->m, g->head, g->tail, g->in, g->out};
    return espi_arborescence_init(&pr->arb_in, &pr->turned, arena);
}

void espi_pricer_set_prices(struct espi_pricer *pr, const double *price)
{
    for (int e = 0; e < pr->v->p->n_links + pr->v->n_sources; e++) {
        double cost = 0;
        for (int k = pr->use_start[e]; k < pr->use_start[e + 1]; k++)
            cost += price[pr->use_res[k]] * pr->use_s[k];
        pr->link_cost[e] = cost;
    }
    if (pr->switched)
        find_paths(pr);
}

double espi_pricer_tree(struct espi_pricer *pr, int root, int inward)
{
    const double *cost = pr->switched ? pr->pair_cost : pr->link_cost;
    double total = 0;
    if (espi_arborescence(inward ? &pr->arb_in : &pr->arb, root, cost, pr->parent_arc,
                          &total))
        return NAN;
    return total;
}

void espi_pricer_note(const struct espi_pricer *pr, int trees,
                      struct espi_solve_budget *p)
{
    const struct espi_view *v = pr->v;
    double paths = pr->switched ? (double)v->p->n_hosts * v->p->n_links : 0;
    espi_solve_budget_look(p, v->p->n_links + paths + (double)trees * v->g.m);
}

double espi_pricer_run(struct espi_pricer *pr, const double *price)
{
    espi_pricer_set_prices(pr, price);
    return espi_pricer_tree(pr, pr->root, 0);
}

/* The links of the arc into host h (inward: out of it), in order from the sender, to hops
 * (unless NULL); how many. */
static int path_links(const struct espi_pricer *pr, int h, int *hops)
{
    const struct espi_view *v = pr->v;
    int arc = pr->parent_arc[h], n = 0;
    if (arc < 0)
        return 0;
    if (!pr->switched || arc >= v->g.m - v->n_sources) {
        if (hops)
            hops[0] = pr->switched ? v->p->n_links + h : arc;
        return 1;
    }
    int from = v->g.tail[arc], stop = v->node[from], to = v->node[v->g.head[arc]];
    const int *last = pr->last_arc + (size_t)from * (size_t)v->p->n_nodes;
    for (int x = to; x != stop; x = v->p->tail[last[x]])
        n++;
    for (int x = to, at = n; x != stop && hops; x = v->p->tail[last[x]])
        hops[--at] = last[x];
    return n;
}

static void load_link(const struct espi_pricer *pr, int e, double factor, double *load)
{
    for (int k = pr->use_start[e]; k < pr->use_start[e + 1]; k++)
        load[pr->use_res[k]] += factor * pr->use_s[k];
}

void espi_pricer_loads(const struct espi_pricer *pr, double *load)
{
    memset(load, 0, (size_t)pr->n_res * sizeof *load);
    for (int h = 0; h < pr->v->g.n; h++) {
        int n = path_links(pr, h, pr->path);
        for (int k = 0; k < n; k++)
            load_link(pr, pr->path[k], 1, load);
    }
}

void espi_pk_add_loads(const struct espi_pricer *pr, const struct espi_pk_tree *t,
                       double factor, double *load)
{
    for (int i = 0; i < t->n_hops; i++)
        load_link(pr, t->hops[i], factor, load);
}

uint64_t espi_pricer_hash(const struct espi_pricer *pr)
{
    uint64_t hash = 14695981039346656037u;
    for (int h = 0; h < pr->v->g.n; h++) {
        hash = (hash ^ (uint64_t)(pr->parent_arc[h] + 1)) * 1099511628211u;
        int n = pr->switched ? path_links(pr, h, pr->path) : 0;
        for (int k = 0; k < n; k++)
            hash = (hash ^ (uint64_t)(pr->path[k] + 7)) * 1099511628211u;
    }
    return hash ^ hash >> 29;
}

int espi_pricer_length(const struct espi_pricer *pr)
{
    int length = 0;
    for (int h = 0; h < pr->v->g.n; h++)
        length += path_links(pr, h, NULL);
    return length;
}

void espi_pricer_copy(const struct espi_pricer *pr, struct espi_pk_tree *t)
{
    int n = pr->v->g.n;
    t->hash = espi_pricer_hash(pr);
    t->x = t->n_hops = 0;
    for (int h = 0; h < n; h++) {
        if (t->hop_start)
            t->hop_start[h] = t->n_hops;
        t->n_hops += path_links(pr, h, t->hops + t->n_hops);
    }
    if (t->hop_start)
        t->hop_start[n] = t->n_hops;
}
