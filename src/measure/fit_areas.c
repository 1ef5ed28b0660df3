/* Which area of its site a host is in.
 *
 * Areas are first told by which transfers were held up (subsites.c). That misplaces hosts
 * whose ports are slower than the borders that they are behind, for they are hardly ever
 * held up themselves: they only take from what the others get. So with the limits that
 * were found, hosts whose transfers came out otherwise than predicted are tried in the
 * other areas of their site, and alone. What no single round could pay for is changed;
 * then limits are looked for anew. */
#include <math.h>
#include <string.h>

#include "measure/explain_impl.h"

static int is_inside(const struct espi_measured *net, const struct espi_trial_flow *f)
{
    return net->site[f->from] == net->site[f->to];
}

static int count_areas(const struct espi_measured *net, int site)
{
    return net->first_subsite[site + 1] - net->first_subsite[site];
}

/* Marks the rounds in which the host had transfers within its site. Was one of them a
 * surprise? */
static int find_rounds(const struct espi_fitting *t, int host, unsigned char *has)
{
    int surprise = 0;
    for (int k = 0; k < t->r->n; k++) {
        has[k] = 0;
        for (int i = t->r->start[k]; i < t->r->start[k + 1]; i++) {
            const struct espi_trial_flow *f = &t->r->flows[i];
            if ((f->from != host && f->to != host) || !is_inside(t->net, f))
                continue;
            has[k] = 1;
            surprise |= espi_flow_is_surprise(t, i);
        }
    }
    return surprise;
}

/* From now on the host's transfers within its site are of that area. */
static void move_host(struct espi_fitting *t, const unsigned char *has, int host,
                      int area)
{
    t->net->subsite[host] = area;
    for (int k = 0; k < t->r->n; k++)
        for (int i = t->r->start[k]; i < t->r->start[k + 1] && has[k]; i++) {
            const struct espi_trial_flow *f = &t->r->flows[i];
            if (is_inside(t->net, f))
                t->key[i] =
                    t->net->subsite[f->from] * t->n_areas + t->net->subsite[f->to];
        }
}

/* What is tried: this host in that area; worth no more than the best so far, it does not
 * matter how little. */
struct move {
    const unsigned char *has; /* the host's rounds */
    int host, area;
    double enough;
};

typedef double weigh_fn(struct espi_fitting *t, const struct move *m);

/* How much less loss these rounds have now; each pays at most what one round may. Stops
 * where those left cannot make it more than enough. */
static double weigh_rounds(struct espi_fitting *t, const unsigned char *has,
                           double enough)
{
    double less = 0, open = 0;
    for (int k = 0; k < t->r->n; k++)
        open += has[k] ? fmin(t->loss[k], ESPI_ROUND_PAYS_MOST) : 0;
    for (int k = 0; k < t->r->n && less + open > enough; k++) {
        if (!has[k])
            continue;
        espi_fit_round(t, k, NULL, t->trial_rate);
        less +=
            fmin(t->loss[k] - espi_fit_loss(t, k, t->trial_rate), ESPI_ROUND_PAYS_MOST);
        open -= fmin(t->loss[k], ESPI_ROUND_PAYS_MOST);
    }
    return less;
}

/* How much less loss there would be. */
static double weigh_move(struct espi_fitting *t, const struct move *m)
{
    int from = t->net->subsite[m->host];
    move_host(t, m->has, m->host, m->area);
    double less = weigh_rounds(t, m->has, m->enough);
    move_host(t, m->has, m->host, from);
    return less;
}

static int is_uplink_of(const struct espi_limit *l, int area)
{
    return l->a == area && (l->kind == ESPI_LIMIT_OUT || l->kind == ESPI_LIMIT_IN ||
                            l->kind == ESPI_LIMIT_BOTH);
}

static int count_uplinks(const struct espi_fitting *t, int area)
{
    int n = 0;
    for (int c = 0; c < t->n_chosen; c++)
        n += is_uplink_of(t->chosen[c], area);
    return n;
}

static void rate_uplinks(struct espi_fitting *t, int area)
{
    for (int c = 0; c < t->n_chosen; c++)
        if (is_uplink_of(t->chosen[c], area))
            espi_rate_candidate(t, t->chosen[c]);
}

/* Adds the rounds whose transfers use the area's uplinks. */
static void find_uplink_rounds(const struct espi_fitting *t, int area, unsigned char *has)
{
    for (int c = 0; c < t->n_chosen; c++)
        for (int k = 0; k < t->r->n && is_uplink_of(t->chosen[c], area); k++)
            has[k] |= (unsigned char)espi_limit_has_transfers(t, t->chosen[c], k);
}

