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
 * long as that is more than its price, those of few pairs of sites first; several become
 * one where that says the same, and those that are not worth their price any more go. The
 * rate of a limit needs no search: at first it is the most that its transfers were seen
 * to get together. So a limit that never was the reason why transfers were slow predicts
 * nothing and is never added. No single round can pay the price of a limit alone: what
 * disturbs a round does not come again, as limits do. What may be a limit is listed by
 * candidates.c.
 *
 * Complexity: candidates x rounds that they touch x (transfers of a round)^2, a limit
 * that is added; gains are computed anew only where an earlier bound on them is still the
 * best (they mostly shrink). */
#include <math.h>
#include <string.h>

#include "base/portable_math.h"
#include "measure/explain.h"
#include "measure/explain_impl.h"

enum {
    AREA_FITS_MAX = 6, /* limit: hosts may go to and fro */
    ROUTE_FITS_MAX = 6 /* limit: and so may routes */
};

/* After the limit has come or gone. */
static void predict_changed(struct espi_fitting *t, const struct espi_limit *l)
{
    for (int k = 0; k < t->r->n; k++)
        if (espi_limit_has_transfers(t, l, k))
            espi_fit_again(t, k);
}

/* ---- one limit ---- */

/* Would the limit change the prediction of the round? */
static int limit_matters(const struct espi_fitting *t, const struct espi_limit *l,
                         int round)
{
    double sum = 0;
    for (int i = t->r->start[round]; i < t->r->start[round + 1]; i++) {
        if (!l->pairs[t->key[i]])
            continue;
        sum += t->predicted[i];
        if (espi_limit_is_single(l) &&
            t->predicted[i] > espi_limit_single_Bps(t, l, i) * (1 + 1e-9))
            return 1;
    }
    return !espi_limit_is_single(l) && sum > l->Bps * (1 + 1e-9);
}

/* How much loss the limit takes away, less its price. */
static double gain_of(struct espi_fitting *t, const struct espi_limit *l)
{
    double gain = -l->price;
    for (int k = 0; k < t->r->n && l->Bps > 0; k++) {
        if (!limit_matters(t, l, k))
            continue;
        espi_fit_round(t, k, l, t->trial_rate);
        gain +=
            fmin(t->loss[k] - espi_fit_loss(t, k, t->trial_rate), ESPI_ROUND_PAYS_MOST);
    }
    return gain;
}

/* With the better one of its rates. */
static void weigh_limit(struct espi_fitting *t, struct espi_limit *l)
{
    double first_Bps = l->Bps;
    l->gain = gain_of(t, l);
    l->fresh = 1;
    if (!(l->often_Bps > 0))
        return;
    l->Bps = l->often_Bps;
    double gain = gain_of(t, l);
    l->often_Bps = gain > l->gain ? first_Bps : l->often_Bps;
    l->Bps = gain > l->gain ? l->Bps : first_Bps;
    l->gain = fmax(gain, l->gain);
}

double espi_weigh_candidate(struct espi_fitting *t, struct espi_limit *l)
{
    espi_rate_candidate(t, l);
    weigh_limit(t, l);
    return l->gain;
}

/* By how much the loss would grow without it, less its price. */
static double loss_without(struct espi_fitting *t, struct espi_limit *l)
{
    double more = -l->price;
    l->aside = 1;
    for (int k = 0; k < t->r->n; k++) {
        if (!espi_limit_has_transfers(t, l, k))
            continue;
        espi_fit_round(t, k, NULL, t->trial_rate);
        more +=
            fmin(espi_fit_loss(t, k, t->trial_rate) - t->loss[k], ESPI_ROUND_PAYS_MOST);
    }
    l->aside = 0;
    return more;
}

/* ---- choosing ---- */

/* The next larger level that there is, or 0. */
static int next_level(const struct espi_fitting *t, int level)
{
    int next = 0;
    for (int i = 0; i < t->n_candidates; i++)
        if (t->candidates[i].level > level && (!next || t->candidates[i].level < next))
            next = t->candidates[i].level;
    return next;
}

static void weigh_again(struct espi_fitting *t, struct espi_limit *l)
{
    if (!l->fresh)
        weigh_limit(t, l);
    if (espi_limit_is_chosen(t, l))
        l->gain = -INFINITY;
}

