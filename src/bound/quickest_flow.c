/* The quickest flow to one target: of the ways there some are short and thin, others long
 * and wide, and a long one is of use only while what it carries still comes in by the
 * end.
 *
 * Looked for: paths with rates f such that no resource is used by more than all of it,
 * with the most bytes within a time T, sum of f * (T - latency of the path). That is a
 * linear program, whose columns are shortest paths by its prices, and of which T is found
 * where the bytes are those of the message (Ford, Fulkerson 1958; Burkard, Dlaska, Klinz
 * 1993). Its prices y are seconds a resource.
 *
 * Proven is no more than what follows from labels, whichever they are. Let l be 0 at the
 * root and T at the target. Were every byte there before T, each would have crossed a
 * link u -> v, with a latency of d, on which it was at u not before l(u) and at v before
 * l(v): it used the link in [l(u), l(v) - d). Let every link be covered for that time, at
 * each moment one of its resources; then the bytes are no more than what resources let
 * through while they cover something. If that is less than the message, it takes until T
 * at least. (Where latencies come first: in [l(u) + d, l(v)).) Labels are the shortest
 * distances by latencies and prices, which leave to each link just what its resources
 * cost; and cut off at T, so that one set of labels does for every smaller T.
 *
 * Which resource covers what decides how much is proven. Sends of a host share the
 * beginning, what it receives the end, so ports of the one cover first and of the other
 * last; or one resource covers it all, where that is cheaper beside what is covered
 * already. */
#include "bound/quickest_flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "bound/tuning.h"
#include "lp/lp.h"

static const double ALIKE = 1 - 1e-12; /* rounding: to the safe side */

enum { SPANS = 8 }; /* limit: of a resource; more of them are taken together */

struct span {
    double from_s, to_s;
};

/* When a resource covers links: spans in order, none of which meet. */
struct covering {
    int n;
    struct span at[SPANS];
};

/* A link that is to be covered. */
struct gap {
    int link;
    double spare_s; /* by which its resources cost more than it has to be covered */
    struct span span;
};

struct quickest {
    const struct espi_cut_net *net;
    struct espi_digraph g;
    int root, target;
    double slices; /* of the message */
    double unit_s; /* what a slice takes of a resource, by its order */
    struct espi_lp *lp;
    int *row;          /* resource -> row of the program, -1: none yet */
    double *price_s;   /* by resource */
    double *weight_s;  /* link -> latency and prices */
    double *label_s;   /* node -> the shortest by these */
    double *latency_s; /* of columns */
    int n_columns;
    double carried, rate; /* slices within the time, and each second of it */
    double *least_s;      /* resource -> what a slice takes of it at least */
    int *tail, *head;     /* resource -> of all links that use it, -1: several */
    int leaves_far_ports;
    struct covering *covering;
    struct gap *gap;
};

/* Is it shared by links from several hosts, whose bytes use it now and are at their other
 * end, which is one, at various times? Then what the program says of it holds on average
 * only, and labels prove less. */
static int is_far_port(const struct quickest *q, int resource)
{
    int one_tail = q->tail[resource] >= 0, one_head = q->head[resource] >= 0;
    return q->net->place == ESPI_LATENCY_FIRST ? one_tail && !one_head
                                               : one_head && !one_tail;
}

/* ---- the program ---- */

