/* The annealers as algorithms: basic-sa, driver-sa and clustered-sa.
 *
 * Purpose: a broadcast tree in the time there is.
 * Reference: R. Gupta, S. Vadhiyar, Application-oriented adaptive MPI_Bcast for grids,
 * with the printed slips mended (the least temperature is 1, the pools' rule is that of
 * the printed examples, costs are in percent). Model: the paper's is one message, hosts
 * busy for an initiation cost; here that of the platform, and other objectives.
 * Guarantee: with settings=own, no worse by the objective than Mateescu's tree, from
 * which basic-sa starts in any case. Complexity: an evaluation costs the two paths that a
 * move touches, times their degrees. Departures: settings=own (see espi_cooling_own)
 * cools from 4 % to 0.04 %, in runs that grow, draws near senders more often than far
 * ones, begins with Mateescu's tree, and spends a quarter of clustered-sa's budget on the
 * whole tree; settings=paper does none of this. A budget is a number of evaluations, the
 * same on every machine, or the time that the request gives. */
#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "algo/anneal/anneal.h"
#include "algo/search/search.h"
#include "algo/search/starts.h"
#include "algo/tuning.h"
#include "base/err.h"

enum { OPTION_OBJECTIVE, OPTION_SETTINGS, OPTION_EVALUATIONS, OPTION_POOLS };
enum { SETTINGS_OWN, SETTINGS_PAPER };

#define COMMON_OPTIONS                                                                   \
    {.name = "objective",                                                                \
     .choices = "makespan|fill|throughput|simulated",                                    \
     .meaning = "the last slice everywhere, one message in one piece everywhere, the "   \
                "period, or what the simulator says"},                                   \
        {.name = "settings",                                                             \
         .choices = "own|paper",                                                         \
         .meaning = "how to cool, and where to start"},                                  \
    {                                                                                    \
        .name = "evaluations", .standard = 2000, .min = 0, .max = 1e9,                   \
        .meaning = "trees weighed for each host, where no time is given; 0: as many "    \
                   "runs as in the paper"                                                \
    }

static const struct espi_algo_option options[] = {COMMON_OPTIONS, {.name = NULL}};
static const struct espi_algo_option clustered_options[] = {
    COMMON_OPTIONS,
    {.name = "pools",
     .choices = "pairs|average",
     .meaning = "the bandwidth that counts inside a pool: of each pair, or on average"},
    {.name = NULL},
};

struct annealing {
    const struct espi_task *task;
    struct espi_view whole_view; /* of the message in one piece, for objective=fill */
    const struct espi_view *v;
    struct espi_anneal_net net;
    struct espi_anneal_budget budget;
    struct espi_annealer a;
    const struct espi_cooling *cooling;
    int own;
    int *start;      /* Mateescu's tree, as of espi_anneal_tree */
    int *parent_arc; /* the result */
    struct esp_err *err;
};

/* ---- the judge ---- */

static double judge_tree(void *arg, const int *parent_arc)
{
    struct annealing *s = arg;
    const struct espi_task *task = s->task;
    const struct esp_request *request = task->request;
    struct espi_arena_mark mark = espi_arena_mark(task->arena);
    struct esp_plan *plan = NULL;
    double value_s = NAN;
    if (esp_plan_create(request->op, request->root, "sa", &plan, NULL))
        return NAN;
    plan->size_bytes = request->size_bytes;
    plan->slice_bytes = task->slices.bytes;
    if (!espi_plan_add_parents(plan, s->v, task->root, 1, parent_arc, task->arena, NULL))
        value_s = request->judge(request->judge_arg, task->p, plan);
    esp_plan_free(plan);
    espi_arena_release(task->arena, mark);
    return value_s;
}

/* ---- setting up ---- */

static esp_status choose_view(struct annealing *s)
{
    const struct espi_task *task = s->task;
    s->v = task->view;
    if (task->option[OPTION_OBJECTIVE] != ESPI_ANNEAL_FILL)
        return ESP_OK;
    s->v = &s->whole_view;
    return espi_view_init(&s->whole_view, task->p, task->request->size_bytes, task->arena,
                          s->err);
}

