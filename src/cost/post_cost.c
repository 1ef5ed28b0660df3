#include "cost/post_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/heap.h"
#include "cost/post_fluid.h"
#include "cost/post_uses.h"
#include "schedule/posts.h"

/* A host whose waiting ends: for the data that a message brings, or for a resource. */
struct due {
    int node, waits, about;
    double wish_s;
};

struct timing {
    const struct esp_platform *p;
    struct espi_posts posts;
    struct espi_resources res;
    struct espi_post_uses uses;
    double part_bytes;
    struct espi_rows sends; /* node -> its posts, in order */
    int *at;                /* node -> how many of them have started */
    double *done_s;         /* post -> when its receiver has it; infinite: not known */
    double *free_s, *load;  /* resources */
    struct espi_heap next;  /* node -> when its waiting may end */
    int *waits;             /* node -> for what */
    double *wish_s;         /* node -> since when it wants to send what comes next */
    struct due *due;        /* nodes whose waiting ends now */
    /* hnow */
    double *cpu_s;   /* node: its processor is free */
    double *hold_s;  /* node: its interface is free */
    int *inbox;      /* node -> the first post in its buffer, -1 */
    int *behind;     /* post -> the next one */
    double *there_s; /* post -> when it is in the buffer */
};

static double bytes_of(const struct timing *t, int post)
{
    return espi_post_bytes(&t->posts, post, t->part_bytes);
}

static int timing_init(struct timing *t, const struct esp_plan *plan,
                       struct espi_arena *a)
{
    int n = t->p->n_nodes;
    if (espi_posts_init(&t->posts, t->p, plan, a) ||
        espi_resources_init(&t->res, t->p, t->part_bytes, a) ||
        espi_post_uses_init(&t->uses, t->p, &t->posts, &t->res, t->part_bytes, a))
        return -1;
    int posts = t->posts.n;
    int *from = ESPI_ARENA_NEW(a, int, posts);
    t->at = ESPI_ARENA_ZNEW(a, int, n);
    t->done_s = ESPI_ARENA_NEW(a, double, posts);
    t->there_s = ESPI_ARENA_NEW(a, double, posts);
    t->behind = ESPI_ARENA_NEW(a, int, posts);
    t->inbox = ESPI_ARENA_NEW(a, int, n);
    t->waits = ESPI_ARENA_NEW(a, int, n);
    t->wish_s = ESPI_ARENA_NEW(a, double, n);
    t->due = ESPI_ARENA_NEW(a, struct due, n);
    t->cpu_s = ESPI_ARENA_ZNEW(a, double, n);
    t->hold_s = ESPI_ARENA_ZNEW(a, double, n);
    t->free_s = ESPI_ARENA_ZNEW(a, double, t->res.n);
    t->load = ESPI_ARENA_ZNEW(a, double, t->res.n);
    if (!from || !t->at || !t->done_s || !t->there_s || !t->behind || !t->inbox ||
        !t->waits || !t->wish_s || !t->due || !t->cpu_s || !t->hold_s || !t->free_s ||
        !t->load || espi_heap_init(&t->next, a, n))
        return -1;
    for (int i = 0; i < posts; i++) {
        from[i] = t->posts.post[i].from;
        t->done_s[i] = INFINITY;
    }
    memset(t->inbox, 0xff, (size_t)n * sizeof *t->inbox);
    return espi_rows_build(&t->sends, n, posts, from, a);
}

/* ---- what all models share ---- */

/* The node's next post, -1: none. */
static int next_post(const struct timing *t, int node)
{
    int k = t->sends.start[node] + t->at[node];
    return k < t->sends.start[node + 1] ? t->sends.item[k] : -1;
}

/* When its sender has what it sends; infinite: not known yet. */
static double data_s(const struct timing *t, int post)
{
    double s = 0;
    for (int k = t->posts.need_start[post]; k < t->posts.need_start[post + 1]; k++)
        s = fmax(s, t->done_s[t->posts.needs[k]]);
    return s;
}

static void set_next(struct timing *t, int node, double at_s)
{
    if (isfinite(at_s))
        espi_heap_set(&t->next, node, at_s);
    else
        espi_heap_remove(&t->next, node);
}

/* ---- resources held side by side ---- */

/* A host waits for data, which are under way or not even that; or it stands in the queue
 * of a resource, from 0 on. */
enum { AT_END = -3, DATA_UNKNOWN = -2, DATA_UNDER_WAY = -1 };

