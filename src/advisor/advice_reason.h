/* What the advisor says of itself, in words: resources by their names, what told of them,
 * and why a plan takes the place of another. */
#ifndef ESPI_ADVISOR_ADVICE_REASON_H
#define ESPI_ADVISOR_ADVICE_REASON_H

#include "advisor/advisor.h"

/* limit: of a sentence */
enum { ESPI_REASON_TEXT = 320 };

/* A cable by its name, what lies between two sites by theirs, else the ends of the link.
 * Names are as the platform has them: they are quoted before they reach a terminal. */
void espi_resource_name(const struct esp_platform *p, int resource, int first_link,
                        char *out, size_t size);

/* One sentence: why the plan is another than the last one for such messages. */
void espi_advice_explain(const struct espi_advisor *a, const struct espi_advice *advice,
                         char *out, size_t size);

#endif
