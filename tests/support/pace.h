/* How fast a long message gets through: by the simulator, and by the loads. */
#ifndef TESTS_SUPPORT_PACE_H
#define TESTS_SUPPORT_PACE_H

#include <espalier/espalier.h>

struct pace {
    double slices; /* of a message of n slices and as many more as make the round full */
    double makespan_s;
    double steady_Bps; /* of what half as many slices more take longer, to all hosts that
                          the plan sends to */
};

/* Simulates messages of at least n slices of the plan's; everything must arrive. */
struct pace pace_of(const struct esp_platform *p, const struct esp_plan *plan, double n);

/* The throughput that the loads of the resources allow: what bounds are about. In some
 * models no order of sends reaches it, and then the plan claims less. */
double load_Bps(const struct esp_platform *p, const struct esp_plan *plan);

/* When the message is through by the closed form of cost.h, by which searches judge. The
 * plan claims what the order of its sends comes to. */
double closed_finish_s(const struct esp_platform *p, const struct esp_plan *plan);

#endif
