/* What the experiments on trees share: a platform, several algorithms, the optimum. */
#ifndef ESPI_STUDY_PLATFORMS_H
#define ESPI_STUDY_PLATFORMS_H

#include <espalier/platform.h>
#include <espalier/status.h>

/* Throughput of each algorithm from the root in parts of the best that several trees can
 * have on the platform with one-port nodes. */
esp_status espi_study_ratios(const struct esp_platform *p, int root, int n_algos,
                             const char *const *algos, double *ratios,
                             struct esp_err *err);

#endif
