/* Runs one rank of a program over a transport. */
#ifndef ESPI_EXEC_EXEC_H
#define ESPI_EXEC_EXEC_H

#include "base/arena.h"
#include "exec/transport.h"
#include "program/connections.h"

/* Where a part of the message lies. */
struct espi_block {
    char *at; /* NULL where the rank neither has nor gets it */
    uint64_t bytes;
};

struct espi_run;

/* A run that does more than its program: other messages beside those of the program,
 * which bring slices early or make some empty. What the program sends stays as it is, on
 * each connection in its order. The run asks; codes are 0 or an error, which ends it.
 * `self` comes first. */
struct espi_run_policy {
    void *self;
    /* What is sent for the slice: where it is, and its bytes, or none. */
    const char *(*read_slice)(void *self, int stream, int64_t slice, size_t *bytes);
    /* A message of the program came in the place of the slice, of so many bytes. */
    int (*on_received)(void *self, struct espi_run *run, int64_t slice, size_t bytes);
    /* Starts what can be sent beside the program. */
    int (*serve)(void *self, struct espi_run *run);
    /* Looks for what came beside it; *count, which says how much happened in the run just
     * now, grows by that. */
    int (*look)(void *self, struct espi_run *run, int *count);
    /* Is there nothing to do beside the program? */
    int (*is_idle)(const void *self);
};

struct espi_run_options {
    int window; /* messages under way a stream, and for sends in all or, where each
                   connection goes by itself, on each, but at least one a stream; 0: 4 */
    /* Reductions: combines bytes that arrived into those that are there. What comes from
     * several ranks is combined in the same order in every run. */
    void (*combine)(void *arg, void *into, const void *from, size_t bytes);
    /* A message that is not in memory as it travels (NULL: it is): these copy some bytes
     * of a part of it from where they are, and to there. Not where it is combined. */
    void (*load)(void *arg, int part, uint64_t at, void *to, size_t bytes);
    void (*keep)(void *arg, int part, uint64_t at, const void *from, size_t bytes);
    void *arg;
    size_t element_bytes; /* slices are of whole elements; 0: 1. Parts: as blocks */
    /* The parts of the message, in the order of the ranks that have one, where they do
     * not lie one behind the other or differ in size; NULL: they do not. */
    const struct espi_block *blocks;
    /* NULL: none. Only for programs in which every rank keeps all that it gets and
     * nothing is combined, and messages that are in memory as they travel. */
    const struct espi_run_policy *policy;
};

/* One rank's part of one run. The state is a struct of its own, so that a run can be
 * driven in steps (non-blocking collectives) as well as to its end. */
struct espi_run {
    const struct espi_program *prog;
    const struct espi_transport *transport;
    int rank;
    char *data;         /* the whole message, prog->size_bytes long; NULL: the transport
                           knows where it is, and is given no places in it */
    const int *channel; /* stream -> channel, unique for a pair of ranks */

    /* receiving: each stream into this rank has its slices arrive in order */
    int n_in;
    struct espi_inflow *in;
    int *inflow_of_stream;
    int64_t *arrived; /* by (stream, slot) pair: rounds that are here */
    /* sending: strictly in the order of the list, or each connection by itself */
    int is_free;
    int64_t send_round;
    int send_at;
    struct espi_connections connections;
    /* requests under way, in the order in which they were started */
    struct espi_request *requests;
    struct espi_open_message *messages; /* what each request is for */
    int *done;
    int n_requests, max_requests;
    int n_sends_open; /* sends under way */
    /* sends of several slices that are not together in the message: packed here */
    char *pack;
    size_t
        pack_bytes; /* of each place, of which there are as many as sends may be open */
    unsigned char *pack_used;
    struct espi_run_options options;
    int window;
    size_t room; /* for a slice in memory of ours */
    int error;   /* of the transport or the policy, 0: none */
};

/* Channels for all streams of a program: streams between the same two ranks get different
 * ones, the lowest there are. Gives an array in the arena, NULL when out of memory. */
int *espi_program_channels(const struct espi_program *prog, struct espi_arena *arena);

/* Sets up a run; memory from the arena, which must outlive it. 0, or -1: no memory. */
int espi_run_init(struct espi_run *run, const struct espi_program *prog, int rank,
                  const int *channel, const struct espi_transport *transport, void *data,
                  const struct espi_run_options *options, struct espi_arena *arena);

/* Goes on as far as it can: with block != 0 to the end, else until it would have to wait.
 * Returns 1 when the rank's part is done, 0 when not yet, -1 on an error (run->error). */
int espi_run_progress(struct espi_run *run, int block);

#endif
