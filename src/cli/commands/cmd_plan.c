/* espalier plan: one plan, made, said in words and written. */
#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/units.h"
#include "cli/commands/priced.h"
#include "cli/options/budget.h"
#include "cli/options/plans.h"
#include "cli/options/platforms.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "cli/tuning.h"
#include "cost/cost.h"
#include "plan/plan.h"
#include "plan/ops.h"

enum { DRAW_HOSTS_MAX = 32, DRAW_TREES_MAX = 3 };

struct answer {
    const struct cli_args *args;
    const struct esp_platform *p;
    const struct esp_request *asked;
    const struct esp_plan *plan;
    const struct espi_algo *algo;
    struct espi_cost cost;
    char bottleneck[160];
};

/* ---- for people ---- */

static void add_row(struct cli_table *t, const char *name, const char *text)
{
    cli_table_add(t, "%s", name);
    cli_table_add(t, "%s", text);
}

static int add_trees(struct cli_table *t, const struct answer *a)
{
    int depth = cli_plan_depth(a->plan, a->p);

    cli_table_add(t, "trees");
    cli_table_add(t, "%d, %d transfer%s deep", a->plan->n_trees, depth,
                  depth == 1 ? "" : "s");
    return depth < 0 ? -1 : 0;
}

static void add_makespan(struct cli_table *t, const struct esp_plan *plan)
{
    struct espi_slices slices = espi_slices(plan->size_bytes, plan->slice_bytes);
    char time[32], size[32], slice[32];

    espi_format_time(time, sizeof time, plan->makespan_s);
    espi_format_bytes(size, sizeof size, plan->size_bytes);
    espi_format_bytes(slice, sizeof slice, slices.bytes);
    cli_table_add(t, "completion time");
    if (slices.count > 1)
        cli_table_add(t, "%s, for %s in %.0f slices of %s", time, size, slices.count,
                      slice);
    else
        cli_table_add(t, "%s, for %s in one piece", time, size);
    if (!(plan->makespan_bound_s > 0))
        return;
    cli_table_add(t, "at best");
    cli_table_add(t, "%s by any plan; this takes %.2f times as long",
                  espi_format_time(time, sizeof time, plan->makespan_bound_s),
                  plan->makespan_s / plan->makespan_bound_s);
}

static void add_throughput(struct cli_table *t, const struct esp_plan *plan)
{
    char text[32];

    if (plan->throughput_Bps > 0)
        add_row(t, "throughput",
                espi_format_bandwidth(text, sizeof text, plan->throughput_Bps));
    if (!(plan->bound_Bps > 0))
        return;
    cli_table_add(t, "bound");
    cli_table_add(t, "%s, of which this is %.1f%%",
                  espi_format_bandwidth(text, sizeof text, plan->bound_Bps),
                  100 * plan->throughput_Bps / plan->bound_Bps);
}

static int print_facts(const struct answer *a)
{
    static const struct cli_column columns[] = {{NULL, false}, {NULL, false}};
    const struct esp_plan *plan = a->plan;
    struct cli_table t;
    char text[32];

    cli_table_init(&t, columns, 2);
    cli_table_add(&t, "algorithm");
    cli_table_add(&t, "%s (%s)", plan->algo, a->algo->family);
    int bad = add_trees(&t, a);
    add_throughput(&t, plan);
    if (plan->throughput_Bps > 0 && a->bottleneck[0]) /* time was left to find it */
        add_row(&t, "bottleneck", a->bottleneck);
    add_makespan(&t, plan);
    add_row(&t, "planning", espi_format_time(text, sizeof text, plan->plan_s));
    if (!bad)
        bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    return bad;
}

static int print_text(const struct answer *a)
{
    const struct cli_args *args = a->args;
    const char *path = cli_text(args, "output");
    char ends[160], quoted[256], platform[256];

    cli_ends_text(ends, sizeof ends, a->p, a->plan->op, a->plan->root,
                  a->plan->n_targets);
    printf("%s%s %s%s\n\n", cli_bold(stdout), esp_op_name(a->plan->op), ends,
           cli_plain(stdout));
    if (a->plan->op != a->asked->op)
        printf("  The %s as %s %s: every host gets what all have, and combines it.\n\n",
               esp_op_name(a->asked->op), espi_article(esp_op_name(a->plan->op)),
               esp_op_name(a->plan->op));
    int bad = print_facts(a);
    bool small = a->p->n_hosts <= DRAW_HOSTS_MAX && a->plan->n_trees <= DRAW_TREES_MAX;
    if (!bad && espi_op_is_outward(a->plan->op) && (small || cli_has(args, "draw")))
        bad = cli_draw_plan(a->plan, a->p);
    if (bad)
        return cli_error(CLI_FAILED, "out of memory");
    if (!path)
        return CLI_OK;
    espi_quote(quoted, sizeof quoted, path);
    espi_quote(platform, sizeof platform, args->words[0]);
    printf("\nWritten to %s. Next: espalier simulate %s %s\n", quoted, platform, quoted);
    return CLI_OK;
}

