#include "algo/synthesis/synthesis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algo/tuning.h"
#include "base/watch.h"
#include "base/events.h"
#include "base/portable_math.h"
#include "base/rng.h"

enum { ARRIVAL /* of a chunk, `about`, at a host */, FREE /* a resource */ };

/* An arc that could start now. */
struct ready {
    double urgency;  /* of its head: what it lacks, in time */
    int options;     /* chunks that it could carry */
    uint32_t chance; /* between equals */
    int arc;
};

/* By which a host may get a chunk: the arcs from those who have it or get it. */
struct prospect {
    double supply;    /* chunks a second */
    double soonest_s; /* arrival, no arc being busy */
    double nearest_s; /* the shortest lag */
};

struct synth {
    const struct espi_synthesis_task *task;
    const struct espi_view *v;
    int n, words;
    double now_s, same_s;
    double deadline_s;     /* what would arrive later is not begun yet */
    uint64_t *has, *wants; /* host -> bits of chunks; what is under way is in neither */
    int *wanted;           /* host -> how many it wants */
    int *holders;          /* chunk -> hosts that have it or get it */
    struct prospect *prospect; /* (host, chunk) */
    double *rate;              /* arc -> chunks a second, alone */
    double *rate_in;           /* host -> chunks a second by all its arcs */
    double *free_s;            /* resource */
    struct espi_rows users;    /* resource -> arcs */
    double *began_s;       /* resource -> start of its last send; NULL: none is shared */
    unsigned char *shared; /* resource: do several hosts send over it, unordered? */
    double *last_s;        /* host -> start of its last send */
    double *arrival_s; /* (host, chunk) -> when it is there; infinity: not known yet */
    int any_turn;      /* who is free may go out of turn */
    int *sooner,
        n_sooner; /* arcs that would bring sooner what the one in question does */
    int next_in;  /* of those to its head, the first not looked at yet */
    struct ready *ready;
    int *queue, n_queue; /* arcs that something has changed for */
    unsigned char *queued;
    struct espi_events events;
    struct espi_rng rng;
    struct espi_synthesis *out;
};

/* ---- setting up ---- */

/* The arcs of each resource. */
static int list_users(struct synth *s, struct espi_arena *arena)
{
    const struct espi_view *v = s->v;
    int uses = v->use_start[v->g.m];
    int *arc = ESPI_ARENA_NEW(arena, int, uses);
    if (!arc || espi_rows_build(&s->users, v->links.n, uses, v->use_resource, arena))
        return -1;
    for (int e = 0; e < v->g.m; e++)
        for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++)
            arc[k] = e;
    for (int k = 0; k < uses; k++)
        s->users.item[k] = arc[s->users.item[k]];
    return 0;
}

/* For how long an arc is taken by a chunk. */
static double busy_s(const struct espi_view *v, int arc)
{
    double most_s = 0;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
        most_s = fmax(most_s, v->use_s[k]);
    return most_s > 0 ? most_s : v->lag_s[arc];
}

/* What its arcs bring a host when each in turn takes all that is left of its resources.
 */
static double find_rate_in(const struct synth *s, int host, double *used)
{
    const struct espi_view *v = s->v;
    const struct espi_rows *in = &v->g.in;
    double sum = 0;
    for (int i = in->start[host]; i < in->start[host + 1]; i++) {
        int e = in->item[i];
        double rate = s->rate[e];
        for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++)
            if (v->use_s[k] > 0)
                rate = fmin(rate, fmax(1 - used[v->use_resource[k]], 0) / v->use_s[k]);
        for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++)
            used[v->use_resource[k]] += rate * v->use_s[k];
        sum += rate;
    }
    for (int i = in->start[host]; i < in->start[host + 1]; i++)
        for (int e = in->item[i], k = v->use_start[e]; k < v->use_start[e + 1]; k++)
            used[v->use_resource[k]] = 0;
    return sum;
}

