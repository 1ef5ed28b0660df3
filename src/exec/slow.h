/* A transport over another one in which some links are slow, to try what a slow link
 * costs: messages to some peers are held back as if they went over a link of a given
 * bandwidth, one after the other. What is held back moves on while its sender looks at
 * its messages; notes (backup_session.h), which ranks do not stay for, are not held back.
 */
#ifndef ESPI_EXEC_SLOW_H
#define ESPI_EXEC_SLOW_H

#include "exec/transport.h"

struct espi_slow;

/* Over `inner`, for one rank of n; NULL when out of memory. */
struct espi_slow *espi_slow_create(const struct espi_transport *inner, int n);
void espi_slow_free(struct espi_slow *slow);

/* From now on what is sent to the peer takes this long; 0: as fast as it can. */
void espi_slow_link(struct espi_slow *slow, int peer, double bandwidth_Bps);

const struct espi_transport *espi_slow_transport(struct espi_slow *slow);

#endif
