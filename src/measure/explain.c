/* What transfers share, found by what it predicts.
 *
 * A network is the ports of its hosts and some limits: each is a rate that all transfers
 * between some areas share (an uplink, a cable, a medium), or that each of them has for
 * itself (a window). Given the limits, the max-min fair rates of the transfers of a round
 * are the prediction of that round, and what was seen is held to it: the loss of a
 * transfer is the square of the logarithm of seen over predicted, in units of the usual
 * spread, and bounded, for values may be far off.
 *
 * Limits are added one after the other, each time the one that takes away most loss, as
 * long as that is more than its price; then those that are not worth their price any more
 * go, and pairs of sites are moved in and out of limits as long as it helps. The rate of
 * a limit needs no search: it is the most that its transfers were seen to get together.
 * So a limit that never was the reason why transfers were slow predicts nothing and is
 * never added. No single round can pay the price of a limit alone: what disturbs a round
 * does not come again, as limits do.
 *
 * Candidates: what leaves or enters an area or a site, or both; each cable between two
 * sites, or areas of a site, in one or in both directions; the medium of a site; the
 * cables of which latencies say that routes lead over them (routes.c); and whatever was
 * slower than predicted together in a round.
 *
 * Complexity: candidates x rounds that they touch x (transfers of a round)^2, a limit
 * that is added; gains are computed anew only where an earlier bound on them is still the
 * best (they mostly shrink). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/portable_math.h"
#include "measure/explain.h"
#include "measure/routes.h"

enum limit_kind {
    LIMIT_OUT,  /* of area `a` */
    LIMIT_IN,   /* of area `a` */
    LIMIT_BOTH, /* in and out of area `a` */
    LIMIT_SITE_OUT,
    LIMIT_SITE_IN,
    LIMIT_SITE_BOTH,
    LIMIT_CABLE,      /* site `a` to `b` */
    LIMIT_CABLE_BOTH, /* there and back */
    LIMIT_AREA_CABLE, /* area `a` to `b` of one site */
    LIMIT_WINDOW,     /* site `a` to `b`: each transfer by itself */
    LIMIT_MEDIUM,     /* of site `a` */
    LIMIT_SET         /* whatever else */
};

struct limit {
    enum limit_kind kind;
    int a, b;
    unsigned char *pairs; /* area * n_areas + area: do their transfers use it? */
    double Bps, price;
    double gain; /* at most; less the price */
    int fresh;   /* is the gain that of the limits there are now? */
    int level;   /* pairs of sites, or of areas of one site, that it is about */
    int aside;   /* is it left out of predictions for now? */
};

struct fitting {
    struct espi_measured *net;
    struct espi_arena *arena;
    const struct espi_trial_rounds *r;
    int n_areas;
    int *key;                /* flow -> its pair of areas */
    int *out_port, *in_port; /* flow -> its ports, numbered by round */
    double *own, *predicted; /* flow -> its own limit, its rate as predicted */
    double *trial_rate;      /* room for a round */
    double *loss;            /* of rounds, as predicted */
    double spread;           /* of the logarithm of seen over predicted */
    struct limit **chosen;
    int n_chosen;
    struct limit *candidates;
    int n_candidates, room;
    double *values; /* room for a value a flow */
    /* room for the resources of a round */
    double *left;
    int *open, *uses, *use_start;
};

/* ---- prediction ---- */

static double port_Bps(const struct fitting *t, int flow, int out)
{
    const struct espi_trial_flow *f = &t->r->flows[flow];
    return out ? t->net->out_Bps[f->from] : t->net->in_Bps[f->to];
}

/* Numbers the resources of a round: ports, then limits that its flows use, then a limit
 * of its own for each flow. Gives how many there are. */
