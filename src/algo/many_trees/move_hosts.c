/* A tree that grows host by host gives the ports next to the root to whoever comes first,
 * and those are near hosts, which could as well be served late; hosts that are far then
 * get what is left. Here a host, with all that hangs on it, goes to another parent when
 * the message is through earlier by that:
 *
 *   rounds * round * (how much more than full resources are, softly, and how many trees
 *     share connections, as in round_trees.c)
 *     + (when the slowest trees are filled: a mean of high power over all of them),
 *
 * both of which change little by little, so that a move that only makes room for another
 * one is taken, too.
 *
 * Reference: none; local search over the parents of hosts, as in refine. Complexity: a
 * sweep O(k * arcs * uses of an arc), and O(hosts) a move; at most
 * ESPI_MOVE_HOSTS_SWEEPS sweeps, and no more than ESPI_MOVE_HOSTS_WORK arcs are weighed.
 */
#include "algo/many_trees/move_hosts.h"

#include <math.h>
#include <string.h>

#include "algo/tuning.h"
#include "base/portable_math.h"

/* How busy a resource is. */
struct weighed {
    double load;   /* part of a round */
    double weight; /* exp(sharp * (load - 1)) */
};

struct mover {
    const struct espi_move_task *task;
    const struct espi_view *v;
    int n;
    struct weighed *load;     /* of resources */
    struct weighed *before;   /* as they were before their last change */
    int *used;                /* arc -> trees that have it */
    double *fill_s;           /* tree -> when all have the first slice */
    double scale_s, powers;   /* sum over trees of (fill_s / scale_s) ^ 8 */
    double other_powers;      /* of the trees beside the one that is looked at */
    double left;              /* arcs that may still be weighed */
    double looks;             /* at a whole tree */
    int *parent;              /* of the tree that is looked at */
    double *at_s;             /* host -> when the first slice is there */
    double *below_s;          /* host -> the latest of those that hang on it */
    int *first, *next;        /* host -> its first child; child -> the next */
    int *order, *place;       /* hosts, each before and beside those that hang on it */
    int *size;                /* host -> how many hang on it, itself counted */
    double *before_s, *after; /* place -> the latest before it; from it on */
};

static double hop_s(const struct mover *m, int arc)
{
    return m->v->lag_s[arc];
}

static double weight_of(const struct mover *m, double load)
{
    return espi_exp(fmin(m->task->sharp * (load - 1), ESPI_MOST_EXPONENT));
}

/* Most hosts stay where they are: what is taken off for a trial comes back, and then its
 * weight is known. */
static void add_load(struct mover *m, int r, double more)
{
    struct weighed now = m->load[r];
    double load = now.load + more;
    if (load == m->before[r].load)
        m->load[r] = m->before[r];
    else
        m->load[r] = (struct weighed){load, weight_of(m, load)};
    m->before[r] = now;
}

static void add_arc(struct mover *m, int arc, int times)
{
    const struct espi_view *v = m->v;
    m->used[arc] += times;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
        add_load(m, v->use_resource[k], times * v->use_s[k] / m->task->round_s);
}

/* By how much the soft load grows with one arc more, and what it costs that other trees
 * have that arc, too. */
static double load_rise(const struct mover *m, int arc)
{
    const struct espi_view *v = m->v;
    double rise = 0;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
        rise += m->load[v->use_resource[k]].weight * m->task->factor[k];
    double over = rise / m->task->sharp + m->task->reuse * m->used[arc];
    return over * m->task->rounds * m->task->round_s;
}

/* ---- one tree ---- */

