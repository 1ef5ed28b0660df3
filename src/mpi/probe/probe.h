/* The probe: a program that is started in place of an MPI application and measures the
 * network between its ranks. Rank 0 plans and commands; one rank of each host obeys. All
 * ranks wait kindly: they may share few processors. */
#ifndef ESPI_MPI_PROBE_PROBE_H
#define ESPI_MPI_PROBE_PROBE_H

#include <mpi.h>
#include <stddef.h>

#include "measure/probe.h"
#include "mpi/probe/tuning.h"

enum {
    TAG_COMMAND = 1,
    TAG_RESULT,
    TAG_READY,
    TAG_GO,
    TAG_PING,
    TAG_TRAIN,
    TAG_BUS,
    TAG_FLOWS = 100, /* code: and from there on */
};

enum order { ORDER_MEET, ORDER_FLOWS, ORDER_BUS, ORDER_QUIT };

/* A pair of a trial as the ranks know it. */
struct task {
    int index; /* in the trial */
    int from_rank, to_rank, from_host, to_host;
    double expect_Bps, latency_s;
};

struct command {
    int order, n;
    double seconds;
    struct task tasks[];
};

struct result {
    int kind, from, to; /* enum espi_sample_kind, hosts */
    double value;
};

struct results {
    struct result *at;
    size_t n, room;
};

void results_add(struct results *r, enum espi_sample_kind kind, int from, int to,
                 double value);

/* Waiting: call between two looks; rests longer the longer nothing comes, up to most_s.
 */
struct wait {
    double since_s, rest_s;
};
void wait_begin(struct wait *w);
void wait_on(struct wait *w, double spin_s, double most_s);
/* Waits for a message; gives its size in bytes. */
int wait_message(int rank, int tag, double spin_s, double most_s);

/* Each does this rank's part. */
void run_meet(const struct command *c, int rank, struct results *out);
/* start_together returns when all ranks of the trial are ready. */
void run_flows(const struct command *c, int rank, struct results *out,
               void (*start_together)(void *context), void *context);
void run_bus(const struct command *c, int rank, struct results *out);

/* A failure that no rank can go on from. */
void give_up(const char *sentence) __attribute__((noreturn));

#endif
