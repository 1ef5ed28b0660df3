/* Files that belong to the program: libraries and programs built or installed with it. */
#ifndef ESPI_CLI_PARTS_H
#define ESPI_CLI_PARTS_H

#include <limits.h>

/* This program itself; 0, or -1. */
int cli_find_self(char out[PATH_MAX]);

/* The file, looked for in the folder of the build (relative to the program) and where
 * libraries and helping programs are installed; 0, or -1. */
int cli_find_part(const char *build_dir, const char *name, char out[PATH_MAX]);

#endif
