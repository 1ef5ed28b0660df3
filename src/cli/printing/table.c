/* Aligned tables for people. */
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "cli/printing/term.h"

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

/* Cells of one row; nothing is printed after the last one that is not empty. */
static void print_row(const struct cli_table *t, FILE *out, const int *widths,
                      const char *const *cells)
{
    int n = t->n_columns;

    while (n > 0 && !*cells[n - 1])
        n--;
    for (int c = 0; c < n; c++) {
        int pad = widths[c] - cli_text_width(cells[c]);
        bool right = t->columns[c].right;
        fprintf(out, "%*s%s", right ? pad : 0, "", cells[c]);
        if (c < n - 1)
            fprintf(out, "%*s", (right ? 0 : pad) + 2, "");
    }
}

int cli_table_print(const struct cli_table *t, FILE *out, int indent)
{
    const char *titles[CLI_COLUMNS_MAX] = {NULL};
    int widths[CLI_COLUMNS_MAX];
    int columns = t->n_columns;

    if (t->failed || columns < 1 || columns > CLI_COLUMNS_MAX)
        return -1;
    for (int c = 0; c < columns; c++) {
        widths[c] = column_width(t, c);
        titles[c] = t->columns[c].title;
    }
    if (titles[0]) {
        fprintf(out, "%*s%s", indent, "", cli_bold(out));
        print_row(t, out, widths, titles);
        fprintf(out, "%s\n", cli_plain(out));
    }
    size_t n = (size_t)columns;
    for (size_t i = 0; i + n <= t->n_cells; i += n) {
        fprintf(out, "%*s", indent, "");
        print_row(t, out, widths, (const char *const *)t->cells + i);
        fputc('\n', out);
    }
    return 0;
}
