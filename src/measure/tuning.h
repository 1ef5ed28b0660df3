/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_MEASURE_TUNING_H
#define ESPI_MEASURE_TUNING_H

/* ---- sites ---- */

/* The distance of two hosts is that of a message of so many bytes.
 * unit: bytes
 * trades: larger, sites are told apart by rates alone; smaller, by latencies alone
 * shown by: build/release/tests/test_measure
 * chosen on: not measured; the usual slice of a plan */
#define ESPI_REFERENCE_BYTES 65536.0

/* Differences of latency below this are those of switches and schedulers.
 * unit: s
 * trades: larger, near sites become one; smaller, a busy host becomes a site of its
 * own
 * shown by: build/release/tests/test_measure
 * chosen on: random networks of test_measure; the preset testbed on two processors */
#define ESPI_LATENCY_MIN_S 0.25e-3

/* So many one-way latencies count in the distance of two hosts.
 * unit: 1
 * trades: larger, latency tells sites apart; smaller, the rate
 * shown by: build/release/tests/test_measure
 * chosen on: not measured; a message that waits for its receiver crosses three times,
 * and its acknowledgement once */
#define ESPI_LATENCIES 4.0

/* The widest join of hosts in one site, over its narrow ones.
 * unit: 1
 * trades: larger, sites of nearly equal distance become one; smaller, one site falls
 * apart
 * shown by: build/release/tests/test_measure
 * chosen on: random networks of test_measure, with 1% and 5% of the values far off */
#define ESPI_ALIKE 1.5

/* A cluster whose narrowest join is a lucky value may be wider by this.
 * unit: 1
 * trades: as ESPI_ALIKE
 * shown by: build/release/tests/test_measure
 * chosen on: random networks of test_measure */
#define ESPI_LUCK 1.35

/* A site is set off from the rest when the join with others is so much wider than the
 * narrowest inside.
 * unit: 1
 * trades: larger, sites near to each other are one; smaller, lone hosts are joined
 * shown by: build/release/tests/test_measure
 * chosen on: random networks of test_measure */
#define ESPI_SET_OFF 1.25

/* ---- what values mean ---- */

/* What stays below this part of the expected rate was held up by something.
 * unit: 1
 * trades: larger, noise becomes a shared link; smaller, a shared link of little
 * effect is missed
 * shown by: build/release/tests/test_measure
 * chosen on: random networks of test_measure; the preset testbed */
#define ESPI_HELD_UP 0.8

/* Values that near to the best count as the same.
 * unit: 1
 * trades: larger, fewer values bear each other out; smaller, different rates are one
 * shown by: build/release/tests/test_measure
 * chosen on: random networks of test_measure */
#define ESPI_BORNE_OUT 0.91

/* Two rates that differ by at most this part are the same.
 * unit: 1
 * trades: larger, two cables of nearly the same rate become one; smaller, one becomes
 * two
 * shown by: build/release/tests/test_measure
 * chosen on: random networks of test_measure */
#define ESPI_SAME_RATE 0.12

/* A best value so far above the next is a burst, and left out.
 * unit: 1
 * trades: larger, what piled up in a stalled machine counts as rate; smaller, a rate
 * that was reached once is lost
 * shown by: build/release/tests/test_measure
 * chosen on: test_stalls of test_measure: every fifth round slow */
#define ESPI_STANDS_ALONE 1.25

/* A single transfer that gets less than this part of both its ports is limited by
 * itself.
 * unit: 1
 * trades: larger, ports are taken for limits of transfers; smaller, such limits are
 * missed
 * shown by: build/release/tests/test_measure
 * chosen on: not measured */
#define ESPI_FLOW_LIMITED 0.85

/* Values from this part of the best, and up to so many times it, tell whether a cable
 * was full.
 * unit: 1
 * trades: wider, disturbed rounds count; narrower, few are left
 * shown by: build/release/tests/test_measure
 * chosen on: not measured */
#define ESPI_NEAR_BEST_LOW 0.9
/* The upper end of the same.
 * unit: 1
 * trades: as ESPI_NEAR_BEST_LOW
 * shown by: build/release/tests/test_measure
 * chosen on: not measured */
#define ESPI_NEAR_BEST_HIGH 1.15

/* A transfer alone that gets this part of what several get together fills the cable,
 * and a port with this part of its site's best is as good as the others.
 * unit: 1
 * trades: larger, cables are rated by several transfers, which hold up each other;
 * smaller, by one that its own limit held up
 * shown by: build/release/tests/test_measure
 * chosen on: the preset testbed, bench/grid */
#define ESPI_FILLED 0.93

/* Sums below this part of the best were disturbed, and do not count for a cable's
 * rate.
 * unit: 1
 * trades: larger, few values are left; smaller, a disturbance lowers the rate
 * shown by: build/release/tests/test_measure
 * chosen on: the preset testbed, bench/grid */
#define ESPI_DISTURBED 0.7

/* Cables that get less than this part, together, of what each allows share something.
 * unit: 1
 * trades: larger, noise becomes a shared link; smaller, sharing is missed
 * shown by: build/release/tests/test_measure
 * chosen on: random networks of test_measure */
#define ESPI_SHORT_OF 0.87

/* So many rounds must bear out that transfers are in each other's way.
 * unit: rounds
 * trades: larger, measuring takes longer; smaller, a stalled machine becomes a shared
 * link
 * shown by: build/release/tests/test_measure
 * chosen on: test_stalls of test_measure */
enum { ESPI_ROUNDS_ENOUGH = 3 };

