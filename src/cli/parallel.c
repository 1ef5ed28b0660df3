#include "cli/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cli/term.h"

enum { THREADS_MAX = 64 };

struct jobs {
    size_t n;
    void (*job)(void *arg, size_t i);
    void *arg;
    atomic_size_t next, done;
};

static void *work(void *jobs)
{
    struct jobs *j = jobs;

    for (;;) {
        size_t i = atomic_fetch_add(&j->next, 1);
        if (i >= j->n)
            return NULL;
        j->job(j->arg, i);
        cli_progress_update((long long)atomic_fetch_add(&j->done, 1) + 1);
    }
}

/* This thread works too: a thread that cannot be had is not missed. */
void cli_parallel(size_t n, void (*job)(void *arg, size_t i), void *arg, const char *what)
{
    struct jobs jobs = {.n = n, .job = job, .arg = arg};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[THREADS_MAX];
    int started = 0;

    cli_progress_start((long long)n, what);
    while (started < THREADS_MAX && started + 1 < processors && (size_t)started + 1 < n &&
           pthread_create(&threads[started], NULL, work, &jobs) == 0)
        started++;
    work(&jobs);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    cli_progress_end();
}
