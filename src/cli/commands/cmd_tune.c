/* espalier tune: the best of what an MPI library has by itself, as files for it. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/json_text.h"
#include "base/units.h"
#include "cli/options/native.h"
#include "cli/options/platforms.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "native/tune.h"

enum { SIZES_MAX = 64, OPS_MAX = ESP_OP_COUNT }; /* limit: of a list */

struct tuned_library {
    struct cli_library library;
    struct espi_tune *tune;
};

struct tuning_run {
    const struct cli_args *args;
    struct esp_platform *p;
    double sizes[SIZES_MAX];
    esp_op ops[OPS_MAX];
    struct espi_tune_ask ask; /* but for the library */
    struct tuned_library *tuned;
    size_t n, room;
};

/* ---- what is asked ---- */

static int bad_word(const char *option, const char *word, size_t length, const char *what)
{
    char text[64], shown[80];

    snprintf(text, sizeof text, "%.*s", (int)(length < 63 ? length : 63), word);
    return cli_error(CLI_BAD_USAGE, "--%s: '%s' is %s", option,
                     espi_quote(shown, sizeof shown, text), what);
}

/* Calls take for each word of a list; the first exit code that is not CLI_OK. */
static int each_word(struct tuning_run *r, const char *option,
                     int (*take)(struct tuning_run *r, const char *word, size_t length))
{
    const char *list;
    int code = CLI_OK;

    for (int i = 0; code == CLI_OK; i++) {
        list = cli_has(r->args, option) ? cli_nth(r->args, option, i)
               : i == 0                 ? cli_text(r->args, option)
                                        : NULL;
        if (!list)
            break;
        while (*list && code == CLI_OK) {
            size_t length = strcspn(list, ",");
            code = take(r, list, length);
            list += length + (list[length] == ',');
        }
    }
    return code;
}

enum { WORD_MAX = 32 };

/* A word of a list as a string; one that is too long is none that is known. */
static void copy_word(char text[WORD_MAX], const char *word, size_t length)
{
    memset(text, 0, WORD_MAX);
    if (length < WORD_MAX)
        memcpy(text, word, length);
}

static int take_size(struct tuning_run *r, const char *word, size_t length)
{
    char text[WORD_MAX];
    double bytes;

    copy_word(text, word, length);
    if (espi_parse_size(text, &bytes) || !(bytes >= 1 && bytes <= 0x1p30))
        return bad_word("size", word, length, "no size from 1 byte to 1 GiB");
    if (r->ask.n_sizes == SIZES_MAX)
        return cli_error(CLI_BAD_USAGE, "--size: there are more than %d", SIZES_MAX);
    if (r->ask.n_sizes > 0 && bytes <= r->sizes[r->ask.n_sizes - 1])
        return bad_word("size", word, length, "not larger than the one before");
    r->sizes[r->ask.n_sizes++] = ceil(bytes);
    return CLI_OK;
}

static int take_op(struct tuning_run *r, const char *word, size_t length)
{
    char text[WORD_MAX];
    esp_op op;

    copy_word(text, word, length);
    if (esp_op_parse(text, &op))
        return bad_word("op", word, length, "no operation");
    for (int i = 0; i < r->ask.n_ops; i++)
        if (r->ops[i] == op)
            return bad_word("op", word, length, "there twice");
    r->ops[r->ask.n_ops++] = op;
    return CLI_OK;
}

static int take_promise(struct tuning_run *r, const char *word, size_t length)
{
    char text[WORD_MAX];

    copy_word(text, word, length);
    if (espi_promise_parse(text) < 0)
        return bad_word("program", word, length, "neither same-types nor commuting");
    r->ask.promises |= espi_promise_parse(text);
    return CLI_OK;
}

static int take_library(struct tuning_run *r, const char *word, size_t length)
{
    if (espi_grow((void **)&r->tuned, &r->room, r->n + 1, sizeof *r->tuned))
        return cli_error(CLI_FAILED, "out of memory");
    r->tuned[r->n] = (struct tuned_library){.tune = NULL};
    int code = cli_library_read(word, length, &r->tuned[r->n].library);
    r->n += code == CLI_OK;
    for (size_t i = 0; code == CLI_OK && i + 1 < r->n; i++)
        if (strcmp(r->tuned[i].library.name, r->tuned[r->n - 1].library.name) == 0)
            code = bad_word("native", word, length, "there twice");
    return code;
}

