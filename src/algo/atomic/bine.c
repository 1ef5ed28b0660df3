/* Bine tree: a binomial tree whose partners lie to the right and left in turns.
 *
 * In each step every host that has the message sends it over a distance of 1 - 2 + 4 -
 * ... places, a term less each time, those of even rank to the right and those of odd
 * rank to the left: partners stay nearer than powers of two. Rank 0 is the root, the
 * other hosts follow by number; those too many for a power of two hear last. Reference:
 * D. De Sensi et al., Bine trees: enhancing collective operations by optimizing
 * communication locality, 2025. Model: equal links. Guarantee: ceil(log2 n) rounds there.
 * Complexity: O(m) when all links exist, else O(n m log n). */
#include "algo/atomic/ranks.h"
#include "algo/partners.h"
#include "base/err.h"

static esp_status run_bine(const struct espi_task *task, struct esp_plan *plan,
                           struct esp_err *err)
{
    struct espi_transfers t;
    int n = task->view->g.n;
    const int *hosts;
    struct espi_place_send *sends =
        ESPI_ARENA_NEW(task->arena, struct espi_place_send, n);
    esp_status st = sends ? espi_ranks_begin(task, &hosts, &t, err) : espi_err_nomem(err);
    if (st)
        return st;
    espi_grow_by_partners(espi_swing_partner, 0, n, sends);
    for (int i = 0; i < n - 1 && !st; i++)
        st = espi_transfers_add(&t, hosts[sends[i].from], hosts[sends[i].to], err);
    return st ? st : espi_transfers_plan(&t, plan, err);
}

const struct espi_algo espi_algo_bine = {
    .name = "bine",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .whole_message = 1,
    .paper = "De Sensi et al. 2025",
    .complexity = "O(n m log n)",
    .summary = "a binomial tree with partners to the right and left in turns",
    .run = run_bine,
};
