/* What more bandwidth would give. The period is the sum over resources of price times
 * load, so that a little less time on a use is worth its price times its share of slices;
 * the best candidates are then solved again with 10% more bandwidth. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/number.h"
#include "base/watch.h"
#include "bound/bound.h"
#include "bound/tuning.h"
#include "solve/solve_budget.h"

struct candidate {
    esp_resource_kind kind;
    int owner;
    double estimate, gain;
};

struct finder {
    const struct espi_bound_task *task;
    double *worth; /* of links: relative gain by 10% more */
    int n, cap;
    struct candidate *found;
};

/* How much of a use's time goes away with 10% more bandwidth on its link. */
static double time_saved_s(const struct finder *f, int link, int use)
{
    const struct espi_view *v = f->task->v;
    const struct esp_platform *p = f->task->p;
    double all_s = espi_link_time_s(p, link, v->slice_bytes), moving_s;
    int owner;
    espi_resource_kind kind =
        espi_resource_kind_of(&v->links, v->links.resource[use], &owner);
    if (kind == ESPI_CABLE)
        return 0;
    if (p->model == ESP_MODEL_MULTI_PORT &&
        (kind == ESPI_RECV_PORT ||
         (kind == ESPI_SEND_PORT && p->send_s[owner] != ESP_UNSET)))
        return 0; /* an overhead of the host */
    moving_s = v->slice_bytes / p->bandwidth_Bps[link];
    double part = p->model == ESP_MODEL_CAPACITY ? 1 : moving_s / all_s;
    return v->links.time_s[use] * part * (1 - 1 / ESPI_WHAT_IF_MORE);
}

/* Goes through the links of all trees; cables get their worth at once. */
static int value_links(struct finder *f, const struct espi_packing *packing,
                       double *cable_worth)
{
    const struct espi_resources *r = &f->task->v->links;
    double *share = ESPI_ARENA_ZNEW(f->task->arena, double, f->task->p->n_links);
    if (!share)
        return -1;
    for (int t = 0; t < packing->n_trees; t++) {
        const struct espi_packing_tree *tree = &packing->tree[t];
        for (int k = tree->hop_start[0]; k < tree->hop_start[packing->n_hosts]; k++)
            share[tree->hops[k]] += tree->rate;
    }
    for (int e = 0; e < f->task->p->n_links; e++)
        for (int k = r->start[e]; k < r->start[e + 1]; k++) {
            double price = packing->price[r->resource[k]] * share[e];
            f->worth[e] += price * time_saved_s(f, e, k);
            if (r->resource[k] >= r->first_cable)
                cable_worth[r->resource[k] - r->first_cable] +=
                    price * r->time_s[k] * (1 - 1 / ESPI_WHAT_IF_MORE);
        }
    return 0;
}

/* The larger first; what differs by rounding errors is equal. */
static int larger(double x, double y)
{
    x = espi_round_digits(x, 6);
    y = espi_round_digits(y, 6);
    return x > y ? -1 : x < y;
}

static int by_estimate(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = larger(x->estimate, y->estimate);
    if (order)
        return order;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->owner < y->owner ? -1 : x->owner > y->owner;
}

static int by_gain(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = larger(x->gain, y->gain);
    return order ? order : by_estimate(a, b);
}

/* The best `most` of the values as candidates of that kind, behind those there are. */
static int add_best(struct finder *f, esp_resource_kind kind, const double *worth,
                    int count, int most)
{
    struct candidate *all = ESPI_ARENA_NEW(f->task->arena, struct candidate, count);
    int n = 0;
    if (!all)
        return -1;
    for (int i = 0; i < count; i++)
        if (worth[i] > ESPI_WHAT_IF_LEAST)
            all[n++] = (struct candidate){kind, i, worth[i], 0};
    qsort(all, (size_t)n, sizeof *all, by_estimate);
    for (int i = 0; i < n && i < most; i++)
        f->found[f->n++] = all[i];
    return 0;
}

static int find_candidates(struct finder *f, const struct espi_packing *packing, int most)
{
    const struct esp_platform *p = f->task->p;
    struct espi_arena *a = f->task->arena;
    double *cable = ESPI_ARENA_ZNEW(a, double, (size_t)p->n_shared + 1);
    double *out = ESPI_ARENA_ZNEW(a, double, p->n_nodes);
    double *in = ESPI_ARENA_ZNEW(a, double, p->n_nodes);
    f->worth = ESPI_ARENA_ZNEW(a, double, p->n_links);
    f->found = ESPI_ARENA_NEW(a, struct candidate, 4 * (size_t)most);
    if (!cable || !out || !in || !f->worth || !f->found || value_links(f, packing, cable))
        return -1;
    for (int e = 0; e < p->n_links; e++) {
        out[p->tail[e]] += f->worth[e];
        in[p->head[e]] += f->worth[e];
    }
    if (add_best(f, ESP_RESOURCE_LINK, f->worth, p->n_links, most) ||
        add_best(f, ESP_RESOURCE_CABLE, cable, p->n_shared, most))
        return -1;
    qsort(f->found, (size_t)f->n, sizeof *f->found, by_estimate);
    f->n = f->n < most ? f->n : most;
    if (add_best(f, ESP_RESOURCE_SEND_PORT, out, p->n_nodes, (most + 1) / 2) ||
        add_best(f, ESP_RESOURCE_RECV_PORT, in, p->n_nodes, (most + 1) / 2))
        return -1;
    return 0;
}

