/* espalier bound: what no plan can beat, and why. */
#include <math.h>

#include <espalier/bound.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/number.h"
#include "base/units.h"
#include "cli/options/budget.h"
#include "cli/options/plans.h"
#include "cli/options/platforms.h"
#include "cli/printing/certainty.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "plan/ops.h"
#include "platform/platform.h"

enum { LIST_MAX = 12, WHAT_IFS = 8 }; /* looks: lines */

/* As esp_bound_method_name has them, in its order. */
static const char *const methods[] = {"trees", "cuts", "full", NULL};

/* ---- for programs ---- */

/* derived: bounds are found to ESPI_PACKING_GAP; more digits would say nothing. */
enum { DIGITS = 9 };

static json_t *resources_json(const struct esp_bound *b)
{
    json_t *all = json_array();

    for (int i = 0; i < b->n_bottlenecks; i++) {
        const struct esp_bottleneck *x = b->bottlenecks[i];
        json_t *json = json_object();
        json_object_set_new(json, "resource", json_string(x->text));
        json_object_set_new(json, "kind", json_string(esp_resource_kind_name(x->kind)));
        cli_json_real(json, "price", espi_round_digits(x->price, DIGITS));
        json_array_append_new(all, json);
    }
    return all;
}

static json_t *cut_json(const struct cli_question *q, const struct esp_bound *b)
{
    json_t *names = json_array();

    for (int i = 0; i < b->n_cut; i++)
        json_array_append_new(names, json_string(espi_node_name(q->p, b->cut[i])));
    return names;
}

static json_t *what_if_json(const struct esp_bound *b)
{
    json_t *all = json_array();

    for (int i = 0; i < b->n_what_if; i++) {
        json_t *json = json_object();
        json_object_set_new(json, "text", json_string(b->what_if[i]->text));
        json_object_set_new(json, "kind",
                            json_string(esp_resource_kind_name(b->what_if[i]->kind)));
        cli_json_real(json, "gain", b->what_if[i]->gain);
        json_array_append_new(all, json);
    }
    return all;
}

static void add_makespan_json(json_t *json, const struct cli_question *q,
                              const struct esp_bound *b)
{
    if (!cli_has(q->args, "size"))
        return;
    cli_json_real(json, "size_bytes", q->request.size_bytes);
    cli_json_real(json, "makespan_s", espi_round_digits(b->makespan_s, DIGITS));
}

/* How near some plan comes; null where only the figure is known, of operations other than
 * broadcasts. */
static void add_proof_json(json_t *json, const struct esp_bound *b, bool is_known)
{
    cli_json_real(json, "reached_Bps", is_known ? b->reached_Bps : NAN);
    cli_json_real(json, "gap", is_known ? b->gap : NAN);
    json_object_set_new(json, "exact", json_boolean(b->exact));
    json_object_set_new(json, "reachable",
                        is_known ? json_boolean(b->reachable) : json_null());
    json_object_set_new(json, "trees", is_known ? json_integer(b->n_trees) : json_null());
}

/* The same keys for every operation, but for the root where there is one. */
static int print_bound_json(const struct cli_question *q, const struct esp_bound *b)
{
    json_t *json = json_object(), *bottleneck = json_object();

    json_object_set_new(json, "op", json_string(esp_op_name(q->request.op)));
    if (!espi_op_frees_roots(q->request.op))
        json_object_set_new(json, "root",
                            json_string(espi_node_name(q->p, q->request.root)));
    cli_json_real(json, "throughput_Bps", espi_round_digits(b->throughput_Bps, DIGITS));
    struct esp_rate_range range;
    if (cli_bound_range(q->p, b, &range)) {
        cli_json_real(json, "throughput_low_Bps",
                      espi_round_digits(range.low_Bps, DIGITS));
        cli_json_real(json, "throughput_high_Bps",
                      isfinite(range.high_Bps) ? espi_round_digits(range.high_Bps, DIGITS)
                                               : NAN);
    }
    cli_json_real(json, "slices_per_s", espi_round_digits(b->slices_per_s, DIGITS));
    cli_json_real(json, "slice_bytes", b->slice_bytes);
    cli_json_real(json, "solve_s", b->solve_s);
    add_proof_json(json, b, q->request.op == ESP_OP_BCAST);
    json_object_set_new(bottleneck, "resources", resources_json(b));
    json_object_set_new(bottleneck, "cut", cut_json(q, b));
    json_object_set_new(json, "bottleneck", bottleneck);
    add_makespan_json(json, q, b);
    if (cli_has(q->args, "what-if"))
        json_object_set_new(json, "what_if", what_if_json(b));
    return cli_print_json(json);
}