static int list_uses(struct fitting *t, int round, const struct limit *extra)
{
    int from = t->r->start[round], n = t->r->start[round + 1] - from, k = 0;
    int first_limit = 2 * n, first_own = first_limit + t->n_chosen + 1;
    for (int i = 0; i < first_own + n; i++)
        t->open[i] = 0;
    for (int c = 0; c <= t->n_chosen; c++) {
        const struct limit *l = c < t->n_chosen ? t->chosen[c] : extra;
        t->left[first_limit + c] = l ? l->Bps : 0;
    }
    for (int i = 0; i < n; i++) {
        t->use_start[i] = k;
        t->uses[k++] = t->out_port[from + i];
        t->uses[k++] = n + t->in_port[from + i];
        t->left[t->out_port[from + i]] = port_Bps(t, from + i, 1);
        t->left[n + t->in_port[from + i]] = port_Bps(t, from + i, 0);
        t->left[first_own + i] = t->own[from + i];
        t->uses[k++] = first_own + i;
        for (int c = 0; c <= t->n_chosen; c++) {
            const struct limit *l = c < t->n_chosen ? t->chosen[c] : extra;
            if (!l || l->aside || !l->pairs[t->key[from + i]])
                continue;
            if (l->kind == LIMIT_WINDOW)
                t->left[first_own + i] = fmin(t->left[first_own + i], l->Bps);
            else
                t->uses[k++] = first_limit + c;
        }
    }
    t->use_start[n] = k;
    for (int i = 0; i < k; i++)
        t->open[t->uses[i]]++;
    return first_own + n;
}

/* The rates of a round: the tightest resource is divided evenly among its flows, they
 * are settled, and so on. */
static void predict_round(struct fitting *t, int round, const struct limit *extra,
                          double *rate)
{
    int n = t->r->start[round + 1] - t->r->start[round];
    int n_resources = list_uses(t, round, extra);
    for (int i = 0; i < n; i++)
        rate[i] = -1;
    for (;;) {
        int which = -1;
        double share = INFINITY;
        for (int x = 0; x < n_resources; x++)
            if (t->open[x] > 0 && t->left[x] / t->open[x] < share) {
                share = t->left[x] / t->open[x];
                which = x;
            }
        if (which < 0)
            return;
        for (int i = 0; i < n; i++) {
            int is_user = 0;
            for (int k = t->use_start[i]; k < t->use_start[i + 1] && rate[i] < 0; k++)
                is_user |= t->uses[k] == which;
            if (!is_user)
                continue;
            rate[i] = share;
            for (int k = t->use_start[i]; k < t->use_start[i + 1]; k++) {
                t->left[t->uses[k]] = fmax(0, t->left[t->uses[k]] - share);
                t->open[t->uses[k]]--;
            }
        }
    }
}

static double round_loss(const struct fitting *t, int round, const double *rate)
{
    double loss = 0;
    int from = t->r->start[round];
    for (int i = from; i < t->r->start[round + 1]; i++) {
        double off = espi_log(t->r->flows[i].Bps / rate[i - from]) / t->spread;
        loss += fmin(off * off / 2, ESPI_LOSS_MOST);
    }
    return loss;
}

static void predict_again(struct fitting *t, int round)
{
    double *rate = &t->predicted[t->r->start[round]];
    predict_round(t, round, NULL, rate);
    t->loss[round] = round_loss(t, round, rate);
}

static void predict_all(struct fitting *t)
{
    for (int k = 0; k < t->r->n; k++)
        predict_again(t, k);
}

static int has_transfers(const struct fitting *t, const struct limit *l, int round)
{
    for (int i = t->r->start[round]; i < t->r->start[round + 1]; i++)
        if (l->pairs[t->key[i]])
            return 1;
    return 0;
}

/* After the limit has come or gone. */
static void predict_changed(struct fitting *t, const struct limit *l)
{
    for (int k = 0; k < t->r->n; k++)
        if (has_transfers(t, l, k))
            predict_again(t, k);
}

/* ---- one limit ---- */

/* The most that its transfers were seen to get, together or each; -1: there are none. */
static double seen_most(struct fitting *t, const struct limit *l)
{
    int n = 0;
    for (int k = 0; k < t->r->n; k++) {
        double sum = 0;
        for (int i = t->r->start[k]; i < t->r->start[k + 1]; i++) {
            if (!l->pairs[t->key[i]])
                continue;
            sum += t->r->flows[i].Bps;
            if (l->kind == LIMIT_WINDOW)
                t->values[n++] = t->r->flows[i].Bps;
        }
        if (sum > 0 && l->kind != LIMIT_WINDOW)
            t->values[n++] = sum;
    }
    return n ? espi_confirmed_top(t->values, n) : -1;
}

