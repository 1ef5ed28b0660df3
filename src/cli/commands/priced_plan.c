/* espalier plan --minimize: the cheapest plan within a deadline, or the fastest within a
 * budget, what it costs, and what no plan can beat. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/units.h"
#include "cli/commands/priced.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "plan/plan.h"
#include "platform/platform.h"
#include "solve/priced/front.h"

enum { BILL_LINES = 40, NAMES_MAX = 8 }; /* looks: lines; names in a sentence */
#define SECONDS_AN_HOUR 3600.0           /* derived */
#define BEST_TO         1e-6             /* rounding: shown as 0 */

struct priced_answer {
    const struct cli_args *args;
    const struct esp_platform *p;
    const struct espi_priced_task *task;
    const struct espi_priced *is;
    int by_time;
    struct esp_plan *plan;
};

/* ---- what is asked for ---- */

int cli_priced_task(const struct cli_question *q, struct espi_priced_task *task)
{
    const struct esp_request *r = &q->request;

    if (r->op != ESP_OP_MULTICAST && r->op != ESP_OP_BCAST)
        return cli_error(CLI_BAD_USAGE,
                         "plans by price are for --op multicast and --op bcast");
    *task = (struct espi_priced_task){
        .p = q->p,
        .root = r->root,
        .n_targets = r->n_targets,
        .targets = r->op == ESP_OP_MULTICAST ? r->targets : NULL,
        .size_bytes = r->size_bytes,
        .partitions = (int)cli_int(q->args, "partitions"),
        .max_machines =
            cli_has(q->args, "machines") ? (int)cli_int(q->args, "machines") : 0,
        .deadline_s = INFINITY,
        .budget_usd = INFINITY};
    return CLI_OK;
}

/* Objective, deadline and budget of `plan`. */
static int read_objective(const struct cli_question *q, struct espi_priced_task *task)
{
    const struct cli_args *args = q->args;
    int by_time = strcmp(cli_text(args, "minimize"), "time") == 0;

    if (!by_time && !esp_platform_has_prices(q->p))
        return cli_error(CLI_BAD_INPUT,
                         "the platform has no prices: give its links usd_per_GB, or its "
                         "nodes usd_per_hour (docs/formats.md), or --minimize time");
    if (cli_has(args, "budget") && !cli_is_usd(args, "budget"))
        return cli_error(CLI_BAD_USAGE,
                         "--budget: with --minimize it is money, as in --budget 40usd");
    if (by_time && cli_has(args, "hour-worth"))
        return cli_error(CLI_BAD_USAGE,
                         "--hour-worth is for --minimize cost: an hour less is then "
                         "worth so much");
    if (cli_has(args, "deadline") && !(cli_number(args, "deadline") > 0))
        return cli_error(CLI_BAD_USAGE, "--deadline: a plan takes some time");
    task->usd_weight = by_time ? 0 : 1;
    task->s_weight = by_time ? 1 : 0;
    if (cli_has(args, "hour-worth"))
        task->s_weight = cli_number(args, "hour-worth") / SECONDS_AN_HOUR;
    if (cli_has(args, "deadline"))
        task->deadline_s = cli_number(args, "deadline");
    if (cli_has(args, "budget"))
        task->budget_usd = cli_number(args, "budget");
    return CLI_OK;
}

/* ---- answers ---- */

static int is_relay(const struct espi_priced_task *task, const struct espi_priced *a,
                    int v)
{
    if (!a->machines[v] || v == task->root || !task->targets)
        return 0;
    for (int i = 0; i < task->n_targets; i++)
        if (task->targets[i] == v)
            return 0;
    return 1;
}

int cli_priced_relays(const struct espi_priced_task *task, const struct espi_priced *a)
{
    int n = 0;

    for (int v = 0; v < task->p->n_nodes; v++)
        n += is_relay(task, a, v);
    return n;
}

/* ---- for people ---- */

static void add_row(struct cli_table *t, const char *name, const char *text)
{
    cli_table_add(t, "%s", name);
    cli_table_add(t, "%s", text);
}

static double total_usd(const struct espi_priced *a)
{
    return a->usd_bytes + a->usd_machines;
}

static double gap_of(const struct espi_priced *a)
{
    return a->bound > 0 ? a->objective / a->bound - 1 : 0;
}

