/* espalier testbed: a grid of network namespaces on this machine. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/parts.h"
#include "base/units.h"
#include "cli/commands/testbed.h"
#include "cli/options/platforms.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "testbed/netns.h"

int cli_open_testbed(const struct cli_args *args, struct espi_testbed *testbed)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    const char *name = cli_text(args, "name");
    esp_status status = espi_testbed_check_rights(&err);

    if (status == ESP_OK)
        status = espi_testbed_open(testbed, name, &err);
    if (status) {
        int code = cli_fail(status, &err);
        return code == CLI_OK ? CLI_FAILED : code;
    }
    if (testbed->whole)
        return CLI_OK;
    espi_testbed_done(testbed);
    return cli_error(CLI_FAILED,
                     "testbed %s was left half made: take it down with 'espalier testbed "
                     "down --name %s'",
                     name, name);
}

/* ---- up ---- */

static void show_step(int done, int total)
{
    (void)total;
    cli_progress_update(done);
}

/* "a -> b of 2 MB/s" */
static const char *name_link(const struct esp_platform *p, int link, char text[240])
{
    char rate[32], from[80], to[80];

    snprintf(text, 240, "%s -> %s of %s",
             espi_quote(from, sizeof from, espi_node_name(p, p->tail[link])),
             espi_quote(to, sizeof to, espi_node_name(p, p->head[link])),
             espi_format_bandwidth(rate, sizeof rate, p->bandwidth_Bps[link]));
    return text;
}

/* What the testbed cannot be in the way the file says. */
static void warn_of_links(const struct espi_grid *g)
{
    char link[240];
    int n_other = g->n_off - g->n_too_fast;

    if (g->n_too_fast)
        fprintf(stderr,
                "espalier: %d link%s slower than the ports at %s ends, which the testbed "
                "does not build: it has the ports of hosts and the cables that links "
                "share, so that more gets through there; the slowest is %s\n",
                g->n_too_fast, g->n_too_fast == 1 ? " is" : "s are",
                g->n_too_fast == 1 ? "its" : "their",
                name_link(g->p, g->slowest_link, link));
    if (n_other)
        fprintf(
            stderr,
            "espalier: %d link%s slower than in the file; what is furthest off, %s, is "
            "%.3g times as fast\n",
            n_other, n_other == 1 ? " is" : "s are", name_link(g->p, g->worst_link, link),
            g->worst_ratio);
}

static int say_up(const struct cli_args *args, const struct espi_testbed *testbed,
                  double took_s)
{
    const struct espi_grid *g = &testbed->grid;

    if (cli_has(args, "json")) {
        json_t *json = json_object();
        json_object_set_new(json, "name", json_string(testbed->name));
        json_object_set_new(json, "hosts", json_integer(g->n_hosts));
        json_object_set_new(json, "namespaces", json_integer(testbed->n_spaces));
        json_object_set_new(json, "wires", json_integer(g->n_wires));
        json_object_set_new(json, "links_off", json_integer(g->n_off));
        json_object_set_new(json, "links_too_fast", json_integer(g->n_too_fast));
        json_object_set_new(json, "openmpi",
                            json_sprintf("%s/mpirun.openmpi", testbed->dir));
        json_object_set_new(json, "mpich",
                            json_sprintf("%s/mpiexec.mpich", testbed->dir));
        cli_json_real(json, "up_s", took_s);
        return cli_print_json(json);
    }
    printf("testbed %s is up: %d hosts, %d namespaces, %d wires, in %.1f s\n",
           testbed->name, g->n_hosts, testbed->n_spaces, g->n_wires, took_s);
    printf("run a program on it:  espalier testbed run -- ./app\n"
           "take it away:         espalier testbed down\n");
    return CLI_OK;
}

static int run_up(const struct cli_args *args)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_platform *p = NULL;
    struct espi_testbed testbed;
    char self[PATH_MAX], delay[PATH_MAX];
    double start_s = espi_now_s();
    esp_status status = espi_testbed_check_rights(&err);

    if (status)
        return cli_fail(status, &err);
    int code = cli_read_platform(args, args->words[0], NULL, &p);
    if (code != CLI_OK)
        return code;
    int self_bad = espi_find_self(self);
    int delay_bad = espi_find_part(ESPI_PART_DELAY, NULL, delay);
    struct espi_testbed_tools tools = {.program = self_bad ? "espalier" : self,
                                       .delay_line = delay_bad ? NULL : delay,
                                       .step = show_step};
    cli_progress_start(2 * esp_platform_node_count(p), "making namespaces");
    status = espi_testbed_up(cli_text(args, "name"), p, &tools, &err);
    cli_progress_end();
    esp_platform_free(p);
    if (status)
        return cli_fail(status, &err);
    code = cli_open_testbed(args, &testbed);
    if (code != CLI_OK)
        return code;
    warn_of_links(&testbed.grid);
    code = say_up(args, &testbed, espi_now_s() - start_s);
    espi_testbed_done(&testbed);
    return code;
}

