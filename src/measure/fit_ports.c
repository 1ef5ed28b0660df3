/* Which ports are a reason why transfers were no faster.
 *
 * Before limits are looked for, a port is the best that its host was seen to send or
 * receive. Now that there are limits, some rounds tell that a port was what held
 * transfers up: it is sure. Of the others all are left out at once, and the rounds are
 * predicted anew. Where most of the transfers that would have been faster then were not,
 * ports are needed: those of such transfers come back, until none is missed. What is left
 * out still never was a reason for anything, and a port that explains nothing does not
 * exist: it is as fast as all the rest lets its host be. */
#include <math.h>
#include <string.h>

#include "measure/explain_impl.h"

#define AS_GOOD_AS_NONE 1e6 /* rounding: of a port's rate */

/* Ports in a row: those for sending, then those for receiving. */
struct ports {
    int n;               /* hosts */
    unsigned char *open; /* is it left out? */
    int *freed, *slow;   /* transfers that would be faster without it; that were not */
    double *kept;        /* flow -> what was predicted with all ports */
    double *paid, *best; /* what rounds pay for it; the one that pays most */
    int *best_round, *last;
};

static double *port_at(const struct espi_measured *net, int port)
{
    return port < net->n_hosts ? &net->out_Bps[port] : &net->in_Bps[port - net->n_hosts];
}

static double seen_at(const struct espi_measured *net, int port)
{
    return port < net->n_hosts ? net->out_seen_Bps[port]
                               : net->in_seen_Bps[port - net->n_hosts];
}

/* Can the round tell that a port holds transfers up? Not where its host has but one,
 * which anything on its way may hold up; nor where other hosts of its site have transfers
 * from site to site beside its own, for these may share what is slow. */
static int tells_of_port(const struct espi_fitting *t, int round, int host, int out)
{
    const int *site = t->net->site;
    int own = 0, own_far = 0, others_far = 0;
    for (int i = t->r->start[round]; i < t->r->start[round + 1]; i++) {
        const struct espi_trial_flow *f = &t->r->flows[i];
        int here = out ? f->from : f->to, far = site[f->from] != site[f->to];
        own += here == host;
        own_far |= far && here == host;
        others_far |= far && here != host && site[here] == site[host];
    }
    return own > 1 && !(own_far && others_far);
}

/* By how much the loss of the round would grow without the port. */
static double port_pays(struct espi_fitting *t, int round, int port)
{
    double *at = port_at(t->net, port), kept = *at;
    if (!tells_of_port(t, round, port % t->net->n_hosts, port < t->net->n_hosts))
        return 0;
    *at = kept * AS_GOOD_AS_NONE;
    espi_fit_round(t, round, NULL, t->trial_rate);
    *at = kept;
    return fmin(espi_fit_loss(t, round, t->trial_rate) - t->loss[round],
                ESPI_ROUND_PAYS_MOST);
}

/* A port is sure as any limit is, by more than one round. */
static void note_sure_ports(struct espi_fitting *t, const struct ports *p)
{
    struct espi_measured *net = t->net;
    for (int k = 0; k < t->r->n; k++)
        for (int i = t->r->start[k]; i < t->r->start[k + 1]; i++)
            for (int out = 0; out < 2; out++) {
                const struct espi_trial_flow *f = &t->r->flows[i];
                int port = out ? f->from : p->n + f->to;
                if (p->last[port] == k || p->paid[port] > ESPI_LIMIT_PRICE)
                    continue;
                double pays = port_pays(t, k, port);
                p->last[port] = k;
                p->paid[port] += pays;
                if (pays > p->best[port]) {
                    p->best[port] = pays;
                    p->best_round[port] = k;
                }
            }
    for (int k = 0; k < 2 * p->n; k++) {
        unsigned char *tried = k < p->n ? &net->out_tried[k] : &net->in_tried[k - p->n];
        *tried = p->best[k] > ESPI_ROUND_PAYS_MOST / 4;
        p->open[k] = p->paid[k] <= ESPI_LIMIT_PRICE;
        if (p->open[k] && *tried) /* a round that ran often enough tells no more */
            *tried = espi_trial_rounds_doubt(&net->rounds, p->best_round[k]) != 0;
    }
}

static void count_flow(const struct ports *p, int port, int slow)
{
    p->freed[port] += p->open[port];
    p->slow[port] += p->open[port] && slow;
}

