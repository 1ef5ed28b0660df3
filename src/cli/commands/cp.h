/* A copy as its command sees it, and what is printed of it. */
#ifndef ESPI_CLI_COMMANDS_CP_H
#define ESPI_CLI_COMMANDS_CP_H

#include "cli/command.h"
#include "cli/options/copy_hosts.h"
#include "copy/job.h"
#include "copy/known.h"
#include "live/board.h"
#include "live/server.h"

enum { CLI_RSH_WORDS = 48 }; /* limit */

struct cli_copy_page {
    struct espi_board *board; /* NULL: there is none */
    struct espi_server *server;
    int is_drawn;
    double shown_s;
};

struct cli_copy {
    const struct cli_args *args;
    char *list, *folder, *rsh_text;
    const char *stream_name; /* as --to has it, {host} and all */
    int is_stream;
    const char *rsh[CLI_RSH_WORDS + 1];
    char root[256];
    struct cli_copy_hosts hosts;
    struct esp_platform *p; /* given, or believed at the beginning */
    struct espi_known known;
    char *learned_path; /* NULL: nothing is kept */
    int n_learned;      /* hosts of which something was learned before */
    struct esp_plan *plan;
    int *targets;
    struct espi_copy_source source;
    struct espi_copy_job job;
    double bound_s; /* 0: not known */
    struct cli_copy_page page;
};

/* The hosts of --to and --relay, and where on each what is copied goes. CLI_OK, or a
 * sentence and the code. */
int cli_copy_read_target(struct cli_copy *c);
void cli_copy_forget_target(struct cli_copy *c);

/* The page of the copy, where --http asks for it; its address is said on stderr. CLI_OK,
 * or a sentence and the code. */
int cli_copy_page_open(struct cli_copy *c);
void cli_copy_page_show(struct cli_copy *c, const struct espi_copy_progress *now);
void cli_copy_page_close(struct cli_copy *c);

/* What earlier copies learned of the network, and from now on this one; a file that is
 * named must be good, another that is not is told of and left alone. */
int cli_copy_recall(struct cli_copy *c);
int cli_copy_count_learned(const struct cli_copy *c);
void cli_copy_keep_learned(const struct cli_copy *c);

/* The plan that --plan names, for the hosts of the copy; all: the platform that they are
 * of. CLI_OK, or a sentence and the code. */
int cli_copy_read_plan(struct cli_copy *c, const struct esp_platform *all);
/* What no plan for so many bytes can beat. */
int cli_copy_find_bound(struct cli_copy *c, double bytes);
/* Says what a copy would do. */
int cli_copy_show_plan(struct cli_copy *c);

/* What no plan can beat, where that is known of this copy: the network was described, and
 * all there is goes to all hosts. 0: it is not. */
double cli_copy_bound_s(const struct cli_copy *c);

int cli_copy_print_plan(const struct cli_copy *c);
/* A table of the hosts, or JSON; CLI_FAILED when some do not have it. */
int cli_copy_print(const struct cli_copy *c);
void cli_copy_print_progress(const struct cli_copy *c,
                             const struct espi_copy_progress *now);
void cli_copy_end_progress(void);

#endif
