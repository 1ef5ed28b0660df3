/* The executor. Each stream into the rank has up to `window` receives posted ahead, so
 * that data flow while we are busy elsewhere. Sends start strictly in the order of the
 * program (the order is the schedule), as soon as their slice is there and fewer than
 * `window` are under way; of free programs, and with a policy, each connection by itself
 * in this way (program/connections.h). Slices are received straight into the message, and
 * sent from it; those that the rank only passes on go through a ring of their own, since
 * the message may be receiving the same slice from elsewhere at that moment.
 *
 * A policy (exec.h) may bring slices on other ways and have messages sent empty; it never
 * changes which messages the program has.
 *
 * Where a stream carries several slices at once (plans with steps) and they are not
 * together in memory, or the message is not in memory as it travels, they are packed for
 * sending and unpacked on arrival. */
#include "exec/exec.h"

#include <sched.h>
#include <string.h>

#include "exec/places.h"
#include "exec/run.h"

/* ---- memory of ours ---- */

static char *stored_at(const struct espi_inflow *in, int64_t number)
{
    return in->store + (size_t)(number % in->ring) * in->room;
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
        to = stored_at(in, in->posted);
    if (!to)
        bytes = 0; /* the rank has lost its data (policies) */
    run->error = t->recv(t->self, run->prog->streams[in->stream].from,
                         run->channel[in->stream], to, bytes, &request);
    if (run->error)
        return -1;
    in->slots[in->posted % in->ring].slice = slice;
    in->slots[in->posted % in->ring].state = step->state;
    note_request(
        run, request,
        (struct espi_open_message){
            .inflow = i, .stream = in->stream, .number = in->posted++, .pack = -1});
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
    const char *from = stored_at(in, number);
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
static int take_in_order(struct espi_run *run, struct espi_inflow *in)
{
    int taken = 0;
    for (; may_take(run, in); taken++) {
        int64_t rounds = in->slots[in->got % in->ring].slice / run->prog->slots + 1;
        int64_t *arrived = &run->arrived[in->slots[in->got % in->ring].state];
        in->slots[in->got % in->ring].landed = 0;
        if (*arrived < rounds) /* else a policy brought it */
            *arrived = rounds;
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
    int more = take_in_order(run, in);
    while (more && run->prog->streams[in->stream].combines) {
        more = 0;
        for (int i = 0; i < run->n_in; i++)
            if (run->prog->streams[run->in[i].stream].combines)
                more += take_in_order(run, &run->in[i]);
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

static int start_send(struct espi_run *run, const struct espi_step *step, int64_t round)
{
    const struct espi_transport *t = run->transport;
    const struct espi_stream *s = &run->prog->streams[step->stream];
    int relay = s->source < 0 ? -1 : run->inflow_of_stream[s->source];
    int64_t slice = espi_step_slice(run->prog, step, round), number = 0;
    size_t bytes;
    const struct espi_run_policy *policy = run->options.policy;
    char *from = espi_place_of_message(run, step->stream, slice, &bytes);
    struct espi_request request;
    int packed = -1;
    if (relay >= 0 && !run->prog->streams[s->source].keeps) {
        number = find_relayed(&run->in[relay], slice);
        from = stored_at(&run->in[relay], number);
    } else {
        relay = -1;
        if (espi_is_scattered(run, step->stream)) {
            packed = find_pack(run);
            from = run->pack + (size_t)packed * run->pack_bytes;
            espi_message_load(run, step->stream, slice, from);
        }
    }
    const char *read = from;
    if (policy)
        read = policy->read_slice(policy->self, step->stream, slice, &bytes);
    run->error =
        t->send(t->self, s->to, run->channel[step->stream], read, bytes, &request);
    if (run->error)
        return -1;
    note_request(run, request,
                 (struct espi_open_message){.inflow = relay,
                                            .is_send = 1,
                                            .stream = step->stream,
                                            .number = number,
                                            .pack = packed});
    if (packed >= 0)
        run->pack_used[packed] = 1;
    return 0;
}

/* In the order of the program. */
static int start_in_order(struct espi_run *run)
{
    const struct espi_step *step;
    while (run->n_sends_open < run->window && (step = next_send(run)) &&
           espi_step_has_data(run->prog, step, run->arrived, run->send_round)) {
        if (start_send(run, step, run->send_round))
            return -1;
        run->send_at++;
    }
    return 0;
}

/* On each connection what is there. Its streams share the window, but each has at least
 * one send: a receiver may not take what comes by one of them before something has come
 * by another. */
static int start_on_connections(struct espi_run *run)
{
    struct espi_connections *all = &run->connections;
    struct espi_sendable now = {.arrived = run->arrived,
                                .limit =
                                    espi_connections_limit(all, run->prog, run->rank)};
    const struct espi_step *step;
    int64_t round = 0;
    for (int c = 0; c < all->n; c++) {
        now.window = espi_stream_window(run, c);
        while ((step = espi_connection_next(all, run->prog, c, &now, &round))) {
            if (start_send(run, step, round))
                return -1;
            espi_connection_start(all, step);
        }
    }
    return 0;
}

static int start_sends(struct espi_run *run)
{
    return run->is_free ? start_on_connections(run) : start_in_order(run);
}

/* ---- all of it ---- */

static void finish_send(struct espi_run *run, const struct espi_open_message *m)
{
    if (m->inflow >= 0)
        passed_on(&run->in[m->inflow], m->number);
    if (m->pack >= 0)
        run->pack_used[m->pack] = 0;
    run->n_sends_open--;
    if (run->is_free)
        espi_connection_end(&run->connections, m->stream);
}

static void finish_receive(struct espi_run *run, const struct espi_open_message *m)
{
    const struct espi_run_policy *policy = run->options.policy;
    struct espi_inflow *in = &run->in[m->inflow];
    if (policy && !run->error)
        run->error = policy->on_received(policy->self, run,
                                         in->slots[m->number % in->ring].slice, m->bytes);
    received(run, in, m->number);
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

static void finish(struct espi_run *run, int n_done)
{
    for (int i = 0; i < n_done; i++) {
        struct espi_open_message *m = &run->messages[run->done[i]];
        if (m->is_send)
            finish_send(run, m);
        else
            finish_receive(run, m);
        m->number = -1;
    }
    drop_done(run);
}

/* With a policy there is more to look for than these, so that nobody waits for them. */
static int look_in_chunks(struct espi_run *run, int *n_done)
{
    const struct espi_transport *t = run->transport;
    for (int first = 0; first < run->n_requests; first += ESPI_TRANSPORT_CHUNK) {
        int left = run->n_requests - first, some = 0, *done = run->done + *n_done;
        int n = left < ESPI_TRANSPORT_CHUNK ? left : ESPI_TRANSPORT_CHUNK;
        int code = t->wait_some(t->self, run->requests + first, n, 0, done, &some);
        if (code)
            return code;
        for (int i = 0; i < some; i++) {
            done[i] += first;
            run->messages[done[i]].bytes = t->came(t->self, i);
        }
        *n_done += some;
    }
    return 0;
}

/* The messages that are done: *n_done of them, which with block != 0 and no policy is not
 * zero. */
static int look_for_done(struct espi_run *run, int block, int *n_done)
{
    const struct espi_transport *t = run->transport;
    run->error = run->options.policy
                     ? look_in_chunks(run, n_done)
                     : t->wait_some(t->self, run->requests, run->n_requests, block,
                                    run->done, n_done);
    return run->error ? -1 : 0;
}

/* What a policy does beside the program. */
static int serve(struct espi_run *run)
{
    const struct espi_run_policy *policy = run->options.policy;
    if (policy)
        run->error = policy->serve(policy->self, run);
    return run->error ? -1 : 0;
}

static int look_beside(struct espi_run *run, int *count)
{
    const struct espi_run_policy *policy = run->options.policy;
    if (policy && !run->error)
        run->error = policy->look(policy->self, run, count);
    return run->error ? -1 : 0;
}

/* Nothing is under way and nothing could start. */
static int is_over(const struct espi_run *run)
{
    const struct espi_run_policy *policy = run->options.policy;
    return run->n_requests == 0 && (!policy || policy->is_idle(policy->self));
}

int espi_run_progress(struct espi_run *run, int block)
{
    for (;;) {
        int count = 0;
        if (run->error || post_receives(run) || start_sends(run) || serve(run))
            return -1;
        if (is_over(run))
            return 1;
        if (look_for_done(run, block, &count))
            return -1;
        finish(run, count);
        if (look_beside(run, &count))
            return -1;
        if (count == 0 && !block)
            return 0;
        if (count == 0)
            sched_yield();
    }
}
