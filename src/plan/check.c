/* The checker: no plan runs, is simulated or is written that did not pass here. */
#include <espalier/plan.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "plan/messages.h"
#include "plan/ops.h"
#include "plan/parts.h"
#include "plan/schedule.h"
#include "plan/slices.h"
#include "platform/platform.h"

struct check {
    const struct esp_platform *p;
    const struct esp_plan *plan;
    int parts; /* of the message, of equal size */
    int tree;
    int further;        /* this tree only adds senders */
    unsigned char *has; /* node has the data, or sends them */
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

/* One transfer of a tree that is walked from its root on: from `from`, which must have
 * been met, to `to`, which must not. In the further trees of a redundant plan the order
 * says nothing. */
static esp_status check_edge(struct check *c, int i, int collects)
{
    const struct esp_edge *e = &c->plan->trees[c->tree].edges[i];
    esp_status st = check_path(c, i);
    if (st)
        return st;
    if (espi_is_switch(c->p, e->from) || espi_is_switch(c->p, e->to))
        return bad_edge(c, i, "a switch only forwards, it neither keeps nor copies");
    int from = collects ? e->to : e->from, to = collects ? e->from : e->to;
    if (!c->has[from] && !c->further)
        return bad_edge(c, i,
                        collects ? "the receiver has sent before, or never sends"
                                 : "the sender does not have the data yet");
    if (c->has[to])
        return bad_edge(c, i,
                        collects ? "the sender sends again later, or is the root"
                                 : "the receiver has the data already");
    c->has[to] = 1;
    return ESP_OK;
}

/* Walks edges first .. last-1 from the root on: backwards where they lead to it. */
static esp_status walk_edges(struct check *c, int first, int last, int collects)
{
    memset(c->has, 0, (size_t)c->p->n_nodes);
    memset(c->seen_on, 0, (size_t)c->p->n_nodes * sizeof *c->seen_on);
    c->has[c->plan->trees[c->tree].root] = 1;
    for (int k = first; k < last; k++) {
        esp_status st = check_edge(c, collects ? last - 1 - (k - first) : k, collects);
        if (st)
            return st;
    }
    return ESP_OK;
}

/* Were all hosts met that the tree is for? */
static esp_status check_reach(const struct check *c)
{
    const struct esp_plan *plan = c->plan;
    const struct esp_platform *p = c->p;
    int n = c->further ? 0 : plan->targets ? plan->n_targets : p->n_nodes;
    for (int i = 0; i < n; i++) {
        int v = plan->targets ? plan->targets[i] : i;
        char a[64];
        if (!c->has[v] && !espi_is_switch(p, v))
            return espi_err(c->err, ESP_EINPUT, "tree %d does not reach %s", c->tree,
                            name_of(c, v, a, sizeof a));
    }
    return ESP_OK;
}

/* A path from the root to its one target; the walk saw to the rest. */
static esp_status no_path(const struct check *c, int t)
{
    const char *name = esp_op_name(c->plan->op);
    return espi_err(c->err, ESP_EINPUT,
                    "tree %d: a tree of %s %s is a path between the root and one target "
                    "of its own",
                    t, espi_article(name), name);
}

static esp_status check_is_path(const struct check *c)
{
    const struct esp_tree *t = &c->plan->trees[c->tree];
    for (int i = 1; i < t->n_edges; i++)
        if (t->edges[i].from != t->edges[i - 1].to)
            return bad_edge(c, i, "it does not go on where the one before it ends");
    int collects = espi_op_collects(c->plan->op);
    int end = !t->n_edges ? t->root
              : collects  ? t->edges[0].from
                          : t->edges[t->n_edges - 1].to;
    return end == t->targets[0] ? ESP_OK : no_path(c, c->tree);
}

static esp_status check_tree(struct check *c)
{
    const struct esp_tree *t = &c->plan->trees[c->tree];
    esp_op op = c->plan->op;
    int middle = espi_tree_collecting_edges(op, t);
    c->further = c->plan->redundant && c->tree > 0;
    if (op == ESP_OP_ALLREDUCE && t->n_edges % 2)
        return espi_err(c->err, ESP_EINPUT,
                        "tree %d has %d edges: an allreduce goes to the root by as many "
                        "as from it",
                        c->tree, t->n_edges);
    esp_status st = walk_edges(c, 0, middle, 1);
    if (!st && (op == ESP_OP_ALLREDUCE || middle == 0)) {
        st = op == ESP_OP_ALLREDUCE ? check_reach(c) : ESP_OK;
        if (!st)
            st = walk_edges(c, middle, t->n_edges, 0);
    }
    if (st)
        return st;
    return espi_op_has_paths(op) && c->parts > 0 ? check_is_path(c) : check_reach(c);
}

/* ---- weights ---- */

static esp_status bad_sum(const struct check *c, int part, double sum)
{
    char a[64], b[64];
    int from, to;
    if (c->parts <= 1)
        return espi_err(c->err, ESP_EINPUT,
                        "the weights of the trees sum to %.9g, not to 1", sum);
    espi_part_ends(c->plan, c->p, part, &from, &to);
    name_of(c, from, a, sizeof a);
    name_of(c, to, b, sizeof b);
    return espi_err(c->err, ESP_EINPUT,
                    "the weights of the trees %s %s%s%s sum to %.9g, not to 1/%d",
                    from == to ? "of" : "from", a, from == to ? "" : " to ",
                    from == to ? "" : b, sum, c->parts);
}

/* Every part is carried whole. */
static esp_status check_sums(const struct check *c, double *sum, struct espi_arena *arena)
{
    const struct esp_plan *plan = c->plan;
    int parts = c->parts > 0 ? c->parts : 1;
    int many = espi_op_has_parts(plan->op) || espi_op_has_paths(plan->op);
    const int *part = many ? espi_tree_parts(plan, c->p, arena) : NULL;
    if (many && !part)
        return espi_err_nomem(c->err);
    for (int t = 0; t < plan->n_trees; t++) {
        const struct esp_tree *tree = &plan->trees[t];
        char a[64];
        if (part && part[t] < 0)
            return espi_err(
                c->err, ESP_EINPUT, "tree %d: %s has no part of its own in the message",
                t,
                name_of(c, tree->n_targets ? tree->targets[0] : tree->root, a, sizeof a));
        sum[part ? part[t] : 0] += tree->weight * parts;
    }
    for (int k = 0; k < parts; k++)
        if (fabs(sum[k] - 1) > 1e-6)
            return bad_sum(c, k, sum[k] / parts);
    return ESP_OK;
}

static esp_status check_weights(const struct check *c)
{
    const struct esp_plan *plan = c->plan;
    for (int t = 0; t < plan->n_trees; t++) {
        double w = plan->trees[t].weight;
        if (!(w > 0 && w <= 1 + 1e-9))
            return espi_err(c->err, ESP_EINPUT, "tree %d: weight %g is not in (0, 1]", t,
                            w);
        if (plan->redundant && w != 1)
            return espi_err(c->err, ESP_EINPUT,
                            "tree %d: weight %g: in a redundant plan every tree carries "
                            "the whole message, with weight 1",
                            t, w);
    }
    if (plan->redundant)
        return ESP_OK;
    struct espi_arena arena;
    double *sum = espi_calloc(c->parts > 0 ? (size_t)c->parts : 1, sizeof *sum);
    if (!sum)
        return espi_err_nomem(c->err);
    espi_arena_init(&arena);
    esp_status st = check_sums(c, sum, &arena);
    espi_arena_done(&arena);
    espi_free(sum);
    return st;
}

/* ---- ends: roots and targets ---- */

static int is_host(const struct esp_platform *p, int node)
{
    return node >= 0 && node < p->n_nodes && !espi_is_switch(p, node);
}

static esp_status check_tree_ends(const struct check *c, int t)
{
    const struct esp_plan *plan = c->plan;
    const char *name = esp_op_name(plan->op);
    const struct esp_tree *tree = &plan->trees[t];
    if (!is_host(c->p, tree->root))
        return espi_err(c->err, ESP_EINPUT, "tree %d: its root is no host", t);
    if (tree->root != plan->root && !espi_op_frees_roots(plan->op))
        return espi_err(c->err, ESP_EINPUT, "tree %d: all trees of %s %s have its root",
                        t, espi_article(name), name);
    if (tree->targets && !espi_op_has_paths(plan->op))
        return espi_err(c->err, ESP_EINPUT,
                        "tree %d: trees of %s %s have no targets of their own", t,
                        espi_article(name), name);
    if (!tree->targets && espi_op_has_paths(plan->op) && c->parts > 0)
        return no_path(c, t);
    if (tree->targets && (tree->n_targets != 1 || !is_host(c->p, tree->targets[0])))
        return espi_err(c->err, ESP_EINPUT, "tree %d: its target is not one host", t);
    return ESP_OK;
}

/* Targets are hosts, each once and none the root. */
static esp_status check_targets(const struct check *c)
{
    const struct esp_plan *plan = c->plan;
    const char *name = esp_op_name(plan->op);
    if (!plan->targets)
        return ESP_OK;
    if (!espi_op_takes_targets(plan->op))
        return espi_err(c->err, ESP_EINPUT, "%s %s has no targets: it is for all hosts",
                        espi_article(name), name);
    if (plan->n_targets < 1)
        return espi_err(c->err, ESP_EINPUT, "the list of targets is empty");
    memset(c->has, 0, (size_t)c->p->n_nodes);
    for (int i = 0; i < plan->n_targets; i++) {
        int v = plan->targets[i];
        char a[64];
        if (!is_host(c->p, v))
            return espi_err(c->err, ESP_EINPUT, "target %d is no host", i);
        if (v == plan->root || c->has[v]++)
            return espi_err(c->err, ESP_EINPUT, "%s is a target twice, or the root",
                            name_of(c, v, a, sizeof a));
    }
    return ESP_OK;
}

static esp_status check_ends(const struct check *c)
{
    esp_status st = check_targets(c);
    for (int t = 0; t < c->plan->n_trees && !st; t++)
        st = check_tree_ends(c, t);
    return st;
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
    if (espi_op_has_pairs(plan->op) && p->n_hosts > ESPI_PAIRS_HOSTS)
        return espi_err(err, ESP_EINPUT, "an alltoall is planned for up to %d hosts",
                        ESPI_PAIRS_HOSTS);
    if (bad_figure(plan->size_bytes) || bad_figure(plan->slice_bytes) ||
        bad_figure(plan->throughput_Bps) || bad_figure(plan->makespan_s) ||
        bad_figure(plan->bound_Bps) || bad_figure(plan->plan_s) ||
        bad_figure(plan->patience) || bad_figure(plan->makespan_bound_s))
        return espi_err(err, ESP_EINPUT,
                        "the figures of the plan must be finite and not negative");
    if (plan->redundant && plan->op != ESP_OP_BCAST)
        return espi_err(err, ESP_EINPUT, "only a bcast can be redundant");
    return espi_slices_check(plan->size_bytes, plan->slice_bytes, ESP_EINPUT, err);
}

/* Each node once, no more than may be rented, and some wherever bytes come or go. */
static esp_status check_rents(struct check *c)
{
    const struct esp_plan *plan = c->plan;
    char name[64];
    memset(c->has, 0, (size_t)c->p->n_nodes);
    for (int i = 0; i < plan->n_rents; i++) {
        const struct esp_rent *rent = &plan->rents[i];
        if (rent->node < 0 || rent->node >= c->p->n_nodes)
            return espi_err(c->err, ESP_EINPUT, "machines are rented at no node");
        int most = esp_platform_node_machines(c->p, rent->node).max_count;
        espi_quote(name, sizeof name, espi_node_name(c->p, rent->node));
        if (c->has[rent->node]++)
            return espi_err(c->err, ESP_EINPUT, "machines at '%s' are counted twice",
                            name);
        if (rent->count < 1 || rent->count > most)
            return espi_err(c->err, ESP_EINPUT,
                            "%d machines at '%s', of which there may be 1 to %d",
                            rent->count, name, most);
    }
    for (int t = 0; plan->n_rents && t < plan->n_trees; t++)
        for (int i = 0; i < plan->trees[t].n_edges; i++)
            for (int end = 0; end < 2; end++) {
                const struct esp_edge *e = &plan->trees[t].edges[i];
                int v = end ? e->to : e->from;
                if (!c->has[v])
                    return espi_err(
                        c->err, ESP_EINPUT, "there is no machine at '%s'",
                        espi_quote(name, sizeof name, espi_node_name(c->p, v)));
            }
    return ESP_OK;
}

esp_status esp_plan_check(const struct esp_plan *plan, const struct esp_platform *p,
                          struct esp_err *err)
{
    esp_status st = check_head(plan, p, err);
    if (st)
        return st;
    struct check c = {
        .p = p, .plan = plan, .parts = espi_plan_parts(plan, p->n_hosts), .err = err};
    c.has = espi_malloc((size_t)p->n_nodes);
    c.seen_on = ESPI_NEW(int, p->n_nodes);
    if (!c.has || !c.seen_on)
        st = espi_err_nomem(err);
    if (!st)
        st = check_ends(&c);
    if (!st)
        st = check_weights(&c);
    for (c.tree = 0; c.tree < plan->n_trees && !st; c.tree++)
        st = check_tree(&c);
    if (!st)
        st = check_rents(&c);
    espi_free(c.has);
    espi_free(c.seen_on);
    if (!st)
        st = espi_messages_check(plan, p, err);
    if (!st && plan->schedule && espi_plan_has_steps(plan))
        st = espi_err(err, ESP_EINPUT, "a plan that has steps has no schedule");
    if (!st && plan->schedule)
        st = espi_schedule_check(plan->schedule, plan, p, err);
    return st;
}
