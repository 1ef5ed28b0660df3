#include "runtime/rank_platform.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/err.h"
#include "plan/ops.h"
#include "plan/schedule.h"
#include "platform/platform.h"
#include "runtime/tuning.h"

/* ---- which node is which rank's ---- */

static int same_up_to_dot(const char *a, const char *b)
{
    size_t n = strcspn(a, ".");
    return n == strcspn(b, ".") && memcmp(a, b, n) == 0;
}

int espi_find_host(const struct esp_platform *net, const char *name, int *several)
{
    int node = esp_platform_find_node(net, name), found = -1;
    *several = 0;
    if (node >= 0 && !espi_is_switch(net, node))
        return node;
    for (int i = 0; i < net->n_nodes; i++)
        if (!espi_is_switch(net, i) && same_up_to_dot(espi_node_name(net, i), name)) {
            *several = found >= 0;
            if (*several)
                return -1;
            found = i;
        }
    return found;
}

esp_status espi_find_nodes(const struct esp_platform *net, int n,
                           const char *const *host_name, int *node, struct esp_err *err)
{
    for (int i = 0; i < n; i++) {
        int several;
        char quoted[80];
        node[i] = i && strcmp(host_name[i], host_name[i - 1]) == 0
                      ? node[i - 1]
                      : espi_find_host(net, host_name[i], &several);
        if (node[i] >= 0)
            continue;
        espi_quote(quoted, sizeof quoted, host_name[i]);
        return espi_err(err, ESP_EINPUT, "rank %d runs on host %s, %s in the platform", i,
                        quoted, several ? "which several nodes may be" : "which is not");
    }
    return ESP_OK;
}

/* ---- the platform of the ranks ---- */

struct making {
    struct espi_rank_platform *rank_platform;
    const struct esp_platform *net;
    const int *node; /* rank -> node of the network */
    int outsiders;   /* hosts without a rank become switches, or are left out */
    struct esp_builder *builder;
    struct espi_arena arena;
    int *place;   /* node of the network -> node of the team, -1: none */
    int *next_in; /* rank -> the next rank on the same machine, -1: none */
    struct esp_err *err;
};

static esp_status add_node(struct making *m, const char *name, const char *site,
                           const struct esp_node_spec *like)
{
    struct esp_node_spec spec = *like;
    spec.name = name;
    spec.site = site;
    return esp_builder_add_node(m->builder, &spec, NULL, m->err);
}

static struct esp_node_spec spec_of(const struct esp_platform *net, int node)
{
    return (struct esp_node_spec){
        .kind = ESP_NODE_HOST, .send_s = net->send_s[node], .recv_s = net->recv_s[node]};
}

/* First ranks carry the name of their node, so that messages can name it. */
static esp_status add_ranks(struct making *m)
{
    static const struct esp_node_spec plain = {NULL, NULL, ESP_NODE_HOST, ESP_UNSET,
                                               ESP_UNSET};
    const struct esp_platform *net = m->net;
    esp_status st = ESP_OK;
    for (int r = 0; r < m->rank_platform->n && !st; r++) {
        int node = m->node[r];
        const char *site = esp_platform_node_site(net, node);
        struct esp_node_spec own = spec_of(net, node);
        char name[320];
        if (m->rank_platform->leader[r] == r) {
            st = add_node(m, espi_node_name(net, node), site, &own);
            continue;
        }
        snprintf(name, sizeof name, "%.255s#%d", espi_node_name(net, node), r);
        st = add_node(m, name, site, &plain);
    }
    return st;
}

static esp_status add_others(struct making *m)
{
    const struct esp_platform *net = m->net;
    esp_status st = ESP_OK;
    int next = m->rank_platform->n;
    for (int i = 0; i < net->n_nodes && !st; i++) {
        struct esp_node_spec spec = spec_of(net, i);
        if (m->place[i] >= 0 || !(espi_is_switch(net, i) || m->outsiders))
            continue;
        if (!espi_is_switch(net, i))
            spec.send_s = spec.recv_s = ESP_UNSET;
        spec.kind = ESP_NODE_SWITCH;
        m->place[i] = next++;
        st = add_node(m, espi_node_name(net, i), esp_platform_node_site(net, i), &spec);
    }
    return st;
}

static esp_status add_network_links(struct making *m)
{
    const struct esp_platform *net = m->net;
    esp_status st = ESP_OK;
    for (int e = 0; e < net->n_links && !st; e++) {
        int from = m->place[net->tail[e]], to = m->place[net->head[e]];
        m->rank_platform->link[e] = -1;
        if (from >= 0 && to >= 0)
            st = esp_builder_add_link(m->builder, from, to, net->latency_s[e],
                                      net->bandwidth_Bps[e], &m->rank_platform->link[e],
                                      m->err);
    }
    return st;
}

