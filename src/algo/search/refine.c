/* refine: the best tree of the papers' heuristics, made better by local search.
 *
 * Starts from the tree of one heuristic, or from the best of them, and hangs subtrees
 * elsewhere: by tabu search for the period (throughput.c), by late acceptance for the
 * finish of the message (finish.c). The tree of the shortest period is often a deep one;
 * among the trees of that period the one that finishes earliest is searched for as well.
 *
 * Reference: none, beyond the papers. Model: any. Guarantee: never worse, by the chosen
 * objective, than any of the heuristics it starts from (start=best: all but those that
 * solve linear programs). Small platforms come out optimal nearly always. Of Tiers
 * platforms for which branch and bound proved the best tree, all 800 of 30 nodes did, and
 * 412 of 413 of 65 nodes (with a seventh of the work 409, with a twentieth 401).
 * Complexity: a budget in weighed arcs, 20,000 a host (at most 2 * 10^7), or the time
 * that the request gives. */
#include <math.h>
#include <string.h>

#include "algo/search/search.h"
#include "algo/search/starts.h"
#include "algo/tuning.h"
#include "base/clock.h"
#include "base/err.h"

enum objective { THROUGHPUT, FINISH };

enum { OPTION_OBJECTIVE, OPTION_START, OPTION_WORK };

static const struct espi_algo_option options[] = {
    {.name = "objective",
     .choices = "throughput|makespan",
     .meaning = "the shortest period, or the shortest completion time of the message"},
    {.name = "start", .choices = ESPI_STARTS, .meaning = "the tree to start from"},
    {.name = "work",
     .standard = ESPI_REFINE_WORK,
     .min = 0,
     .max = 1e9,
     .meaning = "arcs to weigh for each host, where no time is given"},
    {0},
};

struct refinement {
    const struct espi_task *task;
    struct espi_search search;
    int *tree, *start; /* parent arcs */
    int *arcs;
    double *load_s;
};

/* What the objective says of a tree: less is better. */
static double value_s(struct refinement *r, enum objective objective, const int *tree)
{
    double finish_s;
    if (objective == THROUGHPUT)
        return espi_tree_period_s(r->task->view, tree, r->load_s);
    if (espi_search_order(&r->search, r->task->slices.count, tree, r->arcs, &finish_s))
        return NAN;
    return finish_s;
}

/* The best of all heuristics there are; those that do not apply are passed over, and so
 * are those that solve linear programs, which take ten times as long as the search itself
 * and do not bring it any further. */
static esp_status best_start(struct refinement *r, enum objective objective, int *best,
                             struct esp_err *err)
{
    double least_s = INFINITY;
    const char *name = strchr(ESPI_STARTS, '|');
    while (name) {
        name++;
        esp_status st = ESP_EUNSUPPORTED;
        if (strncmp(name, "lp-", 3) != 0)
            st = espi_start_tree(r->task, name, strcspn(name, "|"), r->start, err);
        if (st && st != ESP_EUNSUPPORTED)
            return st;
        double at_s = st ? INFINITY : value_s(r, objective, r->start);
        if (isnan(at_s))
            return espi_err_nomem(err);
        if (at_s < least_s) {
            least_s = at_s;
            memcpy(best, r->start, (size_t)r->task->view->g.n * sizeof *best);
        }
        name = strchr(name, '|');
    }
    return isfinite(least_s) ? ESP_OK
                             : espi_err(err, ESP_EUNSUPPORTED,
                                        "no heuristic gives a tree to start from");
}

static esp_status find_start(struct refinement *r, enum objective objective,
                             struct esp_err *err)
{
    const char *name = ESPI_STARTS;
    int which = (int)r->task->option[OPTION_START];
    if (which == 0)
        return best_start(r, objective, r->tree, err);
    for (; which > 0; which--)
        name = strchr(name, '|') + 1;
    return espi_start_tree(r->task, name, strcspn(name, "|"), r->tree, err);
}

/* A search that may use that part of what is left of the budget. */
static struct espi_search part_of(const struct espi_search *search, double part)
{
    struct espi_search s = *search;
    double now_s = espi_now_s();
    s.work *= part;
    if (s.deadline_s > now_s)
        s.deadline_s = now_s + part * (s.deadline_s - now_s);
    return s;
}

/* The tree of the shortest period that is found, and among those of the same period one
 * that finishes early. */
