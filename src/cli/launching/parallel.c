#include "cli/launching/parallel.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "cli/launching/work_done.h"
#include "cli/printing/term.h"

struct run {
    const struct cli_jobs *jobs;
    pthread_mutex_t lock; /* of work */
    struct cli_work work;
};

static void run_one(void *arg, size_t i)
{
    struct run *r = arg;

    pthread_mutex_lock(&r->lock);
    cli_work_start(&r->work, i, espi_now_s());
    pthread_mutex_unlock(&r->lock);
    r->jobs->job(r->jobs->arg, i);
    pthread_mutex_lock(&r->lock);
    cli_work_end(&r->work, i, espi_now_s());
    pthread_mutex_unlock(&r->lock);
}

static double part_done(void *arg)
{
    struct run *r = arg;

    pthread_mutex_lock(&r->lock);
    double part = cli_work_part(&r->work, espi_now_s());
    pthread_mutex_unlock(&r->lock);
    return part;
}

/* Where there is no memory for it, without a bar. */
void cli_parallel(const struct cli_jobs *j)
{
    struct run r = {.jobs = j, .lock = PTHREAD_MUTEX_INITIALIZER};
    double *cost = ESPI_NEW(double, 2 * j->n + 1);

    if (!cost) {
        espi_parallel(&(struct espi_jobs){.n = j->n, .job = j->job, .arg = j->arg});
        return;
    }
    for (size_t i = 0; i < j->n; i++)
        cost[i] = (double)j->cost(j->arg, i);
    cli_work_init(&r.work, j->n, cost, cost + j->n);
    cli_progress_start_asked(part_done, &r, j->what);
    espi_parallel(&(struct espi_jobs){.n = j->n, .job = run_one, .arg = &r});
    cli_progress_end();
    espi_free(cost);
}