static esp_status add_cables(struct making *m)
{
    const struct esp_platform *net = m->net;
    int *links = ESPI_ARENA_NEW(&m->arena, int, net->n_links);
    esp_status st = links ? ESP_OK : espi_err_nomem(m->err);
    for (int c = 0; c < net->n_shared && !st; c++) {
        int n = 0;
        for (int k = net->shared_links.start[c]; k < net->shared_links.start[c + 1]; k++)
            if (m->rank_platform->link[net->shared_links.item[k]] >= 0)
                links[n++] = m->rank_platform->link[net->shared_links.item[k]];
        if (n)
            st = esp_builder_add_cable(m->builder, espi_shared_name(net, c),
                                       net->shared_Bps[c], links, n, m->err);
    }
    return st;
}

/* All pairs of ranks on a machine, given the first of them. */
static esp_status add_inside_links(struct making *m, int first)
{
    esp_status st = ESP_OK;
    for (int a = first; a >= 0; a = m->next_in[a])
        for (int b = first; b >= 0 && !st; b = m->next_in[b])
            if (a != b)
                st = esp_builder_add_link(m->builder, a, b, ESPI_INSIDE_LATENCY_S,
                                          ESPI_INSIDE_BPS, NULL, m->err);
    return st;
}

static esp_status build_platform(struct making *m)
{
    struct espi_rank_platform *rank_platform = m->rank_platform;
    esp_status st = esp_builder_create(&m->builder, m->err);
    if (st)
        return st;
    esp_builder_set_model(m->builder, m->net->model);
    st = esp_builder_set_name(m->builder, m->net->name ? m->net->name : "", m->err);
    if (!st)
        st = add_ranks(m);
    if (!st)
        st = add_others(m);
    if (!st)
        st = add_network_links(m);
    if (!st)
        st = add_cables(m);
    for (int r = 0; r < rank_platform->n && !st; r++)
        if (rank_platform->leader[r] == r)
            st = add_inside_links(m, r);
    if (!st)
        st = esp_builder_build(m->builder, &rank_platform->p, m->err);
    esp_builder_free(m->builder);
    return st;
}

/* Who is where: first ranks, and the others of a machine behind them. */
static esp_status place_ranks(struct making *m)
{
    struct espi_rank_platform *rank_platform = m->rank_platform;
    m->place = ESPI_ARENA_NEW(&m->arena, int, m->net->n_nodes);
    m->next_in = ESPI_ARENA_NEW(&m->arena, int, rank_platform->n);
    int *last = ESPI_ARENA_NEW(&m->arena, int, rank_platform->n);
    if (!m->place || !m->next_in || !last)
        return espi_err_nomem(m->err);
    for (int i = 0; i < m->net->n_nodes; i++)
        m->place[i] = -1;
    for (int r = 0; r < rank_platform->n; r++) {
        int *place = &m->place[m->node[r]];
        m->next_in[r] = -1;
        if (*place < 0)
            *place = r;
        else
            m->next_in[last[*place]] = r;
        rank_platform->leader[r] = *place;
        last[*place] = r;
    }
    return ESP_OK;
}

static esp_status try_to_make(struct espi_rank_platform *rank_platform,
                              const struct esp_platform *net, const int *node,
                              int outsiders, struct esp_err *err)
{
    struct making m = {rank_platform, net, node, outsiders, .err = err};
    espi_arena_init(&m.arena);
    esp_status st = place_ranks(&m);
    if (!st)
        st = build_platform(&m);
    espi_arena_done(&m.arena);
    return st;
}

esp_status espi_rank_platform_create(struct espi_rank_platform *out,
                                     const struct esp_platform *net, int n,
                                     const int *node, struct esp_err *err)
{
    struct espi_rank_platform rank_platform = {.n = n};
    rank_platform.leader = ESPI_NEW(int, n);
    rank_platform.link = ESPI_NEW(int, net->n_links ? net->n_links : 1);
    esp_status st = rank_platform.leader && rank_platform.link
                        ? try_to_make(&rank_platform, net, node, 0, err)
                        : espi_err_nomem(err);
    if (!st)
        st = esp_platform_check_root(rank_platform.p, 0, err);
    if (st == ESP_EINPUT && rank_platform.p) {
        esp_platform_free(rank_platform.p);
        rank_platform.p = NULL;
        st = try_to_make(&rank_platform, net, node, 1, err);
        if (!st)
            st = esp_platform_check_root(rank_platform.p, 0, err);
    }
    if (st)
        espi_rank_platform_done(&rank_platform);
    else
        *out = rank_platform;
    return st;
}

