/* The tuned constants of the solver by price; docs/tuning.md is written from here
 * (tools/tuning). */
#ifndef ESPI_SOLVE_PRICED_TUNING_H
#define ESPI_SOLVE_PRICED_TUNING_H

/* Cuts and rows of the bound of the price that are violated by less are not added.
 * unit: relative
 * trades: larger, a bound that is too low by as much; smaller, rounding of the solver
 * keeps it from ending
 * shown by: bench_prices
 * chosen on: not measured; a hundred times the tolerance of the solver */
#define ESPI_PRICED_SLACK 1e-7

/* What is added to the part of the message that crosses each link where cuts are looked
 * for.
 * unit: part of the message
 * trades: larger, cuts are overlooked; smaller, cuts of many links, and more rounds
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_CREEP 1e-6

/* So many cuts of a target are looked for at once, one behind the other.
 * unit: cuts
 * trades: larger, more rows; smaller, more rounds
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_NESTED = 5 };

/* So many cuts at most come from the dual ascent before the first round.
 * unit: cuts
 * trades: larger, rows of no use; smaller, more rounds
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_ASCENT = 1000 };

/* The bound of the price is as it is after so many rounds.
 * unit: rounds
 * trades: larger, time; smaller, a bound that is too low
 * shown by: bench_prices
 * chosen on: not measured */
enum { ESPI_PRICED_ROUNDS = 400 };

/* A bound of the price that has risen by less, since it last rose by as much, has not.
 * unit: relative
 * trades: larger, a bound that is too low by as much; smaller, time
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_RISE 1e-4

/* The bound of the price is as it is when it has not risen for so many rounds.
 * unit: rounds
 * trades: larger, time; smaller, a bound that is too low
 * shown by: bench_prices
 * chosen on: seeds 1-40 of bench_prices, of 8, 20 and 60 */
enum { ESPI_PRICED_FLAT = 20 };

/* And the bound of the fastest, which is found on the way to it.
 * unit: rounds
 * trades: as ESPI_PRICED_FLAT
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_FIRST_FLAT = 2 };

/* Up to so many targets the trees of plans by price are cheapest ones.
 * unit: targets
 * trades: larger, time; smaller, trees that are not cheapest
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_EXACT_TARGETS = 6 };

/* What has no tree costs so many times as much as the bound.
 * unit: 1
 * trades: larger, digits are lost; smaller, a deadline is missed for the sake of price
 * shown by: bench_prices
 * chosen on: not measured */
#define ESPI_PRICED_MISSING 100

/* So many trees are asked for before the first partition has one.
 * unit: trees
 * trades: larger, time; smaller, dearer plans
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_ASKED = 150 };

/* And after each of the others.
 * unit: trees
 * trades: as ESPI_PRICED_ASKED
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_ASKED_LATER = 20 };

/* So many trees at most, of a plan by price.
 * unit: trees
 * trades: larger, time; smaller, dearer plans
 * shown by: bench_prices
 * chosen on: not measured */
enum { ESPI_PRICED_TREES = 400 };

/* A share that lacks so much of a whole partition is one.
 * unit: partitions
 * trades: larger, deadlines are missed; smaller, rounding of the solver counts
 * shown by: bench_prices
 * chosen on: not measured */
#define ESPI_PRICED_WHOLE 1e-5

/* A smaller share of the message has no tree of its own.
 * unit: part of the message
 * trades: larger, deadlines are missed by as much; smaller, trees that carry nothing
 * shown by: bench_prices
 * chosen on: not measured */
#define ESPI_PRICED_SHARE 1e-8

/* The fastest plan within a budget is looked for among so many deadlines.
 * unit: deadlines
 * trades: larger, time; smaller, slower plans and lower bounds
 * shown by: bench_prices
 * chosen on: not measured */
enum { ESPI_PRICED_HALVINGS = 8 };

/* It is near enough to its bound when it takes no more than so much longer.
 * unit: relative
 * trades: larger, slower plans; smaller, time
 * shown by: bench_prices
 * chosen on: not measured */
#define ESPI_PRICED_NEAR 2e-3

/* All plans are tried on networks of up to so many hosts,
 * unit: hosts
 * trades: larger, time; smaller, plans that are not proven to be best
 * shown by: bench_prices
 * chosen on: not measured */
