/* The state of a run, shared by what sets it up and the loop that follows the program. */
#ifndef ESPI_EXEC_RUN_H
#define ESPI_EXEC_RUN_H

#include "exec/exec.h"

struct espi_inflow {
    int stream;
    int64_t n_slices;    /* that will come */
    int64_t posted, got; /* receives started, and completed in order */
    /* where the next receive to post stands in the rank's list of receives */
    int64_t round;
    int at;
    /* the last `ring` receives: what they are, and are they done? */
    int ring;
    struct {
        int64_t slice;
        int state;
        unsigned char landed;
        unsigned char passed_on; /* relays: the send that passes it on is done */
    } * slots;
    char *store;       /* relays: the slices themselves, */
    size_t room;       /* so many bytes apart */
    int64_t passed_on; /* relays: passed on in order */
};

struct espi_open_message {
    int inflow; /* of a receive; of a send the relay it frees, or -1 */
    int is_send;
    int stream;
    size_t bytes;   /* with a policy: of a receive that is done, those that came */
    int64_t number; /* which slice of the inflow; -1: none, or done */
    int pack;       /* of a send: the place it was packed in, or -1 */
};

/* How many sends a stream of the connection may have under way. */
static inline int espi_stream_window(const struct espi_run *run, int connection)
{
    const struct espi_connections *all = &run->connections;
    int share = run->window / (all->start[connection + 1] - all->start[connection]);
    return share < 1 ? 1 : share;
}

#endif