static const struct command up = {
    .name = "up",
    .summary = "make a testbed of a platform",
    .about =
        (const char *const[]){
            "Makes the network of the platform on this machine: a network namespace for "
            "each host, switch and router, wires between them whose rates are those of "
            "the file, in bytes that programs get across, and delays of half a "
            "millisecond and more between them. A control network without limits joins "
            "all hosts for launchers.",
            "A platform with switches is built as it stands. One of host-to-host links "
            "gets a router for each site, and between two sites a wire as fast as the "
            "cable that the links share.",
            NULL},
    .positionals =
        (const struct cli_positional[]){
            {.name = "PLATFORM", .kind = CLI_FILE, .help = "What to build."}, {0}},
    .options = (const struct cli_option[]){CLI_BED_OPTION, CLI_MODEL_OPTION, {0}},
    .examples = (const struct cli_example[]){{"Four sites, eight clusters, 64 hosts:",
                                              "espalier generate sites --preset testbed "
                                              "-o grid.json && espalier testbed up "
                                              "grid.json"},
                                             {0}},
    .parent = &cli_command_testbed,
    .run = run_up,
};

/* ---- down ---- */

struct names {
    char name[64][ESPI_TESTBED_NAME_MAX + 1];
    int n;
};

static void note_name(const char *name, void *data)
{
    struct names *all = data;

    if (all->n < 64)
        snprintf(all->name[all->n++], sizeof all->name[0], "%s", name);
}

static int run_down(const struct cli_args *args)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct names all = {.n = 0};
    int ended = 0, sum = 0;
    esp_status status = espi_testbed_check_rights(&err);

    if (cli_has(args, "all"))
        espi_testbed_each(note_name, &all);
    else
        note_name(cli_text(args, "name"), &all);
    for (int i = 0; i < all.n && status == ESP_OK; i++) {
        status = espi_testbed_down(all.name[i], &ended, &err);
        sum += status == ESP_OK ? ended : 0;
    }
    if (status)
        return cli_fail(status, &err);
    if (cli_has(args, "json"))
        return cli_print_json(json_pack("{s:i,s:i}", "taken_down", all.n, "ended", sum));
    for (int i = 0; i < all.n; i++)
        printf("testbed %s is gone\n", all.name[i]);
    if (sum)
        printf("%d processes that ran in it were ended\n", sum);
    return CLI_OK;
}

static const struct command down = {
    .name = "down",
    .summary = "take a testbed away, with all that runs in it",
    .about =
        (const char *const[]){
            "Ends all processes in the namespaces of the testbed and removes them, also "
            "when the testbed was left half made. What it did not make it does not "
            "touch.",
            NULL},
    .positionals = (const struct cli_positional[]){{0}},
    .options =
        (const struct cli_option[]){
            CLI_BED_OPTION, {.name = "all", .help = "All testbeds there are."}, {0}},
    .examples = (const struct cli_example[]){{"Clean up:", "espalier testbed down"}, {0}},
    .parent = &cli_command_testbed,
    .run = run_down,
};

/* ---- status ---- */

static int status_json(const struct espi_testbed *testbed)
{
    const struct espi_grid *g = &testbed->grid;
    json_t *json = json_object(), *links = json_array(), *hosts = json_array();
    char name[300];

    json_object_set_new(json, "name", json_string(testbed->name));
    json_object_set_new(json, "namespaces", json_integer(testbed->n_spaces));
    json_object_set_new(
        json, "processes",
        json_integer(espi_netns_count(testbed->spaces, testbed->n_spaces)));
    json_object_set_new(json, "openmpi", json_sprintf("%s/mpirun.openmpi", testbed->dir));
    json_object_set_new(json, "mpich", json_sprintf("%s/mpiexec.mpich", testbed->dir));
    for (int h = 0; h < g->n_hosts; h++)
        json_array_append_new(hosts, json_string(g->boxes[g->host_box[h]].name));
    for (int i = 0; i < g->n_wires; i++)
        for (int dir = 0; dir < 2; dir++) {
            const struct espi_testbed_wire *w = &g->wires[i];
            json_t *link = json_object();
            json_object_set_new(
                link, "name",
                json_string(espi_grid_wire_name(g, i, dir, name, sizeof name)));
            json_object_set_new(link, "from", json_string(g->boxes[w->box[dir]].name));
            json_object_set_new(link, "to", json_string(g->boxes[w->box[!dir]].name));
            cli_json_real(link, "bandwidth_Bps",
                          w->rate_Bps[dir] > 0 ? w->rate_Bps[dir] : INFINITY);
            cli_json_real(link, "latency_s", w->latency_s[dir]);
            json_array_append_new(links, link);
        }
    json_object_set_new(json, "hosts", hosts);
    json_object_set_new(json, "links", links);
    return cli_print_json(json);
}

