/* espalier testbed load, cut and rates: links changed under what runs, and measured. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/units.h"
#include "cli/commands/testbed.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "testbed/bulk.h"

/* ---- for a while ---- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* Waits; a user who interrupts wants the link back, too. */
static void wait_s(double seconds)
{
    struct sigaction action = {.sa_handler = interrupt};
    struct timespec left = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    while (!interrupted && nanosleep(&left, &left) && errno == EINTR)
        ;
}

/* The words after the link: "[RATE] [for SECONDS]". */
static int parse_for(const struct cli_args *args, int at, double *seconds)
{
    char quoted[80];

    *seconds = 0;
    if (at >= args->n_words)
        return CLI_OK;
    if (at + 2 == args->n_words && strcmp(args->words[at], "for") == 0 &&
        espi_parse_time(args->words[at + 1], seconds) == 0 && *seconds > 0 &&
        *seconds < 1e7)
        return CLI_OK;
    return cli_error(CLI_BAD_USAGE, "'%s' is not understood: say 'for SECONDS'",
                     espi_quote(quoted, sizeof quoted, args->words[at]));
}

struct change {
    struct espi_testbed testbed;
    int wire, dir; /* dir -1: both */
};

static int open_change(const struct cli_args *args, struct change *c)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    int code = cli_open_testbed(args, &c->testbed);

    if (code != CLI_OK)
        return code;
    esp_status status =
        espi_grid_find_wire(&c->testbed.grid, args->words[0], &c->wire, &c->dir, &err);
    if (status)
        espi_testbed_done(&c->testbed);
    return cli_fail(status, &err);
}

/* Sets what is left of the rates; a negative load closes the link. */
static int apply(const struct change *c, double load_Bps)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    const struct espi_testbed_wire *w = &c->testbed.grid.wires[c->wire];
    esp_status status = ESP_OK;

    for (int dir = 0; dir < 2 && status == ESP_OK; dir++) {
        double left = w->rate_Bps[dir] > 0 ? w->rate_Bps[dir] - load_Bps
                                           : 1.25e9; /* derived: 10 Gbit/s */
        if (c->dir < 0 || dir == c->dir)
            status = espi_testbed_set_rate(&c->testbed, c->wire, dir,
                                           load_Bps < 0 ? 0 : left, &err);
    }
    return cli_fail(status, &err);
}

static int change_for(struct change *c, double load_Bps, double seconds)
{
    int code = apply(c, load_Bps);

    if (code == CLI_OK && seconds > 0) {
        wait_s(seconds);
        code = apply(c, 0);
    }
    espi_testbed_done(&c->testbed);
    return code;
}

#define FOR_POSITIONAL                                                                   \
    {                                                                                    \
        .name = "FOR", .kind = CLI_STRING, .optional = true, .repeated = true,           \
        .help = "The words 'for SECONDS'."                                               \
    }

/* ---- load ---- */

static int check_load(const struct change *c, double load_Bps)
{
    char name[300], rate[32];
    const struct espi_grid *g = &c->testbed.grid;
    const struct espi_testbed_wire *w = &g->wires[c->wire];

    for (int dir = 0; dir < 2; dir++) {
        if (c->dir >= 0 && dir != c->dir)
            continue;
        espi_grid_wire_name(g, c->wire, dir, name, sizeof name);
        if (load_Bps > 0 && w->rate_Bps[dir] <= 0)
            return cli_error(CLI_BAD_USAGE, "%s has no rate that a load could take from",
                             name);
        if (load_Bps > 0 && load_Bps >= w->rate_Bps[dir])
            return cli_error(
                CLI_BAD_USAGE,
                "%s has %s, of which that load leaves nothing: 'cut' closes a link", name,
                espi_format_bandwidth(rate, sizeof rate, w->rate_Bps[dir]));
    }
    return CLI_OK;
}

