/* Plans in which a host gets the same slice twice, to keep it and to pass it on for
 * another (their transfers lead over hosts, where there is no link), as plans in which
 * each host gets it once, and passes on what it keeps: agents know no others. */
#ifndef ESPI_COPY_ONCE_H
#define ESPI_COPY_ONCE_H

#include <espalier/plan.h>

/* Of a broadcast or multicast with a schedule. *plan is another one then, or stays as it
 * is where nobody gets anything twice. */
esp_status espi_copy_once(const struct esp_platform *p, struct esp_plan **plan,
                          struct esp_err *err);

#endif