static int find_rates(struct synth *s, struct espi_arena *arena)
{
    const struct espi_view *v = s->v;
    double *used = ESPI_ARENA_ZNEW(arena, double, v->links.n), quickest_s = INFINITY;
    s->rate = ESPI_ARENA_NEW(arena, double, v->g.m);
    s->rate_in = ESPI_ARENA_NEW(arena, double, s->n);
    if (!used || !s->rate || !s->rate_in)
        return -1;
    for (int e = 0; e < v->g.m; e++) {
        double s_s = busy_s(v, e);
        s->rate[e] = s_s > 0 ? 1 / s_s : 1e300;
        quickest_s = fmin(quickest_s, s_s);
    }
    s->same_s = quickest_s * ESPI_SYNTHESIS_SAME;
    for (int h = 0; h < s->n; h++)
        s->rate_in[h] = find_rate_in(s, h, used);
    return 0;
}

/* Links and cables over which several hosts send serve who comes first. */
static int find_shared(struct synth *s, struct espi_arena *arena)
{
    const struct espi_view *v = s->v;
    int any = 0;
    s->shared = ESPI_ARENA_ZNEW(arena, unsigned char, v->links.n);
    if (!s->shared)
        return -1;
    for (int r = v->links.first_link; r < v->links.n; r++)
        for (int i = s->users.start[r]; i < s->users.start[r + 1]; i++)
            if (v->g.tail[s->users.item[i]] !=
                v->g.tail[s->users.item[s->users.start[r]]])
                any = s->shared[r] = 1;
    if (!any)
        return 0;
    s->began_s = ESPI_ARENA_ZNEW(arena, double, v->links.n);
    s->last_s = ESPI_ARENA_ZNEW(arena, double, s->n);
    return s->began_s && s->last_s ? 0 : -1;
}

static int synth_init(struct synth *s, struct espi_arena *a)
{
    const struct espi_view *v = s->v;
    size_t bits = (size_t)s->n * (size_t)s->words, chunks = (size_t)s->task->n_chunks;
    s->has = ESPI_ARENA_ZNEW(a, uint64_t, bits);
    s->wants = ESPI_ARENA_ZNEW(a, uint64_t, bits);
    s->wanted = ESPI_ARENA_NEW(a, int, s->n);
    s->holders = ESPI_ARENA_ZNEW(a, int, chunks);
    s->prospect = ESPI_ARENA_NEW(a, struct prospect, chunks * (size_t)s->n);
    s->arrival_s = ESPI_ARENA_NEW(a, double, chunks *(size_t)s->n);
    s->free_s = ESPI_ARENA_ZNEW(a, double, v->links.n);
    s->ready = ESPI_ARENA_NEW(a, struct ready, v->g.m);
    s->queue = ESPI_ARENA_NEW(a, int, v->g.m);
    s->sooner = ESPI_ARENA_NEW(a, int, v->g.m);
    s->queued = ESPI_ARENA_ZNEW(a, unsigned char, v->g.m);
    s->out->send = ESPI_ARENA_NEW(a, struct espi_chunk_send, chunks * (size_t)(s->n - 1));
    if (!s->has || !s->wants || !s->wanted || !s->holders || !s->prospect ||
        !s->arrival_s || !s->free_s || !s->ready || !s->queue || !s->sooner ||
        !s->queued || !s->out->send)
        return -1;
    return list_users(s, a) || find_rates(s, a) || find_shared(s, a) ? -1 : 0;
}

/* ---- who has what ---- */

static int has_bit(const uint64_t *bits, int i)
{
    return (int)(bits[i / 64] >> (i % 64) & 1);
}

static double *arrival_of(const struct synth *s, int host, int chunk)
{
    return &s->arrival_s[(size_t)host * (size_t)s->task->n_chunks + (size_t)chunk];
}

static struct prospect *prospect_of(const struct synth *s, int host, int chunk)
{
    return &s->prospect[(size_t)host * (size_t)s->task->n_chunks + (size_t)chunk];
}

static void queue_arc(struct synth *s, int arc)
{
    if (!s->queued[arc]) {
        s->queued[arc] = 1;
        s->queue[s->n_queue++] = arc;
    }
}

/* The host has the chunk or will get it at that time: it counts as one who can pass it
 * on.
 */
