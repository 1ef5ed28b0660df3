/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_SELECT_TUNING_H
#define ESPI_SELECT_TUNING_H

/* What a message takes of a host beside its bytes, where nothing was measured.
 * unit: seconds
 * trades: larger, messages are cut into few slices and deep trees fill late; smaller,
 * into slices so small that what each costs in a run is more than what they gain
 * shown by: espalier plan, of networks without latencies; bench_choice
 * chosen on: not measured; what MPI over TCP takes on machines of today, by its order. 64
 * MB over a chain of 8 hosts at 100 MB/s come in some 950 slices */
#define ESPI_MESSAGE_S 5e-6

/* The smallest slices.
 * unit: bytes
 * trades: larger, short messages are not cut; smaller, sizes that never win are tried
 * shown by: bench_choice
 * chosen on: not measured */
#define ESPI_SLICE_LEAST 1024.0

/* Sizes of slices of a plan of many trees that are timed by the best order of sends.
 * unit: sizes
 * trades: larger, planning takes longer, ten times as long a size as by one order;
 * smaller, the best size is missed
 * shown by: bench_speed
 * chosen on: the platforms of the sweep */
enum { ESPI_CLOSER_LOOKS = 3 };

/* Messages of up to so many transfers that share the network are played to their end; the
 * makespans of finer slices lie on a line with these.
 * unit: transfers
 * trades: larger, planning takes longer; smaller, the line is off
 * shown by: bench_finish
 * chosen on: six measured networks of 20 hosts: of one tree 62 and 124 slices tell the
 * makespan of 4,000 mostly to four digits, and up to a hundredth; of several 500 and
 * 1,000 to 3 hundredths, 60 and 120 to 9 */
enum { ESPI_LINE_SENDS = 1 << 13 };

/* Of how many slices a tree the coarser of the two has to be.
 * unit: slices
 * trades: as ESPI_LINE_SENDS
 * shown by: bench_finish
 * chosen on: as ESPI_LINE_SENDS */
enum { ESPI_LINE_SLICES = 15 };

/* By so much the gain of one size of slices on another may be more than their ranks say.
 * unit: part of the makespan
 * trades: larger, more sizes are timed; smaller, the best are missed
 * shown by: bench_finish
 * chosen on: as ESPI_LINE_SENDS */
#define ESPI_RANKS_OFF 0.05

/* Up to so many hosts trees are packed to the optimum, and few trees are looked for.
 * unit: hosts
 * trades: larger, planning takes longer; smaller, plans get worse
 * shown by: bench_speed
 * chosen on: not measured */
enum { ESPI_CONTEST_FEW_HOSTS = 200 };

/* On more hosts so much work goes into a packing (solve/solve_budget.h), and the best so
 * far has to do.
 * unit: steps
 * trades: larger, time; smaller, the best plans
 * shown by: bench_speed
 * chosen on: with 6e5, 256 hosts on switches lose the plan that is best there; with 3e6,
 * 1,000 random hosts take four times as long and gain nothing */
#define ESPI_CONTEST_PACKING_WORK 1e6

/* Where that is limited, packings and trees for other slices get this part of it: what
 * was found for the first mostly does.
 * unit: 1
 * trades: larger, plans for slices that turn out best; smaller, time
 * shown by: bench_speed plans 1000
 * chosen on: 1,000 hosts: Tiers and hub end alike, random links 1% later, with half the
 * arcs of searches, too; sites behind switches end 17% earlier */
#define ESPI_CONTEST_LATER 4.0

/* A search for a better tree weighs so many arcs for all hosts together.
 * unit: arcs
 * trades: larger, time on 1,000 hosts; smaller, makespans there
 * shown by: bench_speed plans 1000
 * chosen on: the standard work of 20,000 a host up to 500 hosts */
#define ESPI_CONTEST_SEARCH_ARCS 1e7

/* Allgathers by trees that nobody plays to their end count so many times the closed form,
 * which leaves out how trees wait for one another.
 * unit: 1
 * trades: larger, trees that are better lose; smaller, trees win that are late in a run
 * shown by: bench_allgather
 * chosen on: not measured */
#define ESPI_ALLGATHER_MARGIN 1.25

/* Up to so many hosts times arcs the best mix of trees from all hosts is looked for.
 * unit: hosts * arcs
 * trades: larger, planning takes seconds; smaller, the best trees are missed
 * shown by: bench_allgather
 * chosen on: not measured */
#define ESPI_ALLGATHER_TREES_WORK 1.5e6

/* Allgathers of up to so many sends are played to their end.
 * unit: sends
 * trades: larger, planning takes more than some tenths of a second; smaller, fine slices
 * are not tried
 * shown by: bench_allgather
 * chosen on: not measured */
#define ESPI_ALLGATHER_MOST_JUDGED 3e5

/* When other slices turn out best, algorithms begin anew for these, so many times in all.
 * unit: rounds
 * trades: larger, planning takes longer; smaller, trees for slices that are not sent
 * shown by: bench_speed; bench_choice
 * chosen on: not measured */
enum { ESPI_CONTEST_ROUNDS = 2 };

/* A contest ends when no plan can be earlier than the best by more than this part.
 * unit: part of the makespan
 * trades: larger, makespans, by up to as much; smaller, time for nothing
 * shown by: bench_finish
 * chosen on: measured networks of 64 hosts: with 1e-3, single trees over a chain of
 * sites, 1.1e-3 over what the slowest cable takes, are held against many trees for 2 s */
#define ESPI_CONTEST_ENOUGH 1.5e-3

/* Up to so many hosts plans that rest on linear programs, and those of searches for the
 * usual slices, are weighed against what `auto` stands for, of all operations but
 * broadcasts.
 * unit: hosts
 * trades: larger, planning takes longer; smaller, plans that would finish earlier are
 * missed
 * shown by: bench_choice
 * chosen on: not measured */
enum { ESPI_RIVALS_WITH_LP = 32 };

/* Up to so many hosts a reduce-scatter is also put together from a reduce to every host.
 * unit: hosts
 * trades: larger, planning takes longer, by the square; smaller, as ESPI_RIVALS_WITH_LP
 * shown by: bench_choice
 * chosen on: the platforms of test_never_beaten, which have up to 16 hosts; time was not
 * measured */
enum { ESPI_RIVALS_FOR_PARTS = 16 };

/* So many numbers of chunks in a row that are no better end the search for allgathers
 * whose sends are ordered when they are made.
 * unit: numbers
 * trades: larger, planning takes longer; smaller, numbers that divide well are missed:
 * after 3 come 4 and 6, of which only 6 may be better
 * shown by: bench_published
 * chosen on: not measured */
enum { ESPI_ALLGATHER_LATE = 2 };

/* Of the time that planning may take so much goes into the search; the rest is for the
 * schedule of the plan that wins, and what it claims.
 * unit: part
 * trades: larger, planning may take longer than it was given; smaller, searches end early
 * shown by: espalier plan --budget 5s --op allgather, 100 to 1,000 random hosts
 * chosen on: not measured */
#define ESPI_BUDGET_SEARCH_PART 0.8

/* Allreduces in which the hosts get more than that in all are not looked at as
 * allgathers.
 * unit: bytes
 * trades: larger, planning takes longer, for messages of which the bytes count; smaller,
 * short allreduces go to a host and back
 * shown by: test_latency
 * chosen on: not measured */
enum { ESPI_GATHERED_BYTES = 65536 };

#endif
