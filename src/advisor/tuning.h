/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_ADVISOR_TUNING_H
#define ESPI_ADVISOR_TUNING_H

/* ---- what is late ---- */

/* Who takes so many times what is believed, or what its tree explains, is late beyond
 * what noise does.
 * unit: 1
 * trades: larger, loads of a fifth are not noticed; smaller, links are blamed for noise
 * shown by: bench/adapt; espalier reproduce adaptive
 * chosen on: draws 1 to 6 of the adaptive study, 10% of noise */
#define ESPI_LATE 1.25

/* A link is blamed when the receiver is so many times as late as its sender.
 * unit: 1
 * trades: larger, two slow links in a row count as one; smaller, a link is blamed for
 * the one before it
 * shown by: bench/adapt; espalier reproduce adaptive
 * chosen on: not measured */
#define ESPI_LATER_THAN_SENDER 1.2

/* So much of what the platform says is as good as all: there are heads, and noise.
 * unit: 1
 * trades: larger, free links are believed to be loaded; smaller, small loads are not
 * seen
 * shown by: bench/adapt; espalier reproduce adaptive
 * chosen on: draws 1 to 6 of the adaptive study */
#define ESPI_FULL 0.8

/* A probe that got so much of the nominal rate proves that probes can show the link.
 * unit: 1
 * trades: larger, true loads found by probes are not believed; smaller, a link that
 * probes cannot fill is blamed
 * shown by: build/release/tests/test_probe_planner
 * chosen on: not measured */
#define ESPI_SHOWN 0.7

/* A change of a factor by so much is worth a new plan.
 * unit: 1
 * trades: larger, plans lag behind the load; smaller, the advisor plans all the time
 * shown by: bench/adapt; espalier reproduce adaptive
 * chosen on: not measured */
#define ESPI_CHANGE 0.2

/* Suspects that nothing parts are slow together when their rates differ by no more than
 * this factor.
 * unit: 1
 * trades: larger, free links are believed to be slow; smaller, the wrong one of two is
 * blamed
 * shown by: build/release/tests/test_probe_planner
 * chosen on: not measured */
#define ESPI_ALIKE_SUSPECTS 1.05

/* No link is believed to be slower than this part of its nominal rate.
 * unit: 1
 * trades: larger, a dead link is planned on; smaller, a link is never tried again
 * shown by: build/release/tests/test_advise
 * chosen on: not measured */
#define ESPI_FACTOR_MIN 0.01

/* What calls take beyond so many times what explains them may be what messages take of
 * hosts.
 * unit: 1
 * trades: larger, slices so small that hosts cannot keep up; smaller, noise of calls in
 * few slices forbids many
 * shown by: bench/adapt; bench_regret
 * chosen on: three sites of 8 hosts on a testbed, where all hosts share two processors */
#define ESPI_MESSAGES_FROM 1.1

/* No message takes more of a host than this, as long as nothing is known.
 * unit: s
 * trades: larger, small loads in the beginning are put down to hosts; smaller, links are
 * blamed for hosts
 * shown by: bench/adapt
 * chosen on: as ESPI_MESSAGES_FROM: 0.6 ms there */
#define ESPI_MESSAGE_MOST_S 1e-3

/* What ranks have from elsewhere stands for so many calls, by which it becomes known what
 * messages take of hosts here.
 * unit: calls
 * trades: larger, loads in the beginning are gone round late; smaller, slices too small
 * shown by: bench/adapt
 * chosen on: as ESPI_MESSAGES_FROM */
enum { ESPI_GIVEN_CALLS = 2 };

/* Where several trees share the network, a host may wait for so many slices of others
 * longer than explained.
 * unit: slices
 * trades: larger, loads are not noticed by plans of few slices; smaller, links are blamed
 * for the order of slices
 * shown by: build/release/tests/test_told_call; bench_regret
 * chosen on: three sites of 8 hosts, plans of mtp in 16 slices; seeds 1 to 6 */
#define ESPI_BURST_SLICES 2.0

/* ---- when ---- */

