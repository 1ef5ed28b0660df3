#include "advise/advisor.h"

#include <math.h>
#include <string.h>

#include "advise/belief.h"
#include "advise/inquest.h"
#include "advise/met.h"
#include "advise/quiet.h"
#include "algo/algo.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/portable_math.h"
#include "base/rng.h"
#include "cost/cost.h"
#include "plan/plan.h"
#include "platform/platform.h"

enum {
    OPEN = 4,       /* broadcasts of which reports may still come */
    HISTORY = 10,   /* calls that predictions look at */
    FINALISTS = 4,  /* plans that are tried on all scenes */
    SCENES = 4,     /* networks around the believed one on which a plan must be good */
    ROOTS_MAX = 64, /* roots and sizes of which the last advice is kept */
    LARGE = 250000, /* links of a network on which no search ends in time */
    IDLE_FIRST = 10,
    IDLE_LAST = 21, /* sizes while no application calls: 2^10 .. 2^21 */
};

/* A new plan has to be better than the last one by this, or it is not worth the change.
 */
#define WORTH_IT 0.97

/* An application that has not called for so long, or for so many gaps, is not there. */
#define IDLE_AFTER_S    300
#define IDLE_AFTER_GAPS 20

struct told {
    int root, size_class;
    struct esp_plan *plan;
};

/* A broadcast that reports come in of. */
struct open_call {
    uint64_t call;
    int root;
    double bytes, slices;
    struct espi_report *reports; /* by node; magic 0: none */
    unsigned char *is_first;     /* by node: its parent had never sent to it */
    int n_reports, n_expected;   /* 0: nothing is to come */
};

struct espi_advisor {
    const struct esp_platform *net;
    struct espi_advisor_options options;
    struct espi_belief belief;
    struct espi_quiet *quiet; /* NULL: no probes */
    /* ranks may be ahead of others, and letters late */
    struct open_call open[OPEN];
    int next_open;
    struct espi_report *reports; /* of all of them */
    unsigned char *is_first;
    struct espi_met met;
    /* the application */
    long calls, whole; /* whole: of which all ranks told */
    int root;
    double last_s;
    double sizes[HISTORY], gaps[HISTORY]; /* oldest first */
    int n_sizes, n_gaps;
    /* what was said */
    struct told told[ROOTS_MAX];
    int n_told;
    int turn; /* of the sizes to plan for */
    struct espi_rng rng;
};

static void forget_advice(struct espi_advisor *a)
{
    for (int i = 0; i < a->n_told; i++)
        esp_plan_free(a->told[i].plan);
    a->n_told = 0;
}

esp_status espi_advisor_create(const struct esp_platform *net,
                               const struct espi_advisor_options *options,
                               struct espi_advisor **out, struct esp_err *err)
{
    struct espi_advisor *a = espi_calloc(1, sizeof *a);
    if (!a)
        return espi_err_nomem(err);
    a->net = net;
    a->root = -1;
    if (options)
        a->options = *options;
    if (!(a->options.forget_s > 0))
        a->options.forget_s = 120;
    if (!(a->options.budget_s > 0))
        a->options.budget_s = 0.5;
    if (a->options.window < 1)
        a->options.window = 4;
    espi_rng_seed(&a->rng, a->options.seed);
    size_t nodes = (size_t)net->n_nodes;
    a->reports = espi_calloc(nodes * OPEN + 1, sizeof *a->reports);
    a->is_first = espi_calloc(nodes * OPEN + 1, 1);
    for (size_t i = 0; i < OPEN && a->reports && a->is_first; i++) {
        a->open[i].reports = a->reports + i * nodes;
        a->open[i].is_first = a->is_first + i * nodes;
    }
    esp_status st = a->reports && a->is_first && !espi_met_init(&a->met, net->n_nodes)
                        ? espi_belief_init(&a->belief, net, a->options.forget_s, err)
                        : espi_err_nomem(err);
    if (!st && a->options.probe_share > 0)
        st = espi_quiet_create(&a->belief, a->options.probe_share, &a->quiet, err);
    if (st)
        espi_advisor_free(a);
    else
        *out = a;
    return st;
}

