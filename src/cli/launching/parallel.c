#include "cli/launching/parallel.h"

#include "base/parallel.h"
#include "cli/printing/term.h"

static void show_progress(void *arg, size_t done)
{
    (void)arg;
    cli_progress_update((long long)done);
}

void cli_parallel(size_t n, void (*job)(void *arg, size_t i), void *arg, const char *what)
{
    cli_progress_start((long long)n, what);
    espi_parallel(
        &(struct espi_jobs){.n = n, .job = job, .arg = arg, .progress = show_progress});
    cli_progress_end();
}
