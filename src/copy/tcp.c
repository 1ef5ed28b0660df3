#include "copy/tcp.h"

#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "copy/tcp_impl.h"
#include "copy/tuning.h"

enum { EVENTS_MAX = 64 }; /* limit: at a time */

/* ---- messages ---- */

/* The slice of the stream's next message; -1: there is none. Both sides go through the
 * stream's steps in the same order. */
static int64_t next_slice(const struct espi_tcp *t, struct tcp_end *e)
{
    const struct espi_program *prog = &t->part->prog;
    int rank = t->part->rank, is_out = t->part->peer[e->stream].is_out;
    const struct espi_step *steps = is_out ? prog->sends : prog->recvs;
    const int *start = is_out ? prog->send_start : prog->recv_start;
    for (;;) {
        const struct espi_step *step = espi_next_step(
            prog, steps + start[rank], start[rank + 1] - start[rank], &e->round, &e->at);
        if (!step)
            return -1;
        e->at++;
        if (step->stream == e->stream)
            return espi_step_slice(prog, step, e->round);
    }
}

static int is_there(const struct espi_tcp *t, int stream, int64_t slice)
{
    const unsigned char *has = t->part->peer[stream].has;
    return has && espi_set_has(has, (uint32_t)slice);
}

/* Does nothing travel on the stream, since its receiver has it all? */
static int carries_nothing(const struct espi_tcp *t, int stream)
{
    struct tcp_end walk = {.stream = stream};
    int64_t slice;
    if (!t->part->peer[stream].has)
        return 0;
    while ((slice = next_slice(t, &walk)) >= 0)
        if (!is_there(t, stream, slice))
            return 0;
    return 1;
}

static int grow_ring(struct tcp_end *e)
{
    int64_t size = e->ring_size ? 2 * e->ring_size : 16;
    struct tcp_message *ring = espi_calloc((size_t)size, sizeof *ring);
    if (!ring)
        return -1;
    for (int64_t k = e->finished; e->ring_size > 0 && k < e->asked; k++)
        ring[k % size] = e->ring[k % e->ring_size];
    espi_free(e->ring);
    e->ring = ring;
    e->ring_size = size;
    return 0;
}

static void skip_finished(struct tcp_end *e)
{
    while (e->finished < e->asked) {
        const struct tcp_message *m = &e->ring[e->finished % e->ring_size];
        if (!m->is_here && m->moved < m->bytes)
            return;
        e->finished++;
    }
}

/* The last slice of a message may be short: that is not sent up to its full length. */
static int post_message(struct espi_tcp *t, int stream, char *at,
                        struct espi_request *request)
{
    struct tcp_end *e = &t->end[stream];
    int64_t slice = next_slice(t, e);
    if (slice < 0 || (e->asked - e->finished == e->ring_size && grow_ring(e)))
        return 2;
    if (e->asked == e->finished)
        e->moved_s = espi_now_s();
    struct tcp_message *m = &e->ring[e->asked % e->ring_size];
    *m = (struct tcp_message){.at = at,
                              .slice = (uint32_t)slice,
                              .bytes = espi_slice_bytes(t->slices, (uint32_t)slice),
                              .is_here = is_there(t, stream, slice)};
    request->handle = e;
    request->number = (int)e->asked++;
    skip_finished(e);
    return 0;
}

/* Channels are the numbers of streams (espi_tcp_create). */
static int tcp_send(void *self, int peer, int channel, const void *from, size_t bytes,
                    struct espi_request *request)
{
    (void)peer, (void)bytes;
    return post_message(self, channel, (char *)(uintptr_t)from, request);
}

static int tcp_recv(void *self, int peer, int channel, void *to, size_t bytes,
                    struct espi_request *request)
{
    (void)peer, (void)bytes;
    return post_message(self, channel, to, request);
}

/* What comes slowly comes in pieces of a packet or two, and each would wake us. So the
 * kernel tells of no less than a buffer of ours, or than is left of the message. OpenSSL
 * may have the beginning of a record already. */
static void wake_for_buffers(const struct espi_tcp *t, struct tcp_end *e,
                             const struct tcp_message *m)
{
    size_t had = t->encrypted ? ESPI_SECURE_RECORD_BYTES : 0, left = m->bytes - m->moved;
    int wanted = left <= had                         ? 1
                 : left - had < ESPI_COPY_WORK_BYTES ? (int)(left - had)
                                                     : ESPI_COPY_WORK_BYTES;
    if (wanted != e->wakes_at &&
        setsockopt(e->fd, SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted) == 0)
        e->wakes_at = wanted;
}

/* Moves what can be moved, but no more than its turn. */
static void move_end(struct espi_tcp *t, struct tcp_end *e)
{
    int is_out = t->part->peer[e->stream].is_out;
    size_t turn = 0;
    while (e->finished < e->asked && turn < ESPI_COPY_TURN_BYTES) {
        struct tcp_message *m = &e->ring[e->finished % e->ring_size];
        long n = is_out ? espi_tcp_send_some(t, e, m) : espi_tcp_receive_some(t, e, m);
        if (n < 0)
            espi_tcp_break(t, e, "a connection with it broke");
        if (n == 0)
            e->may_go = 0;
        if (n == 0 && !is_out)
            wake_for_buffers(t, e, m);
        if (n <= 0)
            break;
        m->moved += (size_t)n;
        turn += (size_t)n;
        skip_finished(e);
    }
    t->moved += turn;
    if (turn > 0)
        e->moved_s = espi_now_s();
}