void espi_advisor_free(struct espi_advisor *a)
{
    if (!a)
        return;
    forget_advice(a);
    espi_quiet_free(a->quiet);
    espi_belief_done(&a->belief);
    espi_met_done(&a->met);
    espi_free(a->is_first);
    espi_free(a->reports);
    espi_free(a);
}

esp_status espi_advisor_renew(struct espi_advisor *a, const struct esp_platform *net,
                              struct esp_err *err)
{
    struct espi_belief fresh;
    struct espi_quiet *quiet = NULL;
    if (net->n_nodes != a->net->n_nodes)
        return espi_err(err, ESP_EINPUT, "the new platform has other nodes");
    for (int i = 0; i < net->n_nodes; i++)
        if (strcmp(espi_node_name(net, i), espi_node_name(a->net, i)) != 0)
            return espi_err(err, ESP_EINPUT, "the new platform has other nodes");
    esp_status st = espi_belief_init(&fresh, net, a->options.forget_s, err);
    if (!st && a->quiet)
        st = espi_quiet_create(&fresh, a->options.probe_share, &quiet, err);
    if (st) {
        espi_belief_done(&fresh);
        return st;
    }
    if (quiet)
        espi_quiet_succeed(quiet, a->quiet, &a->belief);
    a->quiet = quiet;
    espi_belief_done(&a->belief);
    a->belief = fresh;
    a->net = net;
    for (int i = 0; i < OPEN; i++)
        a->open[i].n_expected = 0;
    forget_advice(a); /* links may have other numbers */
    return ESP_OK;
}

/* ---- reports ---- */

static void push(double *values, int *n, double value)
{
    if (*n == HISTORY) {
        memmove(values, values + 1, (HISTORY - 1) * sizeof *values);
        --*n;
    }
    values[(*n)++] = value;
}

int espi_report_is_sane(const struct esp_platform *net, const struct espi_report *r)
{
    int nodes = net->n_nodes;
    if (r->magic != ESPI_REPORT_MAGIC || r->version != ESPI_REPORT_VERSION)
        return 0;
    if (r->node < 0 || r->node >= nodes || r->root < 0 || r->root >= nodes ||
        r->parent < -1 || r->parent >= nodes || r->n < 2 || r->n > 1 << 24)
        return 0;
    if (espi_is_switch(net, r->node) || espi_is_switch(net, r->root) ||
        (r->parent >= 0 && espi_is_switch(net, r->parent)))
        return 0;
    return r->bytes > 0 && r->bytes < UINT64_C(1) << 50 && r->slices >= 1 &&
           r->slices < 1e12 && r->receive_s >= 0 && r->receive_s < 1e6 &&
           r->total_s >= 0 && r->total_s < 1e6;
}

/* The broadcast that the report is of; where there is none, in place of the oldest. */
static struct open_call *call_of(struct espi_advisor *a, const struct espi_report *r)
{
    struct open_call *c;
    for (c = a->open; c < a->open + OPEN; c++)
        if (c->n_expected > 0 && c->call == r->call && c->root == r->root &&
            c->bytes == (double)r->bytes)
            return c;
    c = &a->open[a->next_open++ % OPEN];
    memset(c->reports, 0, (size_t)a->net->n_nodes * sizeof *c->reports);
    c->call = r->call;
    c->root = r->root;
    c->bytes = (double)r->bytes;
    c->slices = r->slices;
    c->n_reports = 0;
    c->n_expected = r->n;
    return c;
}

/* The root's report is what counts as the call. */
static void note_call(struct espi_advisor *a, const struct espi_report *r, double now_s)
{
    /* We may have been thinking when it came. */
    int late = r->at_s < now_s && now_s - r->at_s < 60;
    double began_s = (late ? r->at_s : now_s) - r->total_s;
    if (a->calls > 0)
        push(a->gaps, &a->n_gaps, fmax(began_s - a->last_s, 1e-9));
    push(a->sizes, &a->n_sizes, (double)r->bytes);
    a->calls++;
    a->root = r->root;
    a->last_s = began_s;
}

