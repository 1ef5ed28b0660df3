/* Where the library makes progress it calls us, so that non-blocking calls go on whatever
 * the program waits for.
 *
 * Open MPI lets libraries ask for that. MPICH does not show what it has of the kind, but
 * its UCX device polls, in each round of whatever call waits, through a function of
 * another library: one of that name in front of it is called instead. There the device's
 * own work on what has come is done, so that calls of MPI are as good as in any schedule
 * of its own; unless threads are about, when it holds a lock. */
#include <dlfcn.h>
#include <stdatomic.h>

#include "mpi/shim.h"

#ifdef OPEN_MPI

static int ask(const char *name)
{
    int (*function)(int (*)(void));
    *(void **)&function = dlsym(RTLD_DEFAULT, name);
    return function && function(espi_progress) == 0 ? 0 : -1;
}

int espi_progress_begin(void)
{
    return ask("opal_progress_register");
}

void espi_progress_end(void)
{
    ask("opal_progress_unregister");
}

void espi_progress_sleep(void)
{
}

#else

typedef unsigned poll_fn(void *);

unsigned ucp_worker_progress(void *worker);

static _Atomic(poll_fn *) next;
static atomic_uint n_rounds;

static poll_fn *find_next(void)
{
    poll_fn *found = atomic_load_explicit(&next, memory_order_relaxed);
    if (!found) {
        *(void **)&found = dlsym(RTLD_NEXT, "ucp_worker_progress");
        atomic_store(&next, found);
    }
    return found;
}

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker)
{
    poll_fn *poll = find_next();
    unsigned n_events = poll ? poll(worker) : 0;
    atomic_store_explicit(&n_rounds, 1, memory_order_relaxed);
    espi_progress();
    return n_events;
}

/* Another device, or a library that is not shared, does not come by. */
int espi_progress_begin(void)
{
    int there, level;
    if (PMPI_Query_thread(&level) || level == MPI_THREAD_MULTIPLE)
        return -1;
    atomic_store(&n_rounds, 0);
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    return atomic_load(&n_rounds) ? 0 : -1;
}

void espi_progress_end(void)
{
}

void espi_progress_sleep(void)
{
    espi_bypass("ucp_worker_progress", (void *)ucp_worker_progress, (void *)find_next());
}

#endif
