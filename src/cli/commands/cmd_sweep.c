/* espalier sweep: what plans win under the user's own launcher, over collectives and
 * sizes. `espalier run` starts a program of ours, which times each collective by the MPI
 * library alone and by plans, in turn, and looks at every byte. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/parts.h"
#include "base/units.h"
#include "cli/launching/launcher.h"
#include "cli/launching/lines.h"
#include "cli/launching/run_line.h"
#include "cli/options/plans.h"
#include "cli/options/platforms.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "cli/tuning.h"
#include "report/chart.h"

enum { ROWS_MAX = 512, SIZES_MAX = 64 }; /* limit: of an answer */
enum { WORDS_MORE = 24 };                /* derived: ours of the command line */
enum { CURVES = 16 };                    /* derived: two of each collective */

struct row {
    esp_op op;
    double bytes, native_s, plan_s;
    double bound_s; /* no plan is sooner; 0: not known */
    long wrong;     /* words that came wrong, by either way */
};

struct sweep {
    const struct cli_args *args;
    struct esp_platform *p; /* NULL: none was given */
    struct row *rows;
    int n_rows, n_ranks, ended;
    double sizes[SIZES_MAX];
    int n_sizes, n_ops;
    esp_op ops[ESP_OP_COUNT];
    char size_list[SIZES_MAX * 24];
    char op_list[128], repeats[16];
};

/* ---- what is asked for ---- */

static int add_op(struct sweep *s, const char *name)
{
    static const esp_op known[] = {
        ESP_OP_BCAST,  ESP_OP_SCATTER,   ESP_OP_GATHER,         ESP_OP_ALLGATHER,
        ESP_OP_REDUCE, ESP_OP_ALLREDUCE, ESP_OP_REDUCE_SCATTER, ESP_OP_ALLTOALL};
    char quoted[64];
    esp_op op;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (esp_op_parse(name, &op) == 0 && op == known[i]) {
            for (int k = 0; k < s->n_ops; k++)
                if (s->ops[k] == op)
                    return cli_error(CLI_BAD_USAGE, "--op: %s is there twice", name);
            s->ops[s->n_ops++] = op;
            return CLI_OK;
        }
    return cli_error(CLI_BAD_USAGE,
                     "--op: '%s' is none of bcast, scatter, gather, allgather, reduce, "
                     "allreduce, reduce-scatter and alltoall",
                     espi_quote(quoted, sizeof quoted, name));
}

static int read_ops(struct sweep *s)
{
    const char *list = cli_text(s->args, "op");
    int code = CLI_OK;

    while (code == CLI_OK) {
        char name[32] = "";
        size_t length = strcspn(list, ",");
        memcpy(name, list, length < sizeof name ? length : sizeof name - 1);
        code = add_op(s, name);
        if (!list[length])
            break;
        list += length + 1;
    }
    for (int i = 0; i < s->n_ops; i++) {
        size_t at = strlen(s->op_list);
        snprintf(s->op_list + at, sizeof s->op_list - at, "%s%s", i ? "," : "",
                 esp_op_name(s->ops[i]));
    }
    return code;
}

static int read_sizes(struct sweep *s)
{
    double from = cli_number(s->args, "from"), to = cli_number(s->args, "to");
    double times = cli_number(s->args, "times");

    if (from > to)
        return cli_error(CLI_BAD_USAGE, "--from is more than --to");
    for (double size = from; size <= to && s->n_sizes < SIZES_MAX; size *= times) {
        size_t at = strlen(s->size_list);
        s->sizes[s->n_sizes++] = floor(size);
        snprintf(s->size_list + at, sizeof s->size_list - at, "%s%.0f", at ? "," : "",
                 floor(size));
    }
    snprintf(s->repeats, sizeof s->repeats, "%lld", cli_int(s->args, "repeat"));
    return CLI_OK;
}

/* ---- the job ---- */

/* The options of `espalier run`, the launcher's words and in place of '{}', or behind
 * them, the program's. */
