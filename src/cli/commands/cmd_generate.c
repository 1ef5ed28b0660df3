/* espalier generate: one command of the second level for each generator; their options
 * come from the generators' own descriptions. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "base/units.h"
#include "cli/options/platforms.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "platform/generators.h"

/* ---- from the description of a generator to a command ---- */

static struct espi_arena arena; /* the commands live as long as the program */

static void *need(size_t count, size_t size)
{
    void *memory = espi_arena_zalloc(&arena, count, size);

    if (!memory)
        exit(cli_error(CLI_FAILED, "out of memory"));
    return memory;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(need(size, 1), text, size);
}

/* "10 MB/s" as one would type it, "10MB/s"; the bare number when that is not exact. */
static const char *typed(enum espi_quantity what, double value)
{
    char text[ESPI_NUMBER_MAX + 16];
    double back = 0;

    if (what == ESPI_BANDWIDTH)
        espi_format_bandwidth(text, sizeof text, value);
    else
        espi_format_time(text, sizeof text, value);
    char *space = strchr(text, ' ');
    if (space)
        memmove(space, space + 1, strlen(space));
    if (espi_parse_quantity(what, text, strlen(text), &back) || back != value)
        espi_number_print(text, value);
    return copy_text(text);
}

static const char *default_text(const struct espi_param *p)
{
    char text[ESPI_NUMBER_MAX];

    switch (p->kind) {
    case ESPI_PARAM_FLAG:
        return NULL;
    case ESPI_PARAM_BANDWIDTH:
        return typed(ESPI_BANDWIDTH, p->standard);
    case ESPI_PARAM_TIME:
        return typed(ESPI_TIME, p->standard);
    case ESPI_PARAM_CHOICE:
        return p->choices[(int)p->standard];
    default:
        espi_number_print(text, p->standard);
        return copy_text(text);
    }
}

/* "number of nodes" -> "Number of nodes." */
static const char *sentence(const char *meaning)
{
    char *text = need(strlen(meaning) + 2, 1);

    strcpy(text, meaning);
    if (text[0] >= 'a' && text[0] <= 'z')
        text[0] = (char)(text[0] - 'a' + 'A');
    return strcat(text, ".");
}

static struct cli_option param_option(const struct espi_param *p)
{
    static const enum cli_kind kinds[] = {
        [ESPI_PARAM_INT] = CLI_INT,       [ESPI_PARAM_DOUBLE] = CLI_DOUBLE,
        [ESPI_PARAM_TIME] = CLI_TIME,     [ESPI_PARAM_BANDWIDTH] = CLI_BANDWIDTH,
        [ESPI_PARAM_FLAG] = CLI_FLAG,     [ESPI_PARAM_SEED] = CLI_SEED,
        [ESPI_PARAM_CHOICE] = CLI_CHOICE,
    };

    const char *fallback = default_text(p);
    return (struct cli_option){
        .name = p->name,
        .kind = kinds[p->kind],
        .fallback = fallback,
        .limited = p->kind != ESPI_PARAM_FLAG && p->kind != ESPI_PARAM_SEED &&
                   p->kind != ESPI_PARAM_CHOICE,
        .min = p->min,
        .max = p->max,
        .choices = p->choices,
        .help = sentence(p->meaning),
    };
}

static struct cli_option preset_option(const struct espi_generator *g)
{
    const char **names = need((size_t)g->n_presets + 1, sizeof *names);
    char text[800] = "Start from values that belong together:";
    size_t at = strlen(text);

    for (int i = 0; i < g->n_presets; i++) {
        names[i] = g->presets[i].name;
        if (at < sizeof text)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s %s (%s)",
                                   i ? ";" : "", names[i], g->presets[i].meaning);
    }
    if (at < sizeof text)
        snprintf(text + at, sizeof text - at, ". Other options change single values.");
    return (struct cli_option){.name = "preset",
                               .letter = 'p',
                               .kind = CLI_CHOICE,
                               .value = "NAME",
                               .choices = names,
                               .explained = true,
                               .help = copy_text(text)};
}

static int run_generator(const struct cli_args *args);

static const struct command *generator_command(const struct espi_generator *g)
{
    static const struct cli_option shared[] = {CLI_MODEL_OPTION, CLI_OUTPUT_OPTION};
    struct cli_option *options = need((size_t)g->n_params + 4, sizeof *options);
    struct cli_example *examples = need(2, sizeof *examples);
    struct command *c = need(1, sizeof *c);
    char line[128];
    int n = 0;

    if (g->n_presets)
        options[n++] = preset_option(g);
    for (int i = 0; i < g->n_params; i++)
        options[n++] = param_option(&g->params[i]);
    options[n++] = shared[0];
    options[n++] = shared[1];
    snprintf(line, sizeof line, "espalier generate %s%s%s -o p.json", g->name,
             g->n_presets ? " --preset " : "", g->n_presets ? g->presets[0].name : "");
    examples[0].what = "Make one and keep it in a file:";
    examples[0].line = copy_text(line);
    *c = (struct command){.name = g->name,
                          .summary = g->summary,
                          .options = options,
                          .examples = examples,
                          .run = run_generator,
                          .parent = &cli_command_generate,
                          .data = g};
    return c;
}

