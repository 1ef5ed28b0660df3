#include "algo/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "plan/ops.h"

esp_status espi_exchange_init(struct espi_exchange *x, const struct espi_task *task,
                              struct esp_err *err)
{
    int n = task->view->g.n;
    *x = (struct espi_exchange){.task = task, .n = n};
    x->n_pieces = espi_op_has_pairs(task->request->op) ? n * n : n;
    x->piece_start = ESPI_ARENA_ZNEW(task->arena, int, 1);
    x->start_cap = 1;
    if (!x->piece_start)
        return espi_err_nomem(err);
    return espi_transfers_init(&x->routes, task, ESPI_ROUTE_DIRECT, err);
}

esp_status espi_exchange_send(struct espi_exchange *x, int step, int from, int to,
                              int n_pieces, const int *pieces, struct esp_err *err)
{
    struct espi_arena *a = x->task->arena;
    int at = x->routes.n, first = x->piece_start[at];
    size_t used = (size_t)at;
    if (n_pieces == 0)
        return ESP_OK;
    if (espi_arena_grow_ints(a, &x->step, used, 1, &x->step_cap) ||
        espi_arena_grow_ints(a, &x->piece_start, used + 1, 1, &x->start_cap) ||
        espi_arena_grow_ints(a, &x->pieces, (size_t)first, (size_t)n_pieces,
                             &x->piece_cap))
        return espi_err_nomem(err);
    x->step[at] = step;
    memcpy(x->pieces + first, pieces, (size_t)n_pieces * sizeof *pieces);
    x->piece_start[at + 1] = first + n_pieces;
    return espi_transfers_add(&x->routes, from, to, err);
}

/* Room for the tree at hand. */
struct tree {
    int n;
    int *start, *hops, *steps;
};

static int by_step(const void *a, const void *b, void *step)
{
    int x = *(const int *)a, y = *(const int *)b;
    const int *s = step;
    if (s[x] != s[y])
        return s[x] < s[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The messages of each host's part, in the order of steps, as rows. */
static int sort_messages(const struct espi_exchange *x, struct espi_rows *rows)
{
    struct espi_arena *a = x->task->arena;
    int m = x->routes.n, total = x->piece_start[m], at = 0;
    int *order = ESPI_ARENA_NEW(a, int, m);
    int *piece = ESPI_ARENA_NEW(a, int, total), *message = ESPI_ARENA_NEW(a, int, total);
    if (!order || !piece || !message)
        return -1;
    for (int i = 0; i < m; i++)
        order[i] = i;
    qsort_r(order, (size_t)m, sizeof *order, by_step, x->step);
    for (int i = 0; i < m; i++)
        for (int k = x->piece_start[order[i]]; k < x->piece_start[order[i] + 1]; k++) {
            piece[at] = x->pieces[k];
            message[at++] = order[i];
        }
    if (espi_rows_build(rows, x->n_pieces, total, piece, a))
        return -1;
    for (int k = 0; k < total; k++)
        rows->item[k] = message[rows->item[k]];
    return 0;
}

static void add_edge(const struct espi_exchange *x, struct tree *tree, int message)
{
    const struct espi_transfers *r = &x->routes;
    int first = r->start[message], count = r->start[message + 1] - first;
    memcpy(tree->hops + tree->start[tree->n], r->hops + first,
           (size_t)count * sizeof *r->hops);
    tree->steps[tree->n] = x->step[message];
    tree->start[tree->n + 1] = tree->start[tree->n] + count;
    tree->n++;
}

static esp_status add_tree(const struct espi_exchange *x, const struct espi_rows *rows,
                           int piece, struct tree *tree, struct esp_plan *plan,
                           struct esp_err *err)
{
    const struct espi_view *v = x->task->view;
    int pairs = x->n_pieces > x->n, from = pairs ? piece / x->n : piece,
        to = piece % x->n;
    double parts = pairs ? (double)x->n * (x->n - 1) : x->n;
    if (pairs && from == to)
        return ESP_OK;
    tree->n = 0;
    for (int k = rows->start[piece]; k < rows->start[piece + 1]; k++)
        add_edge(x, tree, rows->item[k]);
    esp_status st =
        esp_plan_add_tree(plan, v->p, 1 / parts, tree->n, tree->start, tree->hops, err);
    if (!st)
        st = esp_plan_set_tree_ends(plan, v->node[from], pairs,
                                    pairs ? &v->node[to] : NULL, err);
    return st ? st : esp_plan_set_tree_steps(plan, tree->steps, err);
}

esp_status espi_exchange_plan(const struct espi_exchange *x, struct esp_plan *plan,
                              struct esp_err *err)
{
    struct espi_arena *a = x->task->arena;
    struct espi_rows rows;
    struct tree tree = {0};
    if (sort_messages(x, &rows))
        return espi_err_nomem(err);
    size_t most = 0, hops = 0;
    for (int h = 0; h < x->n_pieces; h++) {
        size_t edges = (size_t)(rows.start[h + 1] - rows.start[h]), of_tree = 0;
        for (int k = rows.start[h]; k < rows.start[h + 1]; k++)
            of_tree += (size_t)(x->routes.start[rows.item[k] + 1] -
                                x->routes.start[rows.item[k]]);
        most = edges > most ? edges : most;
        hops = of_tree > hops ? of_tree : hops;
    }
    tree.start = ESPI_ARENA_ZNEW(a, int, most + 1);
    tree.steps = ESPI_ARENA_NEW(a, int, most + 1);
    tree.hops = ESPI_ARENA_NEW(a, int, hops + 1);
    if (!tree.start || !tree.steps || !tree.hops)
        return espi_err_nomem(err);
    esp_status st = ESP_OK;
    for (int h = 0; h < x->n_pieces && !st; h++)
        st = add_tree(x, &rows, h, &tree, plan, err);
    return st;
}

esp_status espi_exchange_pairwise(const struct espi_task *task, struct esp_plan *plan,
                                  struct esp_err *err)
{
    struct espi_exchange x;
    esp_status st = espi_exchange_init(&x, task, err);
    for (int from = 0; from < x.n && !st; from++)
        for (int k = 1; k < x.n && !st; k++) {
            int to = (from + k) % x.n, piece = from * x.n + to;
            st = espi_exchange_send(&x, k - 1, from, to, 1, &piece, err);
        }
    return st ? st : espi_exchange_plan(&x, plan, err);
}
