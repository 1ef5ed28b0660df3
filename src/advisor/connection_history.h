/* Which hosts have sent to one another before. Between two that have not, an MPI library
 * makes a connection first (some round trips), and the connection starts slowly: what the
 * first message takes says little of the link.
 *
 * Per host 256 bits, by the number of the other: on larger networks two may seem to have
 * met that have not, which is as if nobody asked. */
#ifndef ESPI_ADVISOR_CONNECTION_HISTORY_H
#define ESPI_ADVISOR_CONNECTION_HISTORY_H

#include <stdint.h>

#include "base/alloc.h"

struct espi_connection_history {
    uint64_t (*by_node)[4];
};

/* -1: out of memory. */
static inline int espi_connection_history_init(struct espi_connection_history *m,
                                               int n_nodes)
{
    m->by_node = espi_calloc((size_t)n_nodes + 1, sizeof *m->by_node);
    return m->by_node ? 0 : -1;
}

static inline void espi_connection_history_done(struct espi_connection_history *m)
{
    espi_free(m->by_node);
    m->by_node = NULL;
}

/* They meet: 1, if it is for the first time. Either may have been the sender. */
static inline int espi_connection_is_first(struct espi_connection_history *m, int a,
                                           int b)
{
    uint64_t *of_a = &m->by_node[a][b / 64 % 4], *of_b = &m->by_node[b][a / 64 % 4];
    uint64_t bit_b = UINT64_C(1) << b % 64, bit_a = UINT64_C(1) << a % 64;
    int first = !(*of_a & bit_b) || !(*of_b & bit_a);
    *of_a |= bit_b;
    *of_b |= bit_a;
    return first;
}

#endif
