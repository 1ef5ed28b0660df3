/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_ALGO_TUNING_H
#define ESPI_ALGO_TUNING_H

/* A load that is this part above or below full counts as many times more or less as
 * there are resources.
 * unit: 1
 * trades: larger, full resources look like others; smaller, trees fill ports and cables
 * to the last for a little less depth, and queues build up
 * shown by: bench_finish
 * chosen on: sixteen networks of three to eight sites in rings and fully joined, drawn
 * apart from the family of bench_finish */
#define ESPI_ROUND_TREES_SLACK 0.05

/* An arc that another tree has costs this part of the makespan more.
 * unit: 1
 * trades: larger, trees go long ways round; smaller, trees share connections
 * shown by: bench_finish
 * chosen on: the same sixteen networks: 0.001 to 0.1 are alike, without it some are later
 * by up to 7% */
#define ESPI_ROUND_TREES_REUSE 1e-3

/* Trees that share more connections are taken when they are earlier by this part, by a
 * closed form that does not see what sharing costs.
 * unit: part of the makespan
 * trades: larger, trees that go long ways round; smaller, slices wait for connections
 * shown by: bench_finish
 * chosen on: not measured by itself; what sharing cost at most where
 * ESPI_ROUND_TREES_REUSE was chosen */
#define ESPI_ROUND_TREES_SHARED 0.07

/* So many times each tree is grown anew among the others.
 * unit: times
 * trades: more, better trees; fewer, less time
 * shown by: bench_finish
 * chosen on: not measured */
enum { ESPI_ROUND_TREES_PASSES = 4 };

/* Sweeps over all hosts of all trees for another parent.
 * unit: sweeps
 * trades: more, better trees; fewer, less time
 * shown by: bench_finish
 * chosen on: not measured */
enum { ESPI_MOVE_HOSTS_SWEEPS = 8 };

/* Arcs weighed for that at most.
 * unit: arcs
 * trades: more, better trees of many hosts; fewer, less time
 * shown by: bench_finish
 * chosen on: not measured */
#define ESPI_MOVE_HOSTS_WORK 1e6

/* Trees of equal weight whose busiest resource is so near to that of the packing are good
 * enough.
 * unit: part of the bound
 * trades: smaller, more trees, connections and time to plan; larger, throughput
 * shown by: bench_finish
 * chosen on: not measured; a sixth of what makespans may lose */
#define ESPI_EQUAL_TREES_GOOD 5e-3

/* More trees are worth it if the message is earlier by so much.
 * unit: part of the makespan
 * trades: larger, makespans; smaller, connections
 * shown by: bench_finish
 * chosen on: not measured */
#define ESPI_EQUAL_TREES_WORTH 2e-3

/* Up to so many trees every number is tried, for slices of every size.
 * unit: trees
 * trades: larger, time to plan; smaller, numbers are missed that suit other slices
 * shown by: bench_finish
 * chosen on: a ring of 51 hosts, where 30 trees suit slices of 63 KB, and 2 those of
 * 1 KB */
enum { ESPI_EQUAL_TREES_FEW = 8 };

/* Of more trees than these none are tried.
 * unit: trees
 * trades: larger, time to plan; smaller, networks that need many unequal shares
 * shown by: bench_finish
 * chosen on: sixteen networks of three to eight sites, which needed up to 17 */
enum { ESPI_EQUAL_TREES_MOST = 32 };

/* Where the work of candidates is limited, so many arcs count as a step of it.
 * unit: arcs a microsecond
 * trades: larger, time; smaller, numbers of trees are left out on large networks
 * shown by: bench_speed plans 1000
 * chosen on: this machine weighs 20 to 40 of them a microsecond */
#define ESPI_EQUAL_TREES_ARCS 30.0

/* Work into trees from all roots, where they are one plan among many.
 * unit: steps
 * trades: larger, allgathers on many hosts take seconds; smaller, the best trees are
 * missed
 * shown by: bench_allgather
 * chosen on: not measured */
