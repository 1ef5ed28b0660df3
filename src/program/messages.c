#include "program/messages.h"

#include <stdlib.h>
#include <string.h>

#include "plan/ops.h"
#include "plan/parts.h"
#include "schedule/posts.h"

struct compiler {
    struct espi_program *prog;
    struct espi_posts posts;
    struct espi_arena *arena;
    int *slot_of; /* tree -> slot: the part it carries */
    int *last_in; /* rank -> the last stream into it so far, -1 */
};

/* One slot a tree, in the order of the parts; so slices lie in the message as they do. */
static int lay_slots(struct compiler *c)
{
    struct espi_program *prog = c->prog;
    const struct esp_plan *plan = c->posts.plan;
    int n = plan->n_trees;
    prog->slots = prog->parts = n;
    prog->n_slices = n;
    prog->slot_tree = ESPI_ARENA_NEW(c->arena, int, n);
    prog->slot_index = ESPI_ARENA_ZNEW(c->arena, int, n);
    prog->slot_place = ESPI_ARENA_ZNEW(c->arena, int, n);
    prog->slot_part = ESPI_ARENA_NEW(c->arena, int, n);
    c->slot_of = espi_tree_parts(plan, prog->p, c->arena);
    c->last_in = ESPI_ARENA_NEW(c->arena, int, prog->n_ranks);
    if (!prog->slot_tree || !prog->slot_index || !prog->slot_place || !prog->slot_part ||
        !c->slot_of || !c->last_in)
        return -1;
    memset(c->last_in, 0xff, (size_t)prog->n_ranks * sizeof *c->last_in);
    for (int t = 0; t < n; t++) {
        int slot = c->slot_of[t];
        prog->slot_tree[slot] = t;
        prog->slot_part[slot] = slot;
    }
    return 0;
}

static int make_room(struct compiler *c)
{
    struct espi_program *prog = c->prog;
    const struct espi_posts *x = &c->posts;
    size_t pieces = 0, hops = 0, n = (size_t)x->n;
    for (int i = 0; i < x->n; i++) {
        pieces += (size_t)espi_post_pieces(x, i);
        hops += (size_t)x->post[i].n_hops;
    }
    prog->streams = ESPI_ARENA_NEW(c->arena, struct espi_stream, n);
    prog->hops = ESPI_ARENA_NEW(c->arena, int, hops);
    prog->piece_start = ESPI_ARENA_ZNEW(c->arena, int, n + 1);
    prog->pieces = ESPI_ARENA_NEW(c->arena, int, pieces);
    prog->need_start = x->need_start;
    prog->needs = x->needs;
    return prog->streams && prog->hops && prog->piece_start && prog->pieces ? 0 : -1;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static void add_pieces(struct compiler *c, int post)
{
    struct espi_program *prog = c->prog;
    const struct espi_messages *m = &c->posts.messages;
    int first = prog->piece_start[post], at = first;
    int message = c->posts.post[post].message;
    for (int k = m->start[message]; k < m->start[message + 1]; k++)
        prog->pieces[at++] = c->slot_of[m->part[k].tree];
    qsort(prog->pieces + first, (size_t)(at - first), sizeof(int), by_number);
    prog->piece_start[post + 1] = at;
}

static void add_stream(struct compiler *c, int i, int *hop_at)
{
    struct espi_program *prog = c->prog;
    const struct espi_posts *x = &c->posts;
    const struct espi_post *post = &x->post[i];
    int combines = post->is_last && espi_op_combines(x->plan->op);
    int *last_in = &c->last_in[prog->rank[post->to]];
    prog->streams[i] = (struct espi_stream){
        .from = prog->rank[post->from],
        .to = prog->rank[post->to],
        .tree = x->messages.part[x->messages.start[post->message]].tree,
        .source = post->leg ? x->needs[x->need_start[i]] : -1,
        .also = combines ? *last_in : -1, /* combined one after the other */
        .combines = combines,
        .keeps = post->is_last,
        .first_hop = *hop_at,
        .n_hops = post->n_hops,
        .first_state = i,
    };
    memcpy(prog->hops + *hop_at, espi_post_hops(x, i),
           (size_t)post->n_hops * sizeof(int));
    *hop_at += post->n_hops;
    if (combines)
        *last_in = i;
    add_pieces(c, i);
}

int espi_compile_messages(struct espi_program *prog, const struct esp_plan *plan,
                          struct espi_arena *arena)
{
    struct compiler c = {.prog = prog, .arena = arena};
    int hop_at = 0;
    if (espi_posts_init(&c.posts, prog->p, plan, arena) || lay_slots(&c) || make_room(&c))
        return -1;
    prog->n_streams = prog->n_states = c.posts.n;
    for (int i = 0; i < c.posts.n; i++)
        add_stream(&c, i, &hop_at);
    if (espi_program_count_steps(prog, NULL, arena))
        return -1;
    for (int i = 0; i < c.posts.n; i++) {
        struct espi_step step = {i, prog->pieces[prog->piece_start[i]], i, 0, i};
        espi_program_place_step(prog, &step);
    }
    return 0;
}
