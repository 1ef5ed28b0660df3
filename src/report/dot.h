/* A network and a plan over it in the language of Graphviz. */
#ifndef ESPI_REPORT_DOT_H
#define ESPI_REPORT_DOT_H

#include "report/picture.h"

/* what: a struct espi_picture. For espi_write_file. */
esp_status espi_dot_write(const void *what, FILE *out, struct esp_err *err);

#endif
