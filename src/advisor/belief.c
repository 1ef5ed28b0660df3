#include "advisor/belief.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "advisor/tuning.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/portable_math.h"
#include "platform/platform.h"

/* ---- resources ---- */

static int site_of(const struct esp_platform *p, int node)
{
    return espi_is_switch(p, node) ? -1 : p->node_site[node];
}

/* Does it lead from one site to another? */
static int is_far(const struct esp_platform *p, int link)
{
    int from = site_of(p, p->tail[link]), to = site_of(p, p->head[link]);
    return from >= 0 && to >= 0 && from != to;
}

static int cables_of(const struct esp_platform *p, int link, const int **cables)
{
    int first = p->n_shared ? p->link_shared.start[link] : 0;
    *cables = p->n_shared ? p->link_shared.item + first : NULL;
    return p->n_shared ? p->link_shared.start[link + 1] - first : 0;
}

/* A link without a cable goes with the others between the same two sites; within a site
 * it is alone. Numbers are spread: pairs of sites first, then links. */
static int spread_number(const struct esp_platform *p, int link)
{
    int sites = p->n_sites;
    return is_far(p, link) ? site_of(p, p->tail[link]) * sites + site_of(p, p->head[link])
                           : sites * sites + link;
}

/* Cables come first, by their numbers. */
static int list_resources(struct espi_belief *b)
{
    const struct esp_platform *net = b->net;
    size_t spread = (size_t)net->n_sites * (size_t)net->n_sites + (size_t)net->n_links;
    size_t uses = (size_t)(net->n_shared ? net->link_shared.start[net->n_links] : 0);
    int *number = ESPI_NEW(int, spread + 1), n = 0;
    b->first = ESPI_NEW(int, (size_t)net->n_links + 1);
    b->resource = ESPI_NEW(int, uses + (size_t)net->n_links + 1);
    if (!number || !b->first || !b->resource) {
        espi_free(number);
        return -1;
    }
    memset(number, -1, spread * sizeof *number);
    b->n_resources = net->n_shared;
    for (int e = 0; e < net->n_links; e++) {
        const int *cables;
        int count = cables_of(net, e, &cables);
        b->first[e] = n;
        for (int i = 0; i < count; i++)
            b->resource[n++] = cables[i];
        if (count)
            continue;
        int *at = &number[spread_number(net, e)];
        if (*at < 0)
            *at = b->n_resources++;
        b->resource[n++] = *at;
    }
    b->first[net->n_links] = n;
    espi_free(number);
    return 0;
}

static void rate_cable(const struct esp_platform *net, int cable, struct espi_fate *fate)
{
    double fastest_Bps = 0;
    for (int k = net->shared_links.start[cable]; k < net->shared_links.start[cable + 1];
         k++)
        fastest_Bps = fmax(fastest_Bps, net->bandwidth_Bps[net->shared_links.item[k]]);
    fate->full_Bps = net->shared_Bps[cable];
    fate->shown_Bps = fmin(fate->full_Bps, fastest_Bps);
}

static void rate_resources(struct espi_belief *b)
{
    const struct esp_platform *net = b->net;
    for (int r = 0; r < b->n_resources; r++)
        b->fate[r].full_Bps = b->fate[r].shown_Bps = INFINITY;
    for (int r = 0; r < net->n_shared; r++)
        rate_cable(net, r, &b->fate[r]);
    for (int e = net->n_links - 1; e >= 0; e--)
        for (int i = b->first[e]; i < b->first[e + 1]; i++) {
            struct espi_fate *fate = &b->fate[b->resource[i]];
            fate->is_far = (fate->is_far || fate->n_links == 0) && is_far(net, e);
            fate->first_link = e;
            fate->n_links++;
            if (b->resource[i] >= net->n_shared)
                fate->full_Bps = fate->shown_Bps =
                    fmin(fate->full_Bps, net->bandwidth_Bps[e]);
        }
}

esp_status espi_belief_init(struct espi_belief *b, const struct esp_platform *net,
                            double forget_s, struct esp_err *err)
{
    *b = (struct espi_belief){
        .net = net, .forget_s = forget_s, .message_most_s = ESPI_MESSAGE_MOST_S};
    if (!list_resources(b))
        b->fate = espi_calloc((size_t)b->n_resources + 1, sizeof *b->fate);
    b->fixed = net->n_hosts < net->n_nodes;
    esp_status st = b->fate ? ESP_OK : espi_err_nomem(err);
    if (!st)
        rate_resources(b);
    if (!st && b->fixed)
        st = espi_view_init(&b->ways, net, 65536, &b->arena, err);
    if (st)
        espi_belief_done(b);
    return st;
}