static esp_status make_net(struct annealing *s)
{
    const struct espi_task *task = s->task;
    int n = s->v->g.n, *hosts = ESPI_ARENA_NEW(task->arena, int, n);
    if (!hosts)
        return espi_err_nomem(s->err);
    for (int h = 0; h < n; h++)
        hosts[h] = h;
    if (espi_anneal_net_init(&s->net, s->v, n, hosts, task->root, task->arena))
        return espi_err_nomem(s->err);
    s->net.objective = (enum espi_anneal_objective)task->option[OPTION_OBJECTIVE];
    s->net.count = task->slices.count;
    s->net.judge = judge_tree;
    s->net.judge_arg = s;
    if (s->net.objective == ESPI_ANNEAL_JUDGED && !task->request->judge)
        return espi_err(s->err, ESP_EUNSUPPORTED,
                        "objective=simulated needs a simulator, which the request does "
                        "not bring");
    return ESP_OK;
}

/* A tree of the view as one of the net. */
static void to_net(const struct espi_anneal_net *net, const int *parent_arc, int *up)
{
    for (int x = 0; x < net->n; x++) {
        up[x] = -1;
        for (int k = net->start[x]; k < net->start[x + 1]; k++)
            if (net->arc[k] == parent_arc[net->host[x]])
                up[x] = k;
    }
}

static void to_view(const struct espi_anneal_net *net, const int *up, int *parent_arc)
{
    for (int x = 0; x < net->n; x++)
        parent_arc[net->host[x]] = up[x] < 0 ? -1 : net->arc[up[x]];
}

static esp_status find_start(struct annealing *s)
{
    struct espi_task own = *s->task;
    own.view = s->v;
    esp_status st = espi_start_tree(&own, "mateescu", 8, s->parent_arc, s->err);
    if (!st)
        to_net(&s->net, s->parent_arc, s->start);
    return st;
}

static esp_status set_up(struct annealing *s)
{
    const struct espi_task *task = s->task;
    s->own = task->option[OPTION_SETTINGS] == SETTINGS_OWN;
    s->cooling = s->own ? &espi_cooling_own : &espi_cooling_paper;
    esp_status st = choose_view(s);
    if (!st)
        st = make_net(s);
    if (st)
        return st;
    s->start = ESPI_ARENA_NEW(task->arena, int, s->net.n);
    s->parent_arc = ESPI_ARENA_NEW(task->arena, int, s->net.n);
    if (!s->start || !s->parent_arc)
        return espi_err_nomem(s->err);
    espi_anneal_budget_start(&s->budget, task->option[OPTION_EVALUATIONS] * s->net.n,
                             task->request->budget_s);
    if (espi_annealer_init(&s->a, &s->net, s->cooling, task->request->seed, &s->budget,
                           task->arena))
        return espi_err_nomem(s->err);
    return find_start(s);
}

/* ---- the three ---- */

static int run_basic(struct annealing *s)
{
    espi_anneal_tree_set(&s->a.tree, s->net.root, s->start);
    int bad = espi_anneal_basic(&s->a, NULL);
    to_view(&s->net, s->a.best, s->parent_arc);
    return bad;
}

static int run_driver(struct annealing *s)
{
    int bad = espi_anneal_driver(&s->a, s->own ? s->start : NULL, s->task->arena);
    if (!bad)
        to_view(&s->net, s->a.best, s->parent_arc);
    return bad;
}

/* Anneals the whole tree from the best one there is, as long as the budget lasts. */
static int polish(struct annealing *s)
{
    struct espi_annealer *a = &s->a;
    int *from = s->start;
    espi_anneal_tree_set(&a->tree, s->net.root, s->start);
    double greedy_s = a->tree.value_s;
    int *found = ESPI_ARENA_NEW(s->task->arena, int, s->net.n);
    if (!found)
        return -1;
    to_net(&s->net, s->parent_arc, found);
    espi_anneal_tree_set(&a->tree, s->net.root, found);
    if (a->tree.value_s <= greedy_s)
        from = found;
    for (int run = 0; run < ESPI_POLISH_RUNS || s->budget.limit > 0; run++) {
        espi_anneal_tree_set(&a->tree, s->net.root, run ? a->best : from);
        if (espi_anneal_basic(a, NULL))
            return -1;
        if (s->budget.limit > 0 && espi_anneal_budget_used(&s->budget) >= s->budget.limit)
            break;
    }
    to_view(&s->net, a->best, s->parent_arc);
    return 0;
}

