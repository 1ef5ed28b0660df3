/* espalier algorithms: what the registry holds. */
#include <string.h>

#include "algo/algo.h"
#include "base/number.h"
#include "cli/options/plans.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"

/* "one-port, multi-port" */
static const char *model_list(const struct espi_algo *a, char *out, size_t size)
{
    size_t at = 0;

    if ((a->models & ESPI_ALL_MODELS) == ESPI_ALL_MODELS)
        return "any";
    out[0] = '\0';
    for (int m = 0; m < ESP_MODEL_COUNT && at < size; m++)
        if (a->models & ESPI_MODEL_BIT(m))
            at += (size_t)snprintf(out + at, size - at, "%s%s", at ? ", " : "",
                                   esp_model_name((esp_model)m));
    return out;
}

/* The default of an option as one would type it. */
static const char *default_text(const struct espi_algo_option *o, char *out, size_t size)
{
    const char *word = o->choices;

    if (!word) {
        char number[ESPI_NUMBER_MAX];
        espi_number_print(number, o->standard);
        snprintf(out, size, "%s", number);
        return out;
    }
    for (int i = (int)o->standard; i > 0 && strchr(word, '|'); i--)
        word = strchr(word, '|') + 1;
    snprintf(out, size, "%.*s", (int)strcspn(word, "|"), word);
    return out;
}

/* ---- for programs ---- */

static json_t *option_json(const struct espi_algo_option *o)
{
    json_t *json = json_object();
    char text[64];

    json_object_set_new(json, "name", json_string(o->name));
    json_object_set_new(json, "default", json_string(default_text(o, text, sizeof text)));
    if (o->choices) {
        json_object_set_new(json, "choices", json_string(o->choices));
    } else {
        cli_json_real(json, "min", o->min);
        cli_json_real(json, "max", o->max);
    }
    json_object_set_new(json, "meaning", json_string(o->meaning));
    return json;
}

static json_t *algo_json(const struct espi_algo *a)
{
    json_t *json = json_object(), *models = json_array(), *options = json_array();

    json_object_set_new(json, "name", json_string(a->name));
    json_object_set_new(json, "family", json_string(a->family));
    json_object_set_new(json, "op", json_string(esp_op_name(a->op)));
    json_object_set_new(json, "summary", json_string(a->summary));
    json_object_set_new(json, "paper", json_string(a->paper));
    json_object_set_new(json, "complexity", json_string(a->complexity));
    for (int m = 0; m < ESP_MODEL_COUNT; m++)
        if (a->models & ESPI_MODEL_BIT(m))
            json_array_append_new(models, json_string(esp_model_name((esp_model)m)));
    json_object_set_new(json, "models", models);
    json_object_set_new(json, "max_hosts",
                        a->max_hosts ? json_integer(a->max_hosts) : json_null());
    for (const struct espi_algo_option *o = a->options; o && o->name; o++)
        json_array_append_new(options, option_json(o));
    json_object_set_new(json, "options", options);
    return json;
}

/* ---- for people ---- */

