/* Lists of hosts, as batch systems write them: n1,n2, rack[01-04,7]-a, or @FILE. */
#ifndef ESPI_CLI_OPTIONS_HOSTS_H
#define ESPI_CLI_OPTIONS_HOSTS_H

#include <stddef.h>

#include <espalier/platform.h>

struct cli_hosts {
    char *text;    /* the names, each ended by '\0' */
    size_t *start; /* where each begins */
    int n;
    size_t used, text_room, start_room;
};

/* Adds the names of a list, with brackets spelled out, in its order. CLI_OK, or a
 * sentence that begins with `where`, and CLI_BAD_USAGE, or CLI_BAD_INPUT where @FILE is
 * wrong. */
int cli_read_hosts(struct cli_hosts *hosts, const char *list, const char *where);
/* The same without a word where it is wrong: 0, or -1. A file of hosts, as MPI launchers
 * read it, has a host at the beginning of each line. */
int cli_try_hosts(struct cli_hosts *hosts, const char *list);
int cli_try_hostfile(struct cli_hosts *hosts, const char *path);
const char *cli_host(const struct cli_hosts *hosts, int i);
void cli_hosts_done(struct cli_hosts *hosts);

/* The hosts of the platform that a list names, each once and in its order; espi_free
 * *nodes. A short name stands for a long one, and the other way round, where only one
 * fits. CLI_OK, or a sentence and CLI_BAD_INPUT. */
int cli_find_hosts(const struct esp_platform *p, const char *list, const char *where,
                   int **nodes, int *n);

#endif
