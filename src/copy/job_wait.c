/* What comes from agents, and waiting for it. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "copy/job.h"
#include "copy/tuning.h"

enum { NAP_MS = 250, STUCK_MAX = 4096, PORT_MAX = 65535 }; /* limits; code: of TCP */

/* ---- what agents say ---- */

static void on_hello(struct espi_copy_job *job, struct espi_copy_host *h,
                     struct espi_wire_in *r)
{
    uint32_t version = espi_take_32(r);
    h->port = espi_take_32(r);
    if (h->port == 0 || h->port > PORT_MAX)
        r->bad = 1;
    if (version != ESPI_COPY_VERSION)
        espi_copy_lose(job, h, "its espalier speaks another version (%u, ours is %d)",
                       (unsigned)version, ESPI_COPY_VERSION);
    else
        h->state = ESPI_COPY_UP;
}

/* Only of the run of now. */
static void on_progress(struct espi_copy_job *job, struct espi_copy_host *h,
                        struct espi_wire_in *r)
{
    uint32_t run = espi_take_32(r), landed = espi_take_32(r);
    uint32_t n = espi_take_count(r, 4);
    if (run != (uint32_t)job->runs || n > STUCK_MAX)
        return;
    h->n_landed = landed;
    espi_free(h->stuck);
    h->stuck = ESPI_NEW(uint32_t, n + 1);
    h->n_stuck = h->stuck ? (int)n : 0;
    for (int i = 0; i < h->n_stuck; i++)
        h->stuck[i] = espi_take_32(r);
    for (uint32_t i = (uint32_t)h->n_stuck; i < n; i++)
        espi_take_32(r);
    espi_copy_learn_told(job, h, r);
}

static void on_done(const struct espi_copy_job *job, struct espi_copy_host *h,
                    struct espi_wire_in *r)
{
    size_t bytes;
    uint32_t run = espi_take_32(r), n = (uint32_t)job->prog.n_slices;
    h->was_whole = (int)espi_take_8(r);
    h->broken = espi_take_32(r);
    espi_take_text(r, h->broken_why, sizeof h->broken_why);
    const unsigned char *landed = espi_take_block(r, &bytes);
    if (r->bad || run != (uint32_t)job->runs || bytes != espi_set_bytes(n)) {
        r->bad = 1;
        return;
    }
    for (uint32_t s = 0; s < n && !h->is_relay; s++)
        if (espi_set_has(landed, s) && !espi_set_has(h->has, job->block[s]))
            espi_set_add(h->fresh, job->block[s]);
}

static void on_checked(const struct espi_copy_job *job, struct espi_copy_host *h,
                       struct espi_wire_in *r)
{
    size_t bytes;
    const unsigned char *digest = espi_take_raw(r, sizeof h->digest);
    const unsigned char *set = espi_take_block(r, &bytes);
    if (r->bad || bytes != espi_set_bytes(job->message.n_blocks)) {
        r->bad = 1;
        return;
    }
    memcpy(h->digest, digest, sizeof h->digest);
    for (size_t i = 0; i < bytes; i++)
        h->fresh[i] &= set[i];
}

static void on_tag_list(struct espi_copy_host *h, struct espi_wire_in *r)
{
    size_t bytes;
    const unsigned char *tags = espi_take_block(r, &bytes);
    espi_free(h->tags);
    h->tags = espi_malloc(bytes + 1);
    h->tags_bytes = h->tags ? bytes : 0;
    if (h->tags && bytes)
        memcpy(h->tags, tags, bytes);
}

