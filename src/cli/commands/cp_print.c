/* What espalier cp says. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/units.h"
#include "cli/commands/cp.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"

/* "1 host": those that are to have it. */
static const char *count_targets(const struct cli_copy *c, int without, char text[32])
{
    int n = -without;

    for (int i = 0; i < c->job.n_hosts; i++)
        n += !c->job.host[i].is_relay;
    snprintf(text, 32, "%d host%s", n, n == 1 ? "" : "s");
    return text;
}

/* ---- a plan ---- */

/* By what it is planned, where no platform was given. */
static void print_guess(const struct cli_copy *c)
{
    int n = c->hosts.n + 1;

    if (c->n_learned == 0)
        printf("nothing is known of the network: these times are of hosts that are all "
               "alike, with wires of 1 Gbit/s\n");
    else
        printf("by what earlier copies learned of %d of %d hosts; what is not known is "
               "taken for wires of 1 Gbit/s\n",
               c->n_learned, n);
}

int cli_copy_print_plan(const struct cli_copy *c)
{
    char time[32], bound[32], size[32], slice[32], hosts[32];
    const struct esp_plan *plan = c->plan;
    double slice_bytes = plan->slice_bytes > 0 ? plan->slice_bytes : plan->size_bytes;

    if (cli_has(c->args, "json")) {
        json_t *json = json_object();
        json_object_set_new(json, "hosts", json_integer(c->job.n_hosts));
        json_object_set_new(json, "files", json_integer(c->source.m.n_entries));
        cli_json_real(json, "bytes", (double)c->source.m.data_bytes);
        json_object_set_new(json, "algorithm", json_string(plan->algo));
        json_object_set_new(json, "trees", json_integer(plan->n_trees));
        cli_json_real(json, "slice_bytes", slice_bytes);
        cli_json_real(json, "makespan_s", plan->makespan_s);
        cli_json_real(json, "bound_s", c->bound_s > 0 ? c->bound_s : NAN);
        return cli_print_json(json);
    }
    espi_format_bytes(size, sizeof size, (double)c->source.m.data_bytes);
    espi_format_bytes(slice, sizeof slice, slice_bytes);
    espi_format_time(time, sizeof time, plan->makespan_s);
    unsigned n = c->source.m.n_entries;
    printf("%s in %u %s, to %s: by %s, %d tree%s, in slices of %s\n", size, n,
           n == 1 ? "file" : "files and folders", count_targets(c, 0, hosts), plan->algo,
           plan->n_trees, plan->n_trees == 1 ? "" : "s", slice);
    if (c->bound_s > 0)
        printf("planned %s; at best %s by any plan\n", time,
               espi_format_time(bound, sizeof bound, c->bound_s));
    else
        printf("planned %s\n", time);
    if (!cli_text(c->args, "platform"))
        print_guess(c);
    return cli_flush_stdout();
}

/* ---- progress ---- */

double cli_copy_bound_s(const struct cli_copy *c)
{
    double bound_s = cli_text(c->args, "platform") ? c->bound_s : 0;

    for (int i = 0; i < c->job.n_hosts; i++)
        if (c->job.host[i].had_before || c->job.host[i].state == ESPI_COPY_OUT)
            bound_s = 0;
    return bound_s;
}

/* "97% of bound, 99% of plan": of their rates, at which the last host has all, so that it
 * is the slowest one that is held to them. */
static void print_shares(const struct cli_copy *c, const struct espi_copy_progress *now)
{
    const struct {
        const char *of;
        double whole_s;
    } shares[] = {{"bound", cli_copy_bound_s(c)},
                  {"plan", cli_text(c->args, "platform") ? c->job.planned_s : 0}};
    double share = now->slowest_bytes / (double)c->source.m.data_bytes;
    const char *gap = "  ";

    for (int i = 0; i < 2 && now->elapsed_s > 0; i++) {
        if (shares[i].whole_s <= 0)
            continue;
        fprintf(stderr, "%s%.0f%% of %s", gap,
                100 * shares[i].whole_s * share / now->elapsed_s, shares[i].of);
        gap = ", ";
    }
}