static void count_holder(struct synth *s, int host, int chunk, double at_s)
{
    const struct espi_rows *out = &s->v->g.out;
    *arrival_of(s, host, chunk) = at_s;
    s->holders[chunk]++;
    for (int i = out->start[host]; i < out->start[host + 1]; i++) {
        int e = out->item[i];
        struct prospect *x = prospect_of(s, s->v->g.head[e], chunk);
        x->supply += s->rate[e];
        x->soonest_s = fmin(x->soonest_s, at_s + s->v->lag_s[e]);
        x->nearest_s = fmin(x->nearest_s, s->v->lag_s[e]);
    }
}

static void take_chunk(struct synth *s, int host, int chunk)
{
    const struct espi_rows *out = &s->v->g.out;
    s->has[(size_t)host * (size_t)s->words + (size_t)(chunk / 64)] |= 1ull
                                                                      << (chunk % 64);
    for (int i = out->start[host]; i < out->start[host + 1]; i++) {
        int e = out->item[i], to = s->v->g.head[e];
        if (has_bit(s->wants + (size_t)to * (size_t)s->words, chunk))
            queue_arc(s, e);
    }
}

static void lay_out(struct synth *s)
{
    const struct espi_synthesis_task *t = s->task;
    for (int h = 0; h < s->n; h++) {
        uint64_t *wants = s->wants + (size_t)h * (size_t)s->words;
        s->wanted[h] = 0;
        for (int c = 0; c < t->n_chunks; c++)
            if (t->source[c] != h) {
                wants[c / 64] |= 1ull << (c % 64);
                s->wanted[h]++;
            }
    }
    for (size_t i = 0; i < (size_t)s->n * (size_t)t->n_chunks; i++) {
        s->arrival_s[i] = INFINITY;
        s->prospect[i] = (struct prospect){0, INFINITY, INFINITY};
    }
    for (int c = 0; c < t->n_chunks; c++) {
        count_holder(s, t->source[c], c, 0);
        take_chunk(s, t->source[c], c);
    }
}

/* ---- matching ---- */

static int is_free(const struct synth *s, int arc)
{
    const struct espi_view *v = s->v;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
        if (s->free_s[v->use_resource[k]] > s->now_s)
            return 0;
    return 1;
}

static int count_options(const struct synth *s, int arc)
{
    const uint64_t *has = s->has + (size_t)s->v->g.tail[arc] * (size_t)s->words;
    const uint64_t *wants = s->wants + (size_t)s->v->g.head[arc] * (size_t)s->words;
    int n = 0;
    for (int i = 0; i < s->words; i++)
        n += __builtin_popcountll(has[i] & wants[i]);
    return n;
}

static int compare_ready(const void *a, const void *b)
{
    const struct ready *x = a, *y = b;
    if (x->urgency != y->urgency)
        return x->urgency > y->urgency ? -1 : 1;
    if (x->options != y->options)
        return x->options < y->options ? -1 : 1;
    if (x->chance != y->chance)
        return x->chance < y->chance ? -1 : 1;
    return x->arc < y->arc ? -1 : x->arc > y->arc;
}

/* All that was queued and could start, the most urgent first. */
static int list_ready(struct synth *s)
{
    int n = 0;
    for (int i = 0; i < s->n_queue; i++) {
        int e = s->queue[i], to = s->v->g.head[e];
        s->queued[e] = 0;
        if (s->wanted[to] == 0 || s->now_s + s->v->lag_s[e] > s->deadline_s ||
            !is_free(s, e))
            continue;
        int options = count_options(s, e);
        if (options > 0) {
            uint32_t chance = (uint32_t)(espi_rng_next(&s->rng) >> 32);
            s->ready[n++] =
                (struct ready){s->wanted[to] / s->rate_in[to], options, chance, e};
        }
    }
    s->n_queue = 0;
    qsort(s->ready, (size_t)n, sizeof *s->ready, compare_ready);
    return n;
}

/* Hosts follow their lists and know nothing of each other. One that was ready when
 * another began to send over what they share might have gone first: it is out of turn.
 * What that says of an arc, whichever chunk it carries: */
struct turn {
    double since_s; /* its sender could have gone, had all that it shares been free */
    double began_s; /* another began to use some of that */
};

