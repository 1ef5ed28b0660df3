/* Programs: the steps of each rank, compiled from a plan and its schedule. The simulator
 * and the executor run the same program, so that what was simulated is what runs.
 *
 * The message is cut into slices, the slices into rounds of `slots` slices each. A stream
 * carries the slices of one tree from one rank to another; a rank's list of sends says in
 * which order it serves its streams in a round, and its list of receives likewise. The
 * lists stand for all rounds: a step with lag d handles in round j the slice of round
 * j - d. So a program is as long as the plan, however long the message.
 *
 * A plan with steps (esp_plan_set_tree_steps) has one round of one slice a tree, and a
 * stream carries all slices of its message at once. */
#ifndef ESPI_PROGRAM_PROGRAM_H
#define ESPI_PROGRAM_PROGRAM_H

#include <espalier/plan.h>

#include "base/arena.h"
#include "platform/platform.h"

struct espi_stream {
    int from, to; /* ranks */
    int tree;
    int source; /* the stream that brings `from` the data; -1: it has them */
    int also;   /* the next that the sender of a stream with this source waits for; -1 */
    int combines;          /* `to` combines the data with its own */
    int keeps;             /* does `to` keep the data, or does it only forward them? */
    int first_hop, n_hops; /* links of the platform, with only switches between */
    int first_state;       /* number of its first (stream, slot) pair */
};

struct espi_step {
    int stream;
    int slot;  /* 0..slots-1: which slice of the round */
    int state; /* number of the (stream, slot) pair */
    int lag;   /* rounds behind the first */
    int place; /* in the order of all steps of a round */
};

typedef enum espi_ordering {
    ESPI_UNORDERED,   /* sends happen in the order of the list, receives as they come */
    ESPI_ORDERED,     /* receives too happen in the order of the list */
    ESPI_INTERLEAVED, /* sends and receives of a rank happen in the order of their places
                       */
    ESPI_FREE,        /* each connection goes on by itself (program/connections.h) */
} espi_ordering;

struct espi_program {
    const struct esp_platform *p;
    int n_ranks, root;
    int *node; /* rank -> node */
    int *rank; /* node -> rank, -1 for switches */
    double size_bytes;
    int64_t n_slices;
    int slots;      /* slices in a round */
    int64_t rounds; /* the last one may be short */
    int max_lag;
    int n_trees;
    int *slot_tree;  /* slot -> tree */
    int *slot_index; /* slot -> how many slots of its tree come before it in the round */
    int *slot_turn;  /* slot -> place in the order in which slots are begun; NULL: as they
                        are numbered */
    int parts;       /* of the message, each tiled by slices of its own */
    int *slot_part;  /* slot -> part, in the order of the ranks that have one; NULL: one
                        part */
    int *slot_place; /* slot -> how many slots of its part come before it in the round */
    /* plans with steps, else NULL: stream -> slices that it carries, ascending, and
     * streams that its sender waits for, as rows */
    int *piece_start, *pieces;
    int *need_start, *needs;
    int n_streams, n_states;
    struct espi_stream *streams;
    int *hops;
    int64_t *expects;             /* rank -> how many slices it will have kept */
    int *send_start, *recv_start; /* rank -> steps, as rows */
    struct espi_step *sends, *recvs;
    espi_ordering ordered;
};

struct espi_compile_options {
    double size_bytes, slice_bytes; /* 0: those of the plan */
};

/* Compiles a checked plan that has a schedule or steps (of a redundant one, the first
 * tree); everything lives in the arena, the platform must outlive it. Nothing is decided
 * here: rounds and order are the schedule's, whatever the size of message and slices. */
esp_status espi_program_compile(const struct esp_platform *p, const struct esp_plan *plan,
                                const struct espi_compile_options *options,
                                struct espi_arena *arena, struct espi_program *out,
                                struct esp_err *err);

/* The slice that a step handles in a round; -1: none. */
static inline int64_t espi_step_slice(const struct espi_program *prog,
                                      const struct espi_step *step, int64_t round)
{
    int64_t batch = round - step->lag;
    if (batch < 0 || batch >= prog->rounds)
        return -1;
    int64_t slice = batch * prog->slots + step->slot;
    return slice < prog->n_slices ? slice : -1;
}

/* Moves on to the next of a rank's steps that handles a slice, and gives it; NULL at the
 * end. */
static inline const struct espi_step *espi_next_step(const struct espi_program *prog,
                                                     const struct espi_step *steps,
                                                     int n_steps, int64_t *round, int *at)
{
    for (;;) {
        if (*at == n_steps) {
            *at = 0;
            ++*round;
        }
        if (n_steps == 0 || *round >= prog->rounds + prog->max_lag)
            return NULL;
        if (espi_step_slice(prog, &steps[*at], *round) >= 0)
            return &steps[*at];
        ++*at;
    }
}

/* How many slices of the message a slot carries. */
static inline int64_t espi_slices_of_slot(const struct espi_program *prog, int slot)
{
    return prog->n_slices / prog->slots + (slot < prog->n_slices % prog->slots);
}

/* Has all that the sender of a step needs arrived? arrived[] counts, by (stream, slot)
 * pair, the rounds that have. */
static inline int espi_step_has_data(const struct espi_program *prog,
                                     const struct espi_step *step, const int64_t *arrived,
                                     int64_t round)
{
    const struct espi_stream *s = &prog->streams[step->stream];
    int index = step->state - s->first_state;
    if (prog->needs) {
        for (int k = prog->need_start[step->stream];
             k < prog->need_start[step->stream + 1]; k++)
            if (!arrived[prog->streams[prog->needs[k]].first_state])
                return 0;
        return 1;
    }
    for (int q = s->source; q >= 0; q = prog->streams[q].also)
        if (arrived[prog->streams[q].first_state + index] <= round - step->lag)
            return 0;
    return 1;
}

/* How many slices a message of the stream is. */
static inline int espi_stream_pieces(const struct espi_program *prog, int stream)
{
    return prog->pieces ? prog->piece_start[stream + 1] - prog->piece_start[stream] : 1;
}

/* Byte ranges: they differ by at most one byte and tile the whole. */
static inline uint64_t espi_slice_offset(uint64_t size, int64_t n_slices, int64_t slice)
{
    uint64_t n = (uint64_t)n_slices, i = (uint64_t)slice, whole = size / n,
             rest = size % n;
    return i * whole + (i < rest ? i : rest);
}

/* Where a slice is in the message: slices tile the parts, and the parts the message. */
static inline uint64_t espi_slice_range(const struct espi_program *prog, int64_t slice,
                                        uint64_t *bytes)
{
    uint64_t size = (uint64_t)prog->size_bytes, first = 0;
    int64_t count = prog->n_slices;
    if (prog->slot_part) {
        int slot = (int)(slice % prog->slots), part = prog->slot_part[slot];
        int of_part = prog->slots / prog->parts;
        first = espi_slice_offset(size, prog->parts, part);
        size = espi_slice_offset(size, prog->parts, part + 1) - first;
        slice = slice / prog->slots * of_part + prog->slot_place[slot];
        count = prog->rounds * of_part;
    }
    uint64_t from = espi_slice_offset(size, count, slice);
    *bytes = espi_slice_offset(size, count, slice + 1) - from;
    return first + from;
}

#endif
