/* Speed-partitioned ordered chain (SPOC): a binomial tree in which fast hosts send more.
 *
 * The hosts stand in a chain, the root first, then by decreasing speed. The first of a
 * part of the chain sends to the one in its middle; then each of the two serves its half.
 * Reference: M. Banikazemi, V. Moorthy, D. K. Panda, Efficient collective communication
 * on heterogeneous networks of workstations, 1998.
 * Model: hosts with one cost each; here the mean time of a send over the host's arcs.
 * Where there is no link between two hosts, the transfer is routed over a shortest path.
 * Guarantee: none. Complexity: O(m + n log n) when all links exist, else O(n m log n). */
#include "algo/atomic/ranks.h"
#include "base/err.h"

struct part {
    int first, last;
};

/* Serves the part that chain[first] heads; the parts that others head go on the stack.
 * All sends of a host are added in a run, and after the one that brings it the data. */
static esp_status serve_part(struct espi_transfers *t, const int *chain, struct part part,
                             struct part *stack, int *size, struct esp_err *err)
{
    while (part.last > part.first) {
        int middle = part.first + (part.last - part.first + 1) / 2;
        esp_status st = espi_transfers_add(t, chain[part.first], chain[middle], err);
        if (st)
            return st;
        stack[(*size)++] = (struct part){middle, part.last};
        part.last = middle - 1;
    }
    return ESP_OK;
}

static esp_status run_spoc(const struct espi_task *task, struct esp_plan *plan,
                           struct esp_err *err)
{
    struct espi_transfers t;
    int n = task->view->g.n, size = 0;
    const double *mean_s = espi_mean_send_s(task);
    const int *chain = mean_s ? espi_ranks_by(task, mean_s) : NULL;
    struct part *stack = ESPI_ARENA_NEW(task->arena, struct part, n);
    if (!chain || !stack)
        return espi_err_nomem(err);
    esp_status st = espi_transfers_init(&t, task, ESPI_ROUTE_DIRECT, err);
    stack[size++] = (struct part){0, n - 1};
    while (size > 0 && !st) {
        size--;
        st = serve_part(&t, chain, stack[size], stack, &size, err);
    }
    return st ? st : espi_transfers_plan(&t, plan, err);
}

const struct espi_algo espi_algo_spoc = {
    .name = "spoc",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .whole_message = 1,
    .paper = "Banikazemi, Moorthy, Panda 1998",
    .complexity = "O(n m log n)",
    .summary = "a binomial tree in which fast hosts send more",
    .run = run_spoc,
};
