/* What the parts of the search for limits share; used by explain.c, candidates.c,
 * fit_*.c and limit_names.c only. */
#ifndef ESPI_MEASURE_EXPLAIN_IMPL_H
#define ESPI_MEASURE_EXPLAIN_IMPL_H

#include <limits.h>
#include <stdint.h>

#include "base/portable_math.h"
#include "measure/measured.h"
#include "measure/routes.h"

enum espi_limit_kind {
    ESPI_LIMIT_OUT,  /* of area `a` */
    ESPI_LIMIT_IN,   /* of area `a` */
    ESPI_LIMIT_BOTH, /* in and out of area `a` */
    ESPI_LIMIT_SITE_OUT,
    ESPI_LIMIT_SITE_IN,
    ESPI_LIMIT_SITE_BOTH,
    ESPI_LIMIT_CABLE,      /* site `a` to `b` */
    ESPI_LIMIT_CABLE_BOTH, /* there and back */
    ESPI_LIMIT_AREA_CABLE, /* area `a` to `b` of one site */
    ESPI_LIMIT_WINDOW,     /* site `a` to `b`: each transfer by itself */
    ESPI_LIMIT_TURN,       /* bytes a round trip: each transfer between sites by itself */
    ESPI_LIMIT_MEDIUM,     /* of site `a` */
    ESPI_LIMIT_GROUP_OUT,  /* of several areas of a site to its others; `a`: the first */
    ESPI_LIMIT_GROUP_IN,
    ESPI_LIMIT_SET /* whatever else */
};

/* Limits are looked for level by level: what there is a reason to think of, then those of
 * so many pairs, then these. */
enum { ESPI_LEVEL_AREA_CABLES = INT_MAX };

struct espi_limit {
    enum espi_limit_kind kind;
    int a, b;
    unsigned char *pairs; /* area * n_areas + area: do their transfers use it? */
    uint64_t hash;        /* of them, in candidates.c */
    double Bps, price;    /* TURN: bytes */
    double often_Bps;     /* another rate that it may have; 0: none */
    int n_pairs;          /* of sites, or of areas of one site */
    double gain;          /* at most; less the price */
    int fresh;            /* is the gain that of the limits there are now? */
    int first;            /* pair of areas that is one of them, or 0 */
    int level;            /* pairs of sites, or of areas of one site, that it is about */
    int wire;             /* site * n_sites + site that it joins, and 1; 0: none */
    int aside;            /* is it left out of predictions for now? */
    struct espi_limit *origin; /* of which it was made by changing pairs (fit_pairs.c) */
};

struct espi_fitting {
    struct espi_measured *net;
    struct espi_arena *arena;
    const struct espi_trial_rounds *r;
    int n_areas;             /* and one more, where hosts are tried alone: the last */
    int *key;                /* flow -> its pair of areas */
    int *out_port, *in_port; /* flow -> its ports, numbered by round */
    double *turn_s;          /* flow -> the round trip between its sites, or 0 */
    double *own, *predicted; /* flow -> its own limit, its rate as predicted */
    double *trial_rate;      /* room for a round */
    double *loss;            /* of rounds, as predicted */
    struct espi_site_routes routes; /* as latencies tell */
    int has_wires;                  /* are there few enough for routes to be believed? */
    struct espi_limit **chosen;
    int n_chosen;
    struct espi_limit *candidates;
    int n_candidates, n_hashed, room;
    double *values;                         /* room for a value a flow */
    unsigned char *seen_sites, *seen_areas; /* from * n + to: were there transfers? */
    /* room for the resources of a round */
    double *left, *share; /* of each; what each of its open flows has */
    double *bound;        /* flow -> what it has for itself */
    int *open, *uses, *use_start, *users, *user_start, *active;
    int *waiting; /* flows that have no rate yet */
};

/* Was it slower than predicted by more than it usually is? */
static inline int espi_flow_is_slow(const struct espi_fitting *t, int flow)
{
    return espi_log(t->predicted[flow] / t->r->flows[flow].Bps) > ESPI_SURPRISE;
}

/* Did it come out otherwise than predicted, by more than usual? */
static inline int espi_flow_is_surprise(const struct espi_fitting *t, int flow)
{
    double off = espi_log(t->r->flows[flow].Bps / t->predicted[flow]);
    return off > ESPI_SURPRISE || off < -ESPI_SURPRISE;
}