#define ESPI_ALL_ROOTS_WORK 1e6

/* Up to so many hosts ranks plan allgathers themselves, while their program waits.
 * unit: hosts
 * trades: larger, first calls that wait; smaller, the MPI library's allgather where a
 * plan is faster
 * shown by: bench_speed; bench_allgather
 * chosen on: not measured */
enum { ESPI_QUICK_ALLGATHER_HOSTS = 96 };

/* The same of alltoalls by steps.
 * unit: hosts
 * trades: as ESPI_QUICK_ALLGATHER_HOSTS
 * shown by: espalier compare --op alltoall, its column of times to plan
 * chosen on: not measured */
enum { ESPI_QUICK_ALLTOALL_HOSTS = 64 };

/* The same of paths for each pair, which the scheduler puts into order.
 * unit: hosts
 * trades: as ESPI_QUICK_ALLGATHER_HOSTS
 * shown by: espalier compare --op alltoall, its column of times to plan
 * chosen on: not measured */
enum { ESPI_QUICK_SPREAD_PAIRS_HOSTS = 16 };

/* Up to so many hosts paths that avoid each other are looked for by `auto`.
 * unit: hosts
 * trades: larger, planning takes seconds; smaller, networks with several ways keep to the
 * shortest
 * shown by: espalier compare --op alltoall
 * chosen on: not measured */
enum { ESPI_SPREAD_PAIRS_HOSTS = 64 };

/* So often each pair chooses between going straight and by way of each other host.
 * unit: rounds
 * trades: larger, planning takes longer; smaller, pairs that chose early stay where it
 * became crowded
 * shown by: bench_alltoall
 * chosen on: measured networks of 8 to 32 hosts, seeds 1 to 24: after 4 rounds few still
 * change */
enum { ESPI_RELAY_ROUNDS = 6 };

/* Of so many hosts ranks choose them while their program waits.
 * unit: hosts
 * trades: as ESPI_QUICK_ALLGATHER_HOSTS
 * shown by: espalier compare --op alltoall, its column of times to plan
 * chosen on: 32 hosts of a measured ring: 8 ms */
enum { ESPI_QUICK_RELAYS_HOSTS = 32 };

/* Work into the best paths of all pairs, where they are one plan among many.
 * unit: steps
 * trades: larger, alltoalls on many hosts take seconds; smaller, the best paths are
 * missed
 * shown by: espalier compare --op alltoall
 * chosen on: not measured */
#define ESPI_ALL_PAIRS_WORK 2e6

/* Sends of all draws of a time-expanded plan.
 * unit: sends
 * trades: larger, planning takes longer: some 2 us a send; smaller, large fabrics get few
 * chunks and few draws
 * shown by: bench_published
 * chosen on: not measured; a quarter of a second of a processor */
enum { ESPI_SYNTHESIS_WORK = 1 << 17 };

/* Sends of the largest time-expanded plan.
 * unit: sends
 * trades: larger, memory and time of what follows; smaller, large fabrics get fewer
 * chunks
 * shown by: bench_published
 * chosen on: not measured; 128 hosts with 16 chunks each */
enum { ESPI_SYNTHESIS_SENDS = 1 << 18 };

/* A broadcast in so many slices is also synthesized in just these by `auto`.
 * unit: slices
 * trades: larger, planning takes longer; smaller, who names the synthesizer may get a
 * better plan than who asks for the best
 * shown by: espalier plan --algo time-expanded-bcast --slice
 * chosen on: 24 hosts at three sites, Tiers 30 and 48 random hosts, capacity model: 16
 * slices take 5 to 10 ms, 985 take 0.4 to 0.6 s, for half a hundredth on two of three */
enum { ESPI_SYNTHESIS_FEW_CHUNKS = 128 };