static int run_load(const struct cli_args *args)
{
    struct change c;
    double load_Bps, seconds;
    char complaint[300];
    const char *text = args->words[1];

    if (espi_parse_bandwidth(text, &load_Bps))
        return cli_error(CLI_BAD_USAGE, "%s",
                         espi_quantity_complaint(complaint, sizeof complaint,
                                                 ESPI_BANDWIDTH, text, strlen(text)));
    int code = parse_for(args, 2, &seconds);
    if (code == CLI_OK)
        code = open_change(args, &c);
    if (code != CLI_OK)
        return code;
    code = check_load(&c, load_Bps);
    if (code != CLI_OK) {
        espi_testbed_done(&c.testbed);
        return code;
    }
    return change_for(&c, load_Bps, seconds);
}

#define LINK_HELP                                                                        \
    "FROM>TO for one direction of a link, FROM<>TO for both, or the name of a shared "   \
    "cable; 'espalier testbed status' lists them."

const struct command cli_testbed_load = {
    .name = "load",
    .summary = "put foreign load on a link, under what runs",
    .about =
        (const char *const[]){
            "Leaves the link its rate less the load, at once and for all that runs. "
            "A load of 0 gives it back what it had, also after 'cut'. With 'for SECONDS' "
            "the command stays that long and then gives the link back.",
            NULL},
    .positionals =
        (const struct cli_positional[]){
            {.name = "LINK", .kind = CLI_STRING, .help = LINK_HELP},
            {.name = "RATE", .kind = CLI_STRING, .help = "What the load takes: 10Mbps."},
            FOR_POSITIONAL,
            {0}},
    .options = (const struct cli_option[]){CLI_BED_OPTION, {0}},
    .examples =
        (const struct cli_example[]){
            {"Ten seconds of load from one site to another:",
             "espalier testbed load 'wan:sdsc>anl' 8Mbps for 10"},
            {"What a host can receive, until it is given back:",
             "espalier testbed load 's1-c1-switch>s1-c1-h1' 50Mbps"},
            {0}},
    .no_json = true,
    .parent = &cli_command_testbed,
    .run = run_load,
};

/* ---- cut ---- */

static int run_cut(const struct cli_args *args)
{
    struct change c;
    double seconds;
    int code = parse_for(args, 1, &seconds);

    if (code == CLI_OK)
        code = open_change(args, &c);
    if (code != CLI_OK)
        return code;
    c.dir = -1; /* a cable is cut as a whole */
    return change_for(&c, -1, seconds);
}

const struct command cli_testbed_cut = {
    .name = "cut",
    .summary = "cut a link, under what runs",
    .about =
        (const char *const[]){
            "Lets nothing through any more, in either direction. 'espalier testbed load "
            "LINK 0' mends it; with 'for SECONDS' the command stays that long and does "
            "so "
            "itself.",
            NULL},
    .positionals =
        (const struct cli_positional[]){
            {.name = "LINK", .kind = CLI_STRING, .help = LINK_HELP}, FOR_POSITIONAL, {0}},
    .options = (const struct cli_option[]){CLI_BED_OPTION, {0}},
    .examples =
        (const struct cli_example[]){
            {"Two sites lose sight of each other:",
             "espalier testbed cut 'sdsc-router<>anl-router' for 5"},
            {0}},
    .no_json = true,
    .parent = &cli_command_testbed,
    .run = run_cut,
};

/* ---- rates ---- */

/* "FROM>TO", two hosts. */
static int parse_flow(const struct espi_grid *g, const char *text,
                      struct espi_bulk_flow *flow)
{
    char quoted[120], from[80];
    const char *sign = strchr(text, '>');

    snprintf(from, sizeof from, "%.*s", sign ? (int)(sign - text) : 0, text);
    int a = espi_grid_find_box(g, from), b = sign ? espi_grid_find_box(g, sign + 1) : -1;
    if (a < 0 || b < 0 || g->boxes[a].host < 0 || g->boxes[b].host < 0 || a == b)
        return cli_error(CLI_BAD_USAGE, "'%s' does not name two hosts: say FROM>TO",
                         espi_quote(quoted, sizeof quoted, text));
    *flow = (struct espi_bulk_flow){g->boxes[a].host, g->boxes[b].host, 0};
    return CLI_OK;
}

