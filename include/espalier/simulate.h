/* Simulation: what a plan would do, on the platform it was made for or on another. */
#ifndef ESPALIER_SIMULATE_H
#define ESPALIER_SIMULATE_H

#include <stdint.h>

#include <espalier/plan.h>
#include <espalier/platform.h>
#include <espalier/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How transfers that meet on a resource share it. */
typedef enum esp_sharing {
    ESP_SHARING_EXCLUSIVE, /* one after the other: what the models of the papers say */
    ESP_SHARING_FLUID, /* all at once, each with its max-min fair part: what TCP does */
    ESP_SHARING_MODEL, /* as plans claim: fluid in the capacity model, where nothing but
                          the network limits what hosts do at once; else exclusive */
} esp_sharing;

/* Whom a receiver of a redundant plan prefers when two send to it. */
typedef enum esp_race_policy {
    ESP_RACE_FINISH, /* the one that would be done first */
    ESP_RACE_SPEED,  /* the one with the faster link */
} esp_race_policy;

/* From at_s on, a link or cable runs at factor times its bandwidth; 0: it is down. */
struct esp_rate_change {
    double at_s;
    int is_cable;
    int id; /* of the link or cable, in the reality */
    double factor;
};

/* From at_s on, a node neither sends nor receives. */
struct esp_node_stop {
    double at_s;
    int node; /* in the reality */
};

/* One transfer of one slice, as it happened. */
struct esp_sim_transfer {
    int from, to; /* nodes of the plan's platform */
    int tree;     /* the number of trees: adopted after the race of a redundant plan */
    int64_t slice;
    double start_s, end_s; /* of the slice's arrival */
    int lost; /* it never arrived: a node stopped, a link went down, or in a race another
                 sender was faster */
};

/* ---- traces: what goes wrong, as a text ---- */

/* A line an event, cells apart by commas (or by blanks when the line has no comma); '#'
 * begins a comment line:
 *
 *   TIME, node, NAME              the host stops
 *   TIME, link, FROM, TO, FACTOR  the link runs at FACTOR times its bandwidth
 *   TIME, pair, A, B, FACTOR      both directions do
 *   TIME, cable, NAME, FACTOR     a shared cable does
 *
 * FACTOR is a number from 0 up, `down` for 0 or `up` for 1. One event in one word is
 * KIND:NAME@TIME[=FACTOR], down when there is no factor; two names stand apart by ':'. */
struct esp_trace;

ESP_API esp_status esp_trace_create(struct esp_trace **out, struct esp_err *err);
ESP_API void esp_trace_free(struct esp_trace *trace);

/* Each of these adds events; the names are those of the platform that is simulated. On
 * failure nothing is added. "-" is standard input; `where` names the text in messages. */
ESP_API esp_status esp_trace_read(struct esp_trace *trace, const struct esp_platform *p,
                                  const char *path, struct esp_err *err);
ESP_API esp_status esp_trace_parse(struct esp_trace *trace, const struct esp_platform *p,
                                   const char *text, size_t length, const char *where,
                                   struct esp_err *err);
/* One event in one word; ESP_EUSAGE when it is not of that form, ESP_EINPUT when the
 * platform has no such thing. */
ESP_API esp_status esp_trace_add(struct esp_trace *trace, const struct esp_platform *p,
                                 const char *word, struct esp_err *err);

/* The events so far, for struct esp_sim_options: good until the trace changes. NULL and 0
 * for none. */
ESP_API const struct esp_rate_change *esp_trace_changes(const struct esp_trace *trace,
                                                        int *count);
ESP_API const struct esp_node_stop *esp_trace_stops(const struct esp_trace *trace,
                                                    int *count);

/* ---- simulating ---- */

struct esp_sim_options {
    size_t size; /* set by esp_sim_options_defaults */
    /* What the network really is; NULL: what the plan was made for. Nodes are matched by
     * name, and every link the plan uses must be there. */
    const struct esp_platform *reality;
    double size_bytes, slice_bytes; /* 0: those of the plan. Of others, as many rounds of
                                       its schedule as it takes */
    esp_sharing sharing;
    const struct esp_rate_change *changes;
    int n_changes;
    const struct esp_node_stop *stops;
    int n_stops;
    /* Races of redundant plans, in which the message goes in one piece. A receiver that
     * compares two senders needs alpha_s plus alpha times the mean real time of the first
     * tree's transfers, and then drops one. */
    double alpha_s, alpha;
    esp_race_policy policy;
    int resume;      /* a new sender goes on where the old one was; 0: it starts anew */
    double patience; /* as in the plan; 0: that of the plan, negative: none */
    double timeout;  /* silence of so many times the believed time: dead; 0: 3 times */
    int no_repair;   /* hosts that the race leaves without the message are not adopted */
    /* Called for each transfer in the order of their starts (exclusive) or ends (fluid,
     * and redundant plans); may be NULL. */
    void (*on_transfer)(void *arg, const struct esp_sim_transfer *transfer);
    void *arg;
    double budget_s; /* the time that simulating may take; 0: what it needs. What has not
                        ended by then fails: ESP_EUNSUPPORTED, and a sentence that says
                        how far it came */
    /* Is told now and then, by the thread that simulates, how long that has taken and
     * which moment of the simulation has come; not 0 asks for an end, as that of the
     * budget. NULL: nobody is. */
    int (*progress)(void *arg, double elapsed_s, double simulated_s);
    void *progress_arg;
};

ESP_API void esp_sim_options_defaults_sized(struct esp_sim_options *options, size_t size);
static inline void esp_sim_options_defaults(struct esp_sim_options *options)
{
    esp_sim_options_defaults_sized(options, sizeof *options);
}

struct esp_sim_resource {
    char *text;         /* "the send port of n17" */
    double busy_s;      /* how long it was held */
    double utilisation; /* of the makespan */
};

struct esp_sim_result {
    double makespan_s;     /* when the last for which it is that got everything had it */
    double throughput_Bps; /* size / makespan */
    int n_nodes;
    double *delivered_s; /* by node of the plan's platform: when it had the whole message;
                            infinity: never; switches: 0 */
    unsigned char
        *is_for; /* by node: is it one of those for which the operation is (the
                    root of a gather, the targets of a multicast), not a relay? */
    int n_for;   /* how many these are */
    int lost;    /* of these, how many never had it and did not stop */
    uint64_t events, transfers;
    /* of redundant plans */
    int covered;    /* hosts that the race itself served, those that stop not counted */
    double raced_s; /* when the last of all had it, before others were adopted */
    int adopted;    /* got it afterwards from the nearest that had it */
    uint64_t pauses, switches; /* senders compared, and changed */
    int n_resources;
    struct esp_sim_resource **resources; /* those that were used, busiest first */
};

/* options may be NULL. */
ESP_API esp_status esp_simulate(const struct esp_platform *p, const struct esp_plan *plan,
                                const struct esp_sim_options *options,
                                struct esp_sim_result **out, struct esp_err *err);
ESP_API void esp_sim_result_free(struct esp_sim_result *result);

/* The simulated makespan, as the judge of a request (struct esp_request). arg: NULL or
 * the struct esp_sim_options to simulate with. */
ESP_API double esp_judge_by_simulation(void *arg, const struct esp_platform *p,
                                       const struct esp_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
