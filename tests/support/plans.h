/* Plans as the tests of algorithms make and look at them. */
#ifndef TESTS_SUPPORT_PLANS_H
#define TESTS_SUPPORT_PLANS_H

#include <espalier/espalier.h>

/* A plan for a message of 1 byte in one piece; the test fails when there is none. */
struct esp_plan *plan_made(const struct esp_platform *p, const char *algo, int root);

/* The same, or NULL where the algorithm does not apply. */
struct esp_plan *plan_tried(const struct esp_platform *p, const char *algo, int root);

/* When the last host has all, simulated with rates shared fairly; nothing may be lost. */
double fluid_s(const struct esp_platform *p, const struct esp_plan *plan);

/* "01 02 24": the transfers in the order of the plan; nodes of one digit. */
void plan_text(const struct esp_plan *plan, char *out);

/* Is every transfer a single link? */
int plan_is_direct(const struct esp_plan *plan);

/* The plan as JSON, with no time that planning took; free it. */
char *plan_json(const struct esp_plan *plan, const struct esp_platform *p,
                size_t *length);

#endif
