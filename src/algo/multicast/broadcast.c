/* The best broadcast among some of the nodes, as trees of a plan: the packing of trees on
 * the platform that those nodes and their links make. */
#include <math.h>
#include <string.h>

#include "algo/multicast/multicast.h"
#include "base/err.h"
#include "solve/packing.h"

struct part {
    const struct espi_task *task;
    const unsigned char *active;
    int *node; /* of the whole -> of the part, -1 */
    int *link; /* of the part -> of the whole */
    int *to_part;
};

static esp_status copy_nodes(struct part *x, struct esp_builder *b, struct esp_err *err)
{
    const struct esp_platform *p = x->task->p;
    esp_status st = ESP_OK;
    for (int v = 0; v < p->n_nodes && !st; v++) {
        x->node[v] = -1;
        if (!x->active[v])
            continue;
        struct esp_node_spec spec = {.name = espi_node_name(p, v),
                                     .kind = (esp_node_kind)p->node_kind[v],
                                     .send_s = p->send_s[v],
                                     .recv_s = p->recv_s[v]};
        if (p->model == ESP_MODEL_MULTI_PORT)
            spec.send_s = espi_send_overhead_s(p, v, x->task->view->slice_bytes);
        st = esp_builder_add_node(b, &spec, &x->node[v], err);
    }
    return st;
}

static esp_status copy_links(struct part *x, struct esp_builder *b, struct esp_err *err)
{
    const struct esp_platform *p = x->task->p;
    esp_status st = ESP_OK;
    for (int e = 0; e < p->n_links && !st; e++) {
        int u = x->node[p->tail[e]], v = x->node[p->head[e]], link;
        x->to_part[e] = -1;
        if (u < 0 || v < 0)
            continue;
        st = esp_builder_add_link(b, u, v, p->latency_s[e], p->bandwidth_Bps[e], &link,
                                  err);
        if (!st) {
            x->link[link] = e;
            x->to_part[e] = link;
        }
    }
    return st;
}

static esp_status copy_cables(struct part *x, struct esp_builder *b, struct esp_err *err)
{
    const struct esp_platform *p = x->task->p;
    esp_status st = ESP_OK;
    for (int s = 0; s < p->n_shared && !st; s++) {
        struct espi_arena_mark mark = espi_arena_mark(x->task->arena);
        int first = p->shared_links.start[s], last = p->shared_links.start[s + 1], n = 0;
        int *links = ESPI_ARENA_NEW(x->task->arena, int, last - first);
        if (!links)
            return espi_err_nomem(err);
        for (int k = first; k < last; k++)
            if (x->to_part[p->shared_links.item[k]] >= 0)
                links[n++] = x->to_part[p->shared_links.item[k]];
        if (n > 0)
            st = esp_builder_add_cable(b, espi_shared_name(p, s), p->shared_Bps[s], links,
                                       n, err);
        espi_arena_release(x->task->arena, mark);
    }
    return st;
}

static esp_status make_part(struct part *x, struct esp_platform **out,
                            struct esp_err *err)
{
    const struct esp_platform *p = x->task->p;
    struct esp_builder *b;
    x->node = ESPI_ARENA_NEW(x->task->arena, int, p->n_nodes);
    x->link = ESPI_ARENA_NEW(x->task->arena, int, p->n_links);
    x->to_part = ESPI_ARENA_NEW(x->task->arena, int, p->n_links);
    if (!x->node || !x->link || !x->to_part)
        return espi_err_nomem(err);
    esp_status st = esp_builder_create(&b, err);
    if (st)
        return st;
    esp_builder_set_model(b, p->model);
    st = copy_nodes(x, b, err);
    if (!st)
        st = copy_links(x, b, err);
    if (!st)
        st = copy_cables(x, b, err);
    if (!st)
        st = esp_builder_build(b, out, err);
    esp_builder_free(b);
    return st;
}

/* A tree of the packing, with the links of the whole. */
static esp_status add_tree(const struct part *x, const struct espi_view *v, int root,
                           const struct espi_packing_tree *t, double weight,
                           struct esp_plan *plan, struct esp_err *err)
{
    struct espi_edges e;
    if (espi_edges_of(v, root, t->hop_start, t->hops, 0, x->task->arena, &e))
        return espi_err_nomem(err);
    for (int i = 0; i < e.start[e.n]; i++)
        e.hops[i] = x->link[e.hops[i]];
    return esp_plan_add_tree(plan, x->task->p, weight, e.n, e.start, e.hops, err);
}

static esp_status pack_trees(struct part *x, const struct esp_platform *p,
                             struct esp_plan *plan, struct esp_err *err)
{
    struct espi_arena *a = x->task->arena;
    struct espi_view view;
    struct espi_packing packing;
    esp_status st = espi_view_init(&view, p, x->task->view->slice_bytes, a, err);
    if (st)
        return st;
    int root = view.host[x->node[x->task->request->root]];
    st = espi_packing_solve(&view, root, NULL, a, &packing, err);
    for (int i = 0; i < packing.n_trees && !st; i++) {
        struct espi_arena_mark mark = espi_arena_mark(a);
        double weight = packing.n_trees == 1 ? 1 : packing.tree[i].rate / packing.rate;
        if (weight > 1e-9)
            st = add_tree(x, &view, root, &packing.tree[i], weight, plan, err);
        espi_arena_release(a, mark);
    }
    return st;
}

esp_status espi_add_broadcast(const struct espi_task *task, const unsigned char *active,
                              struct esp_plan *plan, struct esp_err *err)
{
    struct part x = {.task = task, .active = active};
    struct esp_platform *p = NULL;
    struct espi_arena_mark mark = espi_arena_mark(task->arena);
    esp_status st = make_part(&x, &p, err);
    if (!st)
        st = pack_trees(&x, p, plan, err);
    esp_platform_free(p);
    espi_arena_release(task->arena, mark);
    return st;
}
