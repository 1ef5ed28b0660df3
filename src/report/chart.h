/* A figure as a drawing: lines with marks over two axes, each perhaps logarithmic. */
#ifndef ESPI_REPORT_CHART_H
#define ESPI_REPORT_CHART_H

#include "report/findings.h"

/* An <svg> element; colours are those of espi_network_style. */
void espi_chart_write(const struct espi_figure *figure, FILE *out);

/* The same as a table, for who cannot see it and for who wants the numbers. */
void espi_chart_table(const struct espi_figure *figure, FILE *out);

extern const char espi_chart_style[];

/* A figure as a file of its own (SVG); what: a struct espi_figure. */
esp_status espi_chart_file_write(const void *what, FILE *out, struct esp_err *err);

#endif
