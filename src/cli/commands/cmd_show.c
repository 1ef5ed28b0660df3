/* espalier show: pictures and pages of a network and of plans for it. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/units.h"
#include "cli/commands/priced.h"
#include "cli/commands/show.h"
#include "cli/options/budget.h"
#include "cli/options/platforms.h"
#include "cli/printing/output.h"
#include "cli/printing/raster.h"
#include "cli/printing/term.h"
#include "cli/tuning.h"
#include "plan/ops.h"
#include "plan/tuning.h"
#include "report/dot.h"
#include "report/picture.h"

enum { SHOWN_WHAT_IFS = 3 }; /* looks: of a page */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);

    return n >= k && strcmp(text + n - k, end) == 0;
}

static bool is_known_ending(const char *path)
{
    static const char *const endings[] = {".html", ".svg", ".png", ".pdf", ".dot"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, endings[i]))
            return true;
    return false;
}

/* ---- plans ---- */

static int add_plan(struct cli_show *s, struct esp_plan *plan)
{
    if (espi_grow((void **)&s->plans, &s->plans_capacity, s->n_plans + 1,
                  sizeof(struct esp_plan *))) {
        esp_plan_free(plan);
        return cli_error(CLI_FAILED, "out of memory");
    }
    s->plans[s->n_plans++] = plan;
    return CLI_OK;
}

static int read_plan(struct cli_show *s, const char *path)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_plan *plan = NULL;
    esp_status status = esp_plan_read(path, s->q->p, &plan, &err);

    return status == ESP_OK ? add_plan(s, plan) : cli_fail(status, &err);
}

static int make_plan(struct cli_show *s, const char *algo)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_request request = s->q->request;
    struct esp_plan *plan = NULL;

    request.algo = algo;
    request.progress = cli_progress_found;
    if (s->budget.total_s > 0)
        request.budget_s = cli_budget_step_s(&s->budget, CLI_SHOW_PART, INFINITY);
    cli_progress_start(0, "planning");
    esp_status status = esp_plan_make(s->q->p, &request, &plan, &err);
    cli_progress_end();
    return status == ESP_OK ? add_plan(s, plan) : cli_fail(status, &err);
}

/* Those of the files; without files, those of --algo. */
static int gather_plans(struct cli_show *s)
{
    const struct cli_args *args = s->q->args;
    const char *algo;
    int code = CLI_OK;

    for (int i = 1; code == CLI_OK && i < args->n_words; i++)
        code = read_plan(s, args->words[i]);
    if (args->n_words > 1 || cli_has(args, "no-plan"))
        return code;
    s->page.by_auto = !cli_has(args, "algo");
    if (s->page.by_auto)
        return make_plan(s, "auto");
    for (int i = 0; code == CLI_OK && (algo = cli_nth(args, "algo", i)); i++)
        code = make_plan(s, algo);
    return code;
}

/* ---- the bound ---- */

static double slice_bytes(const struct cli_show *s)
{
    double slice = s->n_plans ? s->plans[0]->slice_bytes : 0;

    return slice > 0 ? slice : ESPI_SLICE_USUAL;
}

static int root_of(const struct cli_show *s)
{
    return s->n_plans ? s->plans[0]->root : s->q->request.root;
}

/* In an allgather, an allreduce, a reduce-scatter and an alltoall no host is before the
 * others. */
static bool has_root(const struct cli_show *s)
{
    return !espi_op_frees_roots(s->n_plans ? s->plans[0]->op : s->q->request.op);
}

/* Of other operations there is no cut to be shown, but the figure. */
static int find_figures(struct cli_show *s)
{
    double limit_s = cli_budget_step_s(&s->budget, CLI_SHOW_PART, CLI_PLAN_BOUND_S);

    cli_progress_start(0, "looking for the bound");
    for (size_t i = 0; i < s->n_plans; i++) {
        struct esp_plan *plan = s->plans[i];
        struct esp_request request = s->q->request;
        request.op = plan->op;
        request.root = plan->root;
        request.targets = plan->targets;
        request.n_targets = plan->targets ? plan->n_targets : 0;
        if (!(plan->bound_Bps > 0))
            plan->bound_Bps =
                cli_bound_Bps(s->q->p, &request, plan->slice_bytes, limit_s);
    }
    cli_progress_end();
    return CLI_OK;
}

