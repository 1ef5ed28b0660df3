/* How long work will still take, from how far it has come. */
#ifndef ESPI_CLI_PRINTING_TIME_LEFT_H
#define ESPI_CLI_PRINTING_TIME_LEFT_H

struct cli_time_left {
    double part;  /* done when it was last estimated; 0: not yet */
    double end_s; /* when it is over by that estimate */
};

/* The seconds left after elapsed_s, of which part (0 to 1) is done; -1: not known, before
 * the first part is done and when the last estimate has run out.
 *
 * A new estimate is made only when more is done: while a long step goes on nothing is
 * learned of the rate, and the time counts down. It rises only when a step that was done
 * took longer than those before it, as it has to. */
double cli_time_left(struct cli_time_left *t, double elapsed_s, double part);

#endif
