#include "solve/priced/multicast.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "solve/priced/branch.h"
#include "solve/priced/instance.h"
#include "solve/priced/ladder.h"
#include "solve/priced/tuning.h"

enum { HOSTS_MAX = 1000 }; /* limit: a program has a column for each pair of hosts */

/* A question at hand. */
struct question {
    struct espi_priced_instance *instance;
    struct espi_priced_model m; /* of the task asked */
    struct espi_priced_bound bound;
    struct espi_priced_pool pool;
    struct espi_priced_mix best;
    struct espi_priced answer;
};

/* ---- the answer ---- */

static esp_status copy_tree(const struct espi_priced_tree *from, double share,
                            struct espi_arena *arena, struct espi_priced_tree *to,
                            struct esp_err *err)
{
    *to = (struct espi_priced_tree){share, from->n_links,
                                    ESPI_ARENA_NEW(arena, int, from->n_links + 1)};
    if (!to->links)
        return espi_err_nomem(err);
    memcpy(to->links, from->links, (size_t)from->n_links * sizeof *to->links);
    return ESP_OK;
}

static esp_status write_value(struct question *q, const struct espi_priced_value *value)
{
    struct espi_priced *out = &q->answer;
    out->usd_bytes = value->usd_bytes;
    out->usd_machines = value->usd_machines;
    out->time_s = value->time_s;
    out->objective = value->objective;
    espi_priced_machines_at(&q->m, out->usage, out->time_s, out->machines);
    return ESP_OK;
}

/* The trees (tree NULL: all of the pool) that have a share. */
static esp_status write_trees(struct question *q, const struct espi_priced_pool *pool,
                              const int *tree, const double *share, int n,
                              struct esp_err *err)
{
    struct espi_arena *arena = q->instance->arena;
    struct espi_priced *out = &q->answer;
    out->n_trees = 0;
    out->trees = ESPI_ARENA_NEW(arena, struct espi_priced_tree, n + 1);
    out->machines = ESPI_ARENA_ZNEW(arena, int, q->m.net.g.n);
    out->usage = ESPI_ARENA_ZNEW(arena, double, q->m.net.g.m + 1);
    if (!out->trees || !out->machines || !out->usage)
        return espi_err_nomem(err);
    for (int i = 0; i < n; i++) {
        const struct espi_priced_tree *from = &pool->trees[tree ? tree[i] : i];
        if (!(share[i] > 0))
            continue;
        esp_status st =
            copy_tree(from, share[i], arena, &out->trees[out->n_trees++], err);
        if (st)
            return st;
        for (int k = 0; k < from->n_links; k++)
            out->usage[from->links[k]] += share[i];
    }
    return ESP_OK;
}

/* Its price is that of the stock, to the last digit. */
static esp_status write_offer(struct question *q, int at, struct esp_err *err)
{
    const struct espi_priced_stock *stock = &q->instance->stock;
    const struct espi_priced_offer *offer = &stock->offers[at];
    const struct espi_priced_plan *plan = &stock->plans[offer->plan];
    struct espi_priced_value value = {
        offer->usd_bytes, offer->usd_machines, offer->time_s,
        espi_priced_objective(q->m.task, offer->usd_bytes + offer->usd_machines,
                              offer->time_s),
        0};
    esp_status st = write_trees(q, &stock->pool, plan->tree, plan->share, plan->n, err);
    return st ? st : write_value(q, &value);
}

static esp_status write_mix(struct question *q, struct esp_err *err)
{
    esp_status st = write_trees(q, &q->pool, NULL, q->best.share, q->best.n, err);
    return st ? st : write_value(q, &q->best.value);
}

/* ---- the bound ---- */

