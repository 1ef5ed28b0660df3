/* Setting up a run: its streams, and memory for what is under way. */
#include <string.h>

#include "exec/places.h"
#include "exec/run.h"

int *espi_program_channels(const struct espi_program *prog, struct espi_arena *arena)
{
    /* Streams of a pair are numbered by a walk over each sender's streams. */
    int *channel = ESPI_ARENA_NEW(arena, int, prog->n_streams);
    int *start = ESPI_ARENA_ZNEW(arena, int, (size_t)prog->n_ranks + 2);
    int *by_sender = ESPI_ARENA_NEW(arena, int, prog->n_streams);
    int *used = ESPI_ARENA_ZNEW(arena, int, prog->n_ranks);
    if (!channel || !start || !by_sender || !used)
        return NULL;
    for (int s = 0; s < prog->n_streams; s++)
        start[prog->streams[s].from + 2]++;
    for (int r = 0; r < prog->n_ranks; r++)
        start[r + 2] += start[r + 1];
    for (int s = 0; s < prog->n_streams; s++)
        by_sender[start[prog->streams[s].from + 1]++] = s;
    for (int r = 0; r < prog->n_ranks; r++) {
        for (int k = start[r]; k < start[r + 1]; k++)
            channel[by_sender[k]] = used[prog->streams[by_sender[k]].to]++;
        for (int k = start[r]; k < start[r + 1]; k++)
            used[prog->streams[by_sender[k]].to] = 0;
    }
    return channel;
}

/* The rank's receive steps, grouped by stream. */
static int count_inflows(struct espi_run *run, struct espi_arena *arena)
{
    const struct espi_program *prog = run->prog;
    int first = prog->recv_start[run->rank], last = prog->recv_start[run->rank + 1];
    run->inflow_of_stream = ESPI_ARENA_NEW(arena, int, prog->n_streams);
    run->in = ESPI_ARENA_ZNEW(arena, struct espi_inflow, last - first);
    run->arrived = ESPI_ARENA_ZNEW(arena, int64_t, prog->n_states);
    if (!run->inflow_of_stream || !run->in || !run->arrived)
        return -1;
    for (int s = 0; s < prog->n_streams; s++)
        run->inflow_of_stream[s] = -1;
    for (int k = first; k < last; k++) {
        int s = prog->recvs[k].stream;
        if (run->inflow_of_stream[s] < 0)
            run->inflow_of_stream[s] = run->n_in++;
        struct espi_inflow *in = &run->in[run->inflow_of_stream[s]];
        in->stream = s;
        in->ring++; /* for now: its steps in a round */
        in->n_slices += espi_slices_of_slot(prog, prog->recvs[k].slot);
    }
    return 0;
}

/* Relays may be passed on in another order than they came, but never a round apart. What
 * is combined waits for others that are sent, at most, so many rounds later; a sender
 * that had to wait for room until then could hold up what they wait for. */
static int ring_size(const struct espi_run *run, const struct espi_inflow *in)
{
    const struct espi_stream *stream = &run->prog->streams[in->stream];
    int64_t steps = in->ring, size = run->window;
    if (!stream->keeps)
        size += steps;
    if (stream->combines)
        size += steps * (run->prog->max_lag + 1);
    return in->n_slices < 1 ? 1 : (int)(size < in->n_slices ? size : in->n_slices);
}

static int make_rings(struct espi_run *run, struct espi_arena *arena)
{
    run->room = espi_room_for_slice(run->prog, &run->options);
    for (int i = 0; i < run->n_in; i++) {
        struct espi_inflow *in = &run->in[i];
        const struct espi_stream *stream = &run->prog->streams[in->stream];
        int relay =
            !stream->keeps || stream->combines || espi_is_scattered(run, in->stream);
        in->ring = ring_size(run, in);
        in->room = espi_room_for_message(run, in->stream);
        in->slots = espi_arena_zalloc(arena, (size_t)in->ring, sizeof *in->slots);
        if (relay)
            in->store = espi_arena_alloc(arena, (size_t)in->ring, in->room);
        if (!in->slots || (relay && !in->store))
            return -1;
        run->max_requests += in->ring;
    }
    return 0;
}

/* How many sends may be under way. */
static int most_sends(const struct espi_run *run)
{
    const struct espi_connections *all = &run->connections;
    int most = run->is_free ? 0 : run->window;
    for (int c = 0; c < all->n; c++)
        most += espi_stream_window(run, c) * (all->start[c + 1] - all->start[c]);
    return most;
}

/* Places for messages that are packed. */
static int make_packs(struct espi_run *run, struct espi_arena *arena)
{
    const struct espi_program *prog = run->prog;
    for (int k = prog->send_start[run->rank]; k < prog->send_start[run->rank + 1]; k++) {
        size_t bytes = espi_room_for_message(run, prog->sends[k].stream);
        if (bytes > run->pack_bytes && espi_is_scattered(run, prog->sends[k].stream))
            run->pack_bytes = bytes;
    }
    if (!run->pack_bytes)
        return 0;
    run->pack = espi_arena_alloc(arena, (size_t)most_sends(run), run->pack_bytes);
    run->pack_used = ESPI_ARENA_ZNEW(arena, unsigned char, most_sends(run));
    return run->pack && run->pack_used ? 0 : -1;
}

int espi_run_init(struct espi_run *run, const struct espi_program *prog, int rank,
                  const int *channel, const struct espi_transport *transport, void *data,
                  const struct espi_run_options *options, struct espi_arena *arena)
{
    memset(run, 0, sizeof *run);
    run->prog = prog;
    run->transport = transport;
    run->rank = rank;
    run->data = data;
    run->channel = channel;
    if (options)
        run->options = *options;
    run->window = run->options.window > 0 ? run->options.window : 4;
    run->is_free = prog->ordered == ESPI_FREE || run->options.policy;
    if (run->is_free && espi_connections_init(&run->connections, prog, rank, arena))
        return -1;
    run->max_requests = most_sends(run);
    if (count_inflows(run, arena) || make_rings(run, arena) || make_packs(run, arena))
        return -1;
    run->requests = ESPI_ARENA_NEW(arena, struct espi_request, run->max_requests);
    run->messages = ESPI_ARENA_NEW(arena, struct espi_open_message, run->max_requests);
    run->done = ESPI_ARENA_NEW(arena, int, run->max_requests);
    return run->requests && run->messages && run->done ? 0 : -1;
}