esp_status espi_advisor_hear(struct espi_advisor *a, const struct espi_report *report,
                             double now_s, struct esp_err *err)
{
    if (!espi_report_is_sane(a->net, report))
        return ESP_OK;
    if (report->node == report->root)
        note_call(a, report, now_s);
    struct open_call *c = call_of(a, report);
    if (c->reports[report->node].magic)
        return ESP_OK;
    c->reports[report->node] = *report;
    c->is_first[report->node] =
        report->parent >= 0 && espi_met_first(&a->met, report->parent, report->node);
    if (++c->n_reports < c->n_expected)
        return ESP_OK;
    c->n_expected = 0; /* all are here */
    a->whole++;
    struct espi_told_call told = {c->bytes, c->slices, a->options.window, c->reports,
                                  c->is_first};
    return espi_inquest(&a->belief, &told, now_s, err);
}

/* ---- the outlook ---- */

void espi_advisor_outlook(const struct espi_advisor *a, double now_s,
                          struct espi_outlook *out)
{
    *out = (struct espi_outlook){
        .root = a->root, .last_s = a->last_s, .calls = a->calls, .whole = a->whole};
    for (int g = 0; g < a->belief.n_groups; g++)
        out->slow += espi_belief_factor(&a->belief, g, now_s, NULL) < 0.8;
    if (a->calls == 0)
        return;
    double last = a->sizes[a->n_sizes - 1];
    out->size_bytes = fmax(espi_fit_next(a->sizes, a->n_sizes), fmin(last / 4, last));
    out->size_bytes = fmax(out->size_bytes, 1);
    if (a->n_gaps > 0)
        out->gap_s = espi_fit_next_positive(a->gaps, a->n_gaps);
    double quiet_s = now_s - a->last_s;
    out->busy = quiet_s < IDLE_AFTER_S || quiet_s < IDLE_AFTER_GAPS * out->gap_s;
}

double espi_advisor_factor(const struct espi_advisor *a, int link, double now_s,
                           double *error)
{
    return espi_belief_factor(&a->belief, a->belief.group[link], now_s, error);
}

int espi_advisor_rates(const struct espi_advisor *a, double now_s,
                       struct espi_believed_rate *out, int max)
{
    int n = 0;
    for (int g = 0; g < a->belief.n_groups; g++) {
        const struct espi_fate *fate = &a->belief.fate[g];
        struct espi_forecast f;
        if (!fate->series || espi_series_next(fate->series, &f) || n++ >= max)
            continue;
        struct espi_believed_rate *rate = &out[n - 1];
        *rate = (struct espi_believed_rate){.group = g,
                                            .first_link = fate->first_link,
                                            .n_links = fate->n_links,
                                            .heard_s = fate->heard_s,
                                            .samples = f.samples,
                                            .method = f.method};
        rate->factor = espi_belief_factor(&a->belief, g, now_s, &rate->error);
    }
    return n;
}

/* ---- plans ---- */

struct contest {
    struct espi_advisor *a;
    int root;
    double bytes;
    struct esp_platform *scene[SCENES]; /* the first is what is believed */
    int n_scenes;
    struct esp_plan *finalist[FINALISTS]; /* the best on the first scene, best first */
    double finalist_s[FINALISTS];
    int n_finalists;
    struct esp_plan *plain; /* the best hierarchical one, which has no risks of its own */
    double plain_s;
    double end_s; /* of the time there is */
    struct esp_plan *best;
    double best_s;
    struct espi_arena arena;
    struct esp_err *err;
};

/* Is the time over? Runs that repeat do not look at the clock. */
static int is_late(const struct contest *c)
{
    return c->a->options.work > 0 ? 0 : espi_now_s() > c->end_s;
}

