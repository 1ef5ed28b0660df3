/* Sizes of parts that the ranks tell each other before they decide whose a call is: those
 * that only its root knows, or each rank for itself. */
#ifndef ESPI_MPI_SIZES_H
#define ESPI_MPI_SIZES_H

#include "mpi/work.h"

/* Will the ranks tell each other for this call? All find the same. Collective over the
 * communicator the first time. */
int espi_sizes_are_told(struct espi_call *call);

/* The root's sizes, one a rank, to all. usable: on the root, 0 if it has none or they are
 * wrong. Does the root have some? All ranks find the same. */
int espi_sizes_of_root(const struct espi_call *call, uint64_t *sizes, int usable);

/* Each rank's sizes for each, rows of a table of which this rank has filled in its own.
 * Are all of them usable? All ranks find the same. */
int espi_sizes_of_all(const struct espi_call *call, uint64_t *sizes, int usable);

/* It has been decided whose the call is. */
void espi_sizes_noted(const struct espi_call *call);

/* Room for so many, which others wait for: none, and the job ends. */
uint64_t *espi_sizes_room(const struct espi_call *call, size_t n);

/* All of so many bytes, and the largest, but for what ranks have for themselves: the size
 * at `own` and each `step` behind it. 0: too many. */
uint64_t espi_sizes_sum(const uint64_t *sizes, size_t n, size_t own, size_t step,
                        uint64_t *largest);

/* Are there arrays, and nothing below zero in them? */
int espi_counts_are_usable(const struct espi_counts *parts, int n);
/* The most that a rank has; 0: there are no arrays. */
MPI_Count espi_largest_count(const struct espi_counts *parts, int n);

/* The elements that come to a rank that has room for `count` of them, when it is told of
 * so many bytes; -1: they are more, or no whole elements. */
MPI_Count espi_count_told(MPI_Count count, MPI_Datatype type, uint64_t bytes);

#endif