static esp_status quickest_init(struct quickest *q, struct esp_err *err)
{
    const struct esp_platform *p = q->net->p;
    const struct espi_resources *r = &q->net->uses;
    struct espi_arena *a = q->net->arena;
    q->g = (struct espi_digraph){p->n_nodes, p->n_links, p->tail, p->head, p->out, p->in};
    q->row = ESPI_ARENA_NEW(a, int, r->n);
    q->price_s = ESPI_ARENA_ZNEW(a, double, r->n);
    q->weight_s = ESPI_ARENA_NEW(a, double, p->n_links);
    q->label_s = ESPI_ARENA_NEW(a, double, p->n_nodes);
    q->latency_s = ESPI_ARENA_NEW(a, double, ESPI_QUICKEST_PATHS);
    q->least_s = ESPI_ARENA_NEW(a, double, r->n);
    q->tail = ESPI_ARENA_NEW(a, int, r->n);
    q->head = ESPI_ARENA_NEW(a, int, r->n);
    q->covering = ESPI_ARENA_NEW(a, struct covering, r->n);
    q->gap = ESPI_ARENA_NEW(a, struct gap, p->n_links);
    if (!q->row || !q->price_s || !q->weight_s || !q->label_s || !q->latency_s ||
        !q->least_s || !q->tail || !q->head || !q->covering || !q->gap)
        return espi_err_nomem(err);
    q->unit_s = INFINITY;
    for (int x = 0; x < r->n; x++) {
        q->row[x] = q->tail[x] = q->head[x] = -1;
        q->least_s[x] = INFINITY;
    }
    for (int e = 0; e < p->n_links; e++)
        for (int k = r->start[e]; k < r->start[e + 1]; k++) {
            int x = r->resource[k], first = isinf(q->least_s[x]);
            q->tail[x] = first || q->tail[x] == p->tail[e] ? p->tail[e] : -1;
            q->head[x] = first || q->head[x] == p->head[e] ? p->head[e] : -1;
            q->least_s[x] = fmin(q->least_s[x], r->time_s[k]);
            q->unit_s = fmin(q->unit_s, r->time_s[k]);
        }
    return espi_lp_create(&q->lp, err);
}

/* Labels by the prices of the last solve. */
static void find_labels(struct quickest *q)
{
    const struct espi_resources *r = &q->net->uses;
    const double *dual = q->n_columns ? espi_lp_duals(q->lp) : NULL;
    struct espi_dijkstra_query query = {q->weight_s, &q->root, 1, NULL};
    for (int x = 0; x < r->n; x++)
        q->price_s[x] = q->row[x] >= 0 && dual ? fmax(-dual[q->row[x]], 0) : 0;
    for (int e = 0; e < q->g.m; e++) {
        q->weight_s[e] = q->net->p->latency_s[e];
        for (int k = r->start[e]; k < r->start[e + 1]; k++)
            q->weight_s[e] += q->price_s[r->resource[k]] * r->time_s[k] / q->unit_s;
    }
    espi_dijkstra(q->net->paths, &q->g, &query, q->label_s, q->net->last_arc);
}

static void add_row(struct quickest *q, int resource)
{
    static const int none[] = {0, 0};
    static const double all = 1;
    struct espi_lp_vectors row = {.count = 1, .upper = &all, .start = none};
    q->row[resource] = espi_lp_rows(q->lp);
    espi_lp_add_rows(q->lp, &row);
}

/* The shortest path joins. -1: no memory. */
static int add_path(struct quickest *q, double end_s)
{
    const struct espi_resources *r = &q->net->uses;
    struct espi_arena_mark mark = espi_arena_mark(q->net->arena);
    double *use = ESPI_ARENA_ZNEW(q->net->arena, double, r->n), latency_s = 0;
    int *index = ESPI_ARENA_NEW(q->net->arena, int, r->n), start[2] = {0, 0};
    double *value = ESPI_ARENA_NEW(q->net->arena, double, r->n);
    if (!use || !index || !value)
        return -1;
    for (int u = q->target; u != q->root; u = q->g.tail[q->net->last_arc[u]]) {
        int e = q->net->last_arc[u];
        latency_s += q->net->p->latency_s[e];
        for (int k = r->start[e]; k < r->start[e + 1]; k++)
            use[r->resource[k]] += r->time_s[k] / q->unit_s;
    }
    for (int x = 0; x < r->n; x++) {
        if (!(use[x] > 0) || (q->leaves_far_ports && is_far_port(q, x)))
            continue;
        if (q->row[x] < 0)
            add_row(q, x);
        index[start[1]] = q->row[x];
        value[start[1]++] = use[x];
    }
    double cost = latency_s - end_s;
    struct espi_lp_vectors column = {
        .count = 1, .cost = &cost, .start = start, .index = index, .value = value};
    espi_lp_add_columns(q->lp, &column);
    q->latency_s[q->n_columns++] = latency_s;
    espi_arena_release(q->net->arena, mark);
    return 0;
}