/* Up to so many hosts `auto` also weighs broadcasts that are synthesized in whatever
 * slices.
 * unit: hosts
 * trades: larger, planning takes longer; smaller, who names them may get a better plan
 * than who asks for the best
 * shown by: build/release/tests/test_never_beaten
 * chosen on: random hosts in 985 slices, capacity model: a reduce on 24 takes 1.1 s
 * instead of 0.35 s, on 64 12 s instead of 4 s; the platforms of test_never_beaten */
enum { ESPI_LAST_HOSTS = 16 };

/* Draws of the same chunks.
 * unit: draws
 * trades: larger, time; smaller, ties that were drawn badly stay so
 * shown by: bench_published
 * chosen on: not measured; of 8 the best is mostly among the first 3 */
enum { ESPI_SYNTHESIS_DRAWS = 8 };

/* When the best of one draw of each kind is later than the best plan by more than this
 * part, no more are made; nor of more chunks, if even with no time to fill they would be.
 * unit: part of the makespan
 * trades: larger, time; smaller, draws that would have been lucky are not made
 * shown by: espalier plan; bench_finish
 * chosen on: 12 hosts with random links (seeds 1 to 6, multi-port and capacity, 1, 4 and
 * 30 MB) and six measured networks of 64: of 147 numbers of chunks one is left that would
 * have been 0.7% earlier */
#define ESPI_SYNTHESIS_LUCK 0.1

/* Half of the draws begin nothing that arrives in the last part of the best so far: this
 * part of it, or two or three times as much.
 * unit: 1
 * trades: larger, links idle at the end; smaller, slow links are waited for
 * shown by: bench_published
 * chosen on: fabrics of 4 clusters of 8 hosts, links that differ by up to 9 times */
#define ESPI_SYNTHESIS_HURRY 0.04

/* So many numbers of chunks in a row that gain less than ESPI_SYNTHESIS_GAIN end the
 * search for the best number.
 * unit: numbers
 * trades: larger, time; smaller, numbers that divide well are missed
 * shown by: bench_published
 * chosen on: not measured */
enum { ESPI_SYNTHESIS_PATIENCE = 3 };

/* What more chunks have to gain.
 * unit: 1
 * trades: larger, the best is missed by so much; smaller, time for what is no gain in a
 * run, where messages cost
 * shown by: bench_published
 * chosen on: not measured */
#define ESPI_SYNTHESIS_GAIN 1e-3

/* Moments nearer to each other than this part of the quickest send are one: sums of the
 * same times in another order.
 * unit: 1
 * trades: larger, waits that need not be; smaller, who comes first is left to rounding
 * shown by: test_time_expanded
 * chosen on: the digits of a double */
#define ESPI_SYNTHESIS_SAME 1e-9

/* A sender of more receivers finds its distances to all at once.
 * unit: receivers
 * trades: time alone: the paths are the same
 * shown by: bench_allgather; bench_algos
 * chosen on: not measured */
enum { ESPI_PATHS_FEW = 4 };

/* So many heuristics, the quickest, find trees to begin with; the others are asked when
 * these leave a gap.
 * unit: heuristics
 * trades: larger, time where few do; smaller, solves that begin anew
 * shown by: bench_multicast
 * chosen on: not measured */
enum { ESPI_STEINER_STARTERS = 2 };

/* Random starts end when the last gain is so many times as long ago as the budget still
 * lasts.
 * unit: 1
 * trades: larger, little is left to refine; smaller, few starts
 * shown by: bench_anneal
 * chosen on: not measured */
#define ESPI_ANNEAL_STALE 1.5

/* The first temperature of our own cooling. These five were found better than the paper's
 * at the same number of evaluations.
 * unit: hundredths of the cost of the first tree
 * trades: larger, time is spent on bad trees; smaller, the first tree decides
 * shown by: bench_anneal
 * chosen on: the networks of bench_anneal; the figures are not on record */
#define ESPI_COOLING_FIRST 4.0

/* The last temperature.
 * unit: as ESPI_COOLING_FIRST
 * trades: larger, the last trees are not the best near them; smaller, time without gain
 * shown by: bench_anneal
 * chosen on: as ESPI_COOLING_FIRST */
