/* Which way is fastest, where a program makes the same call again and again: by trial.
 * One record for each communicator, operation, root and class of sizes; no MPI, no clock,
 * no memory of its own. It says who runs a call, and learns what all ranks have agreed
 * on. All that it does follows from the numbers of calls and from what it was told, so
 * that ranks that are told the same do the same.
 *
 * Times are intervals. A call is charged with at most what the rank that was in it
 * longest took (`high_s`: from there on nobody can have been faster), and with at least
 * what passed between the coming of the last rank and the leaving of the last (`low_s`).
 * Ranks that come late make the interval wide instead of the contender slow: one way is
 * judged slower than another only if its low is above the other's high. Where intervals
 * stay wide the verdict may be wrong, by less than what the ranks wait for each other.
 *
 * What trials may cost is bounded: the extra time, predicted before a trial and corrected
 * after it, stays within an allowance that grows with the calls (ESPI_TRIAL_FIRST,
 * ESPI_TRIAL_SHARE). So contenders of which little is expected are tried late or never,
 * and so are all where agreeing takes long beside the call itself.
 *
 * Literature: STAR-MPI (Faraj, Yuan, Lowenthal, ICS 2006) tries each algorithm a fixed
 * number of times, then watches the winner; ADCL (Gabriel, Huang, 2007) takes the maximum
 * over ranks and filters outliers. Both begin with nothing, and go through all. Here
 * predictions give the order, and successive elimination ends the trials. */
#ifndef ESPI_RUNTIME_TRIALS_H
#define ESPI_RUNTIME_TRIALS_H

#include <stdint.h>

/* limit: the MPI library's own, and three plans; samples that a median is taken of */
enum { ESPI_CONTENDERS = 4, ESPI_TRIAL_SAMPLES = 3 };

struct espi_call_time {
    double low_s, high_s;
};

struct espi_contender {
    double predicted_s;
    int n_tried; /* in all */
    int n_times; /* that it was tried since trials began, of which the last are kept */
    struct espi_call_time time[ESPI_TRIAL_SAMPLES];
    int n_far; /* that it was twice as slow as the best */
};

struct espi_trials {
    int n; /* contenders, the one that is predicted to be best first */
    struct espi_contender contender[ESPI_CONTENDERS];
    int favourite;
    int round;            /* of trials; 0: the verdict stands */
    int untold;           /* the first has run, and its time was not told yet */
    int n_drifts;         /* looks at the favourite in a row that found it changed */
    uint64_t calls;       /* so far */
    uint64_t look;        /* the call at which the favourite is looked at again */
    uint64_t relook, gap; /* the call at which others are, and how far it was */
    double agree_s;       /* what it costs that the ranks agree on the time of a call */
    double spent_s;       /* beyond what the favourite would have taken */
};

/* predicted_s: of n contenders, by the order in which they are to be tried; agree_s: what
 * agreeing costs. */
void espi_trials_init(struct espi_trials *t, int n, const double *predicted_s,
                      double agree_s);

/* Who runs a call, and whether its time is to be agreed on and told. */
struct espi_turn {
    int contender;
    int timed;
};

/* The next call. Times of calls before it that were to be told have been told, but for
 * that of the first: it may come with that of the second, so that a program with one call
 * pays nothing. */
struct espi_turn espi_trials_next(struct espi_trials *t);

/* What the call took. Numbers that are none count as none: the call was none that counts.
 */
void espi_trials_tell(struct espi_trials *t, int contender, struct espi_call_time time);

/* The same of a call in which connections may have been made that later ones find: what
 * such calls take is somewhere between what was predicted and what was seen. */
void espi_trials_tell_new(struct espi_trials *t, int contender,
                          struct espi_call_time time);

/* Calls are of another size from now on: the favourite stays, and is tried again. */
void espi_trials_renew(struct espi_trials *t);

/* Begins with what a run before has learned; then contenders have their times, and the
 * verdict stands. */
void espi_trials_resume(struct espi_trials *t);

/* What a contender takes, as far as is known: the median of what was seen, the lower one
 * of two; where nothing was, what was predicted. */
struct espi_call_time espi_contender_time(const struct espi_contender *c);

/* Is it never to be tried again? */
int espi_contender_is_out(const struct espi_contender *c);

/* How much slower the second is than the favourite, by what was seen; 0: not known. */
double espi_trials_margin(const struct espi_trials *t);

#endif
