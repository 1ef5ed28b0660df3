#include "advisor/slow_link_diagnosis.h"

#include <math.h>
#include <string.h>

#include "advisor/tuning.h"
#include "base/err.h"
#include "cost/cost.h"
#include "platform/view.h"

/* The tree that ran, on the network as believed. */
struct diagnosis {
    struct espi_belief *belief;
    struct espi_blames *blames;
    const struct espi_told_call *call;
    double now_s;
    struct esp_platform *believed;
    struct espi_arena arena;
    struct espi_view v;
    int *parent_arc; /* host -> arc; -1: root, or not told */
    double *load_s;  /* resource -> time of a slice */
    double *turn_s;  /* host -> that it takes to serve its children once */
    double *pace_s;  /* host -> what its way explains */
    int *uses;       /* resource of the belief -> arcs of the tree that pass it */
    int *cleared;    /* resource: did it serve a host in time? */
    double arc_s;    /* what a slice took over the arc in question */
    int few;         /* so few slices that only how long they were under way tells */
    int *slow;       /* resource -> slow children of the sender in question behind it */
    int *quick;      /* resource: does one of its children get messages quickly by it? */
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

/* Adds to what stands for each resource on an arc's way. */
static void add_to_way(const struct diagnosis *q, int arc, int *of_resource)
{
    const struct espi_belief *b = q->belief;
    const int *links;
    int n = espi_belief_links(b, &q->v, arc, &links);
    for (int i = 0; i < n; i++)
        for (int k = b->first[links[i]]; k < b->first[links[i] + 1]; k++)
            of_resource[b->resource[k]]++;
}

static void count_arc(struct diagnosis *q, int arc)
{
    espi_load_arc(&q->v, arc, 1, q->load_s);
    add_to_way(q, arc, q->uses);
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
    q->uses = ESPI_ARENA_ZNEW(&q->arena, int, q->belief->n_resources + 1);
    q->cleared = ESPI_ARENA_ZNEW(&q->arena, int, q->belief->n_resources + 1);
    q->slow = ESPI_ARENA_NEW(&q->arena, int, q->belief->n_resources + 1);
    q->quick = ESPI_ARENA_NEW(&q->arena, int, q->belief->n_resources + 1);
    if (!q->parent_arc || !q->load_s || !q->turn_s || !q->pace_s || !q->uses ||
        !q->cleared || !q->slow || !q->quick)
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

/* For how long the busiest resource of an arc is taken by a slice of all arcs. */
static double busiest_s(const struct diagnosis *q, int arc)
{
    double busy_s = 0;
    for (int k = q->v.use_start[arc]; k < q->v.use_start[arc + 1]; k++)
        busy_s = fmax(busy_s, q->load_s[q->v.use_resource[k]]);
    return busy_s;
}

/* A message is as long under way as that resource and the distance make it. */
static double travel_s(const struct diagnosis *q, int arc)
{
    return fmax(q->v.time_s[arc], q->v.latency_s[arc] + busiest_s(q, arc));
}

/* Slices come as fast as the busiest resource lets them, or as the window does. */
static double arc_pace(const struct diagnosis *q, int arc)
{
    return fmax(busiest_s(q, arc), travel_s(q, arc) / q->call->window);
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

/* How long messages to a child were under way, as the sender says; 0: it does not. */
static double under_way_s(const struct diagnosis *q, int u, int child)
{
    const struct espi_report *r = &q->call->reports[q->v.node[u]];
    for (int i = 0; i < ESPI_REPORT_CHILDREN; i++)
        if (r->child[i] == q->v.node[child])
            return r->child_s[i] > 0 && r->child_s[i] < 1e6F ? r->child_s[i] : 0;
    return 0;
}

/* The same for one message to the host; 0: it is not told. */
static double message_s(const struct diagnosis *q, int h)
{
    int arc = q->parent_arc[h];
    return arc < 0 ? 0 : under_way_s(q, q->v.g.tail[arc], h) / q->call->slices;
}

/* How much longer than their way explains messages to a host were under way; 0: it is not
 * told. */
static double slowness(const struct diagnosis *q, int h)
{
    return message_s(q, h) / travel_s(q, q->parent_arc[h]);
}

/* How much longer than its way explains a host took; 1: the root, or nothing tells. */
static double lateness(const struct diagnosis *q, int h)
{
    const struct espi_report *r = &q->call->reports[q->v.node[h]];
    double explained_s = (q->call->slices - 1) * q->pace_s[h];
    if (q->few)
        return message_s(q, h) > 0 ? slowness(q, h) : 1;
    return r->parent < 0 || !(explained_s > 0) ? 1 : r->receive_s / explained_s;
}

/* What passed a resource if a slice took seen_s to come through it. */
static double passed_Bps(const struct diagnosis *q, int resource, double seen_s)
{
    return q->uses[resource] * q->v.slice_bytes / seen_s;
}

/* By what the platform says: a cable's own rate, else that of the link in question. */
static double full_Bps(const struct diagnosis *q, int resource, int link)
{
    const struct esp_platform *net = q->belief->net;
    return resource < net->n_shared ? net->shared_Bps[resource]
                                    : net->bandwidth_Bps[link];
}

/* It had no occasion to show more than these arcs can carry over the link. */
static esp_status hear_in_time(struct diagnosis *q, int resource, int link, double seen_s)
{
    struct espi_belief *b = q->belief;
    double most_Bps = fmin(full_Bps(q, resource, link),
                           q->uses[resource] * b->net->bandwidth_Bps[link]);
    double factor = passed_Bps(q, resource, seen_s) / most_Bps;
    if (factor <= espi_belief_factor(b, resource, q->now_s, NULL))
        return ESP_OK;
    return espi_belief_hear(b, resource, factor, q->now_s, q->err);
}

/* What a slice took to come through the way to a host; 0: nothing tells. */
static double seen_s(const struct diagnosis *q, int h)
{
    if (q->few)
        return fmax(message_s(q, h) - q->v.latency_s[q->parent_arc[h]], 0);
    return q->call->reports[q->v.node[h]].receive_s / (q->call->slices - 1);
}

/* A resource, and the link by which an arc passes it. */
struct passage {
    int resource, link;
};

/* For how long it is taken by a slice of each arc, as believed. */
static double busy_s(const struct diagnosis *q, struct passage x)
{
    double factor = espi_belief_factor(q->belief, x.resource, q->now_s, NULL);
    return q->uses[x.resource] / (full_Bps(q, x.resource, x.link) * factor);
}

/* Would the resource explain that blame as well as the arc in question? Not if it carries
 * more now than it did then. */
static int explains_past(const struct diagnosis *q, const struct espi_blame *past,
                         int resource)
{
    double Bps = passed_Bps(q, resource, q->arc_s);
    for (int i = 0; i < past->n && q->now_s - past->at_s < ESPI_SUSPECT_S; i++)
        if (past->suspect[i] == resource)
            return Bps <= ESPI_LATE * past->Bps[i];
    return 0;
}

/* How many of the late arcs of a while ago it would explain. */
static int explains(const struct diagnosis *q, int resource)
{
    int n = 0;
    for (int i = 0; i < ESPI_BLAMES; i++)
        n += explains_past(q, &q->blames->past[i], resource);
    return n;
}

static int has_served(const struct diagnosis *q, int resource)
{
    return q->cleared[resource] || q->quick[resource];
}

/* Is the one more likely to have held up an arc than the other? Not what served others
 * meanwhile; rather what explains more children that are slow, or more that were; what
 * lies between sites, or more pairs of hosts share, for so may others; else the busier
 * one, which has to be slower by least. */
static int is_likelier(const struct diagnosis *q, struct passage x, struct passage than)
{
    int r = x.resource, s = than.resource;
    const struct espi_fate *fate = q->belief->fate;
    if (has_served(q, r) != has_served(q, s))
        return !has_served(q, r);
    if (q->slow[r] != q->slow[s])
        return q->slow[r] > q->slow[s];
    if (explains(q, r) != explains(q, s))
        return explains(q, r) > explains(q, s);
    if (fate[r].is_far != fate[s].is_far)
        return fate[r].is_far;
    if (fate[r].n_links != fate[s].n_links)
        return fate[r].n_links > fate[s].n_links;
    return busy_s(q, x) > busy_s(q, than);
}

/* Of the resources of the arc in question, and all that may have held it up; -1: none. */
static struct passage culprit(const struct diagnosis *q, int arc,
                              struct espi_blame *blame)
{
    const struct espi_belief *b = q->belief;
    const int *links;
    int n = espi_belief_links(b, &q->v, arc, &links);
    struct passage found = {-1, -1};
    for (int i = 0; i < n; i++)
        for (int k = b->first[links[i]]; k < b->first[links[i] + 1]; k++) {
            struct passage x = {b->resource[k], links[i]};
            if (found.resource < 0 || is_likelier(q, x, found))
                found = x;
            if (has_served(q, x.resource) || blame->n == ESPI_BLAME_SUSPECTS)
                continue;
            blame->Bps[blame->n] = passed_Bps(q, x.resource, q->arc_s);
            blame->suspect[blame->n++] = x.resource;
        }
    return found;
}

/* Who was blamed for what this one explains, too, is innocent. */
static void take_back(struct diagnosis *q, int culprit)
{
    for (int i = 0; i < ESPI_BLAMES; i++) {
        struct espi_blame *past = &q->blames->past[i];
        if (past->blamed == culprit || !explains_past(q, past, culprit))
            continue;
        espi_belief_forget(q->belief, past->blamed);
        past->blamed = culprit;
    }
}

/* It carried more than what was late before: that was not its fault. If it was blamed for
 * it, the next likely is. */
static esp_status acquit(struct diagnosis *q, int resource, double Bps)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < ESPI_BLAMES && !st; i++) {
        struct espi_blame *past = &q->blames->past[i];
        int n = 0, next = -1;
        for (int k = 0; k < past->n; k++)
            if (past->suspect[k] != resource || !(Bps > ESPI_LATE * past->Bps[k])) {
                past->suspect[n] = past->suspect[k];
                past->Bps[n++] = past->Bps[k];
            }
        int left = n < past->n && past->blamed == resource &&
                   q->now_s - past->at_s < ESPI_SUSPECT_S;
        past->n = n;
        for (int k = 0; k < n && left; k++)
            if (next < 0 || q->belief->fate[past->suspect[k]].n_links >
                                q->belief->fate[past->suspect[next]].n_links)
                next = k;
        if (next < 0)
            continue;
        past->blamed = past->suspect[next];
        st = espi_belief_hear(q->belief, past->blamed,
                              past->Bps[next] / q->belief->fate[past->blamed].full_Bps,
                              q->now_s, q->err);
    }
    return st;
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
        const struct espi_belief *b = q->belief;
        const int *links;
        int n = espi_belief_links(b, v, arc, &links);
        add_to_way(q, arc, q->cleared);
        for (int i = 0; i < n; i++)
            for (int k = b->first[links[i]]; k < b->first[links[i] + 1] && !st; k++) {
                int r = b->resource[k];
                st = hear_in_time(q, r, links[i], seen_s(q, h));
                if (!st)
                    st = acquit(q, r, passed_Bps(q, r, seen_s(q, h)));
            }
    }
    return st;
}

