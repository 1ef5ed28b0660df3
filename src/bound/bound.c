/* The public bound: the optimum by one of three methods, and what it means. */
#include "bound/bound.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/number.h"
#include "bound/tuning.h"
#include "solve/arcs.h"
#include "solve/full_lp.h"

static const double BINDS = 1e-6; /* rounding: a price below is none */

static const char *const methods[] = {"trees", "cuts", "full"};
static const char *const kinds[] = {"send-port", "receive-port", "link", "cable"};

const char *esp_bound_method_name(esp_bound_method method)
{
    return (unsigned)method < ESP_BOUND_METHOD_COUNT ? methods[method] : "?";
}

int esp_bound_method_parse(const char *text, esp_bound_method *method)
{
    for (int i = 0; i < ESP_BOUND_METHOD_COUNT; i++)
        if (!strcmp(text, methods[i])) {
            *method = (esp_bound_method)i;
            return 0;
        }
    return -1;
}

const char *esp_resource_kind_name(esp_resource_kind kind)
{
    return (unsigned)kind <= ESP_RESOURCE_CABLE ? kinds[kind] : "?";
}

void esp_bound_free(struct esp_bound *bound)
{
    if (!bound)
        return;
    for (int i = 0; i < bound->n_bottlenecks; i++) {
        espi_free(bound->bottlenecks[i]->text);
        espi_free(bound->bottlenecks[i]);
    }
    for (int i = 0; i < bound->n_what_if; i++) {
        espi_free(bound->what_if[i]->text);
        espi_free(bound->what_if[i]);
    }
    espi_free(bound->bottlenecks);
    espi_free(bound->what_if);
    espi_free(bound->cut);
    espi_free(bound->text);
    espi_free(bound);
}

/* ---- the three methods ---- */

static esp_status by_trees(const struct espi_bound_task *t, struct espi_bound_found *f,
                           struct esp_err *err)
{
    const struct esp_bound_options *o = t->options;
    struct espi_packing_options options = {.gap = o->gap,
                                           .time_limit_s = o->time_limit_s,
                                           .progress = o->progress,
                                           .progress_arg = o->progress_arg};
    esp_status st =
        espi_packing_solve(t->v, t->root, &options, t->arena, &f->packing, err);
    if (st)
        return st;
    f->rate = f->packing.bound;
    f->reached = f->packing.rate;
    f->price = f->packing.price;
    f->n_trees = f->packing.n_trees;
    f->exact = f->packing.gap <= ESPI_PACKING_GAP;
    return ESP_OK;
}

static esp_status by_cuts(const struct espi_bound_task *t, struct espi_bound_found *f,
                          struct esp_err *err)
{
    struct espi_arcs arcs;
    struct espi_solve_budget budget = espi_solve_budget_of(t->options->time_limit_s, 0);
    struct espi_arcs_task task = {.v = t->v, .root = t->root, .budget = &budget};
    if (t->v->g.n < t->p->n_nodes)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "the method 'cuts' cannot choose paths through switches; "
                        "'trees' and 'full' can");
    for (int e = 0; e < t->v->g.m; e++)
        task.unit_s += t->v->time_s[e] / t->v->g.m;
    esp_status st = espi_arcs_solve(&task, t->arena, &arcs, err);
    if (st)
        return st;
    if (!(arcs.period_s > 0))
        return espi_err(err, ESP_EUNSUPPORTED,
                        "the time limit was reached before anything was known");
    f->rate = 1 / arcs.period_s;
    f->price = arcs.price;
    f->exact = arcs.complete;
    return ESP_OK;
}

static esp_status by_full(const struct espi_bound_task *t, struct espi_bound_found *f,
                          struct esp_err *err)
{
    f->price = ESPI_ARENA_NEW(t->arena, double, t->v->links.n);
    if (!f->price)
        return espi_err_nomem(err);
    f->exact = 1;
    return espi_full_lp_solve(t->v, t->root, t->options->time_limit_s, t->arena, &f->rate,
                              f->price, err);
}

static esp_status find_optimum(const struct espi_bound_task *t,
                               struct espi_bound_found *f, struct esp_err *err)
{
    if (t->v->g.n == 1 || t->options->method == ESP_BOUND_TREES)
        return by_trees(t, f, err);
    return t->options->method == ESP_BOUND_CUTS ? by_cuts(t, f, err) : by_full(t, f, err);
}

/* ---- what it means ---- */

static int dearer(const void *a, const void *b)
{
    const struct esp_bottleneck *x = *(struct esp_bottleneck *const *)a;
    const struct esp_bottleneck *y = *(struct esp_bottleneck *const *)b;
    double more = espi_round_digits(x->price, 6) - espi_round_digits(y->price, 6);
    if (more != 0)
        return more > 0 ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->owner < y->owner ? -1 : x->owner > y->owner;
}

static int list_bottlenecks(const struct espi_bound_task *t, const double *price,
                            struct esp_bound *bound)
{
    const struct espi_resources *r = &t->v->links;
    int count = 0;
    for (int i = 0; i < r->n; i++)
        count += price[i] > BINDS;
    bound->bottlenecks = espi_calloc((size_t)count + 1, sizeof *bound->bottlenecks);
    if (!bound->bottlenecks)
        return -1;
    for (int i = 0; i < r->n; i++) {
        char text[192];
        if (!(price[i] > BINDS))
            continue;
        struct esp_bottleneck *b = espi_calloc(1, sizeof *b);
        if (!b)
            return -1;
        bound->bottlenecks[bound->n_bottlenecks++] = b;
        b->kind = (esp_resource_kind)espi_resource_kind_of(r, i, &b->owner);
        b->price = price[i];
        b->text = espi_strdup(espi_resource_text(r, t->p, i, text, sizeof text));
        if (!b->text)
            return -1;
    }
    qsort(bound->bottlenecks, (size_t)bound->n_bottlenecks, sizeof *bound->bottlenecks,
          dearer);
    return 0;
}

