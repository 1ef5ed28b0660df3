#include "copy/part.h"

#include <string.h>

#include "base/err.h"

/* limit: a plan has no more slots in a round, and hosts no more ranks or trees */
enum { SLOTS_MAX = 1 << 20, RANKS_MAX = 1 << 20, LAG_MAX = 1 << 20 };

struct espi_copy_message espi_copy_message(int kind, uint64_t base, uint64_t size,
                                           uint32_t block_bytes)
{
    uint64_t n = (size + block_bytes - 1) / block_bytes;
    return (struct espi_copy_message){kind, base, size, block_bytes, (uint32_t)n};
}

void espi_message_put(struct espi_wire_out *w, const struct espi_copy_message *m)
{
    espi_put_8(w, (unsigned)m->kind);
    espi_put_64(w, m->base);
    espi_put_64(w, m->size);
    espi_put_32(w, m->block_bytes);
}

void espi_message_take(struct espi_wire_in *r, struct espi_copy_message *m)
{
    int kind = (int)espi_take_8(r);
    uint64_t base = espi_take_64(r), size = espi_take_64(r);
    uint32_t block_bytes = espi_take_32(r);
    if (kind > ESPI_MESSAGE_STREAM || block_bytes == 0 ||
        block_bytes > ESPI_COPY_BLOCK_MAX || size == 0 ||
        size > (uint64_t)ESPI_COPY_BLOCKS_MAX * block_bytes || base > INT64_MAX - size ||
        (kind == ESPI_MESSAGE_LIST && size > ESPI_COPY_LIST_MAX))
        r->bad = 1;
    *m = r->bad ? (struct espi_copy_message){.block_bytes = 1}
                : espi_copy_message(kind, base, size, block_bytes);
}

/* ---- writing ---- */

/* Blocks as stretches of numbers that follow one another. */
static void put_blocks(struct espi_wire_out *w, const uint32_t *block, uint32_t n)
{
    uint32_t stretches = 0;
    for (uint32_t i = 0; i < n; i++)
        stretches += i == 0 || block[i] != block[i - 1] + 1;
    espi_put_32(w, n);
    espi_put_32(w, stretches);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && block[end] == block[end - 1] + 1;)
            end++;
        espi_put_32(w, block[i]);
        espi_put_32(w, end - i);
    }
}

static int is_stream_of(const struct espi_stream *s, int rank)
{
    return s->from == rank || s->to == rank;
}

static int local_number(const struct espi_program *prog, int stream, int rank)
{
    int number = 0;
    if (stream < 0 || !is_stream_of(&prog->streams[stream], rank))
        return -1;
    for (int s = 0; s < stream; s++)
        number += is_stream_of(&prog->streams[s], rank);
    return number;
}

/* A host that wants nothing itself keeps nothing of what goes on to one other host. */
static int passes_only(const struct espi_part_source *from, const struct espi_stream *in,
                       int rank)
{
    int next = 0;
    if (in->to != rank || !from->is_relay(from->self, rank))
        return 0;
    for (int s = 0; s < from->prog->n_streams; s++) {
        int source = from->prog->streams[s].source;
        next += source >= 0 && &from->prog->streams[source] == in;
    }
    return next == 1;
}

static esp_status put_streams(struct espi_wire_out *w,
                              const struct espi_part_source *from, int rank,
                              struct esp_err *err)
{
    const struct espi_program *prog = from->prog;
    int n = 0;
    for (int s = 0; s < prog->n_streams; s++)
        n += is_stream_of(&prog->streams[s], rank);
    espi_put_32(w, (uint32_t)n);
    for (int s = 0; s < prog->n_streams; s++) {
        const struct espi_stream *stream = &prog->streams[s];
        struct espi_copy_peer peer = {.is_out = stream->from == rank};
        if (!is_stream_of(stream, rank))
            continue;
        int source = peer.is_out ? local_number(prog, stream->source, rank) : -1;
        esp_status status = from->peer(from->self, s, &peer, err);
        if (status)
            return status;
        espi_put_32(w, (uint32_t)s);
        espi_put_32(w, (uint32_t)stream->from);
        espi_put_32(w, (uint32_t)stream->to);
        espi_put_32(w, (uint32_t)stream->tree);
        espi_put_32(w, (uint32_t)(source + 1));
        espi_put_8(w, stream->keeps && !passes_only(from, stream, rank));
        espi_put_text(w, peer.address);
        espi_put_32(w, peer.port);
        espi_put_raw(w, peer.key, sizeof peer.key);
        espi_put_block(w, peer.has,
                       peer.has ? espi_set_bytes((uint32_t)prog->n_slices) : 0);
    }
    return ESP_OK;
}

