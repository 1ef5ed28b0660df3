/* Checks a packing of trees against the platform, with none of the solver's code. */
#ifndef ESPI_BOUND_CERTIFICATE_H
#define ESPI_BOUND_CERTIFICATE_H

#include "solve/packing.h"

struct espi_certificate {
    double rate;  /* sum of the rates of the trees */
    double usage; /* of the busiest resource, at most 1 */
    double bound; /* what the prices prove: no plan has a higher rate */
    double gap;   /* bound / rate - 1 */
};

/* Is every tree a spanning tree from the root over paths of links that exist (switches
 * forward, hosts copy), no resource used by more than 1 + 1e-9 of its time, the sum of
 * the rates as said, and the bound what the prices prove, to within `gap` of the rate?
 * ESP_EINTERNAL and a sentence when not. */
esp_status espi_certificate_check(const struct espi_view *v, int root,
                                  const struct espi_packing *packing, double gap,
                                  struct espi_arena *arena, struct espi_certificate *out,
                                  struct esp_err *err);

#endif
