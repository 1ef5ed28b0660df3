/* Calls, from what their ranks say of them. A broadcast by an advised plan is told of by
 * all its ranks (reports) and once more by its root (an outcome); any other collective by
 * its root alone. Messages of different ranks come in any order. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "cost/cost.h"
#include "live/live_log_impl.h"
#include "live/tuning.h"
#include "platform/platform.h"

/* Ranks may be on other clocks, or lie. */
static double time_of(double at_s, double now_s)
{
    return at_s <= now_s && now_s - at_s < 60 ? at_s : now_s;
}

/* ---- decisions ---- */

static struct espi_live_decision *find_decision(struct espi_live_state *s,
                                                const struct espi_live_call *call)
{
    int size_class = espi_size_class((uint64_t)call->bytes);

    for (int i = 0; i < s->n_decisions; i++) {
        struct espi_live_decision *d = &s->decision[i];
        if (d->op == call->op && d->ranks == call->ranks && d->size_class == size_class)
            return d;
    }
    if (s->n_decisions == ESPI_LIVE_DECISIONS)
        return NULL;
    s->decision[s->n_decisions] = (struct espi_live_decision){
        .op = call->op, .ranks = call->ranks, .size_class = size_class};
    return &s->decision[s->n_decisions++];
}

static void count_decision(struct espi_live_state *s, const struct espi_live_call *call,
                           double took_s)
{
    struct espi_live_decision *d = find_decision(s, call);

    if (!d)
        return;
    *(call->ours ? &d->ours : &d->native) += 1;
    *(call->ours ? &d->ours_took_s : &d->native_took_s) += took_s;
    d->ours_s = call->ours_s;
    d->native_s = call->native_s;
    if (call->ours)
        memcpy(d->algo, call->algo, sizeof d->algo);
}

/* ---- reports ---- */

/* Did the tree run that the plan says, as far as ranks told of it? */
static int is_tree(const struct espi_live_log *l, int slot,
                   const struct espi_live_pending *q)
{
    const int *parent = l->kept[slot].parent;

    for (int v = 0; v < l->p->n_nodes; v++)
        if (q->parent[v] != -2 && q->parent[v] != parent[v])
            return 0;
    return 1;
}

int espi_live_find_plan(const struct espi_live_log *l, const struct espi_live_pending *q)
{
    int k = espi_size_class((uint64_t)q->call.bytes), found = -1, found_rank = 0;

    for (int i = 0; i < ESPI_LIVE_PLANS; i++) {
        const struct espi_live_plan *m = &l->state.plan[i];
        if (!m->id || m->root != q->call.root || m->size_class < k - 1 ||
            m->size_class > k + 1 || !is_tree(l, i, q))
            continue;
        /* The same tree may be in several: the one of as many slices, of the class. */
        int same = espi_slices(q->call.bytes, m->slice_bytes).count == q->slices;
        int rank = 1 + 4 * same + 2 * (m->size_class == k) + !m->superseded;
        if (rank > found_rank) {
            found = i;
            found_rank = rank;
        }
    }
    return found;
}

/* Of the tree, cut as the call was. */
static double expect(struct espi_live_log *l, struct espi_advisor *a, int slot,
                     double bytes, double slice_bytes, double now_s)
{
    double began_s = espi_now_s(), out_s = 0;

    if (l->thought_s > ESPI_LIVE_THOUGHT_PART * (began_s - l->begun_s))
        return 0;
    if (espi_advisor_expect(a, l->kept[slot].plan, bytes, slice_bytes, now_s, &out_s,
                            NULL))
        out_s = 0;
    l->thought_s += espi_now_s() - began_s;
    return out_s;
}

static void push_call(struct espi_live_log *l, struct espi_live_call *call)
{
    struct espi_live_state *s = &l->state;

    call->number = ++s->n_calls;
    s->skipped += call->skipped;
    s->call[call->number % ESPI_LIVE_CALLS] = *call;
}

