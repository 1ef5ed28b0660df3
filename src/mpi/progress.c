/* Where the library makes progress it calls us, so that non-blocking calls go on whatever
 * the program waits for.
 *
 * Open MPI lets libraries ask for that. MPICH does not show what it has of the kind, but
 * its UCX device polls, in each round of whatever call waits, through a function of
 * another library: one of that name in front of it is called instead. There the device's
 * own work on what has come is done, so that calls of MPI are as good as in any schedule
 * of its own; unless threads are about, when it holds a lock. Others may use UCX, too, in
 * threads of their own: only what MPICH polls counts, and only on the thread that may
 * call MPI, if there is but one. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "mpi/shim.h"

#ifdef OPEN_MPI

static int ask_variable(const char *name)
{
    int (*function)(int (*)(void));
    *(void **)&function = dlsym(RTLD_DEFAULT, name);
    return function && function(espi_progress) == 0 ? 0 : -1;
}

int espi_progress_begin(void)
{
    return ask_variable("opal_progress_register");
}

void espi_progress_end(void)
{
    ask_variable("opal_progress_unregister");
}

void espi_progress_sleep(void)
{
}

#else

typedef unsigned poll_fn(void *);

unsigned ucp_worker_progress(void *worker);

enum { WORKERS = 8 }; /* limit: of more none is polled */

static _Atomic(poll_fn *) next;
/* What MPICH polls, found by a look at how it does it: in `looking`, then never again. */
static void *workers[WORKERS];
static int n_workers, one_thread;
static pthread_t thread;
static atomic_int state;
enum { ASLEEP, LOOKING, AWAKE };

static poll_fn *find_next(void)
{
    poll_fn *found = atomic_load_explicit(&next, memory_order_relaxed);
    if (!found) {
        *(void **)&found = dlsym(RTLD_NEXT, "ucp_worker_progress");
        atomic_store(&next, found);
    }
    return found;
}

static int is_known(const void *worker)
{
    for (int i = 0; i < n_workers; i++)
        if (workers[i] == worker)
            return 1;
    return 0;
}

static void note_worker(void *worker)
{
    if (pthread_equal(thread, pthread_self()) && !is_known(worker) && n_workers < WORKERS)
        workers[n_workers++] = worker;
}

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker)
{
    poll_fn *poll = find_next();
    unsigned n_events = poll ? poll(worker) : 0;
    int now = atomic_load_explicit(&state, memory_order_acquire);
    if (now == LOOKING)
        note_worker(worker);
    else if (now == AWAKE && is_known(worker) &&
             (!one_thread || pthread_equal(thread, pthread_self())))
        espi_progress();
    return n_events;
}

/* Another device, or a library that is not shared, does not come by. */
int espi_progress_begin(void)
{
    int there, level;
    if (PMPI_Query_thread(&level) || level == MPI_THREAD_MULTIPLE)
        return -1;
    thread = pthread_self();
    one_thread = level != MPI_THREAD_SERIALIZED;
    n_workers = 0;
    atomic_store(&state, LOOKING);
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    atomic_store(&state, n_workers ? AWAKE : ASLEEP);
    return n_workers ? 0 : -1;
}

void espi_progress_end(void)
{
    atomic_store(&state, ASLEEP);
}

void espi_progress_sleep(void)
{
    atomic_store(&state, ASLEEP);
    espi_bypass("ucp_worker_progress", (void *)ucp_worker_progress, (void *)find_next());
}

#endif