/* One of fewer pairs that explains nearly as much: what one round could have paid is no
 * reason to say more than is needed. */
static struct espi_limit *narrower(struct espi_fitting *t, struct espi_limit *best,
                                   int level)
{
    double enough = fmax(best->gain - ESPI_ROUND_PAYS_MOST, 0);
    struct espi_limit *found = best;
    for (int i = 0; i < t->n_candidates; i++) {
        struct espi_limit *l = &t->candidates[i];
        if (l->level <= level && l->gain > enough && l->n_pairs < found->n_pairs &&
            l->kind != ESPI_LIMIT_SET) {
            weigh_again(t, l);
            found = l->gain > enough ? l : found;
        }
    }
    return found;
}

/* How much loss the limits chosen take away together from rounds of the whole one, less
 * its price. */
static double gain_together(struct espi_fitting *t, const struct espi_limit *whole)
{
    double gain = -whole->price;
    for (int k = 0; k < t->r->n; k++) {
        if (!espi_limit_has_transfers(t, whole, k))
            continue;
        espi_fit_round(t, k, NULL, t->trial_rate);
        gain +=
            fmin(t->loss[k] - espi_fit_loss(t, k, t->trial_rate), ESPI_ROUND_PAYS_MOST);
    }
    return gain;
}

/* If a limit for each of its pairs explains as much as one that they share, these are
 * meant: that rates are equal is no reason to share one. */
static struct espi_limit *not_shared(struct espi_fitting *t, struct espi_limit *best,
                                     int level)
{
    struct espi_limit *first = NULL;
    int n = 0;
    for (int i = 0; i < t->n_candidates && best->n_pairs > 1; i++) {
        struct espi_limit *l = &t->candidates[i];
        if (l->level > level || l->n_pairs != 1 || !(l->gain > 0) ||
            !best->pairs[l->first] || espi_limit_is_single(l) ||
            t->n_chosen == ESPI_LIMITS_MAX)
            continue;
        weigh_again(t, l);
        if (!(l->gain > 0))
            continue;
        t->chosen[t->n_chosen++] = l;
        n++;
        first = !first || l->gain > first->gain ? l : first;
    }
    double gain = n ? gain_together(t, best) : 0;
    t->n_chosen -= n;
    return n && gain >= best->gain ? first : best;
}

/* The best candidate of up to that level that is worth its price, or NULL. */
static struct espi_limit *best_candidate(struct espi_fitting *t, int level)
{
    for (;;) {
        struct espi_limit *best = NULL;
        for (int i = 0; i < t->n_candidates; i++)
            if (t->candidates[i].level <= level &&
                (!best || t->candidates[i].gain > best->gain))
                best = &t->candidates[i];
        if (!best || !(best->gain > 0))
            return NULL;
        if (best->fresh)
            return espi_limit_is_single(best)
                       ? best
                       : not_shared(t, narrower(t, best, level), level);
        weigh_again(t, best);
    }
}

static void forget_gains(struct espi_fitting *t)
{
    for (int i = 0; i < t->n_candidates; i++)
        t->candidates[i].fresh = 0;
}

static void choose_limits(struct espi_fitting *t, int level)
{
    struct espi_limit *best;
    while (t->n_chosen < ESPI_LIMITS_MAX && (best = best_candidate(t, level)) != NULL) {
        best->gain = -INFINITY;
        t->chosen[t->n_chosen++] = best;
        predict_changed(t, best);
        forget_gains(t);
    }
}

static void remove_chosen(struct espi_fitting *t, int i)
{
    memmove(&t->chosen[i], &t->chosen[i + 1],
            (size_t)(t->n_chosen - i - 1) * sizeof(struct espi_limit *));
    t->n_chosen--;
}

static void drop_limits(struct espi_fitting *t)
{
    for (int i = t->n_chosen - 1; i >= 0; i--)
        if (loss_without(t, t->chosen[i]) <= 0) {
            const struct espi_limit *gone = t->chosen[i];
            remove_chosen(t, i);
            predict_changed(t, gone);
        }
}

/* ---- merging ---- */

