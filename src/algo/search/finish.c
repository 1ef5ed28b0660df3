/* Local search for the tree along which a message of some slices arrives earliest.
 *
 * Host v has the last of N slices at first(v) + (N - 1) * pace(v) (cost.h): depth and
 * order of sends count, as well as the load of the ports on the way. Given the tree, the
 * paces are fixed and the best order of sends follows from Jackson's rule with tails, as
 * for the fill alone: what remains to be done behind a child now ends with the tail
 * (N - 1) * pace of the last host. Nor is the message through before the busiest link or
 * cable is, however little of its time falls on the way to one host.
 *
 * The search hangs elsewhere one of the subtrees that make the latest host late: those on
 * its way, those served before them, and those that load the resource that sets its pace;
 * or those that load the busiest link, if that is the last to be through.
 * Late acceptance hill climbing (Burke and Bykov 2008): a tree is taken when it is no
 * worse than the one before or than the one some steps ago.
 *
 * Model: any. Guarantee: never worse than the tree it starts from, with its sends in the
 * best order. Complexity: O(n) a step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algo/search/search.h"
#include "algo/search/tree_state.h"
#include "algo/tuning.h"
#include "base/rng.h"

struct kid {
    double rest_s; /* what remains after its parent is free again */
    int host;
};

struct climb {
    const struct espi_search *search;
    struct espi_tree_state s;
    struct espi_rng rng;
    double count, limit_s;
    int *order;          /* hosts, parents first */
    int *start, *n_kids; /* host -> its kids in `kids`, in the order of sends */
    struct kid *kids;
    double *pace_s, *rest_s;   /* host: what remains once it has the first slice */
    int busiest;               /* link or cable of the tree; -1: none */
    int *critical, n_critical; /* heads of arcs whose move may help */
    int *best;
    double best_s, now_s;
    double history_s[ESPI_SEARCH_HISTORY];
    double work;
    long step, last_gain;
    int restarts; /* since the best was found */
};

/* ---- evaluation ---- */

static double arc_load_s(const struct climb *c, int arc)
{
    const struct espi_view *v = c->s.v;
    double most = 0;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
        most = fmax(most, c->s.load[v->use_resource[k]]);
    return most;
}

/* Of links and cables the busiest is remembered. */
static void note_links(struct climb *c, int arc)
{
    const struct espi_view *v = c->s.v;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++) {
        int r = v->use_resource[k];
        if (r >= v->links.first_link &&
            (c->busiest < 0 || c->s.load[r] > c->s.load[c->busiest]))
            c->busiest = r;
    }
}

/* Hosts from the root down, with their paces. */
static void go_down(struct climb *c)
{
    const struct espi_tree_state *s = &c->s;
    int size = 0;
    c->busiest = -1;
    c->order[size++] = s->root;
    c->pace_s[s->root] = 0;
    for (int i = 0; i < size; i++) {
        int h = c->order[i];
        c->start[h] = size;
        for (int kid = s->first_kid[h]; kid >= 0; kid = s->next_kid[kid]) {
            c->pace_s[kid] = fmax(c->pace_s[h], arc_load_s(c, s->parent_arc[kid]));
            note_links(c, s->parent_arc[kid]);
            c->order[size++] = kid;
        }
        c->n_kids[h] = size - c->start[h];
    }
}

static int is_later(const struct kid *a, const struct kid *b)
{
    return a->rest_s < b->rest_s || (a->rest_s == b->rest_s && a->host > b->host);
}

static int by_rest(const void *a, const void *b)
{
    return is_later(a, b) ? 1 : -1;
}

static void sort_kids(struct kid *kids, int n)
{
    if (n > 24) {
        qsort(kids, (size_t)n, sizeof *kids, by_rest);
        return;
    }
    for (int i = 1; i < n; i++) {
        struct kid kid = kids[i];
        int k = i;
        for (; k > 0 && is_later(&kids[k - 1], &kid); k--)
            kids[k] = kids[k - 1];
        kids[k] = kid;
    }
}

/* Puts the kids of a host into the best order; gives what remains after the host has got
 * the first slice. */
static double order_kids(struct climb *c, int host)
{
    const struct espi_view *v = c->s.v;
    const int *parent_arc = c->s.parent_arc;
    int n = c->n_kids[host];
    struct kid *kids = c->kids + c->start[host];
    for (int i = 0; i < n; i++) {
        int kid = c->order[c->start[host] + i], e = parent_arc[kid];
        kids[i] = (struct kid){v->lag_s[e] - v->hold_s[e] + c->rest_s[kid], kid};
    }
    sort_kids(kids, n);
    double busy_s = 0, rest_s = (c->count - 1) * c->pace_s[host];
    for (int i = 0; i < n; i++) {
        busy_s += v->hold_s[parent_arc[kids[i].host]];
        rest_s = fmax(rest_s, busy_s + kids[i].rest_s);
    }
    return rest_s;
}

