/* From plans to programs. Linear in the plan times the slots of a round. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "plan/plan.h"
#include "program/program.h"

/* Half a part in a thousand of the message may travel on another tree than it should. */
static const double TOLERANCE = 5e-4;

struct compiler {
    const struct esp_plan *plan;
    struct espi_program *prog;
    struct espi_arena *arena;
    struct espi_round round;
    int *first_stream; /* tree -> its first stream; streams of a tree are together */
    int *tree_slots;   /* all slots by tree: those of tree t from tree_first[t] on */
    int *tree_first;
};

static int number_ranks(struct espi_program *prog, struct espi_arena *a)
{
    const struct esp_platform *p = prog->p;
    prog->node = ESPI_ARENA_NEW(a, int, p->n_hosts);
    prog->rank = ESPI_ARENA_NEW(a, int, p->n_nodes);
    if (!prog->node || !prog->rank)
        return -1;
    for (int i = 0; i < p->n_nodes; i++) {
        prog->rank[i] = espi_is_switch(p, i) ? -1 : prog->n_ranks;
        if (prog->rank[i] >= 0)
            prog->node[prog->n_ranks++] = i;
    }
    return 0;
}

/* Spreads the trees evenly over the round: at each slot the tree goes that lags most
 * behind its share. */
static int lay_slots(struct compiler *c)
{
    struct espi_program *prog = c->prog;
    int n = c->plan->n_trees, slots = c->round.slots;
    prog->slots = slots;
    prog->slot_tree = ESPI_ARENA_NEW(c->arena, int, slots);
    prog->slot_index = ESPI_ARENA_NEW(c->arena, int, slots);
    c->tree_slots = ESPI_ARENA_NEW(c->arena, int, slots);
    c->tree_first = ESPI_ARENA_ZNEW(c->arena, int, (size_t)n + 1);
    int *given = ESPI_ARENA_ZNEW(c->arena, int, n);
    if (!prog->slot_tree || !prog->slot_index || !c->tree_slots || !c->tree_first ||
        !given)
        return -1;
    for (int t = 0; t < n; t++)
        c->tree_first[t + 1] = c->tree_first[t] + c->round.count[t];
    for (int s = 0; s < slots; s++) {
        int best = -1;
        double most = 0;
        for (int t = 0; t < n; t++) {
            double behind = (double)c->round.count[t] * (s + 1) / slots - given[t];
            if (given[t] < c->round.count[t] && (best < 0 || behind > most + 1e-12)) {
                best = t;
                most = behind;
            }
        }
        prog->slot_tree[s] = best;
        prog->slot_index[s] = given[best];
        c->tree_slots[c->tree_first[best] + given[best]++] = s;
    }
    return 0;
}

/* Does the path of the edge leave a host at hop k? */
static int starts_stream(const struct esp_platform *p, const int *hops, int k)
{
    return k == 0 || !espi_is_switch(p, p->tail[hops[k]]);
}

static void add_stream(struct compiler *c, int tree, const int *hops, int first, int n,
                       int source, int keeps)
{
    struct espi_program *prog = c->prog;
    const struct esp_platform *p = prog->p;
    struct espi_stream *s = &prog->streams[prog->n_streams++];
    *s = (struct espi_stream){
        .from = prog->rank[p->tail[hops[first]]],
        .to = prog->rank[p->head[hops[n - 1]]],
        .tree = tree,
        .source = source,
        .keeps = keeps,
        .n_hops = n - first,
        .first_state = prog->n_states,
    };
    prog->n_states += c->round.count[tree];
}

/* The streams of one tree, in the order of its edges; hops are copied as they stand. */
static void add_tree(struct compiler *c, int t, int *hop_at, int *brings)
{
    struct espi_program *prog = c->prog;
    const struct esp_tree *tree = &c->plan->trees[t];
    for (int r = 0; r < prog->n_ranks; r++)
        brings[r] = -1;
    for (int i = 0; i < tree->n_edges; i++) {
        const struct esp_edge *e = &tree->edges[i];
        const int *hops = tree->hops + e->first_hop;
        int source = brings[prog->rank[e->from]];
        for (int first = 0, k = 1; k <= e->n_hops; k++) {
            if (k < e->n_hops && !starts_stream(prog->p, hops, k))
                continue;
            add_stream(c, t, hops, first, k, source, k == e->n_hops);
            source = prog->n_streams - 1;
            prog->streams[source].first_hop = *hop_at;
            memcpy(prog->hops + *hop_at, hops + first,
                   (size_t)(k - first) * sizeof *hops);
            *hop_at += k - first;
            first = k;
        }
        brings[prog->rank[e->to]] = source;
    }
}

