/* espalier measure: runs the probe under an MPI launcher and digests what it saw. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/json_text.h"
#include "base/units.h"
#include "cli/launching/launcher.h"
#include "cli/launching/probe.h"
#include "cli/options/platforms.h"
#include "cli/printing/certainty.h"
#include "cli/printing/output.h"
#include "cli/printing/recheck.h"
#include "cli/printing/term.h"
#include "measure/measured.h"

/* ---- what was found ---- */

static double bus_Bps(const struct espi_samples *s)
{
    double best = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].kind == ESPI_SAMPLE_BUS)
            best = fmax(best, s->at[i].value);
    return best;
}

static int count_hosts(const struct espi_measured *net, int site)
{
    int n = 0;

    for (int h = 0; h < net->n_hosts; h++)
        n += net->site[h] == site;
    return n;
}

static double middle_port(const struct espi_measured *net, int site, double *values)
{
    int n = 0;

    for (int h = 0; h < net->n_hosts; h++)
        if (net->site[h] == site)
            values[n++] = fmin(net->out_Bps[h], net->in_Bps[h]);
    return espi_top_value(values, n);
}

static int print_sites(const struct espi_measured *net, double *values)
{
    static const struct cli_column columns[] = {
        {"site", false}, {"hosts", true}, {"areas", true}, {"port", true}};
    struct cli_table table;
    char rate[32];

    cli_table_init(&table, columns, 4);
    for (int s = 0; s < net->n_sites; s++) {
        cli_table_add(&table, "%s", net->site_name[s]);
        cli_table_add(&table, "%d", count_hosts(net, s));
        cli_table_add(&table, "%d", net->first_subsite[s + 1] - net->first_subsite[s]);
        cli_table_add(
            &table, "%s",
            espi_format_bandwidth(rate, sizeof rate, middle_port(net, s, values)));
    }
    printf("\nSites\n");
    int bad = cli_table_print(&table, stdout, 2);
    cli_table_done(&table);
    return bad;
}

static int print_shared(const struct espi_measured *net, const struct esp_platform *p)
{
    static const struct cli_column columns[] = {
        {"cable", false}, {"together", true}, {"between", true}};
    struct cli_table table;
    char rate[32], range[80];

    if (!net->n_shared)
        return 0;
    cli_table_init(&table, columns, 3);
    for (size_t c = 0; c < net->n_shared; c++) {
        cli_table_add(&table, "%s", net->shared[c].name);
        cli_table_add(&table, "%s",
                      espi_format_bandwidth(rate, sizeof rate, net->shared[c].Bps));
        int cable = esp_platform_find_cable(p, net->shared[c].name);
        cli_table_add(
            &table, "%s",
            cli_range_text(range, sizeof range, esp_platform_cable_range(p, cable)));
    }
    printf("\nShared by transfers of different hosts\n");
    int bad = cli_table_print(&table, stdout, 2);
    cli_table_done(&table);
    return bad;
}

static void print_certainty(const struct esp_platform *p)
{
    char text[300];

    printf("\n");
    if (*cli_unsure_text(text, sizeof text, p))
        printf("Not sure: %s.\n", text);
    if (*cli_check_text(text, sizeof text, p))
        printf("This %s.\n", text);
    else if (esp_platform_host_count(p) > 1)
        printf("How well this predicts transfers was not checked: there was no time, or "
               "there are no samples for it.\n");
    if (cli_measurement_warning(text, sizeof text, p))
        printf("Warning: %s\n", text);
}

static int print_found(const struct espi_measured *net, const struct esp_platform *p,
                       const char *path, double took_s)
{
    char text[32], quoted[256];
    double *values = ESPI_NEW(double, net->n_hosts);
    double bus = bus_Bps(net->samples);

    if (!values)
        return cli_error(CLI_FAILED, "out of memory");
    printf("%d host%s at %d site%s", net->n_hosts, net->n_hosts == 1 ? "" : "s",
           net->n_sites, net->n_sites == 1 ? "" : "s");
    if (took_s > 0)
        printf(", measured in %s", espi_format_time(text, sizeof text, took_s));
    if (bus > 0)
        printf("; within a host %s", espi_format_bandwidth(text, sizeof text, bus));
    printf("\n");
    int bad = print_sites(net, values) || print_shared(net, p);
    espi_free(values);
    espi_quote(quoted, sizeof quoted, path);
    print_certainty(p);
    printf("\nWritten to %s. Next: espalier plan %s\n", quoted, quoted);
    return bad ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

static json_t *sites_json(const struct espi_measured *net)
{
    json_t *sites = json_array();

    for (int s = 0; s < net->n_sites; s++) {
        json_t *site = json_object(), *hosts = json_array();
        json_object_set_new(site, "name", json_string(net->site_name[s]));
        json_object_set_new(
            site, "areas",
            json_integer(net->first_subsite[s + 1] - net->first_subsite[s]));
        for (int h = 0; h < net->n_hosts; h++)
            if (net->site[h] == s)
                json_array_append_new(
                    hosts, json_string(espi_names_text(&net->samples->hosts, h)));
        json_object_set_new(site, "hosts", hosts);
        json_array_append_new(sites, site);
    }
    return sites;
}

static int print_json(const struct espi_measured *net, const struct esp_platform *p,
                      const char *path, double took_s)
{
    json_t *json = json_object(), *shared = json_array();

    json_object_set_new(json, "output", path ? json_string(path) : json_null());
    json_object_set_new(json, "hosts", json_integer(net->n_hosts));
    cli_json_real(json, "measure_s", took_s > 0 ? took_s : NAN);
    double bus = bus_Bps(net->samples);
    cli_json_real(json, "bus_Bps", bus > 0 ? bus : NAN);
    json_object_set_new(json, "sites", sites_json(net));
    for (size_t c = 0; c < net->n_shared; c++) {
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(net->shared[c].name));
        cli_json_real(one, "bandwidth_Bps", net->shared[c].Bps);
        cli_json_range(one, esp_platform_cable_range(
                                p, esp_platform_find_cable(p, net->shared[c].name)));
        json_array_append_new(shared, one);
    }
    json_object_set_new(json, "shared", shared);
    json_object_set_new(json, "measured", cli_measurement_json(p));
    return cli_print_json(json);
}