static esp_status add_equal(struct esp_builder *b, int n, struct esp_err *err)
{
    const double latency_s = ESPI_EQUAL_LATENCY_S, Bps = ESPI_EQUAL_BPS;
    int hub = n > ESPI_EQUAL_COMPLETE_MAX ? n : -1;
    esp_status st = ESP_OK;
    for (int r = 0; r < n + (hub >= 0) && !st; r++) {
        char name[16];
        snprintf(name, sizeof name, "%d", r);
        struct esp_node_spec spec = {.name = name,
                                     .kind = r == hub ? ESP_NODE_SWITCH : ESP_NODE_HOST,
                                     .send_s = ESP_UNSET,
                                     .recv_s = ESP_UNSET};
        st = esp_builder_add_node(b, &spec, NULL, err);
    }
    for (int a = 0; a < n && !st; a++)
        for (int c = hub >= 0 ? hub : 0; c < n + (hub >= 0) && !st; c++) {
            if (a == c)
                continue;
            st = esp_builder_add_link(b, a, c, latency_s / (hub >= 0 ? 2 : 1), Bps, NULL,
                                      err);
            if (!st && hub >= 0)
                st = esp_builder_add_link(b, c, a, latency_s / 2, Bps, NULL, err);
        }
    return st;
}

esp_status espi_rank_platform_create_equal(struct espi_rank_platform *out, int n,
                                           struct esp_err *err)
{
    struct espi_rank_platform rank_platform = {.n = n};
    struct esp_builder *b;
    esp_status st = esp_builder_create(&b, err);
    if (st)
        return st;
    rank_platform.leader = ESPI_NEW(int, n);
    st = rank_platform.leader ? add_equal(b, n, err) : espi_err_nomem(err);
    if (!st)
        st = esp_builder_build(b, &rank_platform.p, err);
    esp_builder_free(b);
    if (st) {
        espi_rank_platform_done(&rank_platform);
        return st;
    }
    for (int r = 0; r < n; r++)
        rank_platform.leader[r] = r;
    *out = rank_platform;
    return ESP_OK;
}

void espi_rank_platform_done(struct espi_rank_platform *rank_platform)
{
    esp_platform_free(rank_platform->p);
    espi_free(rank_platform->leader);
    espi_free(rank_platform->link);
    memset(rank_platform, 0, sizeof *rank_platform);
}

/* ---- plans from outside ---- */

struct adapting {
    const struct espi_rank_platform *rank_platform;
    const struct esp_tree *tree;
    int root;
    int *start, *hops, n_edges, n_hops;
};

/* A transfer over one link inside a machine. */
static void add_inside(struct adapting *a, int from, int to)
{
    a->hops[a->n_hops++] = esp_platform_find_link(a->rank_platform->p, from, to);
    a->start[++a->n_edges] = a->n_hops;
}

static void add_given(struct adapting *a)
{
    for (int i = 0; i < a->tree->n_edges; i++) {
        const struct esp_edge *e = &a->tree->edges[i];
        for (int h = 0; h < e->n_hops; h++)
            a->hops[a->n_hops++] =
                a->rank_platform->link[a->tree->hops[e->first_hop + h]];
        a->start[++a->n_edges] = a->n_hops;
    }
}

/* The given tree between first ranks; before it the way from the root to the first rank
 * of its machine, behind it those from the first ranks to the others. */
static esp_status adapt_tree(const struct espi_rank_platform *rank_platform,
                             const struct esp_tree *tree, int root,
                             struct espi_arena *arena, struct esp_plan *plan,
                             struct esp_err *err)
{
    struct adapting a = {rank_platform, tree, root, NULL, NULL, 0, 0};
    a.start =
        ESPI_ARENA_ZNEW(arena, int, (size_t)tree->n_edges + (size_t)rank_platform->n + 2);
    a.hops =
        ESPI_ARENA_NEW(arena, int, (size_t)tree->n_hops + (size_t)rank_platform->n + 1);
    if (!a.start || !a.hops)
        return espi_err_nomem(err);
    if (rank_platform->leader[root] != root)
        add_inside(&a, root, rank_platform->leader[root]);
    add_given(&a);
    for (int r = 0; r < rank_platform->n; r++)
        if (rank_platform->leader[r] != r && r != root)
            add_inside(&a, rank_platform->leader[r], r);
    return esp_plan_add_tree(plan, rank_platform->p, tree->weight, a.n_edges, a.start,
                             a.hops, err);
}

