/* espalier simulate: what a plan would do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/input.h"
#include "base/number.h"
#include "base/units.h"
#include "base/watch.h"
#include "cli/options/native.h"
#include "cli/options/plans.h"
#include "cli/options/platforms.h"
#include "cli/printing/output.h"
#include "cli/printing/simulate.h"
#include "cli/printing/term.h"
#include "cli/tuning.h"
#include "plan/ops.h"
#include "plan/schedule.h"
#include "schedule/arrange.h"

/* ---- what is simulated ---- */

static int read_plan(struct cli_sim *r)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};

    cli_progress_start(0, "reading the plan");
    esp_status status = esp_plan_read(r->args->words[1], r->p, &r->plan, &err);
    cli_progress_end();
    return cli_fail(status, &err);
}

static int read_trace(struct cli_sim *r)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    const struct esp_platform *p = r->reality ? r->reality : r->p;
    const char *path = cli_text(r->args, "trace"), *word;
    esp_status status = path ? esp_trace_read(&r->trace, p, path, &err) : ESP_OK;

    for (int i = 0; status == ESP_OK && (word = cli_nth(r->args, "fault", i)); i++) {
        status = esp_trace_add(&r->trace, p, word, &err);
        if (status != ESP_OK)
            espi_err_prefix(&err, status, "--fault");
    }
    return cli_fail(status, &err);
}

/* Which nodes of the plan's platform stop; the trace speaks of those of the reality. */
static int note_stops(struct cli_sim *r)
{
    r->stops = ESPI_ARENA_ZNEW(&r->arena, unsigned char, r->p->n_nodes);
    if (!r->stops)
        return cli_error(CLI_FAILED, "out of memory");
    for (size_t i = 0; i < r->trace.n_stops; i++) {
        int node = r->trace.stops[i].node;
        if (r->reality)
            node = esp_platform_find_node(r->p, espi_node_name(r->reality, node));
        if (node >= 0)
            r->stops[node] = 1;
    }
    return CLI_OK;
}

/* A message of another size, or in other slices, than the plan's gets a schedule of its
 * own; so does one for a plan that has none. */
static int schedule_message(struct cli_sim *r)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_schedule *schedule = NULL;
    struct espi_watch watch;
    double size = r->options.size_bytes > 0 ? r->options.size_bytes : r->plan->size_bytes;
    double slice =
        r->options.slice_bytes > 0 ? r->options.slice_bytes : r->plan->slice_bytes;

    if (espi_plan_has_steps(r->plan) ||
        (r->plan->schedule && size == r->plan->size_bytes &&
         slice == r->plan->slice_bytes))
        return CLI_OK;
    espi_watch_begin(
        &watch, r->budget.total_s > 0 ? cli_budget_step_s(&r->budget, 0.5, INFINITY) : 0,
        NULL, NULL);
    esp_status status =
        espi_schedule_make(r->p, r->plan, size, slice, ESPI_EFFORT_FULL, &schedule, &err);
    espi_watch_end(&watch);
    if (status != ESP_OK)
        return cli_fail(status, &err);
    espi_schedule_free(r->plan->schedule);
    r->plan->schedule = schedule;
    return CLI_OK;
}

static int set_scene(struct cli_sim *r)
{
    const struct cli_args *args = r->args;
    const char *path = cli_text(args, "reality");
    int code = cli_read_platform(args, args->words[0], NULL, &r->p);

    if (code == CLI_OK && path)
        code = cli_read_platform(args, path, NULL, &r->reality);
    if (code == CLI_OK)
        code = read_plan(r);
    if (code == CLI_OK)
        code = read_trace(r);
    if (code == CLI_OK)
        code = note_stops(r);
    const char *sharing = cli_text(args, "sharing");
    r->options = (struct esp_sim_options){
        .size = sizeof(struct esp_sim_options),
        .reality = r->reality,
        .size_bytes = cli_has(args, "size") ? cli_number(args, "size") : 0,
        .slice_bytes = cli_has(args, "slice") ? cli_number(args, "slice") : 0,
        .sharing = strcmp(sharing, "fluid") == 0       ? ESP_SHARING_FLUID
                   : strcmp(sharing, "exclusive") == 0 ? ESP_SHARING_EXCLUSIVE
                                                       : ESP_SHARING_MODEL,
        .changes = r->trace.changes,
        .n_changes = (int)r->trace.n_changes,
        .stops = r->trace.stops,
        .n_stops = (int)r->trace.n_stops,
        .alpha = cli_number(args, "alpha"),
    };
    return code == CLI_OK ? schedule_message(r) : code;
}

