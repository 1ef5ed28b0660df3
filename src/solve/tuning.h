/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_SOLVE_TUNING_H
#define ESPI_SOLVE_TUNING_H

/* Periods of two linear programs that differ by less are the same.
 * unit: relative
 * trades: larger, small gains are not taken; smaller, rounding of the solver is taken for
 * a gain and decides between plans
 * shown by: bench_multicast
 * chosen on: not measured; a hundred times the tolerance of the solver */
#define ESPI_PERIOD_SAME 1e-7

/* Trees from one root are packed until rate and bound differ by no more.
 * unit: relative
 * trades: larger, bounds and plans that are not best by as much; smaller, rounding of the
 * solver keeps it from ending
 * shown by: bench_bound
 * chosen on: not measured */
#define ESPI_PACKING_GAP 5e-8

/* The same of trees from all roots.
 * unit: relative
 * trades: as ESPI_PACKING_GAP
 * shown by: bench_allgather
 * chosen on: not measured */
#define ESPI_PACKING_ALL_GAP 1e-5

/* So many periods are attempted for trees from all roots.
 * unit: attempts
 * trades: larger, time; smaller, the bound is not closed
 * shown by: bench_allgather
 * chosen on: not measured */
enum { ESPI_ALL_ATTEMPTS = 12 };

/* The first attempt comes this near to its period.
 * unit: relative
 * trades: larger, more attempts; smaller, the first ones take long for a period that is
 * not the last
 * shown by: bench_allgather
 * chosen on: not measured */
#define ESPI_ALL_FIRST_NEAR 1e-2

/* Each attempt is so many times as near as the one before, or as the bound rose.
 * unit: 1
 * trades: larger, more attempts; smaller, each takes longer
 * shown by: bench_allgather
 * chosen on: not measured */
#define ESPI_ALL_NEARER 0.1

/* Part of the gap asked for: how near attempts come to a period that is known from cuts,
 * so that their mix is good enough as it is.
 * unit: 1
 * trades: larger, the mix has to be improved by the program over all roots; smaller,
 * attempts take longer
 * shown by: bench_allgather
 * chosen on: not measured */
#define ESPI_ALL_FINE 0.01

/* The same, to a period that is not known from cuts.
 * unit: 1
 * trades: as ESPI_ALL_FINE
 * shown by: bench_allgather
 * chosen on: not measured */
#define ESPI_ALL_ROUGH 0.1

/* An attempt that found more trees is the last.
 * unit: trees
 * trades: larger, time and memory; smaller, the bound is not closed
 * shown by: bench_allgather
 * chosen on: not measured */
enum { ESPI_ALL_COLUMNS = 4096 };

/* The program over all roots asks so far from its own prices, towards the best ones.
 * unit: 1
 * trades: larger, bounds rise sooner and trees of use come later; smaller, the other way
 * round
 * shown by: bench_allgather
 * chosen on: not measured */
#define ESPI_ALL_SMOOTH 0.5

/* Solves of the program over all roots.
 * unit: solves
 * trades: larger, time; smaller, the gap stays open
 * shown by: bench_allgather
 * chosen on: not measured */
enum { ESPI_ALL_PASSES = 400 };

/* Paths of all pairs are mixed until period and bound differ by no more.
 * unit: relative
 * trades: as ESPI_PACKING_GAP
 * shown by: build/release/tests/test_alltoall
 * chosen on: not measured */
#define ESPI_ALL_PAIRS_GAP 1e-6

/* Rounds before the program has prices, each dearer where paths so far meet.
 * unit: rounds
 * trades: larger, columns that are of no use; smaller, more passes of the program
 * shown by: build/release/tests/test_alltoall
 * chosen on: not measured */
enum { ESPI_ALL_PAIRS_ROUNDS = 8 };

/* The program of all pairs asks so far from its own prices, towards the best ones.
 * unit: 1
 * trades: as ESPI_ALL_SMOOTH
 * shown by: build/release/tests/test_alltoall
 * chosen on: not measured */
#define ESPI_ALL_PAIRS_SMOOTH 0.5

/* Solves of the program of all pairs.
 * unit: solves
 * trades: larger, time; smaller, the gap stays open
 * shown by: build/release/tests/test_alltoall
 * chosen on: not measured */
enum { ESPI_ALL_PAIRS_PASSES = 400 };

