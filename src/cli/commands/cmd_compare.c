/* espalier compare: every algorithm, one table. The algorithms run side by side, one a
 * processor; each works on its own, so that the order of their ends changes nothing. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/simulate.h>

#include "algo/algo.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/units.h"
#include "base/watch.h"
#include "cli/commands/priced.h"
#include "cli/launching/parallel.h"
#include "cli/options/budget.h"
#include "cli/options/native.h"
#include "cli/options/plans.h"
#include "cli/options/platforms.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "cli/tuning.h"
#include "plan/ops.h"
#include "select/slices.h"

/* One algorithm and what came of it. */
struct entry {
    char *text;                   /* the name, perhaps with options */
    const struct espi_algo *algo; /* NULL: of an MPI library */
    struct espi_native_run native;
    esp_status status;
    struct esp_err err;
    int n_trees;
    double throughput_Bps, makespan_s, plan_s;
    double judged_s; /* the makespan as `auto` weighs it, what messages cost counted */
};

struct contest {
    const struct cli_args *args;
    const struct esp_platform *p;
    struct esp_request request; /* but for the algorithm */
    struct entry *entries;
    size_t n, capacity;
    size_t *turn; /* which entry is planned as number i */
    struct cli_budget budget;
    atomic_size_t jobs_left;
    double bound_Bps, makespan_bound_s; /* 0: not known */
};

/* ---- who takes part ---- */

