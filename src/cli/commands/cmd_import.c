/* espalier import: platforms that others described, in native JSON. */
#include <string.h>

#include <espalier/plan.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "cli/options/hosts.h"
#include "cli/options/platforms.h"
#include "cli/printing/term.h"
#include "platform/islands.h"
#include "platform/part.h"
#include "platform/platform.h"
#include "platform/prices.h"
#include "platform/readers.h"

static const char *const formats[] = {"json",    "matrix",  "edges", "tiers",
                                      "simgrid", "graphml", "links", "slurm",
                                      "ibnet",   "nccl",    NULL};

/* The hosts of the site (-1: of none). */
static int count_hosts_of(const struct esp_platform *p, int site)
{
    int n = 0;

    for (int v = 0; v < p->n_nodes; v++)
        n += p->node_site[v] == site && !espi_is_switch(p, v);
    return n;
}

/* Hosts of sites that were forgotten send and receive as much as all their links can. */
static void warn_of_sites(const struct esp_platform *p, const char *limits)
{
    char text[400] = "", quoted[64];
    size_t at = 0;
    int hosts = 0, more = 0, loose = count_hosts_of(p, -1);

    for (int s = 0; limits && s < p->n_sites; s++) {
        int n = count_hosts_of(p, s);
        if (!n || espi_site_has_limit(limits, espi_names_text(&p->sites, s)))
            continue;
        espi_quote(quoted, sizeof quoted, espi_names_text(&p->sites, s));
        if (at + strlen(quoted) + sizeof quoted < sizeof text) /* the rest has room */
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? ", " : "",
                                   quoted);
        else
            more++;
        hosts += n;
    }
    if (more)
        at += (size_t)snprintf(text + at, sizeof text - at, ", %d more", more);
    if (limits && loose)
        snprintf(text + at, sizeof text - at, "%shosts of no site", at ? ", " : "");
    if (limits && hosts + loose)
        cli_error(CLI_OK,
                  "warning: --site-limits says nothing of %s: nothing but links limits "
                  "what %d host%s there send%s and receive%s",
                  text, hosts + loose, hosts + loose == 1 ? "" : "s",
                  hosts + loose == 1 ? "s" : "", hosts + loose == 1 ? "s" : "");
}

/* Puts what the options say of machines into *p. */
static int apply_limits(const struct cli_args *args, struct esp_platform **p)
{
    struct esp_platform *limited = NULL;
    struct esp_err err = {0};

    if (!cli_has(args, "site-limits") && !cli_has(args, "machines") &&
        !cli_has(args, "usd-per-hour"))
        return CLI_OK;
    esp_status status = espi_platform_with_limits(
        *p, cli_text(args, "site-limits"),
        cli_has(args, "machines") ? (int)cli_int(args, "machines") : 0,
        cli_has(args, "usd-per-hour") ? cli_number(args, "usd-per-hour") : ESP_UNSET,
        &limited, &err);
    if (status)
        return cli_fail(status, &err);
    warn_of_sites(*p, cli_text(args, "site-limits"));
    esp_platform_free(*p);
    *p = limited;
    return CLI_OK;
}

/* Hosts that are likely to be switches change all that is planned. */
static void warn_of_switches(const struct esp_platform *p, esp_format format)
{
    char name[64], more[96] = "its name says so";
    int leaves, likely;

    if (format != ESP_FORMAT_EDGES && format != ESP_FORMAT_LINKS)
        return;
    likely = espi_find_likely_switch(p, &leaves);
    if (likely < 0)
        return;
    espi_quote(name, sizeof name, espi_node_name(p, likely));
    if (leaves)
        snprintf(more, sizeof more, "%d nodes have no other neighbour", leaves);
    cli_error(CLI_OK,
              "warning: '%s' becomes a host, though it looks like a switch (%s); if it "
              "only forwards, say --switches '%s'",
              name, more, name);
}

enum {
    LIST_MAX = 1600, /* looks: bytes of all groups */
    NAMES_MAX = 300, /* looks: bytes of the sites of one */
    GROUP_MAX = 400  /* limit: bytes of one, with its numbers */
};

/* "nancy, lyon": the sites of a group; where they have no names its first host. */
static void name_island(const struct esp_platform *p, const struct espi_island *x,
                        char text[NAMES_MAX])
{
    char name[64];
    size_t at = 0;

    if (x->n_sites == 0)
        snprintf(text, NAMES_MAX, "%s%s",
                 espi_quote(name, sizeof name, espi_node_name(p, x->first_host)),
                 x->n_hosts > 1 ? ", ..." : "");
    for (int i = 0; i < x->n_sites; i++) {
        if (at + sizeof name + sizeof ", ..." > NAMES_MAX) {
            snprintf(text + at, NAMES_MAX - at, ", ...");
            return;
        }
        espi_quote(name, sizeof name, espi_names_text(&p->sites, x->site[i]));
        at += (size_t)snprintf(text + at, NAMES_MAX - at, "%s%s", i ? ", " : "", name);
    }
}