enum { ESPI_PRICED_SMALL_HOSTS = 6 };

/* so many trees,
 * unit: trees
 * trades: as ESPI_PRICED_SMALL_HOSTS
 * shown by: bench_prices
 * chosen on: not measured */
enum { ESPI_PRICED_SMALL_TREES = 2000 };

/* and so many ways to give these to the partitions.
 * unit: plans
 * trades: as ESPI_PRICED_SMALL_HOSTS
 * shown by: bench_prices
 * chosen on: not measured */
#define ESPI_PRICED_SMALL_WAYS 1e5

/* Where a plan costs more than its bound by more than this, both are looked for longer.
 * unit: relative
 * trades: larger, dearer plans and lower bounds; smaller, time
 * shown by: bench_prices
 * chosen on: not measured; below the 0.5% that are promised */
#define ESPI_PRICED_GOAL 3e-3

/* So many times all exchanges of trees are tried.
 * unit: times
 * trades: larger, time; smaller, dearer plans
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_SWEEPS = 6 };

/* A plan by price this near to its bound is called the best.
 * unit: relative
 * trades: larger, plans that are dearer by as much are called so; smaller, rounding of
 * the solver keeps best plans from being called so
 * shown by: bench_prices
 * chosen on: not measured */
#define ESPI_PRICED_OPTIMAL 1e-6

/* Numbers of machines at a node that are told apart in the program of whole ones.
 * unit: machines
 * trades: larger, columns and time; smaller, lower bounds where more may be rented
 * shown by: bench_prices
 * chosen on: not measured */
enum { ESPI_PRICED_LEVELS = 8 };

/* A tree that cannot be had from the partitions on links pays so many times the dearest
 * link for each further one.
 * unit: 1
 * trades: larger, trees that are dearer; smaller, deadlines are missed
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_ELSEWHERE 10

/* A part of a partition below this, on a link, is none when trees are cut.
 * unit: partitions
 * trades: larger, trees take links that are not there; smaller, links that are not needed
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_NEARLY 0.05

/* On the way down to a whole solution, what is this near to whole is held there.
 * unit: partitions
 * trades: larger, dearer plans; smaller, time
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_HOLD 0.3

/* And a machine of which more than this is rented, is.
 * unit: machines
 * trades: as ESPI_PRICED_HOLD
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_RENT 0.3

/* Steps of the way down at most.
 * unit: steps
 * trades: larger, time; smaller, plans are not found
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_DIVE = 40 };

/* Besides the first node of a window, nodes of which this divides the depth go down.
 * unit: 1
 * trades: larger, plans are found late; smaller, time
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_DIVE_EVERY = 8 };

/* A window in which the cost of machines is unknown by a larger part of the objective is
 * halved.
 * unit: relative
 * trades: larger, gaps stay open; smaller, time
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_VAGUE 5e-4

/* What is spent on the search for the best plan in whole partitions.
 * unit: ms, about, of the machine it was chosen on
 * trades: larger, time; smaller, gaps stay open
 * shown by: bench_prices
 * chosen on: seeds 33 and 42 within 1.1 times the fastest, where 9000 took 8 to 15 s of a
 * machine that others used, too; 10 s are what an answer may take */
#define ESPI_PRICED_EFFORT 2500

/* Rows that do not bind are dropped from a program that has so many times the rows it had
 * when they were last.
 * unit: 1
 * trades: larger, slow programs; smaller, rows come again
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_MORE_ROWS 1.1

/* A row that is further from binding, and has no price, does not bind.
 * unit: part of the message
 * trades: as ESPI_PRICED_MORE_ROWS
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_FAR 1e-3

/* The bound of a window is as it is when it has not risen for so many rounds.
 * unit: rounds
 * trades: larger, time; smaller, lower bounds
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_ROOT_FLAT = 5 };

/* And that of its nodes.
 * unit: rounds
 * trades: as ESPI_PRICED_ROOT_FLAT
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_NODE_FLAT = 2 };

/* And once plan and bound are as near as ESPI_PRICED_GOAL.
 * unit: as ESPI_PRICED_EFFORT
 * trades: larger, time; smaller, fewer plans are proven to be best
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_EFFORT_NEAR 1500

/* What a round of that search counts,
 * unit: as ESPI_PRICED_EFFORT
 * trades: the ratio of the two says how well work stands for time; time alone
 * shown by: bench_prices
 * chosen on: rounds of 0.5 to 2 million rows times links took 20 to 80 ms */
