/* espalier info: what a platform is, at a glance. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"
#include "cli/options/platforms.h"
#include "cli/printing/certainty.h"
#include "cli/printing/host_names.h"
#include "cli/printing/output.h"
#include "cli/printing/summary.h"
#include "cli/printing/term.h"

enum { LIST_MAX = 12, BAR_MAX = 30 };

typedef const char *format_fn(char *out, size_t size, double value);

/* ---- for people ---- */

static void add_row(struct cli_table *t, const char *name, const char *text)
{
    cli_table_add(t, "%s", name);
    cli_table_add(t, "%s", text);
}

static const char *plural(int n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

static void add_size(struct cli_table *t, const struct esp_platform *p,
                     const struct summary *s)
{
    char text[200];

    if (s->switches)
        snprintf(text, sizeof text, "%d: %d %s and %d %s", s->hosts + s->switches,
                 s->hosts, plural(s->hosts, "host", "hosts"), s->switches,
                 plural(s->switches, "switch", "switches"));
    else
        snprintf(text, sizeof text, "%d %s", s->hosts, plural(s->hosts, "host", "hosts"));
    add_row(t, "nodes", text);
    add_row(t, "hosts", cli_host_names(text, sizeof text, p));
    snprintf(text, sizeof text, "%d directed (density %.3g)", s->links, s->density);
    add_row(t, "links", text);
    if (s->out.min == s->out.max && s->in.min == s->in.max)
        snprintf(text, sizeof text, "%d out and %d in at every node", s->out.min,
                 s->in.min);
    else
        snprintf(text, sizeof text, "out %d to %d, in %d to %d, mean %.3g", s->out.min,
                 s->out.max, s->in.min, s->in.max, s->out.mean);
    add_row(t, "degree", text);
}

static void add_range(struct cli_table *t, const char *name, const struct distribution *d,
                      format_fn *format)
{
    char low[32], high[32], middle[32], text[160];

    format(low, sizeof low, d->min);
    format(high, sizeof high, d->max);
    format(middle, sizeof middle, d->median);
    if (d->min == d->max)
        snprintf(text, sizeof text, "%s everywhere", low);
    else
        snprintf(text, sizeof text, "%s to %s, median %s", low, high, middle);
    add_row(t, name, text);
}

static void add_link(struct cli_table *t, const char *name, const struct esp_platform *p,
                     int link)
{
    char from[64], to[64], bandwidth[32], text[200];

    espi_quote(from, sizeof from, espi_node_name(p, p->tail[link]));
    espi_quote(to, sizeof to, espi_node_name(p, p->head[link]));
    espi_format_bandwidth(bandwidth, sizeof bandwidth, p->bandwidth_Bps[link]);
    snprintf(text, sizeof text, "%s -> %s, %s", from, to, bandwidth);
    add_row(t, name, text);
}

static void add_reach(struct cli_table *t, const struct esp_platform *p,
                      const struct summary *s)
{
    char root[64], text[300];

    if (s->root < 0) {
        add_row(t, "reach", "there is no host to start from");
        return;
    }
    espi_quote(root, sizeof root, espi_node_name(p, s->root));
    if (s->strongly_connected)
        snprintf(text, sizeof text, "every node reaches every other");
    else if (s->unreached_hosts == 0)
        snprintf(text, sizeof text,
                 "%s reaches every host; not every node reaches every other", root);
    else
        snprintf(text, sizeof text,
                 "%s does not reach %d of %d hosts ('--root %s' names "
                 "them)",
                 root, s->unreached_hosts, s->hosts, root);
    add_row(t, "reach", text);
}

static const char *model_text(esp_model model)
{
    static const char *const texts[ESP_MODEL_COUNT] = {
        [ESP_MODEL_ONE_PORT] = "one send and one receive at a time",
        [ESP_MODEL_HALF_DUPLEX] = "one send or one receive at a time",
        [ESP_MODEL_MULTI_PORT] = "sends start one after the other, then run side by side",
        [ESP_MODEL_CAPACITY] = "links have capacities, nodes no limits",
        [ESP_MODEL_HNOW] = "processors send and receive one message at a time",
    };

    return texts[model];
}

/* From the least to the most of what there is to pay. */
static void add_prices(struct cli_table *t, const struct esp_platform *p)
{
    char text[200];
    double low = INFINITY, high = 0, low_hour = INFINITY, high_hour = 0;
    int least = INT_MAX, most = 0;

    if (!esp_platform_has_prices(p))
        return;
    for (int e = 0; e < p->n_links; e++) {
        double usd = esp_platform_link_price(p, e);
        low = usd < low ? usd : low;
        high = usd > high ? usd : high;
    }
    for (int v = 0; v < p->n_nodes; v++) {
        struct esp_machines m = esp_platform_node_machines(p, v);
        if (espi_is_switch(p, v))
            continue;
        low_hour = m.usd_per_hour < low_hour ? m.usd_per_hour : low_hour;
        high_hour = m.usd_per_hour > high_hour ? m.usd_per_hour : high_hour;
        least = m.max_count < least ? m.max_count : least;
        most = m.max_count > most ? m.max_count : most;
    }
    if (high > 0) {
        snprintf(text, sizeof text, "%g to %g USD a GB of a link", low, high);
        add_row(t, "prices", text);
    }
    if (high_hour > 0)
        snprintf(text, sizeof text, "%d to %d a host, %g to %g USD an hour each", least,
                 most, low_hour, high_hour);
    else
        snprintf(text, sizeof text, "%d to %d a host", least, most);
    if (most > 1 || high_hour > 0)
        add_row(t, "machines", text);
}

static int print_facts(const struct esp_platform *p, const struct summary *s)
{
    static const struct cli_column columns[] = {{NULL, false}, {NULL, false}};
    struct cli_table t;
    char text[200];

    cli_table_init(&t, columns, 2);
    snprintf(text, sizeof text, "%s (%s)", esp_model_name(p->model),
             model_text(p->model));
    add_row(&t, "model", text);
    add_size(&t, p, s);
    if (s->links) {
        add_range(&t, "bandwidth", &s->bandwidth, espi_format_bandwidth);
        add_range(&t, "latency", &s->latency, espi_format_time);
    }
    if (s->links && s->bandwidth.min < s->bandwidth.max) {
        add_link(&t, "slowest", p, s->bandwidth.lowest);
        add_link(&t, "fastest", p, s->bandwidth.highest);
    }
    if (p->has_send || p->has_recv)
        add_row(&t, "overheads",
                p->has_send && p->has_recv ? "of sending and receiving"
                : p->has_send              ? "of sending"
                                           : "of receiving");
    add_prices(&t, p);
    if (s->hosts + s->switches)
        add_reach(&t, p, s);
    if (*cli_check_text(text, sizeof text, p))
        add_row(&t, "measured", text);
    if (*cli_unsure_text(text, sizeof text, p))
        add_row(&t, "not sure", text);
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    return bad;
}

static void print_heading(const char *title)
{
    printf("\n%s%s%s\n", cli_bold(stdout), title, cli_plain(stdout));
}

static int print_more(struct cli_table *t, int shown, int total)
{
    int bad = cli_table_print(t, stdout, 2);

    cli_table_done(t);
    if (shown < total)
        printf("  and %d more ('--json' lists all)\n", total - shown);
    return bad;
}

static int print_sites(const struct esp_platform *p, const struct summary *s)
{
    static const struct cli_column columns[] = {
        {"name", false}, {"hosts", true}, {"switches", true}};
    struct cli_table t;
    int shown = p->n_sites < LIST_MAX ? p->n_sites : LIST_MAX;

    if (p->n_sites == 0)
        return 0;
    print_heading("Sites");
    cli_table_init(&t, columns, s->switches ? 3 : 2);
    for (int i = 0; i < shown; i++) {
        cli_table_add(&t, "%s", espi_names_text(&p->sites, i));
        cli_table_add(&t, "%d", s->sites[i].hosts);
        if (s->switches)
            cli_table_add(&t, "%d", s->sites[i].switches);
    }
    return print_more(&t, shown, p->n_sites);
}

static int cable_links(const struct esp_platform *p, int cable)
{
    return p->shared_links.start[cable + 1] - p->shared_links.start[cable];
}

static int print_cables(const struct esp_platform *p)
{
    static const struct cli_column columns[] = {
        {"name", false}, {"bandwidth", true}, {"links", true}, {"between", true}};
    struct cli_table t;
    char bandwidth[32], range[80];
    int ranged = 0;
    int shown = p->n_shared < LIST_MAX ? p->n_shared : LIST_MAX;

    if (p->n_shared == 0)
        return 0;
    print_heading("Shared links");
    for (int i = 0; i < shown; i++)
        ranged |= esp_platform_cable_range(p, i).confidence != ESP_UNSET;
    cli_table_init(&t, columns, ranged ? 4 : 3);
    for (int i = 0; i < shown; i++) {
        espi_format_bandwidth(bandwidth, sizeof bandwidth, p->shared_Bps[i]);
        cli_table_add(&t, "%s", espi_shared_name(p, i));
        cli_table_add(&t, "%s", bandwidth);
        cli_table_add(&t, "%d", cable_links(p, i));
        if (ranged)
            cli_table_add(
                &t, "%s",
                cli_range_text(range, sizeof range, esp_platform_cable_range(p, i)));
    }
    return print_more(&t, shown, p->n_shared);
}

static void add_bar(struct cli_table *t, int count, int largest)
{
    const char *mark = cli_term_utf8() ? "\xe2\x96\x88" : "#"; /* a full block */
    int length = (int)((double)count * BAR_MAX / largest + 0.5);
    char text[BAR_MAX * 3 + 1] = "";

    if (count && !length)
        length = 1;
    for (int i = 0; i < length; i++)
        strcat(text, mark);
    cli_table_add(t, "%s", text);
}

static void add_bin(struct cli_table *t, const struct histogram_bin *b, bool ranges,
                    format_fn *format)
{
    char text[32];

    cli_table_add(t, "%s", format(text, sizeof text, b->from));
    if (!ranges)
        return;
    cli_table_add(t, "%s", b->from == b->to ? "" : "to");
    cli_table_add(t, "%s", b->from == b->to ? "" : format(text, sizeof text, b->to));
}

static int print_histogram(const char *title, const struct distribution *d,
                           format_fn *format)
{
    static const struct cli_column columns[] = {
        {NULL, true}, {NULL, false}, {NULL, true}, {NULL, true}, {NULL, false}};
    struct cli_table t;
    int largest = 1;

    if (d->n_bins < 2)
        return 0;
    print_heading(title);
    for (int i = 0; i < d->n_bins; i++)
        largest = d->bins[i].count > largest ? d->bins[i].count : largest;
    bool ranges = d->bins[1].from != d->bins[1].to;
    cli_table_init(&t, ranges ? columns : columns + 2, ranges ? 5 : 3);
    for (int i = 0; i < d->n_bins; i++) {
        add_bin(&t, &d->bins[i], ranges, format);
        cli_table_add(&t, "%d", d->bins[i].count);
        add_bar(&t, d->bins[i].count, largest);
    }
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    return bad;
}

static int print_text(const struct esp_platform *p, const struct summary *s)
{
    char name[200];

    espi_quote(name, sizeof name, p->name && *p->name ? p->name : "(without a name)");
    printf("%s%s%s\n\n", cli_bold(stdout), name, cli_plain(stdout));
    if (print_facts(p, s) || print_sites(p, s) || print_cables(p) ||
        print_histogram("Links by bandwidth", &s->bandwidth, espi_format_bandwidth) ||
        print_histogram("Links by latency", &s->latency, espi_format_time))
        return cli_error(CLI_FAILED, "out of memory");
    char text[300];
    if (cli_measurement_warning(text, sizeof text, p))
        printf("\nWarning: %s\n", text);
    return CLI_OK;
}

/* ---- for programs ---- */

static json_t *link_json(const struct esp_platform *p, int link)
{
    json_t *json = json_object();

    json_object_set_new(json, "from", json_string(espi_node_name(p, p->tail[link])));
    json_object_set_new(json, "to", json_string(espi_node_name(p, p->head[link])));
    cli_json_real(json, "latency_s", p->latency_s[link]);
    cli_json_real(json, "bandwidth_Bps", p->bandwidth_Bps[link]);
    return json;
}

static json_t *distribution_json(const struct distribution *d)
{
    json_t *json = json_object(), *bins = json_array();

    cli_json_real(json, "min", d->min);
    cli_json_real(json, "median", d->median);
    cli_json_real(json, "mean", d->mean);
    cli_json_real(json, "max", d->max);
    for (int i = 0; i < d->n_bins; i++) {
        json_t *bin = json_object();
        cli_json_real(bin, "from", d->bins[i].from);
        cli_json_real(bin, "to", d->bins[i].to);
        json_object_set_new(bin, "links", json_integer(d->bins[i].count));
        json_array_append_new(bins, bin);
    }
    json_object_set_new(json, "histogram", bins);
    return json;
}

static json_t *degree_json(const struct degree *d)
{
    json_t *json = json_object();

    json_object_set_new(json, "min", json_integer(d->min));
    json_object_set_new(json, "max", json_integer(d->max));
    cli_json_real(json, "mean", d->mean);
    return json;
}

static json_t *sites_json(const struct esp_platform *p, const struct summary *s)
{
    json_t *all = json_array();

    for (int i = 0; i < p->n_sites; i++) {
        json_t *json = json_object();
        json_object_set_new(json, "name", json_string(espi_names_text(&p->sites, i)));
        json_object_set_new(json, "hosts", json_integer(s->sites[i].hosts));
        json_object_set_new(json, "switches", json_integer(s->sites[i].switches));
        json_array_append_new(all, json);
    }
    return all;
}

static json_t *cables_json(const struct esp_platform *p)
{
    json_t *all = json_array();

    for (int i = 0; i < p->n_shared; i++) {
        json_t *json = json_object();
        json_object_set_new(json, "name", json_string(espi_shared_name(p, i)));
        cli_json_real(json, "bandwidth_Bps", p->shared_Bps[i]);
        json_object_set_new(json, "links", json_integer(cable_links(p, i)));
        cli_json_range(json, esp_platform_cable_range(p, i));
        json_array_append_new(all, json);
    }
    return all;
}

static json_t *prices_json(const struct esp_platform *p)
{
    json_t *json = json_object(), *links = json_array(), *hosts = json_array();

    for (int e = 0; e < p->n_links; e++) {
        double usd = esp_platform_link_price(p, e);
        if (!(usd > 0))
            continue;
        json_t *link = json_object();
        json_object_set_new(link, "from", json_string(espi_node_name(p, p->tail[e])));
        json_object_set_new(link, "to", json_string(espi_node_name(p, p->head[e])));
        cli_json_real(link, "usd_per_GB", usd);
        json_array_append_new(links, link);
    }
    for (int v = 0; v < p->n_nodes; v++) {
        struct esp_machines m = esp_platform_node_machines(p, v);
        if (espi_is_switch(p, v))
            continue;
        json_t *host = json_object();
        json_object_set_new(host, "name", json_string(espi_node_name(p, v)));
        cli_json_real(host, "usd_per_hour", m.usd_per_hour);
        json_object_set_new(host, "max_count", json_integer(m.max_count));
        json_array_append_new(hosts, host);
    }
    json_object_set_new(json, "links", links);
    json_object_set_new(json, "machines", hosts);
    return json;
}

static json_t *unreached_json(const struct esp_platform *p, const struct summary *s)
{
    json_t *names = json_array();

    for (int u = 0; s->root >= 0 && u < p->n_nodes; u++)
        if (!s->seen[u] && !espi_is_switch(p, u))
            json_array_append_new(names, json_string(espi_node_name(p, u)));
    return names;
}

static int print_info_json(const struct esp_platform *p, const struct summary *s)
{
    json_t *json = json_object();

    json_object_set_new(json, "name", json_string(p->name ? p->name : ""));
    json_object_set_new(json, "model", json_string(esp_model_name(p->model)));
    json_object_set_new(json, "hosts", json_integer(s->hosts));
    json_object_set_new(json, "switches", json_integer(s->switches));
    json_object_set_new(json, "links", json_integer(s->links));
    cli_json_real(json, "density", s->density);
    json_object_set_new(json, "out_degree", degree_json(&s->out));
    json_object_set_new(json, "in_degree", degree_json(&s->in));
    if (s->links) {
        json_object_set_new(json, "bandwidth_Bps", distribution_json(&s->bandwidth));
        json_object_set_new(json, "latency_s", distribution_json(&s->latency));
        json_object_set_new(json, "slowest_link", link_json(p, s->bandwidth.lowest));
        json_object_set_new(json, "fastest_link", link_json(p, s->bandwidth.highest));
    }
    json_object_set_new(json, "sites", sites_json(p, s));
    json_object_set_new(json, "shared", cables_json(p));
    if (esp_platform_has_prices(p))
        json_object_set_new(json, "prices", prices_json(p));
    if (esp_platform_measurement(p))
        json_object_set_new(json, "measured", cli_measurement_json(p));
    json_object_set_new(json, "strongly_connected", json_boolean(s->strongly_connected));
    json_object_set_new(json, "root",
                        s->root < 0 ? json_null()
                                    : json_string(espi_node_name(p, s->root)));
    json_object_set_new(json, "unreached_hosts", unreached_json(p, s));
    return cli_print_json(json);
}

/* ---- the command ---- */

static int print_info(const struct cli_args *args, const struct esp_platform *p)
{
    struct espi_arena arena;
    struct summary s;
    int root = -1, code = CLI_OK;

    if (cli_has(args, "root"))
        code = cli_find_root(p, args->words[0], cli_text(args, "root"), &root);
    if (code != CLI_OK)
        return code;
    espi_arena_init(&arena);
    if (cli_summarize(p, root, &arena, &s))
        code = cli_error(CLI_FAILED, "out of memory");
    else if (cli_has(args, "json"))
        code = print_info_json(p, &s);
    else
        code = print_text(p, &s);
    espi_arena_done(&arena);
    return code;
}

static int run_info(const struct cli_args *args)
{
    struct esp_platform *p = NULL;
    int code = cli_read_platform(args, args->words[0], NULL, &p);

    if (code == CLI_OK)
        code = cli_has(args, "hosts") ? cli_print_hosts(args, p) : print_info(args, p);
    esp_platform_free(p);
    return code;
}

const struct command cli_command_info = {
    .name = "info",
    .group = CLI_GROUP_NETWORK,
    .summary = "summarise a network",
    .about =
        (const char *const[]){
            "Reads a platform file, or any file that 'espalier import' recognises, and "
            "prints a summary of its size, heterogeneity and connectivity: its model, "
            "nodes, links and their density, sites, shared links, the ranges "
            "of bandwidth and latency and the distribution of links over them.",
            "Density is the fraction of all directed pairs of nodes that have a link.",
            NULL},
    .positionals = cli_platform_file,
    .options =
        (const struct cli_option[]){
            {.name = "root",
             .letter = 'r',
             .kind = CLI_STRING,
             .value = "NODE",
             .names = CLI_NAMES_HOST,
             .help = "Check that this node, by name or number, reaches every host; if "
                     "not, list the unreachable ones and exit with status 3."},
            {.name = "hosts",
             .help = "Only the names of the hosts, one per line, as --targets @FILE and "
                     "'espalier import --only @FILE' take them."},
            CLI_MODEL_OPTION,
            {0}},
    .examples =
        (const struct cli_example[]){
            {"A file:", "espalier info p.json"},
            {"What a generator makes:",
             "espalier generate tiers --preset 65 --seed 7 | espalier info -"},
            {"Its hosts by name, and whether w3 reaches all:",
             "espalier info p.json --hosts; espalier info p.json --root w3"},
            {"The median bandwidth, for a script:",
             "espalier info --json p.json | jq .bandwidth_Bps.median"},
            {0}},
    .see = (const char *const[]){"generate", "import", NULL},
    .run = run_info,
};
