/* Plans as messages between hosts, each with some parts of the message in it: of an
 * allgather those of some hosts, of an alltoall those of some pairs. */
#ifndef ESPI_ALGO_EXCHANGE_H
#define ESPI_ALGO_EXCHANGE_H

#include "algo/transfers.h"

struct espi_exchange {
    const struct espi_task *task;
    int n;                        /* hosts */
    int n_pieces;                 /* hosts, or hosts * hosts */
    struct espi_transfers routes; /* message -> its path */
    int *step;                    /* message -> step */
    int *piece_start, *pieces;    /* message -> what it carries: the part of a host, or
                                     of a pair, which is number from * n + to */
    size_t step_cap, start_cap, piece_cap;
};

esp_status espi_exchange_init(struct espi_exchange *x, const struct espi_task *task,
                              struct esp_err *err);

/* Adds a message. What it carries must have come to the sender in earlier steps, and two
 * messages of one sender to one receiver in one step become one. */
esp_status espi_exchange_send(struct espi_exchange *x, int step, int from, int to,
                              int n_pieces, const int *pieces, struct esp_err *err);

/* Puts the messages into the plan: a tree a host, or a pair, with steps. */
esp_status espi_exchange_plan(const struct espi_exchange *x, struct esp_plan *plan,
                              struct esp_err *err);

/* The plan of an alltoall in which each host sends in round k to the one k after it. */
esp_status espi_exchange_pairwise(const struct espi_task *task, struct esp_plan *plan,
                                  struct esp_err *err);

#endif