/* For how long the message keeps the busiest link busy. */
static double links_s(const struct climb *c)
{
    return c->busiest < 0 ? 0 : c->count * c->s.load[c->busiest];
}

static double evaluate(struct climb *c)
{
    int n = c->s.v->g.n;
    go_down(c);
    for (int i = n - 1; i >= 0; i--) {
        double rest_s = order_kids(c, c->order[i]);
        c->rest_s[c->order[i]] = rest_s;
    }
    c->work += 2 * n;
    return fmax(c->rest_s[c->s.root], links_s(c));
}

/* ---- what makes the latest host late ---- */

/* The place among the kids of the one that the rest of the host comes from, or -1 when
 * the host itself is the latest. */
static int latest_kid(const struct climb *c, int host)
{
    const struct kid *kids = c->kids + c->start[host];
    double busy_s = 0;
    for (int i = 0; i < c->n_kids[host]; i++) {
        busy_s += c->s.v->hold_s[c->s.parent_arc[kids[i].host]];
        if (busy_s + kids[i].rest_s >= c->rest_s[host])
            return i;
    }
    return -1;
}

static void add_users(struct climb *c, int resource, int most)
{
    const struct espi_tree_state *s = &c->s;
    int use = s->first_use[resource];
    for (; use >= 0 && c->n_critical < most; use = s->next_use[use])
        c->critical[c->n_critical++] = s->v->g.head[s->use_arc[use]];
}

/* All that load the resources that set the pace, on the way to the host. */
static void find_loads(struct climb *c, int host, int most)
{
    const struct espi_tree_state *s = &c->s;
    const struct espi_view *v = s->v;
    double pace_s = c->pace_s[host] * (1 - 1e-12);
    for (int h = host; h != s->root; h = v->g.tail[s->parent_arc[h]]) {
        int e = s->parent_arc[h];
        for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++) {
            if (s->load[v->use_resource[k]] >= pace_s)
                add_users(c, v->use_resource[k], most);
        }
    }
}

static void find_critical(struct climb *c)
{
    int host = c->s.root, at, n = c->s.v->g.n;
    c->n_critical = 0;
    if (links_s(c) > c->rest_s[host]) {
        add_users(c, c->busiest, 2 * n);
        return;
    }
    while ((at = latest_kid(c, host)) >= 0) {
        const struct kid *kids = c->kids + c->start[host];
        for (int i = 0; i <= at; i++)
            c->critical[c->n_critical++] = kids[i].host;
        host = kids[at].host;
    }
    if (c->count > 1)
        find_loads(c, host, 2 * n);
}

/* ---- moving ---- */

/* Mostly one of those that make the latest host late; now and then any. */
static int draw_host(struct climb *c)
{
    if (espi_rng_below(&c->rng, 8) == 0)
        return (int)espi_rng_below(&c->rng, (uint32_t)c->s.v->g.n);
    return c->critical[espi_rng_below(&c->rng, (uint32_t)c->n_critical)];
}

static int draw_kid(struct climb *c, int x)
{
    int drawn = x, seen = 0;
    for (int kid = c->s.first_kid[x]; kid >= 0; kid = c->s.next_kid[kid])
        if (espi_rng_below(&c->rng, (uint32_t)++seen) == 0)
            drawn = kid;
    return drawn;
}

/* An arc into x, or into one of its kids, from outside the subtree of x, drawn at random;
 * -1: the draw was none. */
static int draw_arc(struct climb *c, int x)
{
    const struct espi_tree_state *s = &c->s;
    const struct espi_digraph *g = &s->v->g;
    int z = espi_rng_below(&c->rng, 4) == 0 ? draw_kid(c, x) : x;
    if (z != x && s->reverse[s->parent_arc[z]] < 0)
        return -1;
    int first = g->in.start[z], count = g->in.start[z + 1] - first;
    int in = g->in.item[first + (int)espi_rng_below(&c->rng, (uint32_t)count)];
    return in == s->parent_arc[z] || espi_tree_state_marked(s, g->tail[in]) ? -1 : in;
}

static int keeps_limit(const struct climb *c, int x, int in)
{
    int up = c->s.v->g.head[in] == x ? in : c->s.parent_arc[x];
    return isinf(c->limit_s) ||
           (arc_load_s(c, in) <= c->limit_s && arc_load_s(c, up) <= c->limit_s);
}

static void keep_best(struct climb *c)
{
    c->best_s = c->now_s;
    c->last_gain = c->step;
    c->restarts = 0;
    memcpy(c->best, c->s.parent_arc, (size_t)c->s.v->g.n * sizeof *c->best);
}

