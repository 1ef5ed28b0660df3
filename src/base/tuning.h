/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_BASE_TUNING_H
#define ESPI_BASE_TUNING_H

/* A process that is killed has to end in this time; then it is left alone.
 * unit: s
 * trades: larger, waiting for what the kernel does not end; smaller, processes that
 * nobody waits for
 * shown by: build/release/tests/test_child
 * chosen on: not measured */
#define ESPI_KILLED_S 2.0

/* The first block of an arena; each further one is larger.
 * unit: bytes
 * trades: larger, memory of short tasks; smaller, more calls of malloc
 * shown by: bench_speed
 * chosen on: not measured */
enum { ESPI_ARENA_BLOCK = 1 << 16 };

/* Bisections for the share of a new tree, on its exponent.
 * unit: steps
 * trades: larger, time a round; smaller, shares that are off, and more rounds
 * shown by: bench_speed; bench_bound
 * chosen on: not measured */
enum { ESPI_SOFTMAX_STEPS = 9 };

#endif
