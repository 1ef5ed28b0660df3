#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "cli/launching/supervise.h"
#include "cli/tuning.h"

/* Somebody ended it, who need not be the one who would have to mend something. */
static int was_ended(int status)
{
    int by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) || by == SIGKILL ||
           by == SIGTERM || by == SIGINT || by == SIGHUP;
}

double cli_retry_wait(struct cli_retry *r, int status, double lived_s)
{
    if (was_ended(status) || lived_s >= CLI_RETRY_S)
        r->failures = 0;
    if (was_ended(status))
        return 1;
    if (++r->failures >= CLI_TRIES)
        return -1;
    return fmin(ldexp(1, r->failures - 1), CLI_RETRY_S);
}
