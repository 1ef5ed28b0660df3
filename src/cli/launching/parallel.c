#include "cli/launching/parallel.h"

#include <stdatomic.h>

#include "base/parallel.h"
#include "cli/printing/term.h"

struct run {
    const struct cli_jobs *jobs;
    atomic_size_t done; /* of all costs */
};

static void run_one(void *arg, size_t i)
{
    struct run *r = arg;
    const struct cli_jobs *j = r->jobs;

    j->job(j->arg, i);
    size_t cost = j->cost(j->arg, i);
    cli_progress_update((long long)(atomic_fetch_add(&r->done, cost) + cost));
}

void cli_parallel(const struct cli_jobs *jobs)
{
    struct run r = {.jobs = jobs};
    size_t total = 0;

    for (size_t i = 0; i < jobs->n; i++)
        total += jobs->cost(jobs->arg, i);
    cli_progress_start((long long)total, jobs->what);
    espi_parallel(&(struct espi_jobs){.n = jobs->n, .job = run_one, .arg = &r});
    cli_progress_end();
}
