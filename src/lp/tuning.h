/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_LP_TUNING_H
#define ESPI_LP_TUNING_H

/* A basis of more columns is not solved once more to round its solution.
 * unit: columns
 * trades: larger, time, by the third power; smaller, large programs may round differently
 * on other processors
 * shown by: build/release/tests/test_lp
 * chosen on: not measured */
enum { ESPI_KERNEL_MAX = 400 };

/* Rows and reduced costs may be violated by so much.
 * unit: of scaled programs
 * trades: larger, answers that are wrong by as much; smaller, programs that do not end
 * shown by: build/release/tests/test_lp; bench_bound
 * chosen on: not measured */
#define ESPI_LP_TOLERANCE 1e-9

#endif
