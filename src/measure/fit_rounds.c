/* What the limits found so far predict for a round, and how far that is from what was
 * seen. */
#include <math.h>

#include "measure/explain_impl.h"

static double port_Bps(const struct espi_fitting *t, int flow, int out)
{
    const struct espi_trial_flow *f = &t->r->flows[flow];
    return out ? t->net->out_Bps[f->from] : t->net->in_Bps[f->to];
}

/* Lists who uses each of the resources, in the order of flows, and gives how many of them
 * can be the tightest, which are listed in the order of their numbers. */
static int list_users(struct espi_fitting *t, int n, int n_resources)
{
    int active = 0, k = 0;
    for (int i = 0; i < t->use_start[n]; i++)
        t->open[t->uses[i]]++;
    for (int x = 0; x < n_resources; x++) {
        t->user_start[x] = k; /* its end, once they are listed */
        k += t->open[x];
        if (t->open[x] == 0)
            continue;
        t->share[x] = t->left[x] / t->open[x];
        t->active[active++] = x;
    }
    for (int i = 0; i < n; i++)
        for (k = t->use_start[i]; k < t->use_start[i + 1]; k++)
            t->users[t->user_start[t->uses[k]]++] = i;
    return active;
}

/* Numbers the resources of a round: ports, then limits that its flows use, then a limit
 * of its own for each flow, which it uses only where that is below both its ports. Gives
 * how many of them can be the tightest. */
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
        double out_Bps = port_Bps(t, from + i, 1), in_Bps = port_Bps(t, from + i, 0);
        double own_Bps = t->own[from + i];
        t->use_start[i] = k;
        t->uses[k++] = t->out_port[from + i];
        t->uses[k++] = n + t->in_port[from + i];
        t->left[t->out_port[from + i]] = out_Bps;
        t->left[n + t->in_port[from + i]] = in_Bps;
        for (int c = 0; c <= t->n_chosen; c++) {
            const struct espi_limit *l = c < t->n_chosen ? t->chosen[c] : extra;
            if (!l || l->aside || !l->pairs[t->key[from + i]])
                continue;
            if (espi_limit_is_single(l))
                own_Bps = fmin(own_Bps, espi_limit_single_Bps(t, l, from + i));
            else
                t->uses[k++] = first_limit + c;
        }
        t->left[first_own + i] = own_Bps;
        if (own_Bps < fmin(out_Bps, in_Bps))
            t->uses[k++] = first_own + i;
    }
    t->use_start[n] = k;
    return list_users(t, n, first_own + n);
}

/* The tightest of the resources that can be it, those with no flow left taken out; or -1.
 */
static int tightest(struct espi_fitting *t, int *n_active)
{
    int which = -1, still = 0;
    double least = INFINITY;
    for (int a = 0; a < *n_active; a++) {
        int x = t->active[a];
        double share = t->share[x];
        t->active[still] = x;
        still += share < INFINITY;
        if (share < least) {
            least = share;
            which = x;
        }
    }
    *n_active = still;
    return which;
}

static void settle_flow(struct espi_fitting *t, int flow, double rate)
{
    for (int k = t->use_start[flow]; k < t->use_start[flow + 1]; k++) {
        int x = t->uses[k];
        t->left[x] = fmax(0, t->left[x] - rate);
        t->open[x]--;
        t->share[x] = t->open[x] ? t->left[x] / t->open[x] : INFINITY;
    }
}

/* The rates of a round: the tightest resource is divided evenly among its flows, they
 * are settled, and so on. */
void espi_fit_round(struct espi_fitting *t, int round, const struct espi_limit *extra,
                    double *rate)
{
    int n = t->r->start[round + 1] - t->r->start[round], which;
    int n_active = list_uses(t, round, extra);
    for (int i = 0; i < n; i++)
        rate[i] = -1;
    while ((which = tightest(t, &n_active)) >= 0) {
        double share = t->share[which];
        for (int u = which ? t->user_start[which - 1] : 0; u < t->user_start[which]; u++)
            if (rate[t->users[u]] < 0) {
                rate[t->users[u]] = share;
                settle_flow(t, t->users[u], share);
            }
    }
}

double espi_fit_loss(const struct espi_fitting *t, int round, const double *rate)
{
    double loss = 0;
    int from = t->r->start[round];
    for (int i = from; i < t->r->start[round + 1]; i++) {
        double off = espi_log(t->r->flows[i].Bps / rate[i - from]) / ESPI_SPREAD;
        /* what disturbs makes transfers slower, hardly faster */
        loss += off > 0 ? off * off / 2 : fmin(off * off / 2, ESPI_LOSS_MOST);
    }
    return loss;
}

void espi_fit_again(struct espi_fitting *t, int round)
{
    double *rate = &t->predicted[t->r->start[round]];
    espi_fit_round(t, round, NULL, rate);
    t->loss[round] = espi_fit_loss(t, round, rate);
}

void espi_fit_all(struct espi_fitting *t)
{
    for (int k = 0; k < t->r->n; k++)
        espi_fit_again(t, k);
}
