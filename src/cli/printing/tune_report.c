#include "cli/printing/tune_report.h"

#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/json_text.h"
#include "base/units.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"

/* ---- files ---- */

static bool has_rules(const struct espi_tune *t)
{
    for (int i = 0; i < t->n_cells; i++)
        if (t->cells[i].is_rule)
            return true;
    return false;
}

static bool is_openmpi(const struct cli_tuned_library *t)
{
    return strcmp(t->library.name, "openmpi") == 0;
}

struct host_list {
    const struct esp_platform *p;
    const struct espi_tune *tune;
};

static esp_status write_hosts(const void *list, FILE *out, struct esp_err *err)
{
    const struct host_list *h = list;
    char shown[64];

    for (int i = 0; i < h->tune->n_ranks; i++) {
        const char *name = espi_node_name(h->p, h->tune->nodes[i]);
        if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789._-")] != '\0')
            return espi_err(err, ESP_EUNSUPPORTED,
                            "'%s' is no name that a list of hosts can have",
                            espi_quote(shown, sizeof shown, name));
        fprintf(out, "%s\n", name);
    }
    return ESP_OK;
}

static void file_name(char *out, size_t size, const struct cli_tuning *r,
                      const struct cli_tuned_library *t, const char *ending)
{
    snprintf(out, size, "%s.%s.%s", r->output, t->library.name, ending);
}

static const char *choices_ending(const struct cli_tuned_library *t)
{
    return is_openmpi(t) ? "rules" : "json";
}

int cli_write_tuning(const struct cli_tuning *r, const struct cli_tuned_library *t)
{
    struct host_list hosts = {r->p, t->tune};
    struct espi_tune_file file = {t->library.table, t->tune};
    char path[PATH_MAX];

    if (strlen(r->output) > PATH_MAX - 32)
        return cli_error(CLI_BAD_USAGE, "--output: the name is too long");
    file_name(path, sizeof path, r, t, "hosts");
    int code = cli_write(path, write_hosts, &hosts);
    if (code != CLI_OK || !has_rules(t->tune))
        return code;
    file_name(path, sizeof path, r, t, choices_ending(t));
    return cli_write(
        path, is_openmpi(t) ? espi_tune_write_rules : espi_tune_write_selection, &file);
}

/* A word as a shell takes it. */
static void put_shell_word(FILE *out, const char *word)
{
    if (word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "0123456789._-/+,:@%")] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (const char *at = word; *at; at++)
        if (*at == '\'')
            fputs("'\\''", out);
        else
            fputc(*at, out);
    fputc('\'', out);
}

static void put_command(FILE *out, const struct cli_tuning *r,
                        const struct cli_tuned_library *t)
{
    char path[PATH_MAX];

    file_name(path, sizeof path, r, t, "hosts");
    fprintf(out,
            is_openmpi(t) ? "mpirun -n %d --map-by seq --hostfile "
                          : "mpiexec -n %d -ppn 1 -f ",
            t->tune->n_ranks);
    put_shell_word(out, path);
    if (has_rules(t->tune)) {
        file_name(path, sizeof path, r, t, choices_ending(t));
        fputs(is_openmpi(t) ? " --mca coll_tuned_use_dynamic_rules 1 --mca "
                              "coll_tuned_dynamic_rules_filename "
                            : " -genv MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE ",
              out);
        put_shell_word(out, path);
    }
    fputs(" PROGRAM", out);
}

/* ---- for people ---- */

static const char *choice_text(char *out, size_t size, const struct espi_native_choice *c)
{
    int n = snprintf(out, size, "%s", c->algo->name);

    if (c->fanout > 0)
        n += snprintf(out + n, size - (size_t)n, ", fan-out %d", c->fanout);
    if (c->segment_bytes > 0)
        snprintf(out + n, size - (size_t)n, ", segments of %lld",
                 (long long)c->segment_bytes);
    return out;
}

static void add_cell_row(struct cli_table *t, const struct espi_tune_cell *c)
{
    char text[128];

    cli_table_add(t, "%s", esp_op_name(c->op));
    cli_table_add(t, "%s", espi_format_bytes(text, sizeof text, c->size_bytes));
    cli_table_add(t, "%s", choice_text(text, sizeof text, &c->usual));
    cli_table_add(t, "%s", espi_format_time(text, sizeof text, c->given_s));
    cli_table_add(t, "%s",
                  c->is_rule ? choice_text(text, sizeof text, &c->chosen) : "as usual");
    cli_table_add(t, "%s", espi_format_time(text, sizeof text, c->chosen_s));
    cli_table_add(t, "%.2f", c->given_s / c->chosen_s);
}

static int print_cells(const struct espi_tune *tune)
{
    static const struct cli_column columns[] = {
        {"operation", false}, {"size", true},  {"by itself", false}, {"takes", true},
        {"tuned", false},     {"takes", true}, {"gain", true}};
    struct cli_table t;

    cli_table_init(&t, columns, 7);
    for (int i = 0; i < tune->n_cells; i++)
        add_cell_row(&t, &tune->cells[i]);
    int bad = t.failed || t.n_cells ? cli_table_print(&t, stdout, 2) : 0;
    cli_table_done(&t);
    return bad;
}

static void print_order(const struct cli_tuning *r, const struct espi_tune *t)
{
    char shown[64];

    if (!t->is_ordered) {
        printf("\nNo other order of hosts was found that is clearly earlier.\n");
        return;
    }
    printf("\nRanks 0 to %d on ", t->n_ranks - 1);
    for (int i = 0; i < t->n_ranks; i++)
        printf("%s%s", i ? " " : "",
               espi_quote(shown, sizeof shown, espi_node_name(r->p, t->nodes[i])));
    printf("\n");
}