static int find_bound(struct cli_show *s)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_bound_options options;
    struct esp_request request;
    esp_op op = s->n_plans ? s->plans[0]->op : s->q->request.op;

    if (op != ESP_OP_BCAST)
        return find_figures(s);
    esp_bound_options_defaults(&options);
    options.gap = 1e-6;
    options.what_if = SHOWN_WHAT_IFS;
    options.time_limit_s = cli_budget_step_s(&s->budget, CLI_SHOW_PART, CLI_BOUND_S);
    cli_progress_start(0, "looking for the bound");
    esp_request_init(&request, root_of(s));
    request.slice_bytes = slice_bytes(s);
    esp_status status = esp_bound_compute(s->q->p, &request, &options, &s->bound, &err);
    cli_progress_end();
    if (status != ESP_OK)
        return cli_fail(status, &err);
    for (size_t i = 0; i < s->n_plans; i++)
        if (!(s->plans[i]->bound_Bps > 0))
            s->plans[i]->bound_Bps = s->bound->throughput_Bps;
    return CLI_OK;
}

/* ---- writing ---- */

static const char *title_of(struct cli_show *s)
{
    const char *name = esp_platform_name(s->q->p);
    const char *what = s->n_plans ? esp_op_name(s->plans[0]->op) : "";
    char size[32], ends[160];
    char *title = ESPI_ARENA_NEW(&s->arena, char, 512);

    if (!title || s->n_plans == 0)
        return name && *name ? name : "network";
    const struct esp_plan *plan = s->plans[0];
    cli_ends_text(ends, sizeof ends, s->q->p, plan->op, plan->root,
                  plan->targets ? plan->n_targets : 0);
    if (plan->op == ESP_OP_BCAST)
        what = "broadcast";
    /* Generated networks are named after all their numbers. */
    bool named = name && *name && !strchr(name, '=');
    snprintf(title, 512, "%c%s of %s %s%s%s", toupper((unsigned char)*what), what + 1,
             espi_format_bytes(size, sizeof size, plan->size_bytes), ends,
             named ? " on " : "", named ? name : "");
    return title;
}

static int say_written(const struct cli_show *s, const char *path)
{
    char quoted[256];

    if (cli_has(s->q->args, "json"))
        return cli_print_json(json_pack("{s:s, s:i, s:i}", "output", path, "plans",
                                        (int)s->n_plans, "nodes", s->q->p->n_nodes));
    printf("Written to %s.\n", espi_quote(quoted, sizeof quoted, path));
    return CLI_OK;
}

static int write_picture(struct cli_show *s, const char *path)
{
    struct espi_picture picture = {.net = s->page.net, .title = s->page.title};

    if (s->n_plans > 1)
        return cli_error(CLI_BAD_USAGE,
                         "a picture shows one plan, and here are %zu: ask "
                         "for a page (-o FILE.html)",
                         s->n_plans);
    if (ends_with(path, ".dot"))
        return cli_write(path, espi_dot_write, &picture);
    if (ends_with(path, ".svg"))
        return cli_write(path, espi_picture_write, &picture);
    struct cli_raster raster = {espi_picture_write, &picture, ends_with(path, ".pdf")};
    return cli_write(path, cli_raster_write, &raster);
}

static int write_page(struct cli_show *s, const char *path)
{
    int code = cli_show_timelines(s);

    if (code == CLI_OK && s->q->request.op == ESP_OP_BCAST)
        code = cli_show_comparison(s);
    return code == CLI_OK ? cli_write(path, espi_page_write, &s->page) : code;
}

static int draw_file(struct cli_show *s, const char *path)
{
    int code = gather_plans(s);

    if (code == CLI_OK)
        code = find_bound(s);
    if (code != CLI_OK)
        return code;
    if (espi_network_init(&s->page.net, s->q->p, has_root(s) ? root_of(s) : -1, s->bound,
                          &s->arena))
        return cli_error(CLI_FAILED, "out of memory");
    s->page.net.plans = (const struct esp_plan *const *)s->plans;
    s->page.net.n_plans = (int)s->n_plans;
    s->page.title = title_of(s);
    code = ends_with(path, ".html") ? write_page(s, path) : write_picture(s, path);
    return code == CLI_OK ? say_written(s, path) : code;
}

