/* Network namespaces: tools run in them, processes found in them, and their end. */
#ifndef ESPI_TESTBED_SPACE_H
#define ESPI_TESTBED_SPACE_H

#include <stddef.h>
#include <sys/types.h>

#include <espalier/status.h>

/* What is done in a namespace (NULL: here) by one child process: settings ("name value"
 * lines for /proc/sys/net) are written, then ip and tc are fed their lines. Any may be
 * NULL or empty. */
struct espi_space_job {
    const char *space;
    const char *settings, *ip, *tc;
};

esp_status espi_space_do(const struct espi_space_job *job, struct esp_err *err);

/* Enters the namespace for good; 0, or -1 and errno. */
int espi_space_enter(const char *space);
int espi_space_exists(const char *space);

/* Ends all processes of these namespaces (but this one) and waits for their end; gives
 * how many there were. -1: some would not go. */
int espi_space_clear(char *const *spaces, int n);
/* How many there are. */
int espi_space_count(char *const *spaces, int n);
/* Takes the namespace's name away; with it goes all that is in it. 0, or -1. */
int espi_space_remove(const char *space);

#endif
