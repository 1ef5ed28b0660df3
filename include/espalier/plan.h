/* Plans: what to do. Weighted trees along which the parts of a message travel. */
#ifndef ESPALIER_PLAN_H
#define ESPALIER_PLAN_H

#include <stdio.h>

#include <espalier/platform.h>
#include <espalier/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a plan does, and what its message is. In the operations that collect (gather,
 * reduce, reduce-scatter) a tree is one of the opposite operation with its edges turned
 * round: data flow towards the root, and the edges stand so that a sender has what it
 * sends. */
typedef enum esp_op {
    ESP_OP_BCAST,          /* every host gets the message */
    ESP_OP_MULTICAST,      /* every target gets it, others may relay */
    ESP_OP_SCATTER,        /* each target gets its part; the parts are equal */
    ESP_OP_GATHER,         /* the root gets a part from each target */
    ESP_OP_REDUCE,         /* the root gets the combination of the targets' messages */
    ESP_OP_ALLREDUCE,      /* all hosts get the combination of all hosts' messages */
    ESP_OP_ALLGATHER,      /* all hosts get all hosts' parts */
    ESP_OP_REDUCE_SCATTER, /* each host gets its part of the combination */
    ESP_OP_ALLTOALL,       /* each host gets a part of its own from each other */
    ESP_OP_COUNT
} esp_op;

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
    int root; /* the plan's, but for allgather, reduce-scatter, allreduce, alltoall */
    int n_targets; /* scatter, gather, alltoall: 1, the tree is a path; else 0 */
    int *targets;  /* nodes; NULL: those of the plan */
    int n_edges;
    struct esp_edge *edges; /* a node's edges stand in the order in which it sends;
                               allreduce: first those to the root, then as many from it */
    int *steps;             /* of the edges, or NULL; see esp_plan_set_tree_steps */
    int n_hops;
    int *hops; /* link numbers */
};

/* A slice sent over one leg of an edge: its path is cut at every host on it. */
struct esp_send {
    int tree, edge;
    int part;  /* which leg of the edge */
    int slice; /* which of the tree's slices of a round */
    int lag;   /* in round j goes the slice of round j - lag */
};

/* When: what happens in each round, over and over. A message is cut into slices and these
 * into rounds; the last round may be short. All hosts follow the one order of the sends:
 * each sends, and receives, what concerns it in that order. A send comes after those that
 * bring its sender the data, in its round or in an earlier one, so that nobody ever waits
 * for who waits for him. */
struct esp_schedule {
    double slice_bytes; /* the slices it was made for; it can be followed with others */
    int slots;          /* slices in a round */
    int *tree_slices;   /* by tree; sum to slots */
    int n_sends;        /* every slice of a round over every leg of its tree, once */
    struct esp_send *sends;
};

struct esp_plan {
    esp_op op;
    int root;
    int n_targets;
    int *targets; /* nodes; NULL: all hosts but the root */
    char *algo;
    double size_bytes, slice_bytes;
    double throughput_Bps; /* of the steady state of long messages; 0: not computed */
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
    struct esp_schedule *schedule; /* NULL: none yet; freed with the plan. Plans with
                                      steps have none: their steps say all */
    double makespan_bound_s; /* no plan for size_bytes ends sooner; 0: not computed */
};

/* An empty plan with a copy of the algorithm's name. */
ESP_API esp_status esp_plan_create(esp_op op, int root, const char *algo,
                                   struct esp_plan **out, struct esp_err *err);
ESP_API void esp_plan_free(struct esp_plan *plan);

/* A copy of all there is, schedule and figures too. */
ESP_API esp_status esp_plan_copy(const struct esp_plan *plan, struct esp_plan **out,
                                 struct esp_err *err);

/* Adds a tree of n_edges transfers, transfer i over the links
 * hops[hop_start[i] .. hop_start[i+1]); the arrays are copied. A schedule is
 * dropped, here and wherever trees or their ends change. */
ESP_API esp_status esp_plan_add_tree(struct esp_plan *plan, const struct esp_platform *p,
                                     double weight, int n_edges, const int *hop_start,
                                     const int *hops, struct esp_err *err);

/* Adds a tree whose transfers are single links. */
ESP_API esp_status esp_plan_add_simple_tree(struct esp_plan *plan,
                                            const struct esp_platform *p, double weight,
                                            int n_links, const int *links,
                                            struct esp_err *err);

/* Names the targets of a multicast, scatter, gather or reduce; copied. */
ESP_API esp_status esp_plan_set_targets(struct esp_plan *plan, int n_targets,
                                        const int *targets, struct esp_err *err);

/* Gives the last tree added a root and targets of its own; targets are copied, and NULL
 * stands for those of the plan. */
ESP_API esp_status esp_plan_set_tree_ends(struct esp_plan *plan, int root, int n_targets,
                                          const int *targets, struct esp_err *err);

/* Gives each edge of the last tree added a step; copied. What goes from one host to
 * another in the same step, in whatever trees, travels as one message over the same
 * links, and hosts send their messages in the order of steps. For allgather,
 * reduce-scatter and alltoall: in one tree a host, or a pair of hosts, each with steps,
 * which grow from the tree's root to its leaves (reduce-scatter: from the leaves to the
 * root). */
ESP_API esp_status esp_plan_set_tree_steps(struct esp_plan *plan, const int *steps,
                                           struct esp_err *err);

/* Is the plan one that can run on this platform? Checks that every tree reaches its
 * targets from its root, every host at most once, in an order in which each sender has
 * the data, over paths of links that exist, that switches only forward, that the
 * weights sum to 1: in all, or each target's and each root's to its part (redundant
 * plans: see struct esp_plan), that steps are as esp_plan_set_tree_steps says, and that
 * the schedule, if there is one, has every send once, after those that it needs, and
 * gives the trees what their weights say. */
ESP_API esp_status esp_plan_check(const struct esp_plan *plan,
                                  const struct esp_platform *p, struct esp_err *err);

/* Makes the schedule for the plan's message and puts it into the plan, in place of the
 * one that is there. Plans that esp_plan_make makes have theirs; others get one when they
 * are evaluated, or for each simulation anew. Of a redundant plan it is that of the first
 * tree. */
ESP_API esp_status esp_plan_schedule(struct esp_plan *plan, const struct esp_platform *p,
                                     struct esp_err *err);

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