/* One try; whether the tree has changed. */
static int try_move(struct climb *c)
{
    struct espi_tree_state *s = &c->s;
    int x = draw_host(c);
    if (x == s->root)
        return 0;
    c->work += 1 + 0.5 * espi_tree_state_mark(s, x);
    int old = s->parent_arc[x], in = draw_arc(c, x);
    if (in < 0)
        return 0;
    espi_tree_state_rehang(s, x, in);
    double *then_s = &c->history_s[c->step % ESPI_SEARCH_HISTORY];
    double after_s = keeps_limit(c, x, in) ? evaluate(c) : INFINITY;
    int taken = after_s <= c->now_s || after_s <= *then_s;
    if (taken)
        c->now_s = after_s;
    else
        espi_tree_state_rehang(s, s->v->g.head[in], old);
    *then_s = fmin(*then_s, c->now_s);
    return taken;
}

/* Back to the best tree; the history forgets how good it was, each time by more, so that
 * the search can leave it by another way. */
static void restart_from_best(struct climb *c)
{
    espi_tree_state_set(&c->s, c->best);
    c->now_s = evaluate(c);
    double spread = ESPI_SEARCH_SPREAD * (1 << c->restarts % ESPI_SEARCH_RESTARTS);
    for (int i = 0; i < ESPI_SEARCH_HISTORY; i++)
        c->history_s[i] = c->now_s * (1 + spread * espi_rng_uniform(&c->rng));
    c->last_gain = c->step;
    c->restarts++;
    find_critical(c);
}

static int climb_init(struct climb *c)
{
    const struct espi_search *search = c->search;
    struct espi_arena *a = search->arena;
    int n = search->v->g.n;
    c->order = ESPI_ARENA_NEW(a, int, n);
    c->start = ESPI_ARENA_NEW(a, int, n);
    c->n_kids = ESPI_ARENA_NEW(a, int, n);
    c->kids = ESPI_ARENA_NEW(a, struct kid, n);
    c->pace_s = ESPI_ARENA_NEW(a, double, n);
    c->rest_s = ESPI_ARENA_NEW(a, double, n);
    c->critical = ESPI_ARENA_NEW(a, int, 3 * (size_t)n);
    c->best = ESPI_ARENA_NEW(a, int, n);
    if (!c->order || !c->start || !c->n_kids || !c->kids || !c->pace_s || !c->rest_s ||
        !c->critical || !c->best ||
        espi_tree_state_init(&c->s, search->v, search->root, a))
        return -1;
    return 0;
}

/* From the given tree. */
static void climb_from(struct climb *c, const int *parent_arc)
{
    espi_rng_seed(&c->rng, c->search->seed);
    memcpy(c->best, parent_arc, (size_t)c->s.v->g.n * sizeof *c->best);
    restart_from_best(c);
    c->best_s = c->now_s;
}

static int is_over(const struct climb *c)
{
    const struct espi_search *search = c->search;
    return espi_search_is_over(search, c->work, c->step) || c->best_s <= search->goal_s ||
           (!(search->deadline_s > 0) && c->restarts > ESPI_SEARCH_RESTARTS);
}

int espi_search_finish(const struct espi_search *search, double count, double limit_s,
                       int *parent_arc)
{
    struct espi_arena_mark mark = espi_arena_mark(search->arena);
    struct climb c = {.search = search, .count = count, .limit_s = limit_s};
    if (climb_init(&c))
        return -1;
    climb_from(&c, parent_arc);
    int most_idle_steps = 200 + 20 * search->v->g.n; /* steps without gain */
    while (!is_over(&c)) {
        c.step++;
        if (try_move(&c)) {
            find_critical(&c);
            if (c.now_s < c.best_s * (1 - 1e-12))
                keep_best(&c);
        } else if (c.step - c.last_gain > most_idle_steps) {
            restart_from_best(&c);
        }
    }
    memcpy(parent_arc, c.best, (size_t)search->v->g.n * sizeof *parent_arc);
    espi_arena_release(search->arena, mark);
    return 0;
}

int espi_search_order(const struct espi_search *search, double count,
                      const int *parent_arc, int *arcs, double *finish_s)
{
    struct espi_arena_mark mark = espi_arena_mark(search->arena);
    struct climb c = {.search = search, .count = count, .limit_s = INFINITY};
    if (climb_init(&c))
        return -1;
    climb_from(&c, parent_arc);
    for (int i = 0, n = search->v->g.n, at = 0; i < n; i++) {
        const struct kid *kids = c.kids + c.start[c.order[i]];
        for (int k = 0; k < c.n_kids[c.order[i]]; k++)
            arcs[at++] = parent_arc[kids[k].host];
    }
    *finish_s = c.best_s;
    espi_arena_release(search->arena, mark);
    return 0;
}
