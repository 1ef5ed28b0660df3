/* The packing of trees of a task, solved once where several algorithms start from it. */
#ifndef ESPI_ALGO_MANY_TREES_PACKING_MEMO_H
#define ESPI_ALGO_MANY_TREES_PACKING_MEMO_H

#include "algo/algo.h"
#include "solve/packing.h"

/* As espi_packing_solve(), with the work limit of the task; 0: no limit of time. The
 * array of trees is the caller's to change. */
esp_status espi_task_packing(const struct espi_task *task, double time_limit_s,
                             struct espi_packing *out, struct esp_err *err);

/* Does a slice of so many bytes take of every resource what one of the view does, but for
 * its size? So where latencies and overheads keep no resource busy: what is best does not
 * hang on the slices then. */
int espi_loads_alike(const struct espi_view *v, double slice_bytes,
                     struct espi_arena *arena);

#endif