/* Lets the host wait for the data of its next post. */
static void wait_for_data(struct timing *t, int node)
{
    int post = next_post(t, node);
    double at_s = post < 0 ? INFINITY : data_s(t, post);
    t->waits[node] = post < 0 ? AT_END : isfinite(at_s) ? DATA_UNDER_WAY : DATA_UNKNOWN;
    t->wish_s[node] = at_s;
    set_next(t, node, at_s);
}

static void start_post(struct timing *t, int node, int post, double at_s)
{
    const struct espi_post *x = &t->posts.post[post];
    for (int k = t->uses.start[post]; k < t->uses.start[post + 1]; k++) {
        t->free_s[t->uses.resource[k]] = at_s + t->uses.time_s[k];
        t->load[t->uses.resource[k]] += t->uses.time_s[k];
    }
    struct espi_path_time time = espi_path_time(
        t->p, bytes_of(t, post), espi_post_hops(&t->posts, post), x->n_hops);
    t->done_s[post] = at_s + time.lag_s;
    t->at[node]++;
    if (t->waits[x->to] == DATA_UNKNOWN)
        wait_for_data(t, x->to);
}

/* The resource of the post that is free last, if it is not free now; or -1. */
static int busy_resource(const struct timing *t, int post, double at_s)
{
    int last = -1;
    for (int k = t->uses.start[post]; k < t->uses.start[post + 1]; k++)
        if (t->free_s[t->uses.resource[k]] > (last < 0 ? at_s : t->free_s[last]))
            last = t->uses.resource[k];
    return last;
}

/* Starts what the host can start now, and lets it wait for what comes next. */
static void run_host(struct timing *t, int node, double at_s)
{
    for (;;) {
        int post = next_post(t, node);
        if (post < 0 || data_s(t, post) > at_s) {
            wait_for_data(t, node);
            return;
        }
        int busy = busy_resource(t, post, at_s);
        if (busy >= 0) {
            t->waits[node] = busy;
            set_next(t, node, t->free_s[busy]);
            return;
        }
        start_post(t, node, post, at_s);
        t->wish_s[node] = at_s;
    }
}

/* The message by which the data of the host's next post are complete; -1: it has them
 * from the start. */
static int last_to_come(const struct timing *t, int node)
{
    int post = next_post(t, node), last = -1;
    double at_s = data_s(t, post);
    for (int k = t->posts.need_start[post]; k < t->posts.need_start[post + 1]; k++)
        if (t->done_s[t->posts.needs[k]] == at_s && t->posts.needs[k] > last)
            last = t->posts.needs[k];
    return last;
}

/* At one time data arrive first, in the order of the messages; then resources that are
 * free go to who has stood there longest. */