static void hear(struct espi_copy_job *job, struct espi_copy_host *h, int type,
                 struct espi_wire_in *r)
{
    char why[ESP_ERR_TEXT_MAX];
    h->heard_s = espi_now_s();
    if (type == ESPI_FROM_FAILED) {
        espi_take_text(r, why, sizeof why);
        espi_copy_lose(job, h, "%s", why);
        return;
    }
    if (type == ESPI_FROM_ALIVE)
        return;
    if (type == ESPI_FROM_PROGRESS) {
        on_progress(job, h, r);
        return;
    }
    int crossed = type == ESPI_FROM_DONE && h->awaited == ESPI_FROM_STOPPED;
    if (type != h->awaited && !crossed) {
        if (h->state != ESPI_COPY_OUT)
            espi_copy_lose(job, h, "its agent said something out of turn");
        return;
    }
    if (!crossed)
        h->awaited = 0;
    if (type == ESPI_FROM_HELLO)
        on_hello(job, h, r);
    else if (type == ESPI_FROM_DONE)
        on_done(job, h, r);
    else if (type == ESPI_FROM_CHECKED)
        on_checked(job, h, r);
    else if (type == ESPI_FROM_TAG_LIST)
        on_tag_list(h, r);
    else if (type == ESPI_FROM_OPENED)
        h->had_before = (int)espi_take_8(r);
    else if (type == ESPI_FROM_PINGED)
        espi_copy_learn_pinged(h, r);
    if (r->bad)
        espi_copy_lose(job, h, "its agent said something that cannot be");
}

/* It takes nothing any more. Of a launcher that has ended we hear all the same what it
 * said, and how it ended. */
static void lose_deaf(struct espi_copy_job *job, struct espi_copy_host *h)
{
    if (h->state == ESPI_COPY_STARTING)
        espi_control_forget(&h->control);
    else
        espi_copy_lose(job, h, "its agent is gone");
}

static void listen_to(struct espi_copy_job *job, struct espi_copy_host *h)
{
    struct espi_wire_in body;
    int type, more, gone = espi_control_read(&h->control);
    while ((more = espi_control_next(&h->control, &type, &body)) > 0)
        hear(job, h, type, &body);
    if (!gone && more == 0)
        return;
    if (more < 0)
        espi_copy_lose(job, h,
                       "what it says are no words of an agent: does a start-up file of "
                       "its shell print something?");
    else if (h->state == ESPI_COPY_STARTING)
        espi_copy_lose_unstarted(job, h);
    else
        espi_copy_lose(job, h, "its agent is gone");
    espi_control_close(&h->control);
}

void espi_copy_tell(struct espi_copy_job *job, struct espi_copy_host *h,
                    enum espi_control_type type, struct espi_wire_out *body, int awaited)
{
    h->awaited = awaited;
    h->heard_s = espi_now_s();
    if (espi_control_send(&h->control, type, body))
        lose_deaf(job, h);
    if (body)
        espi_wire_done(body);
}

/* ---- waiting ---- */

static void step_root(struct espi_copy_job *job)
{
    int done = espi_runner_step(&job->runner);
    if (done == 0)
        return;
    job->root_failed |= done < 0;
    job->root_is_going = 0;
}

void espi_copy_show_life(struct espi_copy_job *job)
{
    double now_s = espi_now_s();
    if (now_s - job->said_s < ESPI_COPY_LIFE_SHARE * job->options.patience_s)
        return;
    job->said_s = now_s;
    for (int i = 0; i < job->n_hosts; i++)
        if (espi_copy_is_alive(&job->host[i]) &&
            espi_control_send(&job->host[i].control, ESPI_TO_ALIVE, NULL))
            lose_deaf(job, &job->host[i]);
}

/* While we did not listen (stopped, or busy) nobody can have been heard. */
static void forgive_own_pause(struct espi_copy_job *job)
{
    double now_s = espi_now_s(), pause_s = now_s - job->looked_s;
    for (int i = 0; job->looked_s > 0 && i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        if (pause_s > 2 * 1e-3 * NAP_MS)
            h->heard_s = fmin(h->heard_s + pause_s, now_s);
    }
    job->looked_s = now_s;
}

/* How far each host is, as far as it has told. */
static void count_bytes(struct espi_copy_job *job, struct espi_copy_progress *now)
{
    const struct espi_copy_host *slowest = NULL;
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        h->has_bytes = (double)h->received_bytes;
        if (job->message.kind != ESPI_MESSAGE_LIST)
            h->has_bytes += (double)h->n_landed * job->message.block_bytes;
        if ((!espi_copy_is_alive(h) && h->state != ESPI_COPY_HAS_IT) || h->is_relay)
            continue;
        if (!slowest || h->has_bytes < slowest->has_bytes)
            slowest = h;
        now->done_bytes += h->has_bytes;
        if (job->stream < 0)
            now->total_bytes += (double)job->source->m.data_bytes;
    }
    now->slowest = slowest ? slowest->name : "";
    now->slowest_bytes = slowest ? slowest->has_bytes : 0;
}

