/* Filling struct esp_err. */
#ifndef ESPI_BASE_ERR_H
#define ESPI_BASE_ERR_H

#include <espalier/status.h>

#include "base/text.h"

/* Fills err (if any) with a sentence made as by printf. */
void espi_err_fill(struct esp_err *err, esp_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* What follows is inline so that compilers and analyzers see that the status returned is
 * the one given, and so know the way on from a failure. */
static inline esp_status espi_err_status(esp_status status)
{
    return status;
}

/* Fills err (if any) and returns status, so that `return espi_err(...)` reads well. */
#define espi_err(err, status, ...)                                                       \
    (espi_err_fill((err), (status), __VA_ARGS__), espi_err_status(status))

/* Puts "prefix: " in front of the text already in err. */
void espi_err_prepend(struct esp_err *err, esp_status status, const char *prefix);

static inline esp_status espi_err_prefix(struct esp_err *err, esp_status status,
                                         const char *prefix)
{
    espi_err_prepend(err, status, prefix);
    return status;
}

static inline esp_status espi_err_nomem(struct esp_err *err)
{
    return espi_err(err, ESP_ENOMEM, "out of memory");
}

#endif
