/* espalier import: platforms that others described, in native JSON. */
#include "cli/options/platforms.h"
#include "platform/platform.h"

static const char *const formats[] = {"json",    "matrix",  "edges", "tiers",
                                      "simgrid", "graphml", "links", NULL};

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
    esp_platform_free(*p);
    *p = limited;
    return CLI_OK;
}

static int run_import(const struct cli_args *args)
{
    struct esp_read_options options = {.size = sizeof options,
                                       .format = ESP_FORMAT_AUTO,
                                       .bandwidth_path = cli_text(args, "bandwidth"),
                                       .model = ESP_MODEL_DEFAULT};
    struct esp_platform *p = NULL;

    if (cli_has(args, "from"))
        esp_format_parse(cli_text(args, "from"), &options.format);
    if (cli_has(args, "model"))
        esp_model_parse(cli_text(args, "model"), &options.model);
    int code = cli_read_platform(args, args->words[0], &options, &p);
    if (code == CLI_OK)
        code = apply_limits(args, &p);
    if (code == CLI_OK)
        code = cli_write_platform(args, p);
    esp_platform_free(p);
    return code;
}

const struct command cli_command_import = {
    .name = "import",
    .group = CLI_GROUP_NETWORK,
    .summary = "turn a description by others into a platform file",
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
            " links     CSV of links under a header: from,to,throughput_bps,usd_per_GB",
            "The regions of a cloud may be several machines each: --site-limits says "
            "what "
            "one of them sends and receives at most, by provider (the site of a node, "
            "which in a table of links is what stands before the ':' of its name), "
            "--machines how many there may be, and --usd-per-hour what each costs. See "
            "'espalier plan --minimize'.",
            "Nothing is written when the file is wrong: a sentence says where and why, "
            "and the exit status is 3.",
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
            CLI_MODEL_OPTION,
            CLI_OUTPUT_OPTION,
            {0}},
    .examples =
        (const struct cli_example[]){
            {"A SimGrid platform:", "espalier import cluster.xml -o p.json"},
            {"Two measured matrices:",
             "espalier import latency.csv --bandwidth bandwidth.csv -o p.json"},
            {"An edge list of capacities:",
             "espalier import dgx.edges --model capacity | espalier info -"},
            {"71 regions of three clouds, with prices, and up to four machines in each:",
             "espalier import links.csv --site-limits "
             "aws=5Gbps/10Gbps,gcp=7Gbps/16Gbps,azure=16Gbps/16Gbps --machines 4 "
             "--usd-per-hour 0.54 -o clouds.json"},
            {0}},
    .see = (const char *const[]){"info", "generate", NULL},
    .run = run_import,
};
