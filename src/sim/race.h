/* Races: a message that travels along several trees at once, each of which carries all of
 * it, and receivers that take it from whoever is faster. See race.c for the rules.
 *
 * Works on bare arrays, so that experiments can run hundreds of thousands of races; the
 * simulator makes the arrays from a plan and a platform. */
#ifndef ESPI_SIM_RACE_H
#define ESPI_SIM_RACE_H

#include <espalier/simulate.h>

#include "base/arena.h"
#include "base/heap.h"

struct espi_send {
    int from, to;
    int tree; /* 0: the tree that the forecast is made of */
    double believed_s, real_s;
};

/* When a send that starts at start_s has arrived. When it never will, infinity, and in
 * *silent_s from when on nothing comes through any more. */
typedef double (*espi_race_arrival_fn)(void *arg, int send, double start_s,
                                       double *silent_s);

struct espi_race_rules {
    double alpha_s; /* how long a receiver needs to compare two senders */
    esp_race_policy policy;
    int resume;      /* the new sender goes on where the old one was */
    double patience; /* 0: every sender is listened to at once; see patience.c */
    double timeout;  /* times believed_s of silence: the other side is taken for dead */
    const double *stop_s;         /* by host: when it stops; NULL: none does */
    espi_race_arrival_fn arrival; /* NULL: real_s after the start */
    void *arg;
    /* Each transfer when it is over or given up; may be NULL. */
    void (*on_transfer)(void *arg, int send, double start_s, double end_s, int lost);
    void *on_transfer_arg;
};

enum espi_race_state { ESPI_RACE_IDLE, ESPI_RACE_RECEIVING, ESPI_RACE_DONE };

struct espi_race {
    int n, root, n_sends;
    const struct espi_send *sends;
    struct espi_race_rules rules;
    int *out_start, *out; /* host -> its sends, in the order in which it makes them */
    int *in_start, *in;   /* host -> the sends to it */
    /* of senders */
    int *next;    /* place in its row */
    int *serving; /* the send it is at, -1: none */
    double *busy_until_s;
    /* of receivers */
    unsigned char *state;
    int *from;           /* the send it gets the message by */
    double *started_s;   /* ... when that began */
    double *finish_s;    /* ... when it is over, if nothing fails */
    double *silent_s;    /* ... from when on nothing comes any more */
    double *paused_s;    /* until then it compares two senders */
    double *delivered_s; /* infinity: not yet */
    /* of patience */
    unsigned char *parked; /* send: its sender waits to be called */
    double *expected_s;    /* send: believed_s, or what it was seen to take */
    struct espi_heap events;
    uint64_t n_events, n_transfers, n_pauses, n_switches;
};

/* Memory for races of up to n hosts and n_sends sends; -1 when out of memory. */
int espi_race_init(struct espi_race *r, int n, int n_sends, struct espi_arena *arena);

/* Runs one race until nothing moves any more. Sends of a host stand in the order in which
 * it makes them; those of tree 0 first. */
void espi_race_run(struct espi_race *r, int n, int root, const struct espi_send *sends,
                   int n_sends, const struct espi_race_rules *rules);

/* The last arrival, and how many of the hosts that never stop have the message. */
double espi_race_makespan_s(const struct espi_race *r);
int espi_race_covered(const struct espi_race *r);

/* ---- between race.c and patience.c ---- */

/* From when on the receiver hears nothing of its sender. */
double espi_race_silence_s(const struct espi_race *r, int host);

/* The sender turns to the receiver; 0: it is not taken and may go on at once. */
int espi_race_attempt(struct espi_race *r, int send, double now_s);

/* The receiver gets the message by this send from now on. */
void espi_race_take_over(struct espi_race *r, int send, double now_s);

void espi_patience_start(struct espi_race *r);
int espi_patience_offer(struct espi_race *r, int send, double now_s);
void espi_patience_watch(struct espi_race *r, int host, double now_s);
void espi_patience_call(struct espi_race *r, int host, double now_s);
void espi_patience_help(struct espi_race *r, int sender, double now_s);

#endif