/* A first try is often on one machine, of which there is nothing to tell. */
static void warn_of_one_host(const struct espi_samples *s)
{
    char quoted[128];

    if (espi_samples_hosts(s) != 1)
        return;
    fprintf(stderr,
            "espalier: only one host took part, %s: a network of one node has no links, "
            "and no plan can be faster there. Name more hosts to the launcher (in a "
            "--hostfile, say); to measure between ranks of one host, add --ranks\n",
            espi_quote(quoted, sizeof quoted, espi_names_text(&s->hosts, 0)));
}

/* ---- the whole ---- */

static esp_status write_platform(const void *platform, FILE *out, struct esp_err *err)
{
    return esp_platform_write_stream(platform, out, err);
}

static int digest_samples(const struct cli_args *args, const struct espi_samples *samples,
                          struct espi_arena *arena, double took_s)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct espi_measured net;
    struct esp_platform *p = NULL;
    const char *path = cli_text(args, "output");
    int to_file = path && strcmp(path, "-") != 0;
    esp_status status = espi_measured_init(&net, samples, arena, &err);

    if (status)
        return cli_fail(status, &err);
    status = espi_measured_platform(&net, "measured", ESPI_MEASURED_DIRECT_MAX, &p, arena,
                                    &err);
    int code = cli_fail(status, &err);
    if (code == CLI_OK && (to_file || !cli_has(args, "json")))
        code = cli_write(path, write_platform, p);
    if (code == CLI_OK && cli_has(args, "json"))
        code = print_json(&net, p, path, took_s);
    else if (code == CLI_OK && to_file)
        code = print_found(&net, p, path, took_s);
    if (code == CLI_OK)
        warn_of_one_host(samples);
    esp_platform_free(p);
    espi_measured_done(&net);
    return code;
}

/* ---- does a file still hold? ---- */

static int judge_file(const struct cli_args *args, const char *path,
                      const struct esp_platform *file, const struct espi_samples *samples,
                      struct espi_arena *arena)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct espi_recheck found;
    struct esp_platform *right = NULL;
    const char *output = cli_text(args, "output");
    esp_status status = espi_recheck_digest(&found, file, samples, arena, &err);

    if (!status)
        status = espi_recheck_update(&found, samples, &right, arena, &err);
    if (status)
        return cli_fail(status, &err);
    struct cli_recheck c = {.file = path, .found = &found, .right = right};
    int code = CLI_OK;
    if (cli_has(args, "update") && (espi_recheck_count_off(&found) || output)) {
        c.written = output ? output : path;
        code = cli_write(c.written, write_platform, right);
    }
    if (code == CLI_OK)
        code = cli_has(args, "json") ? cli_print_recheck_json(&c) : cli_print_recheck(&c);
    if (code == CLI_OK && !(c.written ? cli_recheck_explains(&c) : cli_recheck_holds(&c)))
        code = CLI_NOT_SO;
    esp_platform_free(right);
    return code;
}

/* The probe reads the file where rank 0 runs: by its whole path. */
static int check_file(const struct cli_args *args, const char *path)
{
    const char *budget = cli_has(args, "budget")   ? cli_text(args, "budget")
                         : cli_has(args, "update") ? "20s"
                                                   : "10s"; /* looks: as the help says */
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct espi_samples samples = {.n = 0};
    struct espi_arena arena;
    struct esp_platform *file = NULL;
    char whole[PATH_MAX];

    if (args->n_words == 0)
        return cli_error(CLI_BAD_USAGE, "say after '--' how MPI programs are started");
    if (cli_has(args, "check") && (cli_has(args, "update") || cli_has(args, "output")))
        return cli_error(CLI_BAD_USAGE, "--check writes nothing: it is without --update "
                                        "and --output");
    int code = cli_fail(esp_platform_read(path, NULL, &file, &err), &err);
    if (code == CLI_OK && !realpath(path, whole))
        code = cli_error(CLI_BAD_INPUT, "the file to check must have a name");
    espi_arena_init(&arena);
    if (code == CLI_OK)
        code = cli_run_probe(args, budget, whole, &samples);
    if (code == CLI_OK && cli_text(args, "samples"))
        code = cli_fail(espi_write_file(cli_text(args, "samples"),
                                        espi_samples_write_stream, &samples, &err),
                        &err);
    if (code == CLI_OK)
        code = judge_file(args, path, file, &samples, &arena);
    espi_arena_done(&arena);
    espi_samples_done(&samples);
    esp_platform_free(file);
    return code;
}