/* Would the limit change the prediction of the round? */
static int limit_matters(const struct fitting *t, const struct limit *l, int round)
{
    double sum = 0, most = 0;
    for (int i = t->r->start[round]; i < t->r->start[round + 1]; i++)
        if (l->pairs[t->key[i]]) {
            sum += t->predicted[i];
            most = fmax(most, t->predicted[i]);
        }
    return (l->kind == LIMIT_WINDOW ? most : sum) > l->Bps * (1 + 1e-9);
}

/* How much loss the limit takes away, less its price. */
static void weigh_limit(struct fitting *t, struct limit *l)
{
    l->gain = -l->price;
    l->fresh = 1;
    for (int k = 0; k < t->r->n && l->Bps > 0; k++) {
        if (!limit_matters(t, l, k))
            continue;
        predict_round(t, k, l, t->trial_rate);
        l->gain +=
            fmin(t->loss[k] - round_loss(t, k, t->trial_rate), ESPI_ROUND_PAYS_MOST);
    }
}

/* By how much the loss would grow without it, less its price. */
static double loss_without(struct fitting *t, struct limit *l)
{
    double more = -l->price;
    l->aside = 1;
    for (int k = 0; k < t->r->n; k++) {
        if (!has_transfers(t, l, k))
            continue;
        predict_round(t, k, NULL, t->trial_rate);
        more += fmin(round_loss(t, k, t->trial_rate) - t->loss[k], ESPI_ROUND_PAYS_MOST);
    }
    l->aside = 0;
    return more;
}

/* ---- candidates ---- */

static struct limit *new_candidate(struct fitting *t, enum limit_kind kind, int a, int b)
{
    size_t cells = (size_t)t->n_areas * (size_t)t->n_areas;
    if (t->n_candidates == t->room)
        return NULL;
    struct limit *l = &t->candidates[t->n_candidates];
    *l = (struct limit){.kind = kind, .a = a, .b = b, .price = ESPI_LIMIT_PRICE};
    if (kind == LIMIT_BOTH || kind == LIMIT_SITE_BOTH || kind == LIMIT_CABLE_BOTH)
        l->price *= 2; /* looks like two limits, one a direction, and seldom is one */
    l->pairs = ESPI_ARENA_ZNEW(t->arena, unsigned char, cells);
    if (l->pairs)
        t->n_candidates++;
    return l->pairs ? l : NULL;
}

static void include_sites(const struct fitting *t, struct limit *l, int from, int to)
{
    const struct espi_measured *net = t->net;
    for (int a = net->first_subsite[from]; a < net->first_subsite[from + 1]; a++)
        for (int b = net->first_subsite[to]; b < net->first_subsite[to + 1]; b++)
            l->pairs[a * t->n_areas + b] = 1;
}

/* Were there transfers between these sites, or areas? What nothing was seen of needs no
 * candidate. */
static int was_seen(const struct fitting *t, int from, int to, const int *of)
{
    for (int i = 0; i < t->r->start[t->r->n]; i++)
        if (of[t->r->flows[i].from] == from && of[t->r->flows[i].to] == to)
            return 1;
    return 0;
}

static int add_area_limits(struct fitting *t)
{
    int n = t->n_areas;
    for (int a = 0; a < n && n > 1; a++)
        for (int kind = LIMIT_OUT; kind <= LIMIT_BOTH; kind++) {
            struct limit *l = new_candidate(t, (enum limit_kind)kind, a, a);
            if (!l)
                return -1;
            for (int b = 0; b < n; b++) {
                l->pairs[a * n + b] |= b != a && kind != LIMIT_IN;
                l->pairs[b * n + a] |= b != a && kind != LIMIT_OUT;
            }
        }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            if (a != b && t->net->subsite_site[a] == t->net->subsite_site[b] &&
                was_seen(t, a, b, t->net->subsite)) {
                struct limit *l = new_candidate(t, LIMIT_AREA_CABLE, a, b);
                if (!l)
                    return -1;
                l->pairs[a * n + b] = 1;
            }
    return 0;
}

