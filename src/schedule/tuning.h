/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_SCHEDULE_TUNING_H
#define ESPI_SCHEDULE_TUNING_H

/* Rounds of up to so many sends are looked at. A plan is large when a slice along each of
 * its trees takes more than half as many; one rule has to do for it.
 * unit: sends
 * trades: larger, planning takes longer; smaller, shares of trees are rough and
 * throughput is lost
 * shown by: bench_schedule; bench_speed
 * chosen on: not measured */
enum { ESPI_ROUND_SENDS = 1 << 14 };

/* The first round that is looked at has so many sends; a message of no more is put into
 * order as a whole.
 * unit: sends
 * trades: larger, short rounds that would do are found late; smaller, more rounds are
 * looked at before a good one
 * shown by: bench_schedule; bench_speed
 * chosen on: not measured */
enum { ESPI_ROUND_SENDS_FIRST = 1 << 11 };

/* Rounds of so many sends in all are looked at for one message.
 * unit: sends
 * trades: larger, planning takes longer; smaller, the best round is missed
 * shown by: bench_schedule; bench_speed
 * chosen on: not measured */
enum { ESPI_ROUND_WORK = 1 << 15 };

/* And no more are looked at when so many sends were handled for it, over and over, as
 * deep trees need: what is under way for many rounds is played for as many.
 * unit: sends
 * trades: larger, plans of 1,000 hosts take seconds longer; smaller, the best order of
 * deep trees is missed
 * shown by: bench_speed plans 1000
 * chosen on: plans of up to 100 hosts, which stay below it */
enum { ESPI_ORDER_WORK = 1 << 22 };

/* Each round that is looked at is so many times as long as the one before, or as short;
 * twice for plans of many trees.
 * unit: 1
 * trades: larger, the best length is missed; smaller, the work is spent near the first
 * shown by: bench_schedule; bench_speed
 * chosen on: not measured; two steps are a doubling */
#define ESPI_ROUND_RATIO 1.41

/* So many rounds in a row that are no better end the search for a longer or shorter one.
 * unit: rounds
 * trades: larger, time; smaller, one bad length hides better ones behind it
 * shown by: bench_schedule; bench_speed
 * chosen on: not measured */
enum { ESPI_ROUND_PATIENCE = 2 };

/* Rounds of many trees on many hosts begin with so many slices a tree, so that each gets
 * its share.
 * unit: slices
 * trades: larger, rounds that take long to be put into order; smaller, shares far from
 * the weights
 * shown by: bench_schedule; bench_speed
 * chosen on: not measured */
enum { ESPI_ROUND_TREE_SLICES = 2 };

/* What large plans may have in the place of ESPI_ROUND_SENDS and ESPI_ROUND_WORK.
 * unit: sends
 * trades: larger, plans of 1,000 hosts take seconds longer; smaller, they lose throughput
 * by rough shares
 * shown by: bench_schedule; bench_speed
 * chosen on: not measured */
enum { ESPI_ROUND_SENDS_LARGE = 1 << 19 };

/* To make an order handles each of its sends about so many times, beside playing it.
 * unit: times
 * trades: what ESPI_ORDER_WORK counts
 * shown by: bench_schedule
 * chosen on: three rounds are woven, and twelve settled */
enum { ESPI_ORDER_PASSES = 16 };

/* The one rule by which large plans are put into order (place in the list of order.c).
 * unit: place in a list
 * trades: a rule that looks further ahead fills ports better and delays the first slices
 * shown by: bench_schedule; bench_speed
 * chosen on: not measured */
enum { ESPI_ORDER_RULE_LARGE = 2 };

/* The one rule for messages of up to ESPI_ORDER_ONE_ROUND slices, where a quick answer is
 * wanted.
 * unit: place in a list
 * trades: as ESPI_ORDER_RULE_LARGE
 * shown by: bench_schedule; bench_speed
 * chosen on: not measured */
enum { ESPI_ORDER_RULE_SHORT = 6 };

/* Messages of up to so many slices are sent in one round, where a quick answer is wanted.
 * unit: slices
 * trades: larger, rounds that take long to be put into order; smaller, short messages
 * keep the gaps of a repeated round
 * shown by: bench_schedule; bench_speed
 * chosen on: not measured */
enum { ESPI_ORDER_ONE_ROUND = 128 };

/* A message that ends within this of what the loads allow ends the search for a better
 * order.
 * unit: relative
 * trades: larger, so much of the makespan may be lost; smaller, more orders are tried for
 * nothing
 * shown by: bench_schedule; bench_speed
 * chosen on: not measured */
