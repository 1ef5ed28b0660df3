/* The sizes of slices that plans are weighed with, and what a slice costs beside its
 * bytes: the one list, and the one price. */
#ifndef ESPI_SELECT_SLICES_H
#define ESPI_SELECT_SLICES_H

#include <espalier/plan.h>
#include <espalier/platform.h>

#include "base/arena.h"

enum { ESPI_SLICE_SIZES_MAX = 64 };

/* For a message of so many equal parts that are not sent together: a whole part, then
 * smaller and smaller ones, each of which cuts a part into equal slices. Returns how many
 * there are. */
int espi_slice_sizes(double size_bytes, double parts,
                     double out_bytes[ESPI_SLICE_SIZES_MAX]);

/* derived: some of them for who cannot try all: the usual one, a quarter of it, the
 * whole. Returns how many there are. */
enum { ESPI_FEW_SLICES = 3 };
int espi_few_slices(double size_bytes, double out_bytes[ESPI_FEW_SLICES]);

/* The one of them that algorithms plan for first. */
double espi_usual_slices(double size_bytes, double parts);

/* What each message takes of a host's time beside its bytes and latency: what the
 * platform says of the sends and receives of its slowest host, which may be 0: then it is
 * all in the latencies; 0 where the model counts that itself; where the platform says
 * nothing ESPI_MESSAGE_S, or the shortest latency where that is less. */
double espi_message_s(const struct esp_platform *p);

/* The messages that a host gets, the one that gets most: all slices, or what the steps of
 * the plan say. ESP_ENOMEM is the only failure. */
esp_status espi_messages(const struct esp_plan *plan, double size_bytes,
                         double slice_bytes, struct espi_arena *arena, double *out);

/* The finish and what messages cost together. Where a host does one thing at a time that
 * is their sum; where nothing but the network limits it (capacity) it handles some
 * messages while others travel, and both count as one part that overlaps does: more than
 * the larger of them, less than the sum. */
double espi_with_messages_s(const struct esp_platform *p, double finish_s,
                            double messages_s);

/* The same of a plan as it is, which is through by finish_s. ESP_ENOMEM is the only
 * failure. */
esp_status espi_plan_with_messages_s(const struct esp_platform *p,
                                     const struct esp_plan *plan, double finish_s,
                                     double *out);

#endif