static const struct command *const *generator_commands(void)
{
    static const struct command **list;
    int n;

    if (!list) {
        const struct espi_generator *g = espi_generators(&n);
        list = need((size_t)n + 1, sizeof *list);
        for (int i = 0; i < n; i++)
            list[i] = generator_command(&g[i]);
    }
    return list;
}

/* ---- running ---- */

static void set_param(const struct cli_args *args, const struct espi_param *p, char *at)
{
    switch (p->kind) {
    case ESPI_PARAM_INT:
        *(int *)at = (int)cli_int(args, p->name);
        break;
    case ESPI_PARAM_CHOICE:
        *(int *)at = cli_choice(args, p->name);
        break;
    case ESPI_PARAM_FLAG:
        *(int *)at = 1;
        break;
    case ESPI_PARAM_SEED:
        *(uint64_t *)at = cli_seed(args, p->name);
        break;
    default:
        *(double *)at = cli_number(args, p->name);
    }
}

static int run_generator(const struct cli_args *args)
{
    const struct espi_generator *g = args->command->data;
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_platform *p = NULL;
    void *options = need(ESPI_GENERATOR_OPTIONS_MAX, 1);

    espi_generator_defaults(g, options);
    esp_status status = ESP_OK;
    if (cli_has(args, "preset"))
        status = espi_generator_preset(g, options, cli_text(args, "preset"), &err);
    for (int i = 0; i < g->n_params; i++)
        if (cli_has(args, g->params[i].name))
            set_param(args, &g->params[i], (char *)options + g->params[i].offset);
    cli_progress_start(0, "generating");
    if (status == ESP_OK)
        status = g->run(options, &p, &err);
    cli_progress_end();
    if (status != ESP_OK)
        return cli_fail(status, &err);
    int code = cli_apply_model(args, &p);
    if (code == CLI_OK)
        code = cli_write_platform(args, p);
    esp_platform_free(p);
    return code;
}

static int list_json(void)
{
    json_t *all = json_array();
    int n;
    const struct espi_generator *g = espi_generators(&n);

    for (int i = 0; i < n; i++) {
        json_t *json = json_object(), *presets = json_array();
        json_object_set_new(json, "name", json_string(g[i].name));
        json_object_set_new(json, "summary", json_string(g[i].summary));
        for (int k = 0; k < g[i].n_presets; k++)
            json_array_append_new(presets, json_string(g[i].presets[k].name));
        json_object_set_new(json, "presets", presets);
        json_array_append_new(all, json);
    }
    return cli_print_json(all);
}

static void add_presets(struct cli_table *t, const struct espi_generator *g)
{
    char text[200] = "";
    size_t at = 0;

    for (int i = 0; i < g->n_presets && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? " " : "",
                               g->presets[i].name);
    cli_table_add(t, "%s", text);
}

static int run_list(const struct cli_args *args)
{
    static const struct cli_column columns[] = {
        {"generator", false}, {"what it makes", false}, {"presets", false}};
    struct cli_table t;
    int n;
    const struct espi_generator *g = espi_generators(&n);

    if (cli_has(args, "json"))
        return list_json();
    cli_table_init(&t, columns, 3);
    for (int i = 0; i < n; i++) {
        cli_table_add(&t, "%s", g[i].name);
        cli_table_add(&t, "%s", g[i].summary);
        add_presets(&t, &g[i]);
    }
    int bad = cli_table_print(&t, stdout, 0);
    cli_table_done(&t);
    if (bad)
        return cli_error(CLI_FAILED, "out of memory");
    printf("\nMake one:               espalier generate %s -o p.json\n"
           "What it can be told:    espalier generate %s --help\n",
           g[0].name, g[0].name);
    return CLI_OK;
}

const struct command cli_command_generate = {
    .name = "generate",
    .group = CLI_GROUP_NETWORK,
    .summary = "make a network from a few numbers and a seed",
    .about =
        (const char *const[]){
            "Makes a platform: nodes, directed links, and shared links. The "
            "same options and seed give the same bytes on every machine, and every host "
            "can be reached from node 0.",
            "Without the name of a generator, lists them. Bandwidths, times and sizes "
            "take units: 100Mbps, 12.5MB/s, 5ms, 64KiB; bare numbers are bytes per "
            "second, "
            "seconds and bytes.",
            NULL},
    .examples =
        (const struct cli_example[]){
            {"Which generators are there?", "espalier generate"},
            {"A platform of 65 nodes on three levels:",
             "espalier generate tiers --preset 65 --seed 7 -o p.json"},
            {"Straight into another command:",
             "espalier generate sites --preset teragrid | espalier info -"},
            {0}},
    .see = (const char *const[]){"info", "import", NULL},
    .run = run_list,
    .children = generator_commands,
    .children_title = "Generators",
};
