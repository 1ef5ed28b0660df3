/* Plans: what to do. Weighted trees along which the parts of a message travel. */
#ifndef ESPALIER_PLAN_H
#define ESPALIER_PLAN_H

#include <stdio.h>

#include <espalier/platform.h>
#include <espalier/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum esp_op { ESP_OP_BCAST, ESP_OP_COUNT } esp_op;

ESP_API const char *esp_op_name(esp_op op);
ESP_API int esp_op_parse(const char *text, esp_op *op); /* 0, or -1 */

/* One transfer of a tree: the data goes from the first host of the path to the last,
 * forwarded by the nodes between. Most paths are one link. */
struct esp_edge {
    int from, to;          /* nodes */
    int first_hop, n_hops; /* links: tree->hops[first_hop .. first_hop + n_hops) */
};

struct esp_tree {
    double weight; /* the part of the message that travels along this tree */
    int n_edges;
    struct esp_edge *edges; /* a node's edges stand in the order in which it sends */
    int n_hops;
    int *hops; /* link numbers */
};

struct esp_plan {
    esp_op op;
    int root;
    char *algo;
    double size_bytes, slice_bytes;
    double throughput_Bps; /* of the steady state; 0: not computed */
    double makespan_s;     /* of size_bytes in slices of slice_bytes; 0: not computed */
    double bound_Bps;      /* no plan does better; 0: not computed */
    double plan_s;         /* time that planning took; 0: not measured */
    /* Every tree carries the whole message, and a receiver takes it from whoever is
     * faster: the first tree is as in any plan, and further ones give each host at most
     * one more sender, in any order. All weights are 1. Who does not race uses the first
     * tree. */
    int redundant;
    double patience; /* of a race; 0: receivers compare senders at once (simulate.h) */
    int n_trees;
    struct esp_tree *trees;
};

/* An empty plan with a copy of the algorithm's name. */
ESP_API esp_status esp_plan_create(esp_op op, int root, const char *algo,
                                   struct esp_plan **out, struct esp_err *err);
ESP_API void esp_plan_free(struct esp_plan *plan);

/* Adds a tree of n_edges transfers, transfer i over the links
 * hops[hop_start[i] .. hop_start[i+1]); the arrays are copied. */
ESP_API esp_status esp_plan_add_tree(struct esp_plan *plan, const struct esp_platform *p,
                                     double weight, int n_edges, const int *hop_start,
                                     const int *hops, struct esp_err *err);

/* Adds a tree whose transfers are single links. */
ESP_API esp_status esp_plan_add_simple_tree(struct esp_plan *plan,
                                            const struct esp_platform *p, double weight,
                                            int n_links, const int *links,
                                            struct esp_err *err);

/* Is the plan one that can run on this platform? Checks that every tree reaches every
 * host exactly once from the root, in an order in which each sender has the data, over
 * paths of links that exist, that switches only forward, and that the weights sum to 1
 * (redundant plans: see struct esp_plan). */
ESP_API esp_status esp_plan_check(const struct esp_plan *plan,
                                  const struct esp_platform *p, struct esp_err *err);

/* Reading checks the plan against the platform: a plan from outside is never trusted. */
ESP_API esp_status esp_plan_read(const char *path, const struct esp_platform *p,
                                 struct esp_plan **out, struct esp_err *err);
ESP_API esp_status esp_plan_parse(const char *text, size_t length, const char *where,
                                  const struct esp_platform *p, struct esp_plan **out,
                                  struct esp_err *err);
ESP_API esp_status esp_plan_write(const struct esp_plan *plan,
                                  const struct esp_platform *p, const char *path,
                                  struct esp_err *err);
ESP_API esp_status esp_plan_write_stream(const struct esp_plan *plan,
                                         const struct esp_platform *p, FILE *out,
                                         struct esp_err *err);

#ifdef __cplusplus
}
#endif
#endif