/* ---- for people ---- */

/* Why there is none. */
static const char *no_figure(const struct cli_question *q)
{
    return q->p->n_hosts > 1
               ? "not known: nothing was proven in this time, or for so many"
               : "no limit: there is nobody to send to";
}

static void add_rate(struct cli_table *t, const struct cli_question *q,
                     const struct esp_bound *b)
{
    char text[32], slice[32];

    cli_table_add(t, "throughput");
    if (!isfinite(b->throughput_Bps)) {
        cli_table_add(t, "%s", no_figure(q));
        return;
    }
    cli_table_add(t, "at most %s",
                  espi_format_bandwidth(text, sizeof text, b->throughput_Bps));
    cli_table_add(t, "slices");
    cli_table_add(t, "at most %.6g per second, of %s", b->slices_per_s,
                  espi_format_bytes(slice, sizeof slice, b->slice_bytes));
}

/* Rates that were measured are known to lie between two. */
static void add_doubt(struct cli_table *t, const struct cli_question *q,
                      const struct esp_bound *b)
{
    struct esp_rate_range range;
    char text[80];

    if (!cli_bound_range(q->p, b, &range))
        return;
    cli_table_add(t, "not sure");
    cli_table_add(t, "%s, by what is known of the rates that limit it",
                  cli_range_text(text, sizeof text, range));
}

/* How near some plan comes. */
static void add_proof(struct cli_table *t, const struct cli_question *q,
                      const struct esp_bound *b)
{
    int enough = cli_has(q->args, "gap") && b->gap <= cli_number(q->args, "gap");
    char text[32];

    if (!isfinite(b->throughput_Bps) || !(b->reached_Bps > 0))
        return;
    cli_table_add(t, "reached");
    if (!b->reachable)
        cli_table_add(t,
                      "perhaps by none: in this model there may be no schedule for it");
    else if (b->exact)
        cli_table_add(t, "by %d tree%s", b->n_trees, b->n_trees == 1 ? "" : "s");
    else
        cli_table_add(t, "%s by %d trees, %.3g%% less%s",
                      espi_format_bandwidth(text, sizeof text, b->reached_Bps),
                      b->n_trees, 100 * (1 - b->reached_Bps / b->throughput_Bps),
                      enough ? "" : ": the time was up");
}

static void add_makespan(struct cli_table *t, const struct cli_question *q,
                         const struct esp_bound *b)
{
    char time[32], size[32];

    if (!cli_has(q->args, "size"))
        return;
    cli_table_add(t, "completion time");
    cli_table_add(t, "at least %s, for %s in whatever slices",
                  espi_format_time(time, sizeof time, b->makespan_s),
                  espi_format_bytes(size, sizeof size, q->request.size_bytes));
}

static int print_facts(const struct cli_question *q, const struct esp_bound *b)
{
    static const struct cli_column columns[] = {{NULL, false}, {NULL, false}};
    struct cli_table t;
    char text[32];

    cli_table_init(&t, columns, 2);
    add_rate(&t, q, b);
    add_doubt(&t, q, b);
    add_proof(&t, q, b);
    add_makespan(&t, q, b);
    cli_table_add(&t, "solving");
    cli_table_add(&t, "%s", espi_format_time(text, sizeof text, b->solve_s));
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    return bad;
}