static int read_asked(struct tuning_run *r)
{
    const char *root = cli_text(r->args, "root");
    int code = each_word(r, "size", take_size);

    if (code == CLI_OK)
        code = each_word(r, "op", take_op);
    if (code == CLI_OK)
        code = each_word(r, "program", take_promise);
    if (code == CLI_OK)
        code = each_word(r, "native", take_library);
    r->ask.first = -1;
    if (code == CLI_OK && root) {
        r->ask.first = cli_find_node(r->p, root);
        if (r->ask.first < 0 || espi_is_switch(r->p, r->ask.first))
            code = bad_word("root", root, strlen(root), "no host of the platform");
    }
    r->ask.n_orders = (int)cli_int(r->args, "orders");
    r->ask.sizes = r->sizes;
    r->ask.ops = r->ops;
    return code;
}

static int tune_library(struct tuning_run *r, struct tuned_library *t)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};

    r->ask.table = t->library.table;
    r->ask.protocol = cli_library_protocol(&t->library, r->args);
    cli_progress_start(0, "simulating");
    esp_status status = espi_tune(r->p, &r->ask, &t->tune, &err);
    cli_progress_end();
    return cli_fail(status, &err);
}

/* ---- files ---- */

static bool has_rules(const struct espi_tune *t)
{
    for (int i = 0; i < t->n_cells; i++)
        if (t->cells[i].is_rule)
            return true;
    return false;
}

static bool is_openmpi(const struct tuned_library *t)
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

static void file_name(char *out, size_t size, const struct tuning_run *r,
                      const struct tuned_library *t, const char *ending)
{
    snprintf(out, size, "%s.%s.%s", cli_text(r->args, "output"), t->library.name, ending);
}

static const char *choices_ending(const struct tuned_library *t)
{
    return is_openmpi(t) ? "rules" : "json";
}