static int search_throughput(struct refinement *r, const struct espi_search *budget)
{
    const struct espi_view *v = r->task->view;
    struct espi_search first = part_of(budget, 1 - ESPI_REFINE_FINISH_PART);
    first.goal_s = espi_search_least_period_s(v, r->task->root) * (1 + 1e-9);
    if (espi_search_throughput(&first, r->tree))
        return -1;
    struct espi_search second = *budget;
    second.work *= ESPI_REFINE_FINISH_PART;
    double period_s = espi_tree_period_s(v, r->tree, r->load_s);
    return espi_search_finish(&second, r->task->slices.count, period_s * (1 + 1e-12),
                              r->tree);
}

/* For a message of many slices the period is most of the finish, and the search for it is
 * the stronger one: the finish is searched for from the better of the two trees. */
static int search_finish(struct refinement *r, const struct espi_search *budget)
{
    int n = r->task->view->g.n;
    struct espi_search half = part_of(budget, 0.5), rest = *budget;
    rest.work *= 0.5;
    memcpy(r->start, r->tree, (size_t)n * sizeof *r->tree);
    if (search_throughput(r, &half))
        return -1;
    double fast_s = value_s(r, FINISH, r->tree), early_s = value_s(r, FINISH, r->start);
    if (isnan(fast_s) || isnan(early_s))
        return -1;
    if (early_s < fast_s)
        memcpy(r->tree, r->start, (size_t)n * sizeof *r->tree);
    return espi_search_finish(&rest, r->task->slices.count, INFINITY, r->tree);
}

static esp_status refinement_init(struct refinement *r, struct esp_err *err)
{
    const struct espi_task *task = r->task;
    struct espi_arena *a = task->arena;
    int n = task->view->g.n;
    double budget_s = task->request->budget_s;
    r->search = (struct espi_search){
        .v = task->view,
        .root = task->root,
        .seed = task->request->seed,
        .work = fmin(task->option[OPTION_WORK] * n, ESPI_REFINE_WORK_MAX),
        .arena = a,
    };
    if (budget_s > 0)
        r->search.deadline_s = espi_now_s() + budget_s;
    r->tree = ESPI_ARENA_NEW(a, int, n);
    r->start = ESPI_ARENA_NEW(a, int, n);
    r->arcs = ESPI_ARENA_NEW(a, int, n);
    r->load_s = ESPI_ARENA_NEW(a, double, task->view->links.n);
    return r->tree && r->start && r->arcs && r->load_s ? ESP_OK : espi_err_nomem(err);
}

static esp_status run_refine(const struct espi_task *task, struct esp_plan *plan,
                             struct esp_err *err)
{
    struct refinement r = {.task = task};
    enum objective objective = (enum objective)task->option[OPTION_OBJECTIVE];
    double finish_s;
    esp_status st = refinement_init(&r, err);
    if (!st)
        st = find_start(&r, objective, err);
    if (st)
        return st;
    if ((objective == FINISH ? search_finish : search_throughput)(&r, &r.search) ||
        espi_search_order(&r.search, task->slices.count, r.tree, r.arcs, &finish_s))
        return espi_err_nomem(err);
    return espi_plan_add_arcs(plan, task->view, 1, r.arcs, task->view->g.n - 1,
                              task->arena, err);
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_IMPROVE,
     .set = {{OPTION_OBJECTIVE, THROUGHPUT}},
     .n_set = 1,
     .work = 1 + OPTION_WORK},
    {.use = ESPI_USE_IMPROVE | ESPI_USE_IMPROVE_FINISH,
     .set = {{OPTION_OBJECTIVE, FINISH}},
     .n_set = 1,
     .work = 1 + OPTION_WORK},
    {.use = ESPI_USE_LAST},
    {.use = ESPI_USE_QUICK,
     .set = {{OPTION_OBJECTIVE, FINISH}, {OPTION_WORK, 1000}},
     .n_set = 2},
    {.use = ESPI_USE_ADVISOR, .set = {{OPTION_WORK, 500}}, .n_set = 1},
    {.use = ESPI_USE_ADVISOR_SEARCH,
     .set = {{OPTION_OBJECTIVE, FINISH}, {OPTION_WORK, 2000}},
     .n_set = 2},
    {.use = 0},
};

const struct espi_algo espi_algo_refine = {
    .name = "refine",
    .family = "search",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_SEARCHES,
    .paper = "none",
    .complexity = "O(n) arcs weighed, 20,000 a host",
    .summary = "the best heuristic's tree, improved by tabu search",
    .options = options,
    .uses = uses,
    .run = run_refine,
};
