/* What it takes that the ranks of a team agree on a number. */
#ifndef ESPI_RUNTIME_AGREEMENT_H
#define ESPI_RUNTIME_AGREEMENT_H

#include <espalier/platform.h>

/* Predicted: recursive doubling in the order of the ranks, which MPI libraries use for
 * short reductions. A pure function of its arguments. ESP_ENOMEM is the only failure. */
esp_status espi_predict_agreement(const struct esp_platform *team, double *out_s,
                                  struct esp_err *err);

#endif
