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

/* Packets of a probe, a train of which the second half is timed.
 * unit: packets
 * trades: larger, probes disturb the application more; smaller, rates that noise decides
 * shown by: build/release/tests/test_prober; bench/adapt
 * chosen on: not measured */
enum { ESPI_TRAIN_PACKETS = 32 };

/* Their length.
 * unit: bytes
 * trades: larger, networks with tunnels cut them up; smaller, heads are most of what is
 * measured
 * shown by: build/release/tests/test_prober; bench/adapt
 * chosen on: not measured; what fits the usual 1,500 bytes with room for tunnels */
enum { ESPI_TRAIN_PACKET_BYTES = 1400 };

#endif
