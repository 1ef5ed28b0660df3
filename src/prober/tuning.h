/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_PROBER_TUNING_H
#define ESPI_PROBER_TUNING_H

/* The advisor is told again who there is: another job may have ended.
 * unit: s
 * trades: larger, probes stop for longer; smaller, more notes
 * shown by: tests/mpi/advisor
 * chosen on: not measured */
#define ESPI_AGAIN_S 10.0

/* Between trains of one host, whoever orders them.
 * unit: s
 * trades: larger, changes are found later; smaller, a false advisor could flood the
 * network
 * shown by: build/release/tests/test_prober
 * chosen on: not measured */
#define ESPI_TRAIN_GAP_S 0.02

/* A train whose last packet is lost has ended.
 * unit: s
 * trades: larger, the next one waits; smaller, slow links seem to lose packets
 * shown by: build/release/tests/test_prober
 * chosen on: not measured */
#define ESPI_TRAIN_END_S 0.3

/* Between looks for the rank, where nobody tells of its end.
 * unit: ms
 * trades: larger, a prober outlives its rank; smaller, it takes processor time
 * shown by: build/release/tests/test_prober
 * chosen on: not measured */
enum { ESPI_RANK_MS = 1000 };

#endif
