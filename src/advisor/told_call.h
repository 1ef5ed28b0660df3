/* A broadcast that its ranks told of, beside what the network as believed explains of it:
 * by one tree or by many. What is told of is pairs of hosts, of which one sent to the
 * other; what explains how long that took is the busiest resource on their way, and for
 * how long the sender itself had to wait for what it sent on. */
#ifndef ESPI_ADVISOR_TOLD_CALL_H
#define ESPI_ADVISOR_TOLD_CALL_H

#include "advisor/belief.h"
#include "channel/rank_report.h"

/* A broadcast of which the reports are in. */
struct espi_told_call {
    double bytes, slices;
    int window;                        /* slices under way at once on one way */
    const struct espi_report *reports; /* by node; magic 0: none */
};

/* One host sent to another. */
struct espi_told_pair {
    int from, to, arc; /* of the view */
    int is_new;        /* their first messages */
    int is_few;        /* so few slices that only how long they were under way tells */
    double slices, span_s, under_way_s;
    double turn_s; /* what its own way takes for all of them */
    double pace_s; /* what explains it */
    double sender; /* how late the sender had what it sent on; 1: in time */
};

/* What came to a host of one tree. */
struct espi_told_stream {
    int pair, tree;
    int source; /* the stream by which the sender had it; -1: it is the root */
    double turn_s, pace_s;
};

struct espi_account {
    struct espi_belief *belief;
    double now_s;
    struct esp_platform *believed;
    struct espi_arena arena;
    struct espi_view v;
    struct espi_told_pair *pair;
    struct espi_told_stream *stream;
    int n_pairs, n_streams;
    int by_trees; /* by several */
    double window, slices;
    double *load_s; /* resource of the view -> for how long the call takes it */
    double *uses;   /* resource of the belief -> slices that pass it */
    struct esp_err *err;
};

esp_status espi_account_init(struct espi_account *q, struct espi_belief *belief,
                             const struct espi_told_call *call, double now_s,
                             struct esp_err *err);
void espi_account_done(struct espi_account *q);

/* How much longer than their way explains messages of a pair were under way; 0: it is not
 * told. */
double espi_pair_slowness(const struct espi_account *q, const struct espi_told_pair *p);

/* How much longer than all that explains it the pair took; 1: nothing tells. */
double espi_pair_lateness(const struct espi_account *q, const struct espi_told_pair *p);

/* What all slices of the pair took to come through its way; 0: nothing tells. */
double espi_pair_seen_s(const struct espi_account *q, const struct espi_told_pair *p);

/* What a message has to take of hosts beside its bytes, at least and at most, to explain
 * the slowest pair as far as noise does not; 0: nothing tells. */
int espi_account_messages(const struct espi_account *q, double *least_s, double *most_s);

#endif
