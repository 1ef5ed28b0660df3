/* From plans and their schedules to programs. Linear in both, and in the slots of a round
 * times the trees. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "plan/legs.h"
#include "plan/ops.h"
#include "plan/parts.h"
#include "plan/plan.h"
#include "plan/slices.h"
#include "program/messages.h"
#include "program/program.h"
#include "schedule/round.h"

struct compiler {
    const struct esp_plan *plan;
    struct espi_program *prog;
    struct espi_arena *arena;
    struct espi_round round;
    struct espi_legs legs;
    int *stream_of;  /* leg -> its stream, -1 when its tree gets no slices */
    int *first_edge; /* tree -> its first edge, of all */
    int *tree_slots; /* all slots by tree: those of tree t from tree_first[t] on */
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

/* Which tree has which slots. */
static int lay_slots(struct compiler *c)
{
    struct espi_program *prog = c->prog;
    int n = c->plan->n_trees, slots = c->round.slots;
    prog->slots = slots;
    prog->slot_tree = ESPI_ARENA_NEW(c->arena, int, slots);
    prog->slot_index = ESPI_ARENA_NEW(c->arena, int, slots);
    c->tree_slots = ESPI_ARENA_NEW(c->arena, int, slots);
    c->tree_first = ESPI_ARENA_ZNEW(c->arena, int, (size_t)n + 1);
    int *given = ESPI_ARENA_NEW(c->arena, int, n);
    if (!prog->slot_tree || !prog->slot_index || !c->tree_slots || !c->tree_first ||
        !given)
        return -1;
    for (int t = 0; t < n; t++)
        c->tree_first[t + 1] = c->tree_first[t] + c->round.count[t];
    espi_round_lay(&c->round, n, slots, prog->slot_tree, given);
    memset(given, 0, (size_t)n * sizeof *given);
    for (int s = 0; s < slots; s++) {
        int t = prog->slot_tree[s];
        prog->slot_index[s] = given[t];
        c->tree_slots[c->tree_first[t] + given[t]++] = s;
    }
    return 0;
}

static void add_stream(struct compiler *c, int i, int *hop_at)
{
    struct espi_program *prog = c->prog;
    const struct espi_leg *leg = &c->legs.leg[i];
    c->stream_of[i] = prog->n_streams;
    prog->streams[prog->n_streams++] = (struct espi_stream){
        .from = prog->rank[leg->from],
        .to = prog->rank[leg->to],
        .tree = leg->tree,
        .source = leg->source < 0 ? -1 : c->stream_of[leg->source],
        .also = leg->also < 0 ? -1 : c->stream_of[leg->also],
        .combines = leg->keeps && espi_op_combines(c->plan->op) &&
                    leg->edge < espi_tree_collecting_edges(c->plan->op,
                                                           &c->plan->trees[leg->tree]),
        .keeps = leg->keeps,
        .first_hop = *hop_at,
        .n_hops = leg->n_hops,
        .first_state = prog->n_states,
    };
    memcpy(prog->hops + *hop_at, espi_leg_hops(&c->legs, i),
           (size_t)leg->n_hops * sizeof(int));
    *hop_at += leg->n_hops;
    prog->n_states += c->round.count[leg->tree];
}

/* Numbers the slots of each part. */
static int lay_parts(struct compiler *c)
{
    struct espi_program *prog = c->prog;
    int slots = prog->slots;
    prog->parts = espi_plan_parts(c->plan, prog->p->n_hosts);
    if (prog->parts <= 1) {
        prog->parts = 1;
        return 0;
    }
    int *part = espi_tree_parts(c->plan, prog->p, c->arena);
    int *given = ESPI_ARENA_ZNEW(c->arena, int, prog->parts);
    prog->slot_part = ESPI_ARENA_NEW(c->arena, int, slots);
    prog->slot_place = ESPI_ARENA_NEW(c->arena, int, slots);
    if (!part || !given || !prog->slot_part || !prog->slot_place)
        return -1;
    for (int s = 0; s < slots; s++) {
        prog->slot_part[s] = part[prog->slot_tree[s]];
        prog->slot_place[s] = given[prog->slot_part[s]]++;
    }
    return 0;
}

/* A stream for each leg of the trees that get slices. */
static int make_streams(struct compiler *c)
{
    struct espi_program *prog = c->prog;
    int n_trees = c->plan->n_trees, hop_at = 0;
    size_t hops = 0;
    for (int t = 0; t < n_trees; t++)
        hops += (size_t)c->plan->trees[t].n_hops;
    prog->hops = ESPI_ARENA_NEW(c->arena, int, hops);
    prog->streams = ESPI_ARENA_NEW(c->arena, struct espi_stream, c->legs.n);
    c->stream_of = ESPI_ARENA_NEW(c->arena, int, c->legs.n);
    if (!prog->hops || !prog->streams || !c->stream_of)
        return -1;
    for (int i = 0; i < c->legs.n; i++) {
        c->stream_of[i] = -1;
        if (c->round.count[c->legs.leg[i].tree] > 0)
            add_stream(c, i, &hop_at);
    }
    return 0;
}