/* What a link carried so long ago still speaks for it.
 * unit: s
 * trades: larger, a new load is put down to another link; smaller, more probes are
 * needed
 * shown by: build/release/tests/test_probe_planner
 * chosen on: not measured */
#define ESPI_RECENT_S 10.0

/* A suspicion that is not settled by then is dropped.
 * unit: s
 * trades: larger, probes go on about what has passed; smaller, slow links stay unknown
 * shown by: build/release/tests/test_probe_planner
 * chosen on: not measured */
#define ESPI_SUSPECT_S 60.0

/* What is known of a link is fresh for so long at most.
 * unit: s
 * trades: larger, loads are found late; smaller, probes all the time
 * shown by: build/release/tests/test_probe_planner
 * chosen on: draws 1 to 6 of the adaptive study */
#define ESPI_MOMENT_S 30.0

/* Between a probe and a call that is predicted.
 * unit: s
 * trades: larger, short gaps are not used; smaller, calls wait for probes
 * shown by: build/release/tests/test_probe_planner
 * chosen on: the testbed of docs/adapt.md */
#define ESPI_GUARD_S 0.01

/* So long no probe is sent after a call was met.
 * unit: s
 * trades: as ESPI_GUARD_S
 * shown by: build/release/tests/test_probe_planner
 * chosen on: not measured */
#define ESPI_PAUSE_S 0.05

/* A host of which an answer was lost is left alone for so long.
 * unit: s
 * trades: larger, its links are unknown; smaller, probes are lost
 * shown by: build/release/tests/test_probe_planner
 * chosen on: not measured */
#define ESPI_SILENCE_S 5.0

/* So much of a predicted gap is not used for probes.
 * unit: 1
 * trades: as ESPI_GUARD_S
 * shown by: build/release/tests/test_probe_planner
 * chosen on: not measured */
#define ESPI_GAP_PART 0.1

/* An application that has not called for so long, or ESPI_IDLE_AFTER_GAPS, is not
 * there.
 * unit: s
 * trades: larger, plans are made for who has gone; smaller, a long computation is taken
 * for the end
 * shown by: build/release/tests/test_advisor
 * chosen on: not measured */
#define ESPI_IDLE_AFTER_S 300

/* The same in gaps between its calls.
 * unit: gaps
 * trades: as ESPI_IDLE_AFTER_S
 * shown by: build/release/tests/test_advisor
 * chosen on: not measured */
#define ESPI_IDLE_AFTER_GAPS 20

/* ---- plans ---- */

/* A new plan has to take less than this part of the last one to be worth the change.
 * unit: 1
 * trades: larger, plans change for nothing, and connections have to be made; smaller,
 * good plans are missed
 * shown by: bench/adapt; espalier reproduce adaptive
 * chosen on: not measured */
#define ESPI_WORTH_IT 0.97

/* So many turns of planning a link of a plan, or of its rival, is probed more often.
 * unit: turns
 * trades: larger, probes are spent on old plans; smaller, the links that count are
 * probed no more than others
 * shown by: build/release/tests/test_probe_planner
 * chosen on: not measured */
enum { ESPI_MARK_TURNS = 12 };

/* So many paths are looked at for the next probe.
 * unit: paths
 * trades: larger, processor time; smaller, stale links are found later
 * shown by: build/release/tests/test_probe_planner
 * chosen on: not measured */
enum { ESPI_PROBE_TRIES = 64 };

/* On more hosts, probes run between so many of them.
 * unit: hosts
 * trades: larger, memory grows by the square; smaller, links are never probed
 * shown by: build/release/tests/test_probe_planner
 * chosen on: not measured */
enum { ESPI_PROBED_HOSTS_MAX = 256 };

/* Networks around the believed one on which a plan must be good.
 * unit: networks
 * trades: larger, fewer plans are tried in the time there is; smaller, plans that are
 * good only if all is as believed
 * shown by: bench/adapt; espalier reproduce adaptive
 * chosen on: not measured */
enum { ESPI_SCENES = 4 };

