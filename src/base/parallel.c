#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

struct state {
    const struct espi_jobs *jobs;
    atomic_size_t next, done;
};

static void *worker_main(void *state)
{
    struct state *s = state;
    const struct espi_jobs *j = s->jobs;

    for (;;) {
        size_t i = atomic_fetch_add(&s->next, 1);
        if (i >= j->n)
            return NULL;
        j->job(j->arg, i);
        size_t done = atomic_fetch_add(&s->done, 1) + 1;
        if (j->progress)
            j->progress(j->progress_arg, done);
    }
}

size_t espi_parallel_threads(size_t n_jobs)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = processors < 1             ? 1
                  : processors > THREADS_MAX ? THREADS_MAX
                                             : (size_t)processors;

    return n_jobs < most ? n_jobs : most;
}

/* This thread works too: a thread that cannot be had is not missed. */
void espi_parallel(const struct espi_jobs *jobs)
{
    struct state state = {.jobs = jobs};
    size_t most = espi_parallel_threads(jobs->n), started = 0;
    pthread_t threads[THREADS_MAX];

    while (started + 1 < most &&
           pthread_create(&threads[started], NULL, worker_main, &state) == 0)
        started++;
    worker_main(&state);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}
