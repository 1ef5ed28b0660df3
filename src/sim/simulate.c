/* The public face of the simulator. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/options.h"
#include "base/units.h"
#include "base/watch.h"
#include "plan/ops.h"
#include "schedule/arrange.h"
#include "sim/sim.h"

void esp_sim_result_free(struct esp_sim_result *result)
{
    if (!result)
        return;
    for (int i = 0; i < result->n_resources; i++) {
        espi_free(result->resources[i]->text);
        espi_free(result->resources[i]);
    }
    espi_free(result->resources);
    espi_free(result->delivered_s);
    espi_free(result->is_for);
    espi_free(result);
}

static int busiest_first(const void *a, const void *b)
{
    const struct esp_sim_resource *x = *(struct esp_sim_resource *const *)a;
    const struct esp_sim_resource *y = *(struct esp_sim_resource *const *)b;
    if (x->busy_s != y->busy_s)
        return x->busy_s > y->busy_s ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int report_resources(struct esp_sim_result *result, const struct espi_sim *sim)
{
    int used = 0;
    for (int r = 0; r < sim->links.n; r++)
        used += sim->busy_s[r] > 0;
    result->resources = espi_calloc((size_t)used, sizeof *result->resources);
    if (!result->resources)
        return -1;
    for (int r = 0; r < sim->links.n; r++) {
        char text[160];
        if (!(sim->busy_s[r] > 0))
            continue;
        struct esp_sim_resource *x = espi_calloc(1, sizeof *x);
        if (!x)
            return -1;
        result->resources[result->n_resources++] = x;
        x->text = espi_strdup(
            espi_resource_text(&sim->links, sim->reality, r, text, sizeof text));
        if (!x->text)
            return -1;
        x->busy_s = sim->busy_s[r];
        x->utilisation = result->makespan_s > 0 ? sim->busy_s[r] / result->makespan_s : 0;
    }
    qsort(result->resources, (size_t)result->n_resources, sizeof *result->resources,
          busiest_first);
    return 0;
}

/* Others relay: when they had it, and whether, is nobody's concern. */
static int report_addressees(struct esp_sim_result *result, const struct esp_platform *p,
                             const struct esp_plan *plan)
{
    result->is_for = espi_calloc((size_t)p->n_nodes, 1);
    if (!result->is_for)
        return -1;
    if (espi_op_is_for_root(plan->op))
        result->is_for[plan->root] = 1;
    else if (plan->targets)
        for (int i = 0; i < plan->n_targets; i++)
            result->is_for[plan->targets[i]] = 1;
    else
        for (int u = 0; u < p->n_nodes; u++)
            result->is_for[u] = !espi_is_switch(p, u) &&
                                (u != plan->root || espi_op_frees_roots(plan->op));
    for (int u = 0; u < p->n_nodes; u++)
        result->n_for += result->is_for[u];
    return 0;
}

static int report_delivery(struct esp_sim_result *result, const struct espi_sim *sim)
{
    const struct espi_program *prog = sim->prog;
    result->n_nodes = prog->p->n_nodes;
    result->delivered_s = espi_calloc((size_t)prog->p->n_nodes, sizeof(double));
    if (!result->delivered_s)
        return -1;
    for (int r = 0; r < prog->n_ranks; r++) {
        double at_s = sim->delivered_s[r];
        result->delivered_s[prog->node[r]] = at_s;
        if (!result->is_for[prog->node[r]])
            continue;
        if (isfinite(at_s))
            result->makespan_s = fmax(result->makespan_s, at_s);
        else if (!isfinite(sim->stop_s[r]))
            result->lost++;
    }
    result->throughput_Bps =
        result->makespan_s > 0 ? prog->size_bytes / result->makespan_s : 0;
    result->events = sim->events;
    result->transfers = sim->transfers;
    return 0;
}

typedef esp_status (*report_fn)(const struct espi_sim *sim, const struct esp_plan *plan,
                                struct esp_sim_result **out, struct esp_err *err);

/* When the message was where it was to be. */
static esp_status report_to_judge(const struct espi_sim *sim, const struct esp_plan *plan,
                                  struct esp_sim_result **out, struct esp_err *err)
{
    struct esp_sim_result *result = espi_calloc(1, sizeof *result);
    if (!result || report_addressees(result, sim->prog->p, plan) ||
        report_delivery(result, sim)) {
        esp_sim_result_free(result);
        return espi_err_nomem(err);
    }
    *out = result;
    return ESP_OK;
}

esp_status espi_sim_report(const struct espi_sim *sim, const struct esp_plan *plan,
                           struct esp_sim_result **out, struct esp_err *err)
{
    struct esp_sim_result *result = NULL;
    esp_status st = report_to_judge(sim, plan, &result, err);
    if (!st && report_resources(result, sim)) {
        esp_sim_result_free(result);
        st = espi_err_nomem(err);
    }
    if (!st)
        *out = result;
    return st;
}

void espi_sim_tell(const struct espi_sim *sim, int stream, int64_t slice, double start_s,
                   double end_s, int lost)
{
    const struct espi_stream *s = &sim->prog->streams[stream];
    struct esp_sim_transfer transfer = {
        .from = sim->prog->node[s->from],
        .to = sim->prog->node[s->to],
        .tree = s->tree,
        .slice = slice,
        .start_s = start_s,
        .end_s = end_s,
        .lost = lost,
    };
    if (sim->options->on_transfer)
        sim->options->on_transfer(sim->options->arg, &transfer);
}

