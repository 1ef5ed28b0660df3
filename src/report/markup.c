#include "report/markup.h"

#include <math.h>

#include "base/number.h"

void espi_markup_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '&')
            fputs("&amp;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c == '\'')
            fputs("&#39;", out);
        else
            putc(c < 0x20 && c != '\n' && c != '\t' ? '?' : c, out);
    }
}

void espi_markup_json_string(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c == '<' || c == '>' || c == '&')
            fprintf(out, "\\u%04x", c);
        else
            putc(c, out);
    }
    putc('"', out);
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
