/* The account of a series of experiments: one HTML page with plots, the numbers that were
 * published beside ours, and what was assumed. */
#ifndef ESPI_REPORT_STUDY_REPORT_H
#define ESPI_REPORT_STUDY_REPORT_H

#include "report/findings.h"

struct espi_study_report_entry {
    const char *name, *title, *paper;
    const char *const *assumed; /* ended by NULL */
    const struct espi_findings *findings;
    double took_s;
};

struct espi_study_report {
    const char *title;
    const char *setting; /* "quick: fewer repetitions"; or NULL */
    int n;
    const struct espi_study_report_entry *entries;
};

/* what: a struct espi_study_report. For espi_write_file. */
esp_status espi_study_report_write(const void *what, FILE *out, struct esp_err *err);

#endif
