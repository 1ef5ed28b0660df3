#include "algo/search/tree_state.h"

#include <math.h>
#include <string.h>

/* Pairs arcs with those the other way round; of parallel ones the quickest, then the
 * lowest, and the others stay alone, so that turning twice changes nothing. `last` has
 * room for a host each. O(m). */
static void find_reverses(struct espi_tree_state *s, int *last)
{
    const struct espi_digraph *g = &s->v->g;
    for (int h = 0; h < g->n; h++)
        last[h] = -1;
    for (int h = 0; h < g->n; h++) {
        for (int k = g->out.start[h]; k < g->out.start[h + 1]; k++) {
            int e = g->out.item[k], to = g->head[e];
            if (last[to] < 0 || s->v->time_s[e] < s->v->time_s[last[to]])
                last[to] = e;
        }
        for (int k = g->in.start[h]; k < g->in.start[h + 1]; k++) {
            int e = g->in.item[k];
            s->reverse[e] = g->tail[e] == h ? -1 : last[g->tail[e]];
        }
        for (int k = g->out.start[h]; k < g->out.start[h + 1]; k++)
            last[g->head[g->out.item[k]]] = -1;
    }
    for (int e = 0; e < g->m; e++)
        if (s->reverse[e] >= 0 && s->reverse[s->reverse[e]] != e)
            s->reverse[e] = -1;
}

static int allocate(struct espi_tree_state *s, struct espi_arena *a)
{
    const struct espi_view *v = s->v;
    int n = v->g.n, m = v->g.m, uses = v->use_start[m];
    s->parent_arc = ESPI_ARENA_NEW(a, int, n);
    s->first_kid = ESPI_ARENA_NEW(a, int, n);
    s->next_kid = ESPI_ARENA_NEW(a, int, n);
    s->prev_kid = ESPI_ARENA_NEW(a, int, n);
    s->path = ESPI_ARENA_NEW(a, int, n);
    s->stamp = ESPI_ARENA_ZNEW(a, int, n);
    s->load = ESPI_ARENA_NEW(a, double, v->links.n);
    s->first_use = ESPI_ARENA_NEW(a, int, v->links.n);
    s->next_use = ESPI_ARENA_NEW(a, int, uses);
    s->prev_use = ESPI_ARENA_NEW(a, int, uses);
    s->use_arc = ESPI_ARENA_NEW(a, int, uses);
    s->reverse = ESPI_ARENA_NEW(a, int, m);
    return s->parent_arc && s->first_kid && s->next_kid && s->prev_kid && s->path &&
                   s->stamp && s->load && s->first_use && s->next_use && s->prev_use &&
                   s->use_arc && s->reverse
               ? 0
               : -1;
}

static void clear_state(struct espi_tree_state *s)
{
    size_t n = (size_t)s->v->g.n, resources = (size_t)s->v->links.n;
    memset(s->parent_arc, -1, n * sizeof *s->parent_arc);
    memset(s->first_kid, -1, n * sizeof *s->first_kid);
    memset(s->first_use, -1, resources * sizeof *s->first_use);
    if (s->base_s)
        memcpy(s->load, s->base_s, resources * sizeof *s->load);
    else
        memset(s->load, 0, resources * sizeof *s->load);
}

int espi_tree_state_init(struct espi_tree_state *s, const struct espi_view *v, int root,
                         struct espi_arena *arena)
{
    *s = (struct espi_tree_state){.v = v, .root = root, .scale = 1};
    if (allocate(s, arena))
        return -1;
    for (int e = 0; e < v->g.m; e++)
        for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++)
            s->use_arc[k] = e;
    find_reverses(s, s->path);
    clear_state(s);
    return 0;
}

void espi_tree_state_share(struct espi_tree_state *s, const double *base_s, double scale)
{
    s->base_s = base_s;
    s->scale = scale;
}

void espi_tree_state_set(struct espi_tree_state *s, const int *parent_arc)
{
    clear_state(s);
    for (int h = s->v->g.n - 1; h >= 0; h--)
        if (parent_arc[h] >= 0)
            espi_tree_state_add(s, parent_arc[h]);
}

void espi_tree_state_add(struct espi_tree_state *s, int arc)
{
    const struct espi_view *v = s->v;
    int from = v->g.tail[arc], to = v->g.head[arc], next = s->first_kid[from];
    s->parent_arc[to] = arc;
    s->next_kid[to] = next;
    s->prev_kid[to] = -1;
    if (next >= 0)
        s->prev_kid[next] = to;
    s->first_kid[from] = to;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++) {
        int r = v->use_resource[k], after = s->first_use[r];
        s->load[r] += s->scale * v->use_s[k];
        s->next_use[k] = after;
        s->prev_use[k] = -1;
        if (after >= 0)
            s->prev_use[after] = k;
        s->first_use[r] = k;
    }
}

void espi_tree_state_remove(struct espi_tree_state *s, int arc)
{
    const struct espi_view *v = s->v;
    int from = v->g.tail[arc], to = v->g.head[arc];
    int next = s->next_kid[to], prev = s->prev_kid[to];
    s->parent_arc[to] = -1;
    if (next >= 0)
        s->prev_kid[next] = prev;
    if (prev >= 0)
        s->next_kid[prev] = next;
    else
        s->first_kid[from] = next;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++) {
        int r = v->use_resource[k], after = s->next_use[k], before = s->prev_use[k];
        s->load[r] -= s->scale * v->use_s[k];
        if (after >= 0)
            s->prev_use[after] = before;
        if (before >= 0)
            s->next_use[before] = after;
        else
            s->first_use[r] = after;
        if (s->first_use[r] < 0)
            s->load[r] = s->base_s ? s->base_s[r]
                                   : 0; /* exactly, so that rounding does not add up */
    }
}

int espi_tree_state_mark(struct espi_tree_state *s, int x)
{
    int size = 0;
    s->now++;
    s->path[size++] = x;
    s->stamp[x] = s->now;
    for (int i = 0; i < size; i++)
        for (int kid = s->first_kid[s->path[i]]; kid >= 0; kid = s->next_kid[kid]) {
            s->stamp[kid] = s->now;
            s->path[size++] = kid;
        }
    return size;
}

double espi_tree_state_period_s(const struct espi_tree_state *s)
{
    double most = 0;
    for (int r = 0; r < s->v->links.n; r++)
        most = fmax(most, s->load[r]);
    return most;
}

void espi_tree_state_rehang(struct espi_tree_state *s, int x, int in)
{
    int size = 0;
    for (int h = s->v->g.head[in]; h != x; h = s->v->g.tail[s->path[size - 1]])
        s->path[size++] = s->parent_arc[h];
    if (s->parent_arc[x] >= 0)
        espi_tree_state_remove(s, s->parent_arc[x]);
    for (int i = 0; i < size; i++)
        espi_tree_state_remove(s, s->path[i]);
    for (int i = 0; i < size; i++)
        espi_tree_state_add(s, s->reverse[s->path[i]]);
    espi_tree_state_add(s, in);
}
