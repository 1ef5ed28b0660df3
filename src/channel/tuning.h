/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_CHANNEL_TUNING_H
#define ESPI_CHANNEL_TUNING_H

/* Between attempts of a rank or a prober to reach the advisor.
 * unit: s
 * trades: larger, probes begin late after an advisor was started anew; smaller, a
 * dead one costs processor time
 * shown by: tests/mpi/advisor
 * chosen on: not measured */
#define ESPI_RETRY_S 1.0

#endif
