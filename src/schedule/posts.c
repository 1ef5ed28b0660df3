#include "schedule/posts.h"

#include <stdlib.h>
#include <string.h>

#include "plan/ops.h"

/* A message that brings a tree's data to a node, and the one before it. */
struct bringer {
    int message, next;
};

struct maker {
    struct espi_posts *x;
    const struct esp_platform *p;
    struct espi_arena *arena;
    int *leg_start; /* message -> its posts in `at` */
    int *at;        /* as they were cut -> place in the order */
    int *bringer;   /* tree * nodes + node -> the last, -1: none */
    struct bringer *bringers;
    int n_bringers;
    int *marked; /* post -> the post that is known to wait for it */
};

/* ---- cutting ---- */

/* Cuts the path of a message at its hosts; only counts without posts. */
static int cut(const struct maker *m, int message, struct espi_post *posts)
{
    const struct espi_posts *x = m->x;
    const struct esp_edge *e = espi_message_edge(&x->messages, x->plan, message);
    const int *hops = espi_message_hops(&x->messages, x->plan, message);
    int legs = 0;
    for (int first = 0, k = 1; k <= e->n_hops; k++) {
        if (k < e->n_hops && espi_is_switch(m->p, m->p->tail[hops[k]]))
            continue;
        if (posts)
            posts[legs] = (struct espi_post){.message = message,
                                             .leg = legs,
                                             .is_last = k == e->n_hops,
                                             .from = m->p->tail[hops[first]],
                                             .to = m->p->head[hops[k - 1]],
                                             .first_hop = first,
                                             .n_hops = k - first};
        legs++;
        first = k;
    }
    return legs;
}

static int by_turn(const void *a, const void *b, void *arg)
{
    const struct espi_posts *x = arg;
    const struct espi_post *p = a, *q = b;
    int s = espi_message_step(&x->messages, x->plan, p->message);
    int t = espi_message_step(&x->messages, x->plan, q->message);
    if (s != t)
        return s < t ? -1 : 1;
    if (p->leg != q->leg)
        return p->leg < q->leg ? -1 : 1;
    return p->message < q->message ? -1 : p->message > q->message;
}

static int cut_all(struct maker *m)
{
    struct espi_posts *x = m->x;
    int n = x->messages.n;
    m->leg_start = ESPI_ARENA_NEW(m->arena, int, (size_t)n + 1);
    if (!m->leg_start)
        return -1;
    m->leg_start[0] = 0;
    for (int i = 0; i < n; i++)
        m->leg_start[i + 1] = m->leg_start[i] + cut(m, i, NULL);
    x->n = m->leg_start[n];
    x->post = ESPI_ARENA_NEW(m->arena, struct espi_post, x->n);
    m->at = ESPI_ARENA_NEW(m->arena, int, x->n);
    if (!x->post || !m->at)
        return -1;
    for (int i = 0; i < n; i++)
        cut(m, i, x->post + m->leg_start[i]);
    if (x->n > n) /* else messages are in their order already */
        qsort_r(x->post, (size_t)x->n, sizeof *x->post, by_turn, x);
    for (int i = 0; i < x->n; i++)
        m->at[m->leg_start[x->post[i].message] + x->post[i].leg] = i;
    return 0;
}

/* ---- what waits for what ---- */

static int *cell(const struct maker *m, int tree, int node)
{
    return &m->bringer[(size_t)tree * (size_t)m->p->n_nodes + (size_t)node];
}

static void add_need(struct maker *m, int post, int needed, int *at)
{
    if (m->marked[needed] != post)
        m->x->needs[(*at)++] = needed;
    m->marked[needed] = post;
}

/* The stretch before, or all that brings the sender some of what it sends. */
static void add_needs(struct maker *m, int post, int *at)
{
    struct espi_posts *x = m->x;
    const struct espi_post *p = &x->post[post];
    if (p->leg) {
        add_need(m, post, m->at[m->leg_start[p->message] + p->leg - 1], at);
        return;
    }
    for (int k = x->messages.start[p->message]; k < x->messages.start[p->message + 1];
         k++)
        for (int b = *cell(m, x->messages.part[k].tree, p->from); b >= 0;
             b = m->bringers[b].next)
            add_need(m, post, m->at[m->leg_start[m->bringers[b].message + 1] - 1], at);
}

/* Who sends the data on waits for this message, and where data are combined, for those
 * before it, too. */
static void note_bringers(struct maker *m, int message, int to)
{
    const struct espi_posts *x = m->x;
    int combines = espi_op_combines(x->plan->op);
    for (int k = x->messages.start[message]; k < x->messages.start[message + 1]; k++) {
        int *last = cell(m, x->messages.part[k].tree, to);
        m->bringers[m->n_bringers] = (struct bringer){message, combines ? *last : -1};
        *last = m->n_bringers++;
    }
}

static int find_needs(struct maker *m)
{
    struct espi_posts *x = m->x;
    size_t parts = (size_t)x->messages.start[x->messages.n], n = (size_t)x->n;
    size_t cells = (size_t)x->plan->n_trees * (size_t)m->p->n_nodes;
    x->need_start = ESPI_ARENA_ZNEW(m->arena, int, n + 1);
    x->needs = ESPI_ARENA_NEW(m->arena, int, parts + n + 1);
    m->bringer = ESPI_ARENA_NEW(m->arena, int, cells);
    m->bringers = ESPI_ARENA_NEW(m->arena, struct bringer, parts + 1);
    m->marked = ESPI_ARENA_NEW(m->arena, int, n);
    if (!x->need_start || !x->needs || !m->bringer || !m->bringers || !m->marked)
        return -1;
    memset(m->bringer, 0xff, cells * sizeof *m->bringer);
    memset(m->marked, 0xff, n * sizeof *m->marked);
    int at = 0;
    for (int i = 0; i < x->n; i++) {
        add_needs(m, i, &at);
        x->need_start[i + 1] = at;
        if (x->post[i].is_last)
            note_bringers(m, x->post[i].message, x->post[i].to);
    }
    return 0;
}

int espi_posts_init(struct espi_posts *x, const struct esp_platform *p,
                    const struct esp_plan *plan, struct espi_arena *arena)
{
    struct maker m = {.x = x, .p = p, .arena = arena};
    *x = (struct espi_posts){.plan = plan};
    if (espi_messages_init(&x->messages, plan, arena))
        return -1;
    return cut_all(&m) || find_needs(&m) ? -1 : 0;
}