static struct turn turn_of(const struct synth *s, int arc)
{
    const struct espi_view *v = s->v;
    struct turn t = {INFINITY, 0};
    if (s->any_turn || !s->began_s)
        return t;
    t.since_s = s->last_s[v->g.tail[arc]];
    t.began_s = -INFINITY;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++) {
        int r = v->use_resource[k];
        if (s->shared[r])
            t.began_s = espi_max(t.began_s, s->began_s[r]);
        else
            t.since_s = espi_max(t.since_s, s->free_s[r]);
    }
    return t;
}

static int is_in_turn(const struct synth *s, const struct turn *t, double arrival_s)
{
    double since_s = espi_max(t->since_s, arrival_s);
    return since_s >= s->now_s - s->same_s || !(t->began_s >= since_s - s->same_s);
}

static void note_start(struct synth *s, int arc)
{
    const struct espi_view *v = s->v;
    if (!s->began_s)
        return;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
        s->began_s[v->use_resource[k]] = s->now_s;
    s->last_s[v->g.tail[arc]] = s->now_s;
}

/* The next arc to the head of this one that would bring sooner what its tail has, once it
 * is free; -1: there are no more. */
static int find_sooner(struct synth *s, int arc)
{
    const struct espi_view *v = s->v;
    int end = v->g.in.start[v->g.head[arc] + 1];
    double before_s = s->now_s + v->lag_s[arc] - s->same_s;
    while (s->next_in < end) {
        int e = v->g.in.item[s->next_in++];
        double start_s = s->now_s;
        if (e == arc || start_s + v->lag_s[e] >= before_s)
            continue;
        for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++)
            start_s = espi_max(start_s, s->free_s[v->use_resource[k]]);
        if (start_s + v->lag_s[e] < before_s)
            return s->sooner[s->n_sooner++] = e;
    }
    return -1;
}

/* Would another arc bring the chunk sooner, once it is free and the chunk is there? */
static int comes_sooner(struct synth *s, int arc, int chunk)
{
    const struct espi_view *v = s->v;
    double before_s = s->now_s + v->lag_s[arc] - s->same_s;
    const struct prospect *x = prospect_of(s, v->g.head[arc], chunk);
    if (espi_max(x->soonest_s, s->now_s + x->nearest_s) >= before_s)
        return 0;
    for (int i = 0;; i++) {
        int e = i < s->n_sooner ? s->sooner[i] : find_sooner(s, arc);
        if (e < 0)
            return 0;
        if (*arrival_of(s, v->g.tail[e], chunk) + v->lag_s[e] < before_s)
            return 1;
    }
}

/* The chunk that its head is least likely to get otherwise; -1: better none. */
static int pick_chunk(struct synth *s, int arc)
{
    int to = s->v->g.head[arc], best = -1, n = s->task->n_chunks;
    const uint64_t *has = s->has + (size_t)s->v->g.tail[arc] * (size_t)s->words;
    const uint64_t *wants = s->wants + (size_t)to * (size_t)s->words;
    int last = s->wanted[to] / s->rate_in[to] < s->v->lag_s[arc];
    int from = (int)espi_rng_below(&s->rng, (uint32_t)n), best_turn = 0;
    double best_supply = 0;
    const struct prospect *prospects = prospect_of(s, to, 0);
    const double *arrival_s = arrival_of(s, s->v->g.tail[arc], 0);
    struct turn turn_now = turn_of(s, arc);
    s->n_sooner = 0;
    s->next_in = s->v->g.in.start[to];
    for (int w = 0; w < s->words; w++)
        for (uint64_t bits = has[w] & wants[w]; bits; bits &= bits - 1) {
            int c = w * 64 + __builtin_ctzll(bits),
                turn = c < from ? c + n - from : c - from;
            double supply = prospects[c].supply;
            if (best >= 0 &&
                (supply > best_supply ||
                 (supply == best_supply &&
                  (s->holders[c] > s->holders[best] ||
                   (s->holders[c] == s->holders[best] && turn > best_turn)))))
                continue;
            if (!is_in_turn(s, &turn_now, arrival_s[c]) ||
                (last && comes_sooner(s, arc, c)))
                continue;
            best = c;
            best_supply = supply;
            best_turn = turn;
        }
    return best;
}

