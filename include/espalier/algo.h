/* Algorithms: from a platform to a plan. */
#ifndef ESPALIER_ALGO_H
#define ESPALIER_ALGO_H

#include <stdint.h>

#include <espalier/plan.h>
#include <espalier/platform.h>
#include <espalier/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A slice size that says: any. The algorithm auto then chooses one; the others take
 * 64 KiB. */
#define ESP_SLICE_AUTO (-1.0)

/* When the plan's message has arrived everywhere, by another measure than the closed form
 * (a simulator, say), in seconds; NaN when that cannot be told. Plans that keep some
 * port, link or cable of the platform busy for longer than the best takes need not be
 * shown. */
typedef double (*esp_judge_fn)(void *arg, const struct esp_platform *p,
                               const struct esp_plan *plan);

/* What is asked for. esp_request_init sets everything but the root to a sensible value.
 */
struct esp_request {
    esp_op op;
    int root;
    const int *targets; /* of a multicast, scatter, gather or reduce; NULL: all hosts */
    int n_targets;
    const char *algo;   /* a name, perhaps with options: "look-ahead:variant=avg" */
    double size_bytes;  /* of the message */
    double slice_bytes; /* at most this much travels at once; 0: the whole message; or
                           ESP_SLICE_AUTO */
    uint64_t seed;      /* of algorithms that draw lots */
    double budget_s;    /* for algorithms that search as long as they may; 0: their own */
    esp_judge_fn judge; /* for algorithms that can search by it; NULL: none */
    void *judge_arg;
};

ESP_API void esp_request_init(struct esp_request *request, int root);

/* Makes a plan, checks it, and computes what it costs. */
ESP_API esp_status esp_plan_make(const struct esp_platform *p,
                                 const struct esp_request *request, struct esp_plan **out,
                                 struct esp_err *err);

/* Fills in throughput and makespan of a plan for its size_bytes and slice_bytes. */
ESP_API esp_status esp_plan_evaluate(struct esp_plan *plan, const struct esp_platform *p,
                                     struct esp_err *err);

#ifdef __cplusplus
}
#endif
#endif
