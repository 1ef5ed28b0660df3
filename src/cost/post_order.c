#include "cost/post_order.h"

#include <math.h>
#include <string.h>

#include "base/events.h"
#include "base/heap.h"
#include "cost/post_uses.h"
#include "graph/csr.h"
#include "platform/view.h"
#include "schedule/posts.h"

/* At equal times data arrive before resources are free. */
enum { ARRIVAL /* of a post */, FREE /* resource */ };

struct player {
    const struct esp_platform *p;
    struct espi_posts posts;
    struct espi_resources res;
    struct espi_post_uses uses;
    double part_bytes, now_s;
    struct espi_rows leads; /* post -> posts that wait for it */
    int *missing;           /* post -> how many it still waits for */
    int *heavy;     /* post -> of what it leads to, the resource with most to do; -1 */
    double *left_s; /* resource -> for how long posts will hold it that did not start */
    double *free_s; /* by resource */
    int *queue;     /* resource -> a post that waits until it is free, -1: none */
    int *behind;    /* post -> another that waits for the same resource */
    unsigned char *is_due; /* resource -> is there an event when it is free? */
    struct espi_heap able; /* posts that may start now, by minus what is left */
    struct espi_events events;
    int *turn, n_turns; /* post -> as which it has started */
    int out_of_memory;
};

/* ---- what is urgent ---- */

static int busiest_of(const struct player *x, int post, int best)
{
    for (int k = x->uses.start[post]; k < x->uses.start[post + 1]; k++)
        if (best < 0 || x->left_s[x->uses.resource[k]] > x->left_s[best])
            best = x->uses.resource[k];
    return best;
}

/* A post waits only for ones before it, so that backwards all is known that one leads
 * to. */
static void find_heavy(struct player *x)
{
    for (int i = x->posts.n - 1; i >= 0; i--) {
        x->heavy[i] = -1;
        for (int k = x->leads.start[i]; k < x->leads.start[i + 1]; k++) {
            int other = x->leads.item[k], most = busiest_of(x, other, x->heavy[other]);
            if (most >= 0 &&
                (x->heavy[i] < 0 || x->left_s[most] > x->left_s[x->heavy[i]]))
                x->heavy[i] = most;
        }
    }
}

static double urgency_s(const struct player *x, int post)
{
    int most = busiest_of(x, post, x->heavy[post]);
    return most < 0 ? 0 : x->left_s[most]; /* nothing limits it */
}

/* ---- playing ---- */

static void push_wait(struct player *x, double at_s, int kind, int id)
{
    if (espi_events_push(&x->events, (struct espi_event){at_s, kind, id, 0}))
        x->out_of_memory = 1;
}

/* The resource that it has to wait for longest; -1: it may start. */
static int busy_resource(const struct player *x, int post)
{
    int last = -1;
    double last_s = x->now_s;
    for (int k = x->uses.start[post]; k < x->uses.start[post + 1]; k++)
        if (x->free_s[x->uses.resource[k]] > last_s) {
            last = x->uses.resource[k];
            last_s = x->free_s[last];
        }
    return last;
}

static void wait_for_resource(struct player *x, int post, int resource)
{
    x->behind[post] = x->queue[resource];
    x->queue[resource] = post;
    if (!x->is_due[resource])
        push_wait(x, x->free_s[resource], FREE, resource);
    x->is_due[resource] = 1;
}

static void start_post(struct player *x, int post)
{
    const struct espi_post *own = &x->posts.post[post];
    struct espi_path_time time =
        espi_path_time(x->p, espi_post_bytes(&x->posts, post, x->part_bytes),
                       espi_post_hops(&x->posts, post), own->n_hops);
    for (int k = x->uses.start[post]; k < x->uses.start[post + 1]; k++) {
        int resource = x->uses.resource[k];
        x->free_s[resource] = x->now_s + x->uses.time_s[k];
        x->left_s[resource] -= x->uses.time_s[k];
    }
    x->turn[post] = x->n_turns++;
    push_wait(x, x->now_s + time.lag_s, ARRIVAL, post);
}

/* The most urgent first. What others that start take away makes none more urgent: who
 * comes up with less than was thought goes down again. */
static void start_posts(struct player *x)
{
    while (x->able.size > 0) {
        int post = espi_heap_top(&x->able);
        double left_s = urgency_s(x, post);
        if (-x->able.key[post] > left_s) {
            espi_heap_set(&x->able, post, -left_s);
            continue;
        }
        espi_heap_remove(&x->able, post);
        int resource = busy_resource(x, post);
        if (resource < 0)
            start_post(x, post);
        else
            wait_for_resource(x, post, resource);
    }
}

static void let_start(struct player *x, int post)
{
    espi_heap_set(&x->able, post, -urgency_s(x, post));
}

