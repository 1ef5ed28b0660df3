/* A transport between threads of one process: for tests, and to try programs without a
 * network. Messages are matched in order for each (sender, receiver, channel) and copied
 * when both sides are there. */
#ifndef ESPI_EXEC_LOOPBACK_H
#define ESPI_EXEC_LOOPBACK_H

#include "exec/transport.h"

struct espi_loopback;

/* A network of n ranks; NULL when out of memory. */
struct espi_loopback *espi_loopback_create(int n);
void espi_loopback_free(struct espi_loopback *net);

/* The transport of one rank; valid as long as the network. */
const struct espi_transport *espi_loopback_rank(struct espi_loopback *net, int rank);

/* From the nth operation on, counted over all ranks, every operation fails with code 1;
 * 0: never. */
void espi_loopback_fail_after(struct espi_loopback *net, long nth);

/* Is there no message that one side still waits for? */
int espi_loopback_is_empty(struct espi_loopback *net);

#endif
