/* Running another program: its output in memory, no shell, no longer than it may. */
#ifndef ESPI_BASE_CHILD_H
#define ESPI_BASE_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include <espalier/status.h>

struct espi_child {
    char *out; /* what it wrote to standard output; espi_free */
    size_t out_length;
    char last_words[256]; /* the last line of its standard error, fit for a message */
    int exit_code;        /* -1 when a signal ended it */
    int signal;           /* 0: none */
    int timed_out;
};

/* Runs argv[0] (a path) with `in` as standard input (-1: nothing to read) and waits for
 * its end, which comes by force after timeout_s. ESP_OK whatever the program's exit code
 * is. */
esp_status espi_child_run(const char *const *argv, int in, double timeout_s,
                          struct espi_child *child, struct esp_err *err);

/* A file without a name that holds the text and never changes, fit for `in`; to be
 * closed. -1 and errno when there is none. */
int espi_child_text(const char *text, size_t length);
void espi_child_done(struct espi_child *child);

/* Waits for the end of a child of ours, which comes by force after that time: 1 if it was
 * needed. *how it ended is as waitpid tells, 0 where the program ignores SIGCHLD. It
 * never waits for much longer: a process that the kernel holds fast, so that it cannot
 * even be killed, is left to end when it can. */
int espi_child_reap(pid_t pid, double seconds, int *how);

#endif
