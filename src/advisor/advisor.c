#include "advisor/advisor.h"

#include <math.h>
#include <string.h>

#include "advisor/advisor_impl.h"
#include "advisor/tuning.h"
#include "advisor/slow_link_diagnosis.h"
#include "base/alloc.h"
#include "base/err.h"
#include "plan/plan.h"
#include "platform/platform.h"

static void forget_advice(struct espi_advisor *a)
{
    for (int i = 0; i < a->n_told; i++)
        espi_told_clear(&a->told[i]);
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
    a->reports = espi_calloc(nodes * ESPI_OPEN_CALLS + 1, sizeof *a->reports);
    for (size_t i = 0; i < ESPI_OPEN_CALLS && a->reports; i++)
        a->open[i].reports = a->reports + i * nodes;
    esp_status st =
        a->reports && !espi_connection_history_init(&a->connections, net->n_nodes)
            ? espi_belief_init(&a->belief, net, a->options.forget_s, err)
            : espi_err_nomem(err);
    if (!st && a->options.probe_share > 0)
        st = espi_probe_planner_create(&a->belief, a->options.probe_share, &a->planner,
                                       err);
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
    esp_plan_free(a->given);
    espi_probe_planner_free(a->planner);
    espi_belief_done(&a->belief);
    espi_connection_history_done(&a->connections);
    espi_free(a->reports);
    espi_free(a);
}

esp_status espi_advisor_renew(struct espi_advisor *a, const struct esp_platform *net,
                              struct esp_err *err)
{
    struct espi_belief fresh;
    struct espi_probe_planner *planner = NULL;
    if (net->n_nodes != a->net->n_nodes)
        return espi_err(err, ESP_EINPUT, "the new platform has other nodes");
    for (int i = 0; i < net->n_nodes; i++)
        if (strcmp(espi_node_name(net, i), espi_node_name(a->net, i)) != 0)
            return espi_err(err, ESP_EINPUT, "the new platform has other nodes");
    esp_status st = espi_belief_init(&fresh, net, a->options.forget_s, err);
    if (!st && a->planner)
        st = espi_probe_planner_create(&fresh, a->options.probe_share, &planner, err);
    if (st) {
        espi_belief_done(&fresh);
        return st;
    }
    if (planner)
        espi_probe_planner_succeed(planner, a->planner, &a->belief);
    a->planner = planner;
    espi_belief_done(&a->belief);
    a->belief = fresh;
    a->blames = (struct espi_blames){.next = 0};
    a->net = net;
    for (int i = 0; i < ESPI_OPEN_CALLS; i++)
        a->open[i].n_expected = 0;
    forget_advice(a); /* links may have other numbers */
    esp_plan_free(a->given);
    a->given = NULL;
    return ESP_OK;
}

/* ---- reports ---- */

static void push_value(double *values, int *n, double value)
{
    if (*n == ESPI_CALL_HISTORY) {
        memmove(values, values + 1, (ESPI_CALL_HISTORY - 1) * sizeof *values);
        --*n;
    }
    values[(*n)++] = value;
}

/* The broadcast that the report is of; where there is none, in place of the oldest. */
static struct espi_open_call *call_of(struct espi_advisor *a, const struct espi_report *r)
{
    struct espi_open_call *c;
    for (c = a->open; c < a->open + ESPI_OPEN_CALLS; c++)
        if (c->n_expected > 0 && c->call == r->call && c->root == r->root &&
            c->bytes == (double)r->bytes)
            return c;
    c = &a->open[a->next_open++ % ESPI_OPEN_CALLS];
    for (int i = 0; i < a->net->n_nodes; i++)
        c->reports[i].magic = 0;
    c->call = r->call;
    c->root = r->root;
    c->bytes = (double)r->bytes;
    c->slices = r->slices;
    c->window = r->window > 0 ? r->window : a->options.window;
    c->is_cut = c->n_reports = 0;
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
        push_value(a->gaps, &a->n_gaps, fmax(began_s - a->last_s, 1e-9));
    push_value(a->sizes, &a->n_sizes, (double)r->bytes);
    a->calls++;
    a->root = r->root;
    a->last_s = began_s;
}

/* Who sent to it for the first time? */
static void meet_peers(struct espi_advisor *a, struct espi_report *r)
{
    for (int i = 0; i < r->n_ways; i++) {
        struct espi_report_way *w = &r->way[i];
        w->is_new = w->kind == ESPI_WAY_FROM &&
                    espi_connection_is_first(&a->connections, w->peer, r->node);
    }
}

