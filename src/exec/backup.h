/* Backup senders: a policy of runs (exec.h) of a broadcast along one tree, by which a
 * rank whose parent is late against the forecast asks a second rank, its backup, for the
 * slices that are missing. See backup.c. */
#ifndef ESPI_EXEC_BACKUP_H
#define ESPI_EXEC_BACKUP_H

#include "base/arena.h"
#include "exec/backup_session.h"
#include "exec/exec.h"

struct espi_backup_options {
    int sender;      /* whom this rank may ask; -1: nobody */
    double first_s;  /* forecast: until the first slice is here ... */
    double period_s; /* ... and between slices */
    double patience; /* late is who takes this many times the forecast */
    double grace_s;  /* and so much on top, for what no forecast knows */
};

/* What happened, for statistics and tests. */
struct espi_backup_count {
    int64_t asked;   /* how often the backup was asked */
    int64_t helped;  /* slices that came from it first */
    int64_t wasted;  /* that came from it when they were here already */
    int64_t spared;  /* that this rank did not have to send to its children */
    int64_t answers; /* that it sent as a backup */
};

/* One rank's part of it in one run. */
struct espi_backup {
    struct espi_run_policy policy; /* for the options of the run */
    struct espi_backup_session *session;
    struct espi_backup_options options;
    struct espi_arena *arena;
    const struct espi_program *prog;
    int64_t n_slices;
    char *data; /* NULL: lost */
    /* receiving */
    int parent, state;    /* -1: this is the root; the state of its stream */
    int64_t arrived;      /* messages of the tree that came ... */
    int64_t full;         /* ... and were not empty */
    unsigned char *place; /* of each slice: where it is */
    char **copy;          /* of slices that the backup sent */
    /* sending */
    int n_children;
    struct espi_backup_child *children;
    int *child_of_stream;
    /* those that asked this rank */
    struct espi_asker *askers;
    size_t n_askers, askers_cap;
    /* asking */
    int asks_open;   /* answers that are to come: receives open for them */
    int stopped;     /* the backup was told that we need no more */
    int64_t balance; /* slices that helped since we asked, less those that did not */
    double start_s, first_s, last_s; /* since when we wait, and what has come */
    int unread;                      /* times that notes were not looked for */
    int broken; /* the ranks disagree on the size, or data are lost */
    struct espi_backup_count count;
};

/* The program must be that of one broadcast tree on which every rank keeps what it gets;
 * all its slices must have a byte. */
int espi_backup_applies(const struct espi_program *prog);

/* Sets up the rank's part in the session's run that has begun, for a run with this data
 * in memory; NULL: it has lost them, and passes on empty messages. 0, or -1: no memory.
 * End with espi_backup_done in any case. When the run is over b->broken says whether the
 * ranks disagree on the size. */
int espi_backup_init(struct espi_backup *b, const struct espi_program *prog, int rank,
                     struct espi_backup_session *session, void *data,
                     const struct espi_backup_options *options, struct espi_arena *arena);
void espi_backup_done(struct espi_backup *b);

#endif