#define ESPI_COOLING_LAST 0.04

/* From one temperature to the next.
 * unit: 1
 * trades: larger, time; smaller, cooling that is too fast
 * shown by: bench_anneal
 * chosen on: as ESPI_COOLING_FIRST */
#define ESPI_COOLING_FACTOR 0.8

/* Moves that are tried at a temperature.
 * unit: moves
 * trades: larger, time at one temperature; smaller, fewer trees seen there
 * shown by: bench_anneal
 * chosen on: as ESPI_COOLING_FIRST */
enum { ESPI_COOLING_MOVES = 40 };

/* So many more with each run, up to so many a host.
 * unit: moves
 * trades: larger, few runs; smaller, runs that are as short on many hosts
 * shown by: bench_anneal
 * chosen on: as ESPI_COOLING_FIRST */
enum { ESPI_COOLING_GROWS = 20 };

/* On fewer hosts than this the first temperature is higher by as much: one move among few
 * hosts changes more of the cost.
 * unit: hosts * temperature
 * trades: as ESPI_COOLING_FIRST
 * shown by: bench_anneal
 * chosen on: not measured */
#define ESPI_COOLING_FEW_HOSTS 64.0

/* Runs over the whole tree after pools were annealed each by itself, where there is no
 * budget.
 * unit: runs
 * trades: larger, time; smaller, trees that are joined badly
 * shown by: bench_anneal
 * chosen on: not measured */
enum { ESPI_POLISH_RUNS = 4 };

/* Of a budget so much goes into pools, the rest into the whole tree.
 * unit: 1
 * trades: larger, pools that are joined badly; smaller, bad pools
 * shown by: bench_anneal
 * chosen on: not measured */
#define ESPI_POOLS_PART 0.75

/* For the best pace the exact search looks at so many partial trees, each counted by the
 * square of the hosts, before it gives up: mostly half a second.
 * unit: steps * hosts^2
 * trades: larger, minutes before it is told that it was in vain, and planning takes as
 * much longer, which holds it against others; smaller, it gives up where it would find
 * shown by: espalier plan --algo exact --op reduce, of complete, random and measured
 * networks
 * chosen on: 96 runs, of 24 to 100 hosts (measured of all kinds, random, hub, complete
 * and Tiers, broadcast and reduce): 78 take less, 64 of them no more than 1,000 steps, 3
 * up to three times as much, and 15 had no end in as much or up to ten times as much */
#define ESPI_EXACT_PACE_WORK 5e7

/* For the shortest completion time the exact search looks at so many partial trees before
 * it gives up: a few seconds.
 * unit: steps
 * trades: larger, minutes before it is told that it was in vain; smaller, it gives up
 * where it would find
 * shown by: build/release/tests/test_exact
 * chosen on: not measured */
#define ESPI_EXACT_STEPS 2e7

/* On more hosts a step takes longer, and it makes fewer: (this / hosts)^5 of them.
 * unit: hosts
 * trades: as ESPI_EXACT_STEPS
 * shown by: build/release/tests/test_exact
 * chosen on: not measured */
enum { ESPI_EXACT_HOSTS = 20 };

/* Arcs that a move of a search for throughput may turn round; longer ones hardly ever
 * help.
 * unit: arcs
 * trades: larger, time a move; smaller, moves that are not seen
 * shown by: bench_refine
 * chosen on: not measured */
enum { ESPI_SEARCH_TURNS = 8 };

/* A restart moves up to one host in so many.
 * unit: hosts
 * trades: larger, restarts fall back into the same tree; smaller, they begin from nothing
 * shown by: bench_refine
 * chosen on: not measured */
enum { ESPI_SEARCH_KICKS = 8 };

/* What it takes to mark a host of a subtree, of what it takes to weigh an arc.
 * unit: 1
 * trades: how well work stands for time; time alone
 * shown by: bench_refine
 * chosen on: not measured */
#define ESPI_MARK_WORK 0.2