/* Part of the prices that all resources share, so that paths are no longer than they have
 * to be where most cost nothing.
 * unit: 1
 * trades: larger, the bound stays below by as much; smaller, long paths over what is free
 * shown by: build/release/tests/test_alltoall
 * chosen on: not measured; a tenth of the gap */
#define ESPI_ALL_PAIRS_EVEN 1e-7

/* Paths have to cost less by so much to join the program.
 * unit: relative
 * trades: larger, the gap stays open; smaller, rounding adds what is of no use
 * shown by: build/release/tests/test_alltoall
 * chosen on: not measured */
#define ESPI_ALL_PAIRS_WORTH 1e-9

/* Paths that carry less of their pair are left out.
 * unit: part of what a pair has
 * trades: larger, the period grows; smaller, paths that rounding has left
 * shown by: build/release/tests/test_alltoall
 * chosen on: not measured */
#define ESPI_ALL_PAIRS_LEAST 1e-7

/* Up to so many hosts a program with a row for each pair says which few are split.
 * unit: hosts
 * trades: larger, time; smaller, plans of many paths, which no round shares well
 * shown by: espalier compare --op alltoall
 * chosen on: not measured */
enum { ESPI_ALL_PAIRS_SPLIT_HOSTS = 32 };

/* So much more counts the time of the last link than that of the first: of two ways that
 * take as long the first is taken.
 * unit: relative
 * trades: larger, longer ways are taken; smaller, the solver decides which of two
 * shown by: build/release/tests/test_scatter_paths
 * chosen on: not measured */
#define ESPI_FLOW_LATER 1e-3

/* First cuts are looked for that are violated by so much.
 * unit: 1
 * trades: larger, fewer cuts a pass; smaller, weak cuts join the program
 * shown by: bench_bound
 * chosen on: not measured */
#define ESPI_CUT_ROUGH 1e-4

/* And, where there are none, by so much: what is violated by less is held.
 * unit: 1
 * trades: larger, mixes that are not quite trees; smaller, rounding is taken for a cut
 * shown by: bench_bound
 * chosen on: not measured */
#define ESPI_CUT_FINE 1e-8

/* Cuts are looked for so far from the solution, towards a point that keeps all of them.
 * unit: 1
 * trades: larger, cuts that are passed long before; smaller, many cuts at the same corner
 * shown by: bench_bound
 * chosen on: not measured */
#define ESPI_CUT_INWARD 0.2

/* Resources that a known mix uses for so much of the period are rows of the program over
 * arcs from the start.
 * unit: 1
 * trades: larger, more passes until all rows are in; smaller, a larger program
 * shown by: bench_bound
 * chosen on: not measured */
#define ESPI_ARCS_BUSY 0.8

/* What an arc in the search for a cheapest tree counts in the work of a solve.
 * unit: steps
 * trades: the ratio to ESPI_WORK_PER_ROW says how well work stands for time; time alone
 * shown by: bench_speed
 * chosen on: "as measured", without the figures */
#define ESPI_WORK_PER_THING 0.03

/* What a row in an iteration of the simplex method counts, whose factors are more or less
 * sparse.
 * unit: steps
 * trades: as ESPI_WORK_PER_THING
 * shown by: bench_speed
 * chosen on: "as measured", without the figures */
#define ESPI_WORK_PER_ROW 0.3

/* A solve that takes so many times the work that is left is ended.
 * unit: 1
 * trades: larger, a solve that has gone astray takes long; smaller, solves are ended that
 * would have come to an end, by a measure that is not the same everywhere
 * shown by: bench_speed
 * chosen on: not measured */
enum { ESPI_WORK_ASTRAY = 20 };

/* Column generation begins with so many trees of the warm-up.
 * unit: trees
 * trades: larger, a program that is slow from the start; smaller, good trees are looked
 * for again
 * shown by: bench_speed
 * chosen on: not measured */
enum { ESPI_CG_START_TREES = 400 };

/* Times that prices are asked between two solves.
 * unit: 1
 * trades: larger, trees of use for old prices; smaller, more solves
 * shown by: bench_speed
 * chosen on: not measured */
enum { ESPI_CG_PER_SOLVE = 4 };

