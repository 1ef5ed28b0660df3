/* Which area of its site a host is in.
 *
 * Areas are first told by which transfers were held up (subsites.c). That misplaces hosts
 * whose ports are slower than the borders that they are behind, for they are hardly ever
 * held up themselves: they only take from what the others get. So with the limits that
 * were found, hosts whose transfers came out otherwise than predicted are tried in the
 * other areas of their site, and alone. What no single round could pay for is changed;
 * then limits are looked for anew. */
#include <math.h>

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

/* How much less loss there would be. */
static double weigh_move(struct espi_fitting *t, const unsigned char *has, int host,
                         int area)
{
    int from = t->net->subsite[host];
    double less = 0;
    move_host(t, has, host, area);
    for (int k = 0; k < t->r->n; k++) {
        if (!has[k])
            continue;
        espi_fit_round(t, k, NULL, t->trial_rate);
        less +=
            fmin(t->loss[k] - espi_fit_loss(t, k, t->trial_rate), ESPI_ROUND_PAYS_MOST);
    }
    move_host(t, has, host, from);
    return less;
}

/* Moves the host to the area where it fits best: one of its site, or `spare`, if that is
 * not of another site by now. */
static int settle_host(struct espi_fitting *t, const unsigned char *has, int host,
                       int spare, int *spare_site)
{
    const struct espi_measured *net = t->net;
    int site = net->site[host], best = -1;
    int spare_fits = *spare_site < 0 || *spare_site == site;
    double most = ESPI_ROUND_PAYS_MOST;
    for (int k = 0; k <= count_areas(net, site); k++) {
        int area = k < count_areas(net, site) ? net->first_subsite[site] + k : spare;
        if (area == net->subsite[host] || (area == spare && !spare_fits))
            continue;
        double less =
            weigh_move(t, has, host, area) - (area == spare ? ESPI_LIMIT_PRICE : 0);
        if (less > most) {
            most = less;
            best = area;
        }
    }
    if (best < 0)
        return 0;
    move_host(t, has, host, best);
    *spare_site = best == spare ? site : *spare_site;
    for (int k = 0; k < t->r->n; k++)
        if (has[k])
            espi_fit_again(t, k);
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
