/* Network namespaces: tools run in them, processes found in them, and their end. */
#ifndef ESPI_TESTBED_NETNS_H
#define ESPI_TESTBED_NETNS_H

#include <stddef.h>
#include <sys/types.h>

#include <espalier/status.h>

/* What is done in a namespace (NULL: here) by one child process: settings ("name value"
 * lines for /proc/sys/net) are written, then ip and tc are fed their lines. Any may be
 * NULL or empty. */
struct espi_netns_job {
    const char *space;
    const char *settings, *ip, *tc;
};

esp_status espi_netns_do(const struct espi_netns_job *job, struct esp_err *err);

/* Enters the namespace for good; 0, or -1 and errno. */
int espi_netns_enter(const char *space);
int espi_netns_exists(const char *space);

/* Ends all processes of these namespaces (but this one) and waits for their end; gives
 * how many there were. -1: some would not go. */
int espi_netns_clear(char *const *spaces, int n);
/* How many there are. */
int espi_netns_count(char *const *spaces, int n);
/* Takes the namespace's name away; with it goes all that is in it. 0, or -1. */
int espi_netns_remove(const char *space);

#endif