static void add_bound(struct cli_table *t, const struct priced_answer *a)
{
    char bound[64], text[200];
    double gap = gap_of(a->is);

    if (a->by_time)
        espi_format_time(bound, sizeof bound, a->is->bound);
    else if (a->task->s_weight > 0)
        snprintf(bound, sizeof bound, "%.4f USD, hours counted", a->is->bound);
    else
        snprintf(bound, sizeof bound, "%.4f USD", a->is->bound);
    if (gap <= BEST_TO)
        snprintf(text, sizeof text, "%s: no plan %s less, this is the best", bound,
                 a->by_time ? "takes" : "costs");
    else
        snprintf(text, sizeof text, "%s: no plan %s less; this has %.3g%% more", bound,
                 a->by_time ? "takes" : "costs", 100 * gap);
    add_row(t, "at best", text);
}

static void add_relays(struct cli_table *t, const struct priced_answer *a)
{
    char text[400] = "";
    size_t used = 0;
    int n = cli_priced_relays(a->task, a->is), named = 0;

    for (int v = 0; v < a->p->n_nodes && named < NAMES_MAX; v++) {
        char shown[40];
        if (!is_relay(a->task, a->is, v))
            continue;
        espi_quote(shown, sizeof shown, espi_node_name(a->p, v));
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 named++ ? ", " : "", shown);
    }
    cli_table_add(t, "relays");
    if (n)
        cli_table_add(t, "%d that want nothing: %s%s", n, text, n > named ? ", ..." : "");
    else
        cli_table_add(t, "none but the targets");
}

static int print_facts(const struct priced_answer *a)
{
    static const struct cli_column columns[] = {{NULL, false}, {NULL, false}};
    const struct espi_priced *is = a->is;
    struct cli_table t;
    char time[32], rate[32], fastest[32];
    int machines = 0, nodes = 0;

    for (int v = 0; v < a->p->n_nodes; v++) {
        machines += is->machines[v];
        nodes += is->machines[v] > 0;
    }
    espi_format_time(time, sizeof time, is->time_s);
    espi_format_time(fastest, sizeof fastest, is->fastest_s);
    espi_format_bandwidth(rate, sizeof rate, a->task->size_bytes / is->time_s);
    cli_table_init(&t, columns, 2);
    cli_table_add(&t, "price");
    cli_table_add(&t, "%.4f USD: %.4f for bytes, %.4f for machines", total_usd(is),
                  is->usd_bytes, is->usd_machines);
    cli_table_add(&t, "time");
    cli_table_add(&t, "%s, %s%s%s", time, rate,
                  a->by_time ? "" : "; whatever it costs, no less than ",
                  a->by_time ? "" : fastest);
    add_bound(&t, a);
    cli_table_add(&t, "trees");
    cli_table_add(&t, "%d", is->n_trees);
    add_relays(&t, a);
    cli_table_add(&t, "machines");
    cli_table_add(&t, "%d at %d nodes", machines, nodes);
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    return bad;
}

double cli_priced_usd_per_GB(const struct esp_platform *p, int link)
{
    double usd = esp_platform_link_price(p, link);

    for (int i = 0; i < esp_platform_link_cable_count(p, link); i++)
        usd += esp_platform_cable_price(p, esp_platform_link_cable(p, link, i));
    return usd;
}

struct bill_line {
    int link;
    double GB, usd;
};

static int by_usd(const void *a, const void *b)
{
    const struct bill_line *x = a, *y = b;

    if (x->usd != y->usd)
        return x->usd > y->usd ? -1 : 1;
    return x->link < y->link ? -1 : x->link > y->link;
}

/* Links that carry something, the dearest first; free with espi_free. -1: no memory. */
static int make_bill(const struct priced_answer *a, struct bill_line **out)
{
    struct bill_line *lines = ESPI_NEW(struct bill_line, a->p->n_links + 1);
    int n = 0;

    if (!lines)
        return -1;
    for (int e = 0; e < a->p->n_links; e++) {
        double GB = a->is->usage[e] * a->task->size_bytes / ESPI_BYTES_PER_GB;
        if (GB > 0)
            lines[n++] = (struct bill_line){e, GB, GB * cli_priced_usd_per_GB(a->p, e)};
    }
    qsort(lines, (size_t)n, sizeof *lines, by_usd);
    *out = lines;
    return n;
}