static int answer_show(struct cli_question *q)
{
    struct cli_show s = {.q = q};
    const char *path = cli_text(q->args, "output");

    if (!is_known_ending(path))
        return cli_error(
            CLI_BAD_USAGE,
            "--output: the file name must end in .html (a page), .svg, .png or .pdf (a "
            "picture), or .dot (for Graphviz)");
    if (cli_has(q->args, "front"))
        return cli_show_price_front(q, path);
    if (ends_with(path, ".html") && !espi_page_exists())
        return cli_error(
            CLI_FAILED, "this espalier was built without pages, because npm was missing: "
                        "run tools/setup and build again, or ask for a picture "
                        "(-o FILE.svg)");
    espi_arena_init(&s.arena);
    cli_budget_begin(&s.budget, q->args, q->request.budget_s, "planning and drawing");
    int code = draw_file(&s, path);
    cli_budget_end(&s.budget);
    for (size_t i = 0; i < s.n_plans; i++)
        esp_plan_free(s.plans[i]);
    espi_free(s.plans);
    esp_bound_free(s.bound);
    espi_arena_done(&s.arena);
    return code;
}

static int run_show(const struct cli_args *args)
{
    return cli_ask(args, answer_show);
}

const struct command cli_command_show = {
    .name = "show",
    .group = CLI_GROUP_PLAN,
    .summary = "draw a network and plans for it",
    .about =
        (const char *const[]){
            "Writes a picture (-o FILE.svg, .png, .pdf or .dot) or a page (-o "
            "FILE.html) of the network, laid out by site, with the trees of a plan "
            "and the bottleneck cut: the dashed links are all links across it.",
            "A page is a single file that works offline. It shows the load of "
            "hosts, an animated timeline of the simulated transfers, the algorithms "
            "and the bound over message sizes, and a list of the hosts. It can show "
            "several plans.",
            "Dense plans and large networks are drawn site by site, with an arrow for "
            "all that goes from one site to another; on a page, click a site to open it.",
            NULL},
    .positionals =
        (const struct cli_positional[]){
            {.name = "FILE",
             .kind = CLI_FILE,
             .help = "The platform; - is standard input."},
            {.name = "PLAN",
             .kind = CLI_FILE,
             .optional = true,
             .repeated = true,
             .help =
                 "Plans, as 'espalier plan -o' writes them; without any, one is made."},
            {0}},
    .options =
        (const struct cli_option[]){
            {.name = "output",
             .letter = 'o',
             .kind = CLI_FILE,
             .fallback = "espalier.html",
             .help = "FILE.html for a page, FILE.svg, FILE.png or FILE.pdf for a "
                     "picture, FILE.dot for Graphviz. It is written atomically. PNG "
                     "and PDF need librsvg (Debian: librsvg2-2)."},
            {.name = "algo",
             .letter = 'a',
             .kind = CLI_STRING,
             .value = "NAME",
             .names = CLI_NAMES_ALGO,
             .help =
                 "Without a plan: the algorithm that makes one, instead of auto. May be "
                 "given more than once."},
            {.name = "no-plan", .help = "Draw the network only."},
            {.name = "compare",
             .kind = CLI_STRING,
             .value = "NAME,...",
             .fallback = "flat,binomial,hierarchical,ecef,grow,refine,mtp,auto",
             .help = "Pages: the algorithms to compare over message sizes, or none."},
            CLI_ENDS_OPTIONS,
            CLI_SIZE_OPTION,
            {.name = "slice", .kind = CLI_SIZE, .help = CLI_SLICE_HELP},
            CLI_SEED_OPTION,
            CLI_BUDGET_OPTION,
            CLI_MODEL_OPTION,
            {.name = "front",
             .help = "Draw what time costs instead, as 'espalier compare --front' finds "
                     "it: the curve, and on a page the plan of each of its points."},
            CLI_POINTS_OPTION,
            CLI_PRICED_OPTIONS,
            {0}},
    .examples =
        (const struct cli_example[]){
            {"A page of the best plan:", "espalier show p.json -o page.html"},
            {"A picture of one tree:", "espalier show p.json --algo refine -o tree.svg"},
            {"Two plans to compare:",
             "espalier show p.json one.json two.json -o both.html"},
            {"What an hour less costs, with all plans:",
             "espalier show clouds.json --front --op multicast --root aws:us-east-1 "
             "--targets gcp:us-west1-a,aws:eu-west-1 --size 300GB -o front.html"},
            {0}},
    .see = (const char *const[]){"plan", "simulate", "bound", NULL},
    .run = run_show,
};
