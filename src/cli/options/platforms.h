/* What the commands share that read or write a platform. */
#ifndef ESPI_CLI_OPTIONS_PLATFORMS_H
#define ESPI_CLI_OPTIONS_PLATFORMS_H

#include <espalier/platform.h>

#include "cli/command.h"

/* --model, without a default: the platform's own. */
extern const char *const cli_model_names[];
#define CLI_MODEL_OPTION                                                                 \
    {                                                                                    \
        .name = "model", .letter = 'm', .kind = CLI_CHOICE, .value = "MODEL",            \
        .choices = cli_model_names,                                                      \
        .help = "What a node can do at the same time; overrides the platform."           \
    }

/* FILE, the positional argument of the commands that read one platform. */
extern const struct cli_positional cli_platform_file[];

/* Reads the platform of a file ("-": standard input), with --model when it is given.
 * CLI_OK, or a sentence on stderr and the exit code. */
int cli_read_platform(const struct cli_args *args, const char *path,
                      const struct esp_read_options *options, struct esp_platform **out);

/* Replaces *p by a copy with the model of --model, if any; frees *p on failure. */
int cli_apply_model(const struct cli_args *args, struct esp_platform **p);

/* Writes the platform where --output says. To a file, it also says so: on standard
 * output, in JSON when --json is given. */
int cli_write_platform(const struct cli_args *args, const struct esp_platform *p);

/* By name, else by number; -1: there is none. */
int cli_find_node(const struct esp_platform *p, const char *text);

/* The node of that name, or else of that number, which must reach every host. CLI_OK, or
 * a sentence that names the file and CLI_BAD_INPUT. */
int cli_find_root(const struct esp_platform *p, const char *path, const char *text,
                  int *root);

#endif