static int is_slower(const struct diagnosis *q, int h, int than)
{
    double mine = slowness(q, h), other = slowness(q, than);
    return mine != other ? mine > other : seen_s(q, h) > seen_s(q, than);
}

static int is_child(const struct diagnosis *q, int u, int h)
{
    return q->parent_arc[h] >= 0 && q->v.g.tail[q->parent_arc[h]] == u;
}

/* Which of the sender's children get messages as quickly as their ways explain, and which
 * do not. */
static void part_children(struct diagnosis *q, int u)
{
    size_t bytes = (size_t)q->belief->n_resources * sizeof *q->slow;
    memset(q->slow, 0, bytes);
    memset(q->quick, 0, bytes);
    for (int h = 0; h < q->v.g.n; h++)
        if (is_child(q, u, h)) {
            int quick = slowness(q, h) > 0 && slowness(q, h) < ESPI_LATE;
            add_to_way(q, q->parent_arc[h], quick ? q->quick : q->slow);
        }
}

/* What held up the messages to that child can carry no more than was seen. */
static esp_status blame_way(struct diagnosis *q, int u, int child)
{
    struct espi_blame *blame = &q->blames->past[q->blames->next];
    struct espi_blame now = {.at_s = q->now_s};
    part_children(q, u);
    q->arc_s = seen_s(q, child);
    struct passage x = culprit(q, q->parent_arc[child], &now);
    if (x.resource < 0)
        return ESP_OK;
    take_back(q, x.resource);
    now.blamed = x.resource;
    *blame = now;
    q->blames->next = (q->blames->next + 1) % ESPI_BLAMES;
    double factor = passed_Bps(q, x.resource, q->arc_s) / full_Bps(q, x.resource, x.link);
    return espi_belief_hear(q->belief, x.resource, factor, q->now_s, q->err);
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
            if (is_child(q, u, h) && (last < 0 || is_slower(q, h, last)))
                last = h;
        if (last < 0 || q->call->is_first[v->node[last]])
            continue;
        double late = lateness(q, last);
        /* where slices follow each other, a sender that is late is so for all of them */
        double sender = q->few ? 1 : lateness(q, u);
        if (late > ESPI_LATE && late > ESPI_LATER_THAN_SENDER * sender &&
            seen_s(q, last) > 0)
            st = blame_way(q, u, last);
    }
    return st;
}

esp_status espi_diagnose_slow_links(struct espi_belief *belief,
                                    struct espi_blames *blames,
                                    const struct espi_told_call *call, double now_s,
                                    struct esp_err *err)
{
    static const double MANY = 3; /* derived: of so few, one is the first, one the last */
    struct diagnosis q = {.belief = belief,
                          .blames = blames,
                          .call = call,
                          .now_s = now_s,
                          .few = !(call->slices > MANY),
                          .err = err};
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
