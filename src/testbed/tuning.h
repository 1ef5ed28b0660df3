/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_TESTBED_TUNING_H
#define ESPI_TESTBED_TUNING_H

/* The largest packet that an interface of a testbed is given.
 * unit: bytes
 * trades: larger, short messages wait behind long ones; smaller, processor time a byte
 * shown by: tests/testbed; espalier testbed run
 * chosen on: not measured */
enum { ESPI_TESTBED_GSO_BYTES = 16384 };

/* What may pass a link at once; it must exceed the largest packet, or each is cut up in
 * software.
 * unit: bytes
 * trades: larger, short messages pass faster than the rate; smaller, the rate is not
 * reached
 * shown by: tests/testbed; espalier testbed run
 * chosen on: not measured */
enum { ESPI_TESTBED_PEAK_BYTES = 20000 };

/* What a bucket holds: a timer may come so late.
 * unit: s (at the rate)
 * trades: larger, a link that was idle gives away more than its rate; smaller, rate is
 * lost when a machine is busy
 * shown by: tests/testbed; espalier testbed run
 * chosen on: idle virtual machines, which are woken up to 10 ms late when their host is
 * busy */
#define ESPI_TESTBED_BURST_S 10e-3

/* The bucket is emptied so many times as fast as the rate.
 * unit: 1
 * trades: larger, what was saved up goes away at once; smaller, it is never made up for
 * shown by: tests/testbed; espalier testbed run
 * chosen on: not measured */
#define ESPI_TESTBED_PEAK_RATE 1.2

/* Bulk transfers have to be connected, and a delay line has to be ready, in this time.
 * unit: s
 * trades: larger, waiting for what is broken; smaller, large testbeds are given up on a
 * busy machine
 * shown by: tests/testbed; espalier testbed run
 * chosen on: not measured */
enum { ESPI_TESTBED_PATIENCE_S = 10 };

/* Who changes a testbed waits so long for another who does.
 * unit: s
 * trades: larger, waiting for a command that hangs; smaller, commands fail beside others
 * that take long
 * shown by: tests/testbed; espalier testbed run
 * chosen on: not measured */
enum { ESPI_TESTBED_LOCK_S = 30 };

/* Shorter latencies are not delayed: they are those of the machine.
 * unit: s
 * trades: larger, short latencies are too short; smaller, timers of the kernel make them
 * too long
 * shown by: tests/testbed; espalier testbed run
 * chosen on: not measured */
#define ESPI_GRID_DELAY_MIN_S 0.5e-3

/* A link that wires give so many times as fast as the platform says, or as slow, is told
 * of.
 * unit: 1
 * trades: larger, testbeds that are not the platform pass for it; smaller, warnings of
 * what measurements do not show
 * shown by: build/release/tests/test_testbed
 * chosen on: not measured */
#define ESPI_GRID_OFF 1.1

/* Bulk transfers go on so long after what is measured: ends are not.
 * unit: s
 * trades: larger, time; smaller, those that end first leave their rate to others
 * shown by: tests/testbed; espalier testbed run
 * chosen on: not measured */
#define ESPI_BULK_TAIL_S 0.2

/* Each transfer may take so long to be started before any begins.
 * unit: s
 * trades: larger, time; smaller, the first begin alone
 * shown by: tests/testbed; espalier testbed run
 * chosen on: not measured */
#define ESPI_BULK_START_S 0.01

#endif