/* ---- what an MPI library does ---- */

static int find_native_root(const struct cli_sim *r, int *root)
{
    int node = 0;

    if (cli_has(r->args, "root"))
        return cli_find_root(r->p, r->args->words[0], cli_text(r->args, "root"), root);
    while (node < r->p->n_nodes && espi_is_switch(r->p, node))
        node++;
    *root = node;
    return node < r->p->n_nodes ? CLI_OK
                                : cli_error(CLI_BAD_INPUT, "the platform has no host");
}

static int set_native_scene(struct cli_sim *r, struct espi_native_run *run)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_request standard;
    const struct cli_args *args = r->args;
    int code = cli_check_native_options(args);

    if (code == CLI_OK)
        code = cli_read_platform(args, args->words[0], NULL, &r->p);
    if (code == CLI_OK)
        code = find_native_root(r, &run->root);
    if (code != CLI_OK)
        return code;
    esp_request_init(&standard, run->root);
    run->size_bytes =
        cli_has(args, "size") ? cli_number(args, "size") : standard.size_bytes;
    code = cli_parse_native(cli_text(args, "native"), args, r->p, run);
    if (code != CLI_OK)
        return code;
    if (cli_has(args, "slice"))
        run->segment_bytes = (int64_t)cli_number(args, "slice");
    if (cli_has(args, "fanout"))
        run->fanout = (int)cli_int(args, "fanout");
    r->native = run;
    esp_status status =
        esp_plan_create(run->algo->op, run->root, run->algo->name, &r->plan, &err);
    if (status != ESP_OK)
        return cli_fail(status, &err);
    r->plan->size_bytes = run->size_bytes;
    r->plan->slice_bytes = (double)run->segment_bytes;
    return note_stops(r);
}

/* ---- the simulation, as often as somebody wants to see its transfers ---- */

static long long expected_transfers(const struct cli_sim *r)
{
    double edges = 0;

    for (int t = 0; t < r->plan->n_trees; t++)
        edges += r->plan->trees[t].weight * r->plan->trees[t].n_edges;
    double all = edges * cli_sim_slices(r).count;
    return all < 1e18 ? (long long)all : 0;
}

/* The time of this run: its share of what is left. 0: as long as it takes. */
static double run_time_s(struct cli_sim *r)
{
    int runs = r->runs_left > 1 ? r->runs_left : 1;

    r->runs_left--;
    return r->budget.total_s > 0 ? cli_budget_step_s(&r->budget, 1.0 / runs, INFINITY)
                                 : 0;
}

static esp_status simulate_native(struct cli_sim *r, const struct espi_native_run *run,
                                  struct esp_sim_result **out, struct esp_err *err)
{
    struct espi_watch watch;

    espi_watch_begin(&watch, run_time_s(r), NULL, NULL);
    esp_status status = espi_native_simulate(r->p, run, out, err);
    espi_watch_end(&watch);
    return status;
}

static esp_status
simulate_plan(struct cli_sim *r,
              void (*on_transfer)(void *, const struct esp_sim_transfer *), void *arg,
              struct esp_sim_result **out, struct esp_err *err)
{
    struct esp_sim_options options = r->options;
    char where[160];

