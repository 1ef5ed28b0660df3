/* espalier tune: the best of what an MPI library has by itself, as files for it. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/units.h"
#include "cli/options/platforms.h"
#include "cli/printing/term.h"
#include "cli/printing/tune_report.h"

enum { SIZES_MAX = 64, OPS_MAX = ESP_OP_COUNT }; /* limit: of a list */

struct tuning_run {
    const struct cli_args *args;
    struct esp_platform *p;
    double sizes[SIZES_MAX];
    esp_op ops[OPS_MAX];
    struct cli_tuning answer;
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
    if (r->answer.ask.n_sizes == SIZES_MAX)
        return cli_error(CLI_BAD_USAGE, "--size: there are more than %d", SIZES_MAX);
    if (r->answer.ask.n_sizes > 0 && bytes <= r->sizes[r->answer.ask.n_sizes - 1])
        return bad_word("size", word, length, "not larger than the one before");
    r->sizes[r->answer.ask.n_sizes++] = ceil(bytes);
    return CLI_OK;
}

static int take_op(struct tuning_run *r, const char *word, size_t length)
{
    char text[WORD_MAX];
    esp_op op;

    copy_word(text, word, length);
    if (esp_op_parse(text, &op))
        return bad_word("op", word, length, "no operation");
    for (int i = 0; i < r->answer.ask.n_ops; i++)
        if (r->ops[i] == op)
            return bad_word("op", word, length, "there twice");
    r->ops[r->answer.ask.n_ops++] = op;
    return CLI_OK;
}

static int take_promise(struct tuning_run *r, const char *word, size_t length)
{
    char text[WORD_MAX];

    copy_word(text, word, length);
    if (espi_promise_parse(text) < 0)
        return bad_word("program", word, length, "neither same-types nor commuting");
    r->answer.ask.promises |= espi_promise_parse(text);
    return CLI_OK;
}

static int take_library(struct tuning_run *r, const char *word, size_t length)
{
    if (espi_grow((void **)&r->answer.tuned, &r->answer.room, r->answer.n + 1,
                  sizeof *r->answer.tuned))
        return cli_error(CLI_FAILED, "out of memory");
    r->answer.tuned[r->answer.n] = (struct cli_tuned_library){.tune = NULL};
    int code = cli_library_read(word, length, &r->answer.tuned[r->answer.n].library);
    r->answer.n += code == CLI_OK;
    for (size_t i = 0; code == CLI_OK && i + 1 < r->answer.n; i++)
        if (strcmp(r->answer.tuned[i].library.name,
                   r->answer.tuned[r->answer.n - 1].library.name) == 0)
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
    r->answer.ask.first = -1;
    if (code == CLI_OK && root) {
        r->answer.ask.first = cli_find_node(r->p, root);
        if (r->answer.ask.first < 0 || espi_is_switch(r->p, r->answer.ask.first))
            code = bad_word("root", root, strlen(root), "no host of the platform");
    }
    r->answer.ask.n_orders = (int)cli_int(r->args, "orders");
    r->answer.ask.sizes = r->sizes;
    r->answer.ask.ops = r->ops;
    return code;
}

static int tune_library(struct tuning_run *r, struct cli_tuned_library *t)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};

    r->answer.ask.table = t->library.table;
    r->answer.ask.protocol = cli_library_protocol(&t->library, r->args);
    cli_progress_start(0, "simulating");
    esp_status status = espi_tune(r->p, &r->answer.ask, &t->tune, &err);
    cli_progress_end();
    return cli_fail(status, &err);
}

/* ---- the command ---- */

static int answer_tune(struct tuning_run *r)
{
    int code = read_asked(r);

    struct cli_tuning *a = &r->answer;
    for (size_t i = 0; i < a->n && code == CLI_OK; i++)
        code = tune_library(r, &a->tuned[i]);
    for (size_t i = 0; i < a->n && code == CLI_OK && a->output; i++)
        code = cli_write_tuning(a, &a->tuned[i]);
    if (code != CLI_OK)
        return code;
    return cli_has(r->args, "json") ? cli_print_tuning_json(a) : cli_print_tuning(a);
}

static int run_tune(const struct cli_args *args)
{
    struct tuning_run r = {.args = args};
    int code = cli_read_platform(args, args->words[0], NULL, &r.p);

    r.answer.p = r.p;
    r.answer.output = cli_text(args, "output");
    if (code == CLI_OK)
        code = answer_tune(&r);
    for (size_t i = 0; i < r.answer.n; i++) {
        cli_library_done(&r.answer.tuned[i].library);
        espi_tune_free(r.answer.tuned[i].tune);
    }
    espi_free(r.answer.tuned);
    esp_platform_free(r.p);
    return code;
}

const struct command cli_command_tune = {
    .name = "tune",
    .group = CLI_GROUP_RUN,
    .summary = "choose among the algorithms that an MPI library has by itself",
    .about =
        (const char *const[]){
            "For programs that run without plans: chooses which of its own "
            "algorithms an MPI library should use on this network for each message "
            "size, and on which host each rank should be. All algorithms of the "
            "library are simulated (see compare --native). The library's own choice "
            "stays unless another one is clearly faster. No message is predicted to "
            "be slower than before, but for one percent where ranks change hosts.",
            "With --output NAME it writes NAME.openmpi.rules (dynamic rules of "
            "coll/tuned), NAME.mpich.json (a selection), and NAME.LIBRARY.hosts "
            "with one host per line, rank 0 first; it then prints the command that "
            "uses them. They are for one rank per host on all hosts of the "
            "platform. Communicators of other sizes keep the library's own choice.",
            "Algorithms that give wrong results in some version are left out, and "
            "listed below the table with the reason. Where an algorithm is right "
            "for programs that keep to a condition, --program promises that they "
            "do.",
            "Programs of Open MPI that call allgather in place must pass the same "
            "arguments on all ranks, also those that MPI ignores, because a rules "
            "file makes the library read them.",
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
             .help = "The operations to tune for."},
            {.name = "size",
             .letter = 's',
             .kind = CLI_STRING,
             .value = "SIZE,...",
             .fallback = "1KiB,4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,16MiB",
             .help =
                 "The message sizes to tune for, in increasing order; where each host "
                 "has its own part, the size of all parts together. The choice for a "
                 "size applies to all sizes up to the next, unless the library's own "
                 "choice is faster there. Messages shorter than the first size are "
                 "left to the library."},
            {.name = "root",
             .letter = 'r',
             .kind = CLI_STRING,
             .value = "NODE",
             .names = CLI_NAMES_HOST,
             .help =
                 "The host to place rank 0 on; by default, any host. Rank 0 is the root "
                 "of operations that have one."},
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
            {"Which algorithms are faster for broadcasts of these sizes?",
             "espalier tune p.json --op bcast --size 64KiB,1MiB --orders 50"},
            {"Files for Open MPI, with rank 0 on w3:",
             "espalier tune p.json --op bcast,gather --size 64KiB --orders 50 "
             "--native openmpi --root w3 -o fast"},
            {"For a program that only sums vectors of MPI_DOUBLE:",
             "espalier tune p.json --op allreduce --program commuting,same-types "
             "--size 64KiB --orders 50 -o fast"},
            {0}},
    .see = (const char *const[]){"compare", "simulate", "run", NULL},
    .run = run_tune,
};