#define ESPI_ORDER_ENOUGH 3e-3

/* Messages of more sends are not played to their end: on fair links not at all, else half
 * as many sends are, and the rest goes by their pace.
 * unit: sends
 * trades: larger, planning takes longer; smaller, makespans are estimated
 * shown by: bench_schedule; bench_speed
 * chosen on: not measured */
enum { ESPI_PLAYED_SENDS = 1 << 18 };

/* Messages of so many slices and more are all sent in one order: their steady state is
 * that of the plan.
 * unit: slices
 * trades: larger, long messages are put into order each by itself; smaller, the start and
 * the end of shorter ones count for nothing
 * shown by: build/release/tests/test_claims
 * chosen on: not measured */
enum { ESPI_LONG_MESSAGE = 1 << 13 };

/* So much of the throughput is given for a short round.
 * unit: relative
 * trades: larger, throughput; smaller, long rounds, which fill late and take long to be
 * put into order
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
#define ESPI_ROUND_TOLERANCE 2e-3

/* A tree may get so much more or less of the message than its weight says.
 * unit: part of the message
 * trades: larger, plans are not what their weights say; smaller, short rounds are refused
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
#define ESPI_SHARE_ERROR 0.03

/* Plans claim what their weights allow: rounds are to be no better than by so much.
 * unit: relative
 * trades: larger, claims are below what is reached; smaller, moves of slices that help
 * are refused
 * shown by: build/release/tests/test_claims
 * chosen on: not measured */
#define ESPI_SHARE_BETTER 5e-3

/* So many trees are looked at to take a slice from, and as many to give it to.
 * unit: trees
 * trades: larger, time by the square; smaller, rounds are less even
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
enum { ESPI_SHARE_TREES = 8 };

/* So many hops of trees, in all, are looked at while slices are moved between trees.
 * unit: hops
 * trades: larger, plans of many large trees take longer; smaller, their rounds are less
 * even
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
#define ESPI_SHARE_MOVES_WORK 4e6

/* Of the rounds of a range of lengths so many are looked at closely.
 * unit: rounds
 * trades: larger, time; smaller, the best of the range is missed
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
enum { ESPI_ROUND_CLOSER = 4 };

/* Of rounds of growing length those are looked at closely whose shares are off by less
 * than this part of the last such.
 * unit: 1
 * trades: larger, time; smaller, good short rounds are missed
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
#define ESPI_SHARE_NEARER 0.7

/* And those whose shares are near enough and that are so many times as long as the last
 * such.
 * unit: 1
 * trades: larger, good short rounds are missed; smaller, time
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
#define ESPI_ROUND_LONGER 1.2

/* The order of the edges of one tree is kept when its pace is this close to the load of
 * the busiest resource.
 * unit: relative
 * trades: larger, throughput; smaller, orders are looked for that gain next to nothing
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
#define ESPI_PACE_GOOD 1e-3

/* By so many sends the pace of an order is found that is tried.
 * unit: sends
 * trades: larger, time; smaller, the wrong order may win
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
enum { ESPI_PACE_SENDS_TRIED = 1 << 12 };

/* By so many sends the pace of the chosen order is found, which plans claim.
 * unit: sends
 * trades: larger, time; smaller, the pace is that of the start
 * shown by: build/release/tests/test_claims
 * chosen on: not measured */
enum { ESPI_PACE_SENDS_CHOSEN = 1 << 17 };

/* A pace that differs by so little from that of half as many rounds has settled.
 * unit: relative
 * trades: larger, claims are off by as much; smaller, more rounds are played
 * shown by: build/release/tests/test_claims
 * chosen on: not measured */
#define ESPI_PACE_SETTLED 1e-3

/* So many rounds at least are played before a pace is taken, and for as many it is.
 * unit: rounds
 * trades: larger, long rounds take long to be timed; smaller, the pace is that of the
 * start
 * shown by: build/release/tests/test_claims
 * chosen on: not measured */
enum { ESPI_PACE_ROUNDS_LEAST = 3 };

/* Of short rounds so many at most are played, or half of the message.
 * unit: rounds
 * trades: larger, time; smaller, what holds rounds up has not yet made itself felt
 * everywhere
 * shown by: build/release/tests/test_claims
 * chosen on: not measured */
enum { ESPI_PACE_ROUNDS_MOST = 256 };

/* Lines of up to so many sends are sorted by insertion, longer ones by merging.
 * unit: sends
 * trades: time alone: the order is the same
 * shown by: bench_schedule
 * chosen on: not measured */
