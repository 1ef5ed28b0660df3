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
#include <stdlib.h>
#include <string.h>

#include "base/portable_math.h"
#include "measure/explain.h"
#include "measure/explain_impl.h"

/* ---- prediction ---- */

static double port_Bps(const struct espi_fitting *t, int flow, int out)
{
    const struct espi_trial_flow *f = &t->r->flows[flow];
    return out ? t->net->out_Bps[f->from] : t->net->in_Bps[f->to];
}

/* Numbers the resources of a round: ports, then limits that its flows use, then a limit
 * of its own for each flow. Gives how many there are. */
static int list_uses(struct espi_fitting *t, int round, const struct espi_limit *extra)
{
    int from = t->r->start[round], n = t->r->start[round + 1] - from, k = 0;
    int first_limit = 2 * n, first_own = first_limit + t->n_chosen + 1;
    for (int i = 0; i < first_own + n; i++)
        t->open[i] = 0;
    for (int c = 0; c <= t->n_chosen; c++) {
        const struct espi_limit *l = c < t->n_chosen ? t->chosen[c] : extra;
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
            const struct espi_limit *l = c < t->n_chosen ? t->chosen[c] : extra;
            if (!l || l->aside || !l->pairs[t->key[from + i]])
                continue;
            if (l->kind == ESPI_LIMIT_WINDOW)
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
static void predict_round(struct espi_fitting *t, int round,
                          const struct espi_limit *extra, double *rate)
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

static double round_loss(const struct espi_fitting *t, int round, const double *rate)
{
    double loss = 0;
    int from = t->r->start[round];
    for (int i = from; i < t->r->start[round + 1]; i++) {
        double off = espi_log(t->r->flows[i].Bps / rate[i - from]) / ESPI_SPREAD;
        loss += fmin(off * off / 2, ESPI_LOSS_MOST);
    }
    return loss;
}

static void predict_again(struct espi_fitting *t, int round)
{
    double *rate = &t->predicted[t->r->start[round]];
    predict_round(t, round, NULL, rate);
    t->loss[round] = round_loss(t, round, rate);
}

static void predict_all(struct espi_fitting *t)
{
    for (int k = 0; k < t->r->n; k++)
        predict_again(t, k);
}

static int has_transfers(const struct espi_fitting *t, const struct espi_limit *l,
                         int round)
{
    for (int i = t->r->start[round]; i < t->r->start[round + 1]; i++)
        if (l->pairs[t->key[i]])
            return 1;
    return 0;
}

/* After the limit has come or gone. */
static void predict_changed(struct espi_fitting *t, const struct espi_limit *l)
{
    for (int k = 0; k < t->r->n; k++)
        if (has_transfers(t, l, k))
            predict_again(t, k);
}

/* ---- one limit ---- */

/* Would the limit change the prediction of the round? */
static int limit_matters(const struct espi_fitting *t, const struct espi_limit *l,
                         int round)
{
    double sum = 0, most = 0;
    for (int i = t->r->start[round]; i < t->r->start[round + 1]; i++)
        if (l->pairs[t->key[i]]) {
            sum += t->predicted[i];
            most = fmax(most, t->predicted[i]);
        }
    return (l->kind == ESPI_LIMIT_WINDOW ? most : sum) > l->Bps * (1 + 1e-9);
}

/* How much loss the limit takes away, less its price. */
static void weigh_limit(struct espi_fitting *t, struct espi_limit *l)
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
static double loss_without(struct espi_fitting *t, struct espi_limit *l)
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

static int is_chosen(const struct espi_fitting *t, const struct espi_limit *l)
{
    for (int i = 0; i < t->n_chosen; i++)
        if (t->chosen[i] == l)
            return 1;
    return 0;
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
            return best;
        weigh_limit(t, best);
        if (is_chosen(t, best))
            best->gain = -INFINITY;
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
    if (part->kind == ESPI_LIMIT_WINDOW || part == whole || !whole->pairs[part->first])
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
static void merge_limits(struct espi_fitting *t, int level)
{
    for (int i = 0; i < t->n_candidates; i++) {
        struct espi_limit *l = &t->candidates[i];
        if (l->level < 2 || l->level > level || !(l->Bps > 0) ||
            l->kind == ESPI_LIMIT_WINDOW || is_chosen(t, l) || weigh_merge(t, l) <= 0)
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
static void settle_rates(struct espi_fitting *t)
{
    for (int c = 0; c < t->n_chosen; c++) {
        struct espi_limit *l = t->chosen[c];
        int n = 0;
        for (int k = 0; k < t->r->n && l->kind != ESPI_LIMIT_WINDOW; k++) {
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
static void mark_doubts(struct espi_fitting *t)
{
    struct espi_trial_rounds *r = &t->net->rounds;
    for (int k = 0; k < r->n; k++)
        for (int i = r->start[k]; i < r->start[k + 1]; i++)
            if (espi_flow_is_slow(t, i)) {
                espi_trial_rounds_doubt(r, k);
                break;
            }
}

/* ---- ports ---- */

/* Would the transfers of this flow's host have been faster without its port, as far as
 * the prediction says? Then what they got is the port's rate. */
static int port_held(struct espi_fitting *t, int round, int flow, int out)
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

static void note_sure_ports(struct espi_fitting *t)
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

/* ---- the whole ---- */

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
    t->predicted = ESPI_ARENA_NEW(t->arena, double, flows);
    t->values = ESPI_ARENA_NEW(t->arena, double, flows);
    t->loss = ESPI_ARENA_NEW(t->arena, double, (size_t)t->r->n + 1);
    t->chosen = ESPI_ARENA_NEW(t->arena, struct espi_limit *, ESPI_LIMITS_MAX);
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
    struct espi_fitting t = {
        .net = net, .arena = arena, .r = &net->rounds, .n_areas = net->n_subsites};
    if (fitting_init(&t))
        return -1;
    predict_all(&t);
    if (espi_list_candidates(&t))
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
    return espi_write_limits(&t);
}