void cli_copy_print_progress(const struct cli_copy *c,
                             const struct espi_copy_progress *now)
{
    char rate[32], left[32] = "?", slowest[64];
    double share = now->total_bytes > 0 ? now->done_bytes / now->total_bytes : 0;
    double Bps = now->elapsed_s > 0 ? now->done_bytes / now->elapsed_s : 0;

    if (share > 0)
        espi_format_time(left, sizeof left, now->elapsed_s * (1 - share) / share);
    espi_format_bandwidth(rate, sizeof rate, Bps);
    fprintf(stderr, "\r%3.0f%%  %s  left %s", 100 * share, rate, left);
    if (share > 0)
        print_shares(c, now);
    fprintf(stderr, "  slowest %s\x1b[K",
            espi_quote(slowest, sizeof slowest, now->slowest));
}

void cli_copy_end_progress(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\x1b[K");
}

/* ---- what came of it ---- */

static const char *state_of(const struct espi_copy_host *h)
{
    return h->state != ESPI_COPY_HAS_IT ? "failed" : h->is_relay ? "passed on" : "has it";
}

static int count_without(const struct cli_copy *c)
{
    int n = 0;

    for (int i = 0; i < c->job.n_hosts; i++)
        n += !c->job.host[i].is_relay && c->job.host[i].state != ESPI_COPY_HAS_IT;
    return n;
}

static int print_json(const struct cli_copy *c)
{
    json_t *json = json_object(), *hosts = json_array();
    double bound_s = cli_copy_bound_s(c);

    cli_json_real(json, "bytes", (double)c->job.data_bytes);
    json_object_set_new(json, "files", json_integer(c->source.m.n_entries));
    cli_json_real(json, "seconds", c->job.data_s);
    cli_json_real(json, "planned_s", c->job.planned_s);
    cli_json_real(json, "bound_s", c->bound_s > 0 ? c->bound_s : NAN);
    cli_json_real(json, "share_of_bound",
                  bound_s > 0 && c->job.data_s > 0 ? bound_s / c->job.data_s : NAN);
    cli_json_real(json, "slice_bytes", c->job.slice_bytes);
    json_object_set_new(json, "runs", json_integer(c->job.runs));
    json_object_set_new(json, "changes", json_integer(c->job.changes));
    json_object_set_new(json, "learned_hosts", json_integer(c->n_learned));
    for (int i = 0; i < c->job.n_hosts; i++) {
        const struct espi_copy_host *h = &c->job.host[i];
        json_t *host = json_object();
        json_object_set_new(host, "name", json_string(h->name));
        json_object_set_new(host, "has_it",
                            json_boolean(h->state == ESPI_COPY_HAS_IT && !h->is_relay));
        json_object_set_new(host, "relay", json_boolean(h->is_relay));
        if (h->state != ESPI_COPY_HAS_IT)
            json_object_set_new(host, "why", json_string(h->why));
        json_array_append_new(hosts, host);
    }
    json_object_set_new(json, "hosts", hosts);
    return cli_print_json(json);
}

static int print_hosts(const struct cli_copy *c)
{
    static const struct cli_column columns[] = {
        {"host", false}, {"state", false}, {"why", false}};
    struct cli_table t;

    cli_table_init(&t, columns, 3);
    for (int i = 0; i < c->job.n_hosts; i++) {
        const struct espi_copy_host *h = &c->job.host[i];
        cli_table_add(&t, "%s", h->name);
        cli_table_add(&t, "%s", state_of(h));
        cli_table_add(&t, "%s", h->why);
    }
    int bad = cli_table_print(&t, stdout, 0);
    cli_table_done(&t);
    return bad ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

static int print_summary(const struct cli_copy *c, int without)
{
    char size[32], time[32], bound[32], hosts[32];
    double bound_s = cli_copy_bound_s(c);

    espi_format_bytes(size, sizeof size, (double)c->job.data_bytes);
    espi_format_time(time, sizeof time, c->job.data_s);
    printf("%s to %s in %s", size, count_targets(c, without, hosts), time);
    if (bound_s > 0 && c->job.data_s > 0)
        printf("; at best %s by any plan, %.2f times that: %.0f%% of the bound",
               espi_format_time(bound, sizeof bound, bound_s), c->job.data_s / bound_s,
               100 * bound_s / c->job.data_s);
    printf("\n");
    return without > 0 ? print_hosts(c) : CLI_OK;
}

int cli_copy_print(const struct cli_copy *c)
{
    int without = count_without(c);
    int code = cli_has(c->args, "json") ? print_json(c) : print_summary(c, without);

    if (code == CLI_OK)
        code = cli_flush_stdout();
    if (code != CLI_OK || without == 0)
        return code;
    return cli_error(CLI_FAILED,
                     "%d host%s not have it; 'espalier cp --resume' sends what "
                     "is missing",
                     without, without == 1 ? " does" : "s do");
}
