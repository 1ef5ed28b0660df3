/* Which pairs of sites use a limit.
 *
 * Latencies do not tell all of routes. So where transfers from site to site came out
 * otherwise than predicted, limits are tried with and without them. What no single round
 * could pay for is changed.
 */
#include <math.h>

#include "measure/explain_impl.h"

static void toggle_pair(const struct espi_fitting *t, struct espi_limit *l, int from,
                        int to)
{
    const int *first = t->net->first_subsite;
    unsigned char uses = !l->pairs[first[from] * t->n_areas + first[to]];
    for (int a = first[from]; a < first[from + 1]; a++)
        for (int b = first[to]; b < first[to + 1]; b++)
            l->pairs[a * t->n_areas + b] = uses;
    if (uses)
        l->first = first[from] * t->n_areas + first[to];
}

static int has_pair(const struct espi_fitting *t, int round, int from, int to)
{
    const int *site = t->net->site;
    for (int i = t->r->start[round]; i < t->r->start[round + 1]; i++)
        if (site[t->r->flows[i].from] == from && site[t->r->flows[i].to] == to)
            return 1;
    return 0;
}

/* Could the prediction of the round change? Not where the limit is not reached, with the
 * transfers of the two sites and without. */
static int toggle_matters(const struct espi_fitting *t, const struct espi_limit *l,
                          int round, int from, int to)
{
    const int *site = t->net->site;
    double sum = 0;
    for (int i = t->r->start[round]; i < t->r->start[round + 1]; i++) {
        const struct espi_trial_flow *f = &t->r->flows[i];
        if (l->pairs[t->key[i]] || (site[f->from] == from && site[f->to] == to))
            sum += t->predicted[i];
    }
    return sum > l->Bps * (1 - 1e-9);
}

/* How much less loss there would be. */
static double weigh_toggle(struct espi_fitting *t, struct espi_limit *l, int from, int to)
{
    double less = 0;
    toggle_pair(t, l, from, to);
    for (int k = 0; k < t->r->n; k++) {
        if (!has_pair(t, k, from, to) || !toggle_matters(t, l, k, from, to))
            continue;
        espi_fit_round(t, k, NULL, t->trial_rate);
        less +=
            fmin(t->loss[k] - espi_fit_loss(t, k, t->trial_rate), ESPI_ROUND_PAYS_MOST);
    }
    toggle_pair(t, l, from, to);
    return less;
}

/* How much less loss there would be if the two sites had a cable of their own. */
static double weigh_own_cable(struct espi_fitting *t, int from, int to)
{
    double less = 0;
    const struct espi_limit *own = NULL;
    for (int i = 0; i < t->n_candidates && !own; i++)
        if (t->candidates[i].kind == ESPI_LIMIT_CABLE && t->candidates[i].a == from &&
            t->candidates[i].b == to)
            own = &t->candidates[i];
    for (int k = 0; k < t->r->n && own; k++) {
        if (!has_pair(t, k, from, to))
            continue;
        espi_fit_round(t, k, own, t->trial_rate);
        less +=
            fmin(t->loss[k] - espi_fit_loss(t, k, t->trial_rate), ESPI_ROUND_PAYS_MOST);
    }
    return less;
}

/* A limit whose pairs may be changed, in the place of one that was chosen, which stays a
 * candidate: limits that are found later may show that it was right. NULL when out of
 * memory. */
static struct espi_limit *own_version(struct espi_fitting *t, struct espi_limit *l)
{
    if (l->origin)
        return l;
    struct espi_limit *version = espi_copy_candidate(t, l);
    if (!version)
        return NULL;
    version->kind = ESPI_LIMIT_SET;
    version->origin = l;
    for (int c = 0; c < t->n_chosen; c++)
        t->chosen[c] = t->chosen[c] == l ? version : t->chosen[c];
    return version;
}

/* How much less loss there is than with the limit that it was made of. */
static double weigh_changes(struct espi_fitting *t, struct espi_limit *l)
{
    double less = 0;
    l->aside = 1;
    for (int k = 0; k < t->r->n; k++) {
        espi_fit_round(t, k, l->origin, t->trial_rate);
        less +=
            fmin(espi_fit_loss(t, k, t->trial_rate) - t->loss[k], ESPI_ROUND_PAYS_MOST);
    }
    l->aside = 0;
    return less;
}

/* Takes changes back that are not worth it any more, now that there are other limits. */
static void take_changes_back(struct espi_fitting *t)
{
    for (int c = 0; c < t->n_chosen; c++) {
        struct espi_limit *l = t->chosen[c];
        if (!l->origin || l->origin == l || espi_limit_is_chosen(t, l->origin) ||
            weigh_changes(t, l) > ESPI_ROUND_PAYS_MOST)
            continue;
        t->chosen[c] = l->origin;
        espi_fit_all(t);
    }
}

/* That the two are limited is no reason to share a limit with others: that must explain
 * more than a cable of their own does. */
static int settle_pair(struct espi_fitting *t, int from, int to)
{
    struct espi_limit *best = NULL;
    double own = fmax(weigh_own_cable(t, from, to), 0);
    double most = fmax(own + ESPI_ROUND_PAYS_MOST / 4, ESPI_ROUND_PAYS_MOST);
    for (int c = 0; c < t->n_chosen; c++) {
        struct espi_limit *l = t->chosen[c];
        double less = espi_limit_is_single(l) ? 0 : weigh_toggle(t, l, from, to);
        if (less > most) {
            most = less;
            best = l;
        }
    }
    if (!best)
        return 0;
    best = own_version(t, best);
    if (!best)
        return -1;
    toggle_pair(t, best, from, to);
    for (int k = 0; k < t->r->n; k++)
        if (has_pair(t, k, from, to))
            espi_fit_again(t, k);
    return 0;
}

int espi_fit_pairs(struct espi_fitting *t)
{
    const struct espi_measured *net = t->net;
    size_t cells = (size_t)net->n_sites * (size_t)net->n_sites;
    unsigned char *odd = ESPI_ARENA_ZNEW(t->arena, unsigned char, cells);
    if (!odd)
        return -1;
    take_changes_back(t);
    for (int i = 0; i < t->r->start[t->r->n]; i++) {
        const struct espi_trial_flow *f = &t->r->flows[i];
        if (net->site[f->from] != net->site[f->to] && espi_flow_is_surprise(t, i))
            odd[net->site[f->from] * net->n_sites + net->site[f->to]] = 1;
    }
    for (int k = 0; k < (int)cells; k++)
        if (odd[k] && settle_pair(t, k / net->n_sites, k % net->n_sites))
            return -1;
    return 0;
}
