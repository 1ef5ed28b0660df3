/* Trees grown by earliest completion: some nodes have a message, each arc takes a time,
 * a node sends to one other at a time. Again and again the transfer that would be over
 * first is chosen.
 *
 * Unlike a grower that sorts all arcs first, this one is made to be run again and again
 * on the same graph with other times: a node's arcs are scanned when it needs its next
 * one, and sorted only if it comes back often. On complete graphs with random times that
 * is O(n^2) as a rule; O(m log n) at worst. */
#ifndef ESPI_GRAPH_EARLIEST_H
#define ESPI_GRAPH_EARLIEST_H

#include "base/heap.h"
#include "graph/csr.h"

struct espi_earliest {
    const struct espi_digraph *g;
    const double *lag_s, *hold_s;
    const unsigned char *level; /* of arcs; NULL: all 0 */
    int top_level;              /* arcs above it are not used */
    int missing;                /* nodes without the message */
    unsigned char *has;         /* node has the message */
    double *ready_s;            /* when a node that has it can send next */
    int *row;                   /* in the rows of g->out: arcs that may still be used */
    int *size;                  /* of a node's row; -1: not made yet */
    int *scans;                 /* how often it was scanned; -1: sorted, best last */
    int *best;                  /* its best arc */
    struct espi_heap heap;      /* nodes by the time at which their best arc is over */
};

/* Memory for graphs of this size; -1 when out of memory. */
int espi_earliest_init(struct espi_earliest *w, const struct espi_digraph *g,
                       struct espi_arena *arena);

/* Starts anew: nobody has the message. An arc takes lag_s[arc] and holds its sender for
 * hold_s[arc]; those with level[arc] > 0 are not used until espi_earliest_allow. */
void espi_earliest_start(struct espi_earliest *w, const double *lag_s,
                         const double *hold_s, const unsigned char *level);

/* The node has the message and can send from ready_s on. */
void espi_earliest_add(struct espi_earliest *w, int node, double ready_s);

/* The transfer that would be over first; -1: no arc leads on, or all have the message.
 * Ties go to the lower sender, then the shorter arc, then the lower receiver. */
int espi_earliest_next(struct espi_earliest *w);

/* What became of it: the sender can send again at sender_s, the receiver has the message
 * and can send from receiver_s on. Infinity: that one never will. A transfer that failed
 * must have got a level above the allowed ones before. */
void espi_earliest_settle(struct espi_earliest *w, int arc, double sender_s,
                          double receiver_s);

/* Grows until no arc leads on, all as it should be; puts the arcs into chosen and gives
 * how many. A node can send when it has the message, and not before not_before_s[node]
 * (NULL: at once). */
int espi_earliest_grow(struct espi_earliest *w, const double *not_before_s, int *chosen);

/* Lets arcs up to a level in, for those who have the message already. */
void espi_earliest_allow(struct espi_earliest *w, int level);

#endif
