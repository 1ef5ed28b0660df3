/* The best scatter.
 *
 * One flow carries the data of all targets: as much leaves the root as the targets take
 * together, at the least load of any resource; its paths are the routes. Reference:
 * A. Legrand, L. Marchal, Y. Robert, Optimizing the steady-state throughput of scatter
 * and reduce operations on heterogeneous platforms, 2005. Model: any, by its resources.
 * Guarantee: optimal. Complexity: a linear program of links + 1 variables. Departure: the
 * paper's flows for each target are one flow here, since only their sum matters. */
#include "algo/multicast/multicast.h"

esp_status espi_run_scatter(const struct espi_task *task, struct esp_plan *plan,
                            struct esp_err *err)
{
    struct espi_flow_net net;
    struct espi_flows flows;
    esp_status st = espi_task_net(task, &net, err);
    if (!st)
        st = espi_flows_init(&flows, &net, task->arena, err);
    if (st)
        return st;
    st = espi_add_flows(task, &flows, plan, err);
    espi_flows_free(&flows);
    return st;
}

const struct espi_algo espi_algo_scatter = {
    .name = "scatter",
    .family = "scatter",
    .op = ESP_OP_SCATTER,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP | ESPI_ALGO_STANDARD,
    .paper = "Legrand, Marchal, Robert 2005",
    .complexity = "a linear program, m variables",
    .summary = "the optimal scatter: one flow for all targets, by a linear program",
    .run = espi_run_scatter,
};
