/* Platforms of the kinds that plans are checked on. */
#ifndef TESTS_SUPPORT_KINDS_H
#define TESTS_SUPPORT_KINDS_H

#include <espalier/espalier.h>

/* 0 random, 1 hub, 2 tiers, 3 sites with cables or switches */
enum { KINDS = 4 };

/* How large they are. */
struct kind_shape {
    int nodes;                  /* of random, hub and tiers */
    double density;             /* of random */
    int sites, clusters, hosts; /* of sites */
    const char *preset;         /* of tiers, instead of nodes; or NULL */
};

esp_status kind_generate(int kind, const struct kind_shape *shape, uint64_t seed,
                         struct esp_platform **p);

/* Of about n hosts; sites of a few. */
struct kind_shape kind_small(int kind, int n, uint64_t seed);

/* A small one in a model; ends the test when there is no memory. */
struct esp_platform *kind_platform(int kind, int n, uint64_t seed, esp_model model);

/* What is planned on them: an operation by an algorithm, for all hosts or some. */
struct kind_case {
    esp_op op;
    const char *algo;
    int some; /* targets only */
};

/* A plan for a message of so many slices of KIND_SLICE_BYTES. */
enum { KIND_SLICE_BYTES = 100000 };
esp_status kind_plan_make(const struct esp_platform *p, const struct kind_case *c,
                          double slices, struct esp_plan **plan, struct esp_err *err);

/* The same; ends the test when there is none. */
struct esp_plan *kind_plan(const struct esp_platform *p, const struct kind_case *c,
                           double slices);

/* What a test covers, [PLATFORMS [KIND]] on its command line: so many platforms of each
 * kind, and of which kind; -1: of all. */
struct kind_scope {
    int platforms, only;
};

void kind_arguments(struct kind_scope *scope, int argc, char **argv);

/* A test of each model, which gets it as its state. */
extern esp_model kind_models[ESP_MODEL_COUNT];
#define KIND_TEST(f, model)                                                              \
    {                                                                                    \
#f ", " #model, f, NULL, NULL, &kind_models[model]                               \
    }
#define KIND_TESTS(f)                                                                    \
    KIND_TEST(f, ESP_MODEL_ONE_PORT), KIND_TEST(f, ESP_MODEL_HALF_DUPLEX),               \
        KIND_TEST(f, ESP_MODEL_MULTI_PORT), KIND_TEST(f, ESP_MODEL_CAPACITY)

#endif
