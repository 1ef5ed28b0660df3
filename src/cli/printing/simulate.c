/* What is said about a simulation. */
#include <math.h>

#include "base/err.h"
#include "base/units.h"
#include "cli/options/plans.h"
#include "cli/printing/gantt.h"
#include "cli/printing/output.h"
#include "cli/printing/simulate.h"
#include "cli/printing/term.h"
#include "platform/platform.h"

enum { LIST_MAX = 6, NAMES_MAX = 12 };

double cli_sim_size_bytes(const struct cli_sim *r)
{
    return r->options.size_bytes > 0 ? r->options.size_bytes : r->plan->size_bytes;
}

struct espi_slices cli_sim_slices(const struct cli_sim *r)
{
    double slice =
        r->options.slice_bytes > 0 ? r->options.slice_bytes : r->plan->slice_bytes;

    if (r->plan->redundant) /* races are over whole messages */
        slice = 0;
    return espi_slices(cli_sim_size_bytes(r), slice);
}

/* ---- who got it ---- */

static bool is_lost(const struct cli_sim *r, int node)
{
    return r->result->is_for[node] && !isfinite(r->result->delivered_s[node]) &&
           !r->stops[node];
}

static bool is_stopped(const struct cli_sim *r, int node)
{
    return r->stops[node];
}

/* ---- for programs ---- */

static json_t *names_json(const struct cli_sim *r,
                          bool (*chosen)(const struct cli_sim *r, int node))
{
    json_t *names = json_array();

    for (int u = 0; u < r->p->n_nodes; u++)
        if (chosen(r, u))
            json_array_append_new(names, json_string(espi_node_name(r->p, u)));
    return names;
}

static json_t *delivered_json(const struct cli_sim *r)
{
    json_t *json = json_object();

    for (int u = 0; u < r->p->n_nodes; u++)
        if (r->result->is_for[u] || u == r->plan->root)
            cli_json_real(json, espi_node_name(r->p, u), r->result->delivered_s[u]);
    return json;
}

static json_t *resources_json(const struct esp_sim_result *result)
{
    json_t *all = json_array();

    for (int i = 0; i < result->n_resources; i++) {
        const struct esp_sim_resource *x = result->resources[i];
        json_t *json = json_object();
        json_object_set_new(json, "resource", json_string(x->text));
        cli_json_real(json, "busy_s", x->busy_s);
        cli_json_real(json, "utilisation", x->utilisation);
        json_array_append_new(all, json);
    }
    return all;
}

static json_t *race_json(const struct esp_sim_result *result)
{
    json_t *json = json_object();

    json_object_set_new(json, "covered", json_integer(result->covered));
    json_object_set_new(json, "adopted", json_integer(result->adopted));
    cli_json_real(json, "raced_s", result->raced_s);
    json_object_set_new(json, "pauses", json_integer((json_int_t)result->pauses));
    json_object_set_new(json, "switches", json_integer((json_int_t)result->switches));
    return json;
}

static json_t *native_json(const struct espi_native_run *run)
{
    json_t *json = json_object();

    json_object_set_new(json, "library", json_string(run->algo->library));
    json_object_set_new(json, "op", json_string(esp_op_name(run->algo->op)));
    json_object_set_new(json, "algorithm", json_string(run->algo->name));
    json_object_set_new(json, "segment_bytes", json_integer(run->segment_bytes));
    json_object_set_new(json, "fanout", json_integer(run->fanout));
    cli_json_real(json, "eager_bytes", run->protocol.eager_bytes);
    return json;
}

