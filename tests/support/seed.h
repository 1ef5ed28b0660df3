/* The seeds of what tests draw. */
#ifndef TESTS_SUPPORT_SEED_H
#define TESTS_SUPPORT_SEED_H

#include <stdint.h>

/* n itself; or, where ESPALIER_TEST_SEED is set, a seed for n that no other value of it
 * gives. What a test draws is to pass with all of them (tools/seeds tries some); a test
 * that expects given bytes or a given example writes its seed as a number instead. */
uint64_t test_seed(uint64_t n);

/* How often to draw where each draw is judged by itself: n times, and a tenth of that
 * under a sanitizer, which looks for errors of memory and is several times slower. Where
 * ESPALIER_TEST_DRAWS is set, one of so many: tools/check does that for the second
 * compiler, whose plans tools/check-plans compares with those of the first. */
int test_draws(int n);

#endif