static const char **job_line(const struct sweep *s, const char *self, const char *program,
                             struct espi_arena *arena)
{
    static const char *const passed[] = {"platform", "hosts", "algo", "mpi", "mode"};
    const struct cli_args *args = s->args;
    const char **words = ESPI_ARENA_NEW(arena, const char *, args->n_words + WORDS_MORE);
    int n = 0;

    if (!words)
        return NULL;
    words[n++] = self;
    words[n++] = "run";
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        const char *value = cli_text(args, passed[i]);
        char *word = value ? espi_arena_alloc(arena, strlen(value) + 16, 1) : NULL;
        if (!value)
            continue;
        if (!word)
            return NULL;
        snprintf(word, strlen(value) + 16, "--%s=%s", passed[i], value);
        words[n++] = word;
    }
    words[n++] = "--";
    cli_put_program(
        args, (const char *const[]){program, s->op_list, s->size_list, s->repeats, NULL},
        &words[n]);
    return words;
}

/* Lines of the program begin with '@'; what else the launcher says is passed on. */
static int take_sweep_line(struct sweep *s, char *line)
{
    char op[32];
    struct row row = {.bound_s = 0};

    if (line[0] != '@') {
        cli_pass_line_on(line);
    } else if (strcmp(line, "@end\n") == 0) {
        s->ended = 1;
    } else if (sscanf(line, "@row %31s %lf %lf %lf %ld", op, &row.bytes, &row.native_s,
                      &row.plan_s, &row.wrong) == 5) {
        if (s->n_rows == ROWS_MAX || esp_op_parse(op, &row.op) || !(row.native_s > 0) ||
            !(row.plan_s > 0))
            return cli_error(CLI_FAILED, "the program answered with nonsense");
        s->rows[s->n_rows++] = row;
        cli_progress_update(s->n_rows);
    } else {
        sscanf(line, "@ranks %d", &s->n_ranks);
    }
    return CLI_OK;
}

static int listen_to_job(struct sweep *s, FILE *lines)
{
    char *line = NULL;
    size_t room = 0;
    int code = CLI_OK;

    cli_progress_start(s->n_ops * s->n_sizes, "measuring");
    while (code == CLI_OK && getline(&line, &room, lines) > 0)
        code = take_sweep_line(s, line);
    cli_progress_end();
    free(line);
    return code;
}

static int run_job(struct sweep *s, const char *self, const char *program,
                   struct espi_arena *arena)
{
    const char **words = job_line(s, self, program, arena);
    FILE *lines = NULL;
    pid_t pid = 0;
    int how = 0;

    if (!words)
        return cli_error(CLI_FAILED, "out of memory");
    int code = cli_start_lines(words, &pid, &lines);
    if (code == CLI_OK)
        code = listen_to_job(s, lines);
    if (lines)
        fclose(lines);
    while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR)
        continue;
    if (code == CLI_OK && !s->ended)
        code = WIFEXITED(how) && WEXITSTATUS(how) >= CLI_BAD_USAGE &&
                       WEXITSTATUS(how) <= CLI_BAD_INPUT
                   ? WEXITSTATUS(how)
                   : cli_error(CLI_FAILED, "the job ended before it was done");
    return code;
}

static int start_job(struct sweep *s)
{
    char self[PATH_MAX], program[PATH_MAX];
    struct espi_arena arena;
    int mpi = -1, code = cli_find_mpi(s->args, &mpi);

    if (code != CLI_OK)
        return code;
    if (espi_find_self(self))
        return cli_error(CLI_FAILED, "cannot find this program itself");
    if (espi_find_part(ESPI_PART_SWEEP, cli_mpi_names[mpi], program))
        return cli_error(CLI_FAILED,
                         "espalier-sweep-%s is not there: it is built where mpicc.%s is "
                         "installed",
                         cli_mpi_names[mpi], cli_mpi_names[mpi]);
    espi_arena_init(&arena);
    code = run_job(s, self, program, &arena);
    espi_arena_done(&arena);
    return code;
}

