/* A broadcast along one tree in which ranks help each other: a rank whose parent is late
 * against the forecast asks a second rank, its helper, for the slices that are missing.
 * See rescue.c. */
#ifndef ESPI_EXEC_RESCUE_H
#define ESPI_EXEC_RESCUE_H

#include "base/arena.h"
#include "exec/helpline.h"
#include "program/program.h"

struct espi_rescue_options {
    int window;      /* slices under way a stream; 0: 4 */
    int helper;      /* whom this rank may ask; -1: nobody */
    double first_s;  /* forecast: until the first slice is here ... */
    double period_s; /* ... and between slices */
    double patience; /* late is who takes this many times the forecast */
    double grace_s;  /* and so much on top, for what no forecast knows */
};

/* What happened, for statistics and tests. */
struct espi_rescue_count {
    int64_t asked;   /* how often help was asked for */
    int64_t helped;  /* slices that came from the helper first */
    int64_t wasted;  /* that came from it when they were here already */
    int64_t spared;  /* that this rank did not have to send to its children */
    int64_t answers; /* that it sent as a helper */
};

struct espi_rescue {
    const struct espi_program *prog;
    int rank;
    char *data;
    const int *channel;
    struct espi_helpline *line;
    struct espi_rescue_options options;
    struct espi_arena *arena;
    int64_t n_slices;
    /* receiving */
    int parent, in_channel;  /* -1: this is the root */
    int64_t posted, arrived; /* slices of the tree: receives started, and done */
    int64_t full;            /* of these, those that were not empty */
    unsigned char *place;    /* of each slice: where it is */
    char **copy;             /* of slices that the helper sent */
    /* sending */
    int n_children;
    struct espi_rescue_child *children;
    /* those that asked this rank */
    struct espi_asker *askers;
    size_t n_askers, askers_cap;
    /* asking */
    int asks_open;   /* answers that are to come: receives open for them */
    int stopped;     /* the helper was told that we need no more */
    int64_t balance; /* slices that helped since we asked, less those that did not */
    double start_s, first_s, last_s; /* since when we wait, and what has come */
    int broken; /* the ranks disagree on the size, or data are lost */
    struct espi_rescue_count count;
};

/* The program must be that of one broadcast tree on which every rank keeps what it gets;
 * all its slices must have a byte. */
int espi_rescue_applies(const struct espi_program *prog);

/* Runs the rank's part to its end; data NULL: it has lost them, and passes on empty
 * messages. 0, ESPI_RESCUE_SIZES (done, but the ranks disagree on
 * the size), ESPI_HELPLINE_NOMEM, or an error of the transport. */
enum { ESPI_RESCUE_SIZES = -2 };
int espi_rescue_run(struct espi_rescue *r, const struct espi_program *prog, int rank,
                    const int *channel, struct espi_helpline *line, void *data,
                    const struct espi_rescue_options *options, struct espi_arena *arena);

#endif