/* The most that can be there by end_s. */
static esp_status carry_most(struct quickest *q, double end_s, struct esp_err *err)
{
    static const double SHORTER = 1 - 1e-9; /* rounding */
    double cost[ESPI_QUICKEST_PATHS];
    for (int i = 0; i < q->n_columns; i++)
        cost[i] = q->latency_s[i] - end_s;
    if (q->n_columns)
        espi_lp_set_costs(q->lp, cost);
    for (;;) {
        espi_lp_result result =
            q->n_columns ? espi_lp_solve(q->lp, ESPI_LP_PRIMAL) : ESPI_LP_OPTIMAL;
        if (result != ESPI_LP_OPTIMAL)
            return espi_lp_error(result,
                                 "the program of the quickest flow was not solved", err);
        find_labels(q);
        if (!(q->label_s[q->target] < end_s * SHORTER) ||
            q->n_columns == ESPI_QUICKEST_PATHS)
            break;
        if (add_path(q, end_s))
            return espi_err_nomem(err);
    }
    q->carried = q->rate = 0;
    for (int i = 0; i < q->n_columns; i++) {
        double rate = espi_lp_values(q->lp)[i] / q->unit_s;
        q->rate += rate;
        q->carried += rate * (end_s - q->latency_s[i]);
    }
    return ESP_OK;
}

/* ---- what labels prove ---- */

/* What the resource covers in addition, if it covers this, too. */
static double uncovered_s(const struct covering *c, struct span s)
{
    double left_s = s.to_s - s.from_s;
    for (int i = 0; i < c->n; i++)
        left_s -= fmax(fmin(s.to_s, c->at[i].to_s) - fmax(s.from_s, c->at[i].from_s), 0);
    return fmax(left_s, 0);
}

static void take_together(struct covering *c)
{
    int best = 0;
    for (int i = 1; i + 1 < c->n; i++)
        if (c->at[i + 1].from_s - c->at[i].to_s <
            c->at[best + 1].from_s - c->at[best].to_s)
            best = i;
    c->at[best].to_s = c->at[best + 1].to_s;
    c->n--;
    memmove(c->at + best + 1, c->at + best + 2,
            (size_t)(c->n - best - 1) * sizeof *c->at);
}

static void cover(struct covering *c, struct span s)
{
    int i = 0, meets = 0;
    if (!(s.from_s < s.to_s))
        return;
    if (c->n == SPANS)
        take_together(c);
    while (i < c->n && c->at[i].to_s < s.from_s)
        i++;
    while (i + meets < c->n && c->at[i + meets].from_s <= s.to_s) {
        s.from_s = fmin(s.from_s, c->at[i + meets].from_s);
        s.to_s = fmax(s.to_s, c->at[i + meets].to_s);
        meets++;
    }
    memmove(c->at + i + 1, c->at + i + meets, (size_t)(c->n - i - meets) * sizeof *c->at);
    c->at[i] = s;
    c->n += 1 - meets;
}

/* The parts of a link's time that its resources cover by their prices: those of its tail
 * from the beginning, those of its head at the end, others between. */
