/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_RUNTIME_TUNING_H
#define ESPI_RUNTIME_TUNING_H

/* Up to here broadcasts are short, and ESPI_SHORT_MARGIN holds.
 * unit: bytes
 * trades: larger, good plans of middle sizes are not taken; smaller, short broadcasts
 * run by plans that are slower than the library
 * shown by: bench/grid
 * chosen on: the preset testbed, 16 cells of 8 to 64 KB, both MPI libraries */
#define ESPI_SHORT_BYTES 65536

/* A plan for a short broadcast must be predicted to take less than this part of what
 * is allowed otherwise: predictions of the library are too pessimistic there.
 * unit: 1
 * trades: larger, plans run that are slower than the library; smaller, faster ones do
 * not
 * shown by: bench/grid
 * chosen on: the preset testbed, where the library was up to 2.6 times as fast as
 * predicted and plans up to 1.6 times; not judged on other networks */
#define ESPI_SHORT_MARGIN 0.5

/* Where no way is as long as this, messages below ESPI_SHORT_LIMIT_BYTES are left to the
 * MPI library without a further look. It is the light's for 100 km, one way, which tells
 * sites from what switches add.
 * unit: s
 * trades: larger, short messages between near sites get no plans; smaller, all short
 * calls on one LAN pay for a look that finds nothing
 * shown by: bench/overhead
 * chosen on: not measured; as espalier measure tells sites apart */
#define ESPI_WIDE_S 0.5e-3

/* See ESPI_WIDE_S.
 * unit: bytes
 * trades: larger, messages of middle sizes get no plans; smaller, short calls on one LAN
 * pay for a look that finds nothing
 * shown by: bench/grid
 * chosen on: the preset testbed, 1 to 64 KB (docs/testbed.md) */
#define ESPI_SHORT_LIMIT_BYTES 8192

/* Reductions in the order of ranks in which a rank gets more than that in all are the MPI
 * library's.
 * unit: bytes
 * trades: larger, memory of all ranks' data on each that wants the result; smaller, long
 * ones that plans would bring sooner
 * shown by: tests/mpi, the runs "ordered"
 * chosen on: not measured */
#define ESPI_ORDERED_BYTES 268435456

/* What travels together in an allgather is packed, in several copies: so much at
 * most.
 * unit: bytes
 * trades: larger, memory of the application; smaller, long allgathers by combining
 * are not taken
 * shown by: bench_choice
 * chosen on: not measured */
#define ESPI_STEPS_MAX_BYTES (1 << 24)

/* The latency of links inside a machine, when several ranks run there.
 * unit: s
 * trades: larger, ranks of one machine seem apart; smaller, messages between them
 * seem free
 * shown by: bench_choice
 * chosen on: not measured; shared memory by its order */
#define ESPI_INSIDE_LATENCY_S 1e-6

/* And their bandwidth.
 * unit: B/s
 * trades: as ESPI_INSIDE_LATENCY_S
 * shown by: bench_choice
 * chosen on: not measured; shared memory by its order */
#define ESPI_INSIDE_BPS 5e9

/* Where nothing is known of the network: up to so many machines each has a link to
 * each other; beyond, a switch joins them.
 * unit: machines
 * trades: larger, planning takes longer; smaller, plans see one shared switch
 * shown by: bench_choice
 * chosen on: not measured */
enum { ESPI_EQUAL_COMPLETE_MAX = 64 };

/* The latency of all links where nothing is known of the network.
 * unit: s
 * trades: larger, flat trees; smaller, deep ones
 * shown by: bench_choice
 * chosen on: not measured; Ethernet by its order */
#define ESPI_EQUAL_LATENCY_S 20e-6

/* And their bandwidth.
 * unit: B/s
 * trades: the ratio to ESPI_EQUAL_LATENCY_S decides: larger, flat trees; smaller, deep
 * ones
 * shown by: bench_choice
 * chosen on: not measured; Gigabit Ethernet */
#define ESPI_EQUAL_BPS 125e6

/* The first calls, over which trials may cost ESPI_TRIAL_FIRST.
 * unit: calls
 * trades: larger, trials pay off later; smaller, fewer contenders are tried
 * shown by: test_trials
 * chosen on: what is promised of the first four calls together */
enum { ESPI_TRIAL_FIRST_CALLS = 4 };

/* Trials may cost so much beyond the favourite in the first calls, and
 * ESPI_TRIAL_SHARE of each call from then on.
 * unit: times of the favourite
 * trades: larger, first calls are slower; smaller, contenders that were underrated are
 * found later
 * shown by: test_trials
 * chosen on: what is promised: 1.3 of the better over the first four calls together */
#define ESPI_TRIAL_FIRST 1.2

/* See ESPI_TRIAL_FIRST.
 * unit: 1
 * trades: larger, long runs are slower; smaller, what changed is found later
 * shown by: test_trials
 * chosen on: what is promised: 1.02 of the better in the mean from the fifth call on */
#define ESPI_TRIAL_SHARE 0.02

/* So many times as slow as the best is out at once.
 * unit: 1
 * trades: larger, bad contenders run more often; smaller, noise throws good ones out
 * shown by: test_trials
 * chosen on: what is promised */
#define ESPI_TRIAL_FAR 2.0

/* And never tried again after so often.
 * unit: trials
 * trades: larger, bad contenders run more often; smaller, one stall decides for good
 * shown by: test_trials
 * chosen on: test_trials, which fails with one: a first call that stalls loses the better
 * way for good */
enum { ESPI_TRIAL_CHANCES = 2 };

/* Rounds of trials, after which the best is taken.
 * unit: rounds
 * trades: larger, contenders that are near each other take turns longer; smaller, noise
 * decides between them
 * shown by: test_trials
 * chosen on: test_trials */
enum { ESPI_TRIAL_ROUNDS = 3 };

/* The favourite has drifted if it takes so many times as long as it did, or less than the
 * part.
 * unit: 1
 * trades: larger, changes are not seen; smaller, noise starts trials again
 * shown by: test_trials
 * chosen on: test_trials */
#define ESPI_TRIAL_DRIFT 1.25

/* Calls between looks at the favourite, at least, and before the first at others.
 * unit: calls
 * trades: larger, changes are seen later; smaller, ranks agree on times more often
 * shown by: test_trials
 * chosen on: not measured */
enum { ESPI_TRIAL_GAP = 16 };

#endif