    if (r->native) {
        struct espi_native_run run = *r->native;
        run.on_transfer = on_transfer;
        run.arg = arg;
        return simulate_native(r, &run, out, err);
    }
    options.on_transfer = on_transfer;
    options.arg = arg;
    options.budget_s = run_time_s(r);
    esp_status status = esp_simulate(r->p, r->plan, &options, out, err);
    if (status == ESP_EINPUT && r->reality) {
        espi_input_where(where, sizeof where, cli_text(r->args, "reality"));
        espi_err_prefix(err, status, where);
    }
    return status;
}

static void count_transfer(void *run, const struct esp_sim_transfer *transfer)
{
    struct cli_sim *r = run;
    double end_s = transfer->lost ? transfer->start_s : transfer->end_s;

    r->end_s = end_s > r->end_s ? end_s : r->end_s;
    if (++r->seen % 4096 == 0)
        cli_progress_update(r->seen);
}

static int simulate_first(struct cli_sim *r)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};

    r->runs_left = 1 + (cli_text(r->args, "transfers") != NULL) +
                   (cli_has(r->args, "gantt") && !cli_has(r->args, "json"));
    cli_progress_start(expected_transfers(r), "simulating");
    esp_status status = simulate_plan(r, count_transfer, r, &r->result, &err);
    cli_progress_end();
    return cli_fail(status, &err);
}

esp_status cli_simulate_again(struct cli_sim *r,
                              void (*on_transfer)(void *,
                                                  const struct esp_sim_transfer *),
                              void *arg, struct esp_err *err)
{
    struct esp_sim_result *same = NULL;
    esp_status status = simulate_plan(r, on_transfer, arg, &same, err);

    esp_sim_result_free(same);
    return status;
}

/* ---- transfers in a file ---- */

struct listing {
    const struct esp_platform *p;
    FILE *out;
};