/* ---- the command ---- */

static int get_samples(const struct cli_args *args, struct espi_samples *samples,
                       double *took_s)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    const char *path = cli_text(args, "samples");
    double start_s = espi_now_s();

    if (args->n_words == 0 && !path)
        return cli_error(CLI_BAD_USAGE, "say after '--' how MPI programs are started, or "
                                        "with --samples what was measured");
    if (args->n_words == 0)
        return cli_fail(espi_samples_read(samples, path, &err), &err);
    int code = cli_run_probe(args, cli_text(args, "budget"), NULL, samples);
    *took_s = espi_now_s() - start_s;
    if (code == CLI_OK && path)
        code = cli_fail(espi_write_file(path, espi_samples_write_stream, samples, &err),
                        &err);
    return code;
}

static int run_measure(const struct cli_args *args)
{
    struct espi_samples samples = {.n = 0};
    struct espi_arena arena;
    double took_s = 0;

    if (cli_has(args, "check") || cli_has(args, "update"))
        return check_file(args,
                          cli_text(args, cli_has(args, "check") ? "check" : "update"));
    int code = get_samples(args, &samples, &took_s);

    espi_arena_init(&arena);
    if (code == CLI_OK)
        code = digest_samples(args, &samples, &arena, took_s);
    espi_arena_done(&arena);
    espi_samples_done(&samples);
    return code;
}

const struct command cli_command_measure = {
    .name = "measure",
    .group = CLI_GROUP_NETWORK,
    .summary = "measure a real network, by a probe that runs under MPI",
    .about =
        (const char *const[]){
            "Starts a probe in place of an MPI program, with the given launcher and "
            "options, and writes the network that it finds as a platform: "
            "latencies, rates, send and receive overheads, the hosts of each site, "
            "and what transfers between different hosts share. Several ranks on one "
            "host are one node.",
            "It first finds out which hosts are near each other, then measures the "
            "hosts of each site, and last the links between sites, with a few hosts "
            "that stand for the others. Rates are those that programs reach. At the "
            "end it predicts random sets of transfers, runs them, and reports the "
            "errors of the prediction. The file says how accurate each rate is.",
            "Nothing else should run on these hosts in the meantime. "
            "docs/measure.md describes the method.",
            NULL},
    .positionals =
        (const struct cli_positional[]){{.name = "COMMAND",
                                         .kind = CLI_STRING,
                                         .optional = true,
                                         .repeated = true,
                                         .help = CLI_LAUNCHER_HELP("The probe")},
                                        {0}},
    .options =
        (const struct cli_option[]){
            CLI_OUTPUT_OPTION,
            {.name = "budget",
             .kind = CLI_TIME,
             .fallback = "120s",
             .limited = true,
             .min = 1,
             .max = 86400,
             .help = "About how long to measure at most. Small networks take less; what "
                     "does not fit is left out."},
            {.name = "samples",
             .kind = CLI_FILE,
             .help =
                 "Keep what was measured in this file. Without a COMMAND: digest what "
                 "the file holds, again."},
            {.name = "check",
             .kind = CLI_FILE,
             .help =
                 "Only check whether this platform still describes the network, and "
                 "report where it does not. Takes 10 s unless --budget is given. Exit "
                 "status 4: the platform is out of date."},
            {.name = "update",
             .kind = CLI_FILE,
             .help =
                 "Check as with --check, and measure again whatever is out of date, for "
                 "20 s. The result is written to this file, or to --output. Exit "
                 "status 4: the network has parts that the file lacks; run a full "
                 "measurement."},
            {.name = "ranks",
             .help = "Every rank is a node, called rank0, rank1 and so on, also where "
                     "several run on one host."},
            {.name = "mpi",
             .kind = CLI_CHOICE,
             .choices = cli_mpi_names,
             .value = "MPI",
             .help = "Which MPI it is; without it, recognised from the launcher."},
            {0}},
    .examples =
        (const struct cli_example[]){
            {"The hosts of a file:",
             "espalier measure -o p.json -- mpirun.openmpi --hostfile hosts"},
            {"A testbed:",
             "espalier measure -o p.json -- /run/espalier-testbed/grid/mpirun.openmpi"},
            {"Does what was measured last month still hold?",
             "espalier measure --check p.json -- mpirun.openmpi --hostfile hosts"},
            {"Digest again what was kept:",
             "espalier measure --samples seen.txt -o p.json"},
            {0}},
    .see = (const char *const[]){"info", "plan", "testbed", NULL},
    .run = run_measure,
};
