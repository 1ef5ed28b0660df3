#include "algo/many_trees/packing_memo.h"

#include <math.h>
#include <string.h>

#include "base/err.h"

/* rounding: of a product and a quotient. */
#define ALIKE 1e-14

int espi_loads_alike(const struct espi_view *v, double slice_bytes,
                     struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct espi_resources r;
    double factor = slice_bytes / v->slice_bytes;
    int alike = slice_bytes == v->slice_bytes;
    if (!alike && !espi_resources_init(&r, v->p, slice_bytes, arena)) {
        alike = 1;
        for (int k = 0; k < r.start[v->p->n_links] && alike; k++)
            alike =
                fabs(r.time_s[k] - factor * v->links.time_s[k]) <= ALIKE * r.time_s[k];
    }
    espi_arena_release(arena, mark);
    return alike;
}

static void *copy(struct espi_arena *a, const void *from, size_t count, size_t size)
{
    void *to = espi_arena_alloc(a, count, size);
    if (to && count > 0)
        memcpy(to, from, count * size);
    return to;
}

/* Everything but who has which root: here all have the same. */
static int copy_packing(const struct espi_packing *from, int n_resources,
                        struct espi_arena *a, struct espi_packing *out)
{
    size_t n = (size_t)from->n_hosts;
    *out = *from;
    out->tree = copy(a, from->tree, (size_t)from->n_trees, sizeof *out->tree);
    out->price = copy(a, from->price, (size_t)n_resources, sizeof *out->price);
    if (!out->tree || !out->price)
        return -1;
    for (int t = 0; t < from->n_trees; t++) {
        const struct espi_packing_tree *tree = &from->tree[t];
        out->tree[t].hop_start = copy(a, tree->hop_start, n + 1, sizeof(int));
        out->tree[t].hops =
            copy(a, tree->hops, (size_t)tree->hop_start[n], sizeof *tree->hops);
        if (!out->tree[t].hop_start || !out->tree[t].hops)
            return -1;
    }
    return 0;
}

/* Keeps the packing for the next algorithm. */
static int remember_packing(const struct espi_task *task,
                            const struct espi_packing *packing)
{
    struct espi_algo_memo *memo = task->memo;
    espi_arena_done(&memo->packed.arena);
    memo->packed.packing.n_hosts = 0;
    memo->packed.slice_bytes = task->view->slice_bytes;
    memo->packed.work_limit = task->work_limit;
    if (!copy_packing(packing, task->view->links.n, &memo->packed.arena,
                      &memo->packed.packing))
        return 0;
    memo->packed.packing.n_hosts = 0;
    return -1;
}

/* Is the packing kept that the task needs, perhaps in slices of another size? */
static int is_kept(const struct espi_task *task)
{
    const struct espi_algo_memo *memo = task->memo;
    /* one with more work is better */
    int worked = memo->packed.work_limit == task->work_limit ||
                 (task->work_limit > 0 && memo->packed.work_limit > task->work_limit);
    return memo->packed.packing.n_hosts == task->view->g.n && worked &&
           espi_loads_alike(task->view, memo->packed.slice_bytes, task->arena);
}

static int recall_packing(const struct espi_task *task, struct espi_packing *out)
{
    const struct espi_view *v = task->view;
    double factor = task->memo->packed.slice_bytes / v->slice_bytes;
    if (copy_packing(&task->memo->packed.packing, v->links.n, task->arena, out))
        return -1;
    out->rate *= factor;
    out->bound *= factor;
    for (int t = 0; t < out->n_trees; t++)
        out->tree[t].rate *= factor;
    return 0;
}

esp_status espi_task_packing(const struct espi_task *task, double time_limit_s,
                             struct espi_packing *out, struct esp_err *err)
{
    const struct espi_view *v = task->view;
    const struct espi_algo_memo *memo = time_limit_s > 0 ? NULL : task->memo;
    struct espi_packing_options options = {.time_limit_s = time_limit_s,
                                           .work_limit = task->work_limit};
    struct espi_packing packing;
    if (memo && is_kept(task))
        return recall_packing(task, out) ? espi_err_nomem(err) : ESP_OK;
    esp_status st =
        espi_packing_solve(v, task->root, &options, task->arena, &packing, err);
    if (st)
        return st;
    if (memo && remember_packing(task, &packing))
        return espi_err_nomem(err);
    *out = packing;
    return ESP_OK;
}
