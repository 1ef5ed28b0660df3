/* Aligned tables for people. */
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "cli/term.h"

#define CELL_MAX 400

void cli_table_init(struct cli_table *t, const struct cli_column *columns, int n_columns)
{
    *t = (struct cli_table){.columns = columns, .n_columns = n_columns};
}

void cli_table_done(struct cli_table *t)
{
    for (size_t i = 0; i < t->n_cells; i++)
        espi_free(t->cells[i]);
    espi_free(t->cells);
    *t = (struct cli_table){0};
}

void cli_table_add(struct cli_table *t, const char *fmt, ...)
{
    char raw[CELL_MAX], clean[CELL_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    espi_quote(clean, sizeof clean, raw);
    char *copy = espi_strdup(clean);
    if (!copy ||
        espi_grow((void **)&t->cells, &t->capacity, t->n_cells + 1, sizeof *t->cells)) {
        espi_free(copy);
        t->failed = true;
        return;
    }
    t->cells[t->n_cells++] = copy;
}

static int column_width(const struct cli_table *t, int column)
{
    const char *title = t->columns[column].title;
    int width = title ? cli_text_width(title) : 0;

    for (size_t i = (size_t)column; i < t->n_cells; i += (size_t)t->n_columns) {
        int w = cli_text_width(t->cells[i]);
        width = w > width ? w : width;
    }
    return width;
}

static void print_cell(const struct cli_table *t, FILE *out, int column, int width,
                       const char *text)
{
    int pad = width - cli_text_width(text);
    bool last = column == t->n_columns - 1;

    if (t->columns[column].right)
        fprintf(out, "%*s%s", pad, "", text);
    else
        fprintf(out, "%s%*s", text, last ? 0 : pad, "");
    fputs(last ? "" : "  ", out);
}

int cli_table_print(const struct cli_table *t, FILE *out, int indent)
{
    int widths[16];
    int n = t->n_columns < 16 ? t->n_columns : 16;

    if (t->failed)
        return -1;
    for (int c = 0; c < n; c++)
        widths[c] = column_width(t, c);
    if (t->columns[0].title) {
        fprintf(out, "%*s%s", indent, "", cli_bold(out));
        for (int c = 0; c < n; c++)
            print_cell(t, out, c, widths[c], t->columns[c].title);
        fprintf(out, "%s\n", cli_plain(out));
    }
    for (size_t i = 0; i + (size_t)n <= t->n_cells; i += (size_t)n) {
        fprintf(out, "%*s", indent, "");
        for (int c = 0; c < n; c++)
            print_cell(t, out, c, widths[c], t->cells[i + (size_t)c]);
        fputc('\n', out);
    }
    return 0;
}