/* All has been said of it, or another one has begun. */
static void close_pending(struct espi_live_log *l, struct espi_advisor *a, double now_s)
{
    struct espi_live_pending *q = &l->pending;
    struct espi_live_call *call = &q->call;

    if (!q->open)
        return;
    q->open = 0;
    if (q->began_s < 0)
        return; /* nothing came from the root */
    int slot = call->heard > 1 ? espi_live_find_plan(l, q) : -1;
    call->ended_s = q->last_s;
    call->took_s = fmax(q->last_s - q->began_s, 0);
    if (slot >= 0) {
        call->plan = l->state.plan[slot].id;
        memcpy(call->algo, l->state.plan[slot].algo, sizeof call->algo);
        call->forecast_s =
            expect(l, a, slot, call->bytes, call->bytes / q->slices, now_s);
    }
    pthread_mutex_lock(&l->lock);
    push_call(l, call);
    if (slot >= 0) {
        l->state.in_force = call->plan;
        l->state.plan[slot].calls++;
    }
    pthread_mutex_unlock(&l->lock);
}

static void open_pending(struct espi_live_log *l, const struct espi_advisor *a,
                         const struct espi_report *r, double now_s)
{
    struct espi_live_pending *q = &l->pending;
    struct espi_outlook o;

    espi_advisor_outlook(a, now_s, &o);
    *q = (struct espi_live_pending){.open = 1,
                                    .slices = r->slices,
                                    .began_s = -1,
                                    .parent = l->parents,
                                    .call = {.op = ESP_OP_BCAST,
                                             .root = r->root,
                                             .ranks = r->n,
                                             .expected = r->n,
                                             .told = r->call,
                                             .bytes = (double)r->bytes,
                                             .predicted_bytes = o.size_bytes,
                                             .ours = 1}};
    for (int v = 0; v < l->p->n_nodes; v++)
        q->parent[v] = -2;
}

void espi_live_log_report(struct espi_live_log *l, struct espi_advisor *a,
                          const struct espi_report *r, double now_s)
{
    struct espi_live_pending *q = &l->pending;

    if (!l->p || !espi_report_is_sane(l->p, r))
        return;
    if (!q->open || q->call.told != r->call || q->call.root != r->root ||
        q->call.bytes != (double)r->bytes) {
        close_pending(l, a, now_s);
        open_pending(l, a, r, now_s);
    }
    if (q->parent[r->node] != -2)
        return;
    q->parent[r->node] = r->parent;
    double end_s = time_of(r->at_s, now_s);
    q->last_s = fmax(q->last_s, end_s);
    if (r->node == r->root)
        q->began_s = fmax(end_s - r->total_s, 0);
    if (++q->call.heard == q->call.expected)
        close_pending(l, a, now_s);
}

/* ---- outcomes ---- */

/* The call of the reports that an outcome is of, or NULL. */
static struct espi_live_call *find_told(struct espi_live_log *l,
                                        const struct espi_outcome *o)
{
    struct espi_live_state *s = &l->state;
    struct espi_live_call *at = &l->pending.call;

    if (!o->call)
        return NULL;
    for (uint64_t n = s->n_calls; at; n--) {
        if (at->told == o->call && at->root == o->root && at->bytes == (double)o->bytes &&
            !at->has_outcome && (at != &l->pending.call || l->pending.open))
            return at;
        at = n > 0 && n + 8 > s->n_calls ? &s->call[n % ESPI_LIVE_CALLS] : NULL;
    }
    return NULL;
}

static void add_outcome(struct espi_live_call *call, const struct espi_outcome *o)
{
    call->has_outcome = 1;
    call->ranks = o->ranks;
    call->ours = o->ours != 0;
    call->ours_s = o->ours_s;
    call->native_s = o->native_s;
    if (!call->plan)
        espi_live_copy(call->algo, sizeof call->algo, o->algo);
}

void espi_live_log_outcome(struct espi_live_log *l, const struct espi_outcome *o,
                           double now_s)
{
    if (!l->p || !espi_outcome_is_sane(l->p, o))
        return;
    struct espi_live_call fresh = {.op = o->op,
                                   .root = o->root,
                                   .bytes = (double)o->bytes,
                                   .skipped = o->skipped,
                                   .ended_s = time_of(o->at_s, now_s),
                                   .took_s = o->total_s};
    pthread_mutex_lock(&l->lock);
    struct espi_live_call *call = find_told(l, o);
    add_outcome(call ? call : &fresh, o);
    if (!call)
        push_call(l, &fresh);
    count_decision(&l->state, call ? call : &fresh, o->total_s);
    pthread_mutex_unlock(&l->lock);
}
