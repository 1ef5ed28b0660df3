/* Programs: what each rank does, step by step. A plan compiled for a message: what the
 * simulator simulates and what runs under MPI.
 *
 * Hosts are ranks, numbered in the order of their nodes. A message of the program goes
 * from one rank to another, brings one slice (plans with steps: some), and has a number
 * that its sender and its receiver both know. */
#ifndef ESPALIER_PROGRAM_H
#define ESPALIER_PROGRAM_H

#include <stdint.h>

#include <espalier/plan.h>
#include <espalier/platform.h>
#include <espalier/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct esp_program;
struct esp_walk;

struct esp_compile_options {
    size_t size;                    /* set by esp_compile_options_defaults */
    double size_bytes, slice_bytes; /* 0: those of the plan */
};

ESP_API void esp_compile_options_defaults_sized(struct esp_compile_options *options,
                                                size_t size);
static inline void esp_compile_options_defaults(struct esp_compile_options *options)
{
    esp_compile_options_defaults_sized(options, sizeof *options);
}

/* Checks the plan and compiles it; of a redundant plan, the first tree. options may be
 * NULL. Platform and plan must outlive the program. */
ESP_API esp_status esp_program_compile(const struct esp_platform *p,
                                       const struct esp_plan *plan,
                                       const struct esp_compile_options *options,
                                       struct esp_program **out, struct esp_err *err);
ESP_API void esp_program_free(struct esp_program *program);

ESP_API int esp_program_rank_count(const struct esp_program *program);
/* The node that is a rank, and the rank that a node is; -1: none, as of a switch. */
ESP_API int esp_program_node(const struct esp_program *program, int rank);
ESP_API int esp_program_rank(const struct esp_program *program, int node);

/* Where slices are in the message, in whole bytes: 0, 0 where there is no such slice.
 * They tile it. */
ESP_API double esp_program_size_bytes(const struct esp_program *program);
ESP_API int64_t esp_program_slice_count(const struct esp_program *program);
ESP_API uint64_t esp_program_slice_offset(const struct esp_program *program,
                                          int64_t slice);
ESP_API uint64_t esp_program_slice_bytes(const struct esp_program *program,
                                         int64_t slice);

/* What of a rank's steps has an order: that of their walk. */
typedef enum esp_step_order {
    ESP_ORDER_OF_SENDS, /* what comes is taken as it comes */
    ESP_ORDER_OF_BOTH,  /* receives happen in the order of their walk, too */
    ESP_ORDER_OF_ALL,   /* one thing at a time, in the order of the walk of all steps */
    /* Sends to one rank have, of those whose data are there; sends to different ranks do
     * not wait for each other. What comes is taken as it comes. */
    ESP_ORDER_OF_CONNECTIONS,
} esp_step_order;

ESP_API esp_step_order esp_program_order(const struct esp_program *program);

/* ---- walking the steps of a rank ---- */

typedef enum esp_walk_kind {
    ESP_WALK_SENDS,
    ESP_WALK_RECEIVES,
    ESP_WALK_ALL, /* both, in an order in which every send has what it needs: who takes
                     the steps one by one in this order, and never waits to send, gets
                     through */
} esp_walk_kind;

/* Begins before the first step; the program must outlive the walk. */
ESP_API esp_status esp_walk_create(const struct esp_program *program, int rank,
                                   esp_walk_kind kind, struct esp_walk **out,
                                   struct esp_err *err);
ESP_API void esp_walk_free(struct esp_walk *walk);

/* On to the next step: 1, or 0 when there are no more. */
ESP_API int esp_walk_next(struct esp_walk *walk);

/* Of the step at hand; -1 or 0 before the first and after the last. */
ESP_API int esp_walk_is_send(const struct esp_walk *walk);
ESP_API int esp_walk_peer(const struct esp_walk *walk); /* the other rank */
ESP_API int esp_walk_tree(const struct esp_walk *walk); /* of the plan */
ESP_API int64_t esp_walk_message(const struct esp_walk *walk);
/* Combines the receiver what comes with what it has? */
ESP_API int esp_walk_combines(const struct esp_walk *walk);
/* Is what comes for the receiver, not only for others behind it? */
ESP_API int esp_walk_keeps(const struct esp_walk *walk);
/* The slices that the message brings. */
ESP_API int esp_walk_slice_count(const struct esp_walk *walk);
ESP_API int64_t esp_walk_slice(const struct esp_walk *walk, int i);
/* The messages that a send waits for: they bring the rank what it sends. None: it has
 * it from the beginning. */
ESP_API int esp_walk_need_count(const struct esp_walk *walk);
ESP_API int64_t esp_walk_need(const struct esp_walk *walk, int i);
/* The links that the message takes. */
ESP_API int esp_walk_hop_count(const struct esp_walk *walk);
ESP_API int esp_walk_hop(const struct esp_walk *walk, int i);

#ifdef __cplusplus
}
#endif
#endif
