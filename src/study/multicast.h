/* One trial of the multicast experiment, for the study and for the benchmark. */
#ifndef ESPI_STUDY_MULTICAST_H
#define ESPI_STUDY_MULTICAST_H

#include <stdint.h>

#include <espalier/status.h>

enum { ESPI_MULTICAST_ALGOS = 8, ESPI_MULTICAST_SHARES = 7 };

extern const char *const espi_multicast_algos[ESPI_MULTICAST_ALGOS];
extern const double espi_multicast_shares[ESPI_MULTICAST_SHARES]; /* percent of targets */

struct espi_multicast_trial {
    /* by algorithm: its period in parts of the lower bound and of the scatter's */
    double to_bound[ESPI_MULTICAST_ALGOS], to_scatter[ESPI_MULTICAST_ALGOS];
    double plan_s[ESPI_MULTICAST_ALGOS]; /* of the processor, without a schedule */
    int trees[ESPI_MULTICAST_ALGOS];
};

/* All algorithms on a Tiers platform of that preset and number, from a LAN node drawn at
 * random to a share of the other LAN nodes; the targets of a smaller share are among
 * those of a larger one. */
esp_status espi_multicast_try(const char *preset, uint64_t platform, int share,
                              struct espi_multicast_trial *trial, struct esp_err *err);

#endif
