/* Candidates against each other: algorithms of the registry make plans, each plan is
 * judged with the slices that suit it best, the earliest wins, and of equals the first;
 * who wants alternatives gets the next best, too, no two of the same trees. What is tried
 * is said by flags and uses of registry entries, never by names. A pure function of what
 * is put in, unless the request gives a time limit. */
#ifndef ESPI_SELECT_CONTEST_H
#define ESPI_SELECT_CONTEST_H

#include <stdint.h>

#include "algo/algo.h"
#include "select/judge.h"

/* limit: of memory */
enum {
    ESPI_CONTEST_SEEN = 256,
    ESPI_CONTEST_OTHERS = 7,
    ESPI_CONTEST_HELD = 64,
    ESPI_CANDIDATES_MAX = 64,
    ESPI_CANDIDATE_TEXT = 128
};

/* What is tried by itself neither searches nor sends anything twice. */
enum { ESPI_NOT_WEIGHED = ESPI_ALGO_SEARCHES | ESPI_ALGO_CHOOSES | ESPI_ALGO_REDUNDANT };

/* An algorithm with the options of one of its uses. */
struct espi_candidate {
    const struct espi_algo *algo;
    double option[ESPI_ALGO_OPTIONS_MAX];
    unsigned use;
    int max_slices; /* for messages in more it is not tried; 0: any number */
};

/* All of the registry that serve the request on so many hosts and are of one of these
 * uses, in the order of the registry. work: for those that take it as an option. Returns
 * how many there are. */
int espi_candidates(const struct esp_request *request, int n_hosts, unsigned uses,
                    double work, struct espi_candidate out[ESPI_CANDIDATES_MAX]);

/* A plan and what was found of it. */
struct espi_placed {
    struct esp_plan *plan;
    struct espi_verdict verdict;
};

/* A plan that waits for its turn to be judged. */
struct espi_held {
    struct esp_plan *plan;
    double closed_s; /* its finish by the closed form */
};

struct espi_contest {
    /* Platform, request and scratch memory of whoever asks; what else is set there holds
     * for every candidate. */
    struct espi_task task;
    struct espi_judge judge;
    struct esp_plan *best; /* NULL: none yet */
    struct espi_verdict verdict;
    /* The next best, in order: as many as are wanted beside the best. */
    struct espi_placed other[ESPI_CONTEST_OTHERS];
    int n_others, others_wanted;
    /* Those that take long to judge, while others are made. */
    struct espi_held held[ESPI_CONTEST_HELD];
    int n_held, holds;
    int all_entered; /* espi_contest_enter_all() was called before */
    /* Is the time over? Asked before each run of an algorithm; NULL: never. */
    int (*is_over)(void *arg);
    void *is_over_arg;
    /* No plan is through before, of broadcasts, by the bounds that plans come with; 0:
     * not known. */
    double least_s;
    struct espi_algo_memo memo, turned_memo;
    /* What was judged is not judged again: algorithms often agree, and so do runs of one
     * for several slices. Kept are hashes of the trees, while there is room. */
    uint64_t seen[ESPI_CONTEST_SEEN];
    int n_seen;
};

/* For a request, whose slices are kept if it gives them. The arena stays the caller's. */
void espi_contest_init(struct espi_contest *c, const struct esp_platform *p,
                       const struct esp_request *request, struct espi_arena *arena);
void espi_contest_done(struct espi_contest *c);

/* The slices for which algorithms are run first. */
double espi_contest_first_slices(const struct espi_contest *c);

/* Weighs a plan, which it takes. */
esp_status espi_contest_offer(struct espi_contest *c, struct esp_plan *plan,
                              struct esp_err *err);

/* Runs one algorithm; one that cannot be used here is passed over. */
esp_status espi_contest_enter(struct espi_contest *c, const struct espi_algo *algo,
                              const double *options, double slice_bytes,
                              struct esp_err *err);

/* Runs all algorithms that serve the operation and have none of these flags, with
 * standard options. To find a plan's order of sends, or how its transfers share the
 * network, takes longer than all else: plans that need it are judged when all others
 * were, those first that look best by the closed form, so that most are known to be late
 * before they are timed. */
esp_status espi_contest_enter_all(struct espi_contest *c, unsigned without,
                                  double slice_bytes, struct esp_err *err);

/* Runs all that are of use there. work: for those that take it as an option. */
esp_status espi_contest_enter_uses(struct espi_contest *c, unsigned uses, double work,
                                   double slice_bytes, struct esp_err *err);

/* Runs all that are of use there for each of a few slices (slices.h), and begins with
 * another one each turn: who is not reached in the time there is comes first some turns
 * later. */
esp_status espi_contest_enter_in_turn(struct espi_contest *c, unsigned uses, int turn,
                                      struct esp_err *err);

/* The plan in this place, from 0, with its verdict, now the caller's; NULL: none. */
struct espi_placed espi_contest_take(struct espi_contest *c, int place);

#endif