static void put_steps(struct espi_wire_out *w, const struct espi_program *prog, int rank,
                      const struct espi_step *steps, const int *start)
{
    espi_put_32(w, (uint32_t)(start[rank + 1] - start[rank]));
    for (int k = start[rank]; k < start[rank + 1]; k++) {
        const struct espi_step *step = &steps[k];
        int first = prog->streams[step->stream].first_state;
        espi_put_32(w, (uint32_t)local_number(prog, step->stream, rank));
        espi_put_32(w, (uint32_t)step->slot);
        espi_put_32(w, (uint32_t)(step->state - first));
        espi_put_32(w, (uint32_t)step->lag);
        espi_put_32(w, (uint32_t)step->place);
    }
}

/* By how many rounds all of a tree comes later, wherever it is sent. */
static void put_tree_lags(struct espi_wire_out *w, const struct espi_program *prog)
{
    espi_put_32(w, (uint32_t)prog->n_trees);
    for (int t = 0; t < prog->n_trees; t++) {
        int least = prog->max_lag;
        for (int k = 0; k < prog->send_start[prog->n_ranks]; k++)
            if (prog->streams[prog->sends[k].stream].tree == t &&
                prog->sends[k].lag < least)
                least = prog->sends[k].lag;
        espi_put_32(w, (uint32_t)least);
    }
}

esp_status espi_part_put(struct espi_wire_out *w, const struct espi_part_source *from,
                         int rank, struct esp_err *err)
{
    const struct espi_program *prog = from->prog;
    espi_put_32(w, from->run);
    espi_message_put(w, &from->message);
    put_blocks(w, from->block, (uint32_t)prog->n_slices);
    espi_put_32(w, (uint32_t)rank);
    espi_put_32(w, (uint32_t)prog->n_ranks);
    espi_put_32(w, (uint32_t)prog->slots);
    espi_put_32(w, (uint32_t)prog->max_lag);
    espi_put_8(w, prog->ordered == ESPI_FREE ? ESPI_FREE : ESPI_UNORDERED);
    put_tree_lags(w, prog);
    esp_status status = put_streams(w, from, rank, err);
    if (status)
        return status;
    put_steps(w, prog, rank, prog->sends, prog->send_start);
    put_steps(w, prog, rank, prog->recvs, prog->recv_start);
    return w->failed ? espi_err_nomem(err) : ESP_OK;
}

/* ---- reading ---- */

static int take_blocks(struct espi_copy_part *part, struct espi_wire_in *r,
                       struct espi_arena *arena)
{
    uint32_t n = espi_take_32(r), filled = 0;
    if (n == 0 || n > part->message.n_blocks)
        r->bad = 1;
    if (r->bad)
        return 0;
    part->n_slices = n;
    part->block = ESPI_ARENA_NEW(arena, uint32_t, n);
    if (!part->block)
        return -1;
    for (uint32_t stretches = espi_take_count(r, 8); stretches > 0; stretches--) {
        uint32_t first = espi_take_32(r), count = espi_take_32(r);
        if (count > n - filled || first >= part->message.n_blocks ||
            count > part->message.n_blocks - first ||
            (filled > 0 && first <= part->block[filled - 1])) {
            r->bad = 1;
            return 0;
        }
        for (uint32_t i = 0; i < count; i++)
            part->block[filled++] = first + i;
    }
    r->bad |= filled != n;
    return 0;
}

/* The number; bad when it is not below the limit. */
static int take_below(struct espi_wire_in *r, uint32_t limit)
{
    uint32_t value = espi_take_32(r);
    if (value >= limit) {
        r->bad = 1;
        return 0;
    }
    return (int)value;
}

