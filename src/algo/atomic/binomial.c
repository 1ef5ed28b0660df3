/* Binomial tree over ranks: what MPI libraries do for short messages.
 *
 * Rank 0 is the root, the other hosts follow by number. Rank r hears from r without its
 * lowest bit; a sender serves the farthest rank first.
 * Reference: MPICH, MPIR_Bcast_intra_binomial. (MPI rotates the ranks so that the root is
 * 0; here the root moves to the front, as in the other algorithms over ranks.)
 * Model: equal links. Guarantee: ceil(log2 n) rounds there, none elsewhere.
 * Where there is no link between two ranks, the transfer is routed over a shortest path.
 * Complexity: O(m) when all links exist, else O(n m log n). */
#include "algo/atomic/ranks.h"

static esp_status run_binomial(const struct espi_task *task, struct esp_plan *plan,
                               struct esp_err *err)
{
    struct espi_transfers t;
    const int *hosts;
    esp_status st = espi_ranks_begin(task, &hosts, &t, err);
    if (!st)
        st = espi_add_binomial(&t, hosts, task->view->g.n, err);
    return st ? st : espi_transfers_plan(&t, plan, err);
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK | ESPI_USE_ADVISOR | ESPI_USE_ADVISOR_LARGE},
    {.use = 0},
};

const struct espi_algo espi_algo_binomial = {
    .name = "binomial",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .whole_message = 1,
    .paper = "MPICH",
    .complexity = "O(n m log n)",
    .summary = "the binomial tree of MPI libraries, in the order of the hosts' numbers",
    .uses = uses,
    .run = run_binomial,
};
