/* When a message is everywhere by a plan, and by which slices that is earliest: the
 * finish, and what its messages cost beside their bytes (slices.h). */
#ifndef ESPI_SELECT_JUDGE_H
#define ESPI_SELECT_JUDGE_H

#include <espalier/algo.h>
#include <espalier/plan.h>

#include "base/arena.h"
#include "cost/cost.h"

struct espi_judge {
    const struct esp_platform *p;
    double size_bytes;
    double only_bytes; /* the slices; 0: the best of the list; of plans without steps */
    int few_sizes;     /* of the list only a few, and what the plan was made for */
    double message_s;  /* espi_message_s() of the platform */
    /* So many sizes of slices of a plan are timed by the order of sends that programs
     * follow (cost/cost.h), if it is of many trees, or by who is asked, and all that
     * might win if it is of one. 0: the closed form, which takes little time, has to do.
     */
    int closer_looks;
    double most_sends; /* messages of more are not played; 0: as usual */
    /* Who tells how long plans without steps take, with closer looks; NULL: we do. */
    esp_judge_fn by;
    void *by_arg;
    /* Closed forms of several trees count so many times where others are played; 0: once.
     */
    double guess_factor;
    double steps_max_bytes; /* no longer messages by plans with steps; 0: any */
    struct espi_arena *arena;
};

struct espi_verdict {
    double slice_bytes;
    double judged_s;                  /* what decides; infinity: not before the limit */
    double finish_s;                  /* of that the finish, as predicted */
    struct espi_played_claims claims; /* of these slices, and others that were played */
};

/* Where nothing plays plans of trees to their end (hnow), the judge of the request tells
 * how long they take, if it has one. */
void espi_judge_ask(struct espi_judge *judge, const struct esp_request *request);

/* The best slices for a checked plan, if it is through before limit_s by them. */
esp_status espi_judge_plan(const struct espi_judge *judge, const struct esp_plan *plan,
                           double limit_s, struct espi_verdict *out, struct esp_err *err);

#endif