enum { ESPI_SORT_BY_INSERTION = 12 };

/* Of rounds of more sends half as many are played until their pace is taken.
 * unit: sends
 * trades: larger, time; smaller, the pace is that of the start
 * shown by: bench_schedule
 * chosen on: not measured */
enum { ESPI_WEAVE_SENDS_MANY = 1 << 13 };

/* The rules by which orders of sends are tried (struct espi_weave_rule): do slices flow
 * on in their round, and so many rounds ahead of the busiest resource a send may start.
 * unit: flag, rounds
 * trades: more rules, time; fewer, makespans
 * shown by: bench_schedule
 * chosen on: not measured */
#define ESPI_ORDER_RULES                                                                 \
    {0, 1}, {0, 1.5}, {0, 2}, {0, 4}, {0, 1e9}, {1, 2},                                  \
    {                                                                                    \
        1, 1e9                                                                           \
    }

/* A round has no more slices than the message divided by this,
 * unit: parts
 * trades: larger, short rounds, whose shares are rough; smaller, rounds that fill late
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
enum { ESPI_ROUND_PART = 8 };

/* or than this, whichever is more.
 * unit: slices
 * trades: as ESPI_ROUND_PART
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
enum { ESPI_ROUND_SLOTS = 128 };

/* The same of messages in parts, which are cut into whole rounds, and of plans of many
 * trees, whose rounds are long to fill:
 * unit: parts
 * trades: larger, short rounds, whose shares are rough; smaller, more is gained or lost
 * by whole rounds
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
enum { ESPI_ROUND_SMALL_PART = 16 };

/* the message divided by that or, of messages in parts, this, whichever is more.
 * unit: slices
 * trades: as ESPI_ROUND_SMALL_PART
 * shown by: build/release/tests/test_schedule; bench_schedule
 * chosen on: not measured */
enum { ESPI_ROUND_SMALL_SLOTS = 64 };
/* What a rank has from the start leaves along no tree so many slices a tree before
 * another, in the order of the message.
 * unit: slices
 * trades: larger, trees that need little take what others need; smaller, connections
 * stand still where slices come unevenly
 * shown by: bench_finish
 * chosen on: networks of three to eight sites, drawn apart from the family of
 * bench_finish: from 1 to 8 makespans differ by less than a hundredth */
enum { ESPI_SLICES_AHEAD = 4 };

/* Ways of a scatter whose latencies differ by less are as long as one another, and what
 * takes them leaves side by side.
 * unit: part of what the scatter takes
 * trades: larger, what goes far comes in later by up to as much; smaller, parts leave one
 * by one for nothing
 * shown by: bench_finish --ops scatter --sizes 64e6
 * chosen on: not measured */
#define ESPI_FAR_APART 0.01

/* In an alltoall a host's near parts wait so many times as long for its far ones as their
 * ways are shorter.
 * unit: 1
 * trades: larger, near parts come in last; smaller, they take from far ones what these
 * need
 * shown by: bench_alltoall
 * chosen on: measured networks of 8 to 32 hosts, seeds 1 to 16: 1 and 3 end a half of a
 * hundredth later in the mean, 2 alike, but more of them later than all at once */
#define ESPI_NEAR_LATER 1.5

/* So many transfers of a message that shares the network with itself are played to the
 * end; of more, so many, and the rest follows at their pace. For claims; where plans are
 * weighed, and for the pace of long messages while it is not settled.
 * unit: transfers
 * trades: more, time to plan; fewer, a pace that is not settled
 * shown by: bench_claims; build/release/tests/test_claims 150 3
 * chosen on: not measured */
enum { ESPI_FLUID_CLAIM = 1 << 16, ESPI_FLUID_WEIGH = 1 << 13 };

/* For claims up to so many times as many are played while the pace has not settled.
 * unit: 1
 * trades: larger, planning takes longer, up to some tenths of a second for each; smaller,
 * claims that are up to a hundredth too early
 * shown by: bench_finish
 * chosen on: three measured networks of 51 to 64 hosts with 2 to 27 trees of 8,000 to
 * 63,000 slices: with 1 claims are up to 1.1 hundredths too early, with 2 up to 0.4 */
enum { ESPI_FLUID_PATIENCE = 2 };

/* Of plans with more sends a round than that these many rounds are played.
 * unit: rounds
 * trades: as ESPI_FLUID_CLAIM
 * shown by: bench_claims
 * chosen on: not measured */
enum { ESPI_FLUID_ROUNDS = 8 };

#endif
