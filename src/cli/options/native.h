/* What MPI libraries would do, as commands are asked for it. */
#ifndef ESPI_CLI_OPTIONS_NATIVE_H
#define ESPI_CLI_OPTIONS_NATIVE_H

#include "cli/command.h"
#include "native/simulate.h"
#include "native/table.h"

#define CLI_EAGER_OPTION                                                                 \
    {                                                                                    \
        .name = "eager", .kind = CLI_SIZE,                                               \
        .help = "For MPI libraries: the longest message that is sent eagerly, without "  \
                "waiting for its receiver. Without it, the library's default for TCP."   \
    }

/* A library, with what it does by itself. */
struct cli_library {
    char name[16];
    struct espi_native_table *table;
};

/* Reads "openmpi" or "openmpi@4.1.4" of that many characters and its table; says on
 * stderr when that is another version's. Done with cli_library_done. CLI_OK, or a
 * sentence on stderr and the exit code. */
int cli_library_read(const char *text, size_t length, struct cli_library *out);
void cli_library_done(struct cli_library *library);

/* How the library sends, or as --eager says. */
struct espi_protocol cli_library_protocol(const struct cli_library *library,
                                          const struct cli_args *args);

/* What the library does for a call by default: fills in run->algo, with segments and fan-
 * out, and how it sends. CLI_OK, or a sentence that says why not and CLI_FAILED. */
int cli_library_choose(const struct cli_library *library, const struct cli_args *args,
                       const struct esp_platform *p, esp_op op,
                       struct espi_native_run *run, char *why, size_t why_size);

/* There is no algorithm of that name: says so on stderr, and gives CLI_BAD_USAGE. */
int cli_no_such_native(const struct cli_library *library, esp_op op, const char *name);

/* Has `simulate` nothing that is for plans, or is not simulated there? CLI_OK, or a
 * sentence on stderr and CLI_BAD_USAGE. */
int cli_check_native_options(const struct cli_args *args);

/* Reads LIBRARY[@VERSION]:OPERATION[:ALGORITHM]; without the last, the library chooses.
 * run has size_bytes and root already. CLI_OK, or a sentence on stderr and the exit code.
 */
int cli_parse_native(const char *text, const struct cli_args *args,
                     const struct esp_platform *p, struct espi_native_run *run);

#endif