#define ESPI_PRICED_ROUND_EFFORT 2

/* and more for each row and link of its program.
 * unit: as ESPI_PRICED_EFFORT
 * trades: as ESPI_PRICED_ROUND_EFFORT
 * shown by: bench_prices
 * chosen on: as ESPI_PRICED_ROUND_EFFORT */
#define ESPI_PRICED_TERM_EFFORT 4e-5

/* On the way down to a plan so much of what may yet be spent is, at most.
 * unit: 1
 * trades: larger, one way down takes it all; smaller, plans are not found
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_DIVE_PART 0.5

/* Links join the program whose worth is at least this part of that of the best.
 * unit: 1
 * trades: larger, more solves; smaller, larger programs
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_WORTHY 0.3

/* And before that search the bound is as it is when it has not risen for so many rounds.
 * unit: rounds
 * trades: larger, time; smaller, links that the search begins without
 * shown by: bench_prices
 * chosen on: seeds 33, 36 and 42 within 1.1 times the fastest: of 5 and 20, which took
 * 0.2 s and 0.7 to 6.4 s, and ended with nearly the same bound */
enum { ESPI_PRICED_WHOLE_FLAT = 5 };

/* Where the next rungs are much cheaper, so often some partitions are sent anew.
 * unit: times
 * trades: larger, time; smaller, dearer plans
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_RECREATIONS = 200 };

/* So many of them at once at most.
 * unit: partitions
 * trades: larger, time, and more is looked for at random; smaller, plans that no single
 * exchange makes cheaper
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_OUT = 4 };

/* A tree that crosses a port too often is looked for so many times.
 * unit: times
 * trades: larger, time; smaller, plans are not found
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_RETRIES = 6 };

/* And each time the port's links are dearer by this part of the dearest link.
 * unit: 1
 * trades: larger, dearer trees; smaller, more tries
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_PENALTY 0.1

/* Much: by this part of their price,
 * unit: relative
 * trades: larger, dearer plans; smaller, time
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
#define ESPI_PRICED_CLIFF 0.05

/* at so many rungs at most.
 * unit: rungs
 * trades: larger, time; smaller, dearer plans
 * shown by: bench_prices
 * chosen on: not measured; the first value tried */
enum { ESPI_PRICED_CLIFFS = 3 };

/* Deadlines at which plans are put in stock, whatever the deadline that is asked for.
 * unit: deadlines
 * trades: larger, time; smaller, dearer plans between them
 * shown by: bench_prices
 * chosen on: not measured */
enum { ESPI_PRICED_RUNGS = 16 };

/* At each, some partitions are given trees anew until so many times in a row that was of
 * no use,
 * unit: times
 * trades: larger, time; smaller, dearer plans
 * shown by: bench_prices
 * chosen on: not measured */
enum { ESPI_PRICED_AROUND = 8 };

/* and so often at most.
 * unit: times
 * trades: as ESPI_PRICED_AROUND
 * shown by: bench_prices
 * chosen on: not measured */
enum { ESPI_PRICED_AROUND_MOST = 100 };

/* Partitions of any sizes: blends of two plans with neighbouring deadlines.
 * unit: blends
 * trades: larger, time; smaller, dearer plans
 * shown by: bench_prices
 * chosen on: not measured */
enum { ESPI_PRICED_BLENDS = 16 };

/* The fastest plan in whole partitions is looked for within so many deadlines,
 * unit: deadlines
 * trades: larger, time; smaller, slower plans
 * shown by: bench_prices
 * chosen on: not measured */
enum { ESPI_PRICED_FASTEST_TRIES = 4 };

/* and so much may be spent on each.
 * unit: as ESPI_PRICED_EFFORT
 * trades: larger, time; smaller, slower plans
 * shown by: bench_prices
 * chosen on: not measured */
#define ESPI_PRICED_FASTEST_EFFORT 500

#endif
