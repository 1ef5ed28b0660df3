/* What the annealers work on: some hosts of a view, numbered from 0, and the arcs between
 * them. A pool of a large platform is one, and so is the whole. */
#ifndef ESPI_ALGO_ANNEAL_NET_H
#define ESPI_ALGO_ANNEAL_NET_H

#include "platform/view.h"

enum espi_anneal_objective {
    ESPI_ANNEAL_FINISH,     /* until `count` slices have arrived, by fill and period */
    ESPI_ANNEAL_FILL,       /* until one message has: the paper's */
    ESPI_ANNEAL_THROUGHPUT, /* the period of slices */
    ESPI_ANNEAL_JUDGED,     /* what somebody else says of the tree */
};

/* What a tree is worth, given by the arc into each host of the view (-1: none); less is
 * better, and a NaN says: out of memory. */
typedef double (*espi_anneal_judge_fn)(void *arg, const int *parent_arc);

struct espi_anneal_net {
    const struct espi_view *v;
    int n;
    const int *host; /* number -> host of the view */
    int root;        /* number; -1: any of them may be */
    int *number;     /* host of the view -> number, -1: not in the net */
    int *start; /* number -> its arcs in, as rows of what follows; the fastest first */
    int *tail, *head, *arc; /* numbers; arc of the view */
    double *hold_s, *lag_s;
    double *enter_s; /* number -> what comes on top when it is the root */
    enum espi_anneal_objective objective;
    double count; /* slices, for ESPI_ANNEAL_FINISH */
    espi_anneal_judge_fn judge;
    void *judge_arg;
};

/* The net of n hosts, of which `root` (a host of the view) is the root if it is among
 * them. Otherwise any may be, and enters with the time of its arc from `root` where there
 * is one. The objective is ESPI_ANNEAL_FILL. The list of hosts must outlive the net.
 * 0, or -1 when out of memory. O(m log m) for the m arcs into them. */
int espi_anneal_net_init(struct espi_anneal_net *net, const struct espi_view *v, int n,
                         const int *host, int root, struct espi_arena *arena);

#endif
