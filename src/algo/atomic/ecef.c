/* Earliest completing edge first (ECEF).
 *
 * Again and again the transfer from an informed host to another that would be over first
 * is added; a sender is busy until its earlier sends have left.
 * Reference: P. B. Bhat, C. S. Raghavendra, V. K. Prasanna, Efficient collective
 * communication in distributed heterogeneous systems, 1999.
 * Model: one-port, where a send holds the sender for the time of the link; with the
 * holding times of the view in the other models. Existing arcs only.
 * Ties: the lower sender, then the lower receiver. For one sender, links are compared by
 * their times and not by the rounded sums with its ready time.
 * Guarantee: none. Complexity: O(m log n), where the paper has O(n^2 log n). */
#include "algo/atomic/greedy.h"

static esp_status run_ecef(const struct espi_task *task, struct esp_plan *plan,
                           struct esp_err *err)
{
    return espi_greedy_plan(task, espi_offer_earliest, plan, err);
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK},
    {.use = 0},
};

const struct espi_algo espi_algo_ecef = {
    .name = "ecef",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .whole_message = 1,
    .paper = "Bhat, Raghavendra, Prasanna 1999",
    .complexity = "O(m log n)",
    .summary = "the transfer that would be over first is next",
    .uses = uses,
    .run = run_ecef,
};