static int print_bottlenecks(const struct esp_bound *b)
{
    static const struct cli_column columns[] = {{"resource", false}, {"share", true}};
    struct cli_table t;

    if (b->n_bottlenecks == 0)
        return 0;
    printf("\n%sWhat limits it%s\n", cli_bold(stdout), cli_plain(stdout));
    cli_table_init(&t, columns, 2);
    for (int i = 0; i < b->n_bottlenecks && i < LIST_MAX; i++) {
        cli_table_add(&t, "%s", b->bottlenecks[i]->text);
        cli_table_add(&t, "%.1f%%", 100 * b->bottlenecks[i]->price);
    }
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    if (b->n_bottlenecks > LIST_MAX)
        printf("  and %d more ('--json' lists all)\n", b->n_bottlenecks - LIST_MAX);
    return bad;
}

/* "from a, b and 3 more": some hosts of one side of the cut. */
static void print_side(const struct cli_question *q, const unsigned char *inside, bool in)
{
    char text[LIST_MAX * 66 + 40], name[64];
    size_t at = (size_t)snprintf(text, sizeof text, in ? "from" : "to");
    int n = 0;

    for (int u = 0; u < q->p->n_nodes; u++) {
        if (espi_is_switch(q->p, u) || (inside[u] != 0) != in || n++ >= LIST_MAX)
            continue;
        espi_quote(name, sizeof name, espi_node_name(q->p, u));
        at += (size_t)snprintf(text + at, sizeof text - at, "%s %s", n > 1 ? "," : "",
                               name);
    }
    if (n > LIST_MAX)
        snprintf(text + at, sizeof text - at, " and %d more", n - LIST_MAX);
    fputs("  ", stdout);
    cli_wrap(stdout, text, 2, 4, cli_term_width());
}

static int print_cut(const struct cli_question *q, const struct esp_bound *b)
{
    unsigned char *inside = espi_calloc((size_t)q->p->n_nodes, 1);

    if (!inside)
        return -1;
    for (int i = 0; i < b->n_cut; i++)
        inside[b->cut[i]] = 1;
    if (b->n_bottlenecks > 0) {
        printf("\n%sBottleneck cut%s\n", cli_bold(stdout), cli_plain(stdout));
        print_side(q, inside, true);
        print_side(q, inside, false);
    }
    espi_free(inside);
    return 0;
}

static void print_what_if(const struct esp_bound *b)
{
    if (b->n_what_if == 0)
        return;
    printf("\n%sWhat if%s\n", cli_bold(stdout), cli_plain(stdout));
    for (int i = 0; i < b->n_what_if && i < WHAT_IFS; i++) {
        fputs("  ", stdout);
        cli_wrap(stdout, b->what_if[i]->text, 2, 4, cli_term_width());
    }
}

static int print_text(const struct cli_question *q, const struct esp_bound *b)
{
    char root[64];

    espi_quote(root, sizeof root, espi_node_name(q->p, q->request.root));
    printf("%sbcast from %s to %d host%s%s\n\n", cli_bold(stdout), root,
           q->p->n_hosts - 1, q->p->n_hosts == 2 ? "" : "s", cli_plain(stdout));
    if (b->text) {
        fputs("  ", stdout);
        cli_wrap(stdout, b->text, 2, 2, cli_term_width());
        putchar('\n');
    }
    if (print_facts(q, b) || print_bottlenecks(b) || print_cut(q, b))
        return cli_error(CLI_FAILED, "out of memory");
    print_what_if(b);
    return CLI_OK;
}

/* ---- operations other than broadcast: the figure alone ---- */

static int print_figure(const struct cli_question *q, const struct esp_bound *b)
{
    const struct esp_request *r = &q->request;
    char ends[160], text[32], size[32];

    cli_ends_text(ends, sizeof ends, q->p, r->op, r->root, r->n_targets);
    printf("%s%s %s%s\n\n", cli_bold(stdout), esp_op_name(r->op), ends,
           cli_plain(stdout));
    if (!isfinite(b->throughput_Bps))
        printf("  Throughput: %s.\n", no_figure(q));
    else
        printf("  No plan is faster than %s%s.\n",
               espi_format_bandwidth(text, sizeof text, b->throughput_Bps),
               b->exact ? ", and some plan is as fast" : "; perhaps none is as fast");
    if (cli_has(q->args, "size") && b->makespan_s > 0)
        printf("  None ends before %s, for %s in whatever slices.\n",
               espi_format_time(text, sizeof text, b->makespan_s),
               espi_format_bytes(size, sizeof size, r->size_bytes));
    return CLI_OK;
}

