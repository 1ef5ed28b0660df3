/* Transfers that last, any number at once. A sender keeps a window of chunks under way,
 * which the receiver acknowledges, so that little is left to drain when the time is up;
 * it ends with the number of chunks it has sent. The receiver notes when chunks arrive:
 * the rate is that of the middle of the time, when all transfers of the round run. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "mpi/probe/probe.h"
#include "mpi/probe/tuning.h"

enum { DATA, LAST, ACK, HELLO, TAGS };

struct out_flow {
    const struct task *task;
    int chunk, window; /* bytes, chunks */
    long sent, acked;
    MPI_Request *requests; /* of the chunks under way */
    MPI_Request last;
    int ended;
};

struct arrival {
    double at_s, bytes; /* all so far */
};

struct in_flow {
    const struct task *task;
    struct arrival *arrivals;
    size_t n, room;
    long expected; /* -1: not told yet */
    int ended;
};

struct trial {
    double start_s, seconds;
    struct out_flow *out;
    struct in_flow *in;
    int n_out, n_in;
    char *data;
};

static int tag_of(const struct task *t, int what)
{
    return TAG_FLOWS + t->index * TAGS + what;
}

/* ---- sending ---- */

static void plan_flow(struct out_flow *f, const struct task *t, double seconds)
{
    double expect = t->expect_Bps > 0 ? t->expect_Bps : ESPI_UNKNOWN_Bps;
    double latency_s = t->latency_s > 0 ? t->latency_s : 0;
    double chunk = fmax(ESPI_CHUNK_MIN, fmin(ESPI_CHUNK_MAX, expect * ESPI_CHUNK_S));
    /* two and a half round trips, and what waits in queues: where transfers run in both
     * directions, acknowledgements wait behind data. That a quarter of the time is under
     * way at the end makes the trial longer by as much at most. */
    double bytes = (5 * latency_s + seconds / 4) * expect;
    if (t->expect_Bps <= 0 && latency_s > ESPI_NEAR_S)
        bytes = ESPI_WINDOW_FAR;
    f->task = t;
    f->chunk = (int)chunk & ~1023;
    f->window = (int)fmin(1024, fmax(8, bytes / f->chunk));
    f->last = MPI_REQUEST_NULL;
    f->requests = espi_array((size_t)f->window, sizeof *f->requests);
    if (!f->requests)
        give_up("out of memory");
    for (int i = 0; i < f->window; i++)
        f->requests[i] = MPI_REQUEST_NULL;
}