/* ---- the command ---- */

static esp_status write_plan(const void *answer, FILE *out, struct esp_err *err)
{
    const struct answer *a = answer;

    return esp_plan_write_stream(a->plan, a->p, out, err);
}

static esp_status write_timed(const void *answer, FILE *out, struct esp_err *err)
{
    const struct answer *a = answer;

    return espi_plan_write_timed(a->plan, a->p, out, err);
}

/* Whose load sets the pace. */
static int find_bottleneck(struct answer *a)
{
    struct espi_arena arena;
    struct espi_resources resources;
    struct esp_err err = {.status = ESP_OK, .text = ""};
    const struct esp_plan *plan = a->plan;

    espi_arena_init(&arena);
    esp_status status = espi_plan_cost(a->p, plan, plan->size_bytes, plan->slice_bytes,
                                       &arena, &a->cost, &err);
    if (status == ESP_OK &&
        espi_resources_init(&resources, a->p, plan->slice_bytes, &arena))
        status = espi_err_nomem(&err);
    if (status == ESP_OK && resources.n > 0)
        espi_resource_text(&resources, a->p, a->cost.bottleneck, a->bottleneck,
                           sizeof a->bottleneck);
    espi_arena_done(&arena);
    return cli_fail(status, &err);
}

/* The two bounds, in what time is left. */
static void find_bounds(const struct cli_question *q, const struct cli_budget *budget,
                        struct esp_plan *plan)
{
    struct esp_request request = q->request;

    if (cli_has(q->args, "no-bound"))
        return;
    request.op = plan->op; /* an allgather, maybe, where an allreduce was asked for */
    request.size_bytes = plan->size_bytes;
    if (!(plan->bound_Bps > 0))
        plan->bound_Bps = cli_bound_Bps(q->p, &request, plan->slice_bytes,
                                        cli_budget_step_s(budget, 0.5, CLI_PLAN_BOUND_S));
    plan->makespan_bound_s =
        cli_makespan_bound_s(q->p, &request, q->p->model != ESP_MODEL_CAPACITY,
                             cli_budget_step_s(budget, 0.5, CLI_PLAN_BOUND_S));
}

/* Is it said in words? */
static bool is_for_people(const struct cli_args *args)
{
    const char *path = cli_text(args, "output");

    return !cli_has(args, "json") && !(path && strcmp(path, "-") == 0);
}

static int answer_plan(const struct answer *a)
{
    const char *path = cli_text(a->args, "output");
    bool to_stdout = path && strcmp(path, "-") == 0;
    int code = path ? cli_write(path, write_plan, a) : CLI_OK;

    if (code != CLI_OK || to_stdout)
        return code;
    return cli_has(a->args, "json") ? cli_write(NULL, write_timed, a) : print_text(a);
}

static int make_plan(struct cli_question *q)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct answer a = {.args = q->args, .p = q->p, .asked = &q->request};
    struct esp_plan *plan = NULL;
    const char *algo = q->request.algo;
    struct cli_budget budget;

    if (cli_has(q->args, "minimize"))
        return cli_plan_by_price(q);
    if (cli_is_usd(q->args, "budget") || cli_has(q->args, "deadline") ||
        cli_has(q->args, "hour-worth"))
        return cli_error(CLI_BAD_USAGE,
                         "%s is for plans by price: add --minimize cost or "
                         "--minimize time",
                         cli_has(q->args, "deadline")     ? "--deadline"
                         : cli_has(q->args, "hour-worth") ? "--hour-worth"
                                                          : "a --budget in USD");
    if (!espi_algo_find(algo, strcspn(algo, ":")))
        return cli_no_such_algorithm(algo);
    /* planning gets most of the time, the two bounds what is left */
    cli_budget_begin(&budget, q->args, q->request.budget_s, "planning");
    cli_progress_start(0, "planning");
    q->request.progress = cli_progress_found;
    if (q->request.budget_s > 0)
        q->request.budget_s = cli_budget_step_s(&budget, CLI_PLAN_PART, INFINITY);
    esp_status status = esp_plan_make(q->p, &q->request, &plan, &err);
    a.plan = plan;
    int code = status == ESP_OK ? CLI_OK : cli_fail(status, &err);
    if (code == CLI_OK && is_for_people(q->args) && !cli_budget_is_over(&budget))
        code = find_bottleneck(&a);
    if (code == CLI_OK)
        find_bounds(q, &budget, plan);
    cli_progress_end();
    cli_budget_end(&budget);
    if (code == CLI_OK)
        a.algo = espi_algo_find(plan->algo, strcspn(plan->algo, ":"));
    if (code == CLI_OK)
        code = answer_plan(&a);
    esp_plan_free(plan);
    return code;
}