/* How many groups from here on look the same: such as hosts of one site, each by itself.
 */
static int count_alike(const struct espi_island *x, int n)
{
    int alike = 1;

    while (alike < n && x->n_sites == 1 && x[alike].n_sites == 1 &&
           x[alike].n_hosts == x->n_hosts && x[alike].site[0] == x->site[0])
        alike++;
    return alike;
}

/* "118 hosts (nancy, lyon), 2 groups of 1 host (rennes), 1 host (b)" */
static void list_islands(const struct esp_platform *p, const struct espi_island *islands,
                         int n, char text[LIST_MAX])
{
    char names[NAMES_MAX], groups[32];
    size_t at = 0;

    text[0] = '\0';
    for (int i = 0, alike; i < n; i += alike) {
        if (at + GROUP_MAX > LIST_MAX) {
            snprintf(text + at, LIST_MAX - at, ", and %d more", n - i);
            return;
        }
        alike = count_alike(islands + i, n - i);
        name_island(p, &islands[i], names);
        groups[0] = '\0';
        if (alike > 1)
            snprintf(groups, sizeof groups, "%d groups of ", alike);
        at += (size_t)snprintf(text + at, LIST_MAX - at, "%s%s%d host%s (%s)",
                               i ? ", " : "", groups, islands[i].n_hosts,
                               islands[i].n_hosts == 1 ? "" : "s", names);
    }
}

/* Where no host reaches all others, nothing can be planned for all of them: it says
 * which can. */
