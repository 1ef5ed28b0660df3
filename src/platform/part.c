/* Parts of platforms: some hosts, and what carries their traffic. */
#include "platform/part.h"

#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "platform/platform.h"

enum standing { LEFT_OUT, FORWARDS, KEPT }; /* of a node, in the part */

struct cutting {
    const struct esp_platform *p;
    unsigned char *standing;
    int *place, *link; /* node and link of p -> those of the part, -1: none */
    int *list;         /* as many as there are nodes or links */
    int (*keeps_link)(const void *self, int link); /* NULL: all */
    const void *self;
    struct espi_arena arena;
    struct esp_err *err;
};

static esp_status begin_cutting(struct cutting *c)
{
    const struct esp_platform *p = c->p;
    int longest = p->n_nodes > p->n_links ? p->n_nodes : p->n_links;
    espi_arena_init(&c->arena);
    c->standing = ESPI_ARENA_ZNEW(&c->arena, unsigned char, p->n_nodes);
    c->place = ESPI_ARENA_NEW(&c->arena, int, p->n_nodes);
    c->link = ESPI_ARENA_NEW(&c->arena, int, p->n_links + 1);
    c->list = ESPI_ARENA_NEW(&c->arena, int, longest + 1);
    return c->standing && c->place && c->link && c->list ? ESP_OK
                                                         : espi_err_nomem(c->err);
}

static esp_status keep_hosts(struct cutting *c, int n, const int *hosts)
{
    const struct esp_platform *p = c->p;
    for (int i = 0; i < n; i++) {
        if (hosts[i] < 0 || hosts[i] >= p->n_nodes || espi_is_switch(p, hosts[i]))
            return espi_err(c->err, ESP_EUSAGE, "no host has number %d", hosts[i]);
        c->standing[hosts[i]] = KEPT;
    }
    return n > 0 ? ESP_OK
                 : espi_err(c->err, ESP_EUSAGE, "a part needs at least one host");
}

/* ---- which nodes forward ---- */

/* Marks in `seen` what one node reaches over nodes that are not left out, along links or
 * against them. */
static void mark_reached(const struct cutting *c, int from, int against,
                         unsigned char mark, unsigned char *seen)
{
    const struct esp_platform *p = c->p;
    const struct espi_rows *rows = against ? &p->in : &p->out;
    const int *other = against ? p->tail : p->head;
    int n = 0;
    c->list[n++] = from;
    seen[from] |= mark;
    while (n) {
        int v = c->list[--n];
        for (int k = rows->start[v]; k < rows->start[v + 1]; k++) {
            int w = other[rows->item[k]];
            if (!c->standing[w] || seen[w] & mark)
                continue;
            seen[w] |= mark;
            c->list[n++] = w;
        }
    }
}

/* What lies on no way from one of the hosts to another is left out; gives whether they
 * all reach one another. Where they do, one of them tells of all. */
static int leave_out_idle(struct cutting *c, unsigned char *seen, int first)
{
    int joined = 1;
    memset(seen, 0, (size_t)c->p->n_nodes);
    mark_reached(c, first, 0, 1, seen);
    mark_reached(c, first, 1, 2, seen);
    for (int v = 0; v < c->p->n_nodes; v++) {
        if (c->standing[v] == KEPT)
            joined &= seen[v] == 3;
        else if (c->standing[v] == FORWARDS && seen[v] != 3)
            c->standing[v] = LEFT_OUT;
    }
    return joined;
}

/* The number of the one neighbour of v that is not left out; -1: it has none, -2: more.
 */
static int only_neighbour(const struct cutting *c, int v)
{
    const struct esp_platform *p = c->p;
    int found = -1;
    for (int side = 0; side < 2; side++) {
        const struct espi_rows *rows = side ? &p->in : &p->out;
        for (int k = rows->start[v]; k < rows->start[v + 1]; k++) {
            int w = side ? p->tail[rows->item[k]] : p->head[rows->item[k]];
            if (!c->standing[w] || w == found)
                continue;
            if (found >= 0)
                return -2;
            found = w;
        }
    }
    return found;
}

/* Dead ends forward nothing; what is left of a tree of switches is what joins hosts. */
static void cut_dead_ends(struct cutting *c)
{
    for (int v = 0; v < c->p->n_nodes; v++)
        for (int at = v; at >= 0 && c->standing[at] == FORWARDS;) {
            int next = only_neighbour(c, at);
            if (next == -2)
                break;
            c->standing[at] = LEFT_OUT;
            at = next;
        }
}

static esp_status choose_nodes(struct cutting *c)
{
    const struct esp_platform *p = c->p;
    unsigned char *seen = ESPI_ARENA_ZNEW(&c->arena, unsigned char, p->n_nodes);
    int first = 0, joined = 0;
    if (!seen)
        return espi_err_nomem(c->err);
    while (c->standing[first] != KEPT)
        first++;
    for (int outsiders = 0; outsiders < 2 && !joined; outsiders++) {
        for (int v = 0; v < p->n_nodes; v++)
            if (c->standing[v] != KEPT)
                c->standing[v] = outsiders || espi_is_switch(p, v) ? FORWARDS : LEFT_OUT;
        joined = leave_out_idle(c, seen, first);
    }
    cut_dead_ends(c);
    return ESP_OK;
}

