/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_BOUND_TUNING_H
#define ESPI_BOUND_TUNING_H

/* What a resource is made faster by, when asked what that would gain. The texts say it,
 * too.
 * unit: 1
 * trades: larger, other resources come to bind; smaller, gains near the gap of the solver
 * shown by: espalier bound
 * chosen on: not measured */
#define ESPI_WHAT_IF_MORE 1.1

/* Gains that are estimated below are not computed.
 * unit: relative
 * trades: larger, small gains are not told; smaller, solves for nothing
 * shown by: espalier bound
 * chosen on: not measured */
#define ESPI_WHAT_IF_LEAST 1e-6

/* How near to the optimum the throughput with the faster resource is found.
 * unit: relative
 * trades: larger, gains of the size of the gap are wrong; smaller, time
 * shown by: espalier bound
 * chosen on: not measured */
#define ESPI_WHAT_IF_GAP 1e-7

/* The one-line summary names a link or cable that would gain more.
 * unit: relative
 * trades: larger, useful advice is left out; smaller, useless advice is given
 * shown by: espalier bound
 * chosen on: not measured */
#define ESPI_WHAT_IF_TOLD 1e-4

/* How near the throughput bound of a broadcast is found, when plans are set against it.
 * unit: relative
 * trades: larger, plans seem better than they are; smaller, time
 * shown by: bench_bound
 * chosen on: not measured */
#define ESPI_OP_BOUND_GAP 1e-6

/* A mix of trees so near to the bound reaches it: the bound is exact.
 * unit: relative
 * trades: larger, bounds are called exact that are not by as much; smaller, rounding
 * keeps exact ones from it
 * shown by: bench_bound
 * chosen on: not measured */
#define ESPI_BOUND_TIGHT 1e-5

/* Work for the bound of an allreduce.
 * unit: links of the trees looked at
 * trades: larger, time; smaller, bounds that are not exact
 * shown by: bench_bound
 * chosen on: not measured */
#define ESPI_BOUND_WORK 1e9

/* The bound of a broadcast's makespan is looked for once more, with what delays leave of
 * each resource, when it is so many times that of the throughput alone.
 * unit: 1
 * trades: larger, bounds of short messages are a little lower; smaller, a second linear
 *   program for nothing
 * shown by: bench_finish
 * chosen on: not measured */
#define ESPI_DELAYS_COUNT 1.001

/* So many distances from the root, of targets of a scatter, are those beyond which its
 * makespan is looked for alone.
 * unit: distances
 * trades: larger, a linear program each; smaller, lower bounds where far hosts limit
 * shown by: bench_finish --ops scatter --sizes 64e6
 * chosen on: the most sites that networks of bench_finish have */
enum { ESPI_PARTS_DISTANCES = 8 };

/* Up to so many links quickest flows are looked for.
 * unit: links
 * trades: larger, time: three quarters of a second on 10,000 hosts (Tiers), for nothing;
 *   smaller, lower bounds
 * shown by: espalier bound
 * chosen on: 128 hosts, each joined to all others, take a hundredth of a second
 */
enum { ESPI_QUICKEST_LINKS = 1 << 14 };

/* So many paths of the quickest flow to a target are looked at.
 * unit: paths
 * trades: larger, time; smaller, lower bounds where many paths are needed
 * shown by: bench_finish --sizes 64e6 --kinds full
 * chosen on: full networks of up to 32 hosts
 */
enum { ESPI_QUICKEST_PATHS = 256 };

/* Steps towards the end of the quickest flow, and halvings to the last that its labels
 * prove.
 * unit: steps
 * trades: larger, time; smaller, lower bounds
 * shown by: bench_finish --sizes 64e6 --kinds full
 * chosen on: full networks of up to 32 hosts
 */
enum { ESPI_QUICKEST_STEPS = 8, ESPI_QUICKEST_HALVINGS = 30 };

/* How near that end is found.
 * unit: relative
 * trades: larger, lower bounds, by as much; smaller, linear programs for nothing
 * shown by: bench_finish --sizes 64e6 --kinds full
 * chosen on: not measured; far below what plans differ by
 */
#define ESPI_QUICKEST_NEAR 1e-5

#endif
