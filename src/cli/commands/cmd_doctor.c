/* espalier doctor: which links and cables are slower than they should be, and what that
 * costs. */
#include <math.h>
#include <stdlib.h>

#include <espalier/bound.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/number.h"
#include "base/units.h"
#include "cli/options/platforms.h"
#include "cli/options/plans.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "measure/health.h"
#include "platform/platform.h"

/* derived: bounds are found to ESPI_PACKING_GAP; more digits would say nothing. */
enum { DIGITS = 7 };

enum {
    LINES = 20, /* looks: lines */
    SOLVED = 12 /* limit: of time; those with the highest prices, or the slowest */
};

struct patient {
    struct espi_ailment ailment;
    double price; /* its part of the bound's prices */
    double gain;  /* of throughput, were it alone mended; NAN: not looked at */
};

struct ward {
    const struct cli_question *q;
    struct espi_arena arena;
    struct patient *all;
    int n;
    double now_Bps, mended_Bps;
};

/* ---- what it costs ---- */

/* Is it mended with the ailment: the same thing, or a link that its cable holds down? */
static bool goes_with(const struct esp_platform *p, const struct esp_bottleneck *b,
                      const struct espi_ailment *x)
{
    const struct espi_rows *links = &p->shared_links;

    if (b->owner == x->owner &&
        b->kind == (x->is_cable ? ESP_RESOURCE_CABLE : ESP_RESOURCE_LINK))
        return true;
    if (!x->is_cable || b->kind != ESP_RESOURCE_LINK)
        return false;
    for (int k = links->start[x->owner]; k < links->start[x->owner + 1]; k++)
        if (links->item[k] == b->owner)
            return espi_is_held(p, b->owner, x->owner);
    return false;
}

static double price_of(const struct esp_platform *p, const struct esp_bound *b,
                       const struct espi_ailment *x)
{
    double price = 0;

    for (int i = 0; i < b->n_bottlenecks; i++)
        if (goes_with(p, b->bottlenecks[i], x))
            price += b->bottlenecks[i]->price;
    return price;
}

/* Times what it would be faster; a cable with the links that it holds down. */
static void scale_one(const struct esp_platform *p, const struct espi_ailment *x,
                      double *link, double *cable)
{
    double factor = x->should_Bps / x->is_Bps;

    if (!x->is_cable) {
        link[x->owner] = fmax(link[x->owner], factor);
        return;
    }
    cable[x->owner] = factor;
    for (int k = p->shared_links.start[x->owner]; k < p->shared_links.start[x->owner + 1];
         k++) {
        int e = p->shared_links.item[k];
        if (espi_is_held(p, e, x->owner))
            link[e] = fmax(link[e], factor);
    }
}

static esp_status throughput_of(const struct ward *w, const struct esp_platform *p,
                                double *out, struct esp_err *err)
{
    struct esp_bound *bound = NULL;
    esp_status status = esp_bound_compute(p, &w->q->request, NULL, &bound, err);

    if (status == ESP_OK)
        *out = bound->throughput_Bps;
    esp_bound_free(bound);
    return status;
}

/* The throughput with patients first..end-1 mended. */
static esp_status mend(struct ward *w, int first, int end, double *out,
                       struct esp_err *err)
{
    const struct esp_platform *p = w->q->p;
    struct esp_platform *mended = NULL;
    double *link = ESPI_ARENA_NEW(&w->arena, double, p->n_links + 1);
    double *cable = ESPI_ARENA_NEW(&w->arena, double, p->n_shared + 1);

    if (!link || !cable)
        return espi_err_nomem(err);
    for (int e = 0; e < p->n_links; e++)
        link[e] = 1;
    for (int i = 0; i < p->n_shared; i++)
        cable[i] = 1;
    for (int i = first; i < end; i++)
        scale_one(p, &w->all[i].ailment, link, cable);
    esp_status status = espi_platform_scaled(p, link, cable, &mended, err);
    if (status == ESP_OK)
        status = throughput_of(w, mended, out, err);
    esp_platform_free(mended);
    return status;
}

static int by_price(const void *a, const void *b)
{
    const struct patient *x = a, *y = b;
    double part = x->ailment.is_Bps / x->ailment.should_Bps;
    double other = y->ailment.is_Bps / y->ailment.should_Bps;

    if (x->price != y->price)
        return x->price > y->price ? -1 : 1;
    return part != other ? (part < other ? -1 : 1) : x->ailment.owner - y->ailment.owner;
}

/* What was not looked at comes last. */
static int by_gain(const void *a, const void *b)
{
    const struct patient *x = a, *y = b;
    double gain = isnan(x->gain) ? -1 : x->gain, other = isnan(y->gain) ? -1 : y->gain;

    return gain != other ? (gain > other ? -1 : 1) : by_price(a, b);
}

