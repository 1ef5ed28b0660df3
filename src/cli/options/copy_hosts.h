/* Lists of hosts, as `espalier cp` takes them. */
#ifndef ESPI_CLI_OPTIONS_COPY_HOSTS_H
#define ESPI_CLI_OPTIONS_COPY_HOSTS_H

#include <stddef.h>

struct cli_copy_host {
    char *name, *address;
};

struct cli_copy_hosts {
    struct cli_copy_host *host;
    int n;
    size_t room;
};

/* Adds the hosts of a list that an option gives: names with commas between them, n[1-3,7]
 * for several, or FILE or @FILE with a name and perhaps an address on each line. CLI_OK,
 * or a sentence on stderr and the code. */
int cli_copy_hosts_add(struct cli_copy_hosts *hosts, const char *option,
                       const char *list);
void cli_copy_hosts_done(struct cli_copy_hosts *hosts);

#endif
