/* The executor. Each stream into the rank has up to `window` receives posted ahead, so
 * that data flow while we are busy elsewhere; sends start strictly in the order of the
 * program (the order is the schedule), as soon as their slice is there and fewer than
 * `window` are under way. Slices are received straight into the message, and sent from
 * it; those that the rank only passes on go through a ring of their own, since the
 * message may be receiving the same slice from elsewhere at that moment.
 *
 * Where a stream carries several slices at once (plans with steps) and they are not
 * together in memory, or the message is not in memory as it travels, they are packed for
 * sending and unpacked on arrival. */
#include "exec/exec.h"

#include <string.h>

#include "exec/places.h"

struct espi_inflow {
    int stream;
    int64_t n_slices;    /* that will come */
    int64_t posted, got; /* receives started, and completed in order */
    /* where the next receive to post stands in the rank's list of receives */
    int64_t round;
    int at;
    /* the last `ring` receives: what they are, and are they done? */
    int ring;
    struct {
        int64_t slice;
        int state;
        unsigned char landed;
        unsigned char passed_on; /* relays: the send that passes it on is done */
    } * slots;
    char *store;       /* relays: the slices themselves */
    int64_t passed_on; /* relays: passed on in order */
};

struct espi_open_message {
    int inflow; /* of a receive; of a send the relay it frees, or -1 */
    int is_send;
    int64_t number; /* which slice of the inflow; -1: none, or done */
    int pack;       /* of a send: the place it was packed in, or -1 */
};

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

/* ---- setting up ---- */

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
        in->slots = espi_arena_zalloc(arena, (size_t)in->ring, sizeof *in->slots);
        if (relay)
            in->store = espi_arena_alloc(arena, (size_t)in->ring,
                                         espi_room_for_message(run, in->stream));
        if (!in->slots || (relay && !in->store))
            return -1;
        run->max_requests += in->ring;
    }
    return 0;
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
    run->pack = espi_arena_alloc(arena, (size_t)run->window, run->pack_bytes);
    run->pack_used = ESPI_ARENA_ZNEW(arena, unsigned char, run->window);
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
    run->max_requests = run->window;
    if (count_inflows(run, arena) || make_rings(run, arena) || make_packs(run, arena))
        return -1;
    run->requests = ESPI_ARENA_NEW(arena, struct espi_request, run->max_requests);
    run->messages = ESPI_ARENA_NEW(arena, struct espi_open_message, run->max_requests);
    run->done = ESPI_ARENA_NEW(arena, int, run->max_requests);
    return run->requests && run->messages && run->done ? 0 : -1;
}

/* ---- memory of ours ---- */

static char *stored_at(const struct espi_run *run, const struct espi_inflow *in,
                       int64_t number)
{
    return in->store +
           (size_t)(number % in->ring) * espi_room_for_message(run, in->stream);
}

/* The relayed slice among those that are here; -1: it is not. */
static int64_t find_relayed(const struct espi_inflow *in, int64_t slice)
{
    for (int64_t number = in->passed_on; number < in->got; number++)
        if (in->slots[number % in->ring].slice == slice)
            return number;
    return -1;
}

/* ---- requests ---- */

static void note_request(struct espi_run *run, struct espi_request request,
                         struct espi_open_message message)
{
    run->requests[run->n_requests] = request;
    run->messages[run->n_requests++] = message;
    run->n_sends_open += message.is_send;
}

/* ---- receiving ---- */

/* Moves the inflow to its next step that brings a slice, and gives that. */
static const struct espi_step *next_step_in(struct espi_run *run, struct espi_inflow *in,
                                            int64_t *slice)
{
    const struct espi_program *prog = run->prog;
    int first = prog->recv_start[run->rank], last = prog->recv_start[run->rank + 1];
    for (;;) {
        if (first + in->at == last) {
            in->at = 0;
            in->round++;
        }
        const struct espi_step *step = &prog->recvs[first + in->at++];
        *slice = step->stream == in->stream ? espi_step_slice(prog, step, in->round) : -1;
        if (*slice >= 0)
            return step;
    }
}

static int post_receive(struct espi_run *run, int i)
{
    struct espi_inflow *in = &run->in[i];
    const struct espi_transport *t = run->transport;
    struct espi_request request;
    int64_t slice;
    size_t bytes;
    const struct espi_step *step = next_step_in(run, in, &slice);
    char *to = espi_place_of_message(run, in->stream, slice, &bytes);
    if (in->store)
        to = stored_at(run, in, in->posted);
    run->error = t->recv(t->self, run->prog->streams[in->stream].from,
                         run->channel[in->stream], to, bytes, &request);
    if (run->error)
        return -1;
    in->slots[in->posted % in->ring].slice = slice;
    in->slots[in->posted % in->ring].state = step->state;
    note_request(run, request, (struct espi_open_message){i, 0, in->posted++, -1});
    return 0;
}

static int post_receives(struct espi_run *run)
{
    for (int i = 0; i < run->n_in; i++) {
        struct espi_inflow *in = &run->in[i];
        while (in->posted < in->n_slices &&
               in->posted - (in->store ? in->passed_on : in->got) < in->ring)
            if (post_receive(run, i))
                return -1;
    }
    return 0;
}

/* What came in order is combined with what the rank has of the slices, or is put where
 * they belong, and its place in the ring is free again. */
static void put(struct espi_run *run, struct espi_inflow *in, int64_t number)
{
    const struct espi_program *prog = run->prog;
    const char *from = stored_at(run, in, number);
    for (int k = 0; k < espi_stream_pieces(prog, in->stream); k++) {
        int64_t slice = prog->pieces ? prog->pieces[prog->piece_start[in->stream] + k]
                                     : in->slots[number % in->ring].slice;
        size_t bytes;
        char *mine = espi_place_of(run, slice, &bytes);
        if (!prog->streams[in->stream].combines)
            espi_slice_keep(run, slice, from, &bytes);
        else if (run->options.combine)
            run->options.combine(run->options.arg, mine, from, bytes);
        from += bytes;
    }
    in->passed_on = number + 1;
}

