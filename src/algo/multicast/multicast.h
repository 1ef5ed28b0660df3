/* What the multicast algorithms share. */
#ifndef ESPI_ALGO_MULTICAST_MULTICAST_H
#define ESPI_ALGO_MULTICAST_MULTICAST_H

#include "algo/algo.h"
#include "solve/cover.h"
#include "solve/flow_net.h"
#include "solve/flows.h"
#include "solve/steiner.h"

/* The network of the task, in slices of the task. */
esp_status espi_task_net(const struct espi_task *task, struct espi_flow_net *net,
                         struct esp_err *err);

/* Nodes from most to least (or least to most, for sign -1) of amount; ties to the lowest
 * number. Leaves out those with skip[node]. Gives their number. */
int espi_rank_nodes(const double *amount, const unsigned char *skip, int n, double sign,
                    int *order);

/* What comes into each node along the links. */
void espi_inflow(const struct espi_digraph *g, const double *flow, double *inflow);

/* What the nodes pass on to the targets alone: the sum, over the targets, of what comes
 * into each node in a flow of 1 from the root within y. inflow is by node. */
int espi_target_inflow(const struct espi_flow_net *net, const double *y, double *inflow,
                       struct espi_arena *arena);

/* Nodes that the root can reach. */
esp_status espi_reachable(const struct espi_task *task, unsigned char *seen,
                          struct esp_err *err);

/* Adds the trees of the best broadcast among the nodes that are active. */
esp_status espi_add_broadcast(const struct espi_task *task, const unsigned char *active,
                              struct esp_plan *plan, struct esp_err *err);

/* Adds trees that send each target's data along the paths of the flows: transfers from
 * source to target, forwarded on the way. */
esp_status espi_add_flows(const struct espi_task *task, const struct espi_flows *flows,
                          struct esp_plan *plan, struct esp_err *err);

/* A scatter among so many targets: each path is a tree of its own, for its part. */
esp_status espi_add_paths(const struct espi_task *task,
                          const struct espi_flow_path *paths, int n_paths, int n_targets,
                          struct esp_plan *plan, struct esp_err *err);

/* Adds the routes of the best scatter (scatter.c), for a scatter as for a multicast. */
esp_status espi_run_scatter(const struct espi_task *task, struct esp_plan *plan,
                            struct esp_err *err);

esp_status espi_add_steiner(const struct espi_task *task, double weight,
                            const struct espi_steiner_tree *tree, struct esp_plan *plan,
                            struct esp_err *err);

#endif
