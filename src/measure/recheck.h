/* Does a platform still describe the network? What it says of its cables, and of links
 * that share none, is held to rounds in which each of them is what limits. All memory
 * comes from the arena. */
#ifndef ESPI_MEASURE_RECHECK_H
#define ESPI_MEASURE_RECHECK_H

#include "measure/platform_flows.h"
#include "measure/probe.h"

struct espi_recheck {
    const struct esp_platform *p;
    struct espi_platform_flows flows;
    int *target; /* resources that can be looked at: cables, then links without any */
    int n_targets;
    double *seen_Bps; /* of resources: what they carry when they limit, or -1 */
    int *times;       /* in so many rounds */
};

/* ESP_EINPUT where this platform cannot be held to the hosts of these samples. */
esp_status espi_recheck_digest(struct espi_recheck *c, const struct esp_platform *p,
                               const struct espi_samples *samples,
                               struct espi_arena *arena, struct esp_err *err);

/* Is its rate another than the platform says, as far as was seen? */
int espi_recheck_is_odd(const struct espi_recheck *c, int resource);
/* And more than once: a disturbance does not come again. */
int espi_recheck_is_off(const struct espi_recheck *c, int resource);
double espi_recheck_was_Bps(const struct espi_recheck *c, int resource);
int espi_recheck_count_off(const struct espi_recheck *c);
/* Those that are off, or not odd. */
int espi_recheck_count_seen(const struct espi_recheck *c);

/* Which rates are put right. */
enum espi_recheck_which { ESPI_RECHECK_RAISED, ESPI_RECHECK_ODD_ONES, ESPI_RECHECK_OFF };

/* The platform with the rates put right that are odd and too low, that are odd, or that
 * are off, without what it says of how it was measured. */
esp_status espi_recheck_correct(const struct espi_recheck *c,
                                enum espi_recheck_which which, struct esp_platform **out,
                                struct espi_arena *arena, struct esp_err *err);

/* The same as it is to be written: with ranges of what has changed, and with how well it
 * predicts the check samples. */
esp_status espi_recheck_update(const struct espi_recheck *c,
                               const struct espi_samples *samples,
                               struct esp_platform **out, struct espi_arena *arena,
                               struct esp_err *err);

/* Measures what is needed to tell, as samples; ESP_EINPUT as above. */
esp_status espi_probe_recheck(const struct espi_probe_driver *prober,
                              const struct esp_platform *p, struct espi_samples *samples,
                              struct esp_err *err);

#endif