/* Is it the turn of the inflow's next slice? What comes from several ranks is combined in
 * the order of the plan, so that sums are the same in every run. */
static int may_take(const struct espi_run *run, const struct espi_inflow *in)
{
    const struct espi_program *prog = run->prog;
    const struct espi_stream *s = &prog->streams[in->stream];
    int64_t at = in->got % in->ring;
    if (in->got == in->posted || !in->slots[at].landed)
        return 0;
    if (!s->combines || s->also < 0)
        return 1;
    int index = in->slots[at].state - s->first_state;
    return run->arrived[prog->streams[s->also].first_state + index] >
           in->slots[at].slice / prog->slots;
}

/* Counts on as far as all that came before is here too. */
static int take(struct espi_run *run, struct espi_inflow *in)
{
    int taken = 0;
    for (; may_take(run, in); taken++) {
        in->slots[in->got % in->ring].landed = 0;
        run->arrived[in->slots[in->got % in->ring].state]++;
        if (in->store && run->prog->streams[in->stream].keeps)
            put(run, in, in->got);
        in->got++;
    }
    return taken;
}

/* A receive is done; others may have waited for it. */
static void received(struct espi_run *run, struct espi_inflow *in, int64_t number)
{
    in->slots[number % in->ring].landed = 1;
    int more = take(run, in);
    while (more && run->prog->streams[in->stream].combines) {
        more = 0;
        for (int i = 0; i < run->n_in; i++)
            if (run->prog->streams[run->in[i].stream].combines)
                more += take(run, &run->in[i]);
    }
}

static void passed_on(struct espi_inflow *in, int64_t number)
{
    in->slots[number % in->ring].passed_on = 1;
    while (in->passed_on < in->got && in->slots[in->passed_on % in->ring].passed_on) {
        in->slots[in->passed_on % in->ring].passed_on = 0;
        in->slots[in->passed_on++ % in->ring].slice = -1;
    }
}

/* ---- sending ---- */

static const struct espi_step *next_send(struct espi_run *run)
{
    const struct espi_program *prog = run->prog;
    int first = prog->send_start[run->rank];
    return espi_next_step(prog, prog->sends + first,
                          prog->send_start[run->rank + 1] - first, &run->send_round,
                          &run->send_at);
}

/* A free place for a packed message: there are as many as sends may be under way. */
static int find_pack(const struct espi_run *run)
{
    int place = 0;
    while (run->pack_used[place])
        place++;
    return place;
}

static int start_send(struct espi_run *run, const struct espi_step *step)
{
    const struct espi_transport *t = run->transport;
    const struct espi_stream *s = &run->prog->streams[step->stream];
    int relay = s->source < 0 ? -1 : run->inflow_of_stream[s->source];
    int64_t slice = espi_step_slice(run->prog, step, run->send_round), number = 0;
    size_t bytes;
    char *from = espi_place_of_message(run, step->stream, slice, &bytes);
    struct espi_request request;
    int packed = -1;
    if (relay >= 0 && !run->prog->streams[s->source].keeps) {
        number = find_relayed(&run->in[relay], slice);
        from = stored_at(run, &run->in[relay], number);
    } else {
        relay = -1;
        if (espi_is_scattered(run, step->stream)) {
            packed = find_pack(run);
            from = run->pack + (size_t)packed * run->pack_bytes;
            espi_message_load(run, step->stream, slice, from);
        }
    }
    run->error =
        t->send(t->self, s->to, run->channel[step->stream], from, bytes, &request);
    if (run->error)
        return -1;
    note_request(run, request, (struct espi_open_message){relay, 1, number, packed});
    if (packed >= 0)
        run->pack_used[packed] = 1;
    run->send_at++;
    return 0;
}

static int start_sends(struct espi_run *run)
{
    const struct espi_step *step;
    while (run->n_sends_open < run->window && (step = next_send(run)) &&
           espi_step_has_data(run->prog, step, run->arrived, run->send_round))
        if (start_send(run, step))
            return -1;
    return 0;
}

/* ---- all of it ---- */

static void finish(struct espi_run *run, int at)
{
    struct espi_open_message *m = &run->messages[at];
    if (!m->is_send)
        received(run, &run->in[m->inflow], m->number);
    else if (m->inflow >= 0)
        passed_on(&run->in[m->inflow], m->number);
    if (m->pack >= 0)
        run->pack_used[m->pack] = 0;
    run->n_sends_open -= m->is_send;
    m->number = -1;
}

/* Takes away the requests that are done, keeping the order of the others. */
static void drop_done(struct espi_run *run)
{
    int kept = 0;
    for (int i = 0; i < run->n_requests; i++)
        if (run->messages[i].number >= 0) {
            run->requests[kept] = run->requests[i];
            run->messages[kept++] = run->messages[i];
        }
    run->n_requests = kept;
}

int espi_run_progress(struct espi_run *run, int block)
{
    const struct espi_transport *t = run->transport;
    for (;;) {
        int n_done = 0;
        if (run->error || post_receives(run) || start_sends(run))
            return -1;
        if (run->n_requests == 0)
            return 1; /* nothing under way and nothing could start: all is done */
        run->error = t->wait_some(t->self, run->requests, run->n_requests, block,
                                  run->done, &n_done);
        if (run->error)
            return -1;
        if (n_done == 0)
            return 0;
        for (int i = 0; i < n_done; i++)
            finish(run, run->done[i]);
        drop_done(run);
    }
}
