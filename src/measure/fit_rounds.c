/* What the limits found so far predict for a round, and how far that is from what was
 * seen. */
#include <math.h>

#include "measure/explain_impl.h"

static double port_Bps(const struct espi_fitting *t, int flow, int out)
{
    const struct espi_trial_flow *f = &t->r->flows[flow];
    return out ? t->net->out_Bps[f->from] : t->net->in_Bps[f->to];
}

/* Numbers the resources of a round, ports and then limits, and lists for each flow those
 * that it uses, and in `bound` what it has for itself. Gives how many there are. */
static int list_uses(struct espi_fitting *t, int round, const struct espi_limit *extra)
{
    int from = t->r->start[round], n = t->r->start[round + 1] - from, k = 0;
    int first_limit = 2 * n;
    for (int x = 0; x < first_limit + t->n_chosen + 1; x++)
        t->open[x] = 0;
    for (int i = 0; i < n; i++) {
        int out = t->out_port[from + i], in = n + t->in_port[from + i];
        double own_Bps = t->own[from + i];
        t->use_start[i] = k;
        t->open[t->uses[k++] = out]++;
        t->open[t->uses[k++] = in]++;
        t->left[out] = port_Bps(t, from + i, 1);
        t->left[in] = port_Bps(t, from + i, 0);
        for (int c = 0; c <= t->n_chosen; c++) {
            const struct espi_limit *l = c < t->n_chosen ? t->chosen[c] : extra;
            if (!l || l->aside || !l->pairs[t->key[from + i]])
                continue;
            t->left[first_limit + c] = l->Bps;
            if (espi_limit_is_single(l))
                own_Bps = fmin(own_Bps, espi_limit_single_Bps(t, l, from + i));
            else
                t->open[t->uses[k++] = first_limit + c]++;
        }
        t->bound[i] = own_Bps;
    }
    t->use_start[n] = k;
    return first_limit + t->n_chosen + 1;
}

/* What only one flow uses is a bound of that flow; lists who uses the others, which are
 * listed as active. Gives how many these are. */
static int list_users(struct espi_fitting *t, int n, int n_resources)
{
    int active = 0, k = 0, still = 0;
    for (int x = 0; x < n_resources; x++) {
        t->user_start[x] = k; /* its end, once they are listed */
        if (t->open[x] < 2)
            continue;
        k += t->open[x];
        t->share[x] = t->left[x] / t->open[x];
        t->active[active++] = x;
    }
    for (int i = 0; i < n; i++) {
        int from = t->use_start[i], to = t->use_start[i + 1];
        t->use_start[i] = still;
        for (k = from; k < to; k++) {
            int x = t->uses[k];
            if (t->open[x] < 2) {
                t->bound[i] = fmin(t->bound[i], t->left[x]);
            } else {
                t->users[t->user_start[x]++] = i;
                t->uses[still++] = x;
            }
        }
    }
    t->use_start[n] = still;
    return active;
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

/* Flows that have no more for themselves than the tightest resource gives have just that:
 * shares of others only grow as they are settled. Keeps those that are left in `waiting`,
 * and gives how many were settled; *least: what one of them has at least. */
static int settle_bound(struct espi_fitting *t, int *n_waiting, double share,
                        double *rate, double *least)
{
    int before = *n_waiting, still = 0, settled = 0;
    *least = INFINITY;
    for (int k = 0; k < before; k++) {
        int i = t->waiting[k];
        if (rate[i] >= 0)
            continue;
        if (t->bound[i] <= share) {
            rate[i] = t->bound[i];
            settle_flow(t, i, rate[i]);
            settled++;
            continue;
        }
        *least = fmin(*least, t->bound[i]);
        t->waiting[still++] = i;
    }
    *n_waiting = still;
    return settled;
}

/* The rates of a round: the tightest resource is divided evenly among its flows, they
 * are settled, and so on. */
void espi_fit_round(struct espi_fitting *t, int round, const struct espi_limit *extra,
                    double *rate)
{
    int n = t->r->start[round + 1] - t->r->start[round], n_waiting = n;
    int n_active = list_users(t, n, list_uses(t, round, extra));
    double least = 0; /* of what flows have for themselves */
    for (int i = 0; i < n; i++) {
        rate[i] = -1;
        t->waiting[i] = i;
    }
    while (n_waiting > 0) {
        int which = tightest(t, &n_active);
        double share = which < 0 ? INFINITY : t->share[which];
        if (least <= share &&
            (settle_bound(t, &n_waiting, share, rate, &least) > 0 || which < 0))
            continue;
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
