/* Rounds: how many slices of the message travel along each tree before all starts over.
 */
#ifndef ESPI_SCHEDULE_ROUND_H
#define ESPI_SCHEDULE_ROUND_H

#include <espalier/plan.h>

#include "base/arena.h"
#include "plan/schedule.h"
#include "platform/platform.h"
#include "schedule/tuning.h"

struct espi_round {
    int slots;
    int *count; /* by tree; sums to slots */
};

struct espi_round_options {
    int64_t n_slices;
    int max_slots;
    double slice_bytes; /* for the loads */
    double tolerance;   /* how much longer a slice may take than with exact shares */
};

/* Chooses a round, up to max_slots and up to the number of slices, in which no tree's
 * share is off its weight by more than ESPI_SHARE_ERROR (of the whole) and the busiest
 * resource is no busier than the weights of the trees ask for, within the tolerance: the
 * shortest such; when none is, the best one. Slices are moved between trees as long as
 * that helps. O(slots * trees^2), and the whole plan for some twenty of the rounds. -1
 * when out of memory. Where the message has parts every part gets as many slots, so that
 * there are at least as many slots as parts. */
int espi_round_choose(const struct esp_platform *p, const struct esp_plan *plan,
                      const struct espi_round_options *o, struct espi_arena *arena,
                      struct espi_round *out);

/* The same by and by. Everything lives in the arena; -1 when out of memory. */
struct espi_rounds;

int espi_rounds_init(struct espi_rounds **out, const struct esp_platform *p,
                     const struct esp_plan *plan, double slice_bytes,
                     struct espi_arena *arena);

/* The fewest slots that a round has, and a multiple of which each has; and how long a
 * slice takes with exact shares. */
int espi_rounds_least(const struct espi_rounds *rounds);
double espi_rounds_ideal_s(const struct espi_rounds *rounds);

/* A round of low to high slots with a small load; its count[] is the caller's. Gives how
 * long a slice takes with it; slots is 0 when there is none, or none with shares as near
 * to the weights as those of one picked before. */
double espi_rounds_pick(struct espi_rounds *rounds, int low, int high,
                        struct espi_round *best);

/* Spreads the trees evenly over the slots of a round: at each slot the tree goes that
 * lags most behind its share. Looks at the first n slots; slot_tree[slot] (may be NULL)
 * gets the tree, given[tree] how many of them it has. O(n * trees). */
void espi_round_lay(const struct espi_round *round, int n_trees, int n, int *slot_tree,
                    int *given);

#endif
