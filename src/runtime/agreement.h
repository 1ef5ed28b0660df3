/* What it takes that the ranks of a team agree on a number. */
#ifndef ESPI_RUNTIME_AGREEMENT_H
#define ESPI_RUNTIME_AGREEMENT_H

#include <espalier/platform.h>

#include "native/predict.h"

/* Predicted: recursive doubling in the order of the ranks, which MPI libraries use for
 * short reductions. A pure function of its arguments. ESP_ENOMEM is the only failure. */
esp_status espi_predict_agreement(const struct esp_platform *team, double *out_s,
                                  struct esp_err *err);

/* What it takes that the ranks tell each other sizes, 8 bytes a rank: each to all, or the
 * root to all. By the MPI library, if it is known; else as agreeing does. */
esp_status espi_predict_telling(const struct esp_platform *team,
                                const struct espi_native_library *library, int all_tell,
                                int root, double *out_s, struct esp_err *err);

/* What a barrier of the MPI library's own takes: by dissemination, as in MPICH, and in
 * Open MPI among many ranks. */
esp_status espi_predict_barrier(const struct esp_platform *team, double *out_s,
                                struct esp_err *err);

/* The longest that a few bytes take over one link of the team. */
esp_status espi_longest_way(const struct esp_platform *team, double *out_s,
                            struct esp_err *err);

#endif
