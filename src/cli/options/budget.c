#include "cli/options/budget.h"

#include <math.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "cli/printing/term.h"
#include "cli/tuning.h"

void cli_budget_begin(struct cli_budget *b, const struct cli_args *args, double total_s,
                      const char *label)
{
    *b = (struct cli_budget){args->start_s, total_s};
    if (total_s > 0)
        cli_progress_start_timed(fmax(total_s - (espi_now_s() - b->start_s), 0), label);
}

void cli_budget_end(const struct cli_budget *b)
{
    if (b->total_s > 0)
        cli_progress_end();
}

static double left_s(const struct cli_budget *b)
{
    return b->total_s > 0 ? b->total_s - (espi_now_s() - b->start_s) : INFINITY;
}

double cli_budget_step_s(const struct cli_budget *b, double part, double most_s)
{
    if (!(b->total_s > 0))
        return most_s;
    return fmin(fmax(part * left_s(b), CLI_BUDGET_LEAST_PART * b->total_s), most_s);
}

/* limit: so that no share is 0, which is no limit. */
#define LEAST_SHARE_S 1e-6

double cli_budget_share_s(const struct cli_budget *b, size_t jobs_left)
{
    size_t side_by_side = espi_parallel_threads(jobs_left);

    if (!(b->total_s > 0))
        return 0;
    double share = (double)side_by_side / (double)(jobs_left ? jobs_left : 1);
    return fmax(fmin(share, 1) * left_s(b), LEAST_SHARE_S);
}

int cli_budget_is_over(const struct cli_budget *b)
{
    return left_s(b) <= 0;
}
