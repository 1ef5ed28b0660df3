/* Fastest edge first (FEF).
 *
 * Again and again the fastest link from an informed host to another is added, however
 * busy its sender is: Prim's algorithm, with the ready times deciding between equals.
 * Reference: P. B. Bhat, C. S. Raghavendra, V. K. Prasanna, Efficient collective
 * communication in distributed heterogeneous systems, 1999.
 * Model: one-port; existing arcs only. In the multi-port model the time of an arc
 * includes the send overhead.
 * Ties: the transfer that would be over first, then the lower sender, then the lower
 * receiver.
 * Guarantee: none. Complexity: O(m log n), where the paper has O(n^2 log n). */
#include "algo/atomic/greedy.h"

static int offer_fastest(void *self, struct espi_greedy *g, int sender,
                         struct espi_offer *offer)
{
    if (!espi_offer_earliest(self, g, sender, offer))
        return 0;
    offer->key = g->v->lag_s[offer->arc];
    return 1;
}

static esp_status run_fef(const struct espi_task *task, struct esp_plan *plan,
                          struct esp_err *err)
{
    return espi_greedy_plan(task, offer_fastest, plan, err);
}

const struct espi_algo espi_algo_fef = {
    .name = "fef",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .whole_message = 1,
    .paper = "Bhat, Raghavendra, Prasanna 1999",
    .complexity = "O(m log n)",
    .summary = "the fastest link that reaches another host is next",
    .run = run_fef,
};