static int add_site_limits(struct fitting *t)
{
    int s = t->net->n_sites;
    struct limit *l;
    for (int a = 0; a < s; a++) {
        int areas = t->net->first_subsite[a + 1] - t->net->first_subsite[a];
        for (int kind = LIMIT_SITE_OUT; kind <= LIMIT_SITE_BOTH && s > 1 && areas > 1;
             kind++) {
            if (!(l = new_candidate(t, (enum limit_kind)kind, a, a)))
                return -1;
            for (int b = 0; b < s; b++) {
                if (b != a && kind != LIMIT_SITE_IN)
                    include_sites(t, l, a, b);
                if (b != a && kind != LIMIT_SITE_OUT)
                    include_sites(t, l, b, a);
            }
        }
        if (!(l = new_candidate(t, LIMIT_MEDIUM, a, a)))
            return -1;
        include_sites(t, l, a, a);
    }
    for (int a = 0; a < s; a++)
        for (int b = 0; b < s; b++) {
            if (a == b || !was_seen(t, a, b, t->net->site))
                continue;
            for (int kind = LIMIT_CABLE; kind <= LIMIT_WINDOW; kind++) {
                if (kind == LIMIT_AREA_CABLE || (kind == LIMIT_CABLE_BOTH && a > b))
                    continue;
                if (!(l = new_candidate(t, (enum limit_kind)kind, a, b)))
                    return -1;
                include_sites(t, l, a, b);
                if (kind == LIMIT_CABLE_BOTH)
                    include_sites(t, l, b, a);
            }
        }
    return 0;
}

/* A limit of several pairs of sites, by which it is dearer than one that has a name. */
static void price_set(const struct fitting *t, struct limit *l)
{
    int pairs = 0;
    for (int a = 0; a < t->net->n_sites; a++)
        for (int b = 0; b < t->net->n_sites; b++)
            pairs += l->pairs[t->net->first_subsite[a] * t->n_areas +
                              t->net->first_subsite[b]];
    l->price += pairs;
}

static int same_pairs(const struct fitting *t, const struct limit *a,
                      const struct limit *b)
{
    return memcmp(a->pairs, b->pairs, (size_t)t->n_areas * (size_t)t->n_areas) == 0;
}

/* Takes the last candidate back if there is another of the same transfers. */
static void forget_twin(struct fitting *t)
{
    const struct limit *l = &t->candidates[t->n_candidates - 1];
    for (int i = 0; i < t->n_candidates - 1; i++)
        if (same_pairs(t, &t->candidates[i], l) &&
            t->candidates[i].kind != LIMIT_WINDOW) {
            t->n_candidates--;
            return;
        }
}

/* A wire, in one direction or in both. */
static int add_wire_limit(struct fitting *t, const struct espi_site_routes *routes,
                          int from, int to, int both)
{
    int s = t->net->n_sites;
    struct limit *l = new_candidate(t, LIMIT_SET, from, to);
    if (!l)
        return t->n_candidates == t->room ? 0 : -1;
    for (int a = 0; a < s; a++)
        for (int b = 0; b < s; b++)
            if (a != b && (espi_site_routes_cross(routes, a, b, from, to) ||
                           (both && espi_site_routes_cross(routes, a, b, to, from))))
                include_sites(t, l, a, b);
    l->price *= 1 + both;
    forget_twin(t);
    return 0;
}

/* The wires that latencies tell of. */
static int add_route_limits(struct fitting *t)
{
    int s = t->net->n_sites;
    for (int variant = 0; variant < ESPI_ROUTE_VARIANTS && s > 2; variant++) {
        struct espi_site_routes routes;
        if (espi_site_routes_find(&routes, t->net, variant, t->arena))
            return -1;
        for (int k = 0; k < s * s; k++)
            for (int both = 0; both < 2; both++)
                if (espi_site_routes_adjacent(&routes, k / s, k % s) &&
                    !(both && k / s > k % s) &&
                    add_wire_limit(t, &routes, k / s, k % s, both))
                    return -1;
    }
    return 0;
}

static int is_slow(const struct fitting *t, int flow)
{
    return espi_log(t->predicted[flow] / t->r->flows[flow].Bps) > 3 * t->spread;
}

