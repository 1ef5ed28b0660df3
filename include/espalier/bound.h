/* Bounds: the throughput that no plan can beat, and why. */
#ifndef ESPALIER_BOUND_H
#define ESPALIER_BOUND_H

#include <espalier/algo.h>
#include <espalier/platform.h>
#include <espalier/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum esp_bound_method {
    ESP_BOUND_TREES, /* packs trees: the way that scales */
    ESP_BOUND_CUTS,  /* one variable an arc, cuts as they are violated */
    ESP_BOUND_FULL,  /* one variable an arc and target: up to some 50 hosts */
    ESP_BOUND_METHOD_COUNT
} esp_bound_method;

ESP_API const char *esp_bound_method_name(esp_bound_method method);
ESP_API int esp_bound_method_parse(const char *text,
                                   esp_bound_method *method); /* 0, -1 */

/* Of operations other than broadcast only the time limit counts. */
struct esp_bound_options {
    size_t size; /* set by esp_bound_options_defaults */
    esp_bound_method method;
    double gap;          /* relative gap at which to stop; 0: 5e-8 */
    double time_limit_s; /* then the best so far, with its proven gap; 0: none */
    int what_if;         /* so many improvements are tried out; 0: none are looked for */
    /* Called now and then on solves that last; may be NULL. */
    void (*progress)(void *arg, double gap, double elapsed_s);
    void *progress_arg;
    int makespan; /* makespan_s is asked for, too; of any operation */
};

ESP_API void esp_bound_options_defaults_sized(struct esp_bound_options *options,
                                              size_t size);
static inline void esp_bound_options_defaults(struct esp_bound_options *options)
{
    esp_bound_options_defaults_sized(options, sizeof *options);
}

/* What a resource is, and what can be improved. */
typedef enum esp_resource_kind {
    ESP_RESOURCE_SEND_PORT, /* of a node; its only port in half-duplex */
    ESP_RESOURCE_RECV_PORT, /* of a node */
    ESP_RESOURCE_LINK,
    ESP_RESOURCE_CABLE,
} esp_resource_kind;

ESP_API const char *esp_resource_kind_name(esp_resource_kind kind);

/* A resource that binds: the share of the price of all is what it has in the limit. */
struct esp_bottleneck {
    esp_resource_kind kind;
    int owner;    /* node, link or cable */
    double price; /* of all prices, sum 1 */
    char *text;   /* "the send port of n17" */
};

/* What 10% more bandwidth on a link, a cable or all links of a node would give. */
struct esp_what_if {
    esp_resource_kind kind; /* ESP_RESOURCE_SEND_PORT: all links out of the node,
                               ESP_RESOURCE_RECV_PORT: all links into it */
    int owner;
    double estimate; /* relative gain of throughput, by the prices alone: about this */
    double gain;     /* by solving again */
    char *text;      /* "the next 10% of bandwidth on link a -> b would raise ..." */
};

/* Of operations other than broadcast there are the figures alone: neither bottlenecks nor
 * cut, improvements or text, and 0 for what a plan reaches. */
struct esp_bound {
    double throughput_Bps; /* no plan does better; infinite when there is nobody to send
                              to */
    double slices_per_s, slice_bytes;
    double reached_Bps; /* what the best plan found does; 0 where the method has no plan
                         */
    double gap;         /* proven: throughput / reached - 1; infinite without a plan, but
                           0 where the bound is exact all the same */
    double solve_s;
    int exact;         /* some plan is as fast; broadcast: to the gap that is the default,
                          whichever was asked for */
    int reachable;     /* 0: the model (half-duplex) may keep every schedule below the
                          bound */
    int n_trees;       /* of the plan that reaches it */
    int n_bottlenecks; /* dearest first */
    struct esp_bottleneck **bottlenecks;
    int n_cut; /* nodes on the root's side of the bottleneck cut, the root first */
    int *cut;
    int n_what_if; /* most gain first */
    struct esp_what_if **what_if;
    char *text; /* the answer in words, or NULL */
    /* Where options ask for it: in whatever slices, no plan has a message of the
     * request's size where it is to be any sooner. In the capacity model transfers share
     * what they use, as in a fluid simulation; in the others each has it for itself. */
    double makespan_s;
};

/* The best throughput of any plan for what is asked for, in its slices (ESP_SLICE_AUTO:
 * of 63.5 KiB); algorithm, seed, budget and judge do not matter. Whom the request tells
 * of progress hears here, too, how long it has taken, with a makespan of 0, and may ask
 * for an end: then it is as if the time were over. options may be NULL. */
ESP_API esp_status esp_bound_compute(const struct esp_platform *p,
                                     const struct esp_request *request,
                                     const struct esp_bound_options *options,
                                     struct esp_bound **out, struct esp_err *err);
ESP_API void esp_bound_free(struct esp_bound *bound);

#ifdef __cplusplus
}
#endif
#endif
