/* espalier reproduce: the papers' experiments, run anew and written as a report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "report/study_report.h"
#include "study/study.h"

/* limit: even, and more than any experiment draws networks. */
static const uint64_t SEED_STEP = 1000000000;

struct run {
    const struct cli_args *args;
    struct espi_arena arena;
    int n;
    const struct espi_study **studies;
    struct espi_findings *findings;
    struct espi_study_report_entry *entries;
};

/* ---- which ---- */

/* Is the word one of a list with blanks between? */
static bool is_listed(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = list; *at;) {
        size_t length = strcspn(at, " ");
        if (length == n && memcmp(at, word, n) == 0)
            return true;
        at += length + (at[length] == ' ');
    }
    return false;
}

static bool is_wanted(const struct espi_study *study, const char *word)
{
    return strcmp(study->name, word) == 0 || is_listed(study->figures, word);
}

static int no_such(const char *word)
{
    char quoted[64];

    return cli_error(CLI_BAD_USAGE,
                     "there is no experiment or figure '%s' ('espalier reproduce --list' "
                     "names them)",
                     espi_quote(quoted, sizeof quoted, word));
}

static int choose_studies(struct run *r)
{
    int n;
    const struct espi_study *const *all = espi_studies(&n);
    const struct cli_args *args = r->args;

    r->studies = ESPI_ARENA_NEW(&r->arena, const struct espi_study *, n);
    r->findings = ESPI_ARENA_ZNEW(&r->arena, struct espi_findings, n);
    r->entries = ESPI_ARENA_ZNEW(&r->arena, struct espi_study_report_entry, n);
    if (!r->studies || !r->findings || !r->entries)
        return cli_error(CLI_FAILED, "out of memory");
    for (int w = 0; w < args->n_words; w++) {
        bool known = false;
        for (int i = 0; i < n; i++)
            known |= is_wanted(all[i], args->words[w]);
        if (!known)
            return no_such(args->words[w]);
    }
    for (int i = 0; i < n; i++) {
        bool wanted = args->n_words == 0;
        for (int w = 0; w < args->n_words; w++)
            wanted |= is_wanted(all[i], args->words[w]);
        if (wanted)
            r->studies[r->n++] = all[i];
    }
    return CLI_OK;
}

/* ---- running ---- */

/* The number of jobs is known once the first is done; the bar goes by thousandths. */
static void tell_progress(void *arg, size_t done, size_t total)
{
    (void)arg;
    cli_progress_update((long long)(done * 1000 / total));
}

static int run_one(struct run *r, int i)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    const struct espi_study *study = r->studies[i];
    struct espi_study_run run = {.quick = cli_has(r->args, "quick"),
                                 .seed = SEED_STEP * cli_seed(r->args, "seed"),
                                 .findings = &r->findings[i],
                                 .progress = tell_progress};

    r->findings[i].arena = &r->arena;
    cli_progress_start(1000, study->name);
    if (!isatty(STDERR_FILENO))
        fprintf(stderr, "%s (%d of %d)\n", study->name, i + 1, r->n);
    double began_s = espi_now_s();
    esp_status status = study->run(&run, &err);
    cli_progress_end();
    if (status == ESP_OK && r->findings[i].failed)
        status = espi_err(&err, ESP_ENOMEM, "%s: out of memory", study->name);
    r->entries[i] = (struct espi_study_report_entry){.name = study->name,
                                                     .title = study->title,
                                                     .paper = study->paper,
                                                     .assumed = study->assumed,
                                                     .findings = &r->findings[i],
                                                     .took_s = espi_now_s() - began_s};
    return cli_fail(status, &err);
}

/* ---- the answer ---- */

static int print_claims(const struct run *r)
{
    static const struct cli_column columns[] = {{"experiment", false},
                                                {"claim", false},
                                                {"published", true},
                                                {"here", true},
                                                {"verdict", false}};
    struct cli_table t;
    int bad = 0;

    cli_table_init(&t, columns, 5);
    for (int i = 0; i < r->n; i++)
        for (int k = 0; k < r->findings[i].n_claims; k++) {
            const struct espi_claim *c = &r->findings[i].claims[k];
            cli_table_add(&t, "%s", r->studies[i]->name);
            cli_table_add(&t, "%s", c->what);
            cli_table_add(&t, "%.4g%s", c->published, c->unit);
            cli_table_add(&t, "%.4g%s", c->ours, c->unit);
            cli_table_add(&t, "%s", espi_claim_agrees(c) ? "agrees" : "differs");
        }
    bool some = t.n_cells > 0;
    bad = t.failed || some ? cli_table_print(&t, stdout, 2) : 0;
    cli_table_done(&t);
    if (bad)
        return cli_error(CLI_FAILED, "out of memory");
    if (some) {
        fputs("\n  ", stdout);
        cli_wrap(stdout, espi_claim_rule, 2, 2, cli_term_width());
    }
    return CLI_OK;
}

static json_t *claims_json(const struct espi_findings *f)
{
    json_t *all = json_array();

    for (int k = 0; k < f->n_claims; k++) {
        const struct espi_claim *c = &f->claims[k];
        json_t *claim = json_object();
        json_object_set_new(claim, "claim", json_string(c->what));
        cli_json_real(claim, "published", c->published);
        cli_json_real(claim, "ours", c->ours);
        cli_json_real(claim, "tolerance", espi_claim_tolerance(c));
        json_object_set_new(claim, "agrees", json_boolean(espi_claim_agrees(c)));
        json_array_append_new(all, claim);
    }
    return all;
}