static int warn_of_islands(const struct esp_platform *p)
{
    struct espi_arena arena;
    struct espi_island *islands = NULL;
    char text[LIST_MAX];
    int n = 0, reached = 1;

    espi_arena_init(&arena);
    esp_status status = espi_find_islands(p, &arena, &islands, &n, &reached);
    if (status == ESP_OK && !reached) {
        list_islands(p, islands, n, text);
        cli_error(
            CLI_OK,
            "warning: no host reaches all others. Hosts reach each other only within "
            "%d groups: %s. To plan for one of them, cut it out with --only",
            n, text);
    }
    espi_arena_done(&arena);
    return status ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

/* The part that --only names, in the place of the whole. */
static int cut_part(const struct cli_args *args, struct esp_platform **p)
{
    struct esp_platform *part = NULL;
    struct esp_err err = {0};
    int *hosts = NULL, n = 0;

    if (!cli_text(args, "only"))
        return CLI_OK;
    if (!*cli_text(args, "only"))
        return cli_error(CLI_BAD_USAGE,
                         "--only: the list of hosts is empty (is a variable not set?)");
    int code = cli_find_hosts(*p, cli_text(args, "only"), "--only", &hosts, &n);
    if (code == CLI_OK)
        code = cli_fail(espi_platform_part(*p, n, hosts, &part, NULL, &err), &err);
    espi_free(hosts);
    if (code != CLI_OK)
        return code;
    esp_platform_free(*p);
    *p = part;
    return CLI_OK;
}

/* How many machines the plan rents by node; 0: it does not go there. */
static int *count_rents(const struct cli_args *args, const struct esp_platform *p)
{
    struct esp_err err = {0};
    struct esp_plan *plan = NULL;
    char quoted[256];
    int *count = NULL;

    if (cli_fail(esp_plan_read(cli_text(args, "rented"), p, &plan, &err), &err) != CLI_OK)
        return NULL;
    if (!plan->n_rents)
        cli_error(CLI_BAD_INPUT,
                  "%s: the plan counts no machines; see 'espalier plan "
                  "--minimize'",
                  espi_quote(quoted, sizeof quoted, cli_text(args, "rented")));
    else if (!(count = espi_calloc((size_t)p->n_nodes, sizeof *count)))
        cli_error(CLI_FAILED, "out of memory");
    for (int i = 0; count && i < plan->n_rents; i++)
        count[plan->rents[i].node] = plan->rents[i].count;
    esp_plan_free(plan);
    return count;
}

static int rent_machines(const struct cli_args *args, struct esp_platform **p)
{
    struct esp_err err = {0};
    struct esp_platform *joined = NULL;

    if (!cli_text(args, "rented"))
        return CLI_OK;
    int *count = count_rents(args, *p);
    if (!count)
        return CLI_BAD_INPUT;
    int code = cli_fail(espi_platform_rented(*p, count, &joined, &err), &err);
    espi_free(count);
    if (code != CLI_OK)
        return code;
    esp_platform_free(*p);
    *p = joined;
    return CLI_OK;
}

/* All rates times what --scale says, such as those of a copy that one machine carries. */
static int scale_rates(const struct cli_args *args, struct esp_platform **p)
{
    struct esp_platform *scaled = NULL;
    struct esp_err err = {0};
    int n = (*p)->n_links > (*p)->n_shared ? (*p)->n_links : (*p)->n_shared;

    if (!cli_has(args, "scale"))
        return CLI_OK;
    double *factor = ESPI_NEW(double, (size_t)n + 1);
    for (int i = 0; i < n && factor; i++)
        factor[i] = cli_number(args, "scale");
    esp_status status = factor ? espi_platform_scaled(*p, factor, factor, &scaled, &err)
                               : espi_err_nomem(&err);
    espi_free(factor);
    if (status)
        return cli_fail(status, &err);
    esp_platform_free(*p);
    *p = scaled;
    return CLI_OK;
}

/* As cli_read_platform does it, and warnings. */
static int read_foreign(const struct cli_args *args,
                        const struct esp_read_options *options, struct esp_platform **p)
{
    struct esp_err err = {0};
    esp_format format = ESP_FORMAT_AUTO;

    esp_status st = espi_platform_read_as(args->words[0], options, &format, p, &err);
    if (st)
        return cli_fail(st, &err);
    warn_of_switches(*p, format);
    return cli_apply_model(args, p);
}

static int run_import(const struct cli_args *args)
{
    struct esp_read_options options = {.size = sizeof options,
                                       .format = ESP_FORMAT_AUTO,
                                       .bandwidth_path = cli_text(args, "bandwidth"),
                                       .model = ESP_MODEL_DEFAULT,
                                       .switches = cli_text(args, "switches"),
                                       .rate_unit = cli_text(args, "unit"),
                                       .undirected = cli_has(args, "undirected")};
    struct esp_platform *p = NULL;

    if (cli_has(args, "link-speed"))
        options.link_Bps = cli_number(args, "link-speed");
    if (cli_has(args, "from"))
        esp_format_parse(cli_text(args, "from"), &options.format);
    if (cli_has(args, "model"))
        esp_model_parse(cli_text(args, "model"), &options.model);
    int code = read_foreign(args, &options, &p);
    if (code == CLI_OK)
        code = cut_part(args, &p);
    if (code == CLI_OK)
        code = warn_of_islands(p);
    if (code == CLI_OK)
        code = apply_limits(args, &p);
    if (code == CLI_OK)
        code = rent_machines(args, &p);
    if (code == CLI_OK)
        code = scale_rates(args, &p);
    if (code == CLI_OK)
        code = cli_write_platform(args, p);
    esp_platform_free(p);
    return code;
}

const struct command cli_command_import = {
    .name = "import",
    .group = CLI_GROUP_NETWORK,
    .summary = "convert a network description into a platform file",
    .about =
        (const char *const[]){
            "Reads a network in one of the formats below, checks it and writes it as a "
            "platform file. The format is recognised from the content and the name of "
            "the file; --from settles it where that fails.",
            " json      espalier's own\n"
            " matrix    CSV of latencies, and a second file of bandwidths\n"
            " edges     lines of 'u v capacity', # starts a comment\n"
            " tiers     output of Doar's Tiers\n"
            " simgrid   SimGrid XML, where SimGrid was there at build time\n"
            " graphml   GraphML\n"
            " links     CSV of links under a header: from,to,throughput_bps,usd_per_GB\n"
            " slurm     topology.conf of Slurm\n"
            " ibnet     what ibnetdiscover prints\n"
            " nccl      the XML of NCCL_TOPO_DUMP_FILE, one server",
            "In edge lists and tables of links every node is a host, until --switches or "
            "the file says otherwise; a host that looks like a switch gets a warning. "
            "Bare numbers in edge lists have no unit, until --unit gives them one.",
            "--only cuts a part out, such as the hosts of a job: names, or a list as "
            "Slurm writes it ($SLURM_JOB_NODELIST), or @FILE with one name per line.",
            "The regions of a cloud may be several machines each: --site-limits says "
            "what "
            "one of them sends and receives at most, by provider (the site of a node, "
            "which in a table of links is what stands before the ':' of its name), "
            "--machines how many there may be, and --usd-per-hour what each costs. See "
            "'espalier plan --minimize'.",
            "If no host reaches all others, as in a SimGrid file whose zones have no "
            "routes "
            "to each other, a warning lists the groups of hosts that do reach each "
            "other, by their sites (zones).",
            "If the file is invalid, nothing is written: an error message says where the "
            "error is and what it is, and the exit status is 3.",
            NULL},
    .positionals =
        (const struct cli_positional[]){
            {.name = "FILE", .kind = CLI_FILE, .help = "The file; - is standard input."},
            {0}},
    .options =
        (const struct cli_option[]){
            {.name = "from",
             .letter = 'f',
             .kind = CLI_CHOICE,
             .value = "FORMAT",
             .choices = formats,
             .help = "The format of the file, instead of what it looks like."},
            {.name = "bandwidth",
             .letter = 'b',
             .kind = CLI_FILE,
             .help = "The matrix of bandwidths that belongs to a matrix of latencies."},
            {.name = "switches",
             .kind = CLI_STRING,
             .value = "PATTERN,...",
             .help = "Nodes with such names are switches: they forward, and are no "
                     "hosts. * is any text, ? any one byte: nvswitch*,leaf??."},
            {.name = "undirected",
             .help = "Each line of an edge list is a link in both directions."},
            {.name = "unit",
             .kind = CLI_STRING,
             .value = "UNIT",
             .help =
                 "The unit of capacities without one in an edge list, and of LinkSpeed "
                 "in a topology.conf: Gbps, MBps."},
            {.name = "only",
             .kind = CLI_STRING,
             .value = "HOSTS|@FILE",
             .help = "These hosts alone, with what carries their traffic: "
                     "n1,n2 or rack[01-04,7] or a file of names."},
            {.name = "link-speed",
             .kind = CLI_BANDWIDTH,
             .help = "What a link carries of which a topology.conf does not say it."},
            {.name = "site-limits",
             .kind = CLI_STRING,
             .value = "SITE=OUT/IN,...",
             .help =
                 "What one machine at a node of that site sends and receives at most, "
                 "over all its links: aws=5Gbps/10Gbps,gcp=7Gbps/16Gbps."},
            {.name = "machines",
             .kind = CLI_INT,
             .value = "N",
             .limited = true,
             .min = 1,
             .max = 1000000,
             .help = "At most so many machines at each host; their links and ports add "
                     "up."},
            {.name = "usd-per-hour",
             .kind = CLI_DOUBLE,
             .value = "USD",
             .limited = true,
             .min = 0,
             .max = 1e9,
             .help = "What one machine costs an hour, at each host."},
            {.name = "rented",
             .kind = CLI_FILE,
             .value = "PLAN",
             .help = "The hosts of this plan by price alone, each as strong as all "
                     "machines that the plan rents there: the network that the plan "
                     "runs on, as for a testbed."},
            {.name = "scale",
             .kind = CLI_DOUBLE,
             .value = "X",
             .limited = true,
             .min = 1e-9,
             .max = 1e9,
             .help = "Multiply the rates of all links and shared links by this, as for "
                     "a copy of the network that a testbed can carry."},
            CLI_MODEL_OPTION,
            CLI_OUTPUT_OPTION,
            {0}},
    .examples =
        (const struct cli_example[]){
            {"A SimGrid platform:", "espalier import cluster.xml -o p.json"},
            {"Two measured matrices:",
             "espalier import latency.csv --bandwidth bandwidth.csv -o p.json"},
            {"An edge list of capacities:",
             "espalier import dgx.edges --switches 'nvswitch*' -o dgx.json"},
            {"The edges of a networkx graph, whose weights are Gbit/s:",
             "espalier import graph.txt --from edges --undirected --unit Gbps -o p.json"},
            {"The hosts of a Slurm job:",
             "espalier import cluster.json --only $SLURM_JOB_NODELIST -o job.json"},
            {"The tree of switches that Slurm knows, all links of 100 Gbit/s:",
             "espalier import /etc/slurm/topology.conf --link-speed 100Gbps -o p.json"},
            {"71 regions of three clouds, with prices, and up to four machines in each:",
             "espalier import links.csv --site-limits "
             "aws=5Gbps/10Gbps,gcp=7Gbps/16Gbps,azure=16Gbps/16Gbps --machines 4 "
             "--usd-per-hour 0.54 -o clouds.json"},
            {"Three of these regions, a hundred times as slow, for a testbed:",
             "espalier import clouds.json --only "
             "aws:us-east-1,gcp:us-west1-a,azure:westeurope --scale 0.01 -o small.json"},
            {0}},
    .see = (const char *const[]){"info", "generate", NULL},
    .run = run_import,
};