/* ---- bounds ---- */

/* Those of the platform hold where each of its hosts has one rank. The root is rank 0's
 * node: the first of --hosts, or the first host. */
static int has_bounds(const struct sweep *s)
{
    return s->p && s->n_ranks == esp_platform_host_count(s->p);
}

static int root_node(const struct sweep *s)
{
    const char *hosts = cli_text(s->args, "hosts");
    char name[256] = "";
    int node = 0;

    if (hosts) {
        size_t length = strcspn(hosts, ",");
        memcpy(name, hosts, length < sizeof name ? length : sizeof name - 1);
        return esp_platform_find_node(s->p, name);
    }
    while (esp_platform_node_kind(s->p, node) != ESP_NODE_HOST)
        node++;
    return node;
}

static void find_bounds(struct sweep *s)
{
    int root = has_bounds(s) ? root_node(s) : -1;

    for (int i = 0; i < s->n_rows && root >= 0; i++) {
        struct esp_request request;
        esp_request_init(&request, root);
        request.op = s->rows[i].op;
        request.size_bytes = s->rows[i].bytes;
        s->rows[i].bound_s = cli_makespan_bound_s(
            s->p, &request, esp_platform_model(s->p) != ESP_MODEL_CAPACITY, CLI_BOUND_S);
    }
}

/* ---- the answer ---- */

static int print_sweep_json(const struct sweep *s)
{
    json_t *all = json_array();

    for (int i = 0; i < s->n_rows; i++) {
        const struct row *r = &s->rows[i];
        json_t *json = json_object();
        json_object_set_new(json, "op", json_string(esp_op_name(r->op)));
        cli_json_real(json, "size_bytes", r->bytes);
        cli_json_real(json, "native_s", r->native_s);
        cli_json_real(json, "plan_s", r->plan_s);
        cli_json_real(json, "gain", r->native_s / r->plan_s);
        cli_json_real(json, "bound_s", r->bound_s > 0 ? r->bound_s : NAN);
        json_object_set_new(json, "ranks", json_integer(s->n_ranks));
        json_object_set_new(json, "wrong", json_integer(r->wrong));
        json_array_append_new(all, json);
    }
    return cli_print_json(all);
}

static int print_sweep_csv(const struct sweep *s)
{
    printf("op,size_bytes,ranks,native_s,plan_s,gain,bound_s,wrong\n");
    for (int i = 0; i < s->n_rows; i++) {
        const struct row *r = &s->rows[i];
        printf("%s,%.0f,%d,%.9g,%.9g,%.6g,", esp_op_name(r->op), r->bytes, s->n_ranks,
               r->native_s, r->plan_s, r->native_s / r->plan_s);
        if (r->bound_s > 0)
            printf("%.9g", r->bound_s);
        printf(",%ld\n", r->wrong);
    }
    return cli_flush_stdout();
}

static void add_sweep_row(struct cli_table *t, const struct row *r)
{
    char text[32];

    cli_table_add(t, "%s", esp_op_name(r->op));
    cli_table_add(t, "%s", espi_format_bytes(text, sizeof text, r->bytes));
    cli_table_add(t, "%s", espi_format_time(text, sizeof text, r->native_s));
    cli_table_add(t, "%s", espi_format_time(text, sizeof text, r->plan_s));
    cli_table_add(t, "%.2f", r->native_s / r->plan_s);
    cli_table_add(t, "%s",
                  r->bound_s > 0 ? espi_format_time(text, sizeof text, r->bound_s) : "-");
}

