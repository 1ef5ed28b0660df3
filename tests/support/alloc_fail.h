/* Makes each allocation of a piece of work fail in turn. */
#ifndef TESTS_SUPPORT_ALLOC_FAIL_H
#define TESTS_SUPPORT_ALLOC_FAIL_H

#include <espalier/status.h>

/* The work: must free all that it makes, whether it succeeds or not, and return the
 * status of the function under test. */
typedef esp_status (*alloc_fail_fn)(void *arg);

/* Runs fn with its 1st, 2nd, 3rd, ... allocation failing (once with that one alone, once
 * with all later ones too; those of jansson count as well) until it runs to the end
 * undisturbed. Each disturbed run must return ESP_ENOMEM, the last one ESP_OK; under
 * AddressSanitizer nothing may have leaked. Returns the number of allocations that were
 * made to fail, or -1 after saying on stderr what went wrong. */
int alloc_fail_each(alloc_fail_fn fn, void *arg);

/* The same for work with very many allocations: each of the first ones, then one in every
 * tenth part further on. */
int alloc_fail_some(alloc_fail_fn fn, void *arg, long each_until);

#endif