/* Where links are resources of their own, what has no price costs nothing: the proof of
 * the bound does not use it. Elsewhere a slow link keeps a port busy, which has the
 * price. */
static esp_status find_gains(struct ward *w, struct esp_err *err)
{
    int by_ports = w->q->p->model != ESP_MODEL_CAPACITY;
    esp_status status = ESP_OK;
    double Bps = 0;

    qsort(w->all, (size_t)w->n, sizeof *w->all, by_price);
    for (int i = 0; i < w->n && status == ESP_OK; i++) {
        struct patient *x = &w->all[i];
        x->gain = !by_ports && !(x->price > 0) ? 0 : NAN;
        if (!isnan(x->gain) || i >= SOLVED)
            continue;
        status = mend(w, i, i + 1, &Bps, err);
        x->gain = fmax(0, Bps / w->now_Bps - 1);
    }
    if (status == ESP_OK && w->n)
        status = mend(w, 0, w->n, &w->mended_Bps, err);
    qsort(w->all, (size_t)w->n, sizeof *w->all, by_gain);
    return status;
}

static esp_status find_costs(struct ward *w, const struct espi_ailment *ailments,
                             struct esp_err *err)
{
    struct esp_bound *bound = NULL;
    esp_status status = ESP_OK;

    w->all = ESPI_ARENA_ZNEW(&w->arena, struct patient, w->n + 1);
    if (!w->all || !ailments)
        return espi_err_nomem(err);
    status = esp_bound_compute(w->q->p, &w->q->request, NULL, &bound, err);
    if (status != ESP_OK)
        return status;
    w->now_Bps = w->mended_Bps = bound->throughput_Bps;
    for (int i = 0; i < w->n; i++)
        w->all[i] =
            (struct patient){ailments[i], price_of(w->q->p, bound, &ailments[i]), NAN};
    esp_bound_free(bound);
    return find_gains(w, err);
}

/* ---- the answer ---- */

static void name_of(const struct ward *w, const struct espi_ailment *x, char *out,
                    size_t size)
{
    const struct esp_platform *p = w->q->p;
    char from[64], to[64];

    if (x->is_cable) {
        espi_quote(out, size, espi_shared_name(p, x->owner));
        return;
    }
    espi_quote(from, sizeof from, espi_node_name(p, p->tail[x->owner]));
    espi_quote(to, sizeof to, espi_node_name(p, p->head[x->owner]));
    snprintf(out, size, "%s -> %s", from, to);
}

static int print_json(const struct ward *w)
{
    json_t *json = json_object(), *all = json_array();
    char name[160];

    for (int i = 0; i < w->n; i++) {
        const struct patient *x = &w->all[i];
        json_t *one = json_object();
        name_of(w, &x->ailment, name, sizeof name);
        json_object_set_new(one, "what", json_string(name));
        json_object_set_new(one, "kind",
                            json_string(x->ailment.is_cable ? "cable" : "link"));
        cli_json_real(one, "rate_Bps", x->ailment.is_Bps);
        cli_json_real(one, "expected_Bps", x->ailment.should_Bps);
        json_object_set_new(one, "peers",
                            x->ailment.n_peers ? json_integer(x->ailment.n_peers)
                                               : json_null());
        cli_json_real(one, "price", espi_round_digits(x->price, DIGITS));
        cli_json_real(one, "gain",
                      isnan(x->gain) ? NAN : espi_round_digits(x->gain, DIGITS));
        json_array_append_new(all, one);
    }
    json_object_set_new(json, "root",
                        json_string(espi_node_name(w->q->p, w->q->request.root)));
    cli_json_real(json, "throughput_Bps", espi_round_digits(w->now_Bps, DIGITS));
    cli_json_real(json, "mended_Bps", espi_round_digits(w->mended_Bps, DIGITS));
    json_object_set_new(json, "slow", all);
    return cli_print_json(json);
}

static void add_row(struct cli_table *t, const struct ward *w, const struct patient *x)
{
    char text[160];

    name_of(w, &x->ailment, text, sizeof text);
    cli_table_add(t, "%s", text);
    cli_table_add(t, "%s", espi_format_bandwidth(text, sizeof text, x->ailment.is_Bps));
    cli_table_add(t, "%s",
                  espi_format_bandwidth(text, sizeof text, x->ailment.should_Bps));
    cli_table_add(t, "%.0f%%", 100 * (x->ailment.is_Bps / x->ailment.should_Bps - 1));
    if (isnan(x->gain))
        cli_table_add(t, "-");
    else
        cli_table_add(t, "%.1f%%", 100 * x->gain);
}