/* The same where the area's uplinks then have other rates: one that was fitted without
 * the host's transfers is too slow for them, and would keep the host out for good. */
static double weigh_move_rated(struct espi_fitting *t, const struct move *m)
{
    int from = t->net->subsite[m->host];
    struct espi_arena_mark mark = espi_arena_mark(t->arena);
    struct espi_limit *kept = ESPI_ARENA_NEW(t->arena, struct espi_limit, t->n_chosen);
    unsigned char *touched = ESPI_ARENA_NEW(t->arena, unsigned char, (size_t)t->r->n + 1);
    double less = -INFINITY; /* out of memory, or nothing to rate: weigh_move tells all */
    if (kept && touched && count_uplinks(t, m->area)) {
        for (int c = 0; c < t->n_chosen; c++)
            kept[c] = *t->chosen[c];
        memcpy(touched, m->has, (size_t)t->r->n);
        move_host(t, m->has, m->host, m->area);
        rate_uplinks(t, m->area);
        find_uplink_rounds(t, m->area, touched);
        less = weigh_rounds(t, touched, m->enough);
        move_host(t, m->has, m->host, from);
        for (int c = 0; c < t->n_chosen; c++)
            *t->chosen[c] = kept[c];
    }
    espi_arena_release(t->arena, mark);
    return less;
}

/* The area where the host fits best: one of its site, or `spare`, if that is not of
 * another site by now. -1: where it is. */
static int best_area(struct espi_fitting *t, const unsigned char *has, int host,
                     int spare, int spare_site, weigh_fn *weigh)
{
    const struct espi_measured *net = t->net;
    int site = net->site[host], best = -1;
    int spare_fits = spare_site < 0 || spare_site == site;
    double most = ESPI_ROUND_PAYS_MOST;
    for (int k = 0; k <= count_areas(net, site); k++) {
        int area = k < count_areas(net, site) ? net->first_subsite[site] + k : spare;
        if (area == net->subsite[host] || (area == spare && !spare_fits))
            continue;
        double price = area == spare ? ESPI_LIMIT_PRICE : 0;
        struct move move = {has, host, area, most + price};
        double less = weigh(t, &move) - price;
        if (less > most) {
            most = less;
            best = area;
        }
    }
    return best;
}

/* Moves the host to the area where it fits best, if there is a better one. */
static int settle_host(struct espi_fitting *t, const unsigned char *has, int host,
                       int spare, int *spare_site)
{
    int best = best_area(t, has, host, spare, *spare_site, weigh_move), rate = best < 0;
    if (rate)
        best = best_area(t, has, host, spare, *spare_site, weigh_move_rated);
    if (best < 0)
        return 0;
    move_host(t, has, host, best);
    *spare_site = best == spare ? t->net->site[host] : *spare_site;
    if (rate)
        rate_uplinks(t, best);
    espi_fit_all(t);
    return 1;
}

/* Areas without gaps, the spare one among those of its site. */
static int number_areas(struct espi_fitting *t)
{
    struct espi_measured *net = t->net;
    int *number = ESPI_ARENA_NEW(t->arena, int, (size_t)net->n_subsites + 1);
    if (!number)
        return -1;
    for (int a = 0; a <= net->n_subsites; a++)
        number[a] = -1;
    net->n_subsites = 0;
    for (int site = 0; site < net->n_sites; site++) {
        net->first_subsite[site] = net->n_subsites;
        for (int h = 0; h < net->n_hosts; h++) {
            if (net->site[h] != site)
                continue;
            int *at = &number[net->subsite[h]];
            if (*at < 0) {
                net->subsite_site[net->n_subsites] = site;
                *at = net->n_subsites++;
            }
            net->subsite[h] = *at;
        }
    }
    net->first_subsite[net->n_sites] = net->n_subsites;
    return 0;
}

int espi_fit_areas(struct espi_fitting *t)
{
    const struct espi_measured *net = t->net;
    int moved = 0, spare_site = -1;
    unsigned char *has = ESPI_ARENA_NEW(t->arena, unsigned char, (size_t)t->r->n + 1);
    if (!has)
        return -1;
    for (int h = 0; h < net->n_hosts; h++)
        if (count_areas(net, net->site[h]) > 1 && find_rounds(t, h, has))
            moved += settle_host(t, has, h, net->n_subsites, &spare_site);
    return moved && number_areas(t) ? -1 : moved;
}
