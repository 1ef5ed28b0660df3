#include "solve/priced/multicast.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/units.h"
#include "platform/platform.h"
#include "solve/priced/branch.h"
#include "solve/priced/mix.h"
#include "solve/priced/recreate.h"
#include "solve/priced/small.h"
#include "solve/priced/tuning.h"

enum { HOSTS_MAX = 1000 }; /* limit: a program has a column for each pair of hosts */

/* ---- where nothing fits ---- */

static esp_status least_usd(const struct espi_priced_task *task, double *usd,
                            struct esp_err *err)
{
    struct espi_priced_task cheap = *task;
    struct espi_arena arena;
    struct espi_priced_model m;
    struct espi_priced_bound bound = {0};
    cheap.usd_weight = 1;
    cheap.s_weight = 0;
    cheap.budget_usd = INFINITY;
    espi_arena_init(&arena);
    esp_status st = espi_priced_model_init(&m, &cheap, &arena, err);
    if (!st)
        st = espi_priced_bound(&m, ESPI_PRICED_FLAT, &arena, &bound, err);
    *usd = bound.objective;
    espi_arena_done(&arena);
    return st;
}

/* Names what would do. */
static esp_status no_plan(const struct espi_priced_task *task, double fastest_s,
                          struct esp_err *err)
{
    char asked[32], fastest[32];
    double usd = 0;
    if (task->deadline_s < fastest_s)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "no plan meets a deadline of %s: the fastest takes %s or more. "
                        "Allow more time, or more machines (max_count)",
                        espi_format_time(asked, sizeof asked, task->deadline_s),
                        espi_format_time(fastest, sizeof fastest, fastest_s));
    esp_status st = least_usd(task, &usd, err);
    if (st)
        return st;
    return espi_err(err, ESP_EUNSUPPORTED,
                    "no plan%s costs %.4g USD or less: the cheapest costs %.4g USD or "
                    "more. Raise the budget%s",
                    isfinite(task->deadline_s) ? " that meets the deadline" : "",
                    task->budget_usd, usd,
                    isfinite(task->deadline_s) ? ", or allow more time" : "");
}

/* All that meet the deadline were ruled out. */
static esp_status no_parts(const struct espi_priced_task *task, double fastest_s,
                           struct esp_err *err)
{
    char asked[32], fastest[32];
    return espi_err(
        err, ESP_EUNSUPPORTED,
        "no plan of %d partitions meets a deadline of %s (of partitions of any "
        "size, the fastest takes %s or more). Allow more time, more machines "
        "(max_count), or more partitions",
        task->partitions, espi_format_time(asked, sizeof asked, task->deadline_s),
        espi_format_time(fastest, sizeof fastest, fastest_s));
}

static esp_status not_found(const struct espi_priced_task *task,
                            const struct espi_priced_value *value, struct esp_err *err)
{
    char nearest[32];
    return espi_err(err, ESP_EUNSUPPORTED,
                    "no plan of %d partitions was found within deadline and budget, "
                    "though the bound does not rule one out: the nearest takes %s and "
                    "costs %.4g USD. Allow more, or partitions of any size (0)",
                    task->partitions,
                    espi_format_time(nearest, sizeof nearest, value->time_s),
                    value->usd_bytes + value->usd_machines);
}

/* ---- first trees ---- */

/* Cheap, fast, and near the bound: each takes the whole message, for a start. */
static esp_status offer_first(struct espi_priced_model *m,
                              const struct espi_priced_bound *bound,
                              struct espi_priced_pool *pool, struct espi_arena *arena,
                              struct espi_priced_mix *best, struct esp_err *err)
{
    double *price = ESPI_ARENA_NEW(arena, double, m->net.g.m + 1);
    double sum;
    if (!price)
        return espi_err_nomem(err);
    for (int kind = 0; kind < 4; kind++) {
        for (int e = 0; e < m->net.g.m; e++) {
            double y = bound->y[e] < 1 ? bound->y[e] : 1;
            price[e] = kind == 0   ? bound->price[e]
                       : kind == 1 ? bound->price[e] * (1 - y)
                       : kind == 2 ? m->link_usd[e]
                                   : m->link_s[e];
        }
        int tree = espi_priced_pool_find(pool, price, &sum);
        if (tree == -2)
            return espi_err(err, ESP_EINPUT, "some targets cannot be reached");
        double *share =
            tree < 0 ? NULL : ESPI_ARENA_ZNEW(arena, double, (size_t)pool->n_trees);
        if (!share)
            return espi_err_nomem(err);
        share[tree] = 1;
        if (espi_priced_mix_offer(m, pool, share, pool->n_trees, best) < 0)
            return espi_err_nomem(err);
    }
    return ESP_OK;
}