static void take_stream(struct espi_copy_part *part, struct espi_wire_in *r, int s, int n)
{
    struct espi_program *prog = &part->prog;
    struct espi_stream *stream = &prog->streams[s];
    struct espi_copy_peer *peer = &part->peer[s];
    size_t bytes;
    peer->number = espi_take_32(r);
    stream->from = take_below(r, (uint32_t)prog->n_ranks);
    stream->to = take_below(r, (uint32_t)prog->n_ranks);
    stream->tree = take_below(r, (uint32_t)prog->n_trees);
    stream->source = take_below(r, (uint32_t)n + 1) - 1;
    stream->also = -1;
    stream->keeps = espi_take_8(r) != 0;
    espi_take_text(r, peer->address, sizeof peer->address);
    peer->port = (uint32_t)take_below(r, 65536); /* derived: ports are of 16 bits */
    const unsigned char *key = espi_take_raw(r, sizeof peer->key);
    if (key)
        memcpy(peer->key, key, sizeof peer->key);
    peer->has = espi_take_block(r, &bytes);
    if (bytes == 0)
        peer->has = NULL;
    else if (bytes != espi_set_bytes(part->n_slices))
        r->bad = 1;
    peer->is_out = stream->from == part->rank;
    stream->first_state = s * prog->slots; /* no stream has more */
    if (stream->from == stream->to || !is_stream_of(stream, part->rank))
        r->bad = 1;
}

/* What is passed on comes from elsewhere, in the same tree. */
static void check_sources(const struct espi_copy_part *part, struct espi_wire_in *r,
                          int n)
{
    const struct espi_stream *all = part->prog.streams;
    for (int s = 0; s < n; s++) {
        int source = all[s].source;
        if (source >= 0 && (all[s].from != part->rank || all[source].to != part->rank ||
                            all[source].tree != all[s].tree))
            r->bad = 1;
    }
}

/* For each tree there is one more stream, of a rank that does not exist, whose one step
 * says the tree's lag. */
static int take_streams(struct espi_copy_part *part, struct espi_wire_in *r,
                        struct espi_arena *arena)
{
    struct espi_program *prog = &part->prog;
    int n = (int)espi_take_count(r, 32);
    if (!r->bad && (int64_t)(n + 1) * prog->slots > ESPI_COPY_BLOCKS_MAX)
        r->bad = 1;
    if (r->bad)
        return 0;
    prog->n_streams = n + prog->n_trees;
    prog->n_states = (n + 1) * prog->slots;
    prog->streams = ESPI_ARENA_ZNEW(arena, struct espi_stream, prog->n_streams);
    part->peer = ESPI_ARENA_ZNEW(arena, struct espi_copy_peer, prog->n_streams);
    if (!prog->streams || !part->peer)
        return -1;
    for (int s = 0; s < n; s++)
        take_stream(part, r, s, n);
    if (!r->bad)
        check_sources(part, r, n);
    for (int t = 0; t < prog->n_trees; t++)
        prog->streams[n + t] = (struct espi_stream){.from = prog->n_ranks,
                                                    .to = prog->n_ranks,
                                                    .tree = t,
                                                    .source = -1,
                                                    .also = -1,
                                                    .first_state = n * prog->slots};
    return 0;
}

static int take_steps(struct espi_copy_part *part, struct espi_wire_in *r, int sends,
                      const int *lags, struct espi_arena *arena)
{
    struct espi_program *prog = &part->prog;
    int real = prog->n_streams - prog->n_trees, ranks = prog->n_ranks + 1;
    int n = (int)espi_take_count(r, 20);
    int *start = ESPI_ARENA_ZNEW(arena, int, (size_t)ranks + 1);
    struct espi_step *steps = ESPI_ARENA_ZNEW(arena, struct espi_step, n + prog->n_trees);
    if (!start || !steps)
        return -1;
    for (int k = 0; k < n && !r->bad; k++) {
        struct espi_step *step = &steps[k];
        step->stream = take_below(r, (uint32_t)real);
        step->slot = take_below(r, (uint32_t)prog->slots);
        int index = take_below(r, (uint32_t)prog->slots);
        step->lag = take_below(r, (uint32_t)prog->max_lag + 1);
        step->place = (int)(espi_take_32(r) & INT32_MAX);
        if (r->bad)
            break;
        const struct espi_stream *s = &prog->streams[step->stream];
        step->state = s->first_state + index;
        if ((sends ? s->from : s->to) != part->rank)
            r->bad = 1;
    }
    for (int i = part->rank + 1; i <= ranks; i++)
        start[i] = n;
    for (int t = 0; sends && t < prog->n_trees; t++)
        steps[n + t] = (struct espi_step){.stream = real + t, .lag = lags[t]};
    if (sends)
        start[ranks] = n + prog->n_trees;
    *(sends ? &prog->sends : &prog->recvs) = steps;
    *(sends ? &prog->send_start : &prog->recv_start) = start;
    return 0;
}

