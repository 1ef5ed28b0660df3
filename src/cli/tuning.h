/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_CLI_TUNING_H
#define ESPI_CLI_TUNING_H

/* `compare` and `show` look for the bound so long; one found so far is a bound, too.
 * unit: s
 * trades: larger, waiting on large networks; smaller, plans seem further from the best
 * than they are
 * shown by: espalier compare, of 1,000 hosts
 * chosen on: not measured */
enum { CLI_BOUND_S = 10 };

/* `plan`, of which most want the plan alone, looks so long.
 * unit: s
 * trades: as CLI_BOUND_S
 * shown by: espalier plan, of 1,000 hosts
 * chosen on: not measured */
enum { CLI_PLAN_BOUND_S = 2 };

/* Of the time that `plan` is given so much goes into planning, the rest into bounds.
 * unit: part
 * trades: larger, better plans; smaller, bounds that are nearer to them
 * shown by: espalier plan --budget 5s, of 1,000 hosts
 * chosen on: not measured */
#define CLI_PLAN_PART 0.8

/* Of the time that `show` is given each of its plans gets so much, the bound as much of
 * what is left, and the comparison of algorithms the rest.
 * unit: part
 * trades: larger, better plans on the page; smaller, more of the comparison
 * shown by: espalier show --budget 5s, of 1,000 hosts
 * chosen on: not measured */
#define CLI_SHOW_PART 0.25

/* Progress bars count a bound, or an algorithm that solves linear programs, searches or
 * mixes trees, as so many algorithms that do not.
 * unit: algorithms
 * trades: larger, bars hurry at their end; smaller, they stand there
 * shown by: espalier compare, of 64 hosts, on a terminal
 * chosen on: broadcasts and allgathers on a network of the generator tiers, preset 65:
 * 20 ms to 3.9 s against 0.03 to 76 ms */
enum { CLI_HARD_COST = 10 };

/* Each step of a command gets at least this part of the time that the command is given.
 * unit: part
 * trades: larger, the time may be overrun; smaller, plans come without their gap
 * shown by: espalier plan --budget 5s, of 1,000 hosts
 * chosen on: not measured */
#define CLI_BUDGET_LEAST_PART 0.05

/* A companion, such as the advisor, has to end in this time when it is asked to.
 * unit: s
 * trades: larger, the user waits for a process that is stopped; smaller, the last
 * statistics of the advisor are lost
 * shown by: tests/terminal/signals
 * chosen on: derived from the advisor, which looks between two searches for a plan of 200
 * ms each (its --budget): with a processor shared by 25 it still ends by itself */
#define CLI_END_S 5.0

/* A companion that ends by itself is given up after so many times in a row.
 * unit: times
 * trades: larger, minutes of trying what is broken; smaller, given up for a passing
 * trouble
 * shown by: build/release/tests/test_retry; tests/terminal/restarts
 * chosen on: not measured */
enum { CLI_TRIES = 8 };

/* What ran for so long could start, and no wait before another try is longer.
 * unit: s
 * trades: larger, an advisor that was mended comes back late; smaller, one that ends
 * again and again is never given up
 * shown by: build/release/tests/test_retry; tests/terminal/restarts
 * chosen on: not measured */
enum { CLI_RETRY_S = 60 };

/* Without news the advisor looks a plan over again as often.
 * unit: s
 * trades: larger, forecasts that change with time are not used; smaller, processor time
 * shown by: bench/adapt
 * chosen on: not measured */
#define CLI_REVIEW_S 5.0

/* With probers, whether a probe is due is looked at as often.
 * unit: ms
 * trades: larger, short gaps between calls are missed; smaller, processor time
 * shown by: bench/adapt
 * chosen on: not measured */
enum { CLI_PROBE_LOOK_MS = 20 };

/* After the last sample the ranks of a measurement must be gone in this time.
 * unit: s
 * trades: larger, waiting for a launcher that hangs; smaller, launchers that end slowly
 * are killed
 * shown by: espalier measure
 * chosen on: not measured */
enum { CLI_LEAVE_S = 10 };

#endif
