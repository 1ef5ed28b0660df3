/* From a plan to the order of its sends: the round and the order chosen for a message. */
#ifndef ESPI_SCHEDULE_ARRANGE_H
#define ESPI_SCHEDULE_ARRANGE_H

#include "schedule/order.h"
#include "schedule/round.h"
#include "schedule/tuning.h"

struct espi_arrangement {
    struct espi_legs legs;
    struct espi_round round; /* all that the order repeats: slots and shares */
    struct espi_order order;
};

/* Does the order of sends make a difference for this plan? Not where one tree leads to
 * every host once, on ports that send and receive at once: there the order of its edges
 * is as good as any; nor in the capacity model, where connections go on by themselves. */
int espi_needs_order(const struct esp_platform *p, const struct esp_plan *plan);

/* How much of an effort is made to find them. */
typedef enum espi_effort {
    ESPI_EFFORT_FULL,
    ESPI_EFFORT_QUICK, /* one order of one round: where a program waits for it */
} espi_effort;

/* Chooses both for a checked plan without steps. Where the order makes no difference the
 * sends stand slot by slot in the order of the edges. -1 when out of memory. */
int espi_arrange(struct espi_arrangement *a, const struct esp_platform *p,
                 const struct esp_plan *plan, const struct espi_round_options *o,
                 espi_effort effort, struct espi_arena *arena);

/* The schedule of a plan without steps for a message, made with espi_arrange(); the
 * caller frees it. */
esp_status espi_schedule_make(const struct esp_platform *p, const struct esp_plan *plan,
                              double size_bytes, double slice_bytes, espi_effort effort,
                              struct esp_schedule **out, struct esp_err *err);

/* Makes the plan's schedule for its message, and puts it in place of the one that is
 * there; nothing for a plan with steps. */
esp_status espi_plan_schedule(struct esp_plan *plan, const struct esp_platform *p,
                              espi_effort effort, struct esp_err *err);

/* Puts the sends of a schedule of one round, each tree once, into the order in which they
 * arrive: turned round, with its plan, it is then in the order of their starts. Others
 * stay as they are. */
esp_status espi_schedule_by_arrival(struct esp_schedule *s, const struct esp_plan *plan,
                                    const struct esp_platform *p, struct esp_err *err);

/* A plan as it is, or, if it has no schedule yet, with one for a message of that size in
 * those slices (0: the plan's). Borrows all but that schedule, which the second frees. */
esp_status espi_plan_scheduled(const struct esp_platform *p, const struct esp_plan *plan,
                               double size_bytes, double slice_bytes,
                               struct esp_plan *out, struct esp_err *err);
void espi_plan_scheduled_done(struct esp_plan *scheduled, const struct esp_plan *plan);

/* How much of an effort is made to time a plan. */
typedef enum espi_timing {
    ESPI_TIME_CLAIM, /* by its schedule, as programs will run */
    ESPI_TIME_WEIGH, /* as one found for it would, but that plans of many trees on many
                        hosts are taken to keep the pace of their busiest resource, since
                        to time them takes longer than to make them (and of thousands in
                        any case) */
    ESPI_TIME_RANK,  /* by one order of one round: some hundredths too late as a rule, and
                        some tenths at most; of many trees on many hosts by their busiest
                        resource. Of many, it tells which to weigh */
} espi_timing;

/* How long a slice takes in the midst of a long message, in the order of the plan's
 * schedule, or of one that is looked for where it has none. 0:
 * as long as its busiest resource, which needs no timing. -1 when out of memory. */
int espi_long_pace(const struct esp_platform *p, const struct esp_plan *plan,
                   double slice_bytes, espi_timing timing, struct espi_arena *arena,
                   double *pace_s);

/* What came of playing the sends of a message one by one; 0: nothing, then it is as the
 * closed form of its cost says. */
struct espi_played {
    double finish_s; /* when it is everywhere */
    double
        pace_s; /* how long a slice takes, of a long message, as espi_long_pace() says */
};

/* Plays a message in that order to its end: to the last digits where it has up
 * to 1 << 18 sends. Of more, where each host serves its ports in order, so many are
 * played, and the others follow at their pace; elsewhere none. -1 when out of memory. */
int espi_played_finish(const struct esp_platform *p, const struct esp_plan *plan,
                       int64_t n_slices, double slice_bytes, espi_timing timing,
                       struct espi_arena *arena, struct espi_played *out);

#endif
