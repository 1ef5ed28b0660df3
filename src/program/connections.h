/* Connections: what one rank sends to another, over however many streams.
 *
 * Where nothing but the network limits what a rank does at once (ESPI_FREE), every
 * connection goes on by itself: of the slices that are there it sends those of the
 * earliest round, later by what their tree lags, and of these the one that comes first in
 * the schedule, so that none of them waits behind one that is not there yet. The slices
 * of a stream stay in order.
 *
 * But what a rank has from the start leaves in about the order of the schedule, no tree
 * more than some slices before another, less what it lags: what meets on a port or a
 * cable shares it equally, and a tree that needs less than its share would else take what
 * others need, and leave them to use the network alone at the end. All else follows as it
 * comes. Nobody waits for ever: the tree that is last is never held back. Nor does one
 * receiver hold up others of its tree: a tree is as far as the one it served most. */
#ifndef ESPI_PROGRAM_CONNECTIONS_H
#define ESPI_PROGRAM_CONNECTIONS_H

#include "program/program.h"

struct espi_connections {
    int n;
    int *of_stream;      /* stream -> connection; -1: of another rank */
    int *rank_start;     /* rank -> its connections, as rows */
    int *start, *stream; /* connection -> its streams, as rows */
    /* stream -> its sends in a round, in the order of the schedule, as rows */
    int *step_start;
    struct espi_step *step;
    /* stream -> where it is in them */
    int64_t *round;
    int *at;
    /* sends under way, by connection and by stream */
    int *open, *open_of_stream;
    int *tree_lag; /* tree -> rounds by which all of it comes later */
    int64_t *lead; /* tree -> the slot that the first of its streams is at; scratch */
};

/* Those out of one rank, or of all where rank is -1. Everything lives in the arena; -1
 * when out of memory. O(streams log streams + steps). */
int espi_connections_init(struct espi_connections *c, const struct espi_program *prog,
                          int rank, struct espi_arena *arena);

/* The last slot, of those of all rounds, up to which a rank may send now what it has from
 * the start. O(its streams). */
int64_t espi_connections_limit(struct espi_connections *c,
                               const struct espi_program *prog, int rank);

/* What may be sent now. */
struct espi_sendable {
    const int64_t *arrived; /* as in espi_step_has_data() */
    int64_t limit;          /* espi_connections_limit() */
    int window;             /* streams with so many under way wait; 0: none does */
};

/* The step that comes next on a connection, and the round that it is of; NULL: none that
 * is left may be sent. O(its streams). */
const struct espi_step *
espi_connection_next(struct espi_connections *c, const struct espi_program *prog,
                     int connection, const struct espi_sendable *now, int64_t *round);

/* The step was started, or what was under way on its stream has left. */
void espi_connection_start(struct espi_connections *c, const struct espi_step *step);
void espi_connection_end(struct espi_connections *c, int stream);

#endif