static int print_wires(const struct espi_grid *g)
{
    static const struct cli_column columns[] = {
        {"link", false}, {"rate", true}, {"delay", true}};
    struct cli_table t;
    char name[300], text[32];

    cli_table_init(&t, columns, 3);
    for (int i = 0; i < g->n_wires; i++)
        for (int dir = 0; dir < 2; dir++) {
            const struct espi_testbed_wire *w = &g->wires[i];
            if (g->boxes[w->box[0]].host >= 0 || g->boxes[w->box[1]].host >= 0 ||
                (w->rate_Bps[dir] <= 0 && w->latency_s[dir] <= 0))
                continue;
            cli_table_add(&t, "%s", espi_grid_wire_name(g, i, dir, name, sizeof name));
            cli_table_add(&t, "%s",
                          w->rate_Bps[dir] > 0
                              ? espi_format_bandwidth(text, sizeof text, w->rate_Bps[dir])
                              : "-");
            cli_table_add(&t, "%s",
                          w->latency_s[dir] > 0
                              ? espi_format_time(text, sizeof text, w->latency_s[dir])
                              : "-");
        }
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    return bad ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

static int run_status(const struct cli_args *args)
{
    struct espi_testbed testbed;
    int code = cli_open_testbed(args, &testbed);

    if (code != CLI_OK)
        return code;
    if (cli_has(args, "json")) {
        code = status_json(&testbed);
    } else {
        printf("testbed %s: %d hosts, %d namespaces, %d wires, %d processes\n",
               testbed.name, testbed.grid.n_hosts, testbed.n_spaces, testbed.grid.n_wires,
               espi_netns_count(testbed.spaces, testbed.n_spaces));
        printf("launchers: %s/mpirun.openmpi, %s/mpiexec.mpich\n\nLinks between "
               "switches; each host has one more, HOST>SWITCH\n",
               testbed.dir, testbed.dir);
        code = print_wires(&testbed.grid);
    }
    espi_testbed_done(&testbed);
    return code;
}

static const struct command status = {
    .name = "status",
    .summary = "what a testbed consists of, and what runs in it",
    .positionals = (const struct cli_positional[]){{0}},
    .options = (const struct cli_option[]){CLI_BED_OPTION, {0}},
    .examples =
        (const struct cli_example[]){
            {"How are its links called?", "espalier testbed status"}, {0}},
    .parent = &cli_command_testbed,
    .run = run_status,
};

/* ---- the family ---- */

static int run_list(const struct cli_args *args)
{
    struct names all = {.n = 0};

    espi_testbed_each(note_name, &all);
    if (cli_has(args, "json")) {
        json_t *json = json_array();
        for (int i = 0; i < all.n; i++)
            json_array_append_new(json, json_string(all.name[i]));
        return cli_print_json(json);
    }
    for (int i = 0; i < all.n; i++)
        printf("%s\n", all.name[i]);
    if (!all.n)
        printf("No testbed is up. Make one:  espalier testbed up PLATFORM\n");
    return CLI_OK;
}

static const struct command *const *testbed_commands(void)
{
    static const struct command *const list[] = {&up,
                                                 &down,
                                                 &status,
                                                 &cli_testbed_run,
                                                 &cli_testbed_exec,
                                                 &cli_testbed_load,
                                                 &cli_testbed_cut,
                                                 &cli_testbed_rates,
                                                 NULL};

    return list;
}

const struct command cli_command_testbed = {
    .name = "testbed",
    .group = CLI_GROUP_RUN,
    .summary = "a grid of sites on this machine, to run real programs on",
    .about =
        (const char *const[]){
            "Builds a network on this machine out of network namespaces, with shaped "
            "rates, shared links and delays, and runs MPI programs on it over TCP as if "
            "on as many machines. Needs root, ip(8) and tc(8).",
            "Without a further word, lists the testbeds that are up.", NULL},
    .examples =
        (const struct cli_example[]){
            {"A grid, a program on it, and nothing left:",
             "espalier testbed up grid.json && espalier testbed run -- ./app; espalier "
             "testbed down"},
            {"The program with its broadcasts by our plans:",
             "espalier run -p grid.json -- /run/espalier-testbed/grid/mpirun.openmpi "
             "./app"},
            {0}},
    .see = (const char *const[]){"generate", "run", NULL},
    .run = run_list,
    .children = testbed_commands,
    .children_title = "Actions",
};
