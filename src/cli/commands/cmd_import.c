/* espalier import: platforms that others described, in native JSON. */
#include "cli/options/platforms.h"

static const char *const formats[] = {"json",    "matrix",  "edges", "tiers",
                                      "simgrid", "graphml", NULL};

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
            " graphml   GraphML",
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
            {0}},
    .see = (const char *const[]){"info", "generate", NULL},
    .run = run_import,
};