static esp_status set_first_scene(struct contest *c, double now_s)
{
    esp_status st =
        espi_belief_platform(&c->a->belief, now_s, NULL, &c->scene[0], c->err);
    c->n_scenes = !st;
    return st;
}

/* Networks around it, as far off as forecasts were. */
static esp_status set_scenes(struct contest *c, double now_s)
{
    const struct espi_belief *b = &c->a->belief;
    double *lots = ESPI_ARENA_NEW(&c->arena, double, b->n_groups + 1), worst = 0;
    if (!lots)
        return espi_err_nomem(c->err);
    for (int g = 0; g < b->n_groups; g++) {
        double error;
        espi_belief_factor(b, g, now_s, &error);
        worst = fmax(worst, error);
    }
    int wanted = worst > 0.01 ? SCENES : 1;
    esp_status st = ESP_OK;
    while (c->n_scenes < wanted && !st && !is_late(c)) {
        for (int g = 0; g < b->n_groups; g++)
            lots[g] = espi_rng_range(&c->a->rng, -1.5, 1.5);
        st = espi_belief_platform(b, now_s, lots, &c->scene[c->n_scenes], c->err);
        c->n_scenes += !st;
    }
    return st;
}

/* When the plan's message is everywhere in one scene. */
static esp_status finish_in(struct contest *c, const struct esp_platform *scene,
                            const struct esp_plan *plan, double *out)
{
    const struct espi_advisor_options *o = &c->a->options;
    struct espi_arena_mark mark = espi_arena_mark(&c->arena);
    struct espi_cost cost;
    if (o->judge) {
        *out = o->judge(o->judge_arg, scene, plan);
        return isnan(*out) ? espi_err_nomem(c->err) : ESP_OK;
    }
    esp_status st = espi_plan_cost(scene, plan, c->bytes, plan->slice_bytes, &c->arena,
                                   &cost, c->err);
    espi_arena_release(&c->arena, mark);
    if (!st)
        *out = cost.makespan_s;
    return st;
}

/* The mean finish over the scenes: what stays good within the error wins. It is the
 * geometric one, by which no scene counts more than others: else a scene in which a link
 * hardly works at all decides alone, and plans go out of their way to avoid links of
 * which next to nothing is known. first_s: that in the first scene, if it is known. */
static esp_status mean_finish(struct contest *c, const struct esp_plan *plan,
                              const double *first_s, double *out)
{
    double sum = 0;
    esp_status st = ESP_OK;
    for (int i = 0; i < c->n_scenes && !st; i++) {
        double finish_s = first_s ? *first_s : 0;
        if (i > 0 || !first_s)
            st = finish_in(c, c->scene[i], plan, &finish_s);
        sum += espi_log(fmax(finish_s, 1e-12));
    }
    if (!st)
        *out = espi_exp(sum / c->n_scenes);
    return st;
}

static esp_status keep_plain(struct contest *c, const struct esp_plan *plan,
                             double finish_s)
{
    struct esp_plan *copy;
    if (c->plain && finish_s >= c->plain_s)
        return ESP_OK;
    esp_status st = espi_plan_copy(plan, c->scene[0], &c->arena, &copy, c->err);
    if (st)
        return st;
    esp_plan_free(c->plain);
    c->plain = copy;
    c->plain_s = finish_s;
    return ESP_OK;
}

/* Is there no place for the plan, whatever a judge says of it? So where its busiest
 * resource alone takes longer than the last of the finalists does. */
static esp_status is_hopeless(struct contest *c, const struct esp_plan *plan,
                              int is_plain, int *out)
{
    double worst_s =
        c->n_finalists == FINALISTS ? c->finalist_s[FINALISTS - 1] : INFINITY;
    double load_s = 0;
    esp_status st = ESP_OK;
    if (is_plain)
        worst_s = c->plain ? fmax(worst_s, c->plain_s) : INFINITY;
    if (isfinite(worst_s) && plan->n_trees == 1)
        st = espi_plan_load_s(c->scene[0], plan, c->bytes, plan->slice_bytes, &c->arena,
                              &load_s);
    *out = load_s > worst_s * (1 + 1e-9);
    return st ? espi_err_nomem(c->err) : ESP_OK;
}

