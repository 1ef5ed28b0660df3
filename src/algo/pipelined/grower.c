#include "algo/pipelined/grower.h"

#include <math.h>

#include "algo/offers.h"
#include "algo/pipelined/arc_order.h"
#include "base/err.h"

struct grower {
    struct espi_grown tree;
    const struct espi_grow_rule *rule;
    int *arcs, *next; /* rows of arcs by time; where each sender stands in its row */
    unsigned char *inside;
    struct espi_offers offers; /* key: the cost, second: the time */
};

/* The sender's best arc that leaves the tree; 0 when it has none left. */
static int next_entry(struct grower *g, int sender, struct espi_offer *out)
{
    const struct espi_view *v = g->tree.view;
    for (; g->next[sender] < v->g.out.start[sender + 1]; g->next[sender]++) {
        int e = g->arcs[g->next[sender]];
        if (g->inside[v->g.head[e]])
            continue;
        double cost_s = g->rule->cost_s(&g->tree, sender, v->time_s[e]);
        *out = (struct espi_offer){cost_s, v->time_s[e], sender, e};
        return 1;
    }
    return 0;
}

/* The top has been used or is stale: the sender's next arc takes its place. */
static void renew_top(struct grower *g)
{
    struct espi_offer next;
    if (next_entry(g, g->offers.heap[0].sender, &next))
        espi_offers_replace_top(&g->offers, next);
    else
        espi_offers_drop_top(&g->offers);
}

static void join_host(struct grower *g, int host)
{
    struct espi_offer first;
    g->inside[host] = 1;
    if (next_entry(g, host, &first))
        espi_offers_push(&g->offers, &first);
}

static void take_arc(struct grower *g, const struct espi_offer *top)
{
    struct espi_grown *t = &g->tree;
    t->load_s[top->sender] += g->rule->load_s(top->second, top->key);
    t->slowest_s[top->sender] = fmax(t->slowest_s[top->sender], top->second);
    t->children[top->sender]++;
}

static int grower_init(struct grower *g, struct espi_arena *a)
{
    const struct espi_digraph *graph = &g->tree.view->g;
    g->tree.load_s = ESPI_ARENA_ZNEW(a, double, graph->n);
    g->tree.slowest_s = ESPI_ARENA_ZNEW(a, double, graph->n);
    g->tree.children = ESPI_ARENA_ZNEW(a, int, graph->n);
    g->next = ESPI_ARENA_NEW(a, int, graph->n);
    g->inside = ESPI_ARENA_ZNEW(a, unsigned char, graph->n);
    g->offers.heap = ESPI_ARENA_NEW(a, struct espi_offer, graph->n);
    if (!g->tree.load_s || !g->tree.slowest_s || !g->tree.children || !g->next ||
        !g->inside || !g->offers.heap)
        return -1;
    for (int u = 0; u < graph->n; u++)
        g->next[u] = graph->out.start[u];
    g->arcs = espi_arcs_by_sender(g->tree.view, ESPI_FAST_FIRST, a);
    return g->arcs ? 0 : -1;
}

esp_status espi_grow_tree(const struct espi_view *view, int root,
                          const struct espi_grow_rule *rule, struct espi_arena *arena,
                          int *parent_arc, struct esp_err *err)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct grower g = {.tree = {.view = view}, .rule = rule};
    if (grower_init(&g, arena))
        return espi_err_nomem(err);
    parent_arc[root] = -1;
    join_host(&g, root);
    for (int missing = view->g.n - 1; missing > 0 && g.offers.n > 0;) {
        struct espi_offer top = g.offers.heap[0];
        int to = view->g.head[top.arc], fresh = !g.inside[to];
        if (fresh) {
            take_arc(&g, &top);
            g.inside[to] = 1;
            parent_arc[to] = top.arc;
            missing--;
        }
        renew_top(&g);
        if (fresh)
            join_host(&g, to);
    }
    espi_arena_release(arena, mark);
    return ESP_OK;
}

esp_status espi_grow_plan(const struct espi_task *task, const struct espi_grow_rule *rule,
                          struct esp_plan *plan, struct esp_err *err)
{
    int *parent_arc = ESPI_ARENA_NEW(task->arena, int, task->view->g.n);
    if (!parent_arc)
        return espi_err_nomem(err);
    esp_status st =
        espi_grow_tree(task->view, task->root, rule, task->arena, parent_arc, err);
    if (st)
        return st;
    return espi_plan_add_parents(plan, task->view, task->root, 1, parent_arc, task->arena,
                                 err);
}
