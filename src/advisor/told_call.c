#include "advisor/told_call.h"

#include <math.h>

#include "advisor/tuning.h"
#include "base/err.h"
#include "base/portable_math.h"
#include "cost/cost.h"

enum { FEW = 3 }; /* derived: of so few, one is the first, one the last */

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

/* ---- pairs ---- */

static void count_pair(struct espi_account *q, const struct espi_told_pair *p)
{
    const struct espi_belief *b = q->belief;
    const int *links;
    int n = espi_belief_links(b, &q->v, p->arc, &links);
    espi_load_arc(&q->v, p->arc, p->slices, q->load_s);
    for (int i = 0; i < n; i++)
        for (int k = b->first[links[i]]; k < b->first[links[i] + 1]; k++)
            q->uses[b->resource[k]] += p->slices;
}

static void add_pair(struct espi_account *q, const struct espi_told_call *call, int to,
                     const struct espi_report_way *way)
{
    const struct espi_report_way *sent =
        espi_report_find(&call->reports[way->peer], ESPI_WAY_TO, q->v.node[to]);
    struct espi_told_pair p = {.from = q->v.host[way->peer],
                               .to = to,
                               .is_new = way->is_new,
                               .is_few = way->slices <= FEW,
                               .slices = way->slices,
                               .span_s = (double)way->seconds,
                               .under_way_s = sent ? (double)sent->seconds : 0,
                               .sender = 1};
    p.arc = arc_between(&q->v, p.from, to);
    if (p.arc < 0)
        return;
    q->pair[q->n_pairs++] = p;
    count_pair(q, &p);
}

static int find_pair(const struct espi_account *q, int first, int from)
{
    for (int i = first; i < q->n_pairs; i++)
        if (q->pair[i].from == from)
            return i;
    return -1;
}

/* What came to a host; a plan of one tree has one stream a pair. */
static void add_host(struct espi_account *q, const struct espi_told_call *call, int h)
{
    const struct espi_report *r = &call->reports[q->v.node[h]];
    int first = q->n_pairs, by_tree = 0;
    for (int i = 0; r->magic && i < r->n_ways; i++) {
        by_tree += r->way[i].kind == ESPI_WAY_TREE;
        if (r->way[i].kind == ESPI_WAY_FROM)
            add_pair(q, call, h, &r->way[i]);
    }
    q->by_trees |= by_tree > 0;
    for (int i = 0; by_tree && i < r->n_ways; i++) {
        int pair = find_pair(q, first, q->v.host[r->way[i].peer]);
        if (r->way[i].kind == ESPI_WAY_TREE && pair >= 0)
            q->stream[q->n_streams++] = (struct espi_told_stream){
                .pair = pair, .tree = r->way[i].tree, .source = -1};
    }
    for (int i = first; !by_tree && i < q->n_pairs; i++)
        q->stream[q->n_streams++] = (struct espi_told_stream){.pair = i, .source = -1};
}

/* Streams stand in the order of who they came to. */
static int find_source(const struct espi_account *q, const int *first, int host, int tree)
{
    for (int i = first[host]; i < first[host + 1]; i++)
        if (q->stream[i].tree == tree)
            return i;
    return -1;
}

static esp_status list_pairs(struct espi_account *q, const struct espi_told_call *call)
{
    size_t most = 0;
    for (int h = 0; h < q->v.g.n; h++) {
        const struct espi_report *r = &call->reports[q->v.node[h]];
        most += r->magic && r->n_ways > 0 ? (size_t)r->n_ways : 0;
    }
    q->pair = ESPI_ARENA_NEW(&q->arena, struct espi_told_pair, most + 1);
    q->stream = ESPI_ARENA_NEW(&q->arena, struct espi_told_stream, most + 1);
    int *first = ESPI_ARENA_NEW(&q->arena, int, (size_t)q->v.g.n + 1);
    if (!q->pair || !q->stream || !first)
        return espi_err_nomem(q->err);
    for (int h = 0; h < q->v.g.n; h++) {
        first[h] = q->n_streams;
        add_host(q, call, h);
    }
    first[q->v.g.n] = q->n_streams;
    for (int i = 0; i < q->n_streams; i++)
        q->stream[i].source =
            find_source(q, first, q->pair[q->stream[i].pair].from, q->stream[i].tree);
    return ESP_OK;
}

/* ---- what explains them ---- */

/* For how long the busiest resource of an arc is taken by the call. */
static double busiest_s(const struct espi_account *q, int arc)
{
    double busy_s = 0;
    for (int k = q->v.use_start[arc]; k < q->v.use_start[arc + 1]; k++)
        busy_s = fmax(busy_s, q->load_s[q->v.use_resource[k]]);
    return busy_s;
}

/* A message is as long under way as that resource and the distance make it. */
static double travel_s(const struct espi_account *q, const struct espi_told_pair *p)
{
    return fmax(q->v.time_s[p->arc],
                q->v.latency_s[p->arc] + busiest_s(q, p->arc) / p->slices);
}

/* A sender serves its children of a tree in turns, so that all get slices as the slowest
 * way takes them; which is as fast as the busiest resource lets it, or as the window
 * does. */
static void set_turns(struct espi_account *q, double *of_root_s)
{
    for (int i = 0; i < q->n_pairs; i++) {
        struct espi_told_pair *p = &q->pair[i];
        p->turn_s = fmax(busiest_s(q, p->arc), p->slices * travel_s(q, p) / q->window);
    }
    for (int i = 0; i < q->n_streams; i++) {
        const struct espi_told_stream *s = &q->stream[i];
        double *turn_s =
            s->source < 0 ? &of_root_s[s->tree] : &q->stream[s->source].turn_s;
        *turn_s = fmax(*turn_s, q->pair[s->pair].turn_s);
    }
}