static int print_one(const struct espi_algo *a)
{
    static const struct cli_column columns[] = {{NULL, false}, {NULL, false}};
    struct cli_table t;
    char text[200];

    printf("%s%s%s - %s\n\n", cli_bold(stdout), a->name, cli_plain(stdout), a->summary);
    cli_table_init(&t, columns, 2);
    cli_table_add(&t, "operation"), cli_table_add(&t, "%s", esp_op_name(a->op));
    cli_table_add(&t, "family"), cli_table_add(&t, "%s", a->family);
    cli_table_add(&t, "models"),
        cli_table_add(&t, "%s", model_list(a, text, sizeof text));
    cli_table_add(&t, "time"), cli_table_add(&t, "%s", a->complexity);
    cli_table_add(&t, "from"), cli_table_add(&t, "%s", a->paper);
    if (a->max_hosts)
        cli_table_add(&t, "hosts"), cli_table_add(&t, "at most %d", a->max_hosts);
    for (const struct espi_algo_option *o = a->options; o && o->name; o++) {
        cli_table_add(&t, "%s=%s", o->name, o->choices ? o->choices : "X");
        cli_table_add(&t, "%s (default: %s)", o->meaning,
                      default_text(o, text, sizeof text));
    }
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    return bad ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

/* Those made for another operation serve this one, too, where plans can be turned round
 * or put together: as `compare` lists them. */
static bool serves_operation(const struct espi_algo *a, const char *name)
{
    esp_op op;

    return esp_op_parse(name, &op) == 0 &&
           espi_algo_serves(a, op, op == ESP_OP_MULTICAST);
}

static int is_wanted(const struct cli_args *args, const struct espi_algo *a)
{
    const char *op = cli_text(args, "op"), *family = cli_text(args, "family");

    return (!op || serves_operation(a, op)) &&
           (!family || strcmp(family, a->family) == 0);
}

static int print_list(const struct cli_args *args)
{
    static const struct cli_column columns[] = {{"algorithm", false},
                                                {"operation", false},
                                                {"family", false},
                                                {"what it does", false}};
    struct cli_table t;
    int n;
    const struct espi_algo *const *algos = espi_algos(&n);

    cli_table_init(&t, columns, 4);
    for (int i = 0; i < n; i++) {
        if (!is_wanted(args, algos[i]))
            continue;
        cli_table_add(&t, "%s", algos[i]->name);
        cli_table_add(&t, "%s", esp_op_name(algos[i]->op));
        cli_table_add(&t, "%s", algos[i]->family);
        cli_table_add(&t, "%s", algos[i]->summary);
    }
    bool empty = t.n_cells == 0;
    int bad = empty ? 0 : cli_table_print(&t, stdout, 0);
    cli_table_done(&t);
    if (bad)
        return cli_error(CLI_FAILED, "out of memory");
    if (empty)
        return cli_error(CLI_BAD_USAGE, "no algorithm is of that operation and family "
                                        "('espalier algorithms' lists them all)");
    printf("\nMore about one: espalier algorithms NAME\n");
    return CLI_OK;
}

static int print_list_json(const struct cli_args *args)
{
    json_t *all = json_array();
    int n;
    const struct espi_algo *const *algos = espi_algos(&n);

    for (int i = 0; i < n; i++)
        if (is_wanted(args, algos[i]))
            json_array_append_new(all, algo_json(algos[i]));
    return cli_print_json(all);
}

static int run_algorithms(const struct cli_args *args)
{
    bool json = cli_has(args, "json");

    if (args->n_words == 0)
        return json ? print_list_json(args) : print_list(args);
    const char *name = args->words[0];
    const struct espi_algo *a = espi_algo_find(name, strcspn(name, ":"));
    if (!a)
        return cli_no_such_algorithm(name);
    return json ? cli_print_json(algo_json(a)) : print_one(a);
}

const struct command cli_command_algorithms = {
    .name = "algorithms",
    .group = CLI_GROUP_PLAN,
    .summary = "list the algorithms there are, or explain one",
    .about =
        (const char *const[]){
            "Lists the algorithms that make plans: what they are for, the family they "
            "belong to and what they do. With a name, says on which models and sizes the "
            "algorithm works, where it comes from, how long it takes and what options it "
            "has; options are written after the name, as in NAME:option=value.",
            NULL},
    .positionals = (const struct cli_positional[]){{.name = "NAME",
                                                    .kind = CLI_STRING,
                                                    .optional = true,
                                                    .help = "The algorithm to explain."},
                                                   {0}},
    .options =
        (const struct cli_option[]){
            {.name = "op",
             .kind = CLI_STRING,
             .value = "OPERATION",
             .help = "List those for this operation only, for example bcast."},
            {.name = "family",
             .letter = 'f',
             .kind = CLI_STRING,
             .value = "FAMILY",
             .help = "List those of this family only, for example atomic."},
            {0}},
    .examples = (const struct cli_example[]){{"Which are there?", "espalier algorithms"},
                                             {"What is the flat tree?",
                                              "espalier algorithms flat"},
                                             {0}},
    .see = (const char *const[]){"plan", "compare", NULL},
    .run = run_algorithms,
};
