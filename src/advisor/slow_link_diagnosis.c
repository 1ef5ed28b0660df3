#include "advisor/slow_link_diagnosis.h"

#include <math.h>

#include "advisor/tuning.h"
#include "base/err.h"
#include "cost/cost.h"
#include "platform/view.h"

/* The tree that ran, on the network as believed. */
struct diagnosis {
    struct espi_belief *belief;
    const struct espi_told_call *call;
    double now_s;
    struct esp_platform *believed;
    struct espi_arena arena;
    struct espi_view v;
    int *parent_arc; /* host -> arc; -1: root, or not told */
    double *load_s;  /* resource -> time of a slice */
    double *turn_s;  /* host -> that it takes to serve its children once */
    double *pace_s;  /* host -> what its way explains */
    int *uses;       /* group -> arcs of the tree that pass it */
    int *cleared;    /* group: did it serve a host in time? */
    struct esp_err *err;
};

static int arc_between(const struct espi_view *v, int from, int to)
{
    int best = -1;
    for (int k = v->g.in.start[to]; k < v->g.in.start[to + 1]; k++) {
        int e = v->g.in.item[k];
        if (v->g.tail[e] == from && (best < 0 || v->time_s[e] < v->time_s[best]))
            best = e;
    }
    return best;
}

static void count_arc(struct diagnosis *q, int arc)
{
    const struct espi_belief *b = q->belief;
    const int *links;
    int n = espi_belief_links(b, &q->v, arc, &links);
    espi_load_arc(&q->v, arc, 1, q->load_s);
    for (int i = 0; i < n; i++)
        q->uses[b->group[links[i]]]++;
}

static esp_status diagnosis_init(struct diagnosis *q)
{
    esp_status st = espi_belief_platform(q->belief, q->now_s, NULL, &q->believed, q->err);
    if (st)
        return st;
    st = espi_view_init(&q->v, q->believed, q->call->bytes / q->call->slices, &q->arena,
                        q->err);
    if (st)
        return st;
    q->parent_arc = ESPI_ARENA_NEW(&q->arena, int, q->v.g.n);
    q->load_s = ESPI_ARENA_ZNEW(&q->arena, double, q->v.links.n);
    q->turn_s = ESPI_ARENA_ZNEW(&q->arena, double, q->v.g.n);
    q->pace_s = ESPI_ARENA_ZNEW(&q->arena, double, q->v.g.n);
    q->uses = ESPI_ARENA_ZNEW(&q->arena, int, q->belief->n_groups + 1);
    q->cleared = ESPI_ARENA_ZNEW(&q->arena, int, q->belief->n_groups + 1);
    if (!q->parent_arc || !q->load_s || !q->turn_s || !q->pace_s || !q->uses ||
        !q->cleared)
        return espi_err_nomem(q->err);
    for (int h = 0; h < q->v.g.n; h++) {
        const struct espi_report *r = &q->call->reports[q->v.node[h]];
        q->parent_arc[h] =
            r->magic && r->parent >= 0 ? arc_between(&q->v, q->v.host[r->parent], h) : -1;
        if (q->parent_arc[h] >= 0)
            count_arc(q, q->parent_arc[h]);
    }
    return ESP_OK;
}

/* Slices come as fast as the busiest resource lets them, or as the window, each of whose
 * slices is as long under way as that resource and the distance make it. */
static double arc_pace(const struct diagnosis *q, int arc)
{
    double busy_s = 0, alone_s = q->v.time_s[arc];
    for (int k = q->v.use_start[arc]; k < q->v.use_start[arc + 1]; k++)
        busy_s = fmax(busy_s, q->load_s[q->v.use_resource[k]]);
    double under_way_s = fmax(alone_s, q->v.latency_s[arc] + busy_s);
    return fmax(busy_s, under_way_s / q->call->window);
}

/* A sender serves its children in turns, so that all get slices as the slowest way takes
 * them. */
static void set_turns(struct diagnosis *q)
{
    for (int h = 0; h < q->v.g.n; h++) {
        int e = q->parent_arc[h];
        double *turn_s = e < 0 ? NULL : &q->turn_s[q->v.g.tail[e]];
        if (turn_s)
            *turn_s = fmax(*turn_s, arc_pace(q, e));
    }
}

/* Paces down the tree; reports may be wrong, so a circle must not hold us up. */
static void set_paces(struct diagnosis *q)
{
    set_turns(q);
    for (int round = 0, changed = 1; changed && round < q->v.g.n; round++) {
        changed = 0;
        for (int h = 0; h < q->v.g.n; h++) {
            int e = q->parent_arc[h], u = e < 0 ? -1 : q->v.g.tail[e];
            if (u < 0)
                continue;
            double pace_s = fmax(q->turn_s[u], q->pace_s[u]);
            changed = changed || pace_s > q->pace_s[h];
            q->pace_s[h] = fmax(q->pace_s[h], pace_s);
        }
    }
}