int espi_program_count_steps(struct espi_program *prog, const int *steps,
                             struct espi_arena *arena)
{
    int n = prog->n_ranks;
    prog->send_start = ESPI_ARENA_ZNEW(arena, int, (size_t)n + 2);
    prog->recv_start = ESPI_ARENA_ZNEW(arena, int, (size_t)n + 2);
    prog->sends = ESPI_ARENA_NEW(arena, struct espi_step, prog->n_states);
    prog->recvs = ESPI_ARENA_NEW(arena, struct espi_step, prog->n_states);
    if (!prog->send_start || !prog->recv_start || !prog->sends || !prog->recvs)
        return -1;
    for (int s = 0; s < prog->n_streams; s++) {
        int count = steps ? steps[prog->streams[s].tree] : 1;
        prog->send_start[prog->streams[s].from + 2] += count;
        prog->recv_start[prog->streams[s].to + 2] += count;
    }
    for (int r = 0; r < n; r++) {
        prog->send_start[r + 2] += prog->send_start[r + 1];
        prog->recv_start[r + 2] += prog->recv_start[r + 1];
    }
    return 0;
}

void espi_program_place_step(struct espi_program *prog, const struct espi_step *step)
{
    const struct espi_stream *s = &prog->streams[step->stream];
    prog->sends[prog->send_start[s->from + 1]++] = *step;
    prog->recvs[prog->recv_start[s->to + 1]++] = *step;
    if (step->lag > prog->max_lag)
        prog->max_lag = step->lag;
}

static void place_step(struct compiler *c, int stream, int slot, int lag, int place)
{
    struct espi_program *prog = c->prog;
    int state = prog->streams[stream].first_state + prog->slot_index[slot];
    struct espi_step step = {stream, slot, state, lag, place};
    espi_program_place_step(prog, &step);
}

/* The sends of the schedule, in their order. */
static int make_steps(struct compiler *c)
{
    const struct esp_schedule *s = c->plan->schedule;
    int next = 0;
    c->prog->slot_turn = ESPI_ARENA_NEW(c->arena, int, c->prog->slots);
    if (!c->prog->slot_turn)
        return -1;
    memset(c->prog->slot_turn, 0xff, (size_t)c->prog->slots * sizeof(int));
    if (espi_program_count_steps(c->prog, c->round.count, c->arena))
        return -1;
    for (int k = 0; k < s->n_sends; k++) {
        const struct esp_send *x = &s->sends[k];
        int leg = c->legs.edge_start[c->first_edge[x->tree] + x->edge] + x->part;
        int slot = c->tree_slots[c->tree_first[x->tree] + x->slice];
        if (c->prog->slot_turn[slot] < 0)
            c->prog->slot_turn[slot] = next++;
        place_step(c, c->stream_of[leg], slot, x->lag, k);
    }
    return 0;
}

static int count_edges(struct compiler *c)
{
    int n = c->plan->n_trees;
    c->first_edge = ESPI_ARENA_NEW(c->arena, int, (size_t)n + 1);
    if (!c->first_edge)
        return -1;
    c->first_edge[0] = 0;
    for (int t = 0; t < n; t++)
        c->first_edge[t + 1] = c->first_edge[t] + c->plan->trees[t].n_edges;
    return 0;
}

static espi_ordering ordering_of(esp_model model)
{
    switch (model) {
    case ESP_MODEL_CAPACITY:
        return ESPI_FREE;
    case ESP_MODEL_HNOW:
        return ESPI_UNORDERED;
    case ESP_MODEL_HALF_DUPLEX:
        return ESPI_INTERLEAVED;
    default:
        return ESPI_ORDERED;
    }
}

static int compile_schedule(struct compiler *c)
{
    const struct esp_schedule *s = c->plan->schedule;
    esp_model model = c->prog->p->model;
    c->round = (struct espi_round){s->slots, s->tree_slices};
    c->prog->ordered = ordering_of(model);
    return espi_legs_init(&c->legs, c->prog->p, c->plan, c->arena) || count_edges(c) ||
                   lay_slots(c) || lay_parts(c) || make_streams(c) || make_steps(c)
               ? -1
               : 0;
}

/* How many slices each rank keeps. */
static int count_kept(struct espi_program *prog, struct espi_arena *arena)
{
    prog->expects = ESPI_ARENA_ZNEW(arena, int64_t, prog->n_ranks);
    if (!prog->expects)
        return -1;
    for (int r = 0; r < prog->n_ranks; r++)
        for (int k = prog->recv_start[r]; k < prog->recv_start[r + 1]; k++)
            if (prog->streams[prog->recvs[k].stream].keeps)
                prog->expects[r] += espi_stream_pieces(prog, prog->recvs[k].stream) *
                                    espi_slices_of_slot(prog, prog->recvs[k].slot);
    return 0;
}

static int compile(struct compiler *c)
{
    if (number_ranks(c->prog, c->arena))
        return -1;
    return espi_plan_has_steps(c->plan)
               ? espi_compile_messages(c->prog, c->plan, c->arena)
               : compile_schedule(c);
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
    if (!(size > 0))
        return espi_err(err, ESP_EUSAGE, "the message needs a size from 1 byte to 9 PB");
    esp_status st = espi_slices_check(size, slice, ESP_EUSAGE, err);
    if (st)
        return st;
    if (!plan->schedule && !espi_plan_has_steps(plan))
        return espi_err(err, ESP_EUSAGE, "the plan has no schedule");
    double count = espi_slices(size, slice).count;
    struct espi_program prog = {
        .p = p, .size_bytes = size, .n_slices = (int64_t)count, .n_trees = plain.n_trees};
    struct compiler c = {.plan = &plain, .prog = &prog, .arena = arena};
    if (compile(&c))
        return espi_err_nomem(err);
    prog.root = prog.rank[plan->root];
    prog.rounds = (prog.n_slices + prog.slots - 1) / prog.slots;
    if (prog.parts > 1) /* whole rounds: equal parts */
        prog.n_slices = prog.rounds * prog.slots;
    if (count_kept(&prog, arena))
        return espi_err_nomem(err);
    *out = prog;
    return ESP_OK;
}