static int write_files(const struct tuning_run *r, const struct tuned_library *t)
{
    struct host_list hosts = {r->p, t->tune};
    struct espi_tune_file file = {t->library.table, t->tune};
    char path[PATH_MAX];

    if (strlen(cli_text(r->args, "output")) > PATH_MAX - 32)
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

static void put_command(FILE *out, const struct tuning_run *r,
                        const struct tuned_library *t)
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

static void print_order(const struct tuning_run *r, const struct espi_tune *t)
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

static bool is_asked(const struct tuning_run *r, const struct espi_leave_out *x)
{
    for (int i = 0; i < r->ask.n_ops; i++)
        if (r->ops[i] == x->op)
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
static void print_left_out(const struct tuning_run *r, const struct tuned_library *t)
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

static int print_library(const struct tuning_run *r, const struct tuned_library *t)
{
    const int *from = t->library.table->from.part, *to = t->library.table->to.part;

    printf("%s%s %d.%d.%d to %d.%d.%d with %d ranks, one a host%s\n\n", cli_bold(stdout),
           t->library.name, from[0], from[1], from[2], to[0], to[1], to[2],
           t->tune->n_ranks, cli_plain(stdout));
    if (print_cells(t->tune))
        return cli_error(CLI_FAILED, "out of memory");
    print_order(r, t->tune);
    print_left_out(r, t);
    if (!cli_text(r->args, "output")) {
        printf("\n--output NAME writes the files for the library.\n");
        return CLI_OK;
    }
    printf("\nTo use it, with the files under the same names on all hosts:\n  ");
    put_command(stdout, r, t);
    printf("\n");
    return CLI_OK;
}

static int print_all(const struct tuning_run *r)
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

static void add_command(json_t *json, const struct tuning_run *r,
                        const struct tuned_library *t)
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

static json_t *library_json(const struct tuning_run *r, const struct tuned_library *t)
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
    if (cli_text(r->args, "output"))
        add_command(json, r, t);
    return json;
}

static int print_tuning_json(const struct tuning_run *r)
{
    json_t *all = json_array();

    for (size_t i = 0; i < r->n; i++)
        json_array_append_new(all, library_json(r, &r->tuned[i]));
    return cli_print_json(all);
}

/* ---- the command ---- */

static int answer_tune(struct tuning_run *r)
{
    int code = read_asked(r);

    for (size_t i = 0; i < r->n && code == CLI_OK; i++)
        code = tune_library(r, &r->tuned[i]);
    for (size_t i = 0; i < r->n && code == CLI_OK && cli_text(r->args, "output"); i++)
        code = write_files(r, &r->tuned[i]);
    if (code != CLI_OK)
        return code;
    return cli_has(r->args, "json") ? print_tuning_json(r) : print_all(r);
}

static int run_tune(const struct cli_args *args)
{
    struct tuning_run r = {.args = args};
    int code = cli_read_platform(args, args->words[0], NULL, &r.p);

    if (code == CLI_OK)
        code = answer_tune(&r);
    for (size_t i = 0; i < r.n; i++) {
        cli_library_done(&r.tuned[i].library);
        espi_tune_free(r.tuned[i].tune);
    }
    espi_free(r.tuned);
    esp_platform_free(r.p);
    return code;
}

const struct command cli_command_tune = {
    .name = "tune",
    .group = CLI_GROUP_RUN,
    .summary = "make the best of what an MPI library has by itself",
    .about =
        (const char *const[]){
            "For programs that run without plans: which of its own algorithms an MPI "
            "library should take on this network, for which messages, and on which host "
            "each rank should be. All that the library has is simulated (see compare "
            "--native); what it does by itself stays where nothing is clearly earlier, "
            "and nothing is predicted later than it was, but for a hundredth where ranks "
            "change hosts.",
            "With --output NAME it writes NAME.openmpi.rules (dynamic rules of "
            "coll/tuned), NAME.mpich.json (a selection), and NAME.LIBRARY.hosts, a host "
            "a line, rank 0 first; and it says the command that uses them. They are for "
            "one rank a host and all hosts of the platform; communicators of other sizes "
            "do as usual.",
            "Algorithms that are wrong in a version for some programs are left out, and "
            "stand below the table with the reason. Where it is said what a program "
            "would have to keep to, --program promises that.",
            "Programs of Open MPI that call allgather in place have to pass the same "
            "arguments on all ranks, also those that MPI ignores: a rules file makes it "
            "look at them.",
            NULL},
    .positionals = cli_platform_file,
    .options =
        (const struct cli_option[]){
            {.name = "native",
             .kind = CLI_STRING,
             .value = "LIBRARY,...",
             .fallback = "openmpi,mpich",
             .help = "The MPI libraries, each perhaps with a version, as in "
                     "openmpi@4.1.4; may be given more than once."},
            {.name = "op",
             .kind = CLI_STRING,
             .value = "OPERATION,...",
             .fallback = "bcast,reduce,allreduce,allgather,scatter,gather",
             .help = "The operations that count."},
            {.name = "size",
             .letter = 's',
             .kind = CLI_STRING,
             .value = "SIZE,...",
             .fallback = "1KiB,4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,16MiB",
             .help = "The sizes of messages that count, each larger than the one before: "
                     "of all parts together where each host has its own. What is chosen "
                     "for a size counts up to the next, where it is not later, either; "
                     "shorter messages than the first do as usual."},
            {.name = "root",
             .letter = 'r',
             .kind = CLI_STRING,
             .value = "NODE",
             .help = "The host that rank 0 has to be on; without it, any. Rank 0 is the "
                     "root of calls that have one."},
            {.name = "orders",
             .kind = CLI_INT,
             .limited = true,
             .min = 0,
             .max = 1e9,
             .fallback = "500",
             .help = "How many orders of hosts are tried; with 0, rank i stays on host "
                     "i."},
            {.name = "program",
             .kind = CLI_STRING,
             .value = "PROMISE,...",
             .help = "What programs keep to: same-types, all ranks describe a message by "
                     "the same type and count; commuting, operations on data commute, as "
                     "all do that MPI has."},
            CLI_EAGER_OPTION,
            {.name = "output",
             .letter = 'o',
             .kind = CLI_STRING,
             .value = "NAME",
             .help = "Write the files; their names begin with this."},
            CLI_MODEL_OPTION,
            {0}},
    .examples =
        (const struct cli_example[]){
            {"What would be earlier?", "espalier tune p.json"},
            {"Files for Open MPI, with rank 0 on n3:",
             "espalier tune p.json --native openmpi --root n3 -o fast"},
            {"For a program that only sums up vectors of MPI_DOUBLE:",
             "espalier tune p.json --op allreduce --program commuting,same-types -o "
             "fast"},
            {0}},
    .see = (const char *const[]){"compare", "simulate", "run", NULL},
    .run = run_tune,
};
