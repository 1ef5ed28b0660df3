#include "advisor/slow_link_diagnosis.h"

#include <math.h>
#include <string.h>

#include "advisor/tuning.h"
#include "base/err.h"

/* What ran, beside what explains it. */
struct diagnosis {
    struct espi_account told;
    struct espi_belief *belief;
    struct espi_blames *blames;
    double now_s;
    int *cleared; /* resource: did it serve a host in time? */
    double arc_s; /* what the slices of the pair in question took */
    int *slow;    /* resource -> slow children of the sender in question behind it */
    int *quick;   /* resource: does one of its children get messages quickly by it? */
    int n_found;  /* that was slow */
    struct esp_err *err;
};

/* Adds to what stands for each resource on an arc's way. */
static void add_to_way(const struct diagnosis *q, int arc, int *of_resource)
{
    const struct espi_belief *b = q->belief;
    const int *links;
    int n = espi_belief_links(b, &q->told.v, arc, &links);
    for (int i = 0; i < n; i++)
        for (int k = b->first[links[i]]; k < b->first[links[i] + 1]; k++)
            of_resource[b->resource[k]]++;
}

static esp_status diagnosis_init(struct diagnosis *q)
{
    size_t n = (size_t)q->belief->n_resources + 1;
    q->cleared = ESPI_ARENA_ZNEW(&q->told.arena, int, n);
    q->slow = ESPI_ARENA_NEW(&q->told.arena, int, n);
    q->quick = ESPI_ARENA_NEW(&q->told.arena, int, n);
    return q->cleared && q->slow && q->quick ? ESP_OK : espi_err_nomem(q->err);
}

/* What passed a resource if the slices of a pair took seen_s to come through it. */
static double passed_Bps(const struct diagnosis *q, int resource, double seen_s)
{
    return q->told.uses[resource] * q->told.v.slice_bytes / seen_s;
}

/* By what the platform says: a cable's own rate, else that of the link in question. */
static double full_Bps(const struct diagnosis *q, int resource, int link)
{
    const struct esp_platform *net = q->belief->net;
    return resource < net->n_shared ? net->shared_Bps[resource]
                                    : net->bandwidth_Bps[link];
}

/* It had no occasion to show more than these pairs can carry over the link. */
static esp_status hear_in_time(struct diagnosis *q, int resource, int link, double seen_s,
                               double pairs_Bps)
{
    struct espi_belief *b = q->belief;
    double most_Bps = fmin(full_Bps(q, resource, link), pairs_Bps);
    double factor = passed_Bps(q, resource, seen_s) / most_Bps;
    if (factor <= espi_belief_factor(b, resource, q->now_s, NULL))
        return ESP_OK;
    return espi_belief_hear(b, resource, factor, ESPI_BY_CALL, q->now_s, q->err);
}

/* A resource, and the link by which an arc passes it. */
struct passage {
    int resource, link;
};

/* For how long it is taken by a slice of each arc, as believed. */
static double busy_s(const struct diagnosis *q, struct passage x)
{
    double factor = espi_belief_factor(q->belief, x.resource, q->now_s, NULL);
    return q->told.uses[x.resource] / (full_Bps(q, x.resource, x.link) * factor);
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
    int n = espi_belief_links(b, &q->told.v, arc, &links);
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
                              ESPI_BY_CALL, q->now_s, q->err);
    }
    return st;
}

/* A link that served a pair in time. */
static esp_status hear_link(struct diagnosis *q, int link, double seen_s, double slices)
{
    const struct espi_belief *b = q->belief;
    esp_status st = ESP_OK;
    for (int k = b->first[link]; k < b->first[link + 1] && !st; k++) {
        int r = b->resource[k];
        /* as many pairs as this one, or what comes to the same */
        double pairs_Bps = q->told.uses[r] / slices * b->net->bandwidth_Bps[link];
        st = hear_in_time(q, r, link, seen_s, pairs_Bps);
        if (!st)
            st = acquit(q, r, passed_Bps(q, r, seen_s));
    }
    return st;
}

/* Those in time show what their ways can carry at least. */
static esp_status hear_punctual(struct diagnosis *q)
{
    const struct espi_belief *b = q->belief;
    esp_status st = ESP_OK;
    for (int i = 0; i < q->told.n_pairs; i++) {
        const struct espi_told_pair *p = &q->told.pair[i];
        double seen_s = espi_pair_seen_s(&q->told, p);
        if (espi_pair_lateness(&q->told, p) > ESPI_LATE || !(seen_s > 0))
            continue;
        const int *links;
        int n = espi_belief_links(b, &q->told.v, p->arc, &links);
        add_to_way(q, p->arc, q->cleared);
        for (int k = 0; k < n && !st; k++)
            st = hear_link(q, links[k], seen_s, p->slices);
    }
    return st;
}