/* ---- the command ---- */

static int print_answer(const struct cli_question *q, const struct esp_bound *b)
{
    bool json = cli_has(q->args, "json");

    if (json)
        return print_bound_json(q, b);
    return q->request.op == ESP_OP_BCAST ? print_text(q, b) : print_figure(q, b);
}

static int answer_bound(struct cli_question *q)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_bound_options options;
    struct esp_bound *bound = NULL;
    const struct cli_args *args = q->args;
    struct cli_budget budget;

    esp_bound_options_defaults(&options);
    esp_bound_method_parse(cli_text(args, "method"), &options.method);
    if (cli_has(args, "gap"))
        options.gap = cli_number(args, "gap");
    options.what_if = cli_has(args, "what-if") ? WHAT_IFS : 0;
    options.makespan = cli_has(args, "size");
    cli_budget_begin(&budget, q->args, q->request.budget_s, "solving");
    cli_progress_start(0, "solving");
    options.time_limit_s =
        budget.total_s > 0 ? cli_budget_step_s(&budget, 1, INFINITY) : 0;
    esp_status status = esp_bound_compute(q->p, &q->request, &options, &bound, &err);
    cli_progress_end();
    cli_budget_end(&budget);
    if (status != ESP_OK)
        return cli_fail(status, &err);
    int code = print_answer(q, bound);
    esp_bound_free(bound);
    return code;
}

static int run_bound(const struct cli_args *args)
{
    return cli_ask(args, answer_bound);
}

const struct command cli_command_bound = {
    .name = "bound",
    .group = CLI_GROUP_PLAN,
    .summary = "compute the upper bound on throughput and what limits it",
    .about =
        (const char *const[]){
            "Computes the upper bound on the throughput of any broadcast from the "
            "root, with any number of trees, and proves it: by the dual values of "
            "the resources that together limit it (ports, links, shared links), and "
            "by the bottleneck cut, the part of the network that all data must "
            "leave.",
            "For other operations (--op) it prints the bound alone, and says "
            "whether some plan reaches it.",
            "With --size it also prints a lower bound on the completion time of a "
            "message of that size, in slices of any size.",
            "With --what-if it computes which links, shared links or nodes are "
            "worth making faster.",
            NULL},
    .positionals = cli_platform_file,
    .options =
        (const struct cli_option[]){
            CLI_ENDS_OPTIONS,
            {.name = "slice",
             .kind = CLI_SIZE,
             .limited = true,
             .min = 1,
             .max = INFINITY,
             .fallback = "63.5KiB",
             .help = "The size of a slice. Each slice pays the latency of a link once."},
            {.name = "size",
             .letter = 's',
             .kind = CLI_SIZE,
             .limited = true,
             .min = 1,
             .max = INFINITY,
             .help = "Also print a lower bound on the completion time of a message of "
                     "this size, from latency and throughput together."},
            {.name = "method",
             .kind = CLI_CHOICE,
             .choices = methods,
             .fallback = "trees",
             .help = "The method: trees packs trees, and scales; cuts has a variable for "
                     "each link; full is the linear program of the papers, for small "
                     "platforms."},
            {.name = "what-if",
             .help = "Compute the gain from 10% more bandwidth, where it matters."},
            {.name = "budget",
             .kind = CLI_TIME,
             .help = "Time limit; the answer is what has been proven by then."},
            {.name = "gap",
             .kind = CLI_DOUBLE,
             .limited = true,
             .min = 0,
             .max = 1,
             .help = "Stop when a plan is known within this fraction of the bound, for "
                     "example 0.01."},
            CLI_MODEL_OPTION,
            CLI_SEED_OPTION,
            {0}},
    .examples =
        (const struct cli_example[]){{"How fast can a broadcast from w3 be at best?",
                                      "espalier bound p.json --root w3"},
                                     {"Which link is worth an upgrade?",
                                      "espalier bound p.json --root w3 --what-if"},
                                     {"And a multicast to three hosts?",
                                      "espalier bound p.json --op multicast --targets "
                                      "w3,w5,w8"},
                                     {0}},
    .see = (const char *const[]){"plan", "compare", NULL},
    .run = run_bound,
};