/* A place among the best on the network as believed, or nothing. */
static esp_status enter(struct contest *c, struct esp_plan *plan, int is_plain)
{
    double finish_s;
    int hopeless;
    plan->size_bytes = c->bytes;
    esp_status st = is_hopeless(c, plan, is_plain, &hopeless);
    if (st || hopeless) {
        esp_plan_free(plan);
        return st;
    }
    st = finish_in(c, c->scene[0], plan, &finish_s);
    int at = c->n_finalists;
    if (!st && is_plain)
        st = keep_plain(c, plan, finish_s);
    if (st || (at == FINALISTS && finish_s >= c->finalist_s[at - 1])) {
        esp_plan_free(plan);
        return st;
    }
    if (at == FINALISTS)
        esp_plan_free(c->finalist[--at]);
    else
        c->n_finalists++;
    for (; at > 0 && c->finalist_s[at - 1] > finish_s; at--) {
        c->finalist[at] = c->finalist[at - 1];
        c->finalist_s[at] = c->finalist_s[at - 1];
    }
    c->finalist[at] = plan;
    c->finalist_s[at] = finish_s;
    return ESP_OK;
}

static esp_status enter_algo(struct contest *c, const char *algo, double slice_bytes,
                             double budget_s)
{
    struct esp_request request;
    struct esp_plan *plan;
    if (c->a->options.tick)
        c->a->options.tick(c->a->options.tick_arg);
    esp_request_init(&request, c->root);
    request.algo = algo;
    request.size_bytes = c->bytes;
    request.slice_bytes = slice_bytes;
    request.budget_s = c->a->options.work > 0 ? 0 : budget_s;
    /* What it claims would be timed at length, and is weighed here anyway. */
    esp_status st = espi_plan_make_uncosted(c->scene[0], &request, &plan, c->err);
    if (st)
        return st == ESP_ENOMEM ? st : ESP_OK; /* then it is not for this platform */
    return enter(c, plan, strcmp(algo, "hierarchical") == 0);
}

/* The hierarchical tree, which is made in no time, first; then trees of all kinds, each
 * with several slices, then longer searches. All who cannot be tried in the time there is
 * are tried the next time, since each time another begins. */
static esp_status hold(struct contest *c, double budget_s)
{
    static const char *const quick[] = {"hierarchical:wan=binomial", "binomial", "grow",
                                        "prune-degree", "refine:work=500"};
    static const double slices[] = {65024, 16256, 0};
    enum { SLICES = 3 };
    const char *algo = c->a->options.algo;
    int first = c->a->options.work > 0 ? 0 : c->a->turn / 3;
    int is_large = c->scene[0]->n_links > LARGE, n_quick = is_large ? 2 : 5;
    esp_status st = ESP_OK;
    if (algo && *algo)
        return enter_algo(c, algo, 0, budget_s);
    for (int i = 0; i < SLICES && !st; i++)
        if (slices[i] < c->bytes && !(c->plain && is_late(c)))
            st = enter_algo(c, "hierarchical", slices[i], 0);
    for (int i = 0; i < n_quick * SLICES && !st && !is_late(c); i++) {
        int k = (first + i) % (n_quick * SLICES);
        if (slices[k / n_quick] < c->bytes)
            st = enter_algo(c, quick[k % n_quick], slices[k / n_quick], 0);
    }
    if (is_large)
        return st;
    double slice = c->n_finalists ? c->finalist[0]->slice_bytes : 0;
    if (!st && !is_late(c))
        st = enter_algo(c, "clustered-sa:evaluations=300", slice, 0.4 * budget_s);
    if (!st && !is_late(c))
        st = enter_algo(c, "refine:objective=finish,work=2000", slice, 0.4 * budget_s);
    return st;
}

