/* What must not be left behind even if this program is killed by force: names of files
 * and folders in memory that a second process shares, which waits for our end and takes
 * away what is still there. */
#ifndef ESPI_CLI_LAUNCHING_GUARD_H
#define ESPI_CLI_LAUNCHING_GUARD_H

#include "cli/launching/run_plan.h"

enum { CLI_FOLDER_MAX = 90 }; /* the name of a socket in it has 108 bytes */

/* Empty names stand for nothing. They are written here before what they name is made. */
struct cli_kept {
    struct cli_run_plan plan;
    char folder[CLI_FOLDER_MAX]; /* the advisor's */
};

/* Where the names go. Not wanted, or without means for a second process: memory of this
 * one alone. */
struct cli_kept *cli_guard_begin(bool wanted);

/* In a child that uses what is kept, before it becomes another program: what is kept
 * stays until the child, too, has ended. */
void cli_guard_join(void);

/* Takes it all away, now. */
void cli_kept_clean(struct cli_kept *kept);

/* Nobody waits for our end any more. */
void cli_guard_end(void);

#endif
