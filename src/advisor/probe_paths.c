/* Which ways there are between hosts, and what is noted of the resources on them. */
#include <math.h>
#include <string.h>

#include "advisor/probe_planner_impl.h"
#include "advisor/tuning.h"
#include "base/alloc.h"
#include "base/err.h"
#include "plan/plan.h"
#include "platform/platform.h"

/* ---- ways ---- */

/* Links of the way numbered so in the belief: an arc of its view, or a link. */
static int links_of(const struct espi_belief *b, int way, const int **links, int *single)
{
    if (!b->fixed) {
        *single = way;
        *links = single;
        return 1;
    }
    *links = b->ways.hops + b->ways.hop_start[way];
    return b->ways.hop_start[way + 1] - b->ways.hop_start[way];
}

static int ways_of(const struct espi_belief *b)
{
    return b->fixed ? b->ways.g.m : b->net->n_links;
}

static void ends_of(const struct espi_belief *b, int way, int *from, int *to)
{
    *from = b->fixed ? b->ways.node[b->ways.g.tail[way]] : b->net->tail[way];
    *to = b->fixed ? b->ways.node[b->ways.g.head[way]] : b->net->head[way];
}

/* Of all links of a way; one that two of them pass counts twice. */
static int count_resources(const struct espi_belief *b, int way)
{
    const int *links;
    int single, count = links_of(b, way, &links, &single), n = 0;
    for (int i = 0; i < count; i++)
        n += b->first[links[i] + 1] - b->first[links[i]];
    return n;
}

/* Is it short enough to find out which of its resources made a train slow? */
static int is_short(const struct espi_belief *b, int way)
{
    return count_resources(b, way) <= ESPI_PROBE_PLANNER_SUSPECTS;
}

/* Of the hosts that can probe all, or every so many-th where there are many. */
static void choose_hosts(struct espi_probe_planner *q)
{
    int place = 0, stride = 1 + (q->tally.hosts - 1) / ESPI_PROBED_HOSTS_MAX;
    for (int i = 0; i < q->belief->net->n_nodes; i++)
        q->chosen[i] = q->able[i] && place++ % stride == 0;
}

/* The resources of a way, each once, put behind item[n]; how many there are then. */
static int put_way(struct espi_probe_planner *q, int way, int n)
{
    const struct espi_belief *b = q->belief;
    const int *links;
    int single, first = n, count = links_of(b, way, &links, &single);
    for (int i = 0; i < count; i++)
        for (int j = b->first[links[i]]; j < b->first[links[i] + 1]; j++) {
            int r = b->resource[j], k = first;
            while (k < n && q->item[k] != r)
                k++;
            if (k == n)
                q->item[n++] = r;
        }
    return n;
}

static void put_ways(struct espi_probe_planner *q)
{
    int n = 0;
    q->n_ways = 0;
    for (int way = 0; way < ways_of(q->belief) && q->n_ways < q->ways_max; way++) {
        int from, to;
        ends_of(q->belief, way, &from, &to);
        if (!q->chosen[from] || !q->chosen[to] || !is_short(q->belief, way))
            continue;
        q->from[q->n_ways] = from;
        q->to[q->n_ways] = to;
        q->start[q->n_ways++] = n;
        n = put_way(q, way, n);
    }
    q->start[q->n_ways] = n;
}

double espi_probe_planner_narrowest_Bps(const struct espi_probe_planner *q, int way)
{
    double Bps = INFINITY;
    for (int i = q->start[way]; i < q->start[way + 1]; i++)
        Bps = fmin(Bps, q->resource[q->item[i]].nominal_Bps);
    return Bps;
}

/* Ways by resource: where one is the slowest of some, only those, since the others
 * would not show it. */
static int lists(const struct espi_probe_planner *q, int way, int i)
{
    const struct espi_probed_resource *g = &q->resource[q->item[i]];
    return !g->narrow || g->nominal_Bps <= espi_probe_planner_narrowest_Bps(q, way);
}

static void put_lists(struct espi_probe_planner *q)
{
    for (int g = 0; g < q->n_resources; g++)
        q->resource[g].narrow = 0;
    memset(q->by_start, 0, ((size_t)q->n_resources + 2) * sizeof *q->by_start);
    for (int w = 0; w < q->n_ways; w++)
        for (int i = q->start[w]; i < q->start[w + 1]; i++)
            q->resource[q->item[i]].narrow |= q->resource[q->item[i]].nominal_Bps <=
                                              espi_probe_planner_narrowest_Bps(q, w);
    for (int w = 0; w < q->n_ways; w++)
        for (int i = q->start[w]; i < q->start[w + 1]; i++)
            q->by_start[q->item[i] + 2] += lists(q, w, i);
    for (int g = 0; g < q->n_resources; g++)
        q->by_start[g + 2] += q->by_start[g + 1];
    for (int w = 0; w < q->n_ways; w++)
        for (int i = q->start[w]; i < q->start[w + 1]; i++)
            if (lists(q, w, i))
                q->by_item[q->by_start[q->item[i] + 1]++] = w;
}

void espi_probe_planner_choose(struct espi_probe_planner *q)
{
    if (!q->is_stale)
        return;
    q->is_stale = 0;
    choose_hosts(q);
    put_ways(q);
    put_lists(q);
}

