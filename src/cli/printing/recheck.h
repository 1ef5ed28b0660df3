/* Whether a platform still describes the network, in words and in JSON. */
#ifndef ESPI_CLI_PRINTING_RECHECK_H
#define ESPI_CLI_PRINTING_RECHECK_H

#include "measure/recheck.h"

struct cli_recheck {
    const char *file;
    const struct espi_recheck *found;
    const struct esp_platform *right; /* the platform with what was found */
    const char *written;              /* where it was written to, or NULL */
};

/* Do the rates that were found explain what random sets of transfers got, or nearly as
 * well as when the file was measured? If there were few sets, or the network was under
 * load, nothing is held against them. */
int cli_recheck_explains(const struct cli_recheck *c);
/* Does the file describe the network as it is? */
int cli_recheck_holds(const struct cli_recheck *c);

/* Each gives CLI_OK, or what to exit with when it cannot print. */
int cli_print_recheck(const struct cli_recheck *c);
int cli_print_recheck_json(const struct cli_recheck *c);

#endif