/* A cell of CSV; names may hold commas and quotation marks. */
/* As it is, for programs that look for the name; but a terminal must not obey it. */
static void put_cell(FILE *out, const char *text)
{
    char shown[256];

    if (isatty(fileno(out)))
        text = espi_quote(shown, sizeof shown, text);
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void put_transfer(void *listing, const struct esp_sim_transfer *t)
{
    const struct listing *l = listing;
    char start[ESPI_NUMBER_MAX], end[ESPI_NUMBER_MAX] = "";

    espi_number_print(start, t->start_s);
    if (!t->lost)
        espi_number_print(end, t->end_s);
    put_cell(l->out, espi_node_name(l->p, t->from));
    putc(',', l->out);
    put_cell(l->out, espi_node_name(l->p, t->to));
    fprintf(l->out, ",%d,%lld,%s,%s,%d\n", t->tree, (long long)t->slice, start, end,
            t->lost != 0);
}

static esp_status write_transfers(const void *run, FILE *out, struct esp_err *err)
{
    struct cli_sim copy = *(const struct cli_sim *)run;
    struct listing l = {copy.p, out};

    fputs("from,to,tree,slice,start_s,end_s,lost\n", out);
    esp_status status = cli_simulate_again(&copy, put_transfer, &l, err);
    if (status == ESP_OK && (fflush(out) || ferror(out)))
        return espi_err(err, ESP_EIO, "cannot write the transfers");
    return status;
}

/* ---- the bound ---- */

/* Of the network as the plan was made for it: faults and another reality change what can
 * be done, and a race is simulated by other rules. */
static void find_bound(struct cli_sim *r)
{
    struct esp_request request = {.op = r->plan->op,
                                  .root = r->plan->root,
                                  .n_targets = r->plan->n_targets,
                                  .targets = r->plan->targets,
                                  .size_bytes = cli_sim_size_bytes(r)};

    if (!r->reality && !r->options.n_changes && !r->options.n_stops &&
        !r->plan->redundant)
        r->bound_s = cli_makespan_bound_s(
            r->p, &request, r->options.sharing == ESP_SHARING_EXCLUSIVE,
            cli_budget_step_s(&r->budget, 1, CLI_PLAN_BOUND_S));
}

/* ---- the command ---- */

static int answer_simulation(struct cli_sim *r)
{
    const char *path = cli_text(r->args, "transfers");
    int code = CLI_OK;

    if (path)
        code = cli_write(path, write_transfers, r);
    if (code != CLI_OK || (path && strcmp(path, "-") == 0))
        return code;
    find_bound(r);
    return cli_has(r->args, "json") ? cli_print_sim_json(r) : cli_print_sim(r);
}

static int run_simulate(const struct cli_args *args)
{
    struct cli_sim r = {.args = args};
    struct espi_native_run native = {.algo = NULL};
    int code = CLI_OK;

    if (args->n_words < 2 && !cli_has(args, "native"))
        return cli_error(CLI_BAD_USAGE,
                         "PLAN or --native is missing (see 'espalier simulate --help')");
    espi_arena_init(&r.arena);
    cli_budget_begin(&r.budget, args,
                     cli_has(args, "budget") ? cli_number(args, "budget") : 0,
                     "simulating");
    code = cli_has(args, "native") ? set_native_scene(&r, &native) : set_scene(&r);
    if (code == CLI_OK)
        code = simulate_first(&r);
    if (code == CLI_OK)
        code = answer_simulation(&r);
    cli_budget_end(&r.budget);
    esp_sim_result_free(r.result);
    espi_trace_done(&r.trace);
    esp_plan_free(r.plan);
    esp_platform_free(r.reality);
    esp_platform_free(r.p);
    espi_arena_done(&r.arena);
    return code;
}

const struct command cli_command_simulate = {
    .name = "simulate",
    .group = CLI_GROUP_PLAN,
    .summary = "run a plan on a simulated network",
    .about =
        (const char *const[]){
            "Runs a plan slice by slice on the network it was made for, or on another "
            "(--reality): the real network, where the plan was made from old or wrong "
            "measurements. Hosts are matched by name.",
            "Redundant plans (--algo two-tree or patient) race: hosts have several "
            "senders and take the message from the faster one. A host that loses all its "
            "senders is served by the nearest host that has the message.",
            "With --native it runs what an MPI library does by itself, rank i on host i: "
            "LIBRARY:OPERATION:ALGORITHM, or LIBRARY:OPERATION for what the library "
            "chooses for the size of the message. LIBRARY is openmpi or mpich, perhaps "
            "with a version as in openmpi@4.1.4. Messages share the network fairly, as "
            "TCP does; long ones wait for their receiver. A host has the message when "
            "its call is over.",
            "Faults can be injected (--fault, --trace); the answer then says which hosts "
            "got the message and which did not. A fault is one of",
            "  node:NAME@TIME              the host stops at that time\n"
            "  link:FROM:TO@TIME[=FACTOR]  the link runs at FACTOR times its "
            "bandwidth;\n"
            "                              without a factor it is down\n"
            "  pair:A:B@TIME[=FACTOR]      the links of both directions do\n"
            "  cable:NAME@TIME[=FACTOR]    a shared link does",
            "A trace is a text file of the same events, one per line: TIME, KIND, NAME, "
            "a second NAME where the kind has two, and FACTOR except for nodes; the "
            "factor may also be the word down or up. Fields are separated by commas, or "
            "by blanks where no name contains one; lines that begin with # are comments.",
            NULL},
    .positionals =
        (const struct cli_positional[]){
            {.name = "FILE",
             .kind = CLI_FILE,
             .help = "The platform that the plan was made for; - is standard input."},
            {.name = "PLAN",
             .kind = CLI_FILE,
             .optional = true,
             .help = "The plan, as 'espalier plan -o' writes it; not with --native."},
            {0}},
    .options =
        (const struct cli_option[]){
            {.name = "reality",
             .kind = CLI_FILE,
             .help = "Simulate on this platform instead; it must have the plan's links."},
            {.name = "size",
             .letter = 's',
             .kind = CLI_SIZE,
             .limited = true,
             .min = 1,
             .max = INFINITY,
             .help = "The size of the message, instead of the plan's; with a schedule "
                     "made for it."},
            {.name = "slice",
             .kind = CLI_SIZE,
             .limited = true,
             .min = 1,
             .max = INFINITY,
             .help = "The largest slice, instead of the plan's; with a schedule made for "
                     "it."},
            {.name = "sharing",
             .kind = CLI_CHOICE,
             .choices = (const char *const[]){"model", "exclusive", "fluid", NULL},
             .fallback = "model",
             .help = "How transfers share what they meet on: one after the other "
                     "(exclusive), all at once with a fair part each, as TCP does "
                     "(fluid), or as plans of the platform's model claim: fluid in the "
                     "capacity model, else exclusive."},
            {.name = "alpha",
             .kind = CLI_DOUBLE,
             .limited = true,
             .min = 0,
             .max = 1e6,
             .fallback = "0",
             .help =
                 "Races of redundant plans: how long a receiver pauses to compare two "
                 "senders, in mean times of a transfer of the first tree."},
            {.name = "fault",
             .kind = CLI_STRING,
             .value = "SPEC",
             .help = "A fault, see above; may be given more than once."},
            {.name = "trace",
             .kind = CLI_FILE,
             .help = "Read faults and changes from this file."},
            {.name = "gantt",
             .letter = 'g',
             .help = "Draw a timeline of what each host does."},
            {.name = "rows",
             .kind = CLI_INT,
             .limited = true,
             .min = 1,
             .max = 100000,
             .fallback = "24",
             .help =
                 "The number of hosts in the timeline; those served first are left out."},
            {.name = "transfers",
             .kind = CLI_FILE,
             .value = "FILE.csv",
             .help = "Write a line for each transfer of each slice: from, to, tree, "
                     "slice, start, arrival, lost or not; - is standard output."},
            {.name = "native",
             .kind = CLI_STRING,
             .value = "LIBRARY:OPERATION[:ALGORITHM]",
             .help = "What an MPI library does, instead of a plan; --slice is its "
                     "segment."},
            {.name = "root",
             .letter = 'r',
             .kind = CLI_STRING,
             .value = "NODE",
             .names = CLI_NAMES_HOST,
             .help = "With --native: the root, by name or number; without it, the first "
                     "host."},
            {.name = "fanout",
             .kind = CLI_INT,
             .limited = true,
             .min = 1,
             .max = 1000,
             .help = "With --native: how many chains, or the radix of a k-nomial tree, "
                     "instead of the library's own."},
            CLI_EAGER_OPTION,
            {.name = "budget",
             .kind = CLI_TIME,
             .help = "Time limit. A simulation that has not finished by then fails and "
                     "reports how far it got."},
            CLI_MODEL_OPTION,
            {0}},
    .examples =
        (const struct cli_example[]){
            {"As it was planned:", "espalier simulate p.json plan.json --gantt"},
            {"The link from w3 to w9 fails after 0.5 s, and host m1 after 2 s:",
             "espalier simulate p.json plan.json --fault link:w3:w9@0.5s --fault "
             "node:m1@2s"},
            {"On a network that is not what was measured, shared as TCP shares it:",
             "espalier simulate p.json plan.json --reality q.json --sharing fluid"},
            {"What Open MPI does by itself with 1 MB:",
             "espalier simulate p.json --native openmpi:bcast --size 1MB"},
            {"One of its algorithms, in segments:",
             "espalier simulate p.json --native openmpi:bcast:pipeline --size 1MB "
             "--slice "
             "64KB"},
            {0}},
    .see = (const char *const[]){"plan", "compare", NULL},
    .run = run_simulate,
};
