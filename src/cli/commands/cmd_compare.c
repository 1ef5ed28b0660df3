/* espalier compare: every algorithm, one table. The algorithms run side by side, one a
 * processor; each works on its own, so that the order of their ends changes nothing. */
#include "cli/commands/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/simulate.h>

#include "base/alloc.h"
#include "cli/commands/priced.h"
#include "cli/launching/parallel.h"
#include "cli/options/native.h"
#include "cli/options/plans.h"
#include "cli/options/platforms.h"
#include "cli/tuning.h"
#include "plan/ops.h"
#include "select/slices.h"

/* ---- who takes part ---- */

int cli_compare_add(struct comparison *c, const char *text, size_t length)
{
    char *copy = espi_malloc(length + 1);

    if (!copy ||
        espi_grow((void **)&c->entries, &c->capacity, c->n + 1, sizeof *c->entries)) {
        espi_free(copy);
        return cli_error(CLI_FAILED, "out of memory");
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    c->entries[c->n++] = (struct compare_entry){.text = copy};
    return CLI_OK;
}

/* How long the first algorithm of "a,b:x=1,y=2,c" is: what holds a '=' before any ':' is
 * an option of the one before. */
static size_t algorithm_length(const char *text)
{
    size_t length = strcspn(text, ",");

    while (text[length]) {
        const char *piece = text + length + 1;
        if (piece[strcspn(piece, ",:=")] != '=')
            break;
        length += 1 + strcspn(piece, ",");
    }
    return length;
}

static int add_listed(struct comparison *c, const char *list)
{
    int code = CLI_OK;

    while (*list && code == CLI_OK) {
        size_t length = algorithm_length(list);
        code = cli_compare_add(c, list, length);
        list += length + (list[length] == ',');
    }
    return code;
}

/* Is it what one gets who names none? */
static bool is_standard_choice(const struct espi_algo *algo, esp_op op)
{
    return algo->flags & ESPI_ALGO_CHOOSES && algo->flags & ESPI_ALGO_STANDARD &&
           (algo->op == op || algo->op == ESP_OP_BCAST);
}

static int add_all(struct comparison *c)
{
    int n, code = CLI_OK;
    const struct espi_algo *const *algos = espi_algos(&n);

    bool has_auto = false;

    for (int i = 0; i < n && code == CLI_OK; i++)
        if (espi_algo_serves(algos[i], c->request.op, c->request.targets != NULL)) {
            has_auto |= is_standard_choice(algos[i], c->request.op);
            code = cli_compare_add(c, algos[i]->name, strlen(algos[i]->name));
        }
    return code == CLI_OK && !has_auto ? cli_compare_add(c, "auto", 4) : code;
}

/* Wrong names and options are found before anything runs. */
static int check_entries(struct comparison *c)
{
    double values[ESPI_ALGO_OPTIONS_MAX];
    struct esp_err err = {.status = ESP_OK, .text = ""};

    for (size_t i = 0; i < c->n; i++) {
        struct compare_entry *e = &c->entries[i];
        if (!espi_algo_find(e->text, strcspn(e->text, ":")))
            return cli_no_such_algorithm(e->text);
        esp_status status = espi_algo_parse(e->text, &e->algo, values, &err);
        if (status != ESP_OK)
            return cli_fail(status, &err);
    }
    return CLI_OK;
}

static int enter_algorithms(struct comparison *c)
{
    const char *list;
    int code = CLI_OK;

    for (int i = 0; code == CLI_OK && (list = cli_nth(c->args, "algo", i)); i++)
        code = add_listed(c, list);
    if (code == CLI_OK && c->n == 0)
        code = add_all(c);
    if (code == CLI_OK)
        code = check_entries(c);
    return code == CLI_OK ? cli_compare_add_libraries(c) : code;
}

/* ---- the runs ---- */

/* As src/select does: where nothing plays trees to their end, by simulation. */
static esp_status judge_entry(const struct comparison *c, const struct esp_plan *plan,
                              struct compare_entry *e)
{
    double finish_s = plan->makespan_s;

    if (c->p->model == ESP_MODEL_HNOW && !espi_plan_has_steps(plan))
        finish_s = esp_judge_by_simulation(NULL, c->p, plan);
    if (espi_plan_with_messages_s(c->p, plan, finish_s, &e->judged_s))
        return espi_err_nomem(&e->err);
    return ESP_OK;
}

static void run_entry(struct comparison *c, struct compare_entry *e, double share_s)
{
    struct esp_request request = c->request;
    struct esp_plan *plan = NULL;

    if (cli_budget_is_over(&c->budget)) {
        e->status = espi_err(&e->err, ESP_EUNSUPPORTED,
                             "%s: no time was left for it (--budget)", e->text);
        return;
    }
    if (!e->algo) {
        cli_compare_run_native(c, e, share_s);
        return;
    }
    request.algo = e->text;
    request.budget_s = share_s;
    e->status = esp_plan_make(c->p, &request, &plan, &e->err);
    if (e->status != ESP_OK)
        return;
    e->n_trees = plan->n_trees;
    /* of what is asked for, also where hosts get what all have of it */
    e->throughput_Bps = plan->throughput_Bps * request.size_bytes / plan->size_bytes;
    e->makespan_s = plan->makespan_s;
    e->plan_s = plan->plan_s;
    e->status = judge_entry(c, plan, e);
    esp_plan_free(plan);
}

/* Who plans first, if there is not time for all: what one gets who names none, then what
 * is made for the operation, then what serves it by way of another. */
static int turn_of(const struct comparison *c, const struct compare_entry *e)
{
    if (!e->algo)
        return 1;
    if (e->algo->flags & ESPI_ALGO_CHOOSES && e->algo->flags & ESPI_ALGO_STANDARD)
        return 0;
    return e->algo->op == c->request.op || e->algo->op == espi_op_mirror(c->request.op)
               ? 1
               : 2;
}

static size_t cost_of_entry(const struct compare_entry *e)
{
    return e->algo ? cli_planning_cost(e->algo) : 1;
}

/* Within a turn the long ones first, so that none is waited for at the end; but where
 * time is short all have their share of it, in the order of the registry. */
static int order_turns(struct comparison *c)
{
    bool in_order = c->request.budget_s > 0;
    size_t at = 0;

    c->turn = ESPI_NEW(size_t, c->n + 1);
    if (!c->turn)
        return cli_error(CLI_FAILED, "out of memory");
    for (int turn = 0; turn <= 2; turn++)
        for (int is_long = 1; is_long >= 0; is_long--)
            for (size_t i = 0; i < c->n; i++) {
                const struct compare_entry *e = &c->entries[i];
                int now = in_order ? 1 : cost_of_entry(e) != 1;
                if (turn_of(c, e) == turn && now == is_long)
                    c->turn[at++] = i;
            }
    return CLI_OK;
}

static double slice_bytes(const struct comparison *c)
{
    return espi_slices(c->request.size_bytes, c->request.slice_bytes).bytes;
}

/* Jobs 0 and 1 are the bounds, the others are the entries, to whom goes what those before
 * leave of their time. */
static void run_job(void *contest, size_t i)
{
    struct comparison *c = contest;
    double share_s = cli_budget_share_s(&c->budget, atomic_fetch_sub(&c->jobs_left, 1));
    double bound_s = share_s > 0 ? fmin(share_s, CLI_BOUND_S) : CLI_BOUND_S;

    if (i == 0)
        c->bound_Bps = cli_bound_Bps(c->p, &c->request, slice_bytes(c), bound_s);
    else if (i == 1)
        c->makespan_bound_s = cli_makespan_bound_s(
            c->p, &c->request, c->p->model != ESP_MODEL_CAPACITY, bound_s);
    else
        run_entry(c, &c->entries[c->turn[i - 2]], share_s);
}

static size_t cost_of_job(const void *contest, size_t i)
{
    const struct comparison *c = contest;
    size_t cost = i < 2 ? CLI_HARD_COST : cost_of_entry(&c->entries[c->turn[i - 2]]);
    size_t all = 1;

    for (size_t k = 0; k < c->n; k++)
        all += cost_of_entry(&c->entries[k]);
    return cost ? cost : all;
}

/* ---- the ranking ---- */

static int by_number(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* Are they equal but for rounding? */
static bool is_tie(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Of equals what chooses among the others comes first: it is what one gets who names
 * none. */
static int compare_equals(const struct compare_entry *x, const struct compare_entry *y)
{
    int chooses = x->algo && x->algo->flags & ESPI_ALGO_CHOOSES;
    int other_chooses = y->algo && y->algo->flags & ESPI_ALGO_CHOOSES;

    return other_chooses - chooses;
}

/* What failed comes last; other equals stay in the order in which they were entered. */
static int compare_entries(const struct compare_entry *x, const struct compare_entry *y,
                           bool by_makespan)
{
    bool failed = x->status != ESP_OK, other_failed = y->status != ESP_OK;

    if (failed || other_failed)
        return (int)failed - (int)other_failed;
    int throughput = by_number(y->throughput_Bps, x->throughput_Bps);
    int makespan = by_number(x->judged_s, y->judged_s);
    int equals = compare_equals(x, y);
    if (equals && (by_makespan ? is_tie(x->judged_s, y->judged_s)
                               : is_tie(x->throughput_Bps, y->throughput_Bps)))
        return equals;
    if (by_makespan)
        return makespan ? makespan : throughput;
    return throughput ? throughput : makespan;
}

static void rank_entries(struct comparison *c)
{
    bool by_makespan = strcmp(cli_text(c->args, "sort"), "makespan") == 0;

    for (size_t i = 1; i < c->n; i++) {
        struct compare_entry e = c->entries[i];
        size_t k = i;
        for (; k > 0 && compare_entries(&e, &c->entries[k - 1], by_makespan) < 0; k--)
            c->entries[k] = c->entries[k - 1];
        c->entries[k] = e;
    }
}

/* ---- the command ---- */

/* That an algorithm is not for such a platform is no failure, but any other reason is;
 * so is having nothing to show. */
static int judge_outcomes(const struct comparison *c)
{
    size_t planned = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct compare_entry *e = &c->entries[i];
        planned += e->status == ESP_OK;
        if (e->status != ESP_OK && e->status != ESP_EUNSUPPORTED)
            return cli_fail(e->status, &e->err);
    }
    return planned ? CLI_OK : cli_error(CLI_FAILED, "no algorithm could be used");
}

static int run_algorithms(struct comparison *c)
{
    int code = enter_algorithms(c);

    if (code == CLI_OK)
        code = order_turns(c);
    if (code != CLI_OK)
        return code;
    cli_budget_begin(&c->budget, c->args, c->request.budget_s, "planning");
    atomic_store(&c->jobs_left, c->n + 2);
    cli_parallel(&(struct cli_jobs){.n = c->n + 2,
                                    .job = run_job,
                                    .cost = cost_of_job,
                                    .arg = c,
                                    .what = "planning"});
    cli_budget_end(&c->budget);
    rank_entries(c);
    code = cli_compare_print(c);
    return code == CLI_OK ? judge_outcomes(c) : code;
}

static int answer_compare(struct cli_question *q)
{
    if (cli_has(q->args, "front") && cli_has(q->args, "csv"))
        return cli_error(CLI_BAD_USAGE, "--front has a table and JSON, and no CSV");
    if (cli_has(q->args, "front"))
        return cli_price_front(q);
    if (cli_has(q->args, "csv") && cli_has(q->args, "json"))
        return cli_error(CLI_BAD_USAGE, "--csv and --json: ask for one of the two");
    struct comparison c = {.args = q->args, .p = q->p, .request = q->request};
    int code = run_algorithms(&c);

    for (size_t i = 0; i < c.n; i++)
        espi_free(c.entries[i].text);
    espi_free(c.entries);
    espi_free(c.turn);
    return code;
}

static int run_compare(const struct cli_args *args)
{
    return cli_ask(args, answer_compare);
}

const struct command cli_command_compare = {
    .name = "compare",
    .group = CLI_GROUP_PLAN,
    .summary = "plan by every algorithm and rank the plans",
    .about =
        (const char *const[]){
            "Runs every algorithm on the platform, or those of --algo, and prints "
            "one table: the throughput of each plan for long messages, the "
            "completion time of this message, that time as a multiple of the lower "
            "bound on it (of best; 1 is the best), the throughput as a part of the "
            "upper bound (of bound), and how long planning took. Algorithms that "
            "cannot be used on the platform are listed below, with the reason.",
            "With --native the table also has the algorithms of MPI libraries for "
            "such a message, simulated with rank i on host i. Their throughput is "
            "that of one call.",
            "With --front: how price depends on time on a platform with prices, as "
            "a curve of the cheapest plans from the fastest on. Each comes with a "
            "lower bound on the price of any plan within its deadline.",
            NULL},
    .positionals = cli_platform_file,
    .options =
        (const struct cli_option[]){
            CLI_ENDS_OPTIONS,
            CLI_SIZE_OPTION,
            {.name = "slice",
             .kind = CLI_SIZE,
             .fallback = "63.5KiB",
             .help = CLI_SLICE_HELP},
            {.name = "algo",
             .letter = 'a',
             .kind = CLI_STRING,
             .value = "NAME,...",
             .names = CLI_NAMES_ALGO,
             .help = "These algorithms only, each perhaps with options, as in "
                     "flat,NAME:option=value; may be given more than once."},
            {.name = "native",
             .kind = CLI_STRING,
             .value = "LIBRARY[:ALGORITHM],...",
             .help = "Also simulate these MPI libraries: openmpi, mpich, each perhaps "
                     "with a version, as in openmpi@4.1.4, by what they choose, by an "
                     "algorithm of theirs, as in openmpi:ring, or by all that they have "
                     "for the operation, as in mpich:all; may be given more than once."},
            CLI_EAGER_OPTION,
            {.name = "sort",
             .kind = CLI_CHOICE,
             .choices = (const char *const[]){"throughput", "makespan", NULL},
             .fallback = "makespan",
             .help = "Sort by the highest throughput, or by the shortest completion time "
                     "including the cost of messages, by which auto chooses."},
            {.name = "csv", .help = "Print comma-separated values."},
            CLI_MODEL_OPTION,
            CLI_SEED_OPTION,
            CLI_BUDGET_OPTION,
            {.name = "front",
             .help = "Compare plans by price instead: from the fastest to the cheapest, "
                     "the cheapest within each of some deadlines. For multicasts and "
                     "broadcasts on platforms with prices."},
            CLI_POINTS_OPTION,
            CLI_PRICED_OPTIONS,
            {0}},
    .examples =
        (const struct cli_example[]){
            {"All of them, for the default message:", "espalier compare p.json"},
            {"Which completes first with 1 MB from w3?",
             "espalier compare p.json --root w3 --size 1MB --sort makespan"},
            {"Two of them:", "espalier compare p.json --algo ecef,grow"},
            {"A plan beside what MPI libraries do:",
             "espalier compare p.json --algo auto --native openmpi,mpich --size 1MB"},
            {"All allreduces of the field, and those of Open MPI:",
             "espalier compare p.json --op allreduce --native openmpi:all"},
            {"What does an hour less cost?",
             "espalier compare clouds.json --op multicast --root aws:us-east-1 --targets "
             "gcp:us-west1-a,aws:eu-west-1 --size 300GB --front"},
            {0}},
    .see = (const char *const[]){"plan", "bound", "algorithms", NULL},
    .run = run_compare,
};
