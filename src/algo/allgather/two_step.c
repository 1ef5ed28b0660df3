/* Two-Step Broadcast: agents broadcast their own parts to one another while their
 * clients' are on the way, then their clients' parts, and send the whole to their
 * clients.
 *
 * Reference: J. Wu, S. Yeh, Efficient all-to-all broadcast in heterogeneous network of
 * workstations, 2000. Model: made for hnow, defined for all. Guarantee: none.
 * Complexity: O(n^3), all numbers of agents being tried.
 * Departure: a client does not get its own part back. */
#include "algo/allgather/agents.h"

#include <math.h>

#include "base/err.h"

/* Definition 2: an agent receives from its clients when it is done with the agents. */
static double first_stage_s(struct espi_agents *a, int agent, const int *ones)
{
    double s = espi_agents_exchange_s(a, agent, ones);
    for (int k = a->client_start[agent]; k < a->client_start[agent + 1]; k++)
        s += espi_recv_s(&a->pairs, a->hosts[a->clients[k]], a->hosts[agent],
                         a->part_bytes);
    return fmax(s, espi_agents_gather_s(a, agent));
}

void espi_two_step_estimate(struct espi_agents *a, struct espi_stages *out)
{
    struct espi_stages s = {0};
    int *parts = a->count;
    for (int i = 0; i < a->m; i++)
        parts[i] = 1;
    for (int i = 0; i < a->m; i++)
        s.gather_s = fmax(s.gather_s, first_stage_s(a, i, parts));
    for (int i = 0; i < a->m; i++)
        parts[i] = espi_agents_clients(a, i);
    for (int i = 0; i < a->m; i++) {
        s.exchange_s = fmax(s.exchange_s, espi_agents_exchange_s(a, i, parts));
        s.scatter_s = fmax(s.scatter_s, espi_agents_scatter_s(a, i));
    }
    s.all_s = s.gather_s + s.exchange_s + s.scatter_s;
    *out = s;
}

static esp_status serve_clients(const struct espi_agents *a, struct espi_exchange *x,
                                struct esp_err *err)
{
    esp_status st = espi_agents_exchange(a, ESPI_SHARE_OWN, 1, x, err);
    if (!st)
        st = espi_agents_exchange(a, ESPI_SHARE_THEIRS, a->m, x, err);
    return st ? st : espi_agents_scatter(a, 2 * a->m - 1, x, err);
}

static esp_status run_two_step(const struct espi_task *task, struct esp_plan *plan,
                               struct esp_err *err)
{
    return espi_agents_plan(task, espi_two_step_estimate, serve_clients, plan, err);
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK, .max_hosts = ESPI_QUICK_ALLGATHER_HOSTS},
    {.use = 0},
};

const struct espi_algo espi_algo_two_step = {
    .name = "two-step",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .paper = "Wu, Yeh 2000",
    .complexity = "O(n^3)",
    .summary = "as gather-broadcast, but the agents' own parts go first",
    .options = espi_agents_options,
    .uses = uses,
    .run = run_two_step,
};