int cli_print_sim_json(const struct cli_sim *r)
{
    const struct esp_sim_result *result = r->result;
    json_t *json = json_object();

    cli_json_real(json, "makespan_s", result->makespan_s);
    if (r->bound_s > 0) {
        cli_json_real(json, "makespan_bound_s", r->bound_s);
        cli_json_real(json, "makespan_ratio", result->makespan_s / r->bound_s);
    }
    cli_json_real(json, "throughput_Bps", result->throughput_Bps);
    cli_json_real(json, "size_bytes", cli_sim_size_bytes(r));
    cli_json_real(json, "slice_bytes", cli_sim_slices(r).bytes);
    json_object_set_new(json, "transfers", json_integer((json_int_t)result->transfers));
    json_object_set_new(json, "delivered", delivered_json(r));
    json_object_set_new(json, "lost", names_json(r, is_lost));
    json_object_set_new(json, "stopped", names_json(r, is_stopped));
    if (r->plan->redundant)
        json_object_set_new(json, "race", race_json(result));
    if (r->native)
        json_object_set_new(json, "native", native_json(r->native));
    json_object_set_new(json, "resources", resources_json(result));
    return cli_print_json(json);
}

/* ---- for people ---- */

static void add_names(struct cli_table *t, const struct cli_sim *r, const char *title,
                      bool (*chosen)(const struct cli_sim *r, int node))
{
    char text[400] = "", name[32];
    size_t at = 0;
    int n = 0;

    for (int u = 0; u < r->p->n_nodes; u++) {
        if (!chosen(r, u) || n++ >= NAMES_MAX)
            continue;
        espi_quote(name, sizeof name, espi_node_name(r->p, u));
        if (at < sizeof text)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? ", " : "",
                                   name);
    }
    if (n > NAMES_MAX && at < sizeof text)
        snprintf(text + at, sizeof text - at, " and %d more", n - NAMES_MAX);
    if (n == 0)
        return;
    cli_table_add(t, "%s", title);
    cli_table_add(t, "%d: %s", n, text);
}

static void add_makespan(struct cli_table *t, const struct cli_sim *r, int got)
{
    char text[32], planned[32];
    double planned_s = r->plan->makespan_s;
    bool comparable = planned_s > 0 && cli_sim_size_bytes(r) == r->plan->size_bytes;

    espi_format_time(text, sizeof text, r->result->makespan_s);
    espi_format_time(planned, sizeof planned, planned_s);
    cli_table_add(t, "completion time");
    if (got == 0 && r->result->n_for > 0)
        cli_table_add(t, "none: nobody got all of it");
    else if (comparable)
        cli_table_add(t, "%s (planned: %s)", text, planned);
    else
        cli_table_add(t, "%s", text);
    if (!(r->bound_s > 0))
        return;
    cli_table_add(t, "at best");
    cli_table_add(t, "%s by any plan; this takes %.2f times as long",
                  espi_format_time(text, sizeof text, r->bound_s),
                  r->result->makespan_s / r->bound_s);
}

static void add_race(struct cli_table *t, const struct esp_sim_result *result)
{
    char text[32];

    cli_table_add(t, "race");
    cli_table_add(t, "%llu changes of sender, %llu pauses to compare two",
                  (unsigned long long)result->switches,
                  (unsigned long long)result->pauses);
    if (!result->adopted)
        return;
    cli_table_add(t, "repair");
    cli_table_add(t, "%d hosts adopted after the race was over at %s", result->adopted,
                  espi_format_time(text, sizeof text, result->raced_s));
}

static int print_facts(const struct cli_sim *r)
{
    static const struct cli_column columns[] = {{NULL, false}, {NULL, false}};
    const struct esp_sim_result *result = r->result;
    struct cli_table t;
    char text[32];
    int got = 0;

    for (int u = 0; u < r->p->n_nodes; u++)
        got += result->is_for[u] && isfinite(result->delivered_s[u]);
    cli_table_init(&t, columns, 2);
    add_makespan(&t, r, got);
    cli_table_add(&t, "throughput");
    cli_table_add(&t, "%s",
                  espi_format_bandwidth(text, sizeof text, result->throughput_Bps));
    cli_table_add(&t, "delivered");
    cli_table_add(&t, "to %d of %d hosts", got, result->n_for);
    add_names(&t, r, "stopped", is_stopped);
    add_names(&t, r, "lost", is_lost);
    cli_table_add(&t, "transfers");
    cli_table_add(&t, "%llu", (unsigned long long)result->transfers);
    if (r->plan->redundant)
        add_race(&t, result);
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    return bad;
}