static void end_wait(struct player *x, const struct espi_event *e)
{
    if (e->kind == ARRIVAL) {
        for (int k = x->leads.start[e->id]; k < x->leads.start[e->id + 1]; k++)
            if (--x->missing[x->leads.item[k]] == 0)
                let_start(x, x->leads.item[k]);
        return;
    }
    x->is_due[e->id] = 0;
    for (int post = x->queue[e->id]; post >= 0; post = x->behind[post])
        let_start(x, post);
    x->queue[e->id] = -1;
}

static void play(struct player *x)
{
    for (int i = 0; i < x->posts.n; i++)
        if (x->missing[i] == 0)
            let_start(x, i);
    start_posts(x);
    while (x->events.size > 0 && !x->out_of_memory) {
        x->now_s = x->events.item[0].at_s;
        while (x->events.size > 0 && x->events.item[0].at_s <= x->now_s) {
            struct espi_event e = espi_events_pop(&x->events);
            end_wait(x, &e);
        }
        start_posts(x);
    }
}

/* ---- set-up ---- */

static int find_leads(struct player *x, struct espi_arena *a)
{
    int n = x->posts.n, all = x->posts.need_start[n];
    int *waits = ESPI_ARENA_NEW(a, int, all);
    if (!waits)
        return -1;
    for (int i = 0; i < n; i++) {
        x->missing[i] = x->posts.need_start[i + 1] - x->posts.need_start[i];
        for (int k = x->posts.need_start[i]; k < x->posts.need_start[i + 1]; k++)
            waits[k] = i;
    }
    if (espi_rows_build(&x->leads, n, all, x->posts.needs, a))
        return -1;
    for (int k = 0; k < all; k++)
        x->leads.item[k] = waits[x->leads.item[k]];
    return 0;
}

static int player_init(struct player *x, const struct esp_plan *plan,
                       struct espi_arena *a)
{
    if (espi_posts_init(&x->posts, x->p, plan, a) ||
        espi_resources_init(&x->res, x->p, x->part_bytes, a) ||
        espi_post_uses_init(&x->uses, x->p, &x->posts, &x->res, x->part_bytes, a))
        return -1;
    int n = x->posts.n;
    x->missing = ESPI_ARENA_NEW(a, int, n);
    x->heavy = ESPI_ARENA_NEW(a, int, n);
    x->behind = ESPI_ARENA_NEW(a, int, n);
    x->turn = ESPI_ARENA_NEW(a, int, n);
    x->left_s = ESPI_ARENA_ZNEW(a, double, x->res.n);
    x->free_s = ESPI_ARENA_ZNEW(a, double, x->res.n);
    x->queue = ESPI_ARENA_NEW(a, int, x->res.n);
    x->is_due = ESPI_ARENA_ZNEW(a, unsigned char, x->res.n);
    if (!x->missing || !x->heavy || !x->behind || !x->turn || !x->left_s || !x->free_s ||
        !x->queue || !x->is_due || find_leads(x, a) || espi_heap_init(&x->able, a, n))
        return -1;
    memset(x->queue, 0xff, (size_t)x->res.n * sizeof *x->queue);
    for (int k = 0; k < x->uses.start[n]; k++)
        x->left_s[x->uses.resource[k]] += x->uses.time_s[k];
    find_heavy(x);
    return 0;
}

/* A message has the turn of its first stretch, in which its data are from the start or
 * have come before. */
static void set_steps(const struct player *x, struct esp_plan *plan)
{
    const struct espi_messages *m = &x->posts.messages;
    for (int i = 0; i < x->posts.n; i++) {
        int message = x->posts.post[i].message;
        for (int k = m->start[message];
             x->posts.post[i].leg == 0 && k < m->start[message + 1]; k++)
            plan->trees[m->part[k].tree].steps[m->part[k].edge] = x->turn[i];
    }
}

/* Where nothing but the network limits what hosts do at once, all that waits for nothing
 * begins at once. */
static int makes_a_difference(const struct player *x)
{
    return x->p->model != ESP_MODEL_CAPACITY || x->posts.need_start[x->posts.n] > 0;
}

esp_status espi_plan_order_messages(struct esp_plan *plan, const struct esp_platform *p,
                                    double size_bytes, struct espi_arena *arena)
{
    struct player x = {.p = p, .part_bytes = size_bytes / plan->n_trees};
    struct espi_arena_mark mark = espi_arena_mark(arena);
    if (p->model == ESP_MODEL_HNOW)
        return ESP_OK;
    if (player_init(&x, plan, arena))
        return ESP_ENOMEM;
    if (makes_a_difference(&x)) {
        play(&x);
        espi_free(x.events.item);
        if (!x.out_of_memory)
            set_steps(&x, plan);
    }
    espi_arena_release(arena, mark);
    return x.out_of_memory ? ESP_ENOMEM : ESP_OK;
}
