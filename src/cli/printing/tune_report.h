/* What `tune` has found: the files for MPI libraries, in words and in JSON. */
#ifndef ESPI_CLI_PRINTING_TUNE_REPORT_H
#define ESPI_CLI_PRINTING_TUNE_REPORT_H

#include "cli/options/native.h"
#include "native/tune.h"

struct cli_tuned_library {
    struct cli_library library;
    struct espi_tune *tune;
};

struct cli_tuning {
    const struct esp_platform *p;
    struct espi_tune_ask ask; /* but for the library */
    const char *output;       /* what names of files begin with; NULL: none are written */
    struct cli_tuned_library *tuned;
    size_t n, room;
};

/* Each gives CLI_OK, or a sentence on stderr and the exit code. */
int cli_write_tuning(const struct cli_tuning *r, const struct cli_tuned_library *t);
int cli_print_tuning(const struct cli_tuning *r);
int cli_print_tuning_json(const struct cli_tuning *r);

#endif