/* derived: of so many events, each of about a microsecond, one looks at the clock. */
enum { LOOK_EVERY = 1024 };

static int is_watched(const struct esp_sim_options *options)
{
    return options->budget_s > 0 || options->progress;
}

/* A judge of plans, whom nobody limits, ends when the search is over and has a plan. */
int espi_sim_must_end(struct espi_sim *sim, double now_s)
{
    if (++sim->looked % LOOK_EVERY)
        return 0;
    if (!is_watched(sim->options))
        return espi_watch_may_leave();
    espi_watch_found(now_s);
    return espi_watch_is_over();
}

esp_status espi_sim_ended(const struct espi_sim *sim, double now_s, struct esp_err *err)
{
    int n = sim->prog->n_ranks, done = 0;
    char text[32];
    for (int r = 0; r < n; r++)
        done += isfinite(sim->delivered_s[r]);
    return espi_err(err, ESP_EUNSUPPORTED,
                    "the time was over before the simulation was: after its first %s, "
                    "%d of %d hosts had everything; give it more (--budget)",
                    espi_format_time(text, sizeof text, now_s), done, n);
}

esp_status espi_sim_run(struct espi_sim *sim, struct esp_err *err)
{
    int fluid = sim->options->sharing == ESP_SHARING_FLUID ||
                (sim->options->sharing == ESP_SHARING_MODEL &&
                 sim->prog->p->model == ESP_MODEL_CAPACITY);
    if (sim->reality->model != ESP_MODEL_HNOW)
        return fluid ? espi_run_fluid(sim, err) : espi_run_exclusive(sim, err);
    if (fluid)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "in the hnow model processors work on one message at a time: "
                        "there is no fluid sharing");
    return espi_run_hnow(sim, err);
}

static esp_status simulate_plain(const struct esp_platform *p,
                                 const struct esp_plan *plan,
                                 const struct esp_sim_options *options,
                                 struct espi_arena *arena, report_fn report,
                                 struct esp_sim_result **out, struct esp_err *err)
{
    struct espi_compile_options cut = {.size_bytes = options->size_bytes,
                                       .slice_bytes = options->slice_bytes};
    struct espi_program prog;
    struct espi_sim sim;
    esp_status st = espi_program_compile(p, plan, &cut, arena, &prog, err);
    if (!st)
        st = espi_sim_init(&sim, &prog, options, arena, err);
    if (!st)
        st = espi_sim_run(&sim, err);
    return st ? st : report(&sim, plan, out, err);
}

void esp_sim_options_defaults_sized(struct esp_sim_options *options, size_t size)
{
    struct esp_sim_options standard = {.size = size, .sharing = ESP_SHARING_MODEL};
    espi_options_give(options, size, &standard, sizeof standard);
}

static esp_status take_options(struct esp_sim_options *ours,
                               const struct esp_sim_options *given, struct esp_err *err)
{
    esp_sim_options_defaults(ours);
    if (!given)
        return ESP_OK;
    esp_status st = espi_options_take(ours, sizeof *ours, given,
                                      ESPI_SIZE_UP_TO(struct esp_sim_options, arg),
                                      "esp_sim_options", err);
    if (!st && !(ours->budget_s >= 0 && isfinite(ours->budget_s)))
        return espi_err(err, ESP_EUSAGE, "a budget is a time, and not negative");
    return st;
}

static esp_status simulate_checked(const struct esp_platform *p,
                                   const struct esp_plan *plan,
                                   const struct esp_sim_options *options,
                                   report_fn report, struct esp_sim_result **out,
                                   struct esp_err *err)
{
    struct esp_plan scheduled;
    struct espi_arena arena;
    esp_status st = espi_plan_scheduled(p, plan, options->size_bytes,
                                        options->slice_bytes, &scheduled, err);
    if (st)
        return st;
    espi_arena_init(&arena);
    st = plan->redundant
             ? espi_simulate_redundant(p, &scheduled, options, &arena, out, err)
             : simulate_plain(p, &scheduled, options, &arena, report, out, err);
    espi_arena_done(&arena);
    espi_plan_scheduled_done(&scheduled, plan);
    return st;
}

static esp_status simulate_and_report(const struct esp_platform *p,
                                      const struct esp_plan *plan,
                                      const struct esp_sim_options *options,
                                      report_fn report, struct esp_sim_result **out,
                                      struct esp_err *err)
{
    struct esp_sim_options ours;
    struct espi_watch watch;
    esp_status st = take_options(&ours, options, err);
    if (!st)
        st = esp_plan_check(plan, p, err);
    if (st || !is_watched(&ours))
        return st ? st : simulate_checked(p, plan, &ours, report, out, err);
    espi_watch_begin(&watch, ours.budget_s, ours.progress, ours.progress_arg);
    st = simulate_checked(p, plan, &ours, report, out, err);
    espi_watch_end(&watch);
    return st;
}

esp_status esp_simulate(const struct esp_platform *p, const struct esp_plan *plan,
                        const struct esp_sim_options *options,
                        struct esp_sim_result **out, struct esp_err *err)
{
    return simulate_and_report(p, plan, options, espi_sim_report, out, err);
}

double esp_judge_by_simulation(void *arg, const struct esp_platform *p,
                               const struct esp_plan *plan)
{
    struct esp_sim_result *result;
    if (simulate_and_report(p, plan, arg, report_to_judge, &result, NULL))
        return NAN;
    double makespan_s = result->lost ? INFINITY : result->makespan_s;
    esp_sim_result_free(result);
    return makespan_s;
}