/* Room for the ways between any hosts that may be chosen, and for the links on them. */
static size_t count_room(struct espi_probe_planner *q)
{
    const struct espi_belief *b = q->belief;
    size_t items = 0, longest = 0;
    int pairs = ESPI_PROBED_HOSTS_MAX * (ESPI_PROBED_HOSTS_MAX - 1);
    q->ways_max = b->fixed && ways_of(b) > pairs ? pairs : ways_of(b);
    for (int way = 0; way < ways_of(b); way++)
        if (is_short(b, way)) {
            size_t n = (size_t)count_resources(b, way);
            items += n;
            longest = n > longest ? n : longest;
        }
    size_t most = (size_t)q->ways_max * longest;
    return items < most ? items : most;
}

static int make_room(struct espi_probe_planner *q)
{
    const struct esp_platform *net = q->belief->net;
    size_t items = count_room(q), ways = (size_t)q->ways_max;
    q->resource = espi_calloc((size_t)q->n_resources + 1, sizeof *q->resource);
    q->able = espi_calloc((size_t)net->n_nodes + 1, 1);
    q->chosen = espi_calloc((size_t)net->n_nodes + 1, 1);
    q->host_free_s = espi_calloc((size_t)net->n_nodes + 1, sizeof *q->host_free_s);
    q->from = ESPI_NEW(int, ways + 1);
    q->to = ESPI_NEW(int, ways + 1);
    q->start = ESPI_NEW(int, ways + 1);
    q->item = ESPI_NEW(int, items + 1);
    q->by_start = espi_calloc((size_t)q->n_resources + 2, sizeof *q->by_start);
    q->by_item = ESPI_NEW(int, items + 1);
    return q->resource && q->able && q->chosen && q->host_free_s && q->from && q->to &&
           q->start && q->item && q->by_start && q->by_item;
}

esp_status espi_probe_planner_create(struct espi_belief *belief, double share,
                                     struct espi_probe_planner **out, struct esp_err *err)
{
    struct espi_probe_planner *q = espi_calloc(1, sizeof *q);
    if (!q)
        return espi_err_nomem(err);
    *q = (struct espi_probe_planner){.belief = belief,
                                     .share = fmin(fmax(share, 1e-6), 1),
                                     .begun_s = -1,
                                     .n_resources = belief->n_resources};
    q->tally.change_link = -1;
    if (!make_room(q)) {
        espi_probe_planner_free(q);
        return espi_err_nomem(err);
    }
    for (int r = 0; r < q->n_resources; r++) {
        q->resource[r].nominal_Bps = belief->fate[r].shown_Bps;
        q->fastest_Bps = fmax(q->fastest_Bps, belief->fate[r].shown_Bps);
    }
    *out = q;
    return ESP_OK;
}

void espi_probe_planner_free(struct espi_probe_planner *q)
{
    if (!q)
        return;
    espi_free(q->resource);
    espi_free(q->able);
    espi_free(q->chosen);
    espi_free(q->host_free_s);
    espi_free(q->from);
    espi_free(q->to);
    espi_free(q->start);
    espi_free(q->item);
    espi_free(q->by_start);
    espi_free(q->by_item);
    espi_free(q);
}

void espi_probe_planner_succeed(struct espi_probe_planner *q,
                                struct espi_probe_planner *before,
                                struct espi_belief *belief)
{
    q->belief = belief;
    q->last = before->last;
    q->tally = before->tally;
    q->tally.change_link = -1;
    memcpy(q->able, before->able, (size_t)belief->net->n_nodes);
    q->is_stale = 1;
    espi_probe_planner_free(before);
}

void espi_probe_planner_begin(struct espi_probe_planner *q, double now_s)
{
    q->begun_s = now_s;
    for (int g = 0; g < q->n_resources; g++)
        q->resource[g].probed_s = now_s;
}

void espi_probe_planner_set_host(struct espi_probe_planner *q, int node, int able)
{
    if (node < 0 || node >= q->belief->net->n_nodes ||
        espi_is_switch(q->belief->net, node))
        return;
    q->is_stale |= !!able != q->able[node];
    q->tally.hosts += !!able - q->able[node];
    q->able[node] = (unsigned char)!!able;
    if (q->tally.hosts > q->tally.most_hosts)
        q->tally.most_hosts = q->tally.hosts;
}

static void mark_way(struct espi_probe_planner *q, int way,
                     enum espi_probe_planner_use use)
{
    const struct espi_belief *b = q->belief;
    const int *links;
    int single, n = links_of(b, way, &links, &single);
    for (int i = 0; i < n; i++)
        for (int k = b->first[links[i]]; k < b->first[links[i] + 1]; k++) {
            struct espi_probed_resource *r = &q->resource[b->resource[k]];
            *(use == ESPI_PROBE_PLANNER_IN_FORCE ? &r->in_force : &r->rival) =
                q->turn + 1;
        }
}

void espi_probe_planner_mark(struct espi_probe_planner *q, const struct esp_plan *plan,
                             enum espi_probe_planner_use use, int turn)
{
    q->turn = turn;
    for (int t = 0; t < plan->n_trees; t++)
        for (int h = 0; h < plan->trees[t].n_hops; h++)
            mark_way(q, plan->trees[t].hops[h], use);
}