static int print_bill(const struct priced_answer *a)
{
    static const struct cli_column columns[] = {
        {"from", false}, {"to", false}, {"GB", true}, {"USD/GB", true}, {"USD", true}};
    struct bill_line *lines;
    struct cli_table t;
    int n = make_bill(a, &lines);

    if (n < 0)
        return -1;
    printf("\n%sBytes%s\n", cli_bold(stdout), cli_plain(stdout));
    cli_table_init(&t, columns, 5);
    for (int i = 0; i < n && i < BILL_LINES; i++) {
        int e = lines[i].link;
        cli_table_add(&t, "%s", espi_node_name(a->p, a->p->tail[e]));
        cli_table_add(&t, "%s", espi_node_name(a->p, a->p->head[e]));
        cli_table_add(&t, "%.6g", lines[i].GB);
        cli_table_add(&t, "%g", cli_priced_usd_per_GB(a->p, e));
        cli_table_add(&t, "%.4f", lines[i].usd);
    }
    int bad = cli_table_print(&t, stdout, 2);
    if (n > BILL_LINES)
        printf("  and %d more ('--json' lists all)\n", n - BILL_LINES);
    cli_table_done(&t);
    espi_free(lines);
    return bad;
}

static int print_machines(const struct priced_answer *a)
{
    static const struct cli_column columns[] = {
        {"node", false}, {"machines", true}, {"of", true}, {"USD", true}};
    struct cli_table t;

    printf("\n%sMachines%s\n", cli_bold(stdout), cli_plain(stdout));
    cli_table_init(&t, columns, 4);
    for (int v = 0; v < a->p->n_nodes; v++) {
        struct esp_machines m = esp_platform_node_machines(a->p, v);
        if (!a->is->machines[v])
            continue;
        cli_table_add(&t, "%s", espi_node_name(a->p, v));
        cli_table_add(&t, "%d", a->is->machines[v]);
        cli_table_add(&t, "%d", m.max_count);
        cli_table_add(&t, "%.4f",
                      a->is->machines[v] * m.usd_per_hour * a->is->time_s /
                          SECONDS_AN_HOUR);
    }
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    return bad;
}

static int print_text(const struct priced_answer *a)
{
    const char *path = cli_text(a->args, "output");
    char ends[160], quoted[256];

    cli_ends_text(ends, sizeof ends, a->p, a->plan->op, a->plan->root,
                  a->plan->n_targets);
    printf("%s%s %s%s\n\n", cli_bold(stdout), esp_op_name(a->plan->op), ends,
           cli_plain(stdout));
    if (print_facts(a) || print_bill(a) || print_machines(a))
        return cli_error(CLI_FAILED, "out of memory");
    if (path)
        printf("\nWritten to %s.\n", espi_quote(quoted, sizeof quoted, path));
    return CLI_OK;
}

/* ---- for programs ---- */

static json_t *bill_json(const struct priced_answer *a)
{
    struct bill_line *lines;
    int n = make_bill(a, &lines);
    json_t *all = n < 0 ? NULL : json_array();

    for (int i = 0; i < n; i++) {
        json_t *line = json_object();
        int e = lines[i].link;
        json_object_set_new(line, "from",
                            json_string(espi_node_name(a->p, a->p->tail[e])));
        json_object_set_new(line, "to", json_string(espi_node_name(a->p, a->p->head[e])));
        cli_json_real(line, "bytes", lines[i].GB * ESPI_BYTES_PER_GB);
        cli_json_real(line, "usd", lines[i].usd);
        json_array_append_new(all, line);
    }
    if (n >= 0)
        espi_free(lines);
    return all;
}

static json_t *machines_json(const struct priced_answer *a)
{
    json_t *all = json_array();

    for (int v = 0; v < a->p->n_nodes; v++) {
        struct esp_machines m = esp_platform_node_machines(a->p, v);
        if (!a->is->machines[v])
            continue;
        json_t *line = json_object();
        json_object_set_new(line, "node", json_string(espi_node_name(a->p, v)));
        json_object_set_new(line, "count", json_integer(a->is->machines[v]));
        json_object_set_new(line, "relay", json_boolean(is_relay(a->task, a->is, v)));
        cli_json_real(line, "usd",
                      a->is->machines[v] * m.usd_per_hour * a->is->time_s /
                          SECONDS_AN_HOUR);
        json_array_append_new(all, line);
    }
    return all;
}