static int print_sweep_table(const struct sweep *s)
{
    static const struct cli_column columns[] = {{"collective", false}, {"size", true},
                                                {"MPI library", true}, {"plans", true},
                                                {"gain", true},        {"bound", true}};
    struct cli_table t;

    printf("%s%d ranks, the middle of %s calls each%s\n\n", cli_bold(stdout), s->n_ranks,
           s->repeats, cli_plain(stdout));
    cli_table_init(&t, columns, 6);
    for (int i = 0; i < s->n_rows; i++)
        add_sweep_row(&t, &s->rows[i]);
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    if (bad)
        return cli_error(CLI_FAILED, "out of memory");
    printf("\nAll bytes were looked at. gain: how many times as long the MPI library "
           "takes;\n'espalier run' in its usual mode leaves calls to the library where "
           "that is faster.\n");
    if (s->p && !has_bounds(s))
        printf("There are no bounds: %d ranks, and %d hosts in the platform.\n",
               s->n_ranks, esp_platform_host_count(s->p));
    return cli_flush_stdout();
}

/* ---- the picture ---- */

static void add_curve(struct sweep *s, struct espi_figure *figure, esp_op op, int by_plan,
                      double *x, double *y, char *name)
{
    int n = 0;

    for (int i = 0; i < s->n_rows; i++)
        if (s->rows[i].op == op) {
            x[n] = s->rows[i].bytes;
            y[n++] = by_plan ? s->rows[i].plan_s : s->rows[i].native_s;
        }
    snprintf(name, 64, "%s, %s", esp_op_name(op), by_plan ? "plans" : "MPI library");
    figure->series[figure->n_series++] =
        (struct espi_chart_series){.name = name, .n = n, .x = x, .y = y};
}

static int draw_sweep(struct sweep *s, const char *path)
{
    static double x[CURVES][SIZES_MAX], y[CURVES][SIZES_MAX];
    static char names[CURVES][64];
    struct espi_figure figure = {.name = "sweep",
                                 .title = "Collectives by the MPI library and by plans",
                                 .x_title = "size of the message (bytes)",
                                 .y_title = "time (s)",
                                 .log_x = 1,
                                 .log_y = 1};

    for (int i = 0; i < s->n_ops; i++)
        for (int by_plan = 0; by_plan < 2; by_plan++) {
            int k = 2 * i + by_plan;
            add_curve(s, &figure, s->ops[i], by_plan, x[k], y[k], names[k]);
        }
    return cli_write(path, espi_chart_file_write, &figure);
}

/* ---- the command ---- */

static int answer_sweep(struct sweep *s)
{
    const char *path = cli_text(s->args, "output");
    long wrong = 0;

    find_bounds(s);
    int code = cli_has(s->args, "json")  ? print_sweep_json(s)
               : cli_has(s->args, "csv") ? print_sweep_csv(s)
                                         : print_sweep_table(s);
    if (code == CLI_OK && path)
        code = draw_sweep(s, path);
    for (int i = 0; i < s->n_rows; i++)
        wrong += s->rows[i].wrong;
    if (code == CLI_OK && wrong)
        code = cli_error(CLI_FAILED, "%ld words came wrong", wrong);
    return code;
}

/* Before minutes are spent on what it shows. */
static int check_picture(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".svg") == 0
               ? CLI_OK
               : cli_error(CLI_BAD_USAGE, "--output: the picture is SVG: FILE.svg");
}

static int run_sweep(const struct cli_args *args)
{
    struct sweep s = {.args = args};
    int code = args->n_words ? CLI_OK
                             : cli_error(CLI_BAD_USAGE,
                                         "say after '--' how MPI programs are started");

    if (code == CLI_OK && cli_has(args, "csv") && cli_has(args, "json"))
        code = cli_error(CLI_BAD_USAGE, "--csv and --json: ask for one of the two");
    if (code == CLI_OK && cli_text(args, "output"))
        code = check_picture(cli_text(args, "output"));
    if (code == CLI_OK)
        code = read_ops(&s);
    if (code == CLI_OK)
        code = read_sizes(&s);
    if (code == CLI_OK && cli_text(args, "platform"))
        code = cli_read_platform(args, cli_text(args, "platform"), NULL, &s.p);
    s.rows = code == CLI_OK ? ESPI_NEW(struct row, ROWS_MAX) : NULL;
    if (code == CLI_OK && !s.rows)
        code = cli_error(CLI_FAILED, "out of memory");
    if (code == CLI_OK)
        code = start_job(&s);
    if (code == CLI_OK)
        code = answer_sweep(&s);
    espi_free(s.rows);
    esp_platform_free(s.p);
    return code;
}