/* What no list is in: counts, and the lags of trees. */
static int *take_head(struct espi_copy_part *part, struct espi_wire_in *r,
                      struct espi_arena *arena)
{
    struct espi_program *prog = &part->prog;
    part->rank = take_below(r, RANKS_MAX);
    prog->n_ranks = take_below(r, RANKS_MAX);
    prog->slots = take_below(r, SLOTS_MAX);
    prog->max_lag = take_below(r, LAG_MAX);
    prog->ordered = (espi_ordering)espi_take_8(r);
    prog->n_trees = (int)espi_take_count(r, 4);
    if (part->rank >= prog->n_ranks || prog->slots == 0 || prog->n_trees == 0 ||
        (prog->ordered != ESPI_UNORDERED && prog->ordered != ESPI_FREE))
        r->bad = 1;
    int *lags = ESPI_ARENA_NEW(arena, int, prog->n_trees + 1);
    for (int t = 0; lags && t < prog->n_trees; t++)
        lags[t] = take_below(r, (uint32_t)prog->max_lag + 1);
    return lags;
}

/* A slot is of one tree, and has one place among its slots, wherever it is sent; and what
 * is only passed on is received once and sent once. The executor counts on both. */
static int check_slots(const struct espi_copy_part *part, struct espi_wire_in *r,
                       struct espi_arena *arena)
{
    const struct espi_program *prog = &part->prog;
    struct slot {
        int tree, index, got, sent;
    } *slot = ESPI_ARENA_ZNEW(arena, struct slot, prog->slots);
    if (!slot)
        return -1;
    for (int sends = 0; sends < 2; sends++) {
        const struct espi_step *steps = sends ? prog->sends : prog->recvs;
        const int *start = sends ? prog->send_start : prog->recv_start;
        for (int k = start[part->rank]; k < start[part->rank + 1]; k++) {
            const struct espi_stream *s = &prog->streams[steps[k].stream];
            struct slot *at = &slot[steps[k].slot];
            int index = steps[k].state - s->first_state;
            int relayed =
                sends ? s->source >= 0 && !prog->streams[s->source].keeps : !s->keeps;
            if (at->tree && (at->tree != s->tree + 1 || at->index != index))
                r->bad = 1;
            at->tree = s->tree + 1;
            at->index = index;
            if (!sends && at->got++)
                r->bad = 1;
            if (sends && relayed && at->sent++)
                r->bad = 1;
            if (sends && s->source >= 0 && !at->got)
                r->bad = 1;
        }
    }
    return 0;
}

static void fill_program(struct espi_copy_part *part)
{
    struct espi_program *prog = &part->prog;
    prog->n_slices = part->n_slices;
    prog->size_bytes = (double)part->n_slices * part->message.block_bytes;
    prog->rounds = (prog->n_slices + prog->slots - 1) / prog->slots;
    prog->parts = 1;
}

esp_status espi_part_read(struct espi_copy_part *part, struct espi_wire_in *r,
                          struct espi_arena *arena, struct esp_err *err)
{
    *part = (struct espi_copy_part){0};
    part->run = espi_take_32(r);
    espi_message_take(r, &part->message);
    if (take_blocks(part, r, arena))
        return espi_err_nomem(err);
    const int *lags = r->bad ? NULL : take_head(part, r, arena);
    if (!r->bad && (!lags || take_streams(part, r, arena)))
        return espi_err_nomem(err);
    for (int sends = 1; !r->bad && sends >= 0; sends--)
        if (take_steps(part, r, sends, lags, arena))
            return espi_err_nomem(err);
    if (!r->bad && check_slots(part, r, arena))
        return espi_err_nomem(err);
    if (!espi_wire_is_whole(r))
        return espi_err(err, ESP_EINPUT, "a part of a plan that cannot be");
    fill_program(part);
    part->prog.n_ranks++;
    return ESP_OK;
}
