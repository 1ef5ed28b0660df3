#include "cli/commands/show.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include <espalier/simulate.h>

#include "algo/algo.h"
#include "base/portable_math.h"
#include "cli/launching/parallel.h"
#include "cost/cost.h"

/* looks: enough to see the rhythm, and few enough for a page that loads at once. */
enum { TRANSFERS_MAX = 12000, SIZES = 7, ALGOS_MAX = 64 };

/* ---- timelines ---- */

struct recorder {
    struct espi_page_transfer *transfers;
    size_t n;
    double end_s;
    double *times; /* start and end of each */
};

static void record(void *recorder, const struct esp_sim_transfer *t)
{
    struct recorder *r = recorder;

    if (t->lost || r->n >= TRANSFERS_MAX)
        return;
    r->transfers[r->n] = (struct espi_page_transfer){
        .from = t->from, .to = t->to, .tree = t->tree, .slice = (int)t->slice};
    r->times[2 * r->n] = t->start_s;
    r->times[2 * r->n + 1] = t->end_s;
    r->n++;
    r->end_s = fmax(r->end_s, t->end_s);
}

/* How much of the message there is room for, in whole slices. */
static double shown_bytes(const struct esp_plan *plan)
{
    struct espi_slices slices = espi_slices(plan->size_bytes, plan->slice_bytes);
    double edges = 0;

    for (int t = 0; t < plan->n_trees; t++)
        edges += plan->trees[t].weight * plan->trees[t].n_hops;
    /* looks: rounds of slices are not all alike */
    double count = floor(TRANSFERS_MAX * 0.8 / fmax(edges, 1));
    return slices.bytes * fmax(1, fmin(count, slices.count));
}

static int add_timeline(struct cli_show *s, const struct esp_plan *plan,
                        struct espi_page_timeline *line)
{
    struct recorder r = {.transfers = NULL};
    struct esp_sim_options options = {
        .size = sizeof options, .on_transfer = record, .arg = &r};
    struct esp_sim_result *result = NULL;
    struct esp_err err = {.status = ESP_OK, .text = ""};

    r.transfers = ESPI_ARENA_NEW(&s->arena, struct espi_page_transfer, TRANSFERS_MAX);
    r.times = ESPI_ARENA_NEW(&s->arena, double, 2 * TRANSFERS_MAX);
    if (!r.transfers || !r.times)
        return cli_error(CLI_FAILED, "out of memory");
    options.size_bytes = shown_bytes(plan);
    options.slice_bytes = plan->slice_bytes;
    esp_status status = esp_simulate(s->q->p, plan, &options, &result, &err);
    if (status != ESP_OK)
        return cli_fail(status, &err);
    for (size_t i = 0; i < r.n; i++) {
        r.transfers[i].start = (int)(r.times[2 * i] / r.end_s * ESPI_PAGE_TICKS);
        r.transfers[i].end = (int)(r.times[2 * i + 1] / r.end_s * ESPI_PAGE_TICKS);
    }
    *line = (struct espi_page_timeline){
        .size_bytes = options.size_bytes,
        .slice_bytes = espi_slices(plan->size_bytes, plan->slice_bytes).bytes,
        .makespan_s = r.end_s,
        .whole = options.size_bytes >= plan->size_bytes,
        .n_transfers = r.n,
        .transfers = r.transfers};
    esp_sim_result_free(result);
    return CLI_OK;
}

int cli_show_timelines(struct cli_show *s)
{
    struct espi_page_timeline *lines =
        ESPI_ARENA_ZNEW(&s->arena, struct espi_page_timeline, s->n_plans + 1);
    int code = lines ? CLI_OK : cli_error(CLI_FAILED, "out of memory");

    for (size_t i = 0; code == CLI_OK && i < s->n_plans; i++)
        code = add_timeline(s, s->plans[i], &lines[i]);
    s->page.timelines = lines;
    return code;
}

/* ---- the comparison ---- */

/* Messages of all sizes by one algorithm, or of one size, where each needs a plan of its
 * own. */
struct job {
    int which, first, end; /* algorithm; sizes */
};

struct contest {
    const struct cli_show *show;
    int n, n_jobs;
    const char *names[ALGOS_MAX];
    struct job jobs[ALGOS_MAX * SIZES];
    atomic_size_t jobs_left;
    double *makespan_s; /* algorithm by algorithm, SIZES each */
    double *bound_s;    /* by size */
    const double *sizes_bytes;
};

static const struct espi_algo *algo_of(const char *name)
{
    return espi_algo_find(name, strcspn(name, ":"));
}

/* Can the plan for another size serve this one too? Then it need not be made again. */
static bool serves(const struct espi_algo *algo, const struct esp_plan *plan,
                   const struct esp_request *request)
{
    double slice = espi_request_slice_bytes(request);

    return plan && algo->by_slice &&
           espi_slices(request->size_bytes, slice).bytes == plan->slice_bytes;
}

static esp_status plan_size(const struct contest *c, struct esp_request *request,
                            struct esp_plan **plan)
{
    const struct esp_platform *p = c->show->q->p;

    if (serves(algo_of(request->algo), *plan, request)) {
        (*plan)->size_bytes = request->size_bytes;
        esp_status status = esp_plan_schedule(*plan, p, NULL);
        return status == ESP_OK ? esp_plan_evaluate(*plan, p, NULL) : status;
    }
    esp_plan_free(*plan);
    *plan = NULL;
    return esp_plan_make(p, request, plan, NULL);
}

