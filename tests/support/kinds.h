/* Platforms of the kinds that plans are checked on. */
#ifndef TESTS_SUPPORT_KINDS_H
#define TESTS_SUPPORT_KINDS_H

#include <espalier/espalier.h>

/* 0 random, 1 hub, 2 tiers, 3 sites with cables or switches */
enum { KINDS = 4 };

/* Of about n hosts; sites of a few. */
esp_status kind_generate(int kind, int n, uint64_t seed, struct esp_platform **p);

/* The same, in a model; ends the test when there is no memory. */
struct esp_platform *kind_platform(int kind, int n, uint64_t seed, esp_model model);

/* What is planned on them: an operation by an algorithm, for all hosts or some. */
struct kind_case {
    esp_op op;
    const char *algo;
    int some; /* targets only */
};

/* A plan for a message of so many slices of 100 kB; ends the test when there is none. */
struct esp_plan *kind_plan(const struct esp_platform *p, const struct kind_case *c,
                           double slices);

#endif