static int is_part(const struct espi_fitting *t, const struct espi_limit *part,
                   const struct espi_limit *whole)
{
    if (espi_limit_is_single(part) || part == whole)
        return 0;
    for (int k = 0; k < t->n_areas * t->n_areas; k++)
        if (part->pairs[k] && !whole->pairs[k])
            return 0;
    return 1;
}

/* What is won when the limit takes the place of all those chosen that are part of it.
 * Some round must bear it out: that rates are equal alone is no reason to share one. */
static double weigh_merge(struct espi_fitting *t, struct espi_limit *whole)
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
        if (!espi_limit_has_transfers(t, whole, k))
            continue;
        espi_fit_round(t, k, whole, t->trial_rate);
        double less = t->loss[k] - espi_fit_loss(t, k, t->trial_rate);
        tried |= less > ESPI_ROUND_PAYS_MOST / 4;
        won += fmin(less, ESPI_ROUND_PAYS_MOST);
    }
    for (int c = 0; c < t->n_chosen; c++)
        t->chosen[c]->aside = 0;
    return parts >= 2 && tried ? won : -INFINITY;
}

/* Several limits become one that says the same with fewer numbers. */
static void merge_limits(struct espi_fitting *t, int level)
{
    for (int i = 0; i < t->n_candidates; i++) {
        struct espi_limit *l = &t->candidates[i];
        if (l->level > level || !(l->Bps > 0) || espi_limit_is_single(l) ||
            espi_limit_is_chosen(t, l) || weigh_merge(t, l) <= 0)
            continue;
        for (int c = t->n_chosen - 1; c >= 0; c--)
            if (is_part(t, t->chosen[c], l))
                remove_chosen(t, c);
        t->chosen[t->n_chosen++] = l;
        predict_changed(t, l);
    }
}

/* ---- the whole ---- */

static double site_turn_s(const struct espi_measured *net, int from, int to)
{
    double latency_s = net->site_latency_s[from * net->n_sites + to];
    return from != to && latency_s > 0 ? 2 * latency_s : 0;
}

/* What limits the transfer by itself, and not by its ports. */
static double own_limit(const struct espi_measured *net, const struct espi_trial_flow *f)
{
    double Bps = espi_measured_flow_Bps(net, f->from, f->to);
    return Bps < fmin(net->out_Bps[f->from], net->in_Bps[f->to]) ? Bps : INFINITY;
}

static int fitting_init(struct espi_fitting *t)
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
    t->turn_s = ESPI_ARENA_NEW(t->arena, double, flows);
    t->predicted = ESPI_ARENA_NEW(t->arena, double, flows);
    t->values = ESPI_ARENA_NEW(t->arena, double, flows);
    t->loss = ESPI_ARENA_NEW(t->arena, double, (size_t)t->r->n + 1);
    t->chosen = ESPI_ARENA_NEW(t->arena, struct espi_limit *, ESPI_LIMITS_MAX);
    t->trial_rate = ESPI_ARENA_NEW(t->arena, double, most);
    t->left = ESPI_ARENA_NEW(t->arena, double, resources);
    t->share = ESPI_ARENA_NEW(t->arena, double, resources);
    t->bound = ESPI_ARENA_NEW(t->arena, double, most);
    t->waiting = ESPI_ARENA_NEW(t->arena, int, most);
    t->open = ESPI_ARENA_NEW(t->arena, int, resources);
    t->active = ESPI_ARENA_NEW(t->arena, int, resources);
    t->uses = ESPI_ARENA_NEW(t->arena, int, most *(ESPI_LIMITS_MAX + 4));
    t->use_start = ESPI_ARENA_NEW(t->arena, int, most + 1);
    t->users = ESPI_ARENA_NEW(t->arena, int, most *(ESPI_LIMITS_MAX + 4));
    t->user_start = ESPI_ARENA_NEW(t->arena, int, resources);
    int *number = ESPI_ARENA_NEW(t->arena, int, 2 * (size_t)net->n_hosts);
    if (!t->key || !t->out_port || !t->in_port || !t->own || !t->turn_s ||
        !t->predicted || !t->values || !t->loss || !t->chosen || !t->trial_rate ||
        !t->left || !t->share || !t->bound || !t->waiting || !t->open || !t->active ||
        !t->uses || !t->use_start || !t->users || !t->user_start || !number)
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
            t->own[i] = own_limit(net, f);
            t->turn_s[i] = site_turn_s(net, net->site[f->from], net->site[f->to]);
        }
    }
    return 0;
}