/* Hosts that got it last, latest first; ties by number. */
static int next_slowest(const struct cli_sim *r, int before)
{
    const double *at_s = r->result->delivered_s;
    int best = -1;

    for (int u = 0; u < r->p->n_nodes; u++) {
        bool left = before < 0 || at_s[u] < at_s[before] ||
                    (at_s[u] == at_s[before] && u > before);
        if (!r->result->is_for[u] || !isfinite(at_s[u]) || !left)
            continue;
        if (best < 0 || at_s[u] > at_s[best])
            best = u;
    }
    return best;
}

static int print_slowest(const struct cli_sim *r)
{
    static const struct cli_column columns[] = {{"host", false}, {"had it after", true}};
    struct cli_table t;
    char text[32];
    int u = next_slowest(r, -1);

    if (u < 0)
        return 0;
    printf("\n%sServed last%s\n", cli_bold(stdout), cli_plain(stdout));
    cli_table_init(&t, columns, 2);
    for (int i = 0; i < LIST_MAX && u >= 0; i++, u = next_slowest(r, u)) {
        cli_table_add(&t, "%s", espi_node_name(r->p, u));
        cli_table_add(&t, "%s",
                      espi_format_time(text, sizeof text, r->result->delivered_s[u]));
    }
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    return bad;
}

static int print_busiest(const struct esp_sim_result *result)
{
    static const struct cli_column columns[] = {
        {"resource", false}, {"busy", true}, {"of the time", true}};
    struct cli_table t;
    char text[32];

    if (result->n_resources == 0)
        return 0;
    printf("\n%sBusiest%s\n", cli_bold(stdout), cli_plain(stdout));
    cli_table_init(&t, columns, 3);
    for (int i = 0; i < result->n_resources && i < LIST_MAX; i++) {
        const struct esp_sim_resource *x = result->resources[i];
        cli_table_add(&t, "%s", x->text);
        cli_table_add(&t, "%s", espi_format_time(text, sizeof text, x->busy_s));
        cli_table_add(&t, "%.1f%%", 100 * x->utilisation);
    }
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    return bad;
}

static int print_timeline(struct cli_sim *r)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct cli_gantt g;
    int rows = (int)cli_int(r->args, "rows");

    if (!(r->end_s > 0))
        return CLI_OK;
    if (cli_gantt_init(&g, r->p, r->plan->root, r->result, r->end_s, rows, &r->arena))
        return cli_error(CLI_FAILED, "out of memory");
    esp_status status = cli_simulate_again(r, cli_gantt_add, &g, &err);
    if (status == ESP_OK)
        cli_gantt_print(&g);
    return cli_fail(status, &err);
}

static void print_heading(const struct cli_sim *r)
{
    struct espi_slices cut = cli_sim_slices(r);
    char ends[96], size[32], slice[32];

    espi_format_bytes(size, sizeof size, cli_sim_size_bytes(r));
    espi_format_bytes(slice, sizeof slice, cut.bytes);
    printf("%s%s of %s %s", cli_bold(stdout), esp_op_name(r->plan->op), size,
           cli_short_ends(ends, sizeof ends, r->p, r->plan->op, r->plan->root));
    if (r->native)
        printf(" as %s does it: %s,", r->native->algo->library, r->native->algo->name);
    if (cut.count > 1)
        printf(" in %.0f slices of %s", cut.count, slice);
    else
        printf(" in one piece");
    printf("%s\n\n", cli_plain(stdout));
}

int cli_print_sim(struct cli_sim *r)
{
    print_heading(r);
    if (print_facts(r) || print_slowest(r) || print_busiest(r->result))
        return cli_error(CLI_FAILED, "out of memory");
    return cli_has(r->args, "gantt") ? print_timeline(r) : CLI_OK;
}
