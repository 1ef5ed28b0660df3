/* The ledger's inside. */
#ifndef ESPI_LIVE_LIVE_LOG_IMPL_H
#define ESPI_LIVE_LIVE_LOG_IMPL_H

#include <pthread.h>

#include "advisor/advice_reason.h"
#include "advisor/probe_planner.h"
#include "live/live_log.h"
#include "report/network.h"

/* limit: of memory, and of what a page can show */
enum {
    ESPI_LIVE_CALLS = 512,     /* the last ones */
    ESPI_LIVE_PLANS = 128,     /* a root and class has at most two: the last and its
                                  forerunner, which may be in use still */
    ESPI_LIVE_RATES = 200,     /* resources */
    ESPI_LIVE_PAST = 48,       /* what was believed of each before */
    ESPI_LIVE_DECISIONS = 100, /* kinds of calls */
    ESPI_LIVE_TEXT = 48,
};

struct espi_live_call {
    uint64_t number; /* from 1 */
    uint64_t told;   /* its number in reports; 0: none */
    int op, root, ranks;
    int expected, heard; /* ranks of which a report is awaited, and came; 0: none is */
    int ours, has_outcome;
    uint64_t plan; /* the advisor's, by which it ran; 0: not known */
    uint64_t skipped;
    double bytes, predicted_bytes;
    double ended_s, took_s;
    double forecast_s;       /* of the advisor, before the call; 0: none */
    double ours_s, native_s; /* of the ranks, when they decided; 0: none */
    char algo[ESPI_LIVE_TEXT];
};

struct espi_live_plan {
    uint64_t id; /* 0: the slot is free */
    int root, size_class, n_trees, superseded;
    long changes, calls; /* of plans for that root and class; that ran by this one */
    double size_bytes, slice_bytes, makespan_s, published_s;
    char algo[ESPI_LIVE_TEXT], why[ESPI_REASON_TEXT];
};

struct espi_live_rate {
    int resource, n_links, from, to; /* ends of its first link */
    double nominal_Bps, factor, error, low, high, heard_s;
    long samples, calls, probes;
    char name[2 * ESPI_LIVE_TEXT], method[24];
    int n_past;
    float past[ESPI_LIVE_PAST]; /* factors, oldest first */
};

/* All calls of one kind. */
struct espi_live_decision {
    int op, ranks, size_class;
    uint64_t ours, native; /* calls */
    double ours_took_s, native_took_s;
    double ours_s, native_s; /* predicted last */
    char algo[ESPI_LIVE_TEXT];
};

/* What the threads share. */
struct espi_live_state {
    char instance[20];
    double begun_s;
    uint64_t network, in_force, n_calls, skipped;
    struct espi_outlook outlook;
    int has_probes;
    struct espi_probe_tally probes;
    int n_rates, n_heard, n_decisions;
    struct espi_live_call call[ESPI_LIVE_CALLS]; /* number n at n % ESPI_LIVE_CALLS */
    struct espi_live_plan plan[ESPI_LIVE_PLANS];
    struct espi_live_rate rate[ESPI_LIVE_RATES];
    struct espi_live_decision decision[ESPI_LIVE_DECISIONS];
};

struct espi_live_text {
    char *bytes;
    size_t length;
};

/* The advisor's own of a published plan. */
struct espi_live_kept {
    struct esp_plan *plan;
    int *parent; /* node -> node that sends to it, -1: nobody */
};

/* The broadcast of which reports come in. */
struct espi_live_pending {
    int open;
    struct espi_live_call call;
    double slices, began_s, last_s; /* of the root; of all */
    int *parent;                    /* node -> as its rank says, -2: not heard of */
};

struct espi_live_log {
    pthread_mutex_t lock;
    /* under the lock */
    struct espi_live_state state;
    struct espi_live_text network, drawn[ESPI_LIVE_PLANS];
    /* the advisor's thread alone */
    const struct esp_platform *p;
    struct espi_arena arena; /* of what follows */
    struct espi_network drawing;
    int *parents; /* of the pending call */
    struct espi_live_kept kept[ESPI_LIVE_PLANS];
    struct espi_live_pending pending;
    uint64_t last_plan;
    double looked_s, begun_s, thought_s; /* time that forecasts for the page took */
};

/* Copies text, short enough or its beginning. */
void espi_live_copy(char *out, size_t size, const char *text);

/* The advisor's plan by which the call ran; slot, or -1: none of those kept. */
int espi_live_find_plan(const struct espi_live_log *l, const struct espi_live_pending *q);

#endif