/* Which of the sender's children get messages as quickly as their ways explain, and which
 * do not. */
static void part_children(struct diagnosis *q, int u)
{
    size_t bytes = (size_t)q->belief->n_resources * sizeof *q->slow;
    memset(q->slow, 0, bytes);
    memset(q->quick, 0, bytes);
    for (int i = 0; i < q->told.n_pairs; i++) {
        const struct espi_told_pair *p = &q->told.pair[i];
        double slowness = espi_pair_slowness(&q->told, p);
        int quick = slowness > 0 && slowness < ESPI_LATE;
        if (p->from == u)
            add_to_way(q, p->arc, quick ? q->quick : q->slow);
    }
}

/* What held up the messages of that pair can carry no more than was seen. */
static esp_status blame_way(struct diagnosis *q, const struct espi_told_pair *p)
{
    struct espi_blame *blame = &q->blames->past[q->blames->next];
    struct espi_blame now = {.at_s = q->now_s};
    part_children(q, p->from);
    q->arc_s = espi_pair_seen_s(&q->told, p);
    struct passage x = culprit(q, p->arc, &now);
    if (x.resource < 0)
        return ESP_OK;
    take_back(q, x.resource);
    now.blamed = x.resource;
    *blame = now;
    q->blames->next = (q->blames->next + 1) % ESPI_BLAMES;
    double factor = passed_Bps(q, x.resource, q->arc_s) / full_Bps(q, x.resource, x.link);
    q->n_found++;
    q->blames->last =
        (struct espi_finding){.number = q->blames->last.number + 1,
                              .resource = x.resource,
                              .first_link = q->belief->fate[x.resource].first_link,
                              .from = q->told.v.node[p->from],
                              .to = q->told.v.node[p->to],
                              .late = espi_pair_lateness(&q->told, p),
                              .factor = factor};
    return espi_belief_hear(q->belief, x.resource, factor, ESPI_BY_CALL, q->now_s,
                            q->err);
}

static int is_slower(const struct espi_account *q, const struct espi_told_pair *p,
                     const struct espi_told_pair *than)
{
    double mine = espi_pair_slowness(q, p), other = espi_pair_slowness(q, than);
    return mine != other ? mine > other
                         : espi_pair_seen_s(q, p) > espi_pair_seen_s(q, than);
}

/* Of the children of a sender, which it serves in turns, a slow one delays the others:
 * the one that took longest was held up on its own way; or, if it is new to the sender,
 * by the making of their connection, for which nobody is blamed. */
static esp_status hear_late(struct diagnosis *q)
{
    const struct espi_account *told = &q->told;
    esp_status st = ESP_OK;
    for (int u = 0; u < told->v.g.n && !st; u++) {
        const struct espi_told_pair *last = NULL;
        for (int i = 0; i < told->n_pairs; i++)
            if (told->pair[i].from == u &&
                (!last || is_slower(told, &told->pair[i], last)))
                last = &told->pair[i];
        if (!last || last->is_new)
            continue;
        double late = espi_pair_lateness(told, last);
        if (late > ESPI_LATE && late > ESPI_LATER_THAN_SENDER * last->sender &&
            espi_pair_seen_s(told, last) > 0)
            st = blame_way(q, last);
    }
    return st;
}

/* Hosts that are slow with messages, many on one machine or busy ones, are not the
 * network's fault. One call is enough to see that messages take no more than so much; two
 * in a row, that they take more. */
static void weigh_messages(struct diagnosis *q)
{
    double least_s, most_s, *before_s = &q->blames->message_s;
    double *believed_s = &q->belief->message_s;
    if (!espi_account_messages(&q->told, &least_s, &most_s))
        return;
    if (*before_s > *believed_s && least_s > *believed_s)
        *believed_s = fmin(*before_s, least_s);
    *believed_s = fmin(*believed_s, most_s);
    q->belief->message_most_s = fmin(q->belief->message_most_s, most_s);
    *before_s = least_s;
}

esp_status espi_diagnose_slow_links(struct espi_belief *belief,
                                    struct espi_blames *blames,
                                    const struct espi_told_call *call, double now_s,
                                    struct esp_err *err)
{
    struct diagnosis q = {.belief = belief, .blames = blames, .now_s = now_s, .err = err};
    esp_status st = espi_account_init(&q.told, belief, call, now_s, err);
    if (!st)
        st = diagnosis_init(&q);
    if (!st)
        st = hear_punctual(&q);
    if (!st)
        st = hear_late(&q);
    if (!st && q.n_found == 0)
        weigh_messages(&q);
    espi_account_done(&q.told);
    return st;
}
