/* What the fuzz targets of the readers share. */
#ifndef TESTS_FUZZ_READER_H
#define TESTS_FUZZ_READER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "platform/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read must survive being written and read again; what was refused must have
 * been refused with one sentence, and must have left no platform behind. */
static inline void judge(esp_status status, struct esp_platform *p,
                         const struct esp_err *err)
{
    if (status != ESP_OK) {
        if (p || err->status != status || !err->text[0] || strchr(err->text, '\n') ||
            strnlen(err->text, sizeof err->text) == sizeof err->text)
            abort();
        return;
    }
    char *text = NULL;
    size_t length = 0;
    struct esp_platform *again = NULL;
    struct esp_err why = {0};
    FILE *out = open_memstream(&text, &length);
    if (!out || esp_platform_write_stream(p, out, &why) || fclose(out) ||
        espi_read_json(text, length, "again", &again, &why) ||
        !esp_platform_equal(p, again)) {
        fprintf(stderr, "round trip: %s\n%s\n", why.text, text);
        abort();
    }
    esp_platform_free(again);
    esp_platform_free(p);
    free(text);
}

/* The whole target of a reader of one text. */
#define FUZZ_READER(read)                                                                \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                         \
    {                                                                                    \
        struct espi_source source = {                                                    \
            (const char *)data, size, "fuzz", ESP_MODEL_DEFAULT, NULL, 0, 0};            \
        struct esp_platform *p = NULL;                                                   \
        struct esp_err err = {0};                                                        \
        esp_status status = read(&source, &p, &err);                                     \
        judge(status, p, &err);                                                          \
        return 0;                                                                        \
    }

#endif