void espi_copy_show_progress(struct espi_copy_job *job)
{
    struct espi_copy_progress now = {
        .phase = job->awaits_stream ? "more of the stream is awaited" : job->phase,
        .is_over = job->is_over,
        .is_sending = job->root_is_going && job->message.kind != ESPI_MESSAGE_LIST};
    if (job->start_s > 0)
        now.elapsed_s = espi_now_s() - job->start_s;
    job->shown_s = espi_now_s();
    count_bytes(job, &now);
    if (job->options.progress)
        job->options.progress(job->options.progress_arg, &now);
}

int espi_copy_look(struct espi_copy_job *job)
{
    nfds_t n = 0;
    struct pollfd *fd = ESPI_NEW(struct pollfd, 2 * job->n_hosts + 2);
    int busy = 0;
    if (!fd)
        return -1;
    forgive_own_pause(job);
    espi_copy_show_life(job);
    if (espi_now_s() - job->shown_s >= ESPI_COPY_REPORT_S)
        espi_copy_show_progress(job);
    if (job->root_is_going) {
        step_root(job);
        busy = job->runner.is_busy || !job->root_is_going;
    }
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_control *c = &job->host[i].control;
        fd[n++] = (struct pollfd){.fd = c->in, .events = POLLIN};
        fd[n++] = (struct pollfd){.fd = espi_control_has_waiting(c) ? c->out : -1,
                                  .events = POLLOUT};
    }
    fd[n++] = (struct pollfd){
        .fd = job->root_is_going ? espi_tcp_fd(job->runner.tcp) : -1, .events = POLLIN};
    fd[n++] =
        (struct pollfd){.fd = job->awaits_stream ? job->stream : -1, .events = POLLIN};
    poll(fd, n, busy ? 0 : NAP_MS);
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        if (fd[2 * i + 1].revents && espi_control_flush(&h->control))
            lose_deaf(job, h);
        if (fd[2 * i].revents)
            listen_to(job, h);
    }
    espi_free(fd);
    forgive_own_pause(job); /* who came after poll had told was not listened to */
    return job->options.interrupted && *job->options.interrupted ? -1 : 0;
}

static int count_awaited(const struct espi_copy_job *job)
{
    int n = 0;
    for (int i = 0; i < job->n_hosts; i++)
        n += job->host[i].awaited != 0;
    return n;
}

/* Who reads its blocks again says all the time that it is at it. */
static void lose_silent_checkers(struct espi_copy_job *job)
{
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        if (h->awaited == ESPI_FROM_CHECKED &&
            job->looked_s - h->heard_s > job->options.patience_s)
            espi_copy_lose(job, h, "nothing was heard of it for %.0f s",
                           job->options.patience_s);
    }
}

double espi_copy_disk_s(const struct espi_copy_job *job, uint64_t bytes)
{
    return ESPI_COPY_DISK_TIMES *
           (job->options.patience_s + (double)bytes / ESPI_COPY_SLOW_DISK_BPS);
}

double espi_copy_open_s(const struct espi_copy_job *job)
{
    return espi_copy_disk_s(job, job->options.resume ? job->source->m.data_bytes : 0);
}

esp_status espi_copy_await(struct espi_copy_job *job, double limit_s, struct esp_err *err)
{
    double until_s = espi_now_s() + limit_s;
    while (count_awaited(job) > 0) {
        if (espi_copy_look(job))
            return espi_err(err, ESP_EIO, "interrupted");
        lose_silent_checkers(job);
        if (espi_now_s() < until_s)
            continue;
        for (int i = 0; i < job->n_hosts; i++)
            if (job->host[i].awaited)
                espi_copy_lose(job, &job->host[i], "its agent does not answer");
    }
    return ESP_OK;
}
