/* Combining Broadcast: hosts exchange all they have collected, with partners ever farther
 * away; those beyond a power of two are folded in before and after.
 *
 * Reference: M. Jacunski, P. Sadayappan, D. Panda, All-to-all broadcast on switch-based
 * clusters of workstations, 1999, of which only the idea (messages are combined) is
 * public: this is recursive doubling. Model: any. Guarantee: log2 n steps, two more where
 * n is no power of two. Complexity: O(n log n) messages.
 * Who meets whom first matters where hosts are unequal: by `order` hosts stand by number,
 * by speed (equals meet first), or fast and slow by turns (pairs of unequal ones first).
 */
#include "algo/allgather/doubling.h"
#include "algo/allgather/pairs.h"
#include "base/err.h"

/* Fastest, slowest, next fastest, next slowest, ... */
static void turns(const int *sorted, int n, int *order)
{
    for (int i = 0; i < n; i++)
        order[i] = sorted[i % 2 ? n - 1 - i / 2 : i / 2];
}

static esp_status run_combining(const struct espi_task *task, struct esp_plan *plan,
                                struct esp_err *err)
{
    struct espi_exchange x;
    esp_status st = espi_exchange_init(&x, task, err);
    if (st)
        return st;
    int *sorted = espi_hosts_by_speed(task, task->request->size_bytes / x.n);
    int *order = ESPI_ARENA_NEW(task->arena, int, x.n);
    if (!sorted || !order)
        return espi_err_nomem(err);
    for (int i = 0; i < x.n; i++)
        order[i] = task->option[0] == 1 ? sorted[i] : i;
    if (task->option[0] == 2)
        turns(sorted, x.n, order);
    st = espi_double(&x, order, err);
    return st ? st : espi_exchange_plan(&x, plan, err);
}

static const struct espi_algo_option options[] = {
    {"order", "number|speed|turns", 0, 0, 0,
     "hosts by number, fastest first, or fast and slow by turns"},
    {0},
};

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK, .max_hosts = ESPI_QUICK_ALLGATHER_HOSTS},
    {.use = 0},
};

const struct espi_algo espi_algo_combining = {
    .name = "combining",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .paper = "Jacunski, Sadayappan, Panda 1999",
    .complexity = "O(n log n)",
    .summary = "all a host has collected, with partners ever farther away",
    .options = options,
    .uses = uses,
    .run = run_combining,
};