/* What is not done in time is not on the page. */
static void run_job(void *contest, size_t i)
{
    struct contest *c = contest;
    const struct job *job = &c->jobs[i];
    double *makespan_s = c->makespan_s + (size_t)job->which * SIZES;
    struct esp_request request = c->show->q->request;
    struct esp_plan *plan = NULL;
    esp_status status = ESP_OK;
    double share_s =
        cli_budget_share_s(&c->show->budget, atomic_fetch_sub(&c->jobs_left, 1));

    request.algo = c->names[job->which];
    request.budget_s = share_s / (job->end - job->first);
    for (int k = job->first;
         k < job->end && status == ESP_OK && !cli_budget_is_over(&c->show->budget); k++) {
        request.size_bytes = c->sizes_bytes[k];
        status = plan_size(c, &request, &plan);
        if (status == ESP_OK)
            makespan_s[k] = plan->makespan_s;
    }
    esp_plan_free(plan);
}

/* Of one size or of all. */
static size_t cost_of_job(const void *contest, size_t i)
{
    const struct contest *c = contest;
    const struct job *j = &c->jobs[i];
    size_t cost = cli_planning_cost(algo_of(c->names[j->which])), all = 1;

    for (int k = 0; k < c->n; k++)
        all += cli_planning_cost(algo_of(c->names[k]));
    return (cost ? cost : all) * (size_t)(j->end - j->first);
}

/* Those that take longest come first, so that none is waited for at the end: what tries
 * the others, with long messages, which have more slices. */
static void list_jobs(struct contest *c)
{
    for (int slow = 1; slow >= 0; slow--)
        for (int i = 0; i < c->n; i++) {
            const struct espi_algo *algo = algo_of(c->names[i]);
            int sizes = algo->by_slice ? SIZES : 1; /* of a job */
            bool is_slow = (algo->flags & ESPI_ALGO_CHOOSES) != 0;
            for (int end = SIZES; end > 0 && is_slow == slow; end -= sizes)
                c->jobs[c->n_jobs++] = (struct job){i, end - sizes, end};
        }
    atomic_store(&c->jobs_left, (size_t)c->n_jobs);
}

/* No host has the message before the last byte of it has passed the bottleneck. */
static void find_bounds(const struct contest *c, double *bound_s)
{
    const struct esp_bound *bound = c->show->bound;

    for (int k = 0; k < SIZES; k++)
        bound_s[k] = bound ? c->sizes_bytes[k] / bound->throughput_Bps : NAN;
}

static int enter_algorithms(struct contest *c, char *list)
{
    char *rest = NULL;

    for (char *name = strtok_r(list, ",", &rest); name && c->n < ALGOS_MAX;
         name = strtok_r(NULL, ",", &rest)) {
        if (!algo_of(name))
            return cli_no_such_algorithm(name);
        c->names[c->n++] = name;
    }
    return CLI_OK;
}

/* Those that can be used on this platform. */
static int keep_rows(struct cli_show *s, const struct contest *c)
{
    struct espi_page_row *rows =
        ESPI_ARENA_NEW(&s->arena, struct espi_page_row, c->n + 1);
    int n = 0;

    if (!rows)
        return cli_error(CLI_FAILED, "out of memory");
    for (int i = 0; i < c->n; i++) {
        const double *times = c->makespan_s + (size_t)i * SIZES;
        bool whole = true;
        for (int k = 0; k < SIZES; k++)
            whole = whole && !isnan(times[k]);
        if (whole)
            rows[n++] =
                (struct espi_page_row){c->names[i], algo_of(c->names[i])->family, times};
    }
    s->page.rows = rows;
    s->page.n_rows = n;
    return CLI_OK;
}

int cli_show_comparison(struct cli_show *s)
{
    const char *text = cli_text(s->q->args, "compare");
    double *sizes = ESPI_ARENA_NEW(&s->arena, double, SIZES);
    char *list = ESPI_ARENA_NEW(&s->arena, char, strlen(text) + 1);
    struct contest c = {.show = s, .sizes_bytes = sizes};

    c.makespan_s = ESPI_ARENA_NEW(&s->arena, double, (size_t)ALGOS_MAX *SIZES);
    c.bound_s = ESPI_ARENA_NEW(&s->arena, double, SIZES);
    if (!sizes || !list || !c.makespan_s || !c.bound_s)
        return cli_error(CLI_FAILED, "out of memory");
    memcpy(list, text, strlen(text) + 1);
    if (strcmp(list, "none") == 0)
        return CLI_OK;
    for (int k = 0; k < SIZES; k++)
        sizes[k] = 1024 * espi_power(8, k);
    for (int i = 0; i < ALGOS_MAX * SIZES; i++)
        c.makespan_s[i] = NAN;
    int code = enter_algorithms(&c, list);
    if (code != CLI_OK)
        return code;
    list_jobs(&c);
    cli_parallel(&(struct cli_jobs){.n = (size_t)c.n_jobs,
                                    .job = run_job,
                                    .cost = cost_of_job,
                                    .arg = &c,
                                    .what = "comparing algorithms"});
    find_bounds(&c, c.bound_s);
    s->page.sizes_bytes = sizes;
    s->page.bound_s = c.bound_s;
    s->page.n_sizes = SIZES;
    return keep_rows(s, &c);
}
