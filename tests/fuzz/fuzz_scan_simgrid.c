/* What of a SimGrid platform libsimgrid would get to see; libsimgrid itself is not run.
 */
#include "base/alloc.h"
#include "base/text.h"
#include "fuzz/reader.h"

/* Words that must not get through. In the values of attributes they may stand, so these
 * are taken out first. */
static void look_for_words(const char *text, size_t length)
{
    static const char *const words[] = {"config",  "include", "trace", "actor",
                                        "process", "!E",      "!A",    "!--",
                                        "![",      "_file",   "&"};
    char *tags = malloc(length + 1);
    size_t n = 0;
    int quoted = 0;
    for (size_t i = 0; tags && i < length; i++) {
        quoted ^= text[i] == '"';
        if (!quoted)
            tags[n++] = text[i];
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!tags || quoted || memmem(tags, n, words[i], strlen(words[i]))) {
            fprintf(stderr, "%s in\n%.*s\n", words[i], (int)length, text);
            abort();
        }
    free(tags);
}

static void look_at(const char *text, size_t length)
{
    char *again = NULL;
    size_t again_length = 0;
    struct esp_err err = {0};
    struct espi_source source = {text, length, "fuzz", ESP_MODEL_DEFAULT, NULL, 0, 0};
    look_for_words(text, length);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 && text[i] != '\n')
            abort();
    /* What was let through is let through again, and nothing of it changes. */
    if (espi_scan_simgrid(&source, &again, &again_length, &err) ||
        again_length != length || memcmp(text, again, length) != 0) {
        fprintf(stderr, "%s\n%.*s\n", err.text, (int)length, text);
        abort();
    }
    espi_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct espi_source source = {
        (const char *)data, size, "fuzz", ESP_MODEL_DEFAULT, NULL, 0, 0};
    struct esp_err err = {0};
    char *text = NULL;
    size_t length = 0;
    esp_status status = espi_scan_simgrid(&source, &text, &length, &err);
    if (status == ESP_OK)
        look_at(text, length);
    else if (text || err.status != status || !err.text[0] ||
             !espi_is_harmless_text(err.text, strlen(err.text)))
        abort();
    espi_free(text);
    return 0;
}
