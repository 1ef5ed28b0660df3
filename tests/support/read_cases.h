/* Tables of good and bad texts for the readers. */
#ifndef TESTS_SUPPORT_READ_CASES_H
#define TESTS_SUPPORT_READ_CASES_H

#include <stddef.h>

#include <espalier/platform.h>

#include "platform/readers.h"

typedef esp_status (*reader_fn)(const struct espi_source *source,
                                struct esp_platform **out, struct esp_err *err);

struct bad_text {
    const char *text, *cause; /* what the message must contain */
};

/* Reads text; the test fails when that fails. */
struct esp_platform *read_good(reader_fn read, const char *text);

/* The reader must refuse the text with ESP_EINPUT and one sentence that names the file
 * and contains the cause, and must leave its output alone. */
void read_bad(reader_fn read, const char *text, size_t length, const char *cause);
void read_bad_table(reader_fn read, const struct bad_text *table, size_t n);

/* Every allocation of reading the text fails in turn. */
void read_without_memory(reader_fn read, const char *text);

/* Asserts that the link is there and has these values. */
void assert_link(const struct esp_platform *p, const char *from, const char *to,
                 double latency_s, double bandwidth_Bps);

#endif
