/* A preload for tests on MPICH with more ranks than cores: a rank that finds nothing to
 * do lets others run. MPICH polls through UCX without pause, so that a rank that waits
 * keeps the core for its whole time slice from the one it waits for: 8 ranks on 2 cores
 * run ten times faster with this. Open MPI has a setting for it, mpi_yield_when_idle.
 * Who finds nothing time and again sleeps between two looks: of 16 ranks most wait for
 * one that works, and were they to yield by turns, they would take most of the
 * processors' time from it and from the checks that run beside. With POLITE_YIELDS set
 * nobody sleeps. */
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* In vain before each pause: who asks for one after the other of a thousand messages,
 * which is not to wait, hardly pauses. */
enum { LOOKS = 64, PAUSE_NS = 20000 };

unsigned ucp_worker_progress(void *worker);

static void look_in_vain(int times)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (times % LOOKS || getenv("POLITE_YIELDS"))
        sched_yield();
    else
        nanosleep(&pause, NULL);
}

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*next)(void *);  /* all threads find the same */
    static _Thread_local int in_vain; /* looks since the last that found something */
    if (!next)
        next = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned events = next(worker);
    in_vain = events > 0 ? 0 : (in_vain + 1) % LOOKS;
    if (events == 0)
        look_in_vain(in_vain);
    return events;
}
