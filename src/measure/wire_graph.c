/* Which sites have a wire.
 *
 * Latencies tell it, where they are not the sums of others by chance: then a wire is
 * taken for a route over a third site, or a route for a wire. Transfers tell better. So
 * where much comes out otherwise than the wires predict, for each pair of sites the
 * opposite of what latencies say is tried, with the rates and routes that are best then;
 * what explains most is believed, if that is more than two wires (there and back) cost,
 * and the others are tried again.
 *
 * Complexity: sites^2 fits of the wires, for each pair that is changed. */
#include <math.h>
#include <string.h>

#include "measure/explain_impl.h"

enum {
    SEARCHED_SITES = 12, /* limit: of time */
    FLIPS_MAX = 4        /* limit */
};

/* A fit of the wires alone. */
struct graph_fit {
    double *loss; /* of rounds */
    double price;
    int far, surprises; /* transfers between sites */
};

/* -1 when out of memory; 0: latencies tell of no wires. */
static int fit_graph(struct espi_fitting *t, struct graph_fit *fit)
{
    const struct espi_measured *net = t->net;
    int status = espi_fit_wires_alone(t);
    if (status <= 0)
        return status;
    fit->price = 0;
    fit->far = fit->surprises = 0;
    for (int c = 0; c < t->n_chosen; c++)
        fit->price += t->chosen[c]->price;
    memcpy(fit->loss, t->loss, (size_t)t->r->n * sizeof *fit->loss);
    for (int i = 0; i < t->r->start[t->r->n]; i++)
        if (net->site[t->r->flows[i].from] != net->site[t->r->flows[i].to]) {
            fit->far++;
            fit->surprises += espi_flow_is_surprise(t, i);
        }
    return 1;
}

/* How much better the second is; no round counts for more than it may pay. */
static double weigh_fit(const struct graph_fit *was, const struct graph_fit *is, int n)
{
    double better = was->price - is->price;
    for (int k = 0; k < n; k++)
        better += fmax(-ESPI_ROUND_PAYS_MOST,
                       fmin(was->loss[k] - is->loss[k], ESPI_ROUND_PAYS_MOST));
    return better;
}

static void flip(struct espi_measured *net, int a, int b)
{
    int s = net->n_sites;
    net->other_wire[a * s + b] = net->other_wire[b * s + a] = !net->other_wire[a * s + b];
}

/* Tries all pairs; takes the best, and gives whether there was one. -1: no memory. */
static int flip_best(struct espi_measured *net, struct graph_fit *is,
                     struct graph_fit *trial, struct espi_arena *arena)
{
    int s = net->n_sites, best = -1;
    double most = 2 * ESPI_LIMIT_PRICE;
    for (int k = 0; k < s * s; k++) {
        struct espi_arena_mark mark = espi_arena_mark(arena);
        struct espi_fitting t = espi_new_fitting(net, arena);
        if (k / s >= k % s)
            continue;
        flip(net, k / s, k % s);
        int status = fit_graph(&t, trial);
        double better = status > 0 ? weigh_fit(is, trial, net->rounds.n) : 0;
        flip(net, k / s, k % s);
        espi_arena_release(arena, mark);
        if (status < 0)
            return -1;
        if (better > most) {
            most = better;
            best = k;
        }
    }
    if (best < 0)
        return 0;
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct espi_fitting t = espi_new_fitting(net, arena);
    flip(net, best / s, best % s);
    int status = fit_graph(&t, is);
    espi_arena_release(arena, mark);
    return status < 0 ? -1 : 1;
}

int espi_find_wires(struct espi_measured *net, struct espi_arena *arena)
{
    int s = net->n_sites;
    size_t rounds = (size_t)net->rounds.n + 1;
    struct graph_fit is, trial;
    net->other_wire = ESPI_ARENA_ZNEW(arena, unsigned char, (size_t)s *(size_t)s);
    is.loss = ESPI_ARENA_NEW(arena, double, rounds);
    trial.loss = ESPI_ARENA_NEW(arena, double, rounds);
    if (!net->other_wire || !is.loss || !trial.loss)
        return -1;
    if (s < 4 || s > SEARCHED_SITES)
        return 0;
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct espi_fitting t = espi_new_fitting(net, arena);
    int status = fit_graph(&t, &is);
    espi_arena_release(arena, mark);
    for (int times = 0;
         status > 0 && times < FLIPS_MAX && is.surprises > ESPI_DISTURBED * is.far;
         times++)
        status = flip_best(net, &is, &trial, arena);
    return status < 0 ? -1 : 0;
}