static bool is_asked(const struct cli_tuning *r, const struct espi_leave_out *x)
{
    for (int i = 0; i < r->ask.n_ops; i++)
        if (r->ask.ops[i] == x->op)
            return !(x->unless & r->ask.promises);
    return false;
}

static bool is_alike(const struct espi_leave_out *x, const struct espi_leave_out *y)
{
    return x->op == y->op && x->with == y->with && x->unless == y->unless &&
           strcmp(x->why, y->why) == 0;
}

/* Algorithms of an operation that are left out for the same reason, in one sentence. */
static void print_reason(const struct espi_native_tuning *tuning, size_t first)
{
    static const char *const with[] = {"", " with segments", " with a fan-out",
                                       " if ranks are no power of two"};
    const struct espi_leave_out *x = &tuning->left_out[first];
    char text[800];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", esp_op_name(x->op));

    for (size_t i = first; i < tuning->n_left_out && n < sizeof text; i++)
        if (x->algo && is_alike(x, &tuning->left_out[i]))
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s",
                                  i == first ? " by " : ", ",
                                  tuning->left_out[i].algo->name);
    if (n < sizeof text)
        snprintf(text + n, sizeof text - n, "%s: %s%s%s%s", with[x->with], x->why,
                 x->unless ? " (unless --program " : "",
                 x->unless ? espi_promise_name(x->unless) : "", x->unless ? ")" : "");
    cli_wrap(stdout, text, 2, 4, cli_term_width());
}

/* What was not even tried although the library has it. */
static void print_left_out(const struct cli_tuning *r, const struct cli_tuned_library *t)
{
    const struct espi_native_tuning *tuning = &t->library.table->tuning;
    const char *title = "\nNever chosen:\n";

    for (size_t i = 0; i < tuning->n_left_out; i++) {
        const struct espi_leave_out *x = &tuning->left_out[i];
        bool is_said = !is_asked(r, x);
        for (size_t k = 0; k < i && !is_said; k++)
            is_said = is_alike(x, &tuning->left_out[k]);
        if (is_said)
            continue;
        printf("%s  ", title);
        print_reason(tuning, i);
        title = "";
    }
}

static int print_library(const struct cli_tuning *r, const struct cli_tuned_library *t)
{
    const int *from = t->library.table->from.part, *to = t->library.table->to.part;

    printf("%s%s %d.%d.%d to %d.%d.%d with %d ranks, one a host%s\n\n", cli_bold(stdout),
           t->library.name, from[0], from[1], from[2], to[0], to[1], to[2],
           t->tune->n_ranks, cli_plain(stdout));
    if (print_cells(t->tune))
        return cli_error(CLI_FAILED, "out of memory");
    print_order(r, t->tune);
    print_left_out(r, t);
    if (!r->output) {
        printf("\n--output NAME writes the files for the library.\n");
        return CLI_OK;
    }
    printf("\nTo use it, with the files under the same names on all hosts:\n  ");
    put_command(stdout, r, t);
    printf("\n");
    return CLI_OK;
}

int cli_print_tuning(const struct cli_tuning *r)
{
    int code = CLI_OK;

    for (size_t i = 0; i < r->n && code == CLI_OK; i++) {
        if (i > 0)
            printf("\n");
        code = print_library(r, &r->tuned[i]);
    }
    return code;
}

/* ---- for programs ---- */

static json_t *choice_json(const struct espi_native_choice *c, double time_s)
{
    json_t *json = json_object();

    json_object_set_new(json, "algorithm", json_string(c->algo->name));
    json_object_set_new(json, "segment_bytes", json_integer(c->segment_bytes));
    json_object_set_new(json, "fanout", json_integer(c->fanout));
    cli_json_real(json, "time_s", time_s);
    return json;
}

static json_t *cell_json(const struct espi_tune_cell *c)
{
    json_t *json = json_object();

    json_object_set_new(json, "operation", json_string(esp_op_name(c->op)));
    cli_json_real(json, "size_bytes", c->size_bytes);
    json_object_set_new(json, "default", choice_json(&c->usual, c->given_s));
    json_object_set_new(json, "tuned", choice_json(&c->chosen, c->chosen_s));
    json_object_set_new(json, "rule", json_boolean(c->is_rule));
    cli_json_real(json, "default_in_order_s", c->usual_s);
    cli_json_real(json, "gain", c->given_s / c->chosen_s);
    return json;
}

static void add_command(json_t *json, const struct cli_tuning *r,
                        const struct cli_tuned_library *t)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out) {
        put_command(out, r, t);
        fclose(out);
        json_object_set_new(json, "command", json_string(text));
    }
    free(text);
}

static json_t *library_json(const struct cli_tuning *r, const struct cli_tuned_library *t)
{
    json_t *json = json_object(), *hosts = json_array(), *cells = json_array();

    json_object_set_new(json, "library", json_string(t->library.name));
    for (int i = 0; i < t->tune->n_ranks; i++)
        json_array_append_new(hosts,
                              json_string(espi_node_name(r->p, t->tune->nodes[i])));
    json_object_set_new(json, "hosts", hosts);
    json_object_set_new(json, "reordered", json_boolean(t->tune->is_ordered));
    for (int i = 0; i < t->tune->n_cells; i++)
        json_array_append_new(cells, cell_json(&t->tune->cells[i]));
    json_object_set_new(json, "cells", cells);
    if (r->output)
        add_command(json, r, t);
    return json;
}

int cli_print_tuning_json(const struct cli_tuning *r)
{
    json_t *all = json_array();

    for (size_t i = 0; i < r->n; i++)
        json_array_append_new(all, library_json(r, &r->tuned[i]));
    return cli_print_json(all);
}
