/* Binomial tree whose transfers all go over shortest paths.
 *
 * With m = floor(log2 n), ranks below 2^m form a binomial tree, the farthest served
 * first; then rank r sends to r + 2^m. Every transfer, also between neighbours, takes a
 * shortest path by the time of a slice, ties to the smaller predecessor.
 * Reference: O. Beaumont, L. Marchal, Y. Robert, Broadcast trees for heterogeneous
 * platforms, algorithm 4, with its last loop outside of the first and its direction as
 * in the text (both are misprinted).
 * Model: any. Guarantee: none.
 * Departure: the paper does not say what a host pays that is on the way of k transfers.
 * Here it is k sends (the multiset reading): that is a plan, and on Tiers platforms comes
 * close to the published figures. The set reading (a link is used once, whoever asks) is
 * no plan: the union of the paths is no tree, hosts would get a slice twice or before
 * their sender has it. It is a figure only, and computed in the tests.
 * Complexity: O(n m log n). */
#include "algo/atomic/ranks.h"
#include "base/err.h"

/* The sends of one rank: those of the tree, then the rank beyond it. */
static esp_status add_sends(struct espi_transfers *t, const int *hosts, int r, int half,
                            struct esp_err *err)
{
    int n = t->task->view->g.n, bit = r ? r & -r : half;
    esp_status st = ESP_OK;
    while (bit > 1 && !st) {
        bit >>= 1;
        st = espi_transfers_add(t, hosts[r], hosts[r + bit], err);
    }
    if (!st && r < n - half)
        st = espi_transfers_add(t, hosts[r], hosts[r + half], err);
    return st;
}

static esp_status run_binomial_sp(const struct espi_task *task, struct esp_plan *plan,
                                  struct esp_err *err)
{
    struct espi_transfers t;
    int n = task->view->g.n, half = 1;
    const int *hosts = espi_ranks(task);
    if (!hosts)
        return espi_err_nomem(err);
    while (half <= n / 2)
        half *= 2;
    esp_status st = espi_transfers_init(&t, task, ESPI_ROUTE_SHORTEST, err);
    for (int r = 0; r < half && !st; r++) /* after their senders, which are lower */
        st = add_sends(&t, hosts, r, half, err);
    return st ? st : espi_transfers_plan(&t, plan, err);
}

const struct espi_algo espi_algo_binomial_sp = {
    .name = "binomial-sp",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .paper = "Beaumont, Marchal, Robert 2005",
    .complexity = "O(n m log n)",
    .summary = "a binomial tree, every transfer over a shortest path",
    .run = run_binomial_sp,
};