static int look_for_events(struct espi_tcp *t)
{
    struct epoll_event event[EVENTS_MAX];
    int n = epoll_wait(t->epoll, event, EVENTS_MAX, 0);
    for (int i = 0; i < n; i++) {
        int number = event[i].data.fd;
        if (number == ESPI_LISTENER_EVENT)
            espi_tcp_accept(t);
        else if (number >= ESPI_CALLER_EVENT)
            espi_tcp_serve_caller(t, number - ESPI_CALLER_EVENT);
        else
            t->end[number].may_go = 1;
    }
    return n == EVENTS_MAX;
}

static void pump_ends(struct espi_tcp *t)
{
    while (look_for_events(t))
        continue;
    for (int s = 0; s < t->n_ends; s++) {
        struct tcp_end *e = &t->end[s];
        if (e->may_go && e->state != END_OPEN && e->state != END_NEW &&
            e->state != END_BROKEN)
            espi_tcp_open_end(t, e);
        if (e->may_go && e->state == END_OPEN)
            move_end(t, e);
    }
}

static int tcp_wait_some(void *self, struct espi_request *requests, int n, int block,
                         int *done, int *n_done)
{
    struct espi_tcp *t = self;
    (void)block; /* who drives the run waits */
    *n_done = 0;
    if (espi_now_s() > t->until_s)
        return 0; /* others have their turn: nothing is done that can be told of */
    pump_ends(t);
    if (t->broken >= 0)
        return 1;
    for (int i = 0; i < n; i++) {
        const struct tcp_end *e = requests[i].handle;
        if (requests[i].number < e->finished)
            done[(*n_done)++] = i;
    }
    return 0;
}

/* ---- all of it ---- */

struct espi_tcp *espi_tcp_create(struct espi_copy_slices *slices, int encrypted,
                                 const struct espi_listener *listener)
{
    struct espi_tcp *t = espi_calloc(1, sizeof *t);
    const struct espi_copy_part *part = slices->part;
    int n = part->prog.n_streams - part->prog.n_trees;
    if (!t)
        return NULL;
    t->transport =
        (struct espi_transport){t, tcp_send, tcp_recv, tcp_wait_some, NULL, NULL};
    t->part = part;
    t->slices = slices;
    t->pipe[0] = t->pipe[1] = -1;
    t->listener = listener;
    t->encrypted = encrypted;
    t->broken = -1;
    for (int i = 0; i < ESPI_CALLERS_MAX; i++)
        t->caller[i].fd = -1;
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->end = espi_calloc((size_t)n + 1, sizeof *t->end);
    if (t->epoll < 0 || !t->end ||
        (listener && espi_tcp_watch(t, listener->fd, ESPI_LISTENER_EVENT))) {
        espi_tcp_free(t);
        return NULL;
    }
    t->n_ends = n;
    for (int s = 0; s < n; s++)
        t->end[s] = (struct tcp_end){.stream = s, .fd = -1};
    return t;
}

void espi_tcp_free(struct espi_tcp *t)
{
    if (!t)
        return;
    for (int i = 0; i < ESPI_CALLERS_MAX; i++)
        if (t->caller[i].fd >= 0)
            espi_tcp_drop_caller(&t->caller[i], 1);
    for (int s = 0; s < t->n_ends; s++) {
        espi_secure_free(t->end[s].secure);
        if (t->end[s].fd >= 0)
            close(t->end[s].fd);
        espi_free(t->end[s].ring);
        espi_free(t->end[s].buffer);
    }
    for (int i = 0; i < 2; i++)
        if (t->pipe[i] >= 0)
            close(t->pipe[i]);
    if (t->epoll >= 0)
        close(t->epoll);
    espi_free(t->end);
    espi_free(t);
}

int espi_tcp_start(struct espi_tcp *t)
{
    for (int s = 0; s < t->n_ends; s++) {
        struct tcp_end *e = &t->end[s];
        e->moved_s = espi_now_s();
        if (!t->part->peer[s].is_out || carries_nothing(t, s))
            continue;
        espi_tcp_connect(t, e);
        if (e->state == END_BROKEN)
            return -1;
    }
    return 0;
}

const struct espi_transport *espi_tcp_transport(struct espi_tcp *t)
{
    return &t->transport;
}

int espi_tcp_fd(const struct espi_tcp *t)
{
    return t->epoll;
}

uint64_t espi_tcp_moved(const struct espi_tcp *t)
{
    return t->moved;
}

void espi_tcp_turn(struct espi_tcp *t, double for_s)
{
    t->until_s = espi_now_s() + for_s;
}

int espi_tcp_broken(const struct espi_tcp *t, const char **why)
{
    if (why)
        *why = t->why;
    return t->broken;
}

/* What was handed to the kernel has not arrived for that: a cut cable keeps it there. */
static int count_queued(const struct tcp_end *e)
{
    int queued = 0;
    return e->fd >= 0 && ioctl(e->fd, SIOCOUTQ, &queued) == 0 ? queued : 0;
}

/* Does the end wait for the other one to take something? */
static int look_at_queue(struct tcp_end *e, double now_s)
{
    int queued = count_queued(e), waits = e->finished < e->asked || queued > 0;
    if (queued != e->queued || !waits)
        e->moved_s = now_s;
    e->queued = queued;
    return waits;
}

int espi_tcp_stuck(struct espi_tcp *t, double for_s, uint32_t *numbers, int n)
{
    double now_s = espi_now_s(), pause_s = now_s - t->looked_s;
    int found = 0;
    t->looked_s = now_s;
    for (int s = 0; s < t->n_ends; s++) {
        struct tcp_end *e = &t->end[s];
        if (pause_s > 0.5 * for_s) /* rounding: it is we who did not move */
            e->moved_s = now_s;
        if (!t->part->peer[s].is_out || !look_at_queue(e, now_s))
            continue;
        if (now_s - e->moved_s > for_s && found < n)
            numbers[found++] = t->part->peer[s].number;
    }
    return found;
}