/* Is it better over all scenes than the best so far? Takes the plan. */
static esp_status challenge(struct contest *c, struct esp_plan *plan, double first_s)
{
    double finish_s;
    if (!plan)
        return ESP_OK;
    esp_status st = mean_finish(c, plan, &first_s, &finish_s);
    if (st || !(finish_s < c->best_s)) {
        esp_plan_free(plan);
        return st;
    }
    esp_plan_free(c->best);
    c->best = plan;
    c->best_s = plan->makespan_s = finish_s;
    return ESP_OK;
}

/* Of the best, the one that stays good around what is believed. */
static esp_status decide(struct contest *c)
{
    for (int i = 0; i < c->n_finalists && c->a->quiet; i++)
        espi_quiet_mark(c->a->quiet, c->finalist[i], ESPI_QUIET_RIVAL, c->a->turn);
    esp_status st = challenge(c, c->plain, c->plain_s);
    for (int i = 0; i < c->n_finalists; i++) {
        esp_status challenged = challenge(c, c->finalist[i], c->finalist_s[i]);
        st = st ? st : challenged;
    }
    return st;
}

static struct told *told_of(struct espi_advisor *a, int root, int size_class)
{
    for (int i = 0; i < a->n_told; i++)
        if (a->told[i].root == root && a->told[i].size_class == size_class)
            return &a->told[i];
    return NULL;
}

/* Keeps what is said, to compare with next time. */
static esp_status remember(struct contest *c, int size_class)
{
    struct espi_advisor *a = c->a;
    struct told *t = told_of(a, c->root, size_class);
    struct esp_plan *copy;
    esp_status st = espi_plan_copy(c->best, c->scene[0], &c->arena, &copy, c->err);
    if (st)
        return st;
    if (!t && a->n_told < ROOTS_MAX) {
        t = &a->told[a->n_told++];
        t->plan = NULL;
    } else if (!t) {
        t = &a->told[a->turn % ROOTS_MAX];
    }
    esp_plan_free(t->plan);
    *t = (struct told){c->root, size_class, copy};
    return ESP_OK;
}

/* The last advice stays unless something is better by what makes it worth a change. */
static esp_status settle(struct contest *c, int size_class, struct espi_advice *out)
{
    struct told *t = told_of(c->a, c->root, size_class);
    struct esp_plan *old = NULL;
    double old_s = INFINITY;
    esp_status st = ESP_OK;
    if (t && t->plan)
        st = espi_plan_copy(t->plan, c->scene[0], &c->arena, &old, c->err);
    if (!st && old) {
        old->size_bytes = c->bytes;
        st = mean_finish(c, old, NULL, &old_s);
    }
    out->is_new = !old;
    if (!st && old && !(c->best_s < WORTH_IT * old_s)) {
        esp_plan_free(c->best);
        c->best = old;
        old = NULL;
    } else {
        out->is_new = 1;
    }
    esp_plan_free(old);
    if (!st && c->a->quiet)
        espi_quiet_mark(c->a->quiet, c->best, ESPI_QUIET_IN_FORCE, c->a->turn);
    return st ? st : remember(c, size_class);
}

