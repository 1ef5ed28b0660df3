/* gathered: an allreduce of short messages as an allgather: every host gets what all
 * have, and combines it itself. Nothing waits to be combined on its way, so that of the
 * way to a host and back one half is left: where sites are far apart, one crossing.
 *
 * Reference: R. Rabenseifner, Optimization of collective reduction operations, 2004,
 * whose recursive doubling has one way, too; here parts stay apart until they are there,
 * so that any allgather will do: of those by messages the one that is through first, as
 * ranks choose it (runtime/choice.h). Model: any. Guarantee: none; that of the allgather.
 * The plan is an allgather's, of as many times the message as there are hosts. Limit:
 * ESPI_GATHERED_BYTES in all. Complexity: that of those allgathers. */
#include "base/err.h"
#include "plan/ops.h"
#include "plan/plan.h"
#include "select/contest.h"
#include "select/tuning.h"

static esp_status check_size(double bytes, struct esp_err *err)
{
    return bytes > ESPI_GATHERED_BYTES
               ? espi_err(
                     err, ESP_EUNSUPPORTED,
                     "gathered is for short messages: hosts would get %.0f bytes, of "
                     "at most %d",
                     bytes, ESPI_GATHERED_BYTES)
               : ESP_OK;
}

/* The trees of the allgather, its steps and its size; the name stays that of the
 * allreduce. */
static void take_trees(struct esp_plan *plan, struct esp_plan *from)
{
    struct esp_plan old = *plan;
    plan->op = ESP_OP_ALLGATHER;
    plan->size_bytes = from->size_bytes;
    plan->slice_bytes = from->slice_bytes;
    plan->n_trees = from->n_trees;
    plan->trees = from->trees;
    from->n_trees = old.n_trees;
    from->trees = old.trees;
}

static esp_status run_gathered(const struct espi_task *task, struct esp_plan *plan,
                               struct esp_err *err)
{
    struct espi_contest c;
    struct esp_request request = *task->request;
    request.op = ESP_OP_ALLGATHER;
    request.size_bytes *= task->p->n_hosts;
    request.slice_bytes = ESP_SLICE_AUTO;
    esp_status st = check_size(request.size_bytes, err);
    if (st)
        return st;
    espi_contest_init(&c, task->p, &request, task->arena);
    st = espi_contest_enter_uses(&c, ESPI_USE_QUICK, 0, espi_contest_first_slices(&c),
                                 err);
    if (!st && (!c.best || !espi_plan_has_steps(c.best)))
        st = espi_err(err, ESP_EUNSUPPORTED, "no allgather by messages is the best here");
    if (!st)
        take_trees(plan, c.best);
    espi_contest_done(&c);
    return st;
}

const struct espi_algo espi_algo_gathered = {
    .name = "gathered",
    .family = "allreduce",
    .op = ESP_OP_ALLREDUCE,
    .models = ESPI_ALL_MODELS,
    .paper = "Rabenseifner 2004",
    .complexity = "that of allgathers by messages",
    .summary =
        "every host gets what all have, and combines it: one way for short messages",
    .run = run_gathered,
};