/* Plans that are known already. */
static esp_status offer_known(struct espi_priced_model *m, struct espi_priced_pool *pool,
                              struct espi_arena *arena, struct espi_priced_mix *best,
                              const struct espi_priced *known, struct esp_err *err)
{
    const struct espi_digraph *g = &m->net.g;
    int *arc = ESPI_ARENA_NEW(arena, int, g->n);
    double *share = ESPI_ARENA_ZNEW(arena, double, pool->n_trees + known->n_trees + 1);
    if (!arc || !share)
        return espi_err_nomem(err);
    for (int t = 0; t < known->n_trees; t++) {
        const struct espi_priced_tree *tree = &known->trees[t];
        memset(arc, 0xff, (size_t)g->n * sizeof *arc);
        for (int i = 0; i < tree->n_links; i++)
            arc[g->head[tree->links[i]]] = tree->links[i];
        int kept = espi_priced_pool_keep(pool, arc);
        if (kept < 0)
            return espi_err_nomem(err);
        share[kept] += tree->share;
    }
    return known->n_trees &&
                   espi_priced_mix_offer(m, pool, share, pool->n_trees, best) < 0
               ? espi_err_nomem(err)
               : ESP_OK;
}

/* Where the cheap plans that were found are too late: any plan within the deadline, from
 * which the search goes on to cheaper ones; or the proof that there is none. */
static esp_status offer_fast(struct espi_priced_model *m, struct espi_priced_pool *pool,
                             struct espi_arena *arena, struct espi_priced_mix *best,
                             double *least, struct esp_err *err)
{
    struct espi_priced_task task = *m->task;
    struct espi_priced_model fast;
    struct espi_priced_bound bound = {0};
    struct espi_priced_mix mix = {.value = {.objective = INFINITY, .excess = INFINITY}};
    struct espi_priced_proof proof = {
        .good_enough = task.deadline_s * (1 + ESPI_PRICED_OPTIMAL),
        .effort = ESPI_PRICED_EFFORT * ESPI_PRICED_FIRST_PART};
    task.usd_weight = 0;
    task.s_weight = 1;
    esp_status st = espi_priced_model_init(&fast, &task, arena, err);
    if (!st)
        st = espi_priced_bound(&fast, ESPI_PRICED_FLAT, arena, &bound, err);
    if (!st)
        st = espi_priced_mix(&fast, &bound, pool, arena, &mix, err);
    if (!st && !isfinite(mix.value.objective))
        st = espi_priced_branch(&fast, &bound, pool, &mix, &proof, err);
    if (!st && mix.n && espi_priced_mix_offer(m, pool, mix.share, mix.n, best) < 0)
        st = espi_err_nomem(err);
    if (!st && !isfinite(proof.bound))
        *least = INFINITY;
    espi_free(mix.share);
    return st;
}

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

static esp_status write_answer(struct espi_priced_model *m,
                               const struct espi_priced_pool *pool,
                               const struct espi_priced_mix *best,
                               struct espi_arena *arena, struct espi_priced *out,
                               struct esp_err *err)
{
    out->trees = ESPI_ARENA_NEW(arena, struct espi_priced_tree, best->n + 1);
    out->machines = ESPI_ARENA_ZNEW(arena, int, m->net.g.n);
    out->usage = ESPI_ARENA_ZNEW(arena, double, m->net.g.m + 1);
    if (!out->trees || !out->machines || !out->usage)
        return espi_err_nomem(err);
    for (int t = 0; t < best->n; t++) {
        if (!(best->share[t] > 0))
            continue;
        esp_status st = copy_tree(&pool->trees[t], best->share[t], arena,
                                  &out->trees[out->n_trees++], err);
        if (st)
            return st;
        for (int i = 0; i < pool->trees[t].n_links; i++)
            out->usage[pool->trees[t].links[i]] += best->share[t];
    }
    struct espi_priced_value value = espi_priced_evaluate(m, out->usage, out->machines);
    out->usd_bytes = value.usd_bytes;
    out->usd_machines = value.usd_machines;
    out->time_s = value.time_s;
    out->objective = value.objective;
    return ESP_OK;
}