esp_status espi_advisor_plan_for(struct espi_advisor *a, int root, double bytes,
                                 double now_s, struct espi_advice *out,
                                 struct esp_err *err)
{
    struct contest c = {
        .a = a, .root = root, .bytes = bytes, .best_s = INFINITY, .err = err};
    struct espi_advice advice = {.root = root,
                                 .size_class = espi_size_class((uint64_t)bytes)};
    struct espi_outlook o;
    espi_advisor_outlook(a, now_s, &o);
    double budget_s = a->options.budget_s;
    if (o.gap_s > 0) /* three sizes have to be ready when the next call comes */
        budget_s = fmin(budget_s, fmax((o.last_s + o.gap_s - now_s) / 3, 0.01));
    espi_arena_init(&c.arena);
    esp_status st = set_first_scene(&c, now_s);
    c.end_s = espi_now_s() + budget_s;
    if (!st)
        st = hold(&c, budget_s);
    if (!st)
        st = set_scenes(&c, now_s);
    esp_status chosen = decide(&c);
    if (!st)
        st = chosen;
    if (!st && !c.best)
        st = espi_err(err, ESP_EUNSUPPORTED, "no algorithm can plan for this platform");
    if (!st)
        st = settle(&c, advice.size_class, &advice);
    if (!st)
        st = espi_belief_translate(&a->belief, c.best, &advice.plan, err);
    espi_arena_done(&c.arena);
    for (int i = 0; i < c.n_scenes; i++)
        esp_platform_free(c.scene[i]);
    esp_plan_free(c.best);
    if (st)
        return st;
    *out = advice;
    return ESP_OK;
}

esp_status espi_advisor_plan(struct espi_advisor *a, double now_s,
                             struct espi_advice *out, struct esp_err *err)
{
    static const double times[] = {1, 0.5, 2};
    struct espi_outlook o;
    espi_advisor_outlook(a, now_s, &o);
    int turn = a->turn++;
    if (o.busy)
        return espi_advisor_plan_for(a, o.root, o.size_bytes * times[turn % 3], now_s,
                                     out, err);
    int root = a->root;
    for (int i = 0; root < 0 && i < a->net->n_nodes; i++)
        if (!espi_is_switch(a->net, i))
            root = i;
    if (root < 0)
        return espi_err(err, ESP_EUNSUPPORTED, "the platform has no host");
    double bytes = ldexp(1, IDLE_FIRST + turn % (IDLE_LAST - IDLE_FIRST + 1));
    return espi_advisor_plan_for(a, root, bytes, now_s, out, err);
}

esp_status espi_advisor_expect(struct espi_advisor *a, const struct esp_plan *plan,
                               double bytes, double slice_bytes, double now_s,
                               double *out_s, struct esp_err *err)
{
    struct contest c = {.a = a, .bytes = bytes, .err = err};
    struct esp_plan sized = *plan;
    struct esp_platform *believed = NULL;
    sized.size_bytes = bytes;
    sized.slice_bytes = slice_bytes;
    espi_arena_init(&c.arena);
    esp_status st = espi_belief_scaled(&a->belief, now_s, &believed, err);
    if (!st)
        st = finish_in(&c, believed, &sized, out_s);
    esp_platform_free(believed);
    espi_arena_done(&c.arena);
    return st;
}

/* ---- probes ---- */

void espi_advisor_set_prober(struct espi_advisor *a, int node, int able)
{
    if (a->quiet)
        espi_quiet_set_host(a->quiet, node, able);
}

int espi_advisor_next_probe(struct espi_advisor *a, double now_s,
                            struct espi_probe_order *out)
{
    struct espi_outlook o;
    if (!a->quiet)
        return 0;
    espi_advisor_outlook(a, now_s, &o);
    return espi_quiet_next(a->quiet, &o, now_s, out);
}

uint64_t espi_advisor_open_probe(const struct espi_advisor *a, double *until_s)
{
    return a->quiet ? espi_quiet_open(a->quiet, until_s) : 0;
}

esp_status espi_advisor_probed(struct espi_advisor *a, uint64_t number, int end,
                               double Bps, double now_s, int *changed,
                               struct esp_err *err)
{
    *changed = 0;
    if (!a->quiet || end < ESPI_PROBE_RATE || end > ESPI_PROBE_LOST)
        return ESP_OK;
    return espi_quiet_answer(a->quiet, number, (enum espi_probe_end)end, Bps, now_s,
                             changed, err);
}

int espi_advisor_probes(const struct espi_advisor *a, struct espi_probe_tally *out)
{
    if (a->quiet)
        espi_quiet_tally(a->quiet, out);
    return a->quiet != NULL;
}