/* Hosts on the root's side; the root is first. */
static int list_cut(const struct espi_bound_task *t, const double *price,
                    struct esp_bound *bound)
{
    int n = t->v->g.n;
    unsigned char *inside = ESPI_ARENA_NEW(t->arena, unsigned char, n);
    bound->cut = espi_array((size_t)n, sizeof *bound->cut);
    if (!inside || !bound->cut || espi_bound_cut(t, price, inside))
        return -1;
    bound->cut[bound->n_cut++] = t->v->node[t->root];
    for (int h = 0; h < n; h++)
        if (inside[h] && h != t->root)
            bound->cut[bound->n_cut++] = t->v->node[h];
    return 0;
}

/* "limited by the receive port of n17", or by several with their parts. */
static int describe_limit(const struct esp_bound *bound, char *out, size_t size)
{
    enum { NAMED = 3, ALONE_PERCENT = 1 }; /* looks: resources in one line */
    int n = bound->n_bottlenecks, named = n < NAMED ? n : NAMED, at = 0;
    if (n == 0)
        return snprintf(out, size, "there is nobody to send to");
    if (100 * bound->bottlenecks[0]->price < ALONE_PERCENT)
        return snprintf(out, size,
                        "limited by %d ports and links together, none of which limits it "
                        "by itself",
                        n);
    at += snprintf(out, size, "limited by ");
    for (int i = 0; i < named && at < (int)size; i++) {
        const struct esp_bottleneck *b = bound->bottlenecks[i];
        const char *link = i == 0 ? "" : i == n - 1 ? " and " : ", ";
        at += snprintf(out + at, size - (size_t)at, "%s%s", link, b->text);
        if (n > 1 && at < (int)size)
            at += snprintf(out + at, size - (size_t)at, " (%.0f%%)", 100 * b->price);
    }
    if (n > named && at < (int)size)
        at += snprintf(out + at, size - (size_t)at, " and %d more", n - named);
    return at;
}

/* The limit, and the link or cable whose improvement helps most. */
static int describe_bound(struct esp_bound *bound)
{
    char text[2048];
    int at = describe_limit(bound, text, sizeof text), i = 0;
    while (i < bound->n_what_if && bound->what_if[i]->kind != ESP_RESOURCE_LINK &&
           bound->what_if[i]->kind != ESP_RESOURCE_CABLE)
        i++;
    if (i < bound->n_what_if && bound->what_if[i]->gain > ESPI_WHAT_IF_TOLD &&
        at < (int)sizeof text)
        snprintf(text + at, sizeof text - (size_t)at, "; %s", bound->what_if[i]->text);
    bound->text = espi_strdup(text);
    return bound->text ? 0 : -1;
}

static esp_status fill_bound(const struct espi_bound_task *t,
                             const struct espi_bound_found *f, struct esp_bound *bound,
                             struct esp_err *err)
{
    double slice_bytes = t->v->slice_bytes;
    bound->slice_bytes = slice_bytes;
    bound->slices_per_s = f->rate;
    bound->throughput_Bps = f->rate * slice_bytes;
    bound->reached_Bps = f->reached * slice_bytes;
    bound->gap = f->reached > 0 ? f->packing.gap : f->exact ? 0 : INFINITY;
    bound->exact = f->exact;
    bound->reachable = t->p->model != ESP_MODEL_HALF_DUPLEX;
    bound->n_trees = f->n_trees;
    if (list_bottlenecks(t, f->price, bound) || list_cut(t, f->price, bound))
        return espi_err_nomem(err);
    esp_status st = ESP_OK;
    if (f->n_trees)
        st = espi_bound_what_if(t, &f->packing, bound, err);
    if (!st && describe_bound(bound))
        st = espi_err_nomem(err);
    return st;
}

static esp_status compute(struct espi_bound_task task, int root, double slice_bytes,
                          struct esp_bound *bound, struct esp_err *err)
{
    struct espi_view v;
    struct espi_bound_found f = {0};
    double start_s = espi_now_s();
    esp_status st = espi_view_init(&v, task.p, slice_bytes, task.arena, err);
    if (st)
        return st;
    task.v = &v;
    task.root = v.host[root];
    st = find_optimum(&task, &f, err);
    bound->solve_s = espi_now_s() - start_s;
    return st ? st : fill_bound(&task, &f, bound, err);
}

esp_status espi_bound_bcast(const struct esp_platform *p, int root, double slice_bytes,
                            const struct esp_bound_options *options,
                            struct esp_bound **out, struct esp_err *err)
{
    struct espi_arena arena;
    struct espi_bound_task task = {.p = p, .options = options, .arena = &arena};
    struct esp_bound *bound = espi_calloc(1, sizeof *bound);
    if (!bound)
        return espi_err_nomem(err);
    espi_arena_init(&arena);
    esp_status st = compute(task, root, slice_bytes, bound, err);
    espi_arena_done(&arena);
    if (st)
        esp_bound_free(bound);
    else
        *out = bound;
    return st;
}
