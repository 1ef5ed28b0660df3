#include "algo/pipelined/lp_shares.h"

#include <math.h>
#include <string.h>

#include "algo/many_trees/packing_memo.h"
#include "algo/tuning.h"
#include "base/alloc.h"
#include "base/err.h"
#include "solve/arcs.h"
#include "solve/packing.h"

/* The packing of trees gives the period and a point to start from. */
static esp_status warm_up(const struct espi_task *task, struct espi_arcs_task *arcs,
                          struct esp_plan *plan, struct esp_err *err)
{
    const struct espi_view *v = task->view;
    struct espi_packing packing;
    double *inner = ESPI_ARENA_ZNEW(task->arena, double, v->g.m);
    double *load = ESPI_ARENA_ZNEW(task->arena, double, v->links.n);
    if (!inner || !load)
        return espi_err_nomem(err);
    esp_status st = espi_task_packing(task, 0, &packing, err);
    if (st)
        return st;
    plan->bound_Bps = packing.bound * v->slice_bytes;
    arcs->unit_s = 1 / packing.rate;
    if (v->g.n < v->p->n_nodes)
        return ESP_OK; /* its trees go over paths, not over arcs of the view */
    for (int t = 0; t < packing.n_trees; t++) {
        const struct espi_packing_tree *tree = &packing.tree[t];
        for (int k = 0; k < v->g.n - 1; k++) {
            double share = tree->rate / packing.rate;
            inner[tree->hops[k]] += share;
            espi_load_arc(v, tree->hops[k], share, load);
        }
    }
    arcs->inner = inner;
    arcs->load = load;
    return ESP_OK;
}

/* The shares are a guide only. The last of many cuts takes seconds on a thousand hosts
 * and the trees are as good without it, so that there the number of passes is small; in a
 * contest, where the trees are two of many, it is the smaller the more arcs there are, of
 * which each pass looks at all. */
static int passes_for(const struct espi_task *task)
{
    int most = task->view->g.n > ESPI_SHARES_HOSTS ? ESPI_SHARES_PASSES_LARGE
                                                   : ESPI_SHARES_PASSES;
    int fair = ESPI_SHARES_ARCS / task->view->g.m;
    if (!task->memo || fair > most)
        return most;
    return fair > ESPI_SHARES_PASSES_LEAST ? fair : ESPI_SHARES_PASSES_LEAST;
}

/* What was found for the same view before; NULL: nothing. */
static long *recall_shares(const struct espi_task *task, struct esp_plan *plan)
{
    const struct espi_algo_memo *memo = task->memo;
    if (!memo || memo->shares.n != task->view->g.m ||
        !espi_loads_alike(task->view, memo->shares.slice_bytes, task->arena))
        return NULL;
    plan->bound_Bps = memo->shares.bound_Bps;
    return memo->shares.share;
}

/* Keeps the shares for the next algorithm, if there is memory for them. */
static void remember_shares(const struct espi_task *task, const struct esp_plan *plan,
                            const long *share)
{
    struct espi_algo_memo *memo = task->memo;
    int m = task->view->g.m;
    long *copy = memo ? ESPI_NEW(long, m) : NULL;
    if (!copy)
        return;
    memcpy(copy, share, (size_t)m * sizeof *copy);
    espi_free(memo->shares.share);
    memo->shares.slice_bytes = task->view->slice_bytes;
    memo->shares.n = m;
    memo->shares.share = copy;
    memo->shares.bound_Bps = plan->bound_Bps;
}

static esp_status find_shares(const struct espi_task *task, struct esp_plan *plan,
                              long *share, struct esp_err *err)
{
    const struct espi_view *v = task->view;
    struct espi_arcs arcs;
    struct espi_solve_budget budget = espi_solve_budget_of(0, 0);
    struct espi_arcs_task at = {.v = v,
                                .root = task->root,
                                .max_passes = passes_for(task),
                                .budget = &budget,
                                .least_time = 1};
    esp_status st = warm_up(task, &at, plan, err);
    if (!st)
        st = espi_arcs_solve(&at, task->arena, &arcs, err);
    for (int e = 0; e < v->g.m && !st; e++)
        share[e] = (long)floor(1e7 * arcs.y[e] + 0.5);
    return st;
}

long *espi_lp_shares(const struct espi_task *task, struct esp_plan *plan, esp_status *st,
                     struct esp_err *err)
{
    long *share = recall_shares(task, plan);
    *st = ESP_OK;
    if (share)
        return share;
    if (task->memo && task->view->g.m > ESPI_SHARES_CONTEST_ARCS) {
        *st = espi_err(err, ESP_EUNSUPPORTED, "more than %d arcs take too long here",
                       ESPI_SHARES_CONTEST_ARCS);
        return NULL;
    }
    share = ESPI_ARENA_NEW(task->arena, long, task->view->g.m);
    *st = share ? find_shares(task, plan, share, err) : espi_err_nomem(err);
    if (*st)
        return NULL;
    remember_shares(task, plan, share);
    return share;
}