/* Hosts so that all that hang on one follow it. */
static void order_hosts(struct mover *m)
{
    int n = 0, host = m->task->root;
    for (int h = 0; h < m->n; h++)
        m->first[h] = m->next[h] = -1;
    for (int h = m->n - 1; h >= 0; h--)
        if (m->parent[h] >= 0) {
            int p = m->v->g.tail[m->parent[h]];
            m->next[h] = m->first[p];
            m->first[p] = h;
        }
    m->at_s[host] = 0;
    while (host >= 0) {
        if (m->parent[host] >= 0)
            m->at_s[host] =
                m->at_s[m->v->g.tail[m->parent[host]]] + hop_s(m, m->parent[host]);
        m->place[host] = n;
        m->order[n++] = host;
        int then = m->first[host];
        while (then < 0 && host != m->task->root) {
            then = m->next[host];
            host = m->v->g.tail[m->parent[host]];
        }
        host = then;
    }
}

static double look_at_tree(struct mover *m, int *parent)
{
    double latest_s = 0;
    m->looks++;
    m->parent = parent;
    order_hosts(m);
    for (int h = 0; h < m->n; h++) {
        m->size[h] = 1;
        m->below_s[h] = m->at_s[h];
    }
    for (int i = m->n - 1; i > 0; i--) {
        int h = m->order[i], p = m->v->g.tail[parent[h]];
        m->size[p] += m->size[h];
        m->below_s[p] = espi_max(m->below_s[p], m->below_s[h]);
    }
    for (int i = 0; i < m->n; i++) {
        m->before_s[i] = latest_s;
        latest_s = espi_max(latest_s, m->at_s[m->order[i]]);
    }
    m->after[m->n] = 0;
    for (int i = m->n - 1; i >= 0; i--)
        m->after[i] = espi_max(m->after[i + 1], m->at_s[m->order[i]]);
    return latest_s;
}

/* ---- moves ---- */

static double power_of(const struct mover *m, double fill_s)
{
    double x = fill_s / m->scale_s;
    x *= x;
    x *= x;
    return x * x;
}

/* The mean of all trees, had the one that is looked at this fill. */
static double mean_fill_s(const struct mover *m, double fill_s)
{
    double sum = m->other_powers + power_of(m, fill_s);
    return m->scale_s * sqrt(sqrt(sqrt(espi_max(sum, 0) / m->task->k)));
}

/* The tree's fill without a host and what hangs on it. */
static double fill_without(const struct mover *m, int host)
{
    int first = m->place[host], last = first + m->size[host];
    return espi_max(m->before_s[first], m->after[last]);
}

static int hangs_on(const struct mover *m, int host, int on)
{
    int i = m->place[host] - m->place[on];
    return i >= 0 && i < m->size[on];
}

/* A host of the tree that is looked at, and what it costs to have it hang somewhere. */
struct moved {
    int host;
    double others_s; /* the fill without it */
    double least_s;  /* no way to it costs less than this and what it adds to loads */
};

static double cost_of(const struct mover *m, const struct moved *x, int arc, double rise)
{
    double at_s = m->at_s[m->v->g.tail[arc]] + hop_s(m, arc);
    double below_s = m->below_s[x->host] + at_s - m->at_s[x->host];
    return rise + mean_fill_s(m, espi_max(x->others_s, below_s));
}

/* The parent that is best. Most are too dear by what they add to loads alone. */
static int find_parent(struct mover *m, const struct moved *x, int old)
{
    const struct espi_digraph *g = &m->v->g;
    int best = old;
    double least_s = cost_of(m, x, old, load_rise(m, old)) * (1 - 1e-9); /* rounding */
    for (int i = g->in.start[x->host]; i < g->in.start[x->host + 1]; i++) {
        int arc = g->in.item[i];
        if (arc == old || hangs_on(m, g->tail[arc], x->host))
            continue;
        double rise = load_rise(m, arc);
        m->left--;
        if (!(rise + x->least_s < least_s))
            continue;
        double s = cost_of(m, x, arc, rise);
        if (s < least_s) {
            least_s = s;
            best = arc;
        }
    }
    return best;
}

