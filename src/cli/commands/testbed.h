/* What the commands of `espalier testbed` share. */
#ifndef ESPI_CLI_COMMANDS_TESTBED_H
#define ESPI_CLI_COMMANDS_TESTBED_H

#include "cli/command.h"
#include "testbed/testbed.h"

#define CLI_BED_OPTION                                                                   \
    {                                                                                    \
        .name = "name", .kind = CLI_STRING, .value = "NAME", .fallback = "grid",         \
        .help = "Which testbed; there may be several side by side."                      \
    }

/* Opens the testbed of --name, which must be whole. CLI_OK, or a sentence and the exit
 * code. */
int cli_open_testbed(const struct cli_args *args, struct espi_testbed *testbed);

extern const struct command cli_testbed_run, cli_testbed_exec;
extern const struct command cli_testbed_load, cli_testbed_cut, cli_testbed_rates;

#endif
