/* What the limits found so far predict for a round, and how far that is from what was
 * seen. */
#include <math.h>

#include "measure/explain_impl.h"

static double port_Bps(const struct espi_fitting *t, int flow, int out)
{
    const struct espi_trial_flow *f = &t->r->flows[flow];
    return out ? t->net->out_Bps[f->from] : t->net->in_Bps[f->to];
}

/* Lists the resources that can be the tightest, in the order of their numbers: a flow's
 * own limit only where it is below both its ports. Gives how many there are. */
static int list_active(struct espi_fitting *t, int round, int first_own)
{
    int from = t->r->start[round], n = t->r->start[round + 1] - from, k = 0;
    for (int x = 0; x < first_own; x++)
        if (t->open[x] > 0)
            t->active[k++] = x;
    for (int i = 0; i < n; i++)
        if (t->left[first_own + i] <
            fmin(port_Bps(t, from + i, 1), port_Bps(t, from + i, 0)))
            t->active[k++] = first_own + i;
    return k;
}

/* Numbers the resources of a round: ports, then limits that its flows use, then a limit
 * of its own for each flow. Gives how many of them can be the tightest. */
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
            if (espi_limit_is_single(l))
                t->left[first_own + i] =
                    fmin(t->left[first_own + i], espi_limit_single_Bps(t, l, from + i));
            else
                t->uses[k++] = first_limit + c;
        }
    }
    t->use_start[n] = k;
    for (int i = 0; i < k; i++)
        t->open[t->uses[i]]++;
    return list_active(t, round, first_own);
}

/* The rates of a round: the tightest resource is divided evenly among its flows, they
 * are settled, and so on. */
void espi_fit_round(struct espi_fitting *t, int round, const struct espi_limit *extra,
                    double *rate)
{
    int n = t->r->start[round + 1] - t->r->start[round];
    int n_active = list_uses(t, round, extra);
    for (int i = 0; i < n; i++)
        rate[i] = -1;
    for (;;) {
        int which = -1, still = 0;
        double share = INFINITY;
        for (int a = 0; a < n_active; a++) {
            int x = t->active[a];
            if (t->open[x] == 0)
                continue;
            t->active[still++] = x;
            if (t->left[x] / t->open[x] < share) {
                share = t->left[x] / t->open[x];
                which = x;
            }
        }
        n_active = still;
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