static int make_streams(struct compiler *c)
{
    struct espi_program *prog = c->prog;
    size_t hops = 0;
    int hop_at = 0;
    for (int t = 0; t < c->plan->n_trees; t++)
        hops += (size_t)c->plan->trees[t].n_hops;
    prog->hops = ESPI_ARENA_NEW(c->arena, int, hops);
    prog->streams = ESPI_ARENA_NEW(c->arena, struct espi_stream, hops);
    c->first_stream = ESPI_ARENA_NEW(c->arena, int, (size_t)c->plan->n_trees + 1);
    int *brings = ESPI_ARENA_NEW(c->arena, int, prog->n_ranks);
    if (!prog->hops || !prog->streams || !c->first_stream || !brings)
        return -1;
    for (int t = 0; t < c->plan->n_trees; t++) {
        c->first_stream[t] = prog->n_streams;
        if (c->round.count[t] > 0)
            add_tree(c, t, &hop_at, brings);
    }
    c->first_stream[c->plan->n_trees] = prog->n_streams;
    return 0;
}

/* How many streams lie between the root and the sender of each stream. With one tree a
 * slice is forwarded in its own round; with several, one round later a step, so that a
 * round never waits for itself. */
static int *stream_lags(struct compiler *c)
{
    struct espi_program *prog = c->prog;
    int *lag = ESPI_ARENA_ZNEW(c->arena, int, prog->n_streams);
    if (!lag || prog->slots == 1)
        return lag;
    for (int s = 0; s < prog->n_streams; s++) {
        int source = prog->streams[s].source;
        lag[s] = source < 0 ? 0 : lag[source] + 1;
        if (lag[s] > prog->max_lag)
            prog->max_lag = lag[s];
    }
    return lag;
}

/* Counts, then places, the steps of all ranks: by slot, then in the order of the edges.
 */
static int make_steps(struct compiler *c)
{
    struct espi_program *prog = c->prog;
    int n = prog->n_ranks, *lag = stream_lags(c);
    prog->send_start = ESPI_ARENA_ZNEW(c->arena, int, (size_t)n + 2);
    prog->recv_start = ESPI_ARENA_ZNEW(c->arena, int, (size_t)n + 2);
    prog->sends = ESPI_ARENA_NEW(c->arena, struct espi_step, prog->n_states);
    prog->recvs = ESPI_ARENA_NEW(c->arena, struct espi_step, prog->n_states);
    if (!lag || !prog->send_start || !prog->recv_start || !prog->sends || !prog->recvs)
        return -1;
    for (int s = 0; s < prog->n_streams; s++) {
        int count = c->round.count[prog->streams[s].tree];
        prog->send_start[prog->streams[s].from + 2] += count;
        prog->recv_start[prog->streams[s].to + 2] += count;
    }
    for (int r = 0; r < n; r++) {
        prog->send_start[r + 2] += prog->send_start[r + 1];
        prog->recv_start[r + 2] += prog->recv_start[r + 1];
    }
    for (int slot = 0; slot < prog->slots; slot++) {
        int t = prog->slot_tree[slot];
        for (int s = c->first_stream[t]; s < c->first_stream[t + 1]; s++) {
            const struct espi_stream *stream = &prog->streams[s];
            struct espi_step step = {
                s, slot, stream->first_state + prog->slot_index[slot], lag[s]};
            prog->sends[prog->send_start[stream->from + 1]++] = step;
            prog->recvs[prog->recv_start[stream->to + 1]++] = step;
        }
    }
    return 0;
}

/* Long rounds are exact, but a program holds a step for each slot of each transfer. */
static int most_slots(const struct esp_plan *plan, const struct espi_compile_options *o)
{
    enum { MAX_STEPS = 1 << 25 };
    int slots = o->max_slots > 0 ? o->max_slots : 1024;
    while (slots > 1 && (int64_t)slots * plan->trees[0].n_hops > MAX_STEPS)
        slots /= 2;
    return slots;
}

esp_status espi_program_compile(const struct esp_platform *p, const struct esp_plan *plan,
                                const struct espi_compile_options *options,
                                struct espi_arena *arena, struct espi_program *out,
                                struct esp_err *err)
{
    struct esp_plan plain = espi_plan_plain(plan);
    struct espi_compile_options o = options ? *options : (struct espi_compile_options){0};
    double size = o.size_bytes > 0 ? o.size_bytes : plan->size_bytes;
    double slice = o.slice_bytes > 0 ? o.slice_bytes : plan->slice_bytes;
    if (plan->op != ESP_OP_BCAST)
        return espi_err(err, ESP_EUNSUPPORTED, "plans for %s cannot be run yet",
                        esp_op_name(plan->op));
    if (!(size > 0 && size < 9e15))
        return espi_err(err, ESP_EUSAGE, "the message needs a size from 1 byte to 9 PB");
    double count = slice > 0 && slice < size ? ceil(size / slice * (1 - 1e-12)) : 1;
    struct espi_program prog = {
        .p = p, .size_bytes = size, .n_slices = (int64_t)count, .n_trees = plain.n_trees};
    struct compiler c = {.plan = &plain, .prog = &prog, .arena = arena};
    if (number_ranks(&prog, arena) ||
        espi_round_choose(&plain, prog.n_slices, most_slots(&plain, &o), TOLERANCE, arena,
                          &c.round) ||
        lay_slots(&c) || make_streams(&c) || make_steps(&c))
        return espi_err_nomem(err);
    prog.root = prog.rank[plan->root];
    prog.rounds = (prog.n_slices + prog.slots - 1) / prog.slots;
    *out = prog;
    return ESP_OK;
}
