/* Any bytes, as they are shown in messages and written as JSON. */
#include <jansson.h>

#include "base/err.h"
#include "base/json_text.h"
#include "base/text.h"
#include "fuzz/reader.h"
#include "report/markup.h"

static void must(int holds)
{
    if (!holds)
        abort();
}

/* Nothing but what may be shown, and nothing past the end. */
static void check_quoted(const char *text, size_t size)
{
    char out[300];
    must(size <= sizeof out);
    memset(out, '#', sizeof out);
    espi_quote(out, size, text);
    must(strnlen(out, size) < size);
    must(espi_is_harmless_text(out, strlen(out)));
    for (size_t i = size; i < sizeof out; i++)
        must(out[i] == '#');
    espi_quote_end(out, size, text);
    must(strnlen(out, size) < size);
    must(espi_is_harmless_text(out, strlen(out)));
}

static void check_json(const char *text, void (*put)(FILE *, const char *))
{
    char *out = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&out, &length);
    must(f != NULL);
    put(f, text);
    must(fclose(f) == 0);
    must(espi_is_harmless_text(out, length));
    json_t *back = json_loads(out, JSON_DECODE_ANY, NULL);
    must(back && strcmp(json_string_value(back), text) == 0);
    json_decref(back);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    char *text = malloc(size);
    must(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    check_quoted(text, 1 + data[0]);
    struct esp_err err = {0};
    espi_err_fill(&err, ESP_EINPUT, "%s", text);
    must(espi_is_harmless_text(err.text, strlen(err.text)));
    if (espi_is_printable(text, strlen(text))) {
        check_json(text, espi_json_put_string);
        check_json(text, espi_markup_json_string);
    }
    must(espi_is_printable(text, strlen(text)) ||
         !espi_is_harmless_text(text, strlen(text)));
    free(text);
    return 0;
}