/* Where no forecast is more wrong, the believed network alone counts.
 * unit: relative
 * trades: larger, plans that are good only if all is as believed; smaller, time for
 * networks that are all alike
 * shown by: bench/adapt; espalier reproduce adaptive
 * chosen on: not measured */
#define ESPI_SCENES_FROM 0.01

/* These networks differ by up to so many times the error of the forecasts.
 * unit: 1
 * trades: larger, plans for networks that never are; smaller, as ESPI_SCENES_FROM
 * shown by: bench/adapt; espalier reproduce adaptive
 * chosen on: not measured */
#define ESPI_SCENES_SPREAD 1.5

/* Plans that are tried on all of them.
 * unit: plans
 * trades: larger, fewer plans are made in the time there is; smaller, robust plans are
 * missed
 * shown by: bench/adapt; espalier reproduce adaptive
 * chosen on: not measured */
enum { ESPI_FINALISTS = 4 };

/* Each longer search may take this part of the budget.
 * unit: 1
 * trades: larger, the last searches get nothing; smaller, none comes to an end
 * shown by: bench/adapt; espalier reproduce adaptive
 * chosen on: not measured */
#define ESPI_SEARCH_PART 0.4

/* Between calls that follow close on each other a plan may still take so long.
 * unit: s
 * trades: larger, plans that come too late for the next call; smaller, plans of no search
 * at all
 * shown by: bench/adapt; espalier reproduce adaptive
 * chosen on: not measured */
#define ESPI_BUDGET_LEAST_S 0.01

/* On networks of more links no search ends in time: only kinds that need none take part.
 * unit: links
 * trades: larger, no plan in a minute; smaller, plain plans where searches would end
 * shown by: bench_speed
 * chosen on: 1,000 hosts in 40 clusters, for which no plan was made in a minute before
 * (docs/adapt.md) */
enum { ESPI_ADVISOR_LARGE = 250000 };

/* On networks of more links not all plans that there are are weighed, only those of the
 * kinds that are made at once.
 * unit: links
 * trades: larger, plans that come minutes late; smaller, plans of one tree where several
 * are faster
 * shown by: bench_speed
 * chosen on: 64 hosts, all joined, for which it takes 1 to 2.5 s */
enum { ESPI_THOROUGH_LINKS = 10000 };

/* Beliefs that differ by no more are the same: what was said stands, and nobody plans
 * anew.
 * unit: 1
 * trades: larger, plans lag behind small changes; smaller, processor time after every
 * call
 * shown by: bench_regret
 * chosen on: not measured */
#define ESPI_SAME_BELIEF 0.03

/* The same for what messages take of hosts, as a part of it.
 * unit: 1
 * trades: as ESPI_SAME_BELIEF
 * shown by: bench/adapt
 * chosen on: not measured */
#define ESPI_SAME_MESSAGES 0.2

/* While no application calls, plans are made for messages of 2^this bytes on.
 * unit: power of two
 * trades: larger, short messages have no plan at first; smaller, plans for what never
 * comes
 * shown by: build/release/tests/test_advisor
 * chosen on: not measured */
enum { ESPI_IDLE_FIRST = 10 };

/* Up to 2^this bytes.
 * unit: power of two
 * trades: as ESPI_IDLE_FIRST
 * shown by: build/release/tests/test_advisor
 * chosen on: not measured */
enum { ESPI_IDLE_LAST = 21 };

/* Calls that predictions of the next one look at.
 * unit: calls
 * trades: larger, a program that changes is predicted wrongly for longer; smaller, by
 * chance
 * shown by: build/release/tests/test_advisor
 * chosen on: not measured */
enum { ESPI_CALL_HISTORY = 10 };

/* A link that is believed to have so much of its nominal rate is not heard of again when
 * a probe finds it free.
 * unit: 1
 * trades: larger, beliefs change for nothing; smaller, small loads that have passed stay
 * believed
 * shown by: build/release/tests/test_probe_planner
 * chosen on: not measured */
#define ESPI_AS_GOOD 0.99

#endif