static int start_send(struct synth *s, int arc, int chunk)
{
    const struct espi_view *v = s->v;
    int to = v->g.head[arc];
    double end_s = s->now_s + v->lag_s[arc];
    note_start(s, arc);
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++) {
        double *free_s = &s->free_s[v->use_resource[k]];
        *free_s = s->now_s + v->use_s[k];
        if (v->use_s[k] > 0 &&
            espi_events_push(&s->events,
                             (struct espi_event){*free_s, FREE, v->use_resource[k], -1}))
            return -1;
    }
    s->wants[(size_t)to * (size_t)s->words + (size_t)(chunk / 64)] &=
        ~(1ull << (chunk % 64));
    s->wanted[to]--;
    count_holder(s, to, chunk, end_s);
    s->out->send[s->out->n_sends++] = (struct espi_chunk_send){arc, chunk, s->now_s};
    s->out->finish_s = fmax(s->out->finish_s, end_s);
    return espi_events_push(&s->events, (struct espi_event){end_s, ARRIVAL, to, chunk});
}

/* Starts what can be started of those that are ready. */
static int start_ready(struct synth *s, int n)
{
    for (int i = 0; i < n; i++) {
        int e = s->ready[i].arc;
        if (!is_free(s, e))
            continue;
        int c = pick_chunk(s, e);
        if (c >= 0 && start_send(s, e, c))
            return -1;
    }
    return 0;
}

static int match_arcs(struct synth *s)
{
    int n = list_ready(s);
    if (start_ready(s, n))
        return -1;
    if (!s->task->hasty || !s->began_s)
        return 0;
    s->any_turn = 1;
    int got = start_ready(s, n);
    s->any_turn = 0;
    return got;
}

/* Nothing moves any more: somebody has to go out of turn, or after the deadline. */
static int match_any(struct synth *s)
{
    s->deadline_s = INFINITY;
    for (int e = 0; e < s->v->g.m; e++)
        queue_arc(s, e);
    s->any_turn = 1;
    int got = match_arcs(s);
    s->any_turn = 0;
    return got;
}

/* ---- the course of time ---- */

static void take_event(struct synth *s, const struct espi_event *e)
{
    if (e->kind == ARRIVAL) {
        take_chunk(s, e->id, e->about);
        return;
    }
    for (int i = s->users.start[e->id]; i < s->users.start[e->id + 1]; i++)
        queue_arc(s, s->users.item[i]);
}

/* Is the time over, and is there another to be given? */
static int is_left(const struct synth *s)
{
    return espi_watch_may_leave() || (isfinite(s->task->limit_s) && espi_watch_is_over());
}

static int run_moments(struct synth *s)
{
    if (match_arcs(s))
        return -1;
    while (s->events.size > 0) {
        double until_s = s->events.item[0].at_s + s->same_s;
        if (s->events.item[0].at_s > s->task->limit_s || is_left(s))
            return 1;
        while (s->events.size > 0 && s->events.item[0].at_s <= until_s) {
            struct espi_event e = espi_events_pop(&s->events);
            s->now_s = fmax(s->now_s, e.at_s);
            take_event(s, &e);
        }
        if (match_arcs(s) || (s->events.size == 0 && match_any(s)))
            return -1;
    }
    return 0;
}

int espi_synthesize(const struct espi_synthesis_task *task, struct espi_arena *arena,
                    struct espi_synthesis *out)
{
    struct synth s = {.task = task,
                      .v = task->view,
                      .n = task->view->g.n,
                      .words = (task->n_chunks + 63) / 64,
                      .deadline_s = task->deadline_s,
                      .out = out};
    *out = (struct espi_synthesis){0};
    espi_rng_seed(&s.rng, task->seed);
    if (synth_init(&s, arena))
        return -1;
    out->shared = s.began_s != NULL;
    lay_out(&s);
    int got = run_moments(&s);
    espi_free(s.events.item);
    if (!got &&
        (out->n_sends < task->n_chunks * (s.n - 1) || out->finish_s >= task->limit_s))
        return 1;
    return got;
}
