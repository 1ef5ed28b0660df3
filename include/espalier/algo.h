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
 * 63.5 KiB: from 64 KiB on, headers counted, MPI libraries wait for the receiver. */
#define ESP_SLICE_AUTO (-1.0)

/* When the plan's message has arrived everywhere, by another measure than the closed form
 * (a simulator, say), in seconds; NaN when that cannot be told. Plans that keep some
 * port, link or cable of the platform busy for longer than the best takes need not be
 * shown. */
typedef double (*esp_judge_fn)(void *arg, const struct esp_platform *p,
                               const struct esp_plan *plan);

/* What is asked for. esp_request_init sets everything to what the command line takes
 * where nothing is said. */
struct esp_request {
    size_t size; /* set by esp_request_init */
    esp_op op;
    int root;
    const int *targets; /* of a multicast, scatter, gather or reduce; NULL: all hosts */
    int n_targets;
    const char *algo;   /* a name, perhaps with options: "look-ahead:variant=avg" */
    double size_bytes;  /* of the message */
    double slice_bytes; /* at most this much travels at once; 0: the whole message; or
                           ESP_SLICE_AUTO */
    uint64_t seed;      /* of algorithms that draw lots */
    double budget_s;    /* the time that planning may take; 0: what it needs */
    esp_judge_fn judge; /* for algorithms that can search by it; NULL: none */
    void *judge_arg;
    /* Is told now and then, by the thread that plans, how long that has taken and the
     * makespan of the best plan so far (0: there is none); not 0 asks for an end, and the
     * best plan so far is the answer, the first one that there is. NULL: nobody is. */
    int (*progress)(void *arg, double elapsed_s, double best_s);
    void *progress_arg;
};

ESP_API void esp_request_init_sized(struct esp_request *request, size_t size, int root);
static inline void esp_request_init(struct esp_request *request, int root)
{
    esp_request_init_sized(request, sizeof *request, root);
}

/* Makes a plan, checks it, and computes what it costs. An allreduce of few bytes may get
 * one of an allgather of as many times the bytes as there are hosts (plan->op says so):
 * each combines what it gets. */
ESP_API esp_status esp_plan_make(const struct esp_platform *p,
                                 const struct esp_request *request, struct esp_plan **out,
                                 struct esp_err *err);

/* ---- the algorithms there are ---- */

/* They have numbers 0, 1, 2, ... which may be others in another version; names stay. The
 * functions below give NULL, 0, -1 or NaN where there is no such algorithm or option. */
ESP_API int esp_algorithm_count(void);
/* By its name, which may be followed by options as in a request ("look-ahead:variant=avg"
 * finds look-ahead, whether it has such an option or not); -1: there is none. */
ESP_API int esp_algorithm_find(const char *name);
/* Is the text one that a request may hold: a name, and options with values that the
 * algorithm has? ESP_EUSAGE and a sentence that says what is wrong. */
ESP_API esp_status esp_algorithm_check(const char *text, struct esp_err *err);

ESP_API const char *esp_algorithm_name(int algorithm);
ESP_API const char *esp_algorithm_family(int algorithm);
ESP_API const char *esp_algorithm_summary(int algorithm);    /* one line */
ESP_API const char *esp_algorithm_source(int algorithm);     /* where it comes from */
ESP_API const char *esp_algorithm_complexity(int algorithm); /* how long it takes */
/* The operation it was made for; ESP_OP_COUNT where there is no such algorithm. */
ESP_API esp_op esp_algorithm_op(int algorithm);
/* Does it make plans for this operation, too? to_some: with targets of its own. */
ESP_API int esp_algorithm_serves(int algorithm, esp_op op, int to_some);
ESP_API int esp_algorithm_knows_model(int algorithm, esp_model model);
ESP_API int esp_algorithm_max_hosts(int algorithm); /* 0: any number */
/* Can it be tried on this platform: its model, its size? */
ESP_API int esp_algorithm_applies(int algorithm, const struct esp_platform *p);

/* Its options, numbered from 0 as well. */
ESP_API int esp_algorithm_option_count(int algorithm);
ESP_API const char *esp_algorithm_option_name(int algorithm, int option);
ESP_API const char *esp_algorithm_option_meaning(int algorithm, int option);
/* "min|avg|set": the value is one of these words; NULL: it is a number. */
ESP_API const char *esp_algorithm_option_choices(int algorithm, int option);
/* What it is where nothing is said: a number, or which of the words, from 0. */
ESP_API double esp_algorithm_option_default(int algorithm, int option);
ESP_API double esp_algorithm_option_min(int algorithm, int option); /* of a number */
ESP_API double esp_algorithm_option_max(int algorithm, int option);

/* ---- what plans cost ---- */

/* Fills in throughput and makespan of a plan for its size_bytes and slice_bytes, as they
 * come of its schedule; a plan that has none is given one first. */
ESP_API esp_status esp_plan_evaluate(struct esp_plan *plan, const struct esp_platform *p,
                                     struct esp_err *err);

#ifdef __cplusplus
}
#endif
#endif
