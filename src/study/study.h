/* Experiments: the tables and figures of the papers that this project grows out of,
 * computed anew. One file an experiment, with one `const struct espi_study` and one line
 * in study_list.def. */
#ifndef ESPI_STUDY_STUDY_H
#define ESPI_STUDY_STUDY_H

#include <stdint.h>

#include <espalier/status.h>

#include "report/findings.h"

/* What an experiment gets to work with. */
struct espi_study_run {
    int quick;     /* fewer repetitions */
    uint64_t seed; /* added to the seeds of all draws, and even: 0 gives those that are
                      printed in documents, and the networks of other seeds differ */
    struct espi_findings *findings;
    /* Told how many of how many jobs are done, from any thread; may be NULL. */
    void (*progress)(void *arg, size_t done, size_t total);
    void *progress_arg;
};

struct espi_study {
    const char *name;    /* "trees-random" */
    const char *figures; /* "fig4a fig4b fig5": what it makes, as the paper calls them */
    const char *paper;   /* authors, title, year */
    const char *title;
    const char *const *assumed; /* what the paper leaves open and what is taken here;
                                   ended by NULL */
    esp_status (*run)(const struct espi_study_run *run, struct esp_err *err);
};

const struct espi_study *const *espi_studies(int *count);

/* Jobs side by side with the progress of the run. The first failure of a job is returned
 * and the jobs after it are not started. */
esp_status espi_study_jobs(const struct espi_study_run *run, size_t n,
                           esp_status (*job)(void *arg, size_t i, struct esp_err *err),
                           void *arg, struct esp_err *err);

/* The same for jobs that fill in a row of a table each; the table is made in the
 * findings' arena. */
struct espi_study_table {
    size_t rows, width;
    double *cells; /* row by row */
    uint64_t seed; /* of the run */
    void *arg;     /* the experiment's own */
};

esp_status
espi_study_fill(const struct espi_study_run *run, struct espi_study_table *table,
                esp_status (*fill_row)(const struct espi_study_table *table, size_t row,
                                       double *cells, struct esp_err *err),
                struct esp_err *err);

#endif
