/* What a terminal can do, and text that fits it. */
#ifndef ESPI_CLI_PRINTING_TERM_H
#define ESPI_CLI_PRINTING_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Call once, first. */
void cli_term_init(void);

/* Columns of standard output, within 40..100; 80 when it is no terminal. */
int cli_term_width(void);
/* May we print more than ASCII? */
bool cli_term_utf8(void);

/* Escape sequences, "" when the stream is no terminal or colour is unwanted. */
const char *cli_bold(FILE *stream) __attribute__((pure));
const char *cli_dim(FILE *stream) __attribute__((pure));
const char *cli_plain(FILE *stream) __attribute__((pure));

/* Columns that the text takes on a terminal. */
int cli_text_width(const char *text);

/* Prints text wrapped at width; the cursor is at column now, later lines start at
 * indent. Ends with a newline. */
void cli_wrap(FILE *out, const char *text, int column, int indent, int width);

/* ---- tables ---- */
enum { CLI_COLUMNS_MAX = 16 };

struct cli_column {
    const char *title;
    bool right; /* numbers */
};

struct cli_table {
    const struct cli_column *columns;
    int n_columns;
    char **cells; /* row after row, each from the heap */
    size_t n_cells, capacity;
    bool failed; /* out of memory: printing says so */
};

void cli_table_init(struct cli_table *t, const struct cli_column *columns, int n_columns);
void cli_table_done(struct cli_table *t);
/* Adds the next cell, row after row; control bytes are made harmless. */
void cli_table_add(struct cli_table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints; a header line when the columns have titles. -1 when out of memory. */
int cli_table_print(const struct cli_table *t, FILE *out, int indent);

/* ---- progress, on stderr, when it is a terminal and after the first second ---- */
/* total 0: nobody knows, the seconds are shown, and what cli_progress_found was told.
 * What starts within a bar that is there is a part of it, and leaves it as it is. */
void cli_progress_start(long long total, const char *label);
/* Of work that is over after so many seconds, which all in it leave as it is. */
void cli_progress_start_timed(double seconds, const char *label);
/* Of work that is asked, from another thread, which part of it is done. */
void cli_progress_start_asked(double (*part)(void *arg), void *arg, const char *label);
void cli_progress_update(long long done); /* from any thread */
/* As esp_request.progress: shows the completion time of the best plan so far. */
int cli_progress_found(void *unused, double elapsed_s, double best_s);
void cli_progress_end(void);
void cli_progress_stop(void); /* whatever it is a part of */

#endif
