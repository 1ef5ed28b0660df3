#include "cli/options/native.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "cli/options/plans.h"

/* ---- libraries ---- */

static int no_such_library(const char *text, size_t length)
{
    char word[32], shown[64];

    snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), text);
    return cli_error(CLI_BAD_USAGE, "--native: '%s' is neither openmpi nor mpich",
                     espi_quote(shown, sizeof shown, word));
}

static void say_other_version(const struct cli_library *library, const char *asked)
{
    const int *from = library->table->from.part, *to = library->table->to.part;

    fprintf(stderr,
            "espalier: there is no table of %s %s: what follows is what versions "
            "%d.%d.%d to %d.%d.%d do\n",
            library->name, asked, from[0], from[1], from[2], to[0], to[1], to[2]);
}

int cli_library_read(const char *text, size_t length, struct cli_library *out)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct espi_native_version version;
    const char *at = memchr(text, '@', length);
    size_t n = at ? (size_t)(at - text) : length;
    char asked[16] = "";
    int is_other = 0;
    esp_status status = ESP_OK;

    *out = (struct cli_library){.table = NULL};
    if (n < sizeof out->name)
        memcpy(out->name, text, n);
    if (n == 0 || n >= sizeof out->name || !espi_native_is_library(out->name))
        return no_such_library(text, n);
    if (at) {
        snprintf(asked, sizeof asked, "%.*s", (int)(length - n - 1), at + 1);
        status = espi_native_version_parse(asked, &version, &err);
    }
    if (status == ESP_OK)
        status = espi_native_table_load(out->name, at ? &version : NULL, &out->table,
                                        &is_other, &err);
    if (status == ESP_OK && is_other)
        say_other_version(out, asked);
    return cli_fail(status, &err);
}

void cli_library_done(struct cli_library *library)
{
    espi_native_table_free(library->table);
    library->table = NULL;
}

struct espi_protocol cli_library_protocol(const struct cli_library *library,
                                          const struct cli_args *args)
{
    struct espi_protocol protocol = library->table->protocol;

    if (!cli_has(args, "eager"))
        return protocol;
    protocol.eager_bytes = cli_number(args, "eager");
    protocol.first_bytes = fmin(protocol.first_bytes, cli_number(args, "eager"));
    return protocol;
}

int cli_library_choose(const struct cli_library *library, const struct cli_args *args,
                       const struct esp_platform *p, esp_op op,
                       struct espi_native_run *run, char *why, size_t why_size)
{
    const struct espi_native_rule *rule = espi_native_rule_for(
        library->table, op, p->n_hosts, espi_native_bytes(p, op, run->size_bytes));

    run->protocol = cli_library_protocol(library, args);
    if (!rule) {
        snprintf(why, why_size, "%s: what it does for %s is not known", library->name,
                 esp_op_name(op));
        return CLI_FAILED;
    }
    run->algo = rule->algo;
    run->segment_bytes = rule->segment_bytes;
    run->fanout = rule->fanout;
    return CLI_OK;
}

/* ---- one algorithm ---- */

int cli_check_native_options(const struct cli_args *args)
{
    static const char *const others[] = {"reality", "sharing", "alpha", "fault", "trace"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cli_has(args, others[i]))
            return cli_error(CLI_BAD_USAGE, "--%s goes with plans, not with --native",
                             others[i]);
    if (args->n_words > 1)
        return cli_error(CLI_BAD_USAGE, "a plan and --native do not go together");
    return CLI_OK;
}

int cli_no_such_native(const struct cli_library *library, esp_op op, const char *name)
{
    const char *names[64], *near;
    char shown[64];
    int n, found = 0;
    const struct espi_native_algo *all = espi_native_algos(&n);

    for (int i = 0; i < n && found < 64; i++)
        if (strcmp(all[i].library, library->name) == 0 && all[i].op == op)
            names[found++] = all[i].name;
    near = cli_nearest(name, names, found);
    espi_quote(shown, sizeof shown, name);
    if (near)
        return cli_error(CLI_BAD_USAGE, "--native: %s has no %s '%s'; perhaps %s?",
                         library->name, esp_op_name(op), shown, near);
    return cli_error(CLI_BAD_USAGE, "--native: %s has no %s '%s' (see docs/native.md)",
                     library->name, esp_op_name(op), shown);
}

static int choose_algorithm(const struct cli_library *library, esp_op op,
                            const char *name, const struct cli_args *args,
                            const struct esp_platform *p, struct espi_native_run *run)
{
    char why[120];

    if (!name)
        return cli_library_choose(library, args, p, op, run, why, sizeof why)
                   ? cli_error(CLI_FAILED, "%s", why)
                   : CLI_OK;
    run->protocol = cli_library_protocol(library, args);
    run->algo = espi_native_find(library->name, op, name);
    return run->algo ? CLI_OK : cli_no_such_native(library, op, name);
}

int cli_parse_native(const char *text, const struct cli_args *args,
                     const struct esp_platform *p, struct espi_native_run *run)
{
    size_t length = strcspn(text, ":");
    const char *rest = text[length] ? text + length + 1 : "";
    size_t op_length = strcspn(rest, ":");
    char op_name[32] = "", shown[64];
    struct cli_library library;
    esp_op op;
    int code = cli_library_read(text, length, &library);

    if (code == CLI_OK && op_length < sizeof op_name)
        memcpy(op_name, rest, op_length);
    if (code == CLI_OK && esp_op_parse(op_name, &op))
        code = cli_error(CLI_BAD_USAGE,
                         "--native: '%s' is not LIBRARY:OPERATION[:ALGORITHM]",
                         espi_quote(shown, sizeof shown, text));
    if (code == CLI_OK && library.table)
        code = choose_algorithm(
            &library, op, rest[op_length] ? rest + op_length + 1 : NULL, args, p, run);
    cli_library_done(&library);
    return code;
}