static int by_turn(const void *a, const void *b)
{
    const struct due *x = a, *y = b;
    if ((x->waits < 0) != (y->waits < 0))
        return x->waits < 0 ? -1 : 1;
    if (x->about != y->about)
        return x->about < y->about ? -1 : 1;
    if (x->wish_s != y->wish_s)
        return x->wish_s < y->wish_s ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* All whose waiting ends now; returns how many. */
static int list_due(struct timing *t, double at_s)
{
    int n = 0;
    while (t->next.size > 0 && t->next.key[espi_heap_top(&t->next)] <= at_s) {
        int node = espi_heap_pop(&t->next), waits = t->waits[node];
        t->due[n++] = (struct due){
            .node = node,
            .waits = waits,
            .about = waits < 0 ? last_to_come(t, node) : waits,
            .wish_s = t->wish_s[node],
        };
    }
    qsort(t->due, (size_t)n, sizeof *t->due, by_turn);
    return n;
}

static void run_exclusive(struct timing *t)
{
    for (int v = 0; v < t->p->n_nodes; v++)
        wait_for_data(t, v);
    while (t->next.size > 0) {
        double at_s = t->next.key[espi_heap_top(&t->next)];
        int n = list_due(t, at_s);
        for (int i = 0; i < n; i++) {
            const struct due *x = &t->due[i];
            if (x->waits >= 0 && t->free_s[x->waits] > at_s) /* others went first */
                set_next(t, x->node, t->free_s[x->waits]);
            else
                run_host(t, x->node, at_s);
        }
    }
}

/* ---- processors ---- */

static double can_send_s(const struct timing *t, int node)
{
    int post = next_post(t, node);
    double s = post < 0 ? INFINITY : data_s(t, post);
    return fmax(s, fmax(t->cpu_s[node], t->hold_s[node]));
}

static double can_receive_s(const struct timing *t, int node)
{
    int post = t->inbox[node];
    return post < 0 ? INFINITY : fmax(t->there_s[post], t->cpu_s[node]);
}

static void put_in_buffer(struct timing *t, int node, int post)
{
    int *link = &t->inbox[node];
    while (*link >= 0 && t->there_s[*link] <= t->there_s[post])
        link = &t->behind[*link];
    t->behind[post] = *link;
    *link = post;
}

/* The post takes its cables, as soon as all of them are free; gives when. */
static double take_cables_s(struct timing *t, int post, double at_s)
{
    const struct espi_post_uses *u = &t->uses;
    for (int k = u->start[post]; k < u->start[post + 1]; k++)
        if (u->resource[k] >= t->res.first_cable)
            at_s = fmax(at_s, t->free_s[u->resource[k]]);
    for (int k = u->start[post]; k < u->start[post + 1]; k++)
        if (u->resource[k] >= t->res.first_cable)
            t->free_s[u->resource[k]] = at_s + u->time_s[k];
    return at_s;
}

static void send_post(struct timing *t, int node, double at_s)
{
    int post = next_post(t, node), to = t->posts.post[post].to;
    double bytes = bytes_of(t, post);
    struct espi_path_time time = espi_path_time(
        t->p, bytes, espi_post_hops(&t->posts, post), t->posts.post[post].n_hops);
    for (int k = t->uses.start[post]; k < t->uses.start[post + 1]; k++)
        t->load[t->uses.resource[k]] += t->uses.time_s[k];
    double recv_s = espi_recv_overhead_s(t->p, to, bytes);
    double free_s = take_cables_s(t, post, at_s);
    t->there_s[post] = fmax(free_s + time.lag_s - recv_s, at_s);
    t->cpu_s[node] = at_s + espi_send_overhead_s(t->p, node, bytes);
    t->hold_s[node] = at_s + time.hold_s;
    t->at[node]++;
    put_in_buffer(t, to, post);
    set_next(t, to, fmin(can_send_s(t, to), can_receive_s(t, to)));
}

static void receive(struct timing *t, int node, double at_s)
{
    int post = t->inbox[node];
    t->inbox[node] = t->behind[post];
    t->cpu_s[node] = at_s + espi_recv_overhead_s(t->p, node, bytes_of(t, post));
    t->done_s[post] = t->cpu_s[node];
}

static void run_processors(struct timing *t)
{
    for (int v = 0; v < t->p->n_nodes; v++)
        set_next(t, v, can_send_s(t, v));
    while (t->next.size > 0) {
        int node = espi_heap_top(&t->next);
        double at_s = t->next.key[node];
        if (can_send_s(t, node) <= at_s)
            send_post(t, node, at_s);
        else
            receive(t, node, at_s);
        set_next(t, node, fmin(can_send_s(t, node), can_receive_s(t, node)));
    }
}

/* ---- what shares the network ---- */

static int run_shared(struct timing *t, struct espi_arena *arena)
{
    struct espi_post_fluid m = {.p = t->p,
                                .posts = &t->posts,
                                .sends = &t->sends,
                                .n_resources = t->res.n,
                                .use_start = t->uses.start,
                                .use_resource = t->uses.resource,
                                .use_s = t->uses.time_s};
    for (int k = 0; k < t->uses.start[t->posts.n]; k++)
        t->load[t->uses.resource[k]] += t->uses.time_s[k];
    return espi_post_fluid_run(&m, arena, t->done_s);
}

esp_status espi_post_cost(const struct esp_platform *p, const struct esp_plan *plan,
                          double size_bytes, struct espi_arena *arena,
                          struct espi_cost *out, struct esp_err *err)
{
    struct timing t = {.p = p, .part_bytes = size_bytes / plan->n_trees};
    struct espi_arena_mark mark = espi_arena_mark(arena);
    if (timing_init(&t, plan, arena) ||
        (p->model == ESP_MODEL_CAPACITY && run_shared(&t, arena)))
        return espi_err_nomem(err);
    if (p->model == ESP_MODEL_HNOW)
        run_processors(&t);
    else if (p->model != ESP_MODEL_CAPACITY)
        run_exclusive(&t);
    struct espi_cost cost = {0};
    for (int i = 0; i < t.posts.n; i++)
        cost.makespan_s = fmax(cost.makespan_s, t.done_s[i]);
    for (int r = 0; r < t.res.n; r++)
        if (t.load[r] > cost.period_s) {
            /* of those that are equally busy but for rounding, the first */
            if (t.load[r] > cost.period_s * (1 + 1e-9))
                cost.bottleneck = r;
            cost.period_s = t.load[r];
        }
    cost.fill_s = cost.makespan_s;
    cost.throughput_Bps = cost.period_s > 0 ? size_bytes / cost.period_s : 0;
    espi_arena_release(arena, mark);
    *out = cost;
    return ESP_OK;
}