/* What was slow together, between sites, in a round; -1 when out of memory. */
static int add_slow_set(struct fitting *t, int round)
{
    const struct espi_measured *net = t->net;
    struct limit *l = NULL;
    int n = 0;
    for (int i = t->r->start[round]; i < t->r->start[round + 1]; i++) {
        int a = net->site[t->r->flows[i].from], b = net->site[t->r->flows[i].to];
        if (a == b || !is_slow(t, i))
            continue;
        if (!l && !(l = new_candidate(t, LIMIT_SET, -1, -1)))
            return t->n_candidates == t->room ? 0 : -1;
        n += !l->pairs[t->key[i]];
        include_sites(t, l, a, b);
    }
    if (!l)
        return 0;
    price_set(t, l);
    if (n < 2) /* one pair has its own */
        t->n_candidates--;
    else
        forget_twin(t);
    return 0;
}

/* Pairs of sites, and of areas of one site, that a limit is about. */
static int count_pairs(const struct fitting *t, const struct limit *l)
{
    const struct espi_measured *net = t->net;
    int n = 0;
    for (int k = 0; k < t->n_areas * t->n_areas; k++) {
        int a = k / t->n_areas, b = k % t->n_areas;
        int site_a = net->subsite_site[a], site_b = net->subsite_site[b];
        n += l->pairs[k] && (site_a == site_b || (a == net->first_subsite[site_a] &&
                                                  b == net->first_subsite[site_b]));
    }
    return n;
}

/* The next larger level that there is, or 0. */
static int next_level(const struct fitting *t, int level)
{
    int next = 0;
    for (int i = 0; i < t->n_candidates; i++)
        if (t->candidates[i].level > level && (!next || t->candidates[i].level < next))
            next = t->candidates[i].level;
    return next;
}

static int list_candidates(struct fitting *t)
{
    int n = t->n_areas, s = t->net->n_sites;
    t->room =
        3 * n + n * n + 4 * s + (4 + 2 * ESPI_ROUTE_VARIANTS) * s * s + t->r->n + 16;
    t->candidates = ESPI_ARENA_NEW(t->arena, struct limit, (size_t)t->room);
    if (!t->candidates || add_area_limits(t) || add_site_limits(t) || add_route_limits(t))
        return -1;
    for (int k = 0; k < t->r->n; k++)
        if (add_slow_set(t, k))
            return -1;
    for (int i = 0; i < t->n_candidates; i++) {
        double Bps = seen_most(t, &t->candidates[i]);
        t->candidates[i].Bps = Bps;
        t->candidates[i].gain = INFINITY;
        t->candidates[i].level =
            t->candidates[i].kind == LIMIT_MEDIUM ? 1 : count_pairs(t, &t->candidates[i]);
    }
    return 0;
}

/* ---- choosing ---- */

static int is_chosen(const struct fitting *t, const struct limit *l)
{
    for (int i = 0; i < t->n_chosen; i++)
        if (t->chosen[i] == l)
            return 1;
    return 0;
}

/* The best candidate of up to that level that is worth its price, or NULL. */
static struct limit *best_candidate(struct fitting *t, int level)
{
    for (;;) {
        struct limit *best = NULL;
        for (int i = 0; i < t->n_candidates; i++)
            if (t->candidates[i].level <= level &&
                (!best || t->candidates[i].gain > best->gain))
                best = &t->candidates[i];
        if (!best || !(best->gain > 0))
            return NULL;
        if (best->fresh)
            return best;
        weigh_limit(t, best);
        if (is_chosen(t, best))
            best->gain = -INFINITY;
    }
}

static void forget_gains(struct fitting *t)
{
    for (int i = 0; i < t->n_candidates; i++)
        t->candidates[i].fresh = 0;
}

static void choose_limits(struct fitting *t, int level)
{
    struct limit *best;
    while (t->n_chosen < ESPI_LIMITS_MAX && (best = best_candidate(t, level)) != NULL) {
        best->gain = -INFINITY;
        t->chosen[t->n_chosen++] = best;
        predict_changed(t, best);
        forget_gains(t);
    }
}

static void remove_chosen(struct fitting *t, int i)
{
    memmove(&t->chosen[i], &t->chosen[i + 1],
            (size_t)(t->n_chosen - i - 1) * sizeof(struct limit *));
    t->n_chosen--;
}

