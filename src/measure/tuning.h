/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_MEASURE_TUNING_H
#define ESPI_MEASURE_TUNING_H

/* ---- sites ---- */

/* Differences of latency below this are those of switches and schedulers: light gets 100
 * km far.
 * unit: s
 * trades: larger, near sites become one; smaller, a busy host, or a rack behind slow
 * switches, becomes a site of its own
 * shown by: build/release/bench/bench_measure --kinds racks,rows
 * chosen on: working seeds 1 to 10: with 0.25 ms bounds of rows were off by 1.63, with
 * 0.5 ms by 0.011; the other kinds are the same */
#define ESPI_LATENCY_MIN_S 0.5e-3

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

/* A best value so far above the next is a burst, and left out.
 * unit: 1
 * trades: larger, what piled up in a stalled machine counts as rate; smaller, a rate
 * that was reached once is lost
 * shown by: build/release/tests/test_measure
 * chosen on: test_stalls of test_measure: every fifth round slow */
#define ESPI_STANDS_ALONE 1.25

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
enum { ESPI_TIMES_MAX = 3 };

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
 * shown by: build/release/bench/bench_measure --kinds racks
 * chosen on: working seeds 1 to 6 of racks: with 16, uplinks of more hosts were missed */
enum { ESPI_PROBE_AT_ONCE = 64 };

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

/* A site of so few hosts may be none, and meets others more often.
 * unit: hosts
 * trades: larger, measuring takes longer; smaller, a host stays a site of its own
 * shown by: build/release/tests/test_measure
 * chosen on: random networks of test_measure */
enum { ESPI_FEW_HOSTS_OF_SITE = 4 };

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

/* Borders within sites by this part.
 * unit: 1
 * trades: larger, the stages after it are cut short; smaller, this one is
 * shown by: espalier measure --budget, on a testbed
 * chosen on: not measured */
#define ESPI_STAGE_AREAS 0.7

/* Cables between sites by this part; what is left is for rounds that check the whole.
 * unit: 1
 * trades: larger, how well it predicts is told by few transfers; smaller, the cables of
 * large networks are cut short
 * shown by: espalier measure --budget, on a testbed
 * chosen on: not measured */
#define ESPI_STAGE_CABLES 0.85

/* ---- how well it predicts ---- */

/* So many transfers are predicted and run to say how well that does.
 * unit: transfers
 * trades: larger, time; smaller, the 95th of 100 hangs on a few
 * shown by: build/release/bench/bench_measure
 * chosen on: derived: three of them are worse than 95 of 100 */
enum { ESPI_CHECK_TRANSFERS = 60 };

/* In so many rounds at least, each of which is run twice.
 * unit: rounds
 * trades: larger, time; smaller, whether the network is under load is told by few
 * shown by: build/release/tests/test_measure_check
 * chosen on: derived: with ESPI_DISTURBED, three rounds of 16 must have been disturbed */
enum { ESPI_CHECK_SETS = 8 };

/* A network that predicts badly is checked so often anew at most, what was seen being
 * used to make it better each time.
 * unit: times
 * trades: larger, time; smaller, errors that checks would mend stay
 * shown by: build/release/bench/bench_measure
 * chosen on: not measured */
enum { ESPI_CHECKS_MAX = 4 };

/* Ranges of rates are given for this confidence where there are values enough.
 * unit: 1
 * trades: larger, ranges are wider; smaller, the rate is outside more often
 * shown by: build/release/tests/test_measure
 * chosen on: derived: of twenty ranges one may be wrong */
#define ESPI_SURE 0.95

/* From this part of rounds on that come out otherwise when they are run again, the
 * network is under load.
 * unit: 1
 * trades: larger, load goes unnoticed; smaller, quiet networks are said to be under load
 * shown by: build/release/tests/test_measure_check
 * chosen on: the emulated network with 3% and with 40% of disturbed rounds */
#define ESPI_DISTURBED 0.15

/* A cable is held to its rate by so many transfers, as it was measured.
 * unit: transfers
 * trades: larger, fewer cables are tried at once; smaller, one transfer that stands still
 * counts
 * shown by: espalier measure --check, on a testbed
 * chosen on: the testbed of three sites: one transfer alone seemed faster by a quarter */
enum { ESPI_CABLE_FLOWS = 4 };

