/* Chunks over links in time: which arc of a view carries which chunk when, found
 * greedily. */
#ifndef ESPI_ALGO_SYNTHESIS_SYNTHESIS_H
#define ESPI_ALGO_SYNTHESIS_SYNTHESIS_H

#include <stdint.h>

#include "platform/view.h"

/* What is to be done: every host of the view gets every chunk. */
struct espi_synthesis_task {
    const struct espi_view *view; /* times are those of a chunk */
    int n_chunks;
    const int *source; /* chunk -> the host that has it */
    uint64_t seed;
    double limit_s; /* what ends later is given up */
    /* Nothing is begun that arrives later, as long as anything else moves: what slow
     * links would still be busy with may be left to fast ones. */
    double deadline_s;
    int hasty; /* where hosts share links, who is free goes even if in a run it could
                  have gone before another */
};

struct espi_chunk_send {
    int arc, chunk;
    double start_s;
};

/* Sends in the order of their starts: what a send waits for stands before it. */
struct espi_synthesis {
    int n_sends;
    struct espi_chunk_send *send;
    double
        finish_s; /* of a run too, unless it is shared; then mostly a run ends earlier */
    int shared;   /* do several hosts send over one link or cable? */
};

/* Goes through the moments at which something arrives or is free again, and lets every
 * arc start that has its resources free and a chunk that its head still lacks. The sends
 * are the arena's. 1: there are none that end before the limit; -1: out of memory. */
int espi_synthesize(const struct espi_synthesis_task *task, struct espi_arena *arena,
                    struct espi_synthesis *out);

#endif
