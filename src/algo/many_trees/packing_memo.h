/* The packing of trees of a task, solved once where several algorithms start from it. */
#ifndef ESPI_ALGO_MANY_TREES_PACKING_MEMO_H
#define ESPI_ALGO_MANY_TREES_PACKING_MEMO_H

#include "algo/algo.h"
#include "solve/packing.h"

/* As espi_packing_solve(), with the work limit of the task; 0: no limit of time. The
 * array of trees is the caller's to change. */
esp_status espi_task_packing(const struct espi_task *task, double time_limit_s,
                             struct espi_packing *out, struct esp_err *err);

#endif