const struct command cli_command_sweep = {
    .name = "sweep",
    .group = CLI_GROUP_RUN,
    .summary =
        "measure the gain of plans under your launcher, over collectives and sizes",
    .about =
        (const char *const[]){
            "Starts a test program with the given launcher and options. In one job "
            "it calls each collective at each size in turn by the MPI library alone "
            "and by plans, and checks every byte. The table shows both times, how "
            "many times as long the MPI library takes (gain), and, where each of "
            "the platform's hosts has one rank, the lower bound on the completion "
            "time (bound).",
            "Sizes are those of the whole message, as everywhere in espalier: all "
            "parts of a scatter, gather, allgather, reduce-scatter or alltoall "
            "together. A time is the median over calls of the slowest rank's time.",
            NULL},
    .positionals = (const struct cli_positional[]){{.name = "COMMAND",
                                                    .kind = CLI_STRING,
                                                    .repeated = true,
                                                    .help = CLI_LAUNCHER_HELP("Ours")},
                                                   {0}},
    .options =
        (const struct cli_option[]){
            {.name = "platform",
             .letter = 'p',
             .kind = CLI_FILE,
             .help = "The network. Without it all links are taken to be equal."},
            {.name = "op",
             .kind = CLI_STRING,
             .value = "OP,...",
             .fallback = "bcast,allgather,allreduce",
             .help = "Which of bcast, scatter, gather, allgather, reduce, allreduce, "
                     "reduce-scatter and alltoall."},
            {.name = "from",
             .kind = CLI_SIZE,
             .fallback = "16KiB",
             .limited = true,
             .min = 1,
             .max = 1e9,
             .help = "The shortest message."},
            {.name = "to",
             .kind = CLI_SIZE,
             .fallback = "16MiB",
             .limited = true,
             .min = 1,
             .max = 1e9,
             .help = "The longest."},
            {.name = "times",
             .kind = CLI_DOUBLE,
             .fallback = "4",
             .limited = true,
             .min = 2,
             .max = 1e9,
             .help = "The factor from each size to the next."},
            {.name = "repeat",
             .kind = CLI_INT,
             .fallback = "5",
             .limited = true,
             .min = 1,
             .max = 1000,
             .help = "Number of calls of each, after one that connects the ranks."},
            {.name = "mode",
             .kind = CLI_CHOICE,
             .choices = (const char *const[]){"force", "auto", NULL},
             .fallback = "force",
             .help = "Run plans everywhere (force), or where they are predicted to win."},
            {.name = "algo",
             .letter = 'a',
             .kind = CLI_STRING,
             .value = "NAME",
             .names = CLI_NAMES_ALGO,
             .help = "The planning algorithm, as with 'espalier run'."},
            {.name = "hosts",
             .kind = CLI_STRING,
             .value = "NAME,...",
             .help = "The nodes of the ranks, in order of rank, where the platform has "
                     "other names than the hosts."},
            {.name = "csv", .help = "Print comma-separated values."},
            {.name = "output",
             .letter = 'o',
             .kind = CLI_FILE,
             .help = "Also draw the times into this file (SVG)."},
            {.name = "mpi",
             .kind = CLI_CHOICE,
             .choices = cli_mpi_names,
             .value = "MPI",
             .help = "Which MPI it is; without it, recognised from the launcher."},
            {0}},
    .examples =
        (const struct cli_example[]){
            {"On a measured network:",
             "espalier sweep -p p.json -- mpirun.openmpi --hostfile hosts"},
            {"Broadcasts alone, as a picture and a table for a spreadsheet:",
             "espalier sweep -p p.json --op bcast --csv -o sweep.svg -- mpiexec.mpich -n "
             "16"},
            {0}},
    .see = (const char *const[]){"measure", "run", "compare", NULL},
    .run = run_sweep,
};