esp_status espi_advisor_hear(struct espi_advisor *a, const struct espi_report *report,
                             double now_s, struct esp_err *err)
{
    if (!espi_report_is_sane(a->net, report))
        return ESP_OK;
    esp_status st = ESP_OK;
    if (report->node == report->root) {
        note_call(a, report, now_s);
        st = espi_told_ran(a, report->root, (double)report->bytes, report->slices, now_s,
                           err);
    }
    if (st)
        return st;
    struct espi_open_call *c = call_of(a, report);
    if (c->reports[report->node].magic)
        return ESP_OK;
    memcpy(&c->reports[report->node], report, espi_report_bytes(report));
    meet_peers(a, &c->reports[report->node]);
    c->is_cut = c->is_cut || report->n_ways < 0;
    if (++c->n_reports < c->n_expected)
        return ESP_OK;
    c->n_expected = 0; /* all are here */
    a->whole++;
    espi_told_check(a, c->root, c->bytes, c->reports);
    if (c->is_cut)
        return ESP_OK;
    struct espi_told_call told = {c->bytes, c->slices, c->window, c->reports};
    return espi_diagnose_slow_links(&a->belief, &a->blames, &told, now_s, err);
}

/* ---- the outlook ---- */

void espi_advisor_outlook(const struct espi_advisor *a, double now_s,
                          struct espi_outlook *out)
{
    *out = (struct espi_outlook){
        .root = a->root, .last_s = a->last_s, .calls = a->calls, .whole = a->whole};
    for (int r = 0; r < a->belief.n_resources; r++)
        out->slow += espi_belief_factor(&a->belief, r, now_s, NULL) < ESPI_FULL;
    if (a->calls == 0)
        return;
    double last = a->sizes[a->n_sizes - 1];
    out->size_bytes = fmax(espi_fit_next(a->sizes, a->n_sizes), fmin(last / 4, last));
    out->size_bytes = fmax(out->size_bytes, 1);
    if (a->n_gaps > 0)
        out->gap_s = espi_fit_next_positive(a->gaps, a->n_gaps);
    double quiet_s = now_s - a->last_s;
    out->busy =
        quiet_s < ESPI_IDLE_AFTER_S || quiet_s < ESPI_IDLE_AFTER_GAPS * out->gap_s;
}

double espi_advisor_factor(const struct espi_advisor *a, int link, double now_s,
                           double *error)
{
    return espi_belief_link_factor(&a->belief, link, now_s, error);
}

int espi_advisor_rates(const struct espi_advisor *a, double now_s,
                       struct espi_believed_rate *out, int max)
{
    int n = 0;
    for (int r = 0; r < a->belief.n_resources; r++) {
        const struct espi_fate *fate = &a->belief.fate[r];
        struct espi_forecast f;
        if (!fate->series || espi_series_next(fate->series, &f) || n++ >= max)
            continue;
        struct espi_believed_rate *rate = &out[n - 1];
        *rate = (struct espi_believed_rate){.resource = r,
                                            .first_link = fate->first_link,
                                            .n_links = fate->n_links,
                                            .full_Bps = fate->full_Bps,
                                            .heard_s = fate->heard_s,
                                            .samples = f.samples,
                                            .method = f.method};
        rate->factor = espi_belief_factor(&a->belief, r, now_s, &rate->error);
        rate->low = fmax(rate->factor - rate->error, 0);
        rate->high = fmin(rate->factor + rate->error, 1);
        rate->calls = fate->told[ESPI_BY_CALL];
        rate->probes = fate->told[ESPI_BY_PROBE];
    }
    return n;
}

const struct espi_finding *espi_advisor_finding(const struct espi_advisor *a)
{
    return &a->blames.last;
}

/* ---- probes ---- */

void espi_advisor_set_prober(struct espi_advisor *a, int node, int able)
{
    if (a->planner)
        espi_probe_planner_set_host(a->planner, node, able);
}

int espi_advisor_next_probe(struct espi_advisor *a, double now_s,
                            struct espi_probe_order *out)
{
    struct espi_outlook o;
    if (!a->planner)
        return 0;
    espi_advisor_outlook(a, now_s, &o);
    return espi_probe_planner_next(a->planner, &o, now_s, out);
}

uint64_t espi_advisor_open_probe(const struct espi_advisor *a, double *until_s)
{
    return a->planner ? espi_probe_planner_open(a->planner, until_s) : 0;
}

esp_status espi_advisor_probed(struct espi_advisor *a, uint64_t number, int end,
                               double Bps, double now_s, int *changed,
                               struct esp_err *err)
{
    *changed = 0;
    if (!a->planner || end < ESPI_PROBE_RATE || end > ESPI_PROBE_LOST)
        return ESP_OK;
    return espi_probe_planner_answer(a->planner, number, (enum espi_probe_end)end, Bps,
                                     now_s, changed, err);
}

int espi_advisor_probes(const struct espi_advisor *a, struct espi_probe_tally *out)
{
    if (a->planner)
        espi_probe_planner_tally(a->planner, out);
    return a->planner != NULL;
}