/* After so many rounds, and more work than a pass of the program over arcs takes, column
 * generation leaves it to that, where there is one.
 * unit: rounds
 * trades: larger, time where many resources bind; smaller, where few do
 * shown by: bench_bound
 * chosen on: Tiers of 10,000, seeds 1 to 3, end after 125 to 180 rounds and 4 s; the
 * program over arcs, after 150, had not ended after 60 s */
enum { ESPI_CG_PATIENCE = 150 };

/* How far from the master's prices asking starts, towards the best.
 * unit: 1
 * trades: as ESPI_ALL_SMOOTH
 * shown by: bench_speed
 * chosen on: not measured */
#define ESPI_CG_SMOOTH 0.9

/* What is left of that distance after asking that did not raise the bound.
 * unit: 1
 * trades: larger, more asking in vain; smaller, bounds rise later
 * shown by: bench_speed
 * chosen on: not measured */
#define ESPI_CG_SMOOTH_BY 0.7

/* Below this distance the master's own prices are asked.
 * unit: 1
 * trades: as ESPI_CG_SMOOTH_BY
 * shown by: bench_speed
 * chosen on: not measured */
#define ESPI_CG_SMOOTH_LEAST 0.2

/* Resources that the warm-up loads so much, of the most loaded, are rows from the start.
 * unit: 1
 * trades: as ESPI_ARCS_BUSY
 * shown by: bench_speed
 * chosen on: not measured */
#define ESPI_CG_BUSY 0.9

/* Rounds of multiplicative weights before linear programs are solved.
 * unit: rounds
 * trades: larger, time where programs are fast; smaller, they start with bad trees
 * shown by: bench_speed
 * chosen on: not measured */
enum { ESPI_WARM_UP = 100 };

/* The warm-up drops trees of the least shares when it has twice as many.
 * unit: trees
 * trades: larger, memory and time to measure; smaller, trees that would be of use
 * shown by: bench_speed
 * chosen on: not measured */
enum { ESPI_WARM_UP_TREES = 600 };

/* Shares below are dropped then.
 * unit: 1
 * trades: as ESPI_WARM_UP_TREES
 * shown by: bench_speed
 * chosen on: not measured */
#define ESPI_WARM_UP_SHARE 1e-5

/* A warm-up that ends with a smaller gap had no trouble: columns are generated.
 * unit: relative
 * trades: larger, column generation where many resources bind, which is slow there;
 * smaller, the program over arcs where columns are faster
 * shown by: bench_speed
 * chosen on: not measured */
#define ESPI_EASY_GAP 0.02

/* More resources than these bind (by the entropy of their prices): the program over arcs
 * is solved.
 * unit: resources
 * trades: as ESPI_EASY_GAP
 * shown by: bench_speed
 * chosen on: not measured */
enum { ESPI_BIND_MANY = 12 };

/* And more than this part of the hosts.
 * unit: resources a host
 * trades: as ESPI_EASY_GAP
 * shown by: bench_speed
 * chosen on: not measured */
#define ESPI_BIND_PART 0.125

/* Solves of the program over arcs before columns are generated after all.
 * unit: solves
 * trades: larger, time where cuts do not end; smaller, work thrown away
 * shown by: bench_speed
 * chosen on: not measured */
enum { ESPI_ARCS_PASSES = 200 };

/* Trees are split from a solution over arcs until what is left is this part of the gap
 * asked for.
 * unit: 1
 * trades: larger, the gap stays open; smaller, tiny trees
 * shown by: bench_bound
 * chosen on: not measured */
#define ESPI_SPLIT_PART 0.01

/* Progress of a solve is told as often.
 * unit: s
 * trades: looks alone
 * shown by: espalier bound, on a terminal
 * chosen on: not measured */
#define ESPI_PROGRESS_S 0.1

/* Of the known trees so many are tried that are cheapest at given prices, in place of one
 * of few.
 * unit: trees
 * trades: larger, time; smaller, plans of few trees get worse
 * shown by: bench_multicast
 * chosen on: not measured */
enum { ESPI_FEW_CHEAPEST = 8 };

/* Trees that are tried in one place.
 * unit: trees
 * trades: as ESPI_FEW_CHEAPEST
 * shown by: bench_multicast
 * chosen on: not measured */
enum { ESPI_FEW_CANDIDATES = 24 };

