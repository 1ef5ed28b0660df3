/* What a message costs its two ends, for estimates: T_send, T_recv and T_end of Wu and
 * Yeh, in every model and for every length. */
#ifndef ESPI_ALGO_ALLGATHER_PAIRS_H
#define ESPI_ALGO_ALLGATHER_PAIRS_H

#include "algo/algo.h"

struct espi_pairs {
    int n;
    /* Times are affine in the bytes: [0] + bytes * [1]. */
    double (*end)[2];  /* from * n + to */
    double (*send)[2]; /* by host, or by pair where by_pair */
    double (*recv)[2]; /* by host, or by pair where by_pair */
    int by_pair;
};

/* Hosts that are not joined send over shortest paths. -1 when out of memory.
 * O(n m log n). */
int espi_pairs_init(struct espi_pairs *t, const struct espi_task *task,
                    double part_bytes);

static inline double espi_affine(const double *t, double bytes)
{
    return t[0] + t[1] * bytes;
}

/* From the start of the send to the end of the receive, when nothing is in the way. */
static inline double espi_end_s(const struct espi_pairs *t, int from, int to,
                                double bytes)
{
    return espi_affine(t->end[(size_t)from * (size_t)t->n + (size_t)to], bytes);
}

/* What it takes of the sender, and of the receiver. */
static inline double espi_send_s(const struct espi_pairs *t, int from, int to,
                                 double bytes)
{
    size_t at = t->by_pair ? (size_t)from * (size_t)t->n + (size_t)to : (size_t)from;
    return espi_affine(t->send[at], bytes);
}

static inline double espi_recv_s(const struct espi_pairs *t, int from, int to,
                                 double bytes)
{
    size_t at = t->by_pair ? (size_t)from * (size_t)t->n + (size_t)to : (size_t)to;
    return espi_affine(t->recv[at], bytes);
}

/* All hosts, those first that send fastest (then: that receive fastest); NULL when out of
 * memory. Where nodes have no overheads of their own, by the mean time of their links. */
int *espi_hosts_by_speed(const struct espi_task *task, double bytes);

#endif