/* Whole partitions: branch and cut, which may find a better plan than the best. */
static esp_status prove(struct question *q, struct esp_err *err)
{
    struct espi_priced_proof proof = {.effort = ESPI_PRICED_EFFORT,
                                      .good_enough = -INFINITY};
    if (!q->m.task->partitions || isfinite(q->m.task->budget_usd) ||
        q->best.value.objective <= q->answer.bound * (1 + ESPI_PRICED_OPTIMAL))
        return ESP_OK;
    esp_status st = espi_priced_branch(&q->m, &q->bound, &q->pool, &q->best, &proof, err);
    if (st)
        return st;
    q->answer.nodes = proof.nodes;
    q->answer.bound = fmax(q->answer.bound, proof.bound);
    return ESP_OK;
}

/* Partitions of any size: where the plan is far from its bound, that is looked for to its
 * end. */
static esp_status bound_longer(struct question *q, struct esp_err *err)
{
    struct espi_priced *answer = &q->answer;
    if (q->m.task->partitions ||
        answer->objective <= answer->bound * (1 + ESPI_PRICED_GOAL))
        return ESP_OK;
    esp_status st =
        espi_priced_bound(&q->m, ESPI_PRICED_ROUNDS, q->instance->arena, &q->bound, err);
    if (!st && q->bound.feasible)
        answer->bound = fmax(answer->bound, q->bound.objective);
    answer->rounds += q->bound.rounds;
    answer->cuts = q->bound.cuts;
    return st;
}

/* ---- questions ---- */

static int is_free(const struct espi_priced_task *task)
{
    return !isfinite(task->deadline_s) && !isfinite(task->budget_usd);
}

/* Whatever it takes and costs: what is in stock is the best, or the search for the best
 * goes on. Within limits it does not: what it would find by chance, it might not find
 * within wider ones. */
static esp_status search_on(struct question *q, struct esp_err *err)
{
    const struct espi_priced_task *task = q->m.task;
    double before = q->answer.objective;
    int free_of = is_free(task) && task->usd_weight > 0;
    esp_status st = ESP_OK;
    if (free_of && before > q->answer.bound * (1 + ESPI_PRICED_OPTIMAL))
        st = espi_priced_mix(&q->m, &q->bound, &q->pool, 0, q->instance->arena, &q->best,
                             err);
    if (!st)
        st = prove(q, err);
    if (!st && free_of && q->best.value.objective < before)
        st = write_mix(q, err);
    q->answer.columns = q->pool.n_trees;
    return st;
}

static esp_status answer_from(struct question *q, int offer, struct esp_err *err)
{
    const struct espi_priced_stock *stock = &q->instance->stock;
    esp_status st = write_offer(q, offer, err);
    if (st)
        return st;
    if (stock->all) {
        q->answer.bound = fmax(q->answer.bound, q->answer.objective);
        return ESP_OK;
    }
    if (!(q->m.task->usd_weight > 0)) {
        q->answer.bound = fmax(q->answer.bound, stock->fastest_bound);
        return ESP_OK;
    }
    st = espi_priced_pool_init(&q->pool, &q->m, q->instance->arena, err);
    if (!st && espi_priced_stock_take(stock, offer, &q->m, &q->pool, &q->best))
        st = espi_err_nomem(err);
    if (!st)
        st = search_on(q, err);
    if (!st)
        st = bound_longer(q, err);
    espi_free(q->best.share);
    espi_priced_pool_done(&q->pool);
    return st;
}

static int bound_patience(const struct espi_priced_task *task)
{
    return task->partitions && isfinite(task->deadline_s) ? ESPI_PRICED_WHOLE_FLAT
                                                          : ESPI_PRICED_FLAT;
}

static esp_status bound_task(struct question *q, struct esp_err *err)
{
    const struct espi_priced_task *task = q->m.task;
    esp_status st = espi_priced_bound(&q->m, bound_patience(task), q->instance->arena,
                                      &q->bound, err);
    if (st)
        return st;
    if (!q->bound.feasible)
        return espi_priced_refuse(q->instance, task, q->bound.fastest_s, err);
    q->answer.bound = q->bound.objective;
    q->answer.fastest_s = q->bound.fastest_s;
    q->answer.rounds = q->bound.rounds;
    q->answer.cuts = q->bound.cuts;
    return ESP_OK;
}

