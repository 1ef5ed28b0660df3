/* The cluster-agent framework: some hosts, the agents, serve the others, their clients,
 * which hand their parts to them and get everything back. */
#ifndef ESPI_ALGO_ALLGATHER_AGENTS_H
#define ESPI_ALGO_ALLGATHER_AGENTS_H

#include "algo/exchange.h"
#include "algo/allgather/pairs.h"

struct espi_agents {
    const struct espi_task *task;
    struct espi_pairs pairs;
    int n, m; /* hosts, agents */
    double part_bytes;
    int *hosts;        /* by speed: the first m are the agents */
    int *agent_of;     /* place of a client -> place of its agent */
    int *client_start; /* agent -> its clients in `clients`, as rows */
    int *clients;      /* places, in the order in which the agent receives them */
    /* the others by T_end to each, as places: n a host */
    int *senders;
    double *ready_s;    /* scratch, by agent */
    int *count, *order; /* scratch */
};

/* What a stage-wise estimate says of an assignment. */
struct espi_stages {
    double gather_s, exchange_s, scatter_s, all_s;
};

typedef void espi_estimate(struct espi_agents *a, struct espi_stages *out);

espi_estimate espi_gather_broadcast_estimate, espi_two_step_estimate;

/* Memory, speeds and pair times. */
int espi_agents_init(struct espi_agents *a, const struct espi_task *task);

/* The m fastest hosts become agents, and get clients. */
void espi_agents_assign(struct espi_agents *a, int m);

/* Tries every number of agents, or only `wanted` if that is not 0, and leaves the best
 * (of equals, the one with more agents) assigned. Gives its estimate. */
struct espi_stages espi_agents_choose(struct espi_agents *a, int wanted,
                                      espi_estimate *estimate);

/* Definition 1: the last client's part is received. */
double espi_agents_gather_s(const struct espi_agents *a, int agent);

/* T_B: agent i sends to all others (if it has something, parts[i] > 0) and receives from
 * all that have something; parts[j] is how many parts agent j sends. */
double espi_agents_exchange_s(struct espi_agents *a, int agent, const int *parts);

/* Definition 4: the agent's clients have the whole. */
double espi_agents_scatter_s(const struct espi_agents *a, int agent);

static inline int espi_agents_clients(const struct espi_agents *a, int agent)
{
    return a->client_start[agent + 1] - a->client_start[agent];
}

/* The messages of the stages: from clients in step 0; from each agent to all others in
 * the steps after first_step the parts of itself and its clients (own: itself alone,
 * theirs: its clients alone); to the clients from first_step on. */
typedef enum espi_share { ESPI_SHARE_ALL, ESPI_SHARE_OWN, ESPI_SHARE_THEIRS } espi_share;

esp_status espi_agents_gather(const struct espi_agents *a, struct espi_exchange *x,
                              struct esp_err *err);
esp_status espi_agents_exchange(const struct espi_agents *a, espi_share share,
                                int first_step, struct espi_exchange *x,
                                struct esp_err *err);
esp_status espi_agents_scatter(const struct espi_agents *a, int first_step,
                               struct espi_exchange *x, struct esp_err *err);

/* The number of agents. */
extern const struct espi_algo_option espi_agents_options[];

/* The whole plan: the number of agents asked for, or the one that is best by the
 * estimate; the clients' parts are gathered, and `serve` adds the messages after that. */
esp_status espi_agents_plan(const struct espi_task *task, espi_estimate *estimate,
                            esp_status (*serve)(const struct espi_agents *a,
                                                struct espi_exchange *x,
                                                struct esp_err *err),
                            struct esp_plan *plan, struct esp_err *err);

#endif