/* Each transfer of each tree: what goes from where to where. */
static json_t *transfers_json(const struct priced_answer *a)
{
    json_t *all = json_array();

    for (int t = 0; t < a->is->n_trees; t++)
        for (int i = 0; i < a->is->trees[t].n_links; i++) {
            int e = a->is->trees[t].links[i];
            json_t *line = json_object();
            json_object_set_new(line, "tree", json_integer(t));
            json_object_set_new(line, "from",
                                json_string(espi_node_name(a->p, a->p->tail[e])));
            json_object_set_new(line, "to",
                                json_string(espi_node_name(a->p, a->p->head[e])));
            cli_json_real(line, "bytes", a->is->trees[t].share * a->task->size_bytes);
            json_array_append_new(all, line);
        }
    return all;
}

static json_t *targets_json(const struct priced_answer *a)
{
    json_t *all = json_array();

    for (int v = 0; v < a->p->n_nodes; v++)
        if (v != a->task->root && a->is->machines[v] && !is_relay(a->task, a->is, v))
            json_array_append_new(all, json_string(espi_node_name(a->p, v)));
    return all;
}

static int print_priced_json(const struct priced_answer *a)
{
    const struct espi_priced *is = a->is;
    json_t *json = json_object();

    json_object_set_new(json, "op", json_string(esp_op_name(a->plan->op)));
    json_object_set_new(json, "minimize", json_string(a->by_time ? "time" : "cost"));
    json_object_set_new(json, "root", json_string(espi_node_name(a->p, a->task->root)));
    json_object_set_new(json, "targets", targets_json(a));
    cli_json_real(json, "size_bytes", a->task->size_bytes);
    json_object_set_new(json, "partitions", json_integer(a->task->partitions));
    cli_json_real(json, "deadline_s", a->task->deadline_s);
    cli_json_real(json, "budget_usd", a->task->budget_usd);
    cli_json_real(json, "usd", total_usd(is));
    cli_json_real(json, "usd_bytes", is->usd_bytes);
    cli_json_real(json, "usd_machines", is->usd_machines);
    cli_json_real(json, "time_s", is->time_s);
    if (!a->by_time && a->task->s_weight > 0)
        cli_json_real(json, "objective_usd", is->objective);
    cli_json_real(json,
                  a->by_time              ? "bound_s"
                  : a->task->s_weight > 0 ? "bound_objective_usd"
                                          : "bound_usd",
                  is->bound);
    cli_json_real(json, "gap", gap_of(is));
    json_object_set_new(json, "proven_optimal", json_boolean(is->optimal));
    cli_json_real(json, "fastest_s", is->fastest_s);
    json_object_set_new(json, "relays", json_integer(cli_priced_relays(a->task, is)));
    json_object_set_new(json, "machines", machines_json(a));
    json_object_set_new(json, "bill", bill_json(a));
    json_object_set_new(json, "transfers", transfers_json(a));
    return cli_print_json(json);
}

/* ---- the command ---- */

static esp_status write_priced_plan(const void *answer, FILE *out, struct esp_err *err)
{
    const struct priced_answer *a = answer;

    return esp_plan_write_stream(a->plan, a->p, out, err);
}

static int answer_priced(struct priced_answer *a, esp_op op)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    const char *path = cli_text(a->args, "output");
    esp_status status = cli_priced_make_plan(
        a->task, a->is, op, a->by_time ? "least-time" : "least-cost", &a->plan, &err);

    if (status != ESP_OK)
        return cli_fail(status, &err);
    int code = path ? cli_write(path, write_priced_plan, a) : CLI_OK;
    if (code == CLI_OK && !(path && strcmp(path, "-") == 0))
        code = cli_has(a->args, "json") ? print_priced_json(a) : print_text(a);
    esp_plan_free(a->plan);
    return code;
}

int cli_plan_by_price(struct cli_question *q)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct espi_arena arena;
    struct espi_priced_task task = {0};
    struct espi_priced is = {0};
    struct priced_answer a = {.args = q->args, .p = q->p, .task = &task, .is = &is};
    int code = cli_priced_task(q, &task);

    if (code == CLI_OK)
        code = read_objective(q, &task);
    if (code != CLI_OK)
        return code;
    a.by_time = !(task.usd_weight > 0);
    espi_arena_init(&arena);
    cli_progress_start(0, "planning");
    esp_status status = espi_priced_solve(&task, &arena, &is, &err);
    cli_progress_end();
    code = status ? cli_fail(status, &err) : answer_priced(&a, q->request.op);
    espi_arena_done(&arena);
    return code;
}
