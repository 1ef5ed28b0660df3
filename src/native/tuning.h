/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_NATIVE_TUNING_H
#define ESPI_NATIVE_TUNING_H

/* A choice, or an order of hosts, has to be predicted so many times as early as what the
 * library does by itself.
 * unit: ratio
 * trades: larger, gains are left; smaller, rules that only look earlier, for predictions
 * are off by more than that
 * shown by: espalier tune
 * chosen on: not measured */
#define ESPI_TUNE_GAIN 1.1

/* In a prediction while a program waits: when every connection has carried so many
 * messages the rest is taken to go as they did; or more, see ESPI_PREDICT_MESSAGES.
 * unit: messages
 * trades: larger, first calls wait longer; smaller, predictions are off
 * shown by: bench_choice
 * chosen on: rings of 8 to 27 ranks on random networks (test_native): with 4 predictions
 * are up to 28% off with the standard seed, with 8 less than 20% (36% with another) */
enum { ESPI_PREDICT_ROUNDS = 8 };

/* Where ranks are few, so many messages of all of them are looked at.
 * unit: messages
 * trades: larger, first calls wait longer; smaller, predictions are off
 * shown by: bench_choice, bench/choice
 * chosen on: racks:3, where a ring of 16 ranks was predicted 40% too long by 8 rounds of
 * 15 */
enum { ESPI_PREDICT_MESSAGES = 1024 };

/* Messages are cut into no more segments.
 * unit: segments
 * trades: larger, tuning takes longer; smaller, short segments of long messages are not
 * tried
 * shown by: espalier tune
 * chosen on: not measured */
enum { ESPI_TUNE_SEGMENTS = 1024 };

/* In another order of hosts no call may be predicted later than in the given one by more
 * than this.
 * unit: ratio
 * trades: larger, calls that are later; smaller, orders are passed over for differences
 * between hosts that are noise of the measurement
 * shown by: espalier tune
 * chosen on: three networks as measured (presets of `generate measured`) with hosts in
 * random order: hosts that are alike differ by up to 0.06% */
#define ESPI_ORDER_LATER 1.01

/* How much more a call counts that an order of hosts makes later than as given, beside
 * what it makes earlier.
 * unit: ratio
 * trades: larger, orders that help most calls are passed over for one that is a little
 * later; smaller, the search ends in orders that are not taken for such a call
 * shown by: espalier tune
 * chosen on: not measured by itself. Of three networks as measured (presets of `generate
 * measured`), each with hosts in one random order, with 9 and 300 orders the search on
 * the chain ended in calls later by 3% (Open MPI) and 13% (MPICH), with 30 and 500 orders
 * not; but with these MPICH got no other order on four racks, where it had got one with 9
 */
#define ESPI_ORDER_HURTS 30.0

/* Which host is the nearest is said by the time that so many bytes take.
 * unit: bytes
 * trades: larger, bandwidths count more; smaller, latencies
 * shown by: espalier tune
 * chosen on: not measured; one of several first orders only */
#define ESPI_ORDER_NEAR_BYTES 65536.0

#endif
