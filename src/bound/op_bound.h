/* What no plan for an operation can beat. */
#ifndef ESPI_BOUND_OP_BOUND_H
#define ESPI_BOUND_OP_BOUND_H

#include <espalier/plan.h>

#include "base/arena.h"

struct espi_op_bound_task {
    const struct esp_platform *p;
    esp_op op;
    int root;
    int n_targets;
    const int *targets; /* NULL: all hosts but the root */
    double slice_bytes;
    double time_limit_s; /* of broadcast, reduce and allreduce; 0: none */
};

struct espi_op_bound {
    double throughput_Bps; /* bytes of the message a second; 0: nothing is known */
    int exact;             /* some plan reaches it */
    double solve_s;
};

/* Broadcast and scatter: the optimum. Multicast to some hosts: the optimum where its
 * trees are priced exactly (few targets), else Multicast-LB, which not every platform
 * lets plans reach. Allgather: the optimum of trees from all hosts. Gather, reduce and
 * reduce-scatter: those of the platform reversed. Allreduce: the
 * best of all plans that combine each part of the message at some one host and send it to
 * the others from there, or on large platforms what is proven of that. Alltoall: what
 * prices of the resources prove of all pairs' paths, the optimum but for the solver's
 * gap.
 */
esp_status espi_op_bound(const struct espi_op_bound_task *task, struct espi_op_bound *out,
                         struct esp_err *err);

#endif