static int add_entry(struct contest *c, const char *text, size_t length)
{
    char *copy = espi_malloc(length + 1);

    if (!copy ||
        espi_grow((void **)&c->entries, &c->capacity, c->n + 1, sizeof *c->entries)) {
        espi_free(copy);
        return cli_error(CLI_FAILED, "out of memory");
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    c->entries[c->n++] = (struct entry){.text = copy};
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

static int add_listed(struct contest *c, const char *list)
{
    int code = CLI_OK;

    while (*list && code == CLI_OK) {
        size_t length = algorithm_length(list);
        code = add_entry(c, list, length);
        list += length + (list[length] == ',');
    }
    return code;
}

static int add_all(struct contest *c)
{
    int n, code = CLI_OK;
    const struct espi_algo *const *algos = espi_algos(&n);

    for (int i = 0; i < n && code == CLI_OK; i++)
        if (espi_algo_serves(algos[i], c->request.op, c->request.targets != NULL))
            code = add_entry(c, algos[i]->name, strlen(algos[i]->name));
    return code;
}

/* Wrong names and options are found before anything runs. */
static int check_entries(struct contest *c)
{
    double values[ESPI_ALGO_OPTIONS_MAX];
    struct esp_err err = {.status = ESP_OK, .text = ""};

    for (size_t i = 0; i < c->n; i++) {
        struct entry *e = &c->entries[i];
        if (!espi_algo_find(e->text, strcspn(e->text, ":")))
            return cli_no_such_algorithm(e->text);
        esp_status status = espi_algo_parse(e->text, &e->algo, values, &err);
        if (status != ESP_OK)
            return cli_fail(status, &err);
    }
    return CLI_OK;
}

/* ---- what MPI libraries do ---- */

/* A library that does not serve the operation stands below with the reason. */
static int add_library(struct contest *c, const char *text, size_t length)
{
    struct cli_library library;
    struct espi_native_run run = {.root = c->request.root,
                                  .size_bytes = c->request.size_bytes};
    char name[96], why[120] = "";
    int code = cli_library_read(text, length, &library);

    if (code != CLI_OK)
        return code;
    if (c->request.targets)
        snprintf(why, sizeof why, "%s: its operations are for all hosts", library.name);
    else
        cli_library_choose(&library, c->args, c->p, c->request.op, &run, why, sizeof why);
    snprintf(name, sizeof name, "%s:%s", library.name, run.algo ? run.algo->name : "-");
    code = add_entry(c, name, strlen(name));
    if (code == CLI_OK) {
        struct entry *e = &c->entries[c->n - 1];
        e->native = run;
        if (!run.algo)
            e->status = espi_err(&e->err, ESP_EUNSUPPORTED, "%s", why);
    }
    cli_library_done(&library);
    return code;
}

static int enter_libraries(struct contest *c)
{
    const char *list;
    int code = CLI_OK;

    for (int i = 0; (list = cli_nth(c->args, "native", i)); i++)
        while (*list && code == CLI_OK) {
            size_t length = strcspn(list, ",");
            code = add_library(c, list, length);
            list += length + (list[length] == ',');
        }
    return code;
}

static int enter_algorithms(struct contest *c)
{
    const char *list;
    int code = CLI_OK;

    for (int i = 0; code == CLI_OK && (list = cli_nth(c->args, "algo", i)); i++)
        code = add_listed(c, list);
    if (code == CLI_OK && c->n == 0)
        code = add_all(c);
    if (code == CLI_OK)
        code = check_entries(c);
    return code == CLI_OK ? enter_libraries(c) : code;
}

/* ---- the runs ---- */

/* Of one call: a library does not know of the next. */
static void run_native(struct contest *c, struct entry *e, double share_s)
{
    struct espi_watch watch;

    if (e->status != ESP_OK)
        return;
    espi_watch_begin(&watch, share_s, NULL, NULL);
    e->status = espi_native_makespan(c->p, &e->native, &e->makespan_s, &e->err);
    espi_watch_end(&watch);
    e->judged_s = e->makespan_s; /* there it is in what is simulated */
    if (e->status == ESP_OK && e->makespan_s > 0)
        e->throughput_Bps = c->request.size_bytes / e->makespan_s;
}

/* As src/select does: where nothing plays trees to their end, by simulation. */
static esp_status judge_entry(const struct contest *c, const struct esp_plan *plan,
                              struct entry *e)
{
    double finish_s = plan->makespan_s;

    if (c->p->model == ESP_MODEL_HNOW && !espi_plan_has_steps(plan))
        finish_s = esp_judge_by_simulation(NULL, c->p, plan);
    if (espi_plan_with_messages_s(c->p, plan, finish_s, &e->judged_s))
        return espi_err_nomem(&e->err);
    return ESP_OK;
}

static void run_entry(struct contest *c, struct entry *e, double share_s)
{
    struct esp_request request = c->request;
    struct esp_plan *plan = NULL;

    if (cli_budget_is_over(&c->budget)) {
        e->status = espi_err(&e->err, ESP_EUNSUPPORTED,
                             "%s: no time was left for it (--budget)", e->text);
        return;
    }
    if (!e->algo) {
        run_native(c, e, share_s);
        return;
    }
    request.algo = e->text;
    request.budget_s = share_s;
    e->status = esp_plan_make(c->p, &request, &plan, &e->err);
    if (e->status != ESP_OK)
        return;
    e->n_trees = plan->n_trees;
    e->throughput_Bps = plan->throughput_Bps;
    e->makespan_s = plan->makespan_s;
    e->plan_s = plan->plan_s;
    e->status = judge_entry(c, plan, e);
    esp_plan_free(plan);
}

/* Who plans first, if there is not time for all: what one gets who names none, then what
 * is made for the operation, then what serves it by way of another. */
static int turn_of(const struct contest *c, const struct entry *e)
{
    if (!e->algo)
        return 1;
    if (e->algo->flags & ESPI_ALGO_CHOOSES && e->algo->flags & ESPI_ALGO_STANDARD)
        return 0;
    return e->algo->op == c->request.op || e->algo->op == espi_op_mirror(c->request.op)
               ? 1
               : 2;
}

static int order_turns(struct contest *c)
{
    size_t at = 0;

    c->turn = ESPI_NEW(size_t, c->n + 1);
    if (!c->turn)
        return cli_error(CLI_FAILED, "out of memory");
    for (int turn = 0; turn <= 2; turn++)
        for (size_t i = 0; i < c->n; i++)
            if (turn_of(c, &c->entries[i]) == turn)
                c->turn[at++] = i;
    return CLI_OK;
}

static double slice_bytes(const struct contest *c)
{
    return espi_slices(c->request.size_bytes, c->request.slice_bytes).bytes;
}

/* Jobs 0 and 1 are the bounds, the others are the entries, to whom goes what those before
 * leave of their time. */
static void run_job(void *contest, size_t i)
{
    struct contest *c = contest;
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

/* ---- the ranking ---- */

static int by_number(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* Of equals what chooses among the others comes first: it is what one gets who names
 * none. */
static int compare_equals(const struct entry *x, const struct entry *y)
{
    int chooses = x->algo && x->algo->flags & ESPI_ALGO_CHOOSES;
    int other_chooses = y->algo && y->algo->flags & ESPI_ALGO_CHOOSES;

    return other_chooses - chooses;
}

/* What failed comes last; other equals stay in the order in which they were entered. */
static int compare_entries(const struct entry *x, const struct entry *y, bool by_makespan)
{
    bool failed = x->status != ESP_OK, other_failed = y->status != ESP_OK;

    if (failed || other_failed)
        return (int)failed - (int)other_failed;
    int throughput = by_number(y->throughput_Bps, x->throughput_Bps);
    int makespan = by_number(x->judged_s, y->judged_s);
    if (!throughput && !makespan)
        return compare_equals(x, y);
    if (by_makespan)
        return makespan ? makespan : throughput;
    return throughput ? throughput : makespan;
}

static void rank_entries(struct contest *c)
{
    bool by_makespan = strcmp(cli_text(c->args, "sort"), "makespan") == 0;

    for (size_t i = 1; i < c->n; i++) {
        struct entry e = c->entries[i];
        size_t k = i;
        for (; k > 0 && compare_entries(&e, &c->entries[k - 1], by_makespan) < 0; k--)
            c->entries[k] = c->entries[k - 1];
        c->entries[k] = e;
    }
}

static bool has_ratio(const struct contest *c, const struct entry *e)
{
    return c->bound_Bps > 0 && e->throughput_Bps > 0;
}

static const char *family_of(const struct entry *e)
{
    return e->algo ? e->algo->family : "native";
}

/* ---- for programs ---- */

static int print_ranking_json(const struct contest *c)
{
    json_t *all = json_array();

    for (size_t i = 0; i < c->n; i++) {
        const struct entry *e = &c->entries[i];
        if (e->status != ESP_OK)
            continue;
        json_t *json = json_object();
        json_object_set_new(json, "algo", json_string(e->text));
        json_object_set_new(json, "family", json_string(family_of(e)));
        json_object_set_new(json, "trees", json_integer(e->n_trees));
        cli_json_real(json, "throughput_Bps", e->throughput_Bps);
        cli_json_real(json, "makespan_s", e->makespan_s);
        cli_json_real(json, "with_messages_s", e->judged_s);
        json_object_set_new(json, "ratio",
                            has_ratio(c, e) ? json_real(e->throughput_Bps / c->bound_Bps)
                                            : json_null());
        json_object_set_new(json, "makespan_ratio",
                            c->makespan_bound_s > 0
                                ? json_real(e->makespan_s / c->makespan_bound_s)
                                : json_null());
        cli_json_real(json, "plan_s", e->plan_s);
        json_array_append_new(all, json);
    }
    return cli_print_json(all);
}

/* A name with its options may hold commas. */
static int print_ranking_csv(const struct contest *c)
{
    printf("algo,family,trees,throughput_Bps,makespan_s,ratio,makespan_ratio,plan_s\n");
    for (size_t i = 0; i < c->n; i++) {
        const struct entry *e = &c->entries[i];
        if (e->status != ESP_OK)
            continue;
        printf("\"%s\",%s,%d,%.9g,%.9g,", e->text, family_of(e), e->n_trees,
               e->throughput_Bps, e->makespan_s);
        if (has_ratio(c, e))
            printf("%.9g", e->throughput_Bps / c->bound_Bps);
        printf(",");
        if (c->makespan_bound_s > 0)
            printf("%.9g", e->makespan_s / c->makespan_bound_s);
        printf(",%.9g\n", e->plan_s);
    }
    return cli_flush_stdout();
}

/* ---- for people ---- */

static void add_row(struct cli_table *t, const struct contest *c, const struct entry *e)
{
    char text[32];

    cli_table_add(t, "%s", e->text);
    cli_table_add(t, "%s", family_of(e));
    if (e->algo)
        cli_table_add(t, "%d", e->n_trees);
    else
        cli_table_add(t, "-");
    cli_table_add(t, "%s",
                  e->throughput_Bps > 0
                      ? espi_format_bandwidth(text, sizeof text, e->throughput_Bps)
                      : "-");
    cli_table_add(t, "%s", espi_format_time(text, sizeof text, e->makespan_s));
    if (c->makespan_bound_s > 0)
        cli_table_add(t, "%.2f", e->makespan_s / c->makespan_bound_s);
    else
        cli_table_add(t, "-");
    if (has_ratio(c, e))
        cli_table_add(t, "%.3f", e->throughput_Bps / c->bound_Bps);
    else
        cli_table_add(t, "-");
    cli_table_add(t, "%s", espi_format_time(text, sizeof text, e->plan_s));
}

static int print_table(const struct contest *c)
{
    static const struct cli_column columns[] = {
        {"algorithm", false}, {"family", false}, {"trees", true},    {"throughput", true},
        {"completion", true}, {"of best", true}, {"of bound", true}, {"planning", true}};
    struct cli_table t;

    cli_table_init(&t, columns, 8);
    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].status == ESP_OK)
            add_row(&t, c, &c->entries[i]);
    int bad = t.failed || t.n_cells ? cli_table_print(&t, stdout, 2) : 0;
    cli_table_done(&t);
    return bad;
}

static void print_heading(const struct contest *c)
{
    struct espi_slices slices =
        espi_slices(c->request.size_bytes, c->request.slice_bytes);
    char ends[160], size[32], text[32];

    cli_ends_text(ends, sizeof ends, c->p, c->request.op, c->request.root,
                  c->request.n_targets);
    espi_format_bytes(size, sizeof size, c->request.size_bytes);
    printf("%s%s of %s %s", cli_bold(stdout), esp_op_name(c->request.op), size, ends);
    if (slices.count > 1)
        printf(" in slices of %s", espi_format_bytes(text, sizeof text, slices.bytes));
    else
        printf(" in one piece");
    printf("%s\n\n", cli_plain(stdout));
}

/* Where one row is before another that has a shorter makespan. */
static void explain_order(const struct contest *c)
{
    bool in_order = strcmp(cli_text(c->args, "sort"), "makespan") != 0;
    char text[32];

    for (size_t i = 1; i < c->n && c->entries[i].status == ESP_OK; i++)
        if (!in_order && c->entries[i].makespan_s < c->entries[i - 1].makespan_s) {
            if (c->p->model == ESP_MODEL_HNOW)
                printf("\nRows are in the order of simulated completion times.\n");
            else
                printf("\nRows are in the order of completion times with %s for each "
                       "message "
                       "that a host gets.\n",
                       espi_format_time(text, sizeof text, espi_message_s(c->p)));
            return;
        }
}

static int print_text(const struct contest *c)
{
    const char *title = "\nThese could not be used:\n";
    char bound[32];

    print_heading(c);
    if (print_table(c))
        return cli_error(CLI_FAILED, "out of memory");
    explain_order(c);
    if (c->bound_Bps > 0)
        printf("\nNo plan has more than %s in the long run.\n",
               espi_format_bandwidth(bound, sizeof bound, c->bound_Bps));
    if (c->makespan_bound_s > 0)
        printf("%sNo plan ends before %s, in whatever slices.\n",
               c->bound_Bps > 0 ? "" : "\n",
               espi_format_time(bound, sizeof bound, c->makespan_bound_s));
    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].status != ESP_OK) {
            printf("%s  ", title);
            cli_wrap(stdout, c->entries[i].err.text, 2, 4, cli_term_width());
            title = "";
        }
    return CLI_OK;
}

