#include "report/markup.h"

#include <math.h>
#include <string.h>

#include "base/json_text.h"
#include "base/number.h"
#include "base/text.h"

static const char *entity_of(uint32_t c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void espi_markup_text(FILE *out, const char *text)
{
    for (size_t n; *text; text += n) {
        uint32_t c = '?';
        n = espi_utf8(text, strnlen(text, 4), &c);
        const char *entity = entity_of(c);
        if (entity)
            fputs(entity, out);
        else if (n == 0 || (c < 0x20 && c != '\n' && c != '\t'))
            putc('?', out);
        else if (espi_is_harmless(c) || c == '\n' || c == '\t')
            fwrite(text, 1, n, out);
        else
            fprintf(out, "&#x%x;", (unsigned)c);
        n = n ? n : 1;
    }
}

void espi_markup_json_string(FILE *out, const char *text)
{
    espi_json_put_string_but(out, text, "<>&");
}

void espi_markup_json_number(FILE *out, double value)
{
    char text[ESPI_NUMBER_MAX];

    if (!isfinite(value)) {
        fputs("null", out);
        return;
    }
    espi_number_print(text, value);
    fputs(text, out);
}