static int run_clustered(struct annealing *s)
{
    struct espi_anneal_budget pools = s->budget;
    struct espi_clustered c = {
        .whole = &s->net,
        .cooling = *s->cooling,
        .rule = (enum espi_pool_rule)s->task->option[OPTION_POOLS],
        .seed = s->task->request->seed,
        .budget = &pools,
        .arena = s->task->arena,
    };
    if (s->own)
        pools.limit *= ESPI_POOLS_PART;
    int bad = espi_anneal_clustered(&c, s->parent_arc);
    s->budget.evaluations = pools.evaluations;
    if (bad || !s->own || s->net.n < 3)
        return bad;
    return polish(s);
}

static esp_status add_plan(struct annealing *s, struct esp_plan *plan)
{
    const struct espi_task *task = s->task;
    struct espi_search search = {.v = s->v, .root = task->root, .arena = task->arena};
    double finish_s;
    if (s->net.objective == ESPI_ANNEAL_FILL || s->net.objective == ESPI_ANNEAL_JUDGED)
        return espi_plan_add_parents(plan, s->v, task->root, 1, s->parent_arc,
                                     task->arena, s->err);
    int *arcs = ESPI_ARENA_NEW(task->arena, int, s->net.n);
    if (!arcs ||
        espi_search_order(&search, task->slices.count, s->parent_arc, arcs, &finish_s))
        return espi_err_nomem(s->err);
    return espi_plan_add_arcs(plan, s->v, 1, arcs, s->net.n - 1, task->arena, s->err);
}

static esp_status run_with(const struct espi_task *task, struct esp_plan *plan,
                           struct esp_err *err, int (*run)(struct annealing *s))
{
    struct annealing *s = ESPI_ARENA_ZNEW(task->arena, struct annealing, 1);
    if (!s)
        return espi_err_nomem(err);
    s->task = task;
    s->err = err;
    esp_status st = set_up(s);
    if (st)
        return st;
    int bad = run(s);
    if (bad < 0)
        return espi_err_nomem(err);
    if (bad > 0)
        return espi_err(err, ESP_EUNSUPPORTED, "the root does not reach all hosts");
    return add_plan(s, plan);
}

static esp_status basic(const struct espi_task *task, struct esp_plan *plan,
                        struct esp_err *err)
{
    return run_with(task, plan, err, run_basic);
}

static esp_status driver(const struct espi_task *task, struct esp_plan *plan,
                         struct esp_err *err)
{
    return run_with(task, plan, err, run_driver);
}

static esp_status clustered(const struct espi_task *task, struct esp_plan *plan,
                            struct esp_err *err)
{
    return run_with(task, plan, err, run_clustered);
}

static const struct espi_algo_use basic_uses[] = {
    {.use = ESPI_USE_LAST},
    {.use = 0},
};

const struct espi_algo espi_algo_basic_sa = {
    .name = "basic-sa",
    .family = "anneal",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_SEARCHES,
    .paper = "Gupta, Vadhiyar 2006",
    .complexity = "O(depth degree) a tree",
    .summary = "one simulated annealing, from Mateescu's tree",
    .options = options,
    .uses = basic_uses,
    .run = basic,
};

static const struct espi_algo_use driver_uses[] = {
    {.use = ESPI_USE_LAST},
    {.use = 0},
};

const struct espi_algo espi_algo_driver_sa = {
    .name = "driver-sa",
    .family = "anneal",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_SEARCHES,
    .paper = "Gupta, Vadhiyar 2006",
    .complexity = "O(depth degree) a tree, 2000 a host",
    .summary = "annealing from random trees, then from the good ones",
    .options = options,
    .uses = driver_uses,
    .run = driver,
};

static const struct espi_algo_use clustered_uses[] = {
    {.use = ESPI_USE_LAST},
    {.use = ESPI_USE_ADVISOR_SEARCH, .set = {{OPTION_EVALUATIONS, 300}}, .n_set = 1},
    {.use = 0},
};

const struct espi_algo espi_algo_clustered_sa = {
    .name = "clustered-sa",
    .family = "anneal",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_SEARCHES,
    .paper = "Gupta, Vadhiyar 2006",
    .complexity = "O(depth degree) a tree, 2000 a host",
    .summary = "annealing of pools of near hosts, then of their roots",
    .options = clustered_options,
    .uses = clustered_uses,
    .run = clustered,
};