/* ---- the command ---- */

/* That an algorithm is not for such a platform is no failure, but any other reason is;
 * so is having nothing to show. */
static int judge_outcomes(const struct contest *c)
{
    size_t planned = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct entry *e = &c->entries[i];
        planned += e->status == ESP_OK;
        if (e->status != ESP_OK && e->status != ESP_EUNSUPPORTED)
            return cli_fail(e->status, &e->err);
    }
    return planned ? CLI_OK : cli_error(CLI_FAILED, "no algorithm could be used");
}

static int run_algorithms(struct contest *c)
{
    int code = enter_algorithms(c);

    if (code == CLI_OK)
        code = order_turns(c);
    if (code != CLI_OK)
        return code;
    cli_budget_begin(&c->budget, c->args, c->request.budget_s, "planning");
    atomic_store(&c->jobs_left, c->n + 2);
    cli_parallel(c->n + 2, run_job, c, "planning");
    cli_budget_end(&c->budget);
    rank_entries(c);
    code = cli_has(c->args, "json")  ? print_ranking_json(c)
           : cli_has(c->args, "csv") ? print_ranking_csv(c)
                                     : print_text(c);
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
    struct contest c = {.args = q->args, .p = q->p, .request = q->request};
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
             .value = "LIBRARY,...",
             .help = "Also simulate these MPI libraries: openmpi, mpich, each perhaps "
                     "with a version, as in openmpi@4.1.4; may be given more than once."},
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
            {"What does an hour less cost?",
             "espalier compare clouds.json --op multicast --root aws:us-east-1 --targets "
             "gcp:us-west1-a,aws:eu-west-1 --size 300GB --front"},
            {0}},
    .see = (const char *const[]){"plan", "bound", "algorithms", NULL},
    .run = run_compare,
};