/* A tree is compared with the one of so many steps ago (late acceptance).
 * unit: steps
 * trades: larger, the search goes on with worse trees for longer; smaller, it gets caught
 * sooner
 * shown by: bench_refine
 * chosen on: not measured */
enum { ESPI_SEARCH_HISTORY = 64 };

/* Restarts without gain before the search for a makespan gives up.
 * unit: restarts
 * trades: larger, time; smaller, trees that would be found
 * shown by: bench_refine
 * chosen on: not measured */
enum { ESPI_SEARCH_RESTARTS = 5 };

/* How much worse than the best, at the first restart, trees may be; it doubles with each.
 * unit: relative
 * trades: larger, the best tree is left at once; smaller, the search takes the same way
 * again
 * shown by: bench_refine
 * chosen on: not measured */
#define ESPI_SEARCH_SPREAD 0.02

/* Of a search for throughput so much goes into an early makespan with the period found,
 * the rest into the period.
 * unit: 1
 * trades: larger, longer periods; smaller, trees that fill late
 * shown by: bench_refine
 * chosen on: not measured */
#define ESPI_REFINE_FINISH_PART 0.2

/* Arcs to weigh for each host, where no time is given.
 * unit: arcs a host
 * trades: larger, time; smaller, trees that are not as good
 * shown by: bench_refine
 * chosen on: not measured */
enum { ESPI_REFINE_WORK = 20000 };

/* But not more in all.
 * unit: arcs
 * trades: larger, seconds on a thousand hosts; smaller, trees there that are not as good
 * shown by: bench_refine
 * chosen on: not measured */
#define ESPI_REFINE_WORK_MAX 2e7

/* For each number of few trees the search begins anew so often.
 * unit: times
 * trades: larger, time; smaller, plans of few trees that are not as good; a few find most
 * of it in a fifth of the time
 * shown by: build/release/tests/test_k_trees; bench_algos
 * chosen on: not measured */
enum { ESPI_SHAKES = 12 };

/* Trees of the packing, the fastest, that few are chosen of.
 * unit: trees
 * trades: larger, programs that take longer; smaller, worse beginnings
 * shown by: build/release/tests/test_k_trees; bench_algos
 * chosen on: not measured */
enum { ESPI_K_TREES_COLUMNS = 48 };

/* But not more in all than so many.
 * unit: arcs
 * trades: as ESPI_K_TREES_WORK
 * shown by: build/release/tests/test_k_trees; bench_algos
 * chosen on: not measured */
enum { ESPI_K_TREES_WORK_MAX = 300000 };

/* Arcs to weigh for each host in one search for one of few trees.
 * unit: arcs a host
 * trades: larger, time; smaller, trees that are not as good
 * shown by: build/release/tests/test_k_trees; bench_algos
 * chosen on: not measured */
enum { ESPI_K_TREES_WORK = 3000 };

/* Hosts to be shaken for each number of trees, or twice all.
 * unit: hosts
 * trades: as ESPI_SHAKES
 * shown by: build/release/tests/test_k_trees; bench_algos
 * chosen on: not measured */
enum { ESPI_K_TREES_SHAKEN = 800 };

/* Passes over all trees, as long as each gains something.
 * unit: passes
 * trades: larger, time; smaller, gains that are left
 * shown by: build/release/tests/test_k_trees; bench_algos
 * chosen on: not measured */
enum { ESPI_K_TREES_PASSES = 8 };

/* Trees of the mix that a short list is made of.
 * unit: trees
 * trades: larger, programs by the square; smaller, worse short lists
 * shown by: build/release/tests/test_k_trees; bench_algos
 * chosen on: not measured */
enum { ESPI_MTP_LOOKED_AT = 24 };

/* With more trees than these a search for few gains little and takes long: the short list
 * has to do.
 * unit: trees
 * trades: larger, time; smaller, throughput of plans of as many trees
 * shown by: build/release/tests/test_k_trees; bench_algos
 * chosen on: not measured */
enum { ESPI_MTP_SEARCHED = 12 };