static int run_plan(const struct cli_args *args)
{
    return cli_ask(args, make_plan);
}

const struct command cli_command_plan = {
    .name = "plan",
    .group = CLI_GROUP_PLAN,
    .summary = "plan a broadcast or another collective over a network",
    .about =
        (const char *const[]){
            "Makes a plan: the trees along which the slices of a message travel "
            "from the root to all other hosts, and the order in which each host "
            "sends. Prints its throughput, the upper bound on throughput and the "
            "bottleneck, and the completion time of a message of the given size.",
            "Small plans are drawn. The number beside a host is the bandwidth of "
            "the slowest link on the way from its sender. A host serves its "
            "children from top to bottom.",
            "On platforms with prices (usd_per_GB of links, usd_per_hour and "
            "max_count of machines), --minimize finds the cheapest or the fastest "
            "way to copy a message to the targets, through any hosts that may relay "
            "it, together with a lower bound on price or time.",
            NULL},
    .positionals = cli_platform_file,
    .options =
        (const struct cli_option[]){
            CLI_ENDS_OPTIONS,
            CLI_SIZE_OPTION,
            {.name = "slice",
             .kind = CLI_SIZE,
             .help = CLI_SLICE_HELP " Without it, the algorithm 'auto' finds a fitting "
                                    "size; the others take 63.5KiB."},
            {.name = "algo",
             .letter = 'a',
             .kind = CLI_STRING,
             .value = "NAME",
             .names = CLI_NAMES_ALGO,
             .fallback = "auto",
             .help = "The algorithm, perhaps with options: NAME:option=value,... "
                     "('espalier algorithms' lists them)."},
            CLI_MODEL_OPTION,
            CLI_SEED_OPTION,
            {.name = "budget",
             .kind = CLI_BUDGET,
             .help = "Time limit, bounds included; the answer is the best plan so far. "
                     "Without it, searches have limits of their own, which do not depend "
                     "on the machine. With "
                     "--minimize it is money, as in 40usd, and no plan may cost more."},
            {.name = "minimize",
             .kind = CLI_CHOICE,
             .choices = (const char *const[]){"cost", "time", NULL},
             .value = "WHAT",
             .help = "Plan a multicast or broadcast by price: the cheapest plan, or the "
                     "fastest and of these the cheapest, with its bill and what no plan "
                     "can beat."},
            {.name = "deadline",
             .kind = CLI_TIME,
             .help = "With --minimize: no plan may take longer."},
            {.name = "hour-worth",
             .kind = CLI_DOUBLE,
             .value = "USD",
             .limited = true,
             .max = 1e12,
             .help = "With --minimize cost: the worth of an hour; minimizes price plus "
                     "the worth of the time."},
            CLI_PRICED_OPTIONS,
            {.name = "no-bound", .help = "Do not compute the upper bound."},
            {.name = "draw", .help = "Draw the trees even if they are large."},
            {.name = "output",
             .letter = 'o',
             .kind = CLI_FILE,
             .help = "Write the plan to this file, atomically; "
                     "- is standard output."},
            {0}},
    .examples =
        (const struct cli_example[]){
            {"Send 1 GB from w3 to all:",
             "espalier plan p.json --root w3 --size 1GB -o plan.json"},
            {"By a given algorithm, whole messages:",
             "espalier plan p.json --root w3 --algo ecef --slice 0"},
            {"To a fifth of the hosts, drawn at random:",
             "espalier plan p.json --op multicast --targets 20%"},
            {"300 GB to three regions, in ten minutes, for the least money:",
             "espalier plan clouds.json --op multicast --root aws:us-east-1 --targets "
             "gcp:us-west1-a,azure:westeurope,aws:eu-west-1 --size 300GB --minimize cost "
             "--deadline 10min"},
            {"How fast would it be if nodes could send to many at once?",
             "espalier plan p.json --model multi-port --algo multiport-grow"},
            {0}},
    .see = (const char *const[]){"compare", "bound", "simulate", "algorithms", NULL},
    .run = run_plan,
};
