/* espalier knobs: every setting of runs under MPI, its value and where that comes from.
 */
#include <stdlib.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "runtime/knobs.h"

struct value {
    const char *text, *origin;
};

static struct value value_of(const struct espi_knob *knob)
{
    const char *text = getenv(knob->name);

    if (text && *text)
        return (struct value){text, "environment"};
    return (struct value){knob->standard, "default"};
}

static int print_json(const struct espi_knob *knobs, int n)
{
    json_t *all = json_array();

    for (int i = 0; i < n; i++) {
        struct value v = value_of(&knobs[i]);
        json_t *json = json_object();
        json_object_set_new(json, "name", json_string(knobs[i].name));
        json_object_set_new(json, "value", json_string(v.text));
        json_object_set_new(json, "origin", json_string(v.origin));
        json_object_set_new(json, "default", json_string(knobs[i].standard));
        json_object_set_new(json, "values", json_string(knobs[i].values));
        json_object_set_new(json, "help", json_string(knobs[i].help));
        json_array_append_new(all, json);
    }
    return cli_print_json(all);
}

static int print_table(const struct espi_knob *knobs, int n)
{
    static const struct cli_column columns[] = {
        {"setting", false}, {"value", false}, {"from", false}, {"may be", false}};
    struct cli_table t;
    char quoted[80];

    cli_table_init(&t, columns, 4);
    for (int i = 0; i < n; i++) {
        struct value v = value_of(&knobs[i]);
        cli_table_add(&t, "%s", knobs[i].name);
        cli_table_add(&t, "%s",
                      *v.text ? espi_quote(quoted, sizeof quoted, v.text) : "-");
        cli_table_add(&t, "%s", v.origin);
        cli_table_add(&t, "%s", knobs[i].values);
    }
    int bad = cli_table_print(&t, stdout, 0);
    cli_table_done(&t);
    if (bad)
        return cli_error(CLI_FAILED, "out of memory");
    for (int i = 0; i < n; i++) {
        printf("\n%s%s%s\n  ", cli_bold(stdout), knobs[i].name, cli_plain(stdout));
        cli_wrap(stdout, knobs[i].help, 2, 2, cli_term_width());
    }
    return cli_flush_stdout();
}

/* A value that the shim would refuse is refused here, too. */
static int run_knobs(const struct cli_args *args)
{
    struct espi_settings settings;
    struct esp_err err = {.status = ESP_OK, .text = ""};
    int n;
    const struct espi_knob *knobs = espi_knobs(&n);
    int code = cli_has(args, "json") ? print_json(knobs, n) : print_table(knobs, n);

    if (code != CLI_OK)
        return code;
    return cli_fail(espi_settings_read(&settings, getenv, &err), &err);
}

const struct command cli_command_knobs = {
    .name = "knobs",
    .group = CLI_GROUP_RUN,
    .summary = "list all settings for runs under MPI, with values and origins",
    .about =
        (const char *const[]){
            "Programs under MPI are steered by environment variables. This lists them "
            "all "
            "as a program started now would see them; espalier-mpi(7) explains each. A "
            "value that is not allowed is named at the end.",
            NULL},
    .positionals = (const struct cli_positional[]){{0}},
    .options = (const struct cli_option[]){{0}},
    .examples = (const struct cli_example[]){{"What is set?", "espalier knobs"}, {0}},
    .see = (const char *const[]){"run", NULL},
    .run = run_knobs,
};