void espi_belief_done(struct espi_belief *b)
{
    for (int r = 0; r < b->n_resources && b->fate; r++)
        espi_series_free(b->fate[r].series);
    espi_free(b->fate);
    espi_free(b->first);
    espi_free(b->resource);
    espi_arena_done(&b->arena);
    *b = (struct espi_belief){0};
}

static int is_full(const struct espi_belief *b, int resource, double now_s)
{
    return espi_belief_factor(b, resource, now_s, NULL) >= ESPI_FULL;
}

esp_status espi_belief_hear(struct espi_belief *b, int resource, double factor,
                            enum espi_evidence by, double now_s, struct esp_err *err)
{
    struct espi_fate *fate = &b->fate[resource];
    int was_full = is_full(b, resource, now_s);
    if (!fate->series) {
        esp_status st = espi_series_create(&fate->series, err);
        if (st)
            return st;
        espi_series_add(fate->series, 1); /* what the platform says */
    }
    espi_series_add(fate->series, fmin(fmax(factor, ESPI_FACTOR_MIN), 1));
    int again = fate->heard_s == now_s; /* a call may tell of it by several pairs */
    fate->heard_s = now_s;
    if (is_full(b, resource, now_s) != was_full)
        memset(fate->told, 0, sizeof fate->told);
    if (!again || fate->told[by] == 0)
        fate->told[by]++;
    return ESP_OK;
}

void espi_belief_forget(struct espi_belief *b, int resource)
{
    espi_series_free(b->fate[resource].series);
    b->fate[resource].series = NULL;
    b->fate[resource].heard_s = 0;
    memset(b->fate[resource].told, 0, sizeof b->fate[resource].told);
}

double espi_belief_factor(const struct espi_belief *b, int resource, double now_s,
                          double *error)
{
    const struct espi_fate *fate = &b->fate[resource];
    struct espi_forecast f;
    if (error)
        *error = 0;
    if (!fate->series || espi_series_next(fate->series, &f))
        return 1;
    double fresh = espi_exp2(-fmax(now_s - fate->heard_s, 0) / b->forget_s);
    if (error)
        *error = fresh * f.mean_error;
    return 1 - fresh * (1 - fmin(fmax(f.value, ESPI_FACTOR_MIN), 1));
}

/* What a cable with that factor leaves a link of its bandwidth. */
static double left_by_cable(const struct esp_platform *net, int cable, double factor,
                            int link)
{
    return factor < 1 ? net->shared_Bps[cable] * factor / net->bandwidth_Bps[link] : 1;
}

double espi_belief_link_factor(const struct espi_belief *b, int link, double now_s,
                               double *error)
{
    double least = 1, off_least = 0;
    for (int i = b->first[link]; i < b->first[link + 1]; i++) {
        int r = b->resource[i];
        double off, factor = espi_belief_factor(b, r, now_s, &off);
        if (r < b->net->n_shared)
            factor = left_by_cable(b->net, r, factor, link);
        if (i == b->first[link] || factor < least) {
            least = fmin(factor, 1);
            off_least = off;
        }
    }
    if (error)
        *error = off_least;
    return least;
}

/* ---- platforms ---- */

/* Factors of all resources, with cables first, and what they leave of the links. */
static void set_factors(const struct espi_belief *b, double now_s, const double *lots,
                        double *own, double *factor)
{
    const struct esp_platform *net = b->net;
    for (int r = 0; r < b->n_resources; r++) {
        double error;
        own[r] = espi_belief_factor(b, r, now_s, &error);
        if (lots)
            own[r] = fmin(fmax(own[r] + lots[r] * error, ESPI_FACTOR_MIN), 1);
    }
    for (int e = 0; e < net->n_links; e++) {
        factor[e] = 1;
        for (int i = b->first[e]; i < b->first[e + 1]; i++) {
            int r = b->resource[i];
            double left = r < net->n_shared ? left_by_cable(net, r, own[r], e) : own[r];
            factor[e] = fmin(factor[e], left);
        }
    }
}

static esp_status add_nodes(const struct esp_platform *net, struct esp_builder *builder,
                            struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < net->n_nodes && !st; i++) {
        int site = net->node_site[i];
        struct esp_node_spec spec = {
            espi_node_name(net, i), site < 0 ? NULL : espi_names_text(&net->sites, site),
            espi_is_switch(net, i) ? ESP_NODE_SWITCH : ESP_NODE_HOST, net->send_s[i],
            net->recv_s[i]};
        st = esp_builder_add_node(builder, &spec, NULL, err);
    }
    return st;
}