/* Holding a file to the network, every port and cable must have been tried by this part
 * of the budget.
 * unit: 1
 * trades: larger, what is off is not tried again; smaller, ports of large networks are
 * not tried
 * shown by: build/release/tests/test_measure_check
 * chosen on: not measured */
#define ESPI_RECHECK_ALL 0.5

/* And those that are off tried again by this part; what is left is for random sets.
 * unit: 1
 * trades: larger, what is new is told by few transfers; smaller, what is off rests on
 * one round
 * shown by: build/release/tests/test_measure_check
 * chosen on: not measured */
#define ESPI_RECHECK_ODD 0.7

/* ---- what explains samples ---- */

/* The usual deviation of the logarithm of a rate from its prediction: TCP does not share
 * quite fairly.
 * unit: 1
 * trades: larger, limits are missed that matter little; smaller, noise is explained by
 * limits that are not there
 * shown by: build/release/bench/bench_measure
 * chosen on: not varied: the unfairness of the emulated network */
#define ESPI_SPREAD 0.1

/* One transfer adds no more than this to the loss, however far off it is.
 * unit: 1
 * trades: larger, single errors weigh more; smaller, more transfers must agree
 * shown by: build/release/bench/bench_measure
 * chosen on: derived: five deviations */
#define ESPI_LOSS_MOST 12.5

/* One round pays no more than this towards the price of a limit.
 * unit: 1
 * trades: larger, disturbed rounds make up limits; smaller, limits need more rounds
 * shown by: build/release/bench/bench_measure
 * chosen on: derived: less than the price, so that it takes two */
#define ESPI_ROUND_PAYS_MOST 12.0

/* What a limit must explain to be believed.
 * unit: 1
 * trades: larger, limits are missed; smaller, limits are made up
 * shown by: build/release/bench/bench_measure
 * chosen on: derived: more than one round can pay; not varied */
#define ESPI_LIMIT_PRICE 20.0

/* So many limits a network has at most.
 * unit: limits
 * trades: larger, memory and time; smaller, large networks are cut short
 * shown by: build/release/bench/bench_measure
 * chosen on: not measured */
enum { ESPI_LIMITS_MAX = 256 };

/* Latencies that add up to within this part lie on one route.
 * unit: part of the latency
 * trades: larger, routes through third sites that do not exist; smaller, real ones are
 * missed
 * shown by: build/release/bench/bench_measure
 * chosen on: working seeds 1 to 20 */
#define ESPI_ROUTE_SLACK 0.08

/* A rate whose logarithm is that far from the predicted one is a surprise.
 * unit: 1
 * trades: larger, errors of the network go unnoticed; smaller, noise is looked into
 * shown by: build/release/bench/bench_measure
 * chosen on: derived: three usual deviations */
#define ESPI_SURPRISE (3 * ESPI_SPREAD)

/* Measuring ends after so many rounds without a surprise, and one more a site.
 * unit: rounds
 * trades: larger, time; smaller, what is shared may go unnoticed
 * shown by: build/release/bench/bench_measure
 * chosen on: working seeds 1 to 20 */
enum { ESPI_CALM_ROUNDS = 6 };

/* A transfer that was held up tells of a border so many times as strongly as one that was
 * not tells of none: half of those across a border are not held up, hardly any within an
 * area are.
 * unit: 1
 * trades: larger, areas fall apart by errors; smaller, areas are joined that have a
 * border
 * shown by: build/release/bench/bench_measure --kinds racks
 * chosen on: derived: the logarithm of 1/2 over 1/50, over that of 1 over 1/2 */
enum { ESPI_HELD_UP_COUNTS = 4 };

/* This part of the transfers within an area are held up all the same.
 * unit: 1
 * trades: larger, areas are joined that have a border; smaller, areas fall apart by
 * errors
 * shown by: build/release/bench/bench_measure --kinds racks,rows
 * chosen on: as ESPI_HELD_UP_COUNTS; not varied */
#define ESPI_HELD_UP_INSIDE 0.02

/* So many graphs of wires that latencies allow are tried.
 * unit: graphs
 * trades: larger, time; smaller, routes are missed where latencies leave a choice
 * shown by: build/release/bench/bench_measure --kinds chain,ring
 * chosen on: working seeds 1 to 20 */
enum { ESPI_ROUTE_VARIANTS = 6 };

#endif