/* With the candidates of up to that level. */
static int fit_level(struct espi_fitting *t, int level)
{
    choose_limits(t, level);
    merge_limits(t, level);
    espi_fit_rates(t);
    if (espi_fit_pairs(t))
        return -1;
    espi_fit_rates(t);
    drop_limits(t);
    for (int i = 0; i < t->n_candidates; i++)
        t->candidates[i].gain = INFINITY;
    forget_gains(t);
    return 0;
}

/* Wires, and over which of them pairs of sites go that have a choice. */
static int fit_routes(struct espi_fitting *t)
{
    int open = espi_open_routes(t);
    for (int times = 0, changed = 1; open > 0 && changed && times < ROUTE_FITS_MAX;
         times++) {
        t->n_chosen = 0;
        espi_describe_wires(t);
        forget_gains(t);
        espi_fit_all(t);
        choose_limits(t, 0);
        espi_fit_rates(t);
        changed = espi_fit_routes(t);
        open = changed < 0 ? -1 : open;
    }
    return open;
}

/* And nothing is chosen yet. */
static int fit_wires(struct espi_fitting *t)
{
    int open = fit_routes(t);
    t->n_chosen = 0;
    espi_describe_wires(t);
    espi_fit_all(t);
    for (int i = 0; i < t->n_candidates; i++)
        t->candidates[i].gain = INFINITY;
    forget_gains(t);
    return open < 0 ? -1 : 0;
}

/* Groups of areas as long as there are more, with cables between areas or without. */
static int fit_groups(struct espi_fitting *t, int cables)
{
    int groups;
    while ((groups = espi_add_groups(t)) > 0) {
        int last = 0;
        for (int level; (level = next_level(t, last)) > 0 &&
                        (cables || level < ESPI_LEVEL_AREA_CABLES);)
            last = level;
        if (fit_level(t, last))
            return -1;
    }
    return groups;
}

/* Cables between areas of a site come last: uplinks and what groups share look like many
 * of them, as long as nobody thinks of these. */
static int fit_limits(struct espi_fitting *t)
{
    if (fitting_init(t))
        return -1;
    espi_fit_all(t);
    if (espi_list_candidates(t) || fit_wires(t))
        return -1;
    int last = 0, level = 0;
    for (; level >= last && level < ESPI_LEVEL_AREA_CABLES; level = next_level(t, last)) {
        if (fit_level(t, level))
            return -1;
        last = level;
    }
    if (fit_groups(t, 0))
        return -1;
    if (level < ESPI_LEVEL_AREA_CABLES)
        return 0;
    return fit_level(t, level) || fit_groups(t, 1) ? -1 : 0;
}

int espi_fit_wires_alone(struct espi_fitting *t)
{
    if (fitting_init(t))
        return -1;
    espi_fit_all(t);
    if (espi_list_wires(t))
        return -1;
    if (!t->has_wires)
        return 0;
    if (fit_wires(t))
        return -1;
    choose_limits(t, 0);
    espi_fit_rates(t);
    return 1;
}

struct espi_fitting espi_new_fitting(struct espi_measured *net, struct espi_arena *arena)
{
    return (struct espi_fitting){
        .net = net, .arena = arena, .r = &net->rounds, .n_areas = net->n_subsites + 1};
}

int espi_measured_explain(struct espi_measured *net, struct espi_arena *arena)
{
    struct espi_fitting t;
    if (espi_find_wires(net, arena))
        return -1;
    for (int times = 0, moved = 1; moved; times++) {
        t = espi_new_fitting(net, arena);
        if (fit_limits(&t))
            return -1;
        moved = times < AREA_FITS_MAX ? espi_fit_areas(&t) : 0;
        if (moved < 0)
            return -1;
    }
    espi_mark_doubts(&t);
    return espi_fit_ports(&t) || espi_write_limits(&t) || espi_set_open_ports(&t) ? -1
                                                                                  : 0;
}
