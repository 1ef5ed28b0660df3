/* What an MPI library would take for a call, by simulating what it does. */
#ifndef ESPI_NATIVE_PREDICT_H
#define ESPI_NATIVE_PREDICT_H

#include "native/table.h"

/* A library in a job: what it decides by, and how it sends there. */
struct espi_native_library {
    const struct espi_native_table *table;
    struct espi_protocol protocol;
};

/* Of a call on a team, rank i on host i; root is a node, size_bytes that of the message
 * as plans count it (esp_op). 0: it cannot be told. ESP_ENOMEM is the only failure. */
esp_status espi_native_predict(const struct espi_native_library *library,
                               const struct esp_platform *team, esp_op op, int root,
                               double size_bytes, double *native_s, struct esp_err *err);

/* The same of a scatter, gather or alltoall of parts of different sizes. */
esp_status espi_native_predict_unequal(const struct espi_native_library *library,
                                       const struct esp_platform *team, esp_op op,
                                       int root, double size_bytes, double *native_s,
                                       struct esp_err *err);

/* Limits for eager messages that a job has set, by the environment that its launcher has
 * made; what says nothing leaves the protocol as it is. get() gives the text of a
 * variable, or NULL. */
void espi_native_read_limits(const char *library, char *(*get)(const char *name),
                             struct espi_protocol *protocol);

#endif