/* A tree for ranks that are the only ones on their machines. rank: node -> rank. */
static esp_status adapt_plain(const struct espi_rank_platform *rank_platform,
                              const struct esp_tree *tree, const int *rank,
                              struct espi_arena *arena, struct esp_plan *plan,
                              struct esp_err *err)
{
    struct adapting a = {rank_platform, tree, 0, NULL, NULL, 0, 0};
    int *targets = ESPI_ARENA_NEW(arena, int, tree->n_targets);
    a.start = ESPI_ARENA_ZNEW(arena, int, (size_t)tree->n_edges + 1);
    a.hops = ESPI_ARENA_NEW(arena, int, tree->n_hops);
    if (!a.start || !a.hops || !targets)
        return espi_err_nomem(err);
    add_given(&a);
    for (int i = 0; i < tree->n_targets; i++)
        targets[i] = rank[tree->targets[i]];
    esp_status st = esp_plan_add_tree(plan, rank_platform->p, tree->weight, a.n_edges,
                                      a.start, a.hops, err);
    if (!st)
        st = esp_plan_set_tree_ends(plan, rank[tree->root], tree->n_targets,
                                    tree->n_targets ? targets : NULL, err);
    return !st && tree->steps ? esp_plan_set_tree_steps(plan, tree->steps, err) : st;
}

static int *ranks_of_nodes(const struct espi_rank_platform *rank_platform,
                           const struct esp_platform *net, const int *node,
                           struct espi_arena *arena)
{
    int *rank = ESPI_ARENA_ZNEW(arena, int, net->n_nodes);
    for (int r = rank_platform->n - 1; rank && r >= 0; r--)
        rank[node[r]] = r;
    return rank;
}

static esp_status check_fits(const struct espi_rank_platform *rank_platform,
                             const struct esp_platform *net, const int *node,
                             const struct esp_plan *plan, int root, struct esp_err *err)
{
    int machines = 0;
    for (int r = 0; r < rank_platform->n; r++)
        machines += rank_platform->leader[r] == r;
    if (plan->op == ESP_OP_MULTICAST || plan->targets)
        return espi_err(err, ESP_EUNSUPPORTED, "the plan is for some hosts, not for all");
    if (plan->op != ESP_OP_BCAST && machines != rank_platform->n)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "the plan is for hosts with one rank each");
    if (!rank_platform->link ||
        (node[root] != plan->root && !espi_op_frees_roots(plan->op)))
        return espi_err(err, ESP_EUNSUPPORTED, "the plan is for another root");
    if (machines != net->n_hosts)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "the plan is for %d hosts, of which %d run a rank", net->n_hosts,
                        machines);
    return ESP_OK;
}

/* Where every host has one rank the edges are those of the plan, and so is its schedule,
 * if hosts pass on what they do there. */
static esp_status adapt_schedule(const struct espi_rank_platform *rank_platform,
                                 const struct esp_platform *net,
                                 const struct esp_plan *plan, struct esp_plan *mine,
                                 struct esp_err *err)
{
    if (!plan->schedule || rank_platform->n != net->n_hosts)
        return ESP_OK;
    struct esp_schedule *s = espi_schedule_copy(plan->schedule, mine->n_trees);
    if (!s)
        return espi_err_nomem(err);
    esp_status st = espi_schedule_check(s, mine, rank_platform->p, err);
    if (st)
        espi_schedule_free(s);
    else
        mine->schedule = s;
    return st == ESP_ENOMEM ? st : ESP_OK;
}

esp_status espi_rank_platform_adapt(const struct espi_rank_platform *rank_platform,
                                    const struct esp_platform *net, const int *node,
                                    const struct esp_plan *plan, int root,
                                    struct esp_plan **out, struct esp_err *err)
{
    struct espi_arena arena;
    struct esp_plan *mine = NULL;
    esp_status st = check_fits(rank_platform, net, node, plan, root, err);
    if (!st)
        st = esp_plan_create(plan->op, root, plan->algo, &mine, err);
    if (st)
        return st;
    espi_arena_init(&arena);
    /* of a redundant plan, the first tree does it all */
    int n_trees = plan->redundant ? 1 : plan->n_trees;
    int *rank = ranks_of_nodes(rank_platform, net, node, &arena);
    if (!rank)
        st = espi_err_nomem(err);
    for (int t = 0; t < n_trees && !st; t++)
        st = plan->op == ESP_OP_BCAST
                 ? adapt_tree(rank_platform, &plan->trees[t], root, &arena, mine, err)
                 : adapt_plain(rank_platform, &plan->trees[t], rank, &arena, mine, err);
    espi_arena_done(&arena);
    mine->size_bytes = plan->size_bytes;
    mine->slice_bytes = plan->slice_bytes;
    if (rank_platform->p->n_hosts == net->n_hosts) /* nobody has to pass anything on */
        mine->makespan_s = plan->makespan_s;
    if (!st)
        st = esp_plan_check(mine, rank_platform->p, err);
    if (!st)
        st = adapt_schedule(rank_platform, net, plan, mine, err);
    if (st)
        esp_plan_free(mine);
    else
        *out = mine;
    return st;
}
