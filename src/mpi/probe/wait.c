#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "mpi/probe/probe.h"
#include "mpi/probe/tuning.h"

void give_up(const char *sentence)
{
    fprintf(stderr, "espalier: the probe cannot go on: %s\n", sentence);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void results_add(struct results *r, enum espi_sample_kind kind, int from, int to,
                 double value)
{
    if (espi_grow((void **)&r->at, &r->room, r->n + 1, sizeof *r->at))
        give_up("out of memory");
    r->at[r->n++] = (struct result){(int)kind, from, to, value};
}

void wait_begin(struct wait *w)
{
    w->since_s = espi_now_s();
    w->rest_s = ESPI_REST_FIRST_S;
}

void wait_on(struct wait *w, double spin_s, double most_s)
{
    if (espi_now_s() - w->since_s < spin_s) {
        sched_yield();
        return;
    }
    struct timespec rest = {0, (long)(w->rest_s * 1e9)};
    nanosleep(&rest, NULL);
    w->rest_s = fmin(w->rest_s * ESPI_REST_GROWS, most_s);
}

int wait_message(int rank, int tag, double spin_s, double most_s)
{
    struct wait w;
    MPI_Status status;
    int there = 0, size = 0;
    wait_begin(&w);
    for (;;) {
        MPI_Iprobe(rank, tag, MPI_COMM_WORLD, &there, &status);
        if (there)
            break;
        wait_on(&w, spin_s, most_s);
    }
    MPI_Get_count(&status, MPI_BYTE, &size);
    return size;
}