/* Whole partitions: branch and cut, unless the plan is the best already. */
static esp_status prove(struct espi_priced_model *m,
                        const struct espi_priced_bound *bound,
                        struct espi_priced_pool *pool, struct espi_priced_mix *best,
                        struct espi_priced *out, struct esp_err *err)
{
    struct espi_priced_proof proof = {.effort = ESPI_PRICED_EFFORT,
                                      .good_enough = -INFINITY};
    if (!m->task->partitions || isfinite(m->task->budget_usd) ||
        best->value.objective <= out->bound * (1 + ESPI_PRICED_OPTIMAL))
        return ESP_OK;
    esp_status st = espi_priced_branch(m, bound, pool, best, &proof, err);
    if (st)
        return st;
    out->nodes = proof.nodes;
    out->bound = fmax(out->bound, proof.bound);
    return ESP_OK;
}

/* Within the deadline in whole partitions, but much dearer than the bound. */
static int is_far(const struct espi_priced_model *m, const struct espi_priced_mix *best,
                  double bound)
{
    return m->task->partitions && isfinite(m->task->deadline_s) &&
           isfinite(best->value.objective) &&
           best->value.objective > bound * (1 + ESPI_PRICED_GOAL);
}

static esp_status find_plan(struct espi_priced_model *m,
                            const struct espi_priced_bound *bound,
                            struct espi_arena *arena, struct espi_priced *out,
                            struct esp_err *err)
{
    struct espi_priced_pool pool;
    struct espi_priced_mix best = {.value = {.objective = INFINITY, .excess = INFINITY}};
    esp_status st = espi_priced_pool_init(&pool, m, arena, err);
    if (!st)
        st = offer_first(m, bound, &pool, arena, &best, err);
    for (int i = 0; i < m->task->n_known && !st; i++)
        st = offer_known(m, &pool, arena, &best, m->task->known[i], err);
    if (!st)
        st = espi_priced_mix(m, bound, &pool, arena, &best, err);
    int all = 0;
    if (!st && m->task->partitions && isfinite(m->task->deadline_s) &&
        !isfinite(m->task->budget_usd) && !isfinite(best.value.objective)) {
        st = offer_fast(m, &pool, arena, &best, &out->bound, err);
        if (!st && isfinite(best.value.objective))
            st = espi_priced_mix(m, bound, &pool, arena, &best, err);
    }
    if (!st && is_far(m, &best, out->bound))
        st = espi_priced_recreate(m, &pool, arena, &best, err);
    if (!st)
        st = espi_priced_try_all(m, &pool, arena, &best, &all, err);
    if (!st && !all && isfinite(out->bound))
        st = prove(m, bound, &pool, &best, out, err);
    if (!st && !isfinite(best.value.objective))
        st = isfinite(out->bound) ? not_found(m->task, &best.value, err)
                                  : no_parts(m->task, out->fastest_s, err);
    if (!st)
        st = write_answer(m, &pool, &best, arena, out, err);
    if (!st && all && out->objective > out->bound)
        out->bound = out->objective;
    out->columns = pool.n_trees;
    espi_free(best.share);
    espi_priced_pool_done(&pool);
    return st;
}

/* A plan that is far from its bound: the bound is looked for to its end, and a plan at
 * the prices that come of it. */
static esp_status look_longer(struct espi_priced_model *m, struct espi_arena *arena,
                              struct espi_priced *answer, struct esp_err *err)
{
    struct espi_priced_bound bound = {0};
    struct espi_priced again = {0};
    esp_status st = espi_priced_bound(m, ESPI_PRICED_ROUNDS, arena, &bound, err);
    if (st || !bound.feasible)
        return st;
    if (bound.objective > answer->bound)
        answer->bound = bound.objective;
    answer->rounds += bound.rounds;
    answer->cuts = bound.cuts;
    again = *answer;
    again.n_trees = 0;
    if (find_plan(m, &bound, arena, &again, NULL) == ESP_OK &&
        again.objective < answer->objective)
        *answer = again;
    return ESP_OK;
}

