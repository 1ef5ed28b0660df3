/* A preload for tests on MPICH with more ranks than cores: a rank that finds nothing to
 * do lets others run. MPICH polls through UCX without pause, so that a rank that waits
 * keeps the core for its whole time slice from the one it waits for: 8 ranks on 2 cores
 * run ten times faster with this. Open MPI has a setting for it, mpi_yield_when_idle. */
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*next)(void *); /* all threads find the same */
    if (!next)
        next = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned events = next(worker);
    if (events == 0)
        sched_yield();
    return events;
}