/* Brings the ports back that are missed; gives how many. */
static int close_missed(struct espi_fitting *t, struct ports *p)
{
    int closed = 0;
    memset(p->freed, 0, 2 * (size_t)p->n * sizeof *p->freed);
    memset(p->slow, 0, 2 * (size_t)p->n * sizeof *p->slow);
    espi_fit_all(t);
    for (int i = 0; i < t->r->start[t->r->n]; i++) {
        const struct espi_trial_flow *f = &t->r->flows[i];
        if (!(espi_log(t->predicted[i] / p->kept[i]) > ESPI_SURPRISE))
            continue;
        count_flow(p, f->from, espi_flow_is_slow(t, i));
        count_flow(p, p->n + f->to, espi_flow_is_slow(t, i));
    }
    for (int k = 0; k < 2 * p->n; k++)
        if (p->open[k] && 2 * p->slow[k] > p->freed[k]) {
            *port_at(t->net, k) = seen_at(t->net, k);
            p->open[k] = 0;
            closed++;
        }
    return closed;
}

/* As fast as all the rest lets its host be, to all others at once. */
static int set_open_port(struct espi_fitting *t, int port, struct espi_trial_flow *flows,
                         double *Bps)
{
    const struct espi_measured *net = t->net;
    int host = port % net->n_hosts, out = port < net->n_hosts, n = 0;
    struct espi_arena_mark mark = espi_arena_mark(t->arena);
    double sum = 0, *at = port_at(net, port);
    for (int h = 0; h < net->n_hosts; h++)
        if (h != host)
            flows[n++] = (struct espi_trial_flow){out ? host : h, out ? h : host, 0};
    *at *= AS_GOOD_AS_NONE;
    int status = espi_measured_predict(net, flows, n, Bps, t->arena);
    for (int i = 0; i < n; i++)
        sum += Bps[i];
    *at = sum > seen_at(net, port) && sum < seen_at(net, port) * (1 + 2 * ESPI_SPREAD)
              ? sum
              : seen_at(net, port);
    espi_arena_release(t->arena, mark);
    return status;
}

int espi_fit_ports(struct espi_fitting *t)
{
    struct espi_measured *net = t->net;
    size_t ports = 2 * (size_t)net->n_hosts, flows = (size_t)t->r->start[t->r->n];
    struct ports p = {.n = net->n_hosts};
    p.open = net->open_port = ESPI_ARENA_ZNEW(t->arena, unsigned char, ports);
    p.freed = ESPI_ARENA_NEW(t->arena, int, ports);
    p.slow = ESPI_ARENA_NEW(t->arena, int, ports);
    p.kept = ESPI_ARENA_NEW(t->arena, double, flows + 1);
    p.paid = ESPI_ARENA_ZNEW(t->arena, double, 2 * ports);
    p.best_round = ESPI_ARENA_ZNEW(t->arena, int, 2 * ports);
    if (!p.open || !p.freed || !p.slow || !p.kept || !p.paid || !p.best_round)
        return -1;
    p.best = p.paid + ports;
    p.last = p.best_round + ports;
    for (size_t k = 0; k < ports; k++)
        p.last[k] = -1;
    note_sure_ports(t, &p);
    memcpy(p.kept, t->predicted, flows * sizeof *p.kept);
    for (int k = 0; k < 2 * p.n; k++)
        *port_at(net, k) *= p.open[k] ? AS_GOOD_AS_NONE : 1;
    while (close_missed(t, &p))
        continue;
    return 0;
}

int espi_set_open_ports(struct espi_fitting *t)
{
    struct espi_measured *net = t->net;
    int n = net->n_hosts, status = 0;
    struct espi_trial_flow *flows = ESPI_ARENA_NEW(t->arena, struct espi_trial_flow, n);
    double *Bps = ESPI_ARENA_NEW(t->arena, double, 3 * (size_t)n), *raised = Bps + n;
    if (!flows || !Bps)
        return -1;
    for (int k = 0; k < 2 * n; k++)
        if (net->open_port[k])
            *port_at(net, k) = seen_at(net, k);
    for (int k = 0; k < 2 * n && !status; k++)
        if (net->open_port[k]) {
            status = set_open_port(t, k, flows, Bps);
            raised[k] = *port_at(net, k);
            *port_at(net, k) = seen_at(net, k);
        }
    for (int k = 0; k < 2 * n && !status; k++)
        if (net->open_port[k])
            *port_at(net, k) = raised[k];
    return status;
}