/* In whole partitions the search within a deadline goes on with the bound by itself, in
 * programs that are smaller. */
static int rounds_of(const struct espi_priced_task *task)
{
    return task->partitions && isfinite(task->deadline_s) ? ESPI_PRICED_WHOLE_FLAT
                                                          : ESPI_PRICED_FLAT;
}

static esp_status solve_once(const struct espi_priced_task *task,
                             struct espi_arena *arena, struct espi_priced *out,
                             struct esp_err *err)
{
    struct espi_priced_model m;
    struct espi_priced_bound bound = {0};
    struct espi_priced answer = {0};
    if (task->p->n_hosts > HOSTS_MAX)
        return espi_err(err, ESP_EUNSUPPORTED, "plans by price are for up to %d hosts",
                        HOSTS_MAX);
    if (task->partitions < 0 || task->partitions > ESPI_PARTITIONS_MAX)
        return espi_err(err, ESP_EUSAGE, "there are 0 (of any size) to %d partitions",
                        ESPI_PARTITIONS_MAX);
    esp_status st = espi_priced_model_init(&m, task, arena, err);
    if (!st)
        st = espi_priced_bound(&m, rounds_of(task), arena, &bound, err);
    if (st)
        return st;
    if (!bound.feasible)
        return no_plan(task, bound.fastest_s, err);
    answer.bound = fmax(bound.objective, task->known_bound);
    answer.fastest_s = bound.fastest_s;
    answer.rounds = bound.rounds;
    answer.cuts = bound.cuts;
    st = find_plan(&m, &bound, arena, &answer, err);
    if (!st && !task->partitions &&
        answer.objective > answer.bound * (1 + ESPI_PRICED_GOAL))
        st = look_longer(&m, arena, &answer, err);
    if (st)
        return st;
    answer.optimal = answer.objective <= answer.bound * (1 + ESPI_PRICED_OPTIMAL);
    *out = answer;
    return ESP_OK;
}

/* ---- the fastest within a budget ---- */

/* Between a time that no plan beats and one that a plan has: the cheapest plan within a
 * deadline half-way is within the budget, or no plan is, or neither is known. */
static esp_status try_deadline(const struct espi_priced_task *task, double deadline_s,
                               struct espi_arena *arena, struct espi_priced *best,
                               double *low_s, struct esp_err *err)
{
    struct espi_priced_task cheap = *task;
    struct espi_priced is;
    cheap.usd_weight = 1;
    cheap.s_weight = 0;
    cheap.budget_usd = INFINITY;
    cheap.deadline_s = deadline_s;
    cheap.known_bound = 0; /* of the time */
    esp_status st = solve_once(&cheap, arena, &is, err);
    if (st == ESP_EUNSUPPORTED) {
        *low_s = deadline_s;
        return ESP_OK;
    }
    if (st)
        return st;
    if (is.bound > task->budget_usd && deadline_s > best->bound)
        best->bound = deadline_s;
    if (is.usd_bytes + is.usd_machines > task->budget_usd || is.time_s >= best->time_s) {
        *low_s = deadline_s;
        return ESP_OK;
    }
    is.bound = best->bound;
    is.objective = is.time_s;
    *best = is;
    return ESP_OK;
}

static esp_status tighten(const struct espi_priced_task *task, struct espi_arena *arena,
                          struct espi_priced *best, struct esp_err *err)
{
    double low_s = best->bound;
    esp_status st = ESP_OK;
    for (int i = 0; i < ESPI_PRICED_HALVINGS && !st; i++) {
        if (best->time_s <= low_s * (1 + ESPI_PRICED_NEAR))
            break;
        st = try_deadline(task, i ? sqrt(low_s * best->time_s) : low_s, arena, best,
                          &low_s, err);
    }
    best->optimal = best->objective <= best->bound * (1 + ESPI_PRICED_OPTIMAL);
    return st;
}

esp_status espi_priced_solve(const struct espi_priced_task *task,
                             struct espi_arena *arena, struct espi_priced *out,
                             struct esp_err *err)
{
    struct espi_priced answer;
    esp_status st = solve_once(task, arena, &answer, err);
    if (!st && isfinite(task->budget_usd) && !(task->usd_weight > 0))
        st = tighten(task, arena, &answer, err);
    if (!st)
        *out = answer;
    return st;
}