/* One link a way: link e is arc e of b->ways. */
static esp_status add_ways(const struct espi_belief *b, const double *factor,
                           struct esp_builder *builder, struct esp_err *err)
{
    const struct espi_view *w = &b->ways;
    esp_status st = ESP_OK;
    for (int e = 0; e < w->g.m && !st; e++) {
        double Bps = INFINITY;
        for (int i = w->hop_start[e]; i < w->hop_start[e + 1]; i++)
            Bps = fmin(Bps, b->net->bandwidth_Bps[w->hops[i]] * factor[w->hops[i]]);
        st = esp_builder_add_link(builder, w->node[w->g.tail[e]], w->node[w->g.head[e]],
                                  w->latency_s[e], Bps, NULL, err);
    }
    return st;
}

/* The ways that pass each link of the network, listed once for all cables. */
struct passers {
    int *start, *way; /* of link e: way[start[e]] .. way[start[e + 1] - 1] */
    int *seen;        /* way -> number of the last cable it was listed for */
    int *list;
};

static esp_status passers_init(struct passers *p, const struct espi_belief *b,
                               struct espi_arena *arena, struct esp_err *err)
{
    const struct espi_view *w = &b->ways;
    int n_links = b->net->n_links, n_hops = w->hop_start[w->g.m];
    p->start = ESPI_ARENA_ZNEW(arena, int, (size_t)n_links + 2);
    p->way = ESPI_ARENA_NEW(arena, int, (size_t)n_hops + 1);
    p->seen = ESPI_ARENA_ZNEW(arena, int, (size_t)w->g.m + 1);
    p->list = ESPI_ARENA_NEW(arena, int, (size_t)w->g.m + 1);
    if (!p->start || !p->way || !p->seen || !p->list)
        return espi_err_nomem(err);
    for (int i = 0; i < n_hops; i++)
        p->start[w->hops[i] + 2]++;
    for (int e = 0; e < n_links; e++)
        p->start[e + 2] += p->start[e + 1];
    for (int e = 0; e < w->g.m; e++)
        for (int i = w->hop_start[e]; i < w->hop_start[e + 1]; i++)
            p->way[p->start[w->hops[i] + 1]++] = e;
    return ESP_OK;
}

/* Those of a link that are not listed yet for that cable. */
static int list_link(struct passers *p, int link, int cable, int n)
{
    for (int i = p->start[link]; i < p->start[link + 1]; i++)
        if (p->seen[p->way[i]] != cable) {
            p->seen[p->way[i]] = cable;
            p->list[n++] = p->way[i];
        }
    return n;
}

/* The ways that pass a link, or one of those on a cable, share it. */
static esp_status add_cables(const struct espi_belief *b, const double *factor,
                             const double *cable, struct esp_builder *builder,
                             struct esp_err *err)
{
    const struct esp_platform *net = b->net;
    struct espi_arena arena;
    struct passers p;
    char name[32];
    espi_arena_init(&arena);
    esp_status st = passers_init(&p, b, &arena, err);
    for (int e = 0; e < net->n_links && !st; e++) {
        int n = list_link(&p, e, e + 1, 0);
        snprintf(name, sizeof name, "link %d", e);
        if (n > 1)
            st = esp_builder_add_cable(builder, name, net->bandwidth_Bps[e] * factor[e],
                                       p.list, n, err);
    }
    for (int s = 0; s < net->n_shared && !st; s++) {
        int n = 0;
        snprintf(name, sizeof name, "cable %d", s);
        for (int k = net->shared_links.start[s]; k < net->shared_links.start[s + 1]; k++)
            n = list_link(&p, net->shared_links.item[k], net->n_links + s + 1, n);
        if (n > 1)
            st = esp_builder_add_cable(builder, name, net->shared_Bps[s] * cable[s],
                                       p.list, n, err);
    }
    espi_arena_done(&arena);
    return st;
}

static esp_status build_ways(const struct espi_belief *b, const double *factor,
                             const double *cable, struct esp_platform **out,
                             struct esp_err *err)
{
    struct esp_builder *builder;
    esp_status st = esp_builder_create(&builder, err);
    if (st)
        return st;
    esp_builder_set_model(builder, b->net->model);
    st = add_nodes(b->net, builder, err);
    if (!st)
        st = add_ways(b, factor, builder, err);
    if (!st)
        st = add_cables(b, factor, cable, builder, err);
    if (!st)
        st = esp_builder_build(builder, out, err);
    esp_builder_free(builder);
    return st;
}

