/* Who watches over a long search: until when it may go on, who hears how it goes, and may
 * end it. One watch a thread, that of the innermost call; solvers far below look at it
 * without having it handed down. Where nobody watches, nothing hangs on the clock. */
#ifndef ESPI_BASE_WATCH_H
#define ESPI_BASE_WATCH_H

struct espi_watch {
    double start_s, stop_s; /* espi_now_s(); INFINITY: no end */
    double best_s;          /* of what was found so far; 0: nothing */
    int over;
    /* Not 0: end soon. NULL: nobody is told. */
    int (*ask)(void *arg, double elapsed_s, double best_s);
    void *arg;
    struct espi_watch *outer;
};

/* budget_s of 0: as long as it takes. Within another watch no later than that one, and
 * over when that one is. The watch is the caller's until espi_watch_end(). */
void espi_watch_begin(struct espi_watch *w, double budget_s,
                      int (*ask)(void *arg, double elapsed_s, double best_s), void *arg);
void espi_watch_end(struct espi_watch *w);

/* By when to stop, by the innermost watch; INFINITY. */
double espi_watch_stop_s(void);
/* Is the time over, or was the end asked for? Tells who asked for it how things are. */
int espi_watch_is_over(void);
/* Something was found that is worth this much. */
void espi_watch_found(double best_s);
/* Is it over, and is there something to be given? */
int espi_watch_may_leave(void);

#endif
