/* The checker: no plan runs, is simulated or is written that did not pass here. */
#include <espalier/plan.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "platform/platform.h"

struct check {
    const struct esp_platform *p;
    const struct esp_plan *plan;
    int tree;
    int further;        /* this tree only adds senders */
    unsigned char *has; /* node has the data */
    int *seen_on;       /* edge + 1 on whose path the node was met last */
    struct esp_err *err;
};

static const char *name_of(const struct check *c, int node, char *shown, size_t size)
{
    return espi_quote(shown, size, espi_node_name(c->p, node));
}

static esp_status bad_edge(const struct check *c, int i, const char *why)
{
    const struct esp_edge *e = &c->plan->trees[c->tree].edges[i];
    char a[64], b[64];
    return espi_err(c->err, ESP_EINPUT, "tree %d, edge %d (%s -> %s): %s", c->tree, i,
                    name_of(c, e->from, a, sizeof a), name_of(c, e->to, b, sizeof b),
                    why);
}

static int in_range(const struct esp_tree *t, const struct esp_edge *e)
{
    return e->n_hops > 0 && e->first_hop >= 0 && e->first_hop <= t->n_hops &&
           e->n_hops <= t->n_hops - e->first_hop;
}

/* The path is made of links that join, from `from` to `to`, and meets no node twice. */
static esp_status check_path(struct check *c, int i)
{
    const struct esp_platform *p = c->p;
    const struct esp_tree *t = &c->plan->trees[c->tree];
    const struct esp_edge *e = &t->edges[i];
    if (!in_range(t, e))
        return espi_err(c->err, ESP_EINPUT, "tree %d, edge %d: its path is empty",
                        c->tree, i);
    const int *hops = t->hops + e->first_hop;
    for (int k = 0; k < e->n_hops; k++)
        if (hops[k] < 0 || hops[k] >= p->n_links)
            return espi_err(c->err, ESP_EINPUT, "tree %d, edge %d: no link %d", c->tree,
                            i, hops[k]);
    if (p->tail[hops[0]] != e->from || p->head[hops[e->n_hops - 1]] != e->to)
        return espi_err(c->err, ESP_EINPUT, "tree %d, edge %d: the path has other ends",
                        c->tree, i);
    c->seen_on[e->from] = i + 1;
    for (int k = 0; k < e->n_hops; k++) {
        int v = p->head[hops[k]];
        if (k > 0 && p->tail[hops[k]] != p->head[hops[k - 1]])
            return bad_edge(c, i, "the links of its path do not join");
        if (c->seen_on[v] == i + 1)
            return bad_edge(c, i, "its path meets a node twice");
        c->seen_on[v] = i + 1;
    }
    return ESP_OK;
}

/* One transfer: a path between hosts, to one that has no sender in this tree yet. In the
 * further trees of a redundant plan the order says nothing. */
static esp_status check_edge(struct check *c, int i)
{
    const struct esp_edge *e = &c->plan->trees[c->tree].edges[i];
    esp_status st = check_path(c, i);
    if (st)
        return st;
    if (espi_is_switch(c->p, e->from) || espi_is_switch(c->p, e->to))
        return bad_edge(c, i, "a switch only forwards, it neither keeps nor copies");
    if (!c->has[e->from] && !c->further)
        return bad_edge(c, i, "the sender does not have the data yet");
    if (c->has[e->to])
        return bad_edge(c, i, "the receiver has the data already");
    c->has[e->to] = 1;
    return ESP_OK;
}

static esp_status check_tree(struct check *c)
{
    const struct esp_tree *t = &c->plan->trees[c->tree];
    const struct esp_platform *p = c->p;
    c->further = c->plan->redundant && c->tree > 0;
    memset(c->has, 0, (size_t)p->n_nodes);
    memset(c->seen_on, 0, (size_t)p->n_nodes * sizeof *c->seen_on);
    c->has[c->plan->root] = 1;
    for (int i = 0; i < t->n_edges; i++) {
        esp_status st = check_edge(c, i);
        if (st)
            return st;
    }
    for (int v = 0; v < p->n_nodes && !c->further; v++)
        if (!c->has[v] && !espi_is_switch(p, v)) {
            char a[64];
            return espi_err(c->err, ESP_EINPUT, "tree %d does not reach %s", c->tree,
                            name_of(c, v, a, sizeof a));
        }
    return ESP_OK;
}

static esp_status check_weights(const struct esp_plan *plan, struct esp_err *err)
{
    double sum = 0;
    for (int t = 0; t < plan->n_trees; t++) {
        double w = plan->trees[t].weight;
        if (!(w > 0 && w <= 1 + 1e-9))
            return espi_err(err, ESP_EINPUT, "tree %d: weight %g is not in (0, 1]", t, w);
        if (plan->redundant && w != 1)
            return espi_err(err, ESP_EINPUT,
                            "tree %d: weight %g: in a redundant plan every tree carries "
                            "the whole message, with weight 1",
                            t, w);
        sum += w;
    }
    if (plan->redundant)
        return ESP_OK;
    if (fabs(sum - 1) > 1e-6)
        return espi_err(err, ESP_EINPUT, "the weights of the trees sum to %.9g, not to 1",
                        sum);
    return ESP_OK;
}

static int bad_figure(double x)
{
    return !(x >= 0 && isfinite(x));
}

static esp_status check_head(const struct esp_plan *plan, const struct esp_platform *p,
                             struct esp_err *err)
{
    if (plan->root < 0 || plan->root >= p->n_nodes)
        return espi_err(err, ESP_EINPUT, "the root %d is no node", plan->root);
    if (espi_is_switch(p, plan->root))
        return espi_err(err, ESP_EINPUT, "the root is a switch");
    if (plan->n_trees < 1)
        return espi_err(err, ESP_EINPUT, "the plan has no tree");
    if (bad_figure(plan->size_bytes) || bad_figure(plan->slice_bytes) ||
        bad_figure(plan->throughput_Bps) || bad_figure(plan->makespan_s) ||
        bad_figure(plan->bound_Bps) || bad_figure(plan->plan_s) ||
        bad_figure(plan->patience))
        return espi_err(err, ESP_EINPUT,
                        "the figures of the plan must be finite and not negative");
    return check_weights(plan, err);
}

esp_status esp_plan_check(const struct esp_plan *plan, const struct esp_platform *p,
                          struct esp_err *err)
{
    esp_status st = check_head(plan, p, err);
    if (st)
        return st;
    struct check c = {.p = p, .plan = plan, .err = err};
    c.has = espi_malloc((size_t)p->n_nodes);
    c.seen_on = ESPI_NEW(int, p->n_nodes);
    if (!c.has || !c.seen_on)
        st = espi_err_nomem(err);
    for (c.tree = 0; c.tree < plan->n_trees && !st; c.tree++)
        st = check_tree(&c);
    espi_free(c.has);
    espi_free(c.seen_on);
    return st;
}