/* Where nothing but the network limits hosts, what messages take of them is no more than
 * one figure (select/slices.h). */
static void set_messages(const struct espi_belief *b, struct esp_platform *p)
{
    if (p->model != ESP_MODEL_CAPACITY || !(b->message_s > 0))
        return;
    for (int v = 0; v < p->n_nodes; v++)
        p->send_s[v] = fmax(p->send_s[v], b->message_s);
    p->has_send = 1;
}

static esp_status make_platform(const struct espi_belief *b, double now_s,
                                const double *lots, int ways, struct esp_platform **out,
                                struct esp_err *err)
{
    const struct esp_platform *net = b->net;
    double *factor = ESPI_NEW(double, (size_t)net->n_links + 1);
    double *own = ESPI_NEW(double, (size_t)b->n_resources + 1);
    esp_status st = factor && own ? ESP_OK : espi_err_nomem(err);
    if (!st) {
        set_factors(b, now_s, lots, own, factor);
        st = ways ? build_ways(b, factor, own, out, err)
                  : espi_platform_scaled(net, factor, own, out, err);
    }
    if (!st)
        set_messages(b, *out);
    espi_free(factor);
    espi_free(own);
    return st;
}

esp_status espi_belief_platform(const struct espi_belief *b, double now_s,
                                const double *lots, struct esp_platform **out,
                                struct esp_err *err)
{
    return make_platform(b, now_s, lots, b->fixed, out, err);
}

esp_status espi_belief_scaled(const struct espi_belief *b, double now_s,
                              struct esp_platform **out, struct esp_err *err)
{
    return make_platform(b, now_s, NULL, 0, out, err);
}

int espi_belief_links(const struct espi_belief *b, const struct espi_view *v, int arc,
                      const int **links)
{
    int first = v->hop_start[arc], n = v->hop_start[arc + 1] - first;
    *links = v->hops + first;
    if (!b->fixed || n != 1)
        return b->fixed ? 0 : n;
    int way = v->hops[first];
    *links = b->ways.hops + b->ways.hop_start[way];
    return b->ways.hop_start[way + 1] - b->ways.hop_start[way];
}

/* ---- plans ---- */

static esp_status translate_tree(const struct espi_belief *b, const struct esp_tree *tree,
                                 struct espi_arena *arena, struct esp_plan *plan,
                                 struct esp_err *err)
{
    const struct espi_view *w = &b->ways;
    size_t total = 0;
    for (int i = 0; i < tree->n_hops; i++)
        total += (size_t)(w->hop_start[tree->hops[i] + 1] - w->hop_start[tree->hops[i]]);
    int *start = ESPI_ARENA_NEW(arena, int, (size_t)tree->n_edges + 1), n = 0;
    int *hops = ESPI_ARENA_NEW(arena, int, total + 1);
    if (!start || !hops)
        return espi_err_nomem(err);
    for (int i = 0; i < tree->n_edges; i++) {
        const struct esp_edge *e = &tree->edges[i];
        start[i] = n;
        for (int k = e->first_hop; k < e->first_hop + e->n_hops; k++)
            for (int h = w->hop_start[tree->hops[k]]; h < w->hop_start[tree->hops[k] + 1];
                 h++)
                hops[n++] = w->hops[h];
    }
    start[tree->n_edges] = n;
    return esp_plan_add_tree(plan, b->net, tree->weight, tree->n_edges, start, hops, err);
}

esp_status espi_belief_translate(const struct espi_belief *b, const struct esp_plan *plan,
                                 struct esp_plan **out, struct esp_err *err)
{
    struct espi_arena arena;
    struct esp_plan *copy = NULL;
    if (!b->fixed) {
        esp_status st = esp_plan_copy(plan, out, err);
        if (!st)
            (*out)->bound_Bps = 0; /* it is that of a network that is believed */
        return st;
    }
    espi_arena_init(&arena);
    esp_status st = esp_plan_create(plan->op, plan->root, plan->algo, &copy, err);
    for (int t = 0; t < plan->n_trees && !st; t++)
        st = translate_tree(b, &plan->trees[t], &arena, copy, err);
    espi_arena_done(&arena);
    if (st) {
        esp_plan_free(copy);
        return st;
    }
    copy->size_bytes = plan->size_bytes;
    copy->slice_bytes = plan->slice_bytes;
    copy->makespan_s = plan->makespan_s;
    *out = copy;
    return ESP_OK;
}