/* Down the trees; reports may be wrong, so a circle must not hold us up. */
static void set_paces(struct espi_account *q, const double *of_root_s)
{
    for (int round = 0, changed = 1; changed && round < q->v.g.n; round++) {
        changed = 0;
        for (int i = 0; i < q->n_streams; i++) {
            struct espi_told_stream *s = &q->stream[i];
            const struct espi_told_stream *up =
                s->source < 0 ? NULL : &q->stream[s->source];
            double pace_s = up ? fmax(up->turn_s, up->pace_s) : of_root_s[s->tree];
            changed = changed || pace_s > s->pace_s;
            s->pace_s = fmax(s->pace_s, pace_s);
        }
    }
    for (int i = 0; i < q->n_streams; i++) {
        double *pace_s = &q->pair[q->stream[i].pair].pace_s;
        *pace_s = fmax(*pace_s, q->stream[i].pace_s);
    }
}

/* What messages may take of hosts is added as plans are judged by (select/slices.h). */
static void add_messages(struct espi_account *q)
{
    double messages_s = q->belief->message_most_s * q->slices;
    for (int i = 0; i < q->n_pairs; i++)
        q->pair[i].pace_s = espi_hypot(q->pair[i].pace_s, messages_s);
}

int espi_account_messages(const struct espi_account *q, double *least_s, double *most_s)
{
    double seen_s = 0, pace_s = 0, messages_s = q->belief->message_most_s * q->slices;
    for (int i = 0; i < q->n_pairs; i++) {
        const struct espi_told_pair *p = &q->pair[i];
        double bare_s = sqrt(fmax(p->pace_s * p->pace_s - messages_s * messages_s, 0));
        if (p->is_few)
            continue;
        seen_s = fmax(seen_s, espi_pair_seen_s(q, p));
        pace_s = fmax(pace_s, bare_s);
    }
    double noise_s = ESPI_MESSAGES_FROM * pace_s;
    *least_s = sqrt(fmax(seen_s * seen_s - noise_s * noise_s, 0)) / q->slices;
    seen_s = fmax(seen_s, noise_s);
    *most_s = sqrt(fmax(seen_s * seen_s - pace_s * pace_s, 0)) / q->slices;
    return pace_s > 0;
}

/* Where slices follow each other, a sender that is late is so for all of them. */
static void set_senders(struct espi_account *q)
{
    for (int i = 0; i < q->n_streams; i++) {
        const struct espi_told_stream *s = &q->stream[i];
        struct espi_told_pair *p = &q->pair[s->pair];
        if (s->source >= 0 && !p->is_few)
            p->sender = fmax(p->sender,
                             espi_pair_lateness(q, &q->pair[q->stream[s->source].pair]));
    }
}

static esp_status explain_pairs(struct espi_account *q)
{
    double *of_root_s = ESPI_ARENA_ZNEW(&q->arena, double, ESPI_REPORT_TREES);
    if (!of_root_s)
        return espi_err_nomem(q->err);
    set_turns(q, of_root_s);
    set_paces(q, of_root_s);
    add_messages(q);
    set_senders(q);
    return ESP_OK;
}

esp_status espi_account_init(struct espi_account *q, struct espi_belief *belief,
                             const struct espi_told_call *call, double now_s,
                             struct esp_err *err)
{
    *q = (struct espi_account){.belief = belief,
                               .now_s = now_s,
                               .window = call->window,
                               .slices = call->slices,
                               .err = err};
    espi_arena_init(&q->arena);
    esp_status st = espi_belief_platform(belief, now_s, NULL, &q->believed, err);
    if (!st)
        st = espi_view_init(&q->v, q->believed, call->bytes / call->slices, &q->arena,
                            err);
    if (st)
        return st;
    q->load_s = ESPI_ARENA_ZNEW(&q->arena, double, q->v.links.n);
    q->uses = ESPI_ARENA_ZNEW(&q->arena, double, belief->n_resources + 1);
    if (!q->load_s || !q->uses)
        return espi_err_nomem(err);
    st = list_pairs(q, call);
    return st ? st : explain_pairs(q);
}

void espi_account_done(struct espi_account *q)
{
    espi_arena_done(&q->arena);
    esp_platform_free(q->believed);
}

/* ---- what was seen ---- */

/* While there is something to send there is something under way; where a sender has to
 * wait for it, for as long as a slice travels at most. */
double espi_pair_slowness(const struct espi_account *q, const struct espi_told_pair *p)
{
    double waits_s = fmin(p->pace_s, p->slices * q->v.time_s[p->arc]);
    double expected_s = q->v.latency_s[p->arc] + fmax(busiest_s(q, p->arc), waits_s);
    return p->under_way_s / fmax(expected_s, q->v.time_s[p->arc]);
}

/* Slices of several trees meet in bursts: of few of them, some wait for those of others
 * that are not due before them. */
static double bursts(const struct espi_account *q, const struct espi_told_pair *p)
{
    return q->by_trees ? 1 + ESPI_BURST_SLICES / p->slices : 1;
}

double espi_pair_lateness(const struct espi_account *q, const struct espi_told_pair *p)
{
    double explained_s = (p->slices - 1) / p->slices * p->pace_s * bursts(q, p);
    if (p->is_few)
        return p->under_way_s > 0 ? espi_pair_slowness(q, p) / bursts(q, p) : 1;
    return explained_s > 0 ? p->span_s / explained_s : 1;
}

double espi_pair_seen_s(const struct espi_account *q, const struct espi_told_pair *p)
{
    if (p->is_few)
        return fmax(p->under_way_s - q->v.latency_s[p->arc], 0);
    return p->span_s * p->slices / (p->slices - 1);
}
