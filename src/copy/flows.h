/* What the kernel counted of the streams that go out of a host: by these it is known
 * which of them the network holds up. */
#ifndef ESPI_COPY_FLOWS_H
#define ESPI_COPY_FLOWS_H

#include <stdint.h>

#include "copy/wire.h"

struct espi_tcp;

enum { ESPI_FLOWS_MAX = 512 }; /* limit: told of by one host; of more nothing is told */

/* Since the connection began. */
struct espi_flow_count {
    uint32_t stream;             /* in the whole program */
    uint64_t bytes;              /* that the other end has */
    uint64_t busy_us, choked_us; /* something was under way; its end took no more */
};

/* NULL: out of memory. All of it is for espi_free(). */
struct espi_flow_count *espi_flows_count(const struct espi_tcp *t, int *n,
                                         uint64_t *at_us);
void espi_flows_put(struct espi_wire_out *w, const struct espi_flow_count *of, int n,
                    uint64_t at_us);
/* One after the other: count and time first. */
uint32_t espi_flows_take_head(struct espi_wire_in *r, uint64_t *at_us);
struct espi_flow_count espi_flows_take(struct espi_wire_in *r);

#endif