static void drop_limits(struct fitting *t)
{
    for (int i = t->n_chosen - 1; i >= 0; i--)
        if (loss_without(t, t->chosen[i]) <= 0) {
            const struct limit *gone = t->chosen[i];
            remove_chosen(t, i);
            predict_changed(t, gone);
        }
}

/* ---- merging ---- */

static int is_part(const struct fitting *t, const struct limit *part,
                   const struct limit *whole)
{
    if (part->kind == LIMIT_WINDOW || part == whole)
        return 0;
    for (int k = 0; k < t->n_areas * t->n_areas; k++)
        if (part->pairs[k] && !whole->pairs[k])
            return 0;
    return 1;
}

/* What is won when the limit takes the place of all those chosen that are part of it.
 * Some round must bear it out: that rates are equal alone is no reason to share one. */
static double weigh_merge(struct fitting *t, struct limit *whole)
{
    double won = -whole->price;
    int parts = 0, tried = 0;
    for (int c = 0; c < t->n_chosen; c++)
        if (is_part(t, t->chosen[c], whole)) {
            t->chosen[c]->aside = 1;
            won += t->chosen[c]->price;
            parts++;
        }
    for (int k = 0; k < t->r->n && parts >= 2; k++) {
        if (!has_transfers(t, whole, k))
            continue;
        predict_round(t, k, whole, t->trial_rate);
        double less = t->loss[k] - round_loss(t, k, t->trial_rate);
        tried |= less > ESPI_ROUND_PAYS_MOST / 4;
        won += fmin(less, ESPI_ROUND_PAYS_MOST);
    }
    for (int c = 0; c < t->n_chosen; c++)
        t->chosen[c]->aside = 0;
    return parts >= 2 && tried ? won : -INFINITY;
}

/* Several limits become one that says the same with fewer numbers. */
static void merge_limits(struct fitting *t, int level)
{
    for (int i = 0; i < t->n_candidates; i++) {
        struct limit *l = &t->candidates[i];
        if (l->level < 2 || l->level > level || !(l->Bps > 0) ||
            l->kind == LIMIT_WINDOW || is_chosen(t, l) || weigh_merge(t, l) <= 0)
            continue;
        for (int c = t->n_chosen - 1; c >= 0; c--)
            if (is_part(t, t->chosen[c], l))
                remove_chosen(t, c);
        t->chosen[t->n_chosen++] = l;
        predict_changed(t, l);
    }
}

/* ---- the rate of what was chosen ---- */

