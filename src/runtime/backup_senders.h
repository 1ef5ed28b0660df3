/* For each rank of a broadcast a second one that can help when its parent is late. */
#ifndef ESPI_RUNTIME_BACKUP_SENDERS_H
#define ESPI_RUNTIME_BACKUP_SENDERS_H

#include <espalier/plan.h>
#include <espalier/platform.h>

/* By node: whom it may ask, -1: nobody. A pure function of its arguments. helper has room
 * for all nodes of the platform. ESP_EUNSUPPORTED: the plan is not of one tree, or of one
 * that carries all. */
esp_status espi_find_backup_senders(const struct esp_platform *p,
                                    const struct esp_plan *plan, double slice_bytes,
                                    int *helper, struct esp_err *err);

#endif
