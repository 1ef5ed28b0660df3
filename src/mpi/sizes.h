/* Calls in which not all ranks know how large all parts are: only their root does, or
 * each rank for its own parts. The ranks tell each other before the call is decided on,
 * or, if it must not wait for that, before it goes on (untold.c). */
#ifndef ESPI_MPI_SIZES_H
#define ESPI_MPI_SIZES_H

#include "mpi/work.h"

/* Makes such a call, once it is open. The code. */
int espi_sizes_do(struct espi_work *w, const struct espi_manner *how);

/* The same, if it is not to wait: by a plan, or by the library. */
int espi_untold_do(struct espi_work *w, const struct espi_manner *how);

/* ---- what both do ---- */

/* Room for the sizes. Others wait for this rank: if there is none, the job ends. */
void espi_sizes_room(struct espi_work *w);

/* Fills in this rank's own, and tells them. usable: 0 if it has none, or they are wrong.
 * Ends the job if it cannot. */
void espi_sizes_tell(struct espi_work *w, int usable, const struct espi_manner *how);

/* Could all who should tell? Then all of so many bytes, and the largest, but for what
 * ranks have for themselves; 0: too many. All ranks find the same. */
int espi_sizes_came(const struct espi_work *w);
uint64_t espi_sizes_sum(const struct espi_work *w, uint64_t *largest);

/* ---- parts of different sizes ---- */

/* Are there arrays, and nothing below zero in them? */
int espi_counts_are_usable(const struct espi_counts *parts, int n);
/* The most that a rank has; 0: there are no arrays. */
MPI_Count espi_largest_count(const struct espi_counts *parts, int n);

/* The elements that come to a rank that has room for `count` of them, when it is told of
 * so many bytes; -1: they are more, or no whole elements. */
MPI_Count espi_count_told(MPI_Count count, MPI_Datatype type, uint64_t bytes);

#endif