static int compare_rates(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The middle of what it carried in rounds in which it was the reason why transfers were
 * no faster, as far as the prediction says: a machine that stood still lets less through,
 * and then what has piled up, more. */
static void settle_rates(struct fitting *t)
{
    for (int c = 0; c < t->n_chosen; c++) {
        struct limit *l = t->chosen[c];
        int n = 0;
        for (int k = 0; k < t->r->n && l->kind != LIMIT_WINDOW; k++) {
            double sum = 0, predicted = 0;
            for (int i = t->r->start[k]; i < t->r->start[k + 1]; i++)
                if (l->pairs[t->key[i]]) {
                    sum += t->r->flows[i].Bps;
                    predicted += t->predicted[i];
                }
            if (sum > 0 && predicted > l->Bps * (1 - 1e-6))
                t->values[n++] = sum;
        }
        if (n >= 3) {
            qsort(t->values, (size_t)n, sizeof *t->values, compare_rates);
            l->Bps = t->values[n / 2];
        }
    }
    predict_all(t);
}

/* ---- doubts ---- */

/* Rounds that the network does not explain are to be run again. */
static void mark_doubts(struct fitting *t)
{
    struct espi_trial_rounds *r = &t->net->rounds;
    for (int k = 0; k < r->n; k++)
        for (int i = r->start[k]; i < r->start[k + 1]; i++)
            if (is_slow(t, i)) {
                espi_trial_rounds_doubt(r, k);
                break;
            }
}

/* ---- ports ---- */

/* Would the transfers of this flow's host have been faster without its port, as far as
 * the prediction says? Then what they got is the port's rate. */
static int port_held(struct fitting *t, int round, int flow, int out)
{
    const struct espi_trial_flow *f = &t->r->flows[flow];
    double *port = out ? &t->net->out_Bps[f->from] : &t->net->in_Bps[f->to];
    double kept = *port, sum = 0, predicted = 0, seen = 0;
    int from = t->r->start[round];
    *port = kept * 1e6; /* rounding: as good as none */
    predict_round(t, round, NULL, t->trial_rate);
    *port = kept;
    for (int i = from; i < t->r->start[round + 1]; i++) {
        const struct espi_trial_flow *g = &t->r->flows[i];
        if (out ? g->from == f->from : g->to == f->to) {
            sum += t->trial_rate[i - from];
            predicted += t->predicted[i];
            seen += g->Bps;
        }
    }
    return seen > kept * (1 - ESPI_SPREAD) && sum > predicted * (1 + 2 * ESPI_SPREAD);
}

static void note_sure_ports(struct fitting *t)
{
    struct espi_measured *net = t->net;
    for (int k = 0; k < t->r->n; k++)
        for (int i = t->r->start[k]; i < t->r->start[k + 1]; i++) {
            const struct espi_trial_flow *f = &t->r->flows[i];
            if (!net->out_sure[f->from])
                net->out_sure[f->from] = (unsigned char)port_held(t, k, i, 1);
            if (!net->in_sure[f->to])
                net->in_sure[f->to] = (unsigned char)port_held(t, k, i, 0);
        }
}

/* ---- writing down ---- */

static void name_limit(const struct fitting *t, const struct limit *l, int *cores,
                       char *name, size_t size)
{
    const struct espi_measured *net = t->net;
    static const char *const ways[] = {"out", "in", "both"};
    int is_area = l->kind <= LIMIT_BOTH;
    int site = is_area || l->kind == LIMIT_AREA_CABLE ? net->subsite_site[l->a] : l->a;
    switch (l->kind) {
    case LIMIT_OUT:
    case LIMIT_IN:
    case LIMIT_BOTH:
        if (net->first_subsite[site + 1] - net->first_subsite[site] > 1) {
            snprintf(name, size, "%s/%d:%s", net->site_name[site],
                     l->a - net->first_subsite[site] + 1, ways[l->kind - LIMIT_OUT]);
            break;
        }
        snprintf(name, size, "wan:%s:%s", net->site_name[site],
                 ways[l->kind - LIMIT_OUT]);
        break;
    case LIMIT_SITE_OUT:
    case LIMIT_SITE_IN:
    case LIMIT_SITE_BOTH:
        snprintf(name, size, "wan:%s:%s", net->site_name[site],
                 ways[l->kind - LIMIT_SITE_OUT]);
        break;
    case LIMIT_CABLE:
    case LIMIT_CABLE_BOTH:
        snprintf(name, size, "wan:%s%s%s", net->site_name[l->a],
                 l->kind == LIMIT_CABLE ? ">" : "<>", net->site_name[l->b]);
        break;
    case LIMIT_AREA_CABLE:
        snprintf(name, size, "%s/%d>%d", net->site_name[site],
                 l->a - net->first_subsite[site] + 1,
                 l->b - net->first_subsite[site] + 1);
        break;
    case LIMIT_MEDIUM:
        snprintf(name, size, "%s:medium", net->site_name[site]);
        break;
    case LIMIT_WINDOW:
    case LIMIT_SET:
        snprintf(name, size, "wan:core%d", ++*cores);
        break;
    }
}

static int by_name(const void *x, const void *y)
{
    const struct limit *a = *(struct limit *const *)x, *b = *(struct limit *const *)y;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    if (a->b != b->b)
        return a->b < b->b ? -1 : 1;
    return (a > b) - (a < b); /* both of the list of candidates */
}

static int write_limits(const struct fitting *t)
{
    struct espi_measured *net = t->net;
    int n = t->n_areas, cores = 0;
    qsort(t->chosen, (size_t)t->n_chosen, sizeof *t->chosen, by_name);
    for (int c = 0; c < t->n_chosen; c++) {
        const struct limit *l = t->chosen[c];
        if (l->kind == LIMIT_WINDOW) {
            net->flow_Bps[l->a * net->n_sites + l->b] = l->Bps;
            continue;
        }
        struct espi_shared *shared = espi_measured_add_shared(net, l->Bps);
        if (!shared)
            return -1;
        name_limit(t, l, &cores, shared->name, sizeof shared->name);
        for (int k = 0; k < n * n; k++)
            if (l->pairs[k] && espi_measured_add_pair(net, k / n, k % n))
                return -1;
    }
    return 0;
}

/* ---- the whole ---- */

static int fitting_init(struct fitting *t)
{
    const struct espi_measured *net = t->net;
    size_t flows = (size_t)t->r->start[t->r->n] + 1, most = 1;
    for (int k = 0; k < t->r->n; k++)
        if ((size_t)(t->r->start[k + 1] - t->r->start[k]) > most)
            most = (size_t)(t->r->start[k + 1] - t->r->start[k]);
    size_t resources = 3 * most + ESPI_LIMITS_MAX + 1;
    t->key = ESPI_ARENA_NEW(t->arena, int, flows);
    t->out_port = ESPI_ARENA_NEW(t->arena, int, flows);
    t->in_port = ESPI_ARENA_NEW(t->arena, int, flows);
    t->own = ESPI_ARENA_NEW(t->arena, double, flows);
    t->predicted = ESPI_ARENA_NEW(t->arena, double, flows);
    t->values = ESPI_ARENA_NEW(t->arena, double, flows);
    t->loss = ESPI_ARENA_NEW(t->arena, double, (size_t)t->r->n + 1);
    t->chosen = ESPI_ARENA_NEW(t->arena, struct limit *, ESPI_LIMITS_MAX);
    t->trial_rate = ESPI_ARENA_NEW(t->arena, double, most);
    t->left = ESPI_ARENA_NEW(t->arena, double, resources);
    t->open = ESPI_ARENA_NEW(t->arena, int, resources);
    t->uses = ESPI_ARENA_NEW(t->arena, int, most *(ESPI_LIMITS_MAX + 4));
    t->use_start = ESPI_ARENA_NEW(t->arena, int, most + 1);
    int *number = ESPI_ARENA_NEW(t->arena, int, 2 * (size_t)net->n_hosts);
    if (!t->key || !t->out_port || !t->in_port || !t->own || !t->predicted ||
        !t->values || !t->loss || !t->chosen || !t->trial_rate || !t->left || !t->open ||
        !t->uses || !t->use_start || !number)
        return -1;
    for (int k = 0; k < t->r->n; k++) {
        int outs = 0, ins = 0;
        for (int i = t->r->start[k]; i < t->r->start[k + 1]; i++)
            number[t->r->flows[i].from] = number[net->n_hosts + t->r->flows[i].to] = -1;
        for (int i = t->r->start[k]; i < t->r->start[k + 1]; i++) {
            const struct espi_trial_flow *f = &t->r->flows[i];
            int *out = &number[f->from], *in = &number[net->n_hosts + f->to];
            *out = *out < 0 ? outs++ : *out;
            *in = *in < 0 ? ins++ : *in;
            t->out_port[i] = *out;
            t->in_port[i] = *in;
            t->key[i] = net->subsite[f->from] * t->n_areas + net->subsite[f->to];
            t->own[i] = espi_measured_flow_Bps(net, f->from, f->to);
        }
    }
    return 0;
}

int espi_measured_explain(struct espi_measured *net, struct espi_arena *arena)
{
    struct fitting t = {.net = net,
                        .arena = arena,
                        .r = &net->rounds,
                        .n_areas = net->n_subsites,
                        .spread = ESPI_SPREAD};
    if (fitting_init(&t))
        return -1;
    predict_all(&t);
    if (list_candidates(&t))
        return -1;
    for (int level = 1; level > 0; level = next_level(&t, level)) {
        choose_limits(&t, level);
        merge_limits(&t, level);
        settle_rates(&t);
        drop_limits(&t);
        for (int i = 0; i < t.n_candidates; i++)
            t.candidates[i].gain = INFINITY;
        forget_gains(&t);
    }
    mark_doubts(&t);
    note_sure_ports(&t);
    return write_limits(&t);
}
