/* What an order comes to: its rounds played through on the resources. */
#ifndef ESPI_SCHEDULE_REPLAY_H
#define ESPI_SCHEDULE_REPLAY_H

#include "schedule/order.h"

/* A message in rounds. */
struct espi_message {
    int64_t rounds;  /* whole ones */
    const int *rest; /* tree -> its slices in the round after them */
};

struct espi_replay {
    struct espi_order *order; /* all sends assigned */
    const struct espi_legs *legs;
    const struct espi_arc_uses *uses;
    const int *first; /* leg -> its first send */
    esp_model model;
    struct espi_message message;
    int64_t sends; /* the pace is that of about so many, after as many others */
};

/* So many rounds are under way at once, beside the first. */
int espi_order_max_lag(const struct espi_order *o);

/* Does a send of the order happen in round j, and for a slice of which round? -1: not. */
static inline int64_t espi_replay_round(const struct espi_replay *r,
                                        const struct espi_op *op, int64_t j)
{
    const struct espi_message *m = &r->message;
    int64_t round = j - op->lag;
    if (round < 0 || round > m->rounds ||
        (round == m->rounds && op->slice >= m->rest[r->legs->leg[op->leg].tree]))
        return -1;
    return round;
}

/* Sets finish_s and, if the message is that long, pace_s of the order. The rounds are
 * played from the start, each send beginning when its data are there and its resources
 * are free, in the order of the sends; of a long message only as many as are under way at
 * once and some more, and the others are taken to follow at the pace found. fair:
 * resources are shared by sends of different hosts to different hosts, who know nothing
 * of each other, and serve who comes first; where there are no such it gives the same.
 * -1 when out of memory. O(rounds played * sends), times log hosts if fair. */
int espi_replay(const struct espi_replay *r, int fair, struct espi_arena *arena);

/* Sets pace_s to what a round more costs a long message on resources that serve who comes
 * first: messages of twice the length, and again, are played to their ends until that no
 * longer changes, or up to the length of the message. Some hosts run ahead there, and how
 * fast the others are may be seen but at the end. -1 when out of memory. */
int espi_replay_settle(const struct espi_replay *r, struct espi_arena *arena);

/* Plays rounds 0 .. last of an order on resources that serve who comes first; done_s[j],
 * 0 before, gets when the last send of round j has arrived. Memory: a number a send that
 * is played. */
int espi_replay_fair(const struct espi_replay *r, int64_t last, double *done_s,
                     struct espi_arena *arena);

#endif