/* Gives a host of tree t the parent that is best; 1: another one. */
static int move_host(struct mover *m, int t, int host)
{
    struct moved x = {.host = host, .others_s = fill_without(m, host)};
    int old = m->parent[host];
    m->other_powers = m->powers - power_of(m, m->fill_s[t]);
    x.least_s = mean_fill_s(m, x.others_s);
    add_arc(m, old, -1);
    int best = find_parent(m, &x, old);
    add_arc(m, best, 1);
    m->parent[host] = best;
    return best != old;
}

static int sweep_tree(struct mover *m, int t, int *parent)
{
    int moved = 0;
    double before_s = look_at_tree(m, parent);
    m->fill_s[t] = before_s;
    for (int h = 0; h < m->n && m->left > 0; h++) {
        if (parent[h] < 0 || !move_host(m, t, h))
            continue;
        double fill_s = look_at_tree(m, parent);
        m->powers += power_of(m, fill_s) - power_of(m, m->fill_s[t]);
        m->fill_s[t] = fill_s;
        moved = 1;
    }
    return moved;
}

/* ---- the whole ---- */

static int mover_init(struct mover *m, struct espi_arena *a)
{
    int n_resources = m->v->links.n;
    m->load = ESPI_ARENA_ZNEW(a, struct weighed, n_resources);
    m->before = ESPI_ARENA_NEW(a, struct weighed, n_resources);
    m->used = ESPI_ARENA_ZNEW(a, int, m->v->g.m);
    m->fill_s = ESPI_ARENA_ZNEW(a, double, m->task->k);
    m->at_s = ESPI_ARENA_ZNEW(a, double, m->n);
    m->below_s = ESPI_ARENA_NEW(a, double, m->n);
    m->first = ESPI_ARENA_NEW(a, int, m->n);
    m->next = ESPI_ARENA_NEW(a, int, m->n);
    m->order = ESPI_ARENA_NEW(a, int, m->n);
    m->place = ESPI_ARENA_ZNEW(a, int, m->n);
    m->size = ESPI_ARENA_ZNEW(a, int, m->n);
    m->before_s = ESPI_ARENA_NEW(a, double, m->n + 1);
    m->after = ESPI_ARENA_NEW(a, double, m->n + 1);
    return !m->load || !m->before || !m->used || !m->fill_s || !m->at_s || !m->below_s ||
                   !m->first || !m->next || !m->order || !m->place || !m->size ||
                   !m->before_s || !m->after
               ? -1
               : 0;
}

static void load_trees(struct mover *m, int *const *tree)
{
    for (int r = 0; r < m->v->links.n; r++)
        m->load[r] = m->before[r] = (struct weighed){0, weight_of(m, 0)};
    for (int t = 0; t < m->task->k; t++) {
        for (int h = 0; h < m->n; h++)
            if (tree[t][h] >= 0)
                add_arc(m, tree[t][h], 1);
        double fill_s = look_at_tree(m, tree[t]);
        m->fill_s[t] = fill_s;
        m->scale_s = espi_max(m->scale_s, fill_s);
    }
    for (int t = 0; t < m->task->k; t++)
        m->powers += power_of(m, m->fill_s[t]);
}

int espi_move_hosts(const struct espi_move_task *task, int *const *tree,
                    struct espi_arena *arena, double *fill_s)
{
    struct mover m = {
        .task = task, .v = task->v, .n = task->v->g.n, .left = ESPI_MOVE_HOSTS_WORK};
    if (mover_init(&m, arena))
        return -1;
    load_trees(&m, tree);
    int moved = m.scale_s > 0;
    for (int i = 0; i < ESPI_MOVE_HOSTS_SWEEPS && moved && m.left > 0; i++) {
        moved = 0;
        for (int t = 0; t < task->k; t++)
            moved |= sweep_tree(&m, t, tree[t]);
    }
    *task->work += ESPI_MOVE_HOSTS_WORK - m.left + m.looks * m.n;
    *fill_s = 0;
    for (int t = 0; t < task->k; t++)
        *fill_s = espi_max(*fill_s, m.fill_s[t]);
    return 0;
}
