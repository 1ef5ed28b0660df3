/* A command that runs to its end while we wait, with a companion beside it, and signals
 * that end both in order. */
#ifndef ESPI_CLI_LAUNCHING_SUPERVISE_H
#define ESPI_CLI_LAUNCHING_SUPERVISE_H

/* From here on signals that would end this program wait until it looks at them: for
 * whoever makes what must not be left behind. Those that are ignored stay so. */
void cli_hold_signals(void);

struct cli_companion {
    const char **words; /* its command line, with room for one more word; NULL: none */
    int n;
    const char *name;  /* "the advisor" */
    const char *again; /* the word added when it is started after it failed */
};

/* Runs the command and gives its exit code; 128 and the signal that ended it. Signals
 * that came since cli_hold_signals, or come now, are passed on to it. The companion is
 * started anew when it ends before the command, and asked to end afterwards. */
int cli_supervise(const char *const *words, struct cli_companion *companion);

/* ---- when a companion is started again ---- */

struct cli_retry {
    int failures; /* in a row */
};

/* It ended as waitpid says, after so many seconds. How many to wait before the next
 * start; -1: there is no use in another. */
double cli_retry_wait(struct cli_retry *r, int status, double lived_s);

#endif