/* ---- the copy ---- */

static esp_status copy_node(struct cutting *c, struct esp_builder *b, int v)
{
    const struct esp_platform *p = c->p;
    int turned = c->standing[v] == FORWARDS && !espi_is_switch(p, v);
    struct esp_node_spec spec = {
        espi_node_name(p, v), esp_platform_node_site(p, v),
        turned ? ESP_NODE_SWITCH : (esp_node_kind)p->node_kind[v],
        turned ? ESP_UNSET : p->send_s[v], turned ? ESP_UNSET : p->recv_s[v]};
    esp_status st = esp_builder_add_node(b, &spec, &c->place[v], c->err);
    if (!st && p->rates && !turned)
        st = esp_builder_set_rates(b, c->place[v], &p->rates[v], c->err);
    if (!st && v < (int)p->prices.machines.n && !turned) {
        struct esp_machines machines = espi_machines_get(&p->prices, v);
        st = esp_builder_set_machines(b, c->place[v], &machines, c->err);
    }
    return st;
}

static esp_status copy_link(struct cutting *c, struct esp_builder *b, int e)
{
    const struct esp_platform *p = c->p;
    int from = c->place[p->tail[e]], to = c->place[p->head[e]];
    c->link[e] = -1;
    if (from < 0 || to < 0 || (c->keeps_link && !c->keeps_link(c->self, e)))
        return ESP_OK;
    esp_status st = esp_builder_add_link(b, from, to, p->latency_s[e],
                                         p->bandwidth_Bps[e], &c->link[e], c->err);
    struct esp_rate_range range = esp_platform_link_range(p, e);
    if (!st && range.confidence != ESP_UNSET)
        st = esp_builder_set_link_range(b, c->link[e], &range, c->err);
    double price = esp_platform_link_price(p, e);
    return !st && price > 0 ? esp_builder_set_link_price(b, c->link[e], price, c->err)
                            : st;
}

/* A cable stays where one of its links does; *n counts those that stay. */
static esp_status copy_cable(struct cutting *c, struct esp_builder *b, int s, int *n)
{
    const struct esp_platform *p = c->p;
    int links = 0;
    for (int k = p->shared_links.start[s]; k < p->shared_links.start[s + 1]; k++)
        if (c->link[p->shared_links.item[k]] >= 0)
            c->list[links++] = c->link[p->shared_links.item[k]];
    if (!links)
        return ESP_OK;
    esp_status st = esp_builder_add_cable(b, espi_shared_name(p, s), p->shared_Bps[s],
                                          c->list, links, c->err);
    struct esp_rate_range range = esp_platform_cable_range(p, s);
    if (!st && range.confidence != ESP_UNSET)
        st = esp_builder_set_cable_range(b, *n, &range, c->err);
    double price = esp_platform_cable_price(p, s);
    if (!st && price > 0)
        st = esp_builder_set_cable_price(b, *n, price, c->err);
    *n += 1;
    return st;
}

static esp_status copy_part(struct cutting *c, struct esp_builder *b)
{
    const struct esp_platform *p = c->p;
    int cables = 0;
    esp_status st = esp_builder_set_name(b, p->name, c->err);
    esp_builder_set_model(b, p->model);
    for (int v = 0; v < p->n_nodes && !st; v++) {
        c->place[v] = -1;
        if (c->standing[v])
            st = copy_node(c, b, v);
    }
    for (int e = 0; e < p->n_links && !st; e++)
        st = copy_link(c, b, e);
    for (int s = 0; s < p->n_shared && !st; s++)
        st = copy_cable(c, b, s, &cables);
    if (!st && p->certainty.measured.rounds)
        st = esp_builder_set_measurement(b, &p->certainty.measured, c->err);
    return st;
}

static esp_status build_part(struct cutting *c, struct esp_platform **out)
{
    struct esp_builder *b = NULL;
    esp_status st = esp_builder_create(&b, c->err);
    if (!st)
        st = copy_part(c, b);
    if (!st)
        st = esp_builder_build(b, out, c->err);
    esp_builder_free(b);
    return st;
}

esp_status espi_platform_part(const struct esp_platform *p, int n, const int *hosts,
                              struct esp_platform **out, int *place, struct esp_err *err)
{
    struct cutting c = {.p = p, .err = err};
    esp_status st = begin_cutting(&c);
    if (!st)
        st = keep_hosts(&c, n, hosts);
    if (!st)
        st = choose_nodes(&c);
    if (!st)
        st = build_part(&c, out);
    if (!st && place)
        memcpy(place, c.place, (size_t)p->n_nodes * sizeof *place);
    espi_arena_done(&c.arena);
    return st;
}

esp_status espi_platform_without(const struct esp_platform *p, const unsigned char *keeps,
                                 int (*keeps_link)(const void *self, int link),
                                 const void *self, struct esp_platform **out,
                                 struct esp_err *err)
{
    struct cutting c = {.p = p, .keeps_link = keeps_link, .self = self, .err = err};
    esp_status st = begin_cutting(&c);
    for (int v = 0; !st && v < p->n_nodes; v++)
        c.standing[v] = keeps[v] ? KEPT : LEFT_OUT;
    if (!st)
        st = build_part(&c, out);
    espi_arena_done(&c.arena);
    return st;
}