static int allot(const struct quickest *q, const struct gap *gap, struct span *part)
{
    const struct espi_resources *r = &q->net->uses;
    int first = r->start[gap->link], n = r->start[gap->link + 1] - first, last = -1;
    struct span left = gap->span;
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < n; i++) {
            int x = r->resource[first + i];
            int own = q->tail[x] >= 0 && q->head[x] < 0   ? 0
                      : q->head[x] >= 0 && q->tail[x] < 0 ? 1
                                                          : 2;
            double s = fmin(q->price_s[x] * r->time_s[first + i] / q->unit_s,
                            left.to_s - left.from_s);
            if (own != turn)
                continue;
            if (own == 1) {
                part[i] = (struct span){left.to_s - s, left.to_s};
                left.to_s -= s;
            } else {
                part[i] = (struct span){left.from_s, left.from_s + s};
                left.from_s += s;
            }
            last = s > 0 && own != 1 ? i : last;
        }
    /* what is left is rounding, or has no price */
    if (left.from_s < left.to_s && last >= 0 && part[last].to_s == left.from_s)
        part[last].to_s = left.to_s;
    else if (left.from_s < left.to_s)
        return -1;
    return 0;
}

/* Slices that may pass in addition when these parts are covered. */
static double let_through(const struct quickest *q, int link, const struct span *part)
{
    const struct espi_resources *r = &q->net->uses;
    double sum = 0;
    for (int k = r->start[link]; k < r->start[link + 1]; k++) {
        int x = r->resource[k];
        sum += uncovered_s(&q->covering[x], part[k - r->start[link]]) / q->least_s[x];
    }
    return sum;
}

enum { USES_MOST = 16 }; /* limit: of a link */

/* What the flow uses is tight, and prices are made for it. */
static void cover_link(struct quickest *q, const struct gap *gap)
{
    static const double TIGHT = 1e-9; /* rounding */
    int is_tight = gap->spare_s <= TIGHT * q->label_s[q->target];
    const struct espi_resources *r = &q->net->uses;
    int first = r->start[gap->link], n = r->start[gap->link + 1] - first, best = -1;
    struct span part[USES_MOST];
    double least = INFINITY;
    memset(part, 0, sizeof part);
    if (!allot(q, gap, part))
        least = is_tight ? 0 : let_through(q, gap->link, part);
    for (int i = 0; i < n; i++) {
        int x = r->resource[first + i];
        double all = uncovered_s(&q->covering[x], gap->span) / q->least_s[x];
        if (all < least) {
            least = all;
            best = i;
        }
    }
    for (int i = 0; i < n && best < 0; i++)
        cover(&q->covering[r->resource[first + i]], part[i]);
    if (best >= 0)
        cover(&q->covering[r->resource[first + best]], gap->span);
}

static int tightest_first(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;
    if (x->spare_s != y->spare_s)
        return x->spare_s < y->spare_s ? -1 : 1;
    return x->link < y->link ? -1 : x->link > y->link;
}

/* The links to be covered by the labels, cut off at end_s. */
static int list_gaps(struct quickest *q, double end_s)
{
    const struct esp_platform *p = q->net->p;
    int n = 0;
    for (int e = 0; e < p->n_links; e++) {
        double from_s = fmin(q->label_s[p->tail[e]], end_s);
        double to_s = fmin(q->label_s[p->head[e]], end_s) - p->latency_s[e];
        if (!(from_s < to_s))
            continue;
        double shift_s = q->net->place == ESPI_LATENCY_FIRST ? p->latency_s[e] : 0;
        double price_s = q->weight_s[e] - p->latency_s[e];
        q->gap[n++] = (struct gap){
            e, price_s - (to_s - from_s), {from_s + shift_s, to_s + shift_s}};
    }
    qsort(q->gap, (size_t)n, sizeof *q->gap, tightest_first);
    return n;
}

/* No more slices than these are with the target before end_s, up to which labels go. */
static double most_slices(struct quickest *q, double end_s)
{
    int n_resources = q->net->uses.n, n = list_gaps(q, end_s);
    double sum = 0;
    for (int x = 0; x < n_resources; x++)
        q->covering[x].n = 0;
    for (int i = 0; i < n; i++)
        cover_link(q, &q->gap[i]);
    for (int x = 0; x < n_resources; x++)
        for (int i = 0; i < q->covering[x].n; i++)
            sum +=
                (q->covering[x].at[i].to_s - q->covering[x].at[i].from_s) / q->least_s[x];
    return sum;
}

