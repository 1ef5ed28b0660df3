/* What trials have shown, kept in a file (ESPALIER_LEARNED) for the next job: for each
 * team of ranks, operation, root and class of sizes the times of the MPI library's own
 * call and of a plan. Format: docs/formats.md. */
#ifndef ESPI_RUNTIME_LEARNED_H
#define ESPI_RUNTIME_LEARNED_H

#include <espalier/plan.h>
#include <stddef.h>

#include "runtime/trials.h"

struct espi_lesson {
    uint64_t team; /* a sum of the hosts of all ranks, in order, and of the MPI library */
    uint64_t plan; /* a sum of the plan */
    esp_op op;
    int root, size_class;
    uint64_t bytes; /* of the calls that were compared */
    struct espi_contender native, planned;
};

struct espi_learned {
    struct espi_lesson *lessons;
    size_t n, cap;
};

/* Nothing in *out on failure; ESP_EINPUT says where and why. */
esp_status espi_learned_parse(const char *text, size_t length, const char *where,
                              struct espi_learned *out, struct esp_err *err);

/* NULL: there is none. */
const struct espi_lesson *espi_learned_find(const struct espi_learned *l, uint64_t team,
                                            esp_op op, int root, int size_class);

/* In the place of what was known of the same; what is too much is left out. */
esp_status espi_learned_keep(struct espi_learned *l, const struct espi_lesson *lesson,
                             struct esp_err *err);

/* The file is there whole, or stays as it was. */
esp_status espi_learned_write(const struct espi_learned *l, const char *path,
                              struct esp_err *err);

void espi_learned_done(struct espi_learned *l);

/* Sums by which teams and plans are known again. */
uint64_t espi_text_sum(uint64_t sum, const char *text);
uint64_t espi_whole_plan_sum(const struct esp_plan *plan);

#endif