static int print_rates(const struct cli_args *args, const struct espi_grid *g,
                       const struct espi_bulk_flow *flows)
{
    static const struct cli_column columns[] = {
        {"flow", false}, {"way", true}, {"measured", true}};
    struct cli_table t;
    char text[32];
    json_t *json = json_array();

    cli_table_init(&t, columns, 3);
    for (int i = 0; i < args->n_words; i++) {
        double rate, latency;
        espi_grid_way(g, flows[i].from, flows[i].to, &rate, &latency);
        json_t *one = json_pack("{s:s}", "flow", args->words[i]);
        cli_json_real(one, "way_Bps", rate);
        cli_json_real(one, "rate_Bps", flows[i].rate_Bps);
        json_array_append_new(json, one);
        cli_table_add(&t, "%s", args->words[i]);
        cli_table_add(&t, "%s", espi_format_bandwidth(text, sizeof text, rate));
        cli_table_add(&t, "%s",
                      espi_format_bandwidth(text, sizeof text, flows[i].rate_Bps));
    }
    int bad = 0;
    if (cli_has(args, "json")) {
        bad = cli_print_json(json);
    } else {
        json_decref(json);
        bad = cli_table_print(&t, stdout, 0) ? cli_error(CLI_FAILED, "out of memory")
                                             : CLI_OK;
    }
    cli_table_done(&t);
    return bad;
}

static int run_rates(const struct cli_args *args)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct espi_testbed testbed;
    double seconds = cli_number(args, "seconds");
    int code = cli_open_testbed(args, &testbed);

    if (code != CLI_OK)
        return code;
    struct espi_bulk_flow *flows = ESPI_NEW(struct espi_bulk_flow, args->n_words);
    if (!flows)
        code = cli_error(CLI_FAILED, "out of memory");
    for (int i = 0; i < args->n_words && code == CLI_OK; i++)
        code = parse_flow(&testbed.grid, args->words[i], &flows[i]);
    if (code == CLI_OK)
        code = cli_fail(espi_bulk(&testbed, flows, args->n_words,
                                  cli_number(args, "warm-up"), seconds, &err),
                        &err);
    if (code == CLI_OK)
        code = print_rates(args, &testbed.grid, flows);
    espi_free(flows);
    espi_testbed_done(&testbed);
    return code;
}

const struct command cli_testbed_rates = {
    .name = "rates",
    .summary = "measure bulk transfers between hosts, all at once",
    .about =
        (const char *const[]){
            "Lets all given pairs of hosts talk at the same time, one TCP connection "
            "each, and says what arrives, beside the slowest link on the way. Pairs that "
            "share a link share its rate.",
            NULL},
    .positionals = (const struct cli_positional[]){{.name = "FLOW",
                                                    .kind = CLI_STRING,
                                                    .repeated = true,
                                                    .help = "Two hosts, FROM>TO."},
                                                   {0}},
    .options = (const struct cli_option[]){CLI_BED_OPTION,
                                           {.name = "seconds",
                                            .kind = CLI_TIME,
                                            .fallback = "3s",
                                            .limited = true,
                                            .min = 0.1, /* limit: seconds */
                                            .max = 3600,
                                            .help = "How long to measure."},
                                           {.name = "warm-up",
                                            .kind = CLI_TIME,
                                            .fallback = "1s",
                                            .limited = true,
                                            .min = 0.1, /* limit: seconds */
                                            .max = 60,
                                            .help = "How long the flows run before."},
                                           {0}},
    .examples =
        (const struct cli_example[]){{"Two flows over one cable:",
                                      "espalier testbed rates 's1-c1-h1>s2-c3-h1' "
                                      "'s1-c1-h2>s2-c3-h2'"},
                                     {0}},
    .parent = &cli_command_testbed,
    .run = run_rates,
};