static json_t *series_json(const struct espi_chart_series *s)
{
    json_t *json = json_object(), *x = json_array(), *y = json_array();

    for (int i = 0; i < s->n; i++) {
        json_array_append_new(x, json_real(s->x[i]));
        json_array_append_new(y, s->y[i] == s->y[i] ? json_real(s->y[i]) : json_null());
    }
    json_object_set_new(json, "name", json_string(s->name));
    json_object_set_new(json, "published", json_boolean(s->published));
    json_object_set_new(json, "x", x);
    json_object_set_new(json, "y", y);
    return json;
}

static json_t *figures_json(const struct espi_findings *f)
{
    json_t *all = json_array();

    for (int i = 0; i < f->n_figures; i++) {
        json_t *figure = json_object(), *series = json_array();
        for (int k = 0; k < f->figures[i].n_series; k++)
            json_array_append_new(series, series_json(&f->figures[i].series[k]));
        json_object_set_new(figure, "name", json_string(f->figures[i].name));
        json_object_set_new(figure, "series", series);
        json_array_append_new(all, figure);
    }
    return all;
}

static int print_json(const struct run *r, const char *path)
{
    json_t *root = json_object(), *all = json_array();

    for (int i = 0; i < r->n; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "experiment", json_string(r->studies[i]->name));
        cli_json_real(one, "took_s", r->entries[i].took_s);
        json_object_set_new(one, "claims", claims_json(&r->findings[i]));
        json_object_set_new(one, "figures", figures_json(&r->findings[i]));
        json_array_append_new(all, one);
    }
    json_object_set_new(root, "report", json_string(path));
    json_object_set_new(root, "experiments", all);
    return cli_print_json(root);
}

static int write_report(const struct run *r, const char *folder)
{
    struct espi_study_report report = {
        .title = "The papers, computed anew",
        .setting = cli_has(r->args, "quick")
                       ? "A quick run: fewer repetitions than the papers had."
                       : NULL,
        .n = r->n,
        .entries = r->entries};
    char quoted[256], path[4096];

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cli_error(CLI_FAILED, "%s: cannot make this folder: %s",
                         espi_quote(quoted, sizeof quoted, folder), strerror(errno));
    if (snprintf(path, sizeof path, "%s/index.html", folder) >= (int)sizeof path)
        return cli_error(CLI_BAD_USAGE, "--output: the name is too long");
    int code = cli_write(path, espi_study_report_write, &report);
    if (code != CLI_OK)
        return code;
    if (cli_has(r->args, "json"))
        return print_json(r, path);
    code = print_claims(r);
    printf("\nThe report is %s\n", espi_quote(quoted, sizeof quoted, path));
    return code;
}

static int list(const struct run *r)
{
    static const struct cli_column columns[] = {
        {"experiment", false}, {"makes", false}, {"", false}};
    struct cli_table t;

    cli_table_init(&t, columns, 3);
    for (int i = 0; i < r->n; i++) {
        cli_table_add(&t, "%s", r->studies[i]->name);
        cli_table_add(&t, "%s", r->studies[i]->figures);
        cli_table_add(&t, "%s", r->studies[i]->title);
    }
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    return bad ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

static int run_reproduce(const struct cli_args *args)
{
    struct run r = {.args = args};

    if (cli_has(args, "quick") && cli_has(args, "full"))
        return cli_error(CLI_BAD_USAGE, "--quick and --full exclude each other");
    espi_arena_init(&r.arena);
    int code = choose_studies(&r);
    if (code == CLI_OK && cli_has(args, "list")) {
        code = list(&r);
    } else {
        for (int i = 0; code == CLI_OK && i < r.n; i++)
            code = run_one(&r, i);
        if (code == CLI_OK)
            code = write_report(&r, cli_text(args, "output"));
    }
    espi_arena_done(&r.arena);
    return code;
}

const struct command cli_command_reproduce = {
    .name = "reproduce",
    .group = CLI_GROUP_ABOUT,
    .summary = "run the experiments of the papers and write a report",
    .about =
        (const char *const[]){
            "Computes the tables and figures of the papers that the algorithms come "
            "from, "
            "and writes them as one HTML page: plots, the published numbers beside those "
            "found here, what was assumed, and what is known of the differences. Ours "
            "agrees with what was published when it is within a tenth of it. With --seed "
            "networks and errors are drawn from another random sequence, to see how much "
            "the results depend on it.",
            "Without a name all experiments are run. With --quick each is repeated fewer "
            "times, which takes about one minute of processor time; with --full, the "
            "default, as many times as in the papers, which takes about six minutes. "
            "The work is shared among all processors.",
            NULL},
    .positionals =
        (const struct cli_positional[]){
            {.name = "NAME",
             .kind = CLI_STRING,
             .optional = true,
             .repeated = true,
             .help = "Experiments or figures, as --list names them (table3, fig11)."},
            {0}},
    .options =
        (const struct cli_option[]){
            {.name = "output",
             .letter = 'o',
             .kind = CLI_FILE,
             .fallback = "report",
             .help = "The folder for the report, index.html."},
            {.name = "quick",
             .letter = 'q',
             .help = "Use fewer repetitions than the papers."},
            {.name = "full", .help = "Use as many repetitions as the papers (default)."},
            {.name = "seed",
             .kind = CLI_SEED,
             .fallback = "0",
             .help =
                 "The seed of random networks, errors, loads, sources and targets. The "
                 "results in the documentation use seed 0."},
            {.name = "list", .letter = 'l', .help = "List the experiments and stop."},
            {0}},
    .examples = (const struct cli_example[]){{"All experiments, with fewer repetitions:",
                                              "espalier reproduce --quick -o report"},
                                             {"One table:", "espalier reproduce table3"},
                                             {0}},
    .see = (const char *const[]){"compare", "bound", NULL},
    .run = run_reproduce,
};
