/* Gather-Broadcast: agents gather their clients' parts, broadcast all they have to one
 * another, and send the whole to their clients.
 *
 * Reference: J. Wu, S. Yeh, Efficient all-to-all broadcast in heterogeneous network of
 * workstations, 2000. Model: made for hnow, defined for all. Guarantee: none.
 * Complexity: O(n^3), all numbers of agents being tried.
 * Departure: a client does not get its own part back. */
#include "algo/allgather/agents.h"

#include <math.h>

#include "base/err.h"

void espi_gather_broadcast_estimate(struct espi_agents *a, struct espi_stages *out)
{
    struct espi_stages s = {0};
    int *parts = a->count; /* the assignment is made, and does not need it any more */
    for (int i = 0; i < a->m; i++)
        parts[i] = espi_agents_clients(a, i) + 1;
    for (int i = 0; i < a->m; i++) {
        s.gather_s = fmax(s.gather_s, espi_agents_gather_s(a, i));
        s.exchange_s = fmax(s.exchange_s, espi_agents_exchange_s(a, i, parts));
        s.scatter_s = fmax(s.scatter_s, espi_agents_scatter_s(a, i));
    }
    s.all_s = s.gather_s + s.exchange_s + s.scatter_s;
    *out = s;
}

static esp_status serve_clients(const struct espi_agents *a, struct espi_exchange *x,
                                struct esp_err *err)
{
    esp_status st = espi_agents_exchange(a, ESPI_SHARE_ALL, 1, x, err);
    return st ? st : espi_agents_scatter(a, a->m, x, err);
}

static esp_status run_gather_broadcast(const struct espi_task *task,
                                       struct esp_plan *plan, struct esp_err *err)
{
    return espi_agents_plan(task, espi_gather_broadcast_estimate, serve_clients, plan,
                            err);
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK, .max_hosts = ESPI_QUICK_ALLGATHER_HOSTS},
    {.use = 0},
};

const struct espi_algo espi_algo_gather_broadcast = {
    .name = "gather-broadcast",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .paper = "Wu, Yeh 2000",
    .complexity = "O(n^3)",
    .summary = "fast hosts collect from slow ones, exchange, and serve them",
    .options = espi_agents_options,
    .uses = uses,
    .run = run_gather_broadcast,
};