/* The last time, from `from_s` on, before which the message is not there by the labels;
 * from_s where they say no more. */
static double proven_s(struct quickest *q, double from_s)
{
    double low_s = from_s, high_s = q->label_s[q->target];
    for (int i = 0; i < ESPI_QUICKEST_HALVINGS && low_s < high_s; i++) {
        double s = i ? (low_s + high_s) / 2 : high_s;
        double slices = most_slices(q, s);
        if (slices < q->slices * ALIKE)
            low_s = s;
        else
            high_s = s;
    }
    return low_s;
}

/* ---- the whole ---- */

/* What is carried grows ever faster with the time, so that a step by the rate of now goes
 * beyond the end that is looked for once, and from there comes down to it. */
static esp_status search_end(struct quickest *q, double *at_s, struct esp_err *err)
{
    find_labels(q); /* by latencies alone; nothing is faster than a slice in unit_s */
    double s = fmax(*at_s, q->label_s[q->target] + q->slices * q->unit_s);
    if (!isfinite(s)) /* there is no way */
        return ESP_OK;
    esp_status st = carry_most(q, s, err);
    for (int i = 0; i < ESPI_QUICKEST_STEPS && !st && q->rate > 0; i++) {
        double step_s = (q->slices - q->carried) / q->rate;
        if ((i == 0 && step_s <= 0) || fabs(step_s) < ESPI_QUICKEST_NEAR * s)
            break;
        s += step_s;
        st = carry_most(q, s, err);
    }
    *at_s = s;
    return st;
}

/* Labels prove a little less than they were made for, as a rule; so they are made for a
 * little less. */
static esp_status prove_end(struct quickest *q, double at_s, double *end_s,
                            struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < ESPI_QUICKEST_STEPS && !st && q->rate > 0; i++) {
        double over = most_slices(q, q->label_s[q->target]);
        over -= q->slices * ALIKE;
        if (over < 0)
            break;
        at_s -= over / q->rate + ESPI_QUICKEST_NEAR * at_s;
        if (at_s <= *end_s)
            return ESP_OK;
        st = carry_most(q, at_s, err);
    }
    if (!st)
        *end_s = proven_s(q, *end_s);
    return st;
}

static esp_status search_by(const struct espi_cut_net *net, struct quickest q,
                            double *end_s, struct esp_err *err)
{
    struct espi_arena_mark mark = espi_arena_mark(net->arena);
    double at_s = *end_s;
    esp_status st = quickest_init(&q, err);
    if (!st)
        st = search_end(&q, &at_s, err);
    if (!st && at_s > *end_s)
        st = prove_end(&q, at_s, end_s, err);
    espi_lp_free(q.lp);
    espi_arena_release(net->arena, mark);
    return st;
}

static int is_known(const struct espi_cut_net *net)
{
    const struct espi_resources *r = &net->uses;
    int few = 1;
    for (int e = 0; e < net->p->n_links; e++) {
        few &= r->start[e + 1] - r->start[e] <= USES_MOST;
        for (int k = r->start[e]; k < r->start[e + 1]; k++)
            few &= r->time_s[k] > 0;
    }
    return few && net->p->n_hosts == net->p->n_nodes &&
           net->place != ESPI_LATENCY_UNKNOWN;
}

esp_status espi_quickest_flow_s(const struct espi_cut_net *net, int root, int target,
                                double bytes, double *end_s, struct esp_err *err)
{
    struct quickest q = {
        .net = net, .root = root, .target = target, .slices = bytes / net->slice_bytes};
    esp_status st = ESP_OK;
    if (root == target || !(*end_s > 0) || !is_known(net))
        return ESP_OK;
    for (int leaves = 0; leaves < 2 && !st; leaves++) {
        q.leaves_far_ports = leaves;
        st = search_by(net, q, end_s, err);
    }
    return st;
}