/* Passes over all places, as long as each helps.
 * unit: passes
 * trades: as ESPI_FEW_CHEAPEST
 * shown by: bench_multicast
 * chosen on: not measured */
enum { ESPI_FEW_PASSES = 6 };

/* Prices grow with loads by this sharpness (of the exponent), once.
 * unit: 1
 * trades: larger, only the busiest resource counts; smaller, all count alike
 * shown by: bench_multicast
 * chosen on: not measured */
#define ESPI_FEW_BLUNT 6.0

/* And once by this.
 * unit: 1
 * trades: as ESPI_FEW_BLUNT
 * shown by: bench_multicast
 * chosen on: not measured */
#define ESPI_FEW_SHARP 24.0

/* Pairs of trees of an allreduce are mixed until period and bound differ by no more.
 * unit: relative
 * trades: as ESPI_PACKING_GAP
 * shown by: build/release/tests/test_allreduce; bench_algos
 * chosen on: not measured */
#define ESPI_PAIRS_GAP 1e-6

/* A pair joins that is cheaper by this part of the gap.
 * unit: 1
 * trades: larger, the gap stays open; smaller, pairs that gain next to nothing
 * shown by: build/release/tests/test_allreduce; bench_algos
 * chosen on: not measured */
#define ESPI_PAIR_WORTH 0.01

/* Pairs that join the program at once.
 * unit: pairs
 * trades: as ESPI_CG_PER_SOLVE
 * shown by: build/release/tests/test_allreduce; bench_algos
 * chosen on: not measured */
enum { ESPI_PAIRS_AT_ONCE = 6 };

/* Rounds of multiplicative weights of pairs.
 * unit: rounds
 * trades: as ESPI_WARM_UP
 * shown by: build/release/tests/test_allreduce; bench_algos
 * chosen on: not measured */
enum { ESPI_PAIRS_WARM_UP = 400 };

/* Of so many rounds (or a tenth of the hosts) one asks all hosts.
 * unit: rounds
 * trades: larger, roots that are better are found late; smaller, time
 * shown by: build/release/tests/test_allreduce; bench_algos
 * chosen on: not measured */
enum { ESPI_PAIRS_SCAN = 20 };

/* And the others ask so many of them.
 * unit: hosts
 * trades: larger, time a round; smaller, more rounds
 * shown by: build/release/tests/test_allreduce; bench_algos
 * chosen on: not measured */
enum { ESPI_PAIRS_FEW = 5 };

/* Up to so many targets the cheapest trees of a multicast are found exactly.
 * unit: targets
 * trades: larger, time and memory, which grow by 3 and 2 to that power; smaller, bounds
 * are not exact
 * shown by: bench_multicast
 * chosen on: not measured */
enum { ESPI_STEINER_TARGETS = 12 };

/* And up to so many steps, 3^targets times the nodes.
 * unit: steps
 * trades: as ESPI_STEINER_TARGETS
 * shown by: bench_multicast
 * chosen on: not measured */
#define ESPI_STEINER_WORK 5e5

/* The bound of a multicast is what is proven by then when the search for cuts has looked
 * at so many links.
 * unit: links, once for each target and solve
 * trades: larger, time; smaller, bounds that are too good
 * shown by: bench_multicast
 * chosen on: 1,000 hosts, 20% of them targets: Tiers ends after three fifths of it;
 * random and hub, which would take 20 s to say so, had their bound after a sixth of it */
#define ESPI_COVER_WORK 4e7

/* The bound of a multicast is found when what cuts prove and what is reached differ by
 * less.
 * unit: relative
 * trades: larger, a bound that is too good by as much; smaller, rounding keeps it from
 * ending
 * shown by: bench_multicast
 * chosen on: not measured */
#define ESPI_COVER_SAME 1e-8

/* How far from the program's own prices trees of a multicast are asked for, one after the
 * other until one helps.
 * unit: 1
 * trades: as ESPI_ALL_SMOOTH
 * shown by: bench_multicast
 * chosen on: not measured */
#define ESPI_MULTICAST_SMOOTHS 0.7, 0.3, 0

/* The same of pairs of trees of an allreduce.
 * unit: 1
 * trades: as ESPI_ALL_SMOOTH
 * shown by: bench_algos
 * chosen on: not measured */
#define ESPI_PAIRS_SMOOTHS 0.85, 0.5, 0

#endif
