/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_COST_TUNING_H
#define ESPI_COST_TUNING_H

/* Whole slices cannot be packed without any gaps, but longer rounds have fewer: a pace
 * this close to the load is the load's.
 * unit: relative
 * trades: larger, plans claim what no order of sends reaches; smaller, they claim less
 * than longer rounds would reach
 * shown by: build/release/tests/test_claims; bench_claims
 * chosen on: not measured */
#define ESPI_PACE_REACHED 9e-3

/* Messages of fewer slices have no steady state to be timed.
 * unit: slices
 * trades: larger, throughput of messages is what the loads say; smaller, it is that of
 * their start and end
 * shown by: build/release/tests/test_claims; bench_claims
 * chosen on: not measured */
#define ESPI_STEADY_SLICES 100.0

/* Nor have messages of fewer slices in each of their parts.
 * unit: slices
 * trades: as ESPI_STEADY_SLICES
 * shown by: build/release/tests/test_claims; bench_claims
 * chosen on: not measured */
#define ESPI_STEADY_SLICES_OF_PART 8.0

/* Messages of up to so many sends are played to their end while plans are weighed against
 * each other.
 * unit: sends
 * trades: larger, planning takes longer; smaller, plans for long messages are weighed by
 * estimates
 * shown by: bench_speed
 * chosen on: not measured */
enum { ESPI_WEIGH_SENDS = 1 << 15 };

/* And along trees of up to so many edges in all: to put more into order takes longer than
 * to find them.
 * unit: edges
 * trades: as ESPI_WEIGH_SENDS
 * shown by: bench_speed
 * chosen on: not measured */
enum { ESPI_WEIGH_EDGES = 1 << 16 };

/* The same for the makespan that the chosen plan claims, of messages of any length.
 * unit: edges
 * trades: as ESPI_WEIGH_SENDS, once a plan
 * shown by: bench_speed
 * chosen on: not measured */
enum { ESPI_CLAIM_EDGES = 1 << 18 };

#endif