static int take_acks(struct out_flow *f)
{
    int there, any = 0;
    for (;;) {
        MPI_Iprobe(f->task->to_rank, tag_of(f->task, ACK), MPI_COMM_WORLD, &there,
                   MPI_STATUS_IGNORE);
        if (!there)
            return any;
        MPI_Recv(NULL, 0, MPI_BYTE, f->task->to_rank, tag_of(f->task, ACK),
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        f->acked++;
        any = 1;
    }
}

static int push_chunk(struct trial *t, struct out_flow *f)
{
    int any = take_acks(f), done;
    double spent_s = espi_now_s() - t->start_s;
    int more =
        spent_s < t->seconds || (f->sent < ESPI_CHUNKS_MIN && spent_s < 4 * t->seconds);
    while (more && f->sent - f->acked < f->window) {
        MPI_Request *slot = &f->requests[f->sent % f->window];
        MPI_Test(slot, &done, MPI_STATUS_IGNORE);
        if (!done)
            break;
        MPI_Isend(t->data, f->chunk, MPI_BYTE, f->task->to_rank, tag_of(f->task, DATA),
                  MPI_COMM_WORLD, slot);
        f->sent++;
        any = 1;
    }
    if (!more && f->last == MPI_REQUEST_NULL)
        MPI_Isend(&f->sent, sizeof f->sent, MPI_BYTE, f->task->to_rank,
                  tag_of(f->task, LAST), MPI_COMM_WORLD, &f->last);
    f->ended = !more && f->acked == f->sent;
    return any;
}

/* ---- receiving ---- */

static int take_chunk(struct trial *t, struct in_flow *f)
{
    int there, size;
    MPI_Status status;
    MPI_Request ack;
    MPI_Iprobe(f->task->from_rank, tag_of(f->task, DATA), MPI_COMM_WORLD, &there,
               &status);
    if (!there)
        return 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    MPI_Recv(t->data + ESPI_CHUNK_MAX, size, MPI_BYTE, f->task->from_rank,
             tag_of(f->task, DATA), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (espi_grow((void **)&f->arrivals, &f->room, f->n + 1, sizeof *f->arrivals))
        give_up("out of memory");
    f->arrivals[f->n] =
        (struct arrival){espi_now_s(), (f->n ? f->arrivals[f->n - 1].bytes : 0) + size};
    f->n++;
    MPI_Isend(NULL, 0, MPI_BYTE, f->task->from_rank, tag_of(f->task, ACK), MPI_COMM_WORLD,
              &ack);
    MPI_Request_free(&ack);
    return 1;
}

static int pull(struct trial *t, struct in_flow *f)
{
    int there, any = 0;
    while (take_chunk(t, f))
        any = 1;
    if (f->expected < 0) {
        MPI_Iprobe(f->task->from_rank, tag_of(f->task, LAST), MPI_COMM_WORLD, &there,
                   MPI_STATUS_IGNORE);
        if (there)
            MPI_Recv(&f->expected, sizeof f->expected, MPI_BYTE, f->task->from_rank,
                     tag_of(f->task, LAST), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    f->ended = f->expected >= 0 && (long)f->n >= f->expected;
    return any;
}

/* The part of the weight of a stretch that lies before t, which runs from 0 to 1 over it:
 * the weights are a parabola, those of the line of least squares through what has arrived
 * so far. */
static double weight_before(double t)
{
    t = fmin(1, fmax(0, t));
    return t * t * (3 - 2 * t);
}

/* What arrived between two times, weighed. That is linear in what arrives, so the rates
 * of transfers add up to that of the link which they share, however unfairly it serves
 * them from moment to moment; and a receiver that had to wait for its processor and finds
 * many chunks at once moves little weight. */
static double weighed_rate(const struct in_flow *f, double from_s, double to_s)
{
    double length_s = fmax(1e-7, to_s - from_s), rate = 0;
    for (size_t i = 1; i < f->n; i++) {
        const struct arrival *a = &f->arrivals[i - 1], *b = &f->arrivals[i];
        double part = weight_before((b->at_s - from_s) / length_s) -
                      weight_before((a->at_s - from_s) / length_s);
        rate += part * (b->bytes - a->bytes) / fmax(1e-9, b->at_s - a->at_s);
    }
    return rate;
}

/* Without the beginning, when not all are under way and links that were idle let more
 * through than they do in the long run, and the end, when some are gone; where few chunks
 * arrived, of all of them. For all transfers of a round it is the same time, whenever
 * their first chunk came, or those that share a link would seem to get more of it. */
static double steady_rate(const struct in_flow *f, const struct trial *t)
{
    double start_s = t->start_s + fmax(0, f->task->latency_s);
    double from_s = start_s + 0.5 * t->seconds, to_s = start_s + t->seconds;
    int within = 0;
    for (size_t i = 0; i < f->n; i++)
        within += f->arrivals[i].at_s >= from_s && f->arrivals[i].at_s <= to_s;
    return within >= 6 ? weighed_rate(f, from_s, to_s)
                       : weighed_rate(f, f->arrivals[0].at_s, f->arrivals[f->n - 1].at_s);
}

/* A receiver that slept through most of it finds nearly all at once: what came since the
 * start is a check. */
static double rate_of(const struct in_flow *f, const struct trial *t)
{
    if (f->n < 2)
        return -1;
    const struct arrival *last = &f->arrivals[f->n - 1];
    double mean = last->bytes / fmax(1e-7, last->at_s - t->start_s);
    return fmin(steady_rate(f, t), ESPI_STEADY_MOST * mean);
}

/* ---- all of them ---- */

/* Connections are made at the first message, which takes its time. */
static void connect_all(const struct trial *t)
{
    for (int i = 0; i < t->n_out; i++)
        MPI_Send(NULL, 0, MPI_BYTE, t->out[i].task->to_rank,
                 tag_of(t->out[i].task, HELLO), MPI_COMM_WORLD);
    for (int i = 0; i < t->n_in; i++) {
        const struct task *task = t->in[i].task;
        wait_message(task->from_rank, tag_of(task, HELLO), 0, ESPI_REST_S);
        MPI_Recv(NULL, 0, MPI_BYTE, task->from_rank, tag_of(task, HELLO), MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
}

static void set_up(struct trial *t, const struct command *c, int rank)
{
    t->out = espi_calloc((size_t)c->n, sizeof *t->out);
    t->in = espi_calloc((size_t)c->n, sizeof *t->in);
    t->data = espi_calloc(2, ESPI_CHUNK_MAX);
    if (!t->out || !t->in || !t->data)
        give_up("out of memory");
    for (int i = 0; i < c->n; i++)
        if (c->tasks[i].from_rank == rank)
            plan_flow(&t->out[t->n_out++], &c->tasks[i], c->seconds);
        else
            t->in[t->n_in++] = (struct in_flow){.task = &c->tasks[i], .expected = -1};
}

static void tear_down(struct trial *t)
{
    for (int i = 0; i < t->n_out; i++) {
        for (int k = 0; k < t->out[i].window; k++)
            MPI_Wait(&t->out[i].requests[k], MPI_STATUS_IGNORE);
        MPI_Wait(&t->out[i].last, MPI_STATUS_IGNORE);
        espi_free(t->out[i].requests);
    }
    for (int i = 0; i < t->n_in; i++)
        espi_free(t->in[i].arrivals);
    espi_free(t->out);
    espi_free(t->in);
    espi_free(t->data);
}

void run_flows(const struct command *c, int rank, struct results *out,
               void (*start_together)(void *context), void *context)
{
    struct trial t = {.seconds = c->seconds};
    struct wait w;
    int left = c->n;
    set_up(&t, c, rank);
    connect_all(&t);
    start_together(context);
    t.start_s = espi_now_s();
    wait_begin(&w);
    while (left) {
        int any = 0;
        left = 0;
        for (int i = 0; i < t.n_out; i++)
            any |= t.out[i].ended ? 0 : push_chunk(&t, &t.out[i]);
        for (int i = 0; i < t.n_in; i++)
            any |= t.in[i].ended ? 0 : pull(&t, &t.in[i]);
        for (int i = 0; i < t.n_out; i++)
            left += !t.out[i].ended;
        for (int i = 0; i < t.n_in; i++)
            left += !t.in[i].ended;
        if (any)
            wait_begin(&w);
        else
            wait_on(&w, 0, ESPI_REST_S);
    }
    for (int i = 0; i < t.n_in; i++) {
        double rate = rate_of(&t.in[i], &t);
        if (rate >= 1)
            results_add(out, ESPI_SAMPLE_RATE, t.in[i].task->from_host,
                        t.in[i].task->to_host, rate);
    }
    tear_down(&t);
}