/* The same transfers are tried so often at most.
 * unit: rounds
 * trades: larger, a machine that keeps stalling is measured for longer; smaller,
 * doubts stay
 * shown by: build/release/tests/test_measure
 * chosen on: test_stalls of test_measure */
enum { ESPI_TIMES_MAX = 6 };

/* Transfers tell of subsites when so many run in a site at once.
 * unit: transfers
 * trades: larger, small sites tell nothing; smaller, too few meet on an uplink
 * shown by: build/release/tests/test_measure
 * chosen on: not measured */
enum { ESPI_LOADED = 4 };

/* ---- what is tried ---- */

/* One way: a host as far as that is tried by long transfers only.
 * unit: s
 * trades: larger, short packets of a far host take long; smaller, its quick rate is
 * unknown
 * shown by: espalier measure --verbose on a testbed
 * chosen on: not measured */
#define ESPI_FAR_S 10e-3

/* One way: hosts so near are perhaps of one site.
 * unit: s
 * trades: larger, more pairs meet; smaller, near sites are told apart by few values
 * shown by: build/release/tests/test_measure
 * chosen on: not measured */
#define ESPI_NEAR_S 1e-3

/* So long lasts a transfer within a site.
 * unit: s
 * trades: larger, measuring takes longer; smaller, the start of TCP is measured
 * shown by: bench/grid, espalier measure
 * chosen on: the preset testbed */
#define ESPI_PROBE_NEAR_S 0.2

/* So long lasts a transfer between sites.
 * unit: s
 * trades: as ESPI_PROBE_NEAR_S
 * shown by: bench/grid, espalier measure
 * chosen on: the preset testbed */
#define ESPI_PROBE_FAR_S 0.5

/* So many transfers run at once, or an eighth of the hosts.
 * unit: transfers
 * trades: larger, hosts that share processors measure these; smaller, what limits
 * many hosts together is not seen
 * shown by: bench/grid, espalier measure
 * chosen on: the preset testbed, 64 hosts on two processors */
enum { ESPI_PROBE_AT_ONCE = 16 };

/* So many pairs meet at once, or a sixteenth of the hosts.
 * unit: pairs
 * trades: larger, hosts behind one uplink seem far apart; smaller, meeting takes
 * longer
 * shown by: bench/grid, espalier measure
 * chosen on: the preset testbed */
enum { ESPI_MEET_AT_ONCE = 6 };

/* Up to so many hosts all pairs meet.
 * unit: hosts
 * trades: larger, time grows by the square; smaller, sites are found by few pairs
 * shown by: build/release/tests/test_measure
 * chosen on: random networks of test_measure */
enum { ESPI_ALL_PAIRS_MAX = 24 };

/* Of more hosts, each meets so many others at random first.
 * unit: rounds
 * trades: larger, measuring takes longer; smaller, sites begin as single hosts
 * shown by: build/release/tests/test_measure
 * chosen on: random networks of test_measure */
enum { ESPI_RANDOM_MATCHINGS = 6 };

/* Then sites meet in so many rounds at most.
 * unit: rounds
 * trades: larger, many lone hosts take long; smaller, sites stay apart
 * shown by: build/release/tests/test_measure
 * chosen on: not measured */
enum { ESPI_SITE_ROUNDS_MAX = 400 };

/* Up to so many sites are compared pair by pair, nothing else being under way.
 * unit: sites
 * trades: larger, measuring takes longer; smaller, a shared uplink makes sites
 * shown by: build/release/tests/test_measure
 * chosen on: networks of test_measure whose sites share an uplink */
enum { ESPI_ALONE_MAX = 16 };

/* And so often.
 * unit: times
 * trades: as ESPI_ALONE_MAX
 * shown by: build/release/tests/test_measure
 * chosen on: networks of test_measure whose sites share an uplink */
enum { ESPI_ALONE_TIMES = 4 };

/* A site of so few hosts may be none, and meets others more often.
 * unit: hosts
 * trades: larger, measuring takes longer; smaller, a host stays a site of its own
 * shown by: build/release/tests/test_measure
 * chosen on: random networks of test_measure */
enum { ESPI_FEW_HOSTS_OF_SITE = 4 };

/* Of many cables so many are tried alone, and so many sites first.
 * unit: cables
 * trades: larger, time grows; smaller, rates of cables come from transfers side by
 * side
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
enum { ESPI_SOME_CABLES = 8 };

/* Up to so many hosts a measured platform has links from host to host; beyond, switches.
 * unit: hosts
 * trades: larger, files and planning by the square; smaller, differences between pairs of
 * hosts of two sites are lost
 * shown by: build/release/tests/test_measure
 * chosen on: not measured */
enum { ESPI_MEASURED_DIRECT_MAX = 128 };

/* Who is near whom must be found by this part of the budget of a measurement.
 * unit: 1
 * trades: larger, the stages after it are cut short; smaller, this one is
 * shown by: espalier measure --budget, on a testbed
 * chosen on: not measured */
#define ESPI_STAGE_SITES 0.4

/* The ports of hosts by this part.
 * unit: 1
 * trades: larger, the stages after it are cut short; smaller, this one is
 * shown by: espalier measure --budget, on a testbed
 * chosen on: not measured */
#define ESPI_STAGE_PORTS 0.55

/* Borders within sites by this part; what is left is for the cables between sites.
 * unit: 1
 * trades: larger, the stages after it are cut short; smaller, this one is
 * shown by: espalier measure --budget, on a testbed
 * chosen on: not measured */
#define ESPI_STAGE_AREAS 0.7

#endif