/* Links to look at, in all cheapest trees of an allreduce.
 * unit: links
 * trades: larger, time; smaller, throughput
 * shown by: bench_algos
 * chosen on: not measured */
enum { ESPI_TREE_PAIRS_WORK = 100000000 };

/* Up to so many hosts the shares of arcs, which guide trees, are solved to their end.
 * unit: hosts
 * trades: larger, seconds for the last cuts, without better trees; smaller, rough shares
 * shown by: bench_speed; bench_algos
 * chosen on: not measured */
enum { ESPI_SHARES_HOSTS = 200 };

/* Solves for the shares on more hosts.
 * unit: solves
 * trades: as ESPI_SHARES_HOSTS
 * shown by: bench_speed; bench_algos
 * chosen on: not measured */
enum { ESPI_SHARES_PASSES_LARGE = 40 };

/* Solves for them on as many hosts.
 * unit: solves
 * trades: as ESPI_SHARES_HOSTS
 * shown by: bench_speed; bench_algos
 * chosen on: not measured */
enum { ESPI_SHARES_PASSES = 300 };

/* In a contest, solves times arcs.
 * unit: arcs
 * trades: larger, time for trees that are two of many; smaller, rough shares
 * shown by: bench_speed; bench_algos
 * chosen on: not measured */
enum { ESPI_SHARES_ARCS = 1 << 16 };

/* But so many at least.
 * unit: solves
 * trades: as ESPI_SHARES_ARCS
 * shown by: bench_speed; bench_algos
 * chosen on: not measured */
enum { ESPI_SHARES_PASSES_LEAST = 3 };

/* In a contest, of more arcs none are solved: not one pass over them takes less than all
 * the rest.
 * unit: arcs
 * trades: as ESPI_SHARES_ARCS
 * shown by: bench_speed; bench_algos
 * chosen on: not measured */
enum { ESPI_SHARES_CONTEST_ARCS = 1 << 17 };

/* So many limits of how long ways may be are tried for the flow of one scatter.
 * unit: linear programs
 * trades: larger, time; smaller, ways that are too long for the message, or too few
 * shown by: bench_finish --ops scatter --sizes 64e6
 * chosen on: not measured */
enum { ESPI_WAY_LIMITS = 8 };

/* A transfer is late when it takes so many times the expected time.
 * unit: 1
 * trades: larger, waiting for links that are slow; smaller, second senders where the
 * first would have done
 * shown by: espalier reproduce two-tree
 * chosen on: not measured */
#define ESPI_PATIENCE_STANDARD 1.2

/* The message that plans are made for unless told.
 * unit: bytes
 * trades: nothing: it is what who does not say gets; the API and the commands name it
 * shown by: espalier help plan
 * chosen on: not measured; long enough for trees to be full most of the time */
#define ESPI_SIZE_STANDARD 64e6

/* Trees that the program of timed trees may know.
 * unit: trees
 * trades: larger, planning takes longer; smaller, a worse mix
 * shown by: bench_finish --algos timed-trees
 * chosen on: not measured */
enum { ESPI_TIMED_COLUMNS = 300 };

/* How near to its best mix the program of timed trees is solved, and how near to its end.
 * unit: relative
 * trades: larger, a later end; smaller, time
 * shown by: bench_finish --algos timed-trees
 * chosen on: not measured */
#define ESPI_TIMED_GAP 1e-3

/* Timed trees are made for no more hosts than these.
 * unit: hosts
 * trades: larger, who names them on large networks waits; smaller, no such trees there
 * shown by: espalier plan --algo timed-trees
 * chosen on: not measured; as many as `auto` looks for few trees for */
enum { ESPI_TIMED_HOSTS = 200 };

/* Ends that timed trees are looked for with.
 * unit: ends
 * trades: larger, time; smaller, an end that does not fit the message
 * shown by: bench_finish --algos timed-trees
 * chosen on: not measured */
enum { ESPI_TIMED_STEPS = 8 };

#endif
