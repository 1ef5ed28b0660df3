/* Multicast by price and by time: what a mix of trees costs and how long it takes.
 *
 * The message of S bytes is cut into P equal partitions, each of which goes along a tree
 * of links from the root to all targets; hosts that want nothing may relay. y(e) is the
 * part of the message that crosses link e, N(v) the number of machines at node v, 1 to
 * max_count where v is used, T the time. Then
 *
 *   S y(e) <= T rate(e) min(N(u), N(v))      for each link e from u to v
 *   S sum of y over a port of v <= T rate N(v)   a cable whose links all leave or all
 *                                                enter v is a port of v
 *   S sum of y over any other cable <= T rate
 *   USD = S sum of y(e) usd_per_GB(e) / 10^9 + T / 3600 sum of N(v) usd_per_hour(v)
 *
 * Bytes flow: they are passed on as they come, and neither latencies nor the time until
 * the first has come through are counted. */
#ifndef ESPI_SOLVE_PRICED_MODEL_H
#define ESPI_SOLVE_PRICED_MODEL_H

#include "solve/flow_net.h"
#include "solve/priced/multicast.h"

/* What limits: a port of a node or a cable; links are limits, too, but not listed. */
struct espi_priced_limit {
    int node; /* -1: there once, whatever is rented */
    int n_links;
    const int *links;
    double load_s; /* that the whole message takes of one */
};

/* A mix of trees that is fully costed. */
struct espi_priced_value {
    double usd_bytes, usd_machines, time_s;
    double objective; /* of the task; infinite: too late, or too dear */
    double excess;    /* of deadline and budget, relative; 0: within */
};

struct espi_priced_stock;

struct espi_priced_model {
    const struct espi_priced_task *task;
    struct espi_flow_net net;
    double *link_usd;    /* of the whole message */
    double *link_s;      /* of the whole message, between one machine at each end */
    double *usd_per_s;   /* of one machine at each node */
    int *max_count;      /* of machines */
    unsigned char *must; /* root and targets */
    int n_limits;
    struct espi_priced_limit *limits;
    /* scratch */
    double *need_s; /* by node: seconds of one machine */
    double *usage;  /* by link */
    unsigned char *used;
    int n_used, *used_node;
    int n_values; /* of the mix last evaluated: with each number of machines */
    struct espi_priced_value *values;
    struct espi_priced_stock *stock; /* gets all mixes that are offered; or NULL */
};

/* Memory from the arena; ESP_EUNSUPPORTED for platforms with switches and models other
 * than capacity. */
esp_status espi_priced_model_init(struct espi_priced_model *m,
                                  const struct espi_priced_task *task,
                                  struct espi_arena *arena, struct esp_err *err);

/* The best number of machines, and the time, of a mix in which part usage[e] of the
 * message crosses each link. Exact: with T, no more
 * machines are needed than need(v) / T rounded up, so that both time and price are least
 * at one of the T = need(v) / k. */
struct espi_priced_value espi_priced_evaluate(struct espi_priced_model *m,
                                              const double *usage);

/* Machines at each node of that mix when it is to take time_s. */
void espi_priced_machines_at(struct espi_priced_model *m, const double *usage,
                             double time_s, int *counts);

/* Of deadline and budget, relative; 0: within both. */
double espi_priced_excess(const struct espi_priced_task *task, double usd, double time_s);

double espi_priced_objective(const struct espi_priced_task *task, double usd,
                             double time_s);

/* Whole partitions that cross a resource within the deadline, of which `pairs` are there
 * and each takes load_s for the whole message; INT_MAX: no deadline, or no partitions. */
int espi_priced_parts_within(const struct espi_priced_model *m, double load_s, int pairs);

#endif
