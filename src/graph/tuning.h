/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_GRAPH_TUNING_H
#define ESPI_GRAPH_TUNING_H

/* A row of arcs that is scanned more often is sorted.
 * unit: scans
 * trades: time alone: the answer is the same
 * shown by: bench_graph_kernels
 * chosen on: not measured */
enum { ESPI_SCANS_MAX = 24 };

#endif