static esp_status answer_best(struct question *q, struct esp_err *err)
{
    int offer = espi_priced_stock_best(&q->instance->stock, q->m.task);
    q->best =
        (struct espi_priced_mix){.value = {.objective = INFINITY, .excess = INFINITY}};
    return offer < 0 ? espi_priced_refuse(q->instance, q->m.task, q->bound.fastest_s, err)
                     : answer_from(q, offer, err);
}

/* The cheapest of all, with what is found on the way in stock. */
static esp_status find_cheapest(struct question *q, struct esp_err *err)
{
    struct espi_priced_instance *is = q->instance;
    q->m.stock = &is->stock;
    esp_status st = answer_best(q, err);
    int offer = st ? -1 : espi_priced_stock_best(&is->stock, &is->task);
    if (offer >= 0)
        st = write_offer(q, offer, err);
    is->stock.floor_usd = q->answer.objective;
    is->cheapest = q->answer;
    return st;
}

static esp_status fill_foot(struct espi_priced_instance *is, struct esp_err *err)
{
    struct question q = {.instance = is, .m = is->m};
    q.m.task = &is->task;
    esp_status st = bound_task(&q, err);
    is->bound = q.bound;
    if (!st)
        st = espi_priced_fill_cheapest(&is->m, &is->bound, &is->stock, is->arena, err);
    if (!st)
        st = find_cheapest(&q, err);
    if (!st)
        is->filled = ESPI_PRICED_FOOT;
    return st;
}

static esp_status fill(struct espi_priced_instance *is, enum espi_priced_filled how,
                       struct esp_err *err)
{
    esp_status st = is->filled < ESPI_PRICED_FOOT ? fill_foot(is, err) : ESP_OK;
    if (st || is->filled >= how)
        return st;
    st = espi_priced_fill_others(&is->m, &is->bound, &is->stock, is->arena, err);
    if (!st)
        is->filled = ESPI_PRICED_FULL;
    return st;
}

/* By price, whatever it takes. */
static int asks_for_cheapest(const struct espi_priced_task *task)
{
    return is_free(task) && task->usd_weight == 1 && !(task->s_weight > 0);
}

static esp_status answer_task(struct espi_priced_instance *instance,
                              const struct espi_priced_task *task,
                              struct espi_priced *out, struct esp_err *err)
{
    struct question q = {.instance = instance, .m = instance->m};
    q.m.task = task;
    if (asks_for_cheapest(task)) {
        esp_status st = fill(instance, ESPI_PRICED_FOOT, err);
        *out = instance->cheapest;
        return st;
    }
    esp_status st = bound_task(&q, err);
    if (!st)
        st = fill(instance, ESPI_PRICED_FULL, err);
    if (!st)
        st = answer_best(&q, err);
    if (!st)
        *out = q.answer;
    return st;
}

/* ---- the fastest within a budget ---- */

#define DEARER (4 * ESPI_PRICED_OPTIMAL) /* rounding: than a budget that is met */

/* 1: all plans within the deadline are proven to cost more than the budget. */
static esp_status rule_out(struct question *q, double budget_usd, int *ruled_out,
                           struct esp_err *err)
{
    struct espi_priced_proof proof = {.effort = ESPI_PRICED_EFFORT_NEAR,
                                      .good_enough = budget_usd};
    struct espi_priced_mix *best = &q->best;
    esp_status st = espi_priced_pool_init(&q->pool, &q->m, q->instance->arena, err);
    best->value.objective = budget_usd * (1 + DEARER);
    best->n = 1; /* none, but dearer ones are of no use */
    if (!st)
        st = espi_priced_branch(&q->m, &q->bound, &q->pool, best, &proof, err);
    *ruled_out = !st && proof.bound > budget_usd * (1 + DEARER / 2);
    espi_free(best->share);
    espi_priced_pool_done(&q->pool);
    return st;
}

