#include "cost/post_fluid.h"

#include <math.h>

#include "base/events.h"
#include "base/heap.h"
#include "graph/fair_rates.h"

/* A post under way. */
struct flow {
    double left; /* parts of the message, at since_s */
    double since_s, rate;
};

struct engine {
    const struct espi_post_fluid *m;
    double now_s;
    struct flow *flow;     /* by post */
    struct espi_heap ends; /* posts by the time at which they have left */
    struct espi_events under_way;
    struct espi_fair_rates rates; /* by post */
    int *at;                      /* node -> how many of its posts have started */
    int *awake, n_awake;          /* nodes that may have something to send */
    unsigned char *is_awake;
    int *begun, n_begun; /* posts that have no rate yet */
    double *done_s;      /* post -> when it has arrived; infinite: not yet */
    int out_of_memory;
};

static void wake_node(struct engine *g, int node)
{
    if (!g->is_awake[node])
        g->awake[g->n_awake++] = node;
    g->is_awake[node] = 1;
}

/* ---- rates ---- */

/* The rate of what is under way, in parts of the message a second. */
static void set_post_rate(struct engine *g, int post)
{
    struct flow *f = &g->flow[post];
    double rate = g->rates.rate[post];
    if (f->rate == rate && espi_heap_has(&g->ends, post))
        return;
    f->left -= f->rate * (g->now_s - f->since_s);
    f->since_s = g->now_s;
    f->rate = rate;
    espi_heap_set(&g->ends, post, g->now_s + fmax(f->left, 0) / rate);
}

static void set_post_rates(struct engine *g)
{
    espi_fair_rates_update(&g->rates);
    for (int i = 0; i < g->rates.n_updated; i++)
        if (g->rates.rate[g->rates.updated[i]] > 0)
            set_post_rate(g, g->rates.updated[i]);
    for (int i = 0; i < g->n_begun; i++)
        set_post_rate(g, g->begun[i]);
    g->n_begun = 0;
}

/* ---- what happens ---- */

static int has_all(const struct engine *g, int post)
{
    const struct espi_posts *x = g->m->posts;
    for (int k = x->need_start[post]; k < x->need_start[post + 1]; k++)
        if (!isfinite(g->done_s[x->needs[k]]))
            return 0;
    return 1;
}

static void begin_post(struct engine *g, int post)
{
    double most_s = 0;
    for (int k = g->m->use_start[post]; k < g->m->use_start[post + 1]; k++)
        most_s = fmax(most_s, g->m->use_s[k]);
    g->flow[post] =
        (struct flow){.left = espi_post_pieces(g->m->posts, post), .since_s = g->now_s};
    if (most_s > 0) {
        espi_fair_rates_set(&g->rates, post, 1);
        g->begun[g->n_begun++] = post;
    } else { /* nothing limits it */
        g->flow[post].rate = 1;
        espi_heap_set(&g->ends, post, g->now_s);
    }
}

/* In the order of the list, all whose data are there. */
static void begin_posts(struct engine *g, int node)
{
    const struct espi_rows *sends = g->m->sends;
    for (; sends->start[node] + g->at[node] < sends->start[node + 1]; g->at[node]++) {
        int post = sends->item[sends->start[node] + g->at[node]];
        if (!has_all(g, post))
            break;
        begin_post(g, post);
    }
}

static void end_post(struct engine *g, int post)
{
    const struct espi_posts *x = g->m->posts;
    double at_s = g->now_s;
    for (int h = 0; h < x->post[post].n_hops; h++)
        at_s += g->m->p->latency_s[espi_post_hops(x, post)[h]];
    espi_heap_remove(&g->ends, post);
    espi_fair_rates_set(&g->rates, post, 0);
    if (espi_events_push(&g->under_way, (struct espi_event){at_s, 0, post, post}))
        g->out_of_memory = 1;
}

static void land_post(struct engine *g)
{
    struct espi_event e = espi_events_pop(&g->under_way);
    g->done_s[e.id] = e.at_s;
    wake_node(g, g->m->posts->post[e.id].to);
}

/* Messages leave together that do so but for rounding. */
static int leaves_now(const struct engine *g)
{
    if (g->ends.size == 0)
        return 0;
    int post = espi_heap_top(&g->ends);
    return (g->ends.key[post] - g->now_s) * g->flow[post].rate <= 1e-9;
}

static int lands_now(const struct engine *g)
{
    return g->under_way.size > 0 && g->under_way.item[0].at_s <= g->now_s;
}

static void pass_moment(struct engine *g)
{
    while (leaves_now(g) || lands_now(g) || g->n_awake > 0) {
        while (leaves_now(g))
            end_post(g, espi_heap_top(&g->ends));
        while (lands_now(g))
            land_post(g);
        for (int i = 0; i < g->n_awake; i++) {
            g->is_awake[g->awake[i]] = 0;
            begin_posts(g, g->awake[i]);
        }
        g->n_awake = 0;
    }
    set_post_rates(g);
}

static double next_moment_s(const struct engine *g)
{
    double at_s = g->under_way.size > 0 ? g->under_way.item[0].at_s : INFINITY;
    return g->ends.size > 0 ? fmin(at_s, g->ends.key[espi_heap_top(&g->ends)]) : at_s;
}

static int engine_init(struct engine *g, struct espi_arena *a)
{
    const struct espi_post_fluid *m = g->m;
    int n = m->p->n_nodes, posts = m->posts->n;
    g->flow = ESPI_ARENA_ZNEW(a, struct flow, posts);
    g->begun = ESPI_ARENA_NEW(a, int, posts);
    g->at = ESPI_ARENA_ZNEW(a, int, n);
    g->awake = ESPI_ARENA_NEW(a, int, n);
    g->is_awake = ESPI_ARENA_ZNEW(a, unsigned char, n);
    if (!g->flow || !g->begun || !g->at || !g->awake || !g->is_awake ||
        espi_heap_init(&g->ends, a, posts) ||
        espi_fair_rates_init(&g->rates, posts, m->n_resources, m->use_start,
                             m->use_resource, a))
        return -1;
    for (int i = 0; i < posts; i++) {
        g->done_s[i] = INFINITY;
        for (int k = m->use_start[i]; k < m->use_start[i + 1]; k++)
            g->rates.part[k] = m->use_s[k] / espi_post_pieces(m->posts, i);
    }
    for (int v = 0; v < n; v++)
        wake_node(g, v);
    return 0;
}

int espi_post_fluid_run(const struct espi_post_fluid *m, struct espi_arena *arena,
                        double *done_s)
{
    struct engine g = {.m = m, .done_s = done_s};
    if (engine_init(&g, arena))
        return -1;
    for (double at_s = 0; isfinite(at_s) && !g.out_of_memory; at_s = next_moment_s(&g)) {
        g.now_s = at_s;
        pass_moment(&g);
    }
    espi_free(g.under_way.item);
    return g.out_of_memory ? -1 : 0;
}