/* How much longer than its way explains a host took; 1: the root. */
static double lateness(const struct diagnosis *q, int h)
{
    const struct espi_report *r = &q->call->reports[q->v.node[h]];
    double explained_s = (q->call->slices - 1) * q->pace_s[h];
    return r->parent < 0 || !(explained_s > 0) ? 1 : r->receive_s / explained_s;
}

/* What the link's group can carry if a slice took seen_s to come through it. */
static esp_status hear_link(struct diagnosis *q, int link, double seen_s, int held_up)
{
    struct espi_belief *b = q->belief;
    int group = b->group[link];
    double before = espi_belief_factor(b, group, q->now_s, NULL);
    double busy_s =
        q->uses[group] * q->v.slice_bytes / (before * b->net->bandwidth_Bps[link]);
    double factor = before * busy_s / seen_s;
    if (!held_up && factor <= before)
        return ESP_OK; /* it had no occasion to show more */
    return espi_belief_hear(b, group, factor, q->now_s, q->err);
}

static double seen_s(const struct diagnosis *q, int h)
{
    return q->call->reports[q->v.node[h]].receive_s / (q->call->slices - 1);
}

static double believed_Bps(const struct diagnosis *q, int link)
{
    const struct espi_belief *b = q->belief;
    return b->net->bandwidth_Bps[link] *
           espi_belief_factor(b, b->group[link], q->now_s, NULL);
}

/* Of the links of the arc, the slowest one that did not serve others well; -1: none. */
static int culprit(const struct diagnosis *q, int arc)
{
    const int *links;
    int n = espi_belief_links(q->belief, &q->v, arc, &links);
    int slowest = -1, slowest_cleared = 1;
    for (int i = 0; i < n; i++) {
        int cleared = q->cleared[q->belief->group[links[i]]];
        if (slowest < 0 || cleared < slowest_cleared ||
            (cleared == slowest_cleared &&
             believed_Bps(q, links[i]) < believed_Bps(q, slowest))) {
            slowest = links[i];
            slowest_cleared = cleared;
        }
    }
    return slowest;
}

/* Those in time show what their ways can carry at least. */
static esp_status hear_punctual(struct diagnosis *q)
{
    const struct espi_view *v = &q->v;
    esp_status st = ESP_OK;
    for (int h = 0; h < v->g.n; h++) {
        int arc = q->parent_arc[h];
        if (arc < 0 || lateness(q, h) > ESPI_LATE || !(seen_s(q, h) > 0))
            continue;
        const int *links;
        int n = espi_belief_links(q->belief, v, arc, &links);
        for (int i = 0; i < n && !st; i++) {
            q->cleared[q->belief->group[links[i]]] = 1;
            st = hear_link(q, links[i], seen_s(q, h), 0);
        }
    }
    return st;
}

/* How long messages to a child were under way, as the sender says; 0: it does not. */
static double under_way_s(const struct diagnosis *q, int u, int child)
{
    const struct espi_report *r = &q->call->reports[q->v.node[u]];
    for (int i = 0; i < ESPI_REPORT_CHILDREN; i++)
        if (r->child[i] == q->v.node[child])
            return r->child_s[i] > 0 && r->child_s[i] < 1e6F ? r->child_s[i] : 0;
    return 0;
}

static int is_slower(const struct diagnosis *q, int u, int h, int than)
{
    double mine_s = under_way_s(q, u, h), other_s = under_way_s(q, u, than);
    return mine_s != other_s ? mine_s > other_s : seen_s(q, h) > seen_s(q, than);
}

/* Of the children of a sender, which it serves in turns, a slow one delays the others:
 * the one that took longest was held up on its own way; or, if it is new to the sender,
 * by the making of their connection, for which nobody is blamed. */
static esp_status hear_late(struct diagnosis *q)
{
    const struct espi_view *v = &q->v;
    esp_status st = ESP_OK;
    for (int u = 0; u < v->g.n && !st; u++) {
        int last = -1;
        for (int h = 0; h < v->g.n; h++)
            if (q->parent_arc[h] >= 0 && v->g.tail[q->parent_arc[h]] == u &&
                (last < 0 || is_slower(q, u, h, last)))
                last = h;
        if (last < 0 || q->call->is_first[v->node[last]])
            continue;
        double late = lateness(q, last);
        int link = culprit(q, q->parent_arc[last]);
        if (link >= 0 && late > ESPI_LATE &&
            late > ESPI_LATER_THAN_SENDER * lateness(q, u))
            st = hear_link(q, link, seen_s(q, last), 1);
    }
    return st;
}

esp_status espi_diagnose_slow_links(struct espi_belief *belief,
                                    const struct espi_told_call *call, double now_s,
                                    struct esp_err *err)
{
    struct diagnosis q = {.belief = belief, .call = call, .now_s = now_s, .err = err};
    if (!(call->slices > 3))
        return ESP_OK; /* too few to tell */
    espi_arena_init(&q.arena);
    esp_status st = diagnosis_init(&q);
    if (!st) {
        set_paces(&q);
        st = hear_punctual(&q);
    }
    if (!st)
        st = hear_late(&q);
    espi_arena_done(&q.arena);
    esp_platform_free(q.believed);
    return st;
}
