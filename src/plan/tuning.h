/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_PLAN_TUNING_H
#define ESPI_PLAN_TUNING_H

/* Slices are so much of a power of two: from such on, their headers counted, MPI
 * libraries wait for the receiver before they send (rendezvous).
 * unit: 1
 * trades: larger, headers no longer fit below the limit; smaller, more slices
 * shown by: bench/mpi
 * chosen on: the limits of Open MPI and MPICH over TCP and shared memory */
#define ESPI_SLICE_BELOW (127.0 / 128)

/* The slices that plans are made for, or made for first, where none are asked for: those
 * of every algorithm, so that what one finishes by can be held against what auto does.
 * unit: bytes
 * trades: the nearer to the best slices, the less is planned twice
 * shown by: bench_choice
 * chosen on: not measured */
#define ESPI_SLICE_USUAL (65536 * ESPI_SLICE_BELOW)

#endif