/* Has each of its transfers the rate for itself? */
static inline int espi_limit_is_single(const struct espi_limit *l)
{
    return l->kind == ESPI_LIMIT_WINDOW || l->kind == ESPI_LIMIT_TURN;
}

/* Do some of the round's transfers use it? */
static inline int espi_limit_has_transfers(const struct espi_fitting *t,
                                           const struct espi_limit *l, int round)
{
    for (int i = t->r->start[round]; i < t->r->start[round + 1]; i++)
        if (l->pairs[t->key[i]])
            return 1;
    return 0;
}

/* What it allows one transfer. */
static inline double espi_limit_single_Bps(const struct espi_fitting *t,
                                           const struct espi_limit *l, int flow)
{
    return l->kind == ESPI_LIMIT_TURN ? l->Bps / t->turn_s[flow] : l->Bps;
}

static inline int espi_limit_is_chosen(const struct espi_fitting *t,
                                       const struct espi_limit *l)
{
    for (int i = 0; i < t->n_chosen; i++)
        if (t->chosen[i] == l)
            return 1;
    return 0;
}

/* The rates of a round with the limits chosen, and one more if it is not NULL; their
 * loss; both kept as the prediction, of one round or of all. */
void espi_fit_round(struct espi_fitting *t, int round, const struct espi_limit *extra,
                    double *rate);
double espi_fit_loss(const struct espi_fitting *t, int round, const double *rate);
void espi_fit_again(struct espi_fitting *t, int round);
void espi_fit_all(struct espi_fitting *t);

/* The rates of the limits chosen anew, and all predictions. */
void espi_fit_rates(struct espi_fitting *t);

/* Marks rounds in doubt, with the limits chosen. */
void espi_mark_doubts(struct espi_fitting *t);

/* Takes pairs of sites that have several routes off all wires, and gives how many there
 * are; finds their routes, and gives how many are others than before. */
int espi_open_routes(struct espi_fitting *t);
int espi_fit_routes(struct espi_fitting *t);
/* Describes the candidates that are wires anew, after their pairs have changed. */
void espi_describe_wires(struct espi_fitting *t);

struct espi_fitting espi_new_fitting(struct espi_measured *net, struct espi_arena *arena);
/* Predictions by ports and the wires that latencies tell of; 0: they tell of none. */
int espi_fit_wires_alone(struct espi_fitting *t);
int espi_list_wires(struct espi_fitting *t);
/* Finds wires that latencies do not tell of (wire_graph.c). */
int espi_find_wires(struct espi_measured *net, struct espi_arena *arena);

/* Each gives -1 when out of memory. */
int espi_fit_pairs(struct espi_fitting *t);
/* Moves hosts to other areas of their sites, and gives how many: then the fit is to be
 * done anew. */
int espi_fit_areas(struct espi_fitting *t);
int espi_list_candidates(struct espi_fitting *t);
/* Sets of areas of one site whose transfers are slow still; gives how many were added, -1
 * when out of memory. */
int espi_add_groups(struct espi_fitting *t);
/* One that has no pairs yet; NULL where there is no room, and when out of memory. */
struct espi_limit *espi_new_candidate(struct espi_fitting *t, enum espi_limit_kind kind,
                                      int a, int b);
/* Now it has them: gives 1, or 0 where there was one of the same pairs. */
int espi_complete_candidate(struct espi_fitting *t);
/* One more of the same; the same one where there is no room, NULL when out of memory. */
struct espi_limit *espi_copy_candidate(struct espi_fitting *t, struct espi_limit *l);
/* The rate that explains most, and the gain, of one that has pairs but is no candidate.
 */
double espi_weigh_candidate(struct espi_fitting *t, struct espi_limit *l);
void espi_rate_candidate(struct espi_fitting *t, struct espi_limit *l);
int espi_write_limits(const struct espi_fitting *t);
/* Which ports are a reason for anything; and the rates of those that are not, once limits
 * are written down. */
int espi_fit_ports(struct espi_fitting *t);
int espi_set_open_ports(struct espi_fitting *t);

#endif