static esp_status rule_out_within(struct espi_priced_instance *instance,
                                  const struct espi_priced_task *task, double deadline_s,
                                  int *ruled_out, struct esp_err *err)
{
    struct espi_priced_task cheap = *task;
    struct question q = {.instance = instance, .m = instance->m};
    q.m.task = &cheap;
    cheap.usd_weight = 1;
    cheap.s_weight = 0;
    cheap.budget_usd = INFINITY;
    cheap.deadline_s = deadline_s;
    esp_status st =
        espi_priced_bound(&q.m, bound_patience(&cheap), instance->arena, &q.bound, err);
    *ruled_out = !st && !q.bound.feasible;
    return st || *ruled_out ? st : rule_out(&q, task->budget_usd, ruled_out, err);
}

/* Between the bound of the time and the time of the plan: deadlines within which no plan
 * is within the budget raise the bound. */
static esp_status tighten(struct espi_priced_instance *instance,
                          const struct espi_priced_task *task, struct espi_priced *best,
                          struct esp_err *err)
{
    esp_status st = ESP_OK;
    double low_s = fmax(best->bound, instance->stock.fastest_bound);
    double high_s = best->time_s * (1 - DEARER);
    for (int i = 0; task->partitions && i < ESPI_PRICED_HALVINGS && !st; i++) {
        int ruled_out;
        if (high_s <= low_s * (1 + ESPI_PRICED_NEAR))
            break;
        double deadline_s = i ? sqrt(low_s * high_s) : high_s;
        st = rule_out_within(instance, task, deadline_s, &ruled_out, err);
        if (ruled_out)
            low_s = deadline_s;
        else
            high_s = deadline_s;
    }
    best->bound = low_s;
    return st;
}

/* ---- the whole ---- */

esp_status espi_priced_instance_init(struct espi_priced_instance *instance,
                                     const struct espi_priced_task *task,
                                     struct espi_arena *arena, struct esp_err *err)
{
    *instance = (struct espi_priced_instance){.task = *task, .arena = arena};
    instance->task.usd_weight = 1;
    instance->task.s_weight = 0;
    instance->task.deadline_s = instance->task.budget_usd = INFINITY;
    if (task->p->n_hosts > HOSTS_MAX)
        return espi_err(err, ESP_EUNSUPPORTED, "plans by price are for up to %d hosts",
                        HOSTS_MAX);
    if (task->partitions < 0 || task->partitions > ESPI_PARTITIONS_MAX)
        return espi_err(err, ESP_EUSAGE, "there are 0 (of any size) to %d partitions",
                        ESPI_PARTITIONS_MAX);
    esp_status st = espi_priced_model_init(&instance->m, &instance->task, arena, err);
    return st ? st : espi_priced_stock_init(&instance->stock, &instance->m, arena, err);
}

void espi_priced_instance_done(struct espi_priced_instance *instance)
{
    espi_priced_stock_done(&instance->stock);
}

esp_status espi_priced_answer(struct espi_priced_instance *instance,
                              const struct espi_priced_task *task,
                              struct espi_priced *out, struct esp_err *err)
{
    struct espi_priced answer;
    esp_status st = answer_task(instance, task, &answer, err);
    if (!st && isfinite(task->budget_usd) && !(task->usd_weight > 0))
        st = tighten(instance, task, &answer, err);
    if (st)
        return st;
    answer.optimal = answer.objective <= answer.bound * (1 + ESPI_PRICED_OPTIMAL);
    *out = answer;
    return ESP_OK;
}

esp_status espi_priced_solve(const struct espi_priced_task *task,
                             struct espi_arena *arena, struct espi_priced *out,
                             struct esp_err *err)
{
    struct espi_priced_instance instance;
    esp_status st = espi_priced_instance_init(&instance, task, arena, err);
    if (!st)
        st = espi_priced_answer(&instance, task, out, err);
    espi_priced_instance_done(&instance);
    return st;
}