static int print_table(const struct ward *w, bool by_peers)
{
    const struct cli_column columns[] = {{"slow", false},
                                         {"rate", true},
                                         {by_peers ? "peers" : "expected", true},
                                         {"change", true},
                                         {"gain if mended", true}};
    struct cli_table t;

    cli_table_init(&t, columns, 5);
    for (int i = 0; i < w->n && i < LINES; i++)
        add_row(&t, w, &w->all[i]);
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    if (w->n > LINES)
        printf("  and %d more ('--json' lists all)\n", w->n - LINES);
    return bad;
}

static int print_text(const struct ward *w, bool by_peers)
{
    char text[32], mended[32];

    if (w->n == 0) {
        printf("No link or cable is slower than %s.\n",
               by_peers ? "its peers" : "expected");
        return CLI_OK;
    }
    if (print_table(w, by_peers))
        return cli_error(CLI_FAILED, "out of memory");
    printf("\nNo broadcast has more than %s now, and %s with all of these mended.\n",
           espi_format_bandwidth(text, sizeof text, w->now_Bps),
           espi_format_bandwidth(mended, sizeof mended, w->mended_Bps));
    return CLI_OK;
}

/* ---- the command ---- */

static int find_slow(struct ward *w, struct espi_ailment **out)
{
    const struct cli_args *args = w->q->args;
    double tolerance = cli_number(args, "tolerance");
    struct esp_platform *expected = NULL;
    struct esp_err err = {.status = ESP_OK, .text = ""};

    if (!cli_text(args, "expected"))
        return espi_health_by_peers(w->q->p, tolerance, &w->arena, out, &w->n)
                   ? cli_error(CLI_FAILED, "out of memory")
                   : CLI_OK;
    esp_status status =
        esp_platform_read(cli_text(args, "expected"), NULL, &expected, &err);
    if (status == ESP_OK &&
        espi_health_by_expected(w->q->p, expected, tolerance, &w->arena, out, &w->n))
        status = espi_err_nomem(&err);
    esp_platform_free(expected);
    return cli_fail(status, &err);
}

static int answer_doctor(struct cli_question *q)
{
    struct ward w = {.q = q};
    struct espi_ailment *ailments = NULL;
    struct esp_err err = {.status = ESP_OK, .text = ""};

    espi_arena_init(&w.arena);
    int code = find_slow(&w, &ailments);
    if (code == CLI_OK)
        code = cli_fail(find_costs(&w, ailments, &err), &err);
    if (code == CLI_OK)
        code = cli_has(q->args, "json") ? print_json(&w)
                                        : print_text(&w, !cli_text(q->args, "expected"));
    if (code == CLI_OK && w.n)
        code = CLI_NOT_SO;
    espi_arena_done(&w.arena);
    return code;
}

static int run_doctor(const struct cli_args *args)
{
    return cli_ask(args, answer_doctor);
}

const struct command cli_command_doctor = {
    .name = "doctor",
    .group = CLI_GROUP_NETWORK,
    .summary = "find links that are slower than they should be",
    .about =
        (const char *const[]){
            "Compares each link and shared link of a measured network with what is "
            "expected of it (--expected), or with its peers: the ports of the hosts "
            "of one site, the shared links in the same direction, the links between "
            "the same two sites. What is expected is the median of at least three "
            "peers.",
            "Slow ones are ranked by what they cost: how much the upper bound on "
            "the throughput of a broadcast from the root would rise if that one "
            "were repaired. The dual values of the bound (see 'espalier bound') "
            "tell which can matter at all; the bound is computed anew for these.",
            "The exit status is 4 when something is slow, and 0 when nothing is.", NULL},
    .positionals = cli_platform_file,
    .options =
        (const struct cli_option[]){
            {.name = "expected",
             .letter = 'e',
             .kind = CLI_FILE,
             .help = "The expected network, with the same names: an earlier measurement, "
                     "or the specification."},
            {.name = "tolerance",
             .kind = CLI_DOUBLE,
             .limited = true,
             .min = 0,
             .max = 1,
             .fallback = "0.2",
             .help = "A link that is slower by no more than this fraction is not slow."},
            {.name = "root",
             .letter = 'r',
             .kind = CLI_STRING,
             .value = "NODE",
             .names = CLI_NAMES_HOST,
             .help = "The host that broadcasts, by name or number; without it, the first "
                     "host of the platform."},
            CLI_MODEL_OPTION,
            {0}},
    .examples =
        (const struct cli_example[]){
            {"Which hosts have slow ports? The exit status is 4 where one has:",
             "espalier doctor p.json"},
            {"What has become slower since it was installed?",
             "espalier doctor now.json --expected installed.json"},
            {0}},
    .see = (const char *const[]){"measure", "bound", "info", NULL},
    .run = run_doctor,
};