static int concerns(const struct esp_platform *p, const struct candidate *c, int link)
{
    switch (c->kind) {
    case ESP_RESOURCE_LINK:
        return link == c->owner;
    case ESP_RESOURCE_SEND_PORT:
        return p->tail[link] == c->owner;
    case ESP_RESOURCE_RECV_PORT:
        return p->head[link] == c->owner;
    default:
        return 0;
    }
}

/* Solves on a platform that differs in bandwidths alone. */
static esp_status try_out(const struct espi_bound_task *task, struct candidate *c,
                          double rate, struct esp_err *err)
{
    struct espi_arena arena;
    struct espi_view v;
    struct espi_packing packing;
    struct esp_platform q = *task->p;
    struct espi_packing_options o = {.gap = ESPI_WHAT_IF_GAP,
                                     .time_limit_s = task->options->time_limit_s};
    esp_status st = ESP_OK;
    espi_arena_init(&arena);
    q.turned = NULL;
    q.bandwidth_Bps = ESPI_ARENA_NEW(&arena, double, q.n_links);
    q.shared_Bps = ESPI_ARENA_NEW(&arena, double, (size_t)q.n_shared + 1);
    if (!q.bandwidth_Bps || !q.shared_Bps)
        st = espi_err_nomem(err);
    for (int e = 0; e < q.n_links && !st; e++)
        q.bandwidth_Bps[e] =
            task->p->bandwidth_Bps[e] * (concerns(&q, c, e) ? ESPI_WHAT_IF_MORE : 1);
    for (int i = 0; i < q.n_shared && !st; i++)
        q.shared_Bps[i] =
            task->p->shared_Bps[i] *
            (c->kind == ESP_RESOURCE_CABLE && i == c->owner ? ESPI_WHAT_IF_MORE : 1);
    if (!st)
        st = espi_view_init(&v, &q, task->v->slice_bytes, &arena, err);
    if (!st)
        st = espi_packing_solve(&v, task->root, &o, &arena, &packing, err);
    if (!st)
        c->gain = fmax(packing.rate / rate - 1, 0);
    espi_arena_done(&arena);
    return st;
}

static char *describe_candidate(const struct esp_platform *p, const struct candidate *c)
{
    char a[64], b[64], what[192], text[320];
    if (c->kind == ESP_RESOURCE_LINK)
        snprintf(what, sizeof what, "on link %s -> %s",
                 espi_quote(a, sizeof a, espi_node_name(p, p->tail[c->owner])),
                 espi_quote(b, sizeof b, espi_node_name(p, p->head[c->owner])));
    else if (c->kind == ESP_RESOURCE_CABLE)
        snprintf(what, sizeof what, "on the shared link %s",
                 espi_quote(a, sizeof a, espi_shared_name(p, c->owner)));
    else
        snprintf(what, sizeof what, "on all links %s %s",
                 c->kind == ESP_RESOURCE_SEND_PORT ? "out of" : "into",
                 espi_quote(a, sizeof a, espi_node_name(p, c->owner)));
    snprintf(text, sizeof text,
             "the next 10%% of bandwidth %s would raise throughput by %.2g%%", what,
             100 * c->gain);
    return espi_strdup(text);
}

esp_status espi_bound_what_if(const struct espi_bound_task *task,
                              const struct espi_packing *packing, struct esp_bound *bound,
                              struct esp_err *err)
{
    struct finder f = {.task = task};
    int most = task->options->what_if;
    if (most < 1 || packing->n_hosts < 2)
        return ESP_OK;
    if (find_candidates(&f, packing, most))
        return espi_err_nomem(err);
    esp_status st = ESP_OK;
    for (int i = 0; i < f.n && !st; i++) {
        st = try_out(task, &f.found[i], packing->rate, err);
        if (espi_watch_is_over()) /* what was not solved to its end tells nothing */
            f.n = i;
    }
    if (st && !espi_solve_budget_was_late(st))
        return st;
    qsort(f.found, (size_t)f.n, sizeof *f.found, by_gain);
    bound->what_if = espi_calloc((size_t)f.n + 1, sizeof *bound->what_if);
    if (!bound->what_if)
        return espi_err_nomem(err);
    for (int i = 0; i < f.n; i++) {
        const struct candidate *c = &f.found[i];
        struct esp_what_if *x = espi_calloc(1, sizeof *x);
        if (!x)
            return espi_err_nomem(err);
        bound->what_if[bound->n_what_if++] = x;
        *x = (struct esp_what_if){c->kind, c->owner, c->estimate, c->gain,
                                  describe_candidate(task->p, c)};
        if (!x->text)
            return espi_err_nomem(err);
    }
    return ESP_OK;
}
