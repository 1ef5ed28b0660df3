/* A collective that goes on by its plan while the program does something else (later.c).
 */
#ifndef ESPI_MPI_LATER_H
#define ESPI_MPI_LATER_H

#include <stdatomic.h>

#include "base/map.h"
#include "mpi/work.h"

enum { ESPI_UNTOLD_PLANS = 2 }; /* derived: for short messages, and for long ones */

struct espi_later {
    struct espi_later *next;
    const char *name;       /* for statistics; it stays */
    struct espi_work *work; /* ours, the collective's struct */
    struct espi_comm *c;
    struct espi_entry entry; /* a program of its own: the communicator's may change */
    struct espi_arena arena; /* of the run */
    struct espi_run run;
    struct espi_mpi_transport wire;
    struct espi_transport transport;
    struct espi_kept kept;
    int not_kept; /* why not all is */
    int lost;     /* why this rank takes part without data */
    int code_of_run;
    int first_tag, n_tags;
    int waits;       /* for some before it */
    uint64_t looked; /* when it was last found to: how many had ended */
    char algo[40];
    /* till the ranks have told each other sizes (untold.c): the plans that there are for
     * it, and the request of that */
    int is_untold;
    struct esp_plan *plans[ESPI_UNTOLD_PLANS];
    MPI_Request telling;
    /* This rank's part is over: completes the request. */
    void (*ended)(struct espi_later *p, int code);
    MPI_Request request;
    atomic_int code; /* other threads may end it, and read that */
    /* of persistent calls (persistent.c) */
    struct espi_map_item by_request;
    int n_uses; /* by the user's request, and by starts that have not ended */
};

/* With a program of its own, which has no tags yet; NULL: out of memory. Either way the
 * call is forgotten, here or with what was made. */
struct espi_later *espi_later_make(struct espi_work *w);
/* NULL: nothing. */
/* The same without a program, */
struct espi_later *espi_later_bare(struct espi_work *w);
/* which it gets here, for so many bytes; 0, or -1: out of memory. */
int espi_later_compile(struct espi_later *p, const struct esp_plan *plan, uint64_t bytes);
/* The tags that the program of an entry takes, or `least`, if that is more. */
int espi_later_count_tags(const struct espi_entry *e, int least);
void espi_later_free(struct espi_later *p);
void espi_later_tag(struct espi_later *p, int first);
/* Makes data and run ready; -1: out of memory. */
int espi_later_begin(struct espi_later *p);
/* From now on it goes on whenever the library makes progress. */
void espi_later_go(struct espi_later *p);
/* A non-blocking call: gives it tags and the user's request, begins it, if all is known
 * that it takes, and lets it go. What it lacks ends the job. MPI_SUCCESS. */
int espi_later_enter(struct espi_later *p, MPI_Request *request);

/* Has this rank heard all sizes? Then the call has begun. */
int espi_untold_hear(struct espi_later *p);

#endif
