#include "copy/job.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "copy/tuning.h"

enum {
    LIST_IN_HAND = 16 << 10, /* limit: a shorter list of files is told to each host */
    TRIES_WITHOUT_GAIN = 4,  /* limit: runs in which nobody got anything */
};

/* ---- where the root's messages are ---- */

static esp_status move_own(void *self, const struct espi_copy_message *m, int keeps,
                           uint64_t at, void *data, size_t bytes, struct esp_err *err)
{
    struct espi_copy_job *job = self;
    if (keeps)
        return espi_err(err, ESP_EINTERNAL, "the root was sent something");
    if (m->kind == ESPI_MESSAGE_DATA)
        return espi_source_load(job->source, at, data, bytes, err);
    memcpy(data,
           (m->kind == ESPI_MESSAGE_LIST ? (char *)job->source->list.at : job->segment) +
               at,
           bytes);
    return ESP_OK;
}

static esp_status find_own(void *self, const struct espi_copy_message *m, int keeps,
                           uint64_t at, struct espi_copy_place *place,
                           struct esp_err *err)
{
    struct espi_copy_job *job = self;
    return m->kind == ESPI_MESSAGE_DATA && !keeps
               ? espi_source_find(job->source, at, place, err)
               : ESP_OK;
}

/* ---- a message ---- */

static void forget_message(const struct espi_copy_job *job)
{
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        espi_free(h->has);
        espi_free(h->fresh);
        h->has = h->fresh = NULL;
        h->is_aside = 0;
    }
}

static esp_status begin_message(struct espi_copy_job *job, int kind, uint64_t base,
                                uint64_t size, struct esp_err *err)
{
    forget_message(job);
    job->message = (struct espi_copy_message){.kind = kind};
    job->learning.changes = 0;
    esp_status status = espi_copy_plan(job, (double)size, err);
    if (status)
        return status;
    job->message =
        espi_copy_message(kind, base, size, espi_copy_block_bytes(job->plan, size));
    job->disk = (struct espi_copy_disk){job, move_own, find_own};
    if (job->plan && kind != ESPI_MESSAGE_LIST && job->planned_s == 0) {
        job->planned_s = job->plan->makespan_s;
        job->planned_bytes = job->plan->size_bytes;
        job->slice_bytes = job->message.block_bytes;
    }
    size_t bytes = espi_set_bytes(job->message.n_blocks);
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        h->has = espi_calloc(1, bytes);
        h->fresh = espi_calloc(1, bytes);
        if (!h->has || !h->fresh)
            return espi_err_nomem(err);
    }
    return ESP_OK;
}

/* What somebody lacks; gives how many blocks all lack together. */
static uint64_t find_missing(const struct espi_copy_job *job, unsigned char *set)
{
    uint32_t n = job->message.n_blocks;
    uint64_t lacking = 0;
    memset(set, 0, espi_set_bytes(n));
    for (int i = 0; i < job->n_hosts; i++) {
        const struct espi_copy_host *h = &job->host[i];
        if (!espi_copy_is_alive(h) || h->is_relay)
            continue;
        for (uint32_t b = 0; b < n; b++)
            if (!espi_set_has(h->has, b)) {
                espi_set_add(set, b);
                lacking++;
            }
    }
    return lacking;
}

/* Sends, checks, and sends again what is missing, until nobody lacks anything. */
static esp_status deliver(struct espi_copy_job *job, struct esp_err *err)
{
    unsigned char *set = espi_malloc(espi_set_bytes(job->message.n_blocks));
    esp_status status = set ? ESP_OK : espi_err_nomem(err);
    uint64_t left = 0, before = UINT64_MAX;
    int vain = 0;
    while (!status && (left = find_missing(job, set)) > 0) {
        vain = left < before ? 0 : vain + 1;
        before = left;
        if (vain > TRIES_WITHOUT_GAIN + job->n_hosts)
            break;
        status = espi_copy_send_blocks(job, set, err);
        if (!status)
            status = espi_copy_check(job, err);
    }
    for (int i = 0; !status && i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        if (!espi_copy_is_alive(h) || h->is_relay)
            continue;
        if (espi_set_count(h->has, job->message.n_blocks) < job->message.n_blocks)
            espi_copy_lose(job, h, "it could not be sent all of it");
        else if (job->message.kind != ESPI_MESSAGE_LIST)
            h->received_bytes += job->message.size;
        h->n_landed = 0;
    }
    espi_free(set);
    return status;
}

/* ---- the copy in steps ---- */

/* The list as it is for the host: of a stream, under its name there. */
static esp_status put_list(const struct espi_copy_job *job,
                           const struct espi_copy_host *h, struct espi_wire_out *w,
                           struct esp_err *err)
{
    const struct espi_wire_out *list = &job->source->list;
    struct espi_copy_source own;
    espi_source_init(&own);
    int has_own = h->stream_name && espi_manifest_has_stream(&job->source->m);
    esp_status status = has_own ? espi_source_stream(&own, h->stream_name, err) : ESP_OK;
    if (!status) {
        const struct espi_wire_out *of = has_own ? &own.list : list;
        espi_put_block(w, of->at, of->used);
    }
    espi_source_done(&own);
    return status;
}

static esp_status send_list(struct espi_copy_job *job, struct esp_err *err)
{
    const struct espi_wire_out *list = &job->source->list;
    int in_hand = list->used <= LIST_IN_HAND;
    esp_status status = ESP_OK;
    if (list->used > ESPI_COPY_LIST_MAX)
        return espi_err(err, ESP_EINPUT, "too many files for one copy");
    if (!in_hand) {
        status = begin_message(job, ESPI_MESSAGE_LIST, 0, list->used, err);
        if (!status)
            status = deliver(job, err);
    }
    for (int i = 0; !status && i < job->n_hosts; i++) {
        struct espi_wire_out w = {0};
        if (!espi_copy_is_alive(&job->host[i]))
            continue;
        /* relays need the list for nothing */
        if (!in_hand && job->host[i].is_relay)
            continue;
        if (in_hand)
            status = put_list(job, &job->host[i], &w, err);
        else
            espi_put_block(&w, list->at, 0);
        if (!status)
            espi_copy_tell(job, &job->host[i], ESPI_TO_OPEN, &w, ESPI_FROM_OPENED);
    }
    return status ? status : espi_copy_await(job, espi_copy_open_s(job), err);
}

/* What an earlier copy left is fresh: it is to be proven. */
static esp_status find_earlier(struct espi_copy_job *job, struct esp_err *err)
{
    int any = 0;
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        if (!h->had_before || !espi_copy_is_alive(h) || h->is_relay)
            continue;
        for (uint32_t b = 0; b < job->message.n_blocks; b++)
            espi_set_add(h->fresh, b);
        any = 1;
    }
    job->prog.n_ranks = 0; /* nobody sent it */
    return any ? espi_copy_check(job, err) : ESP_OK;
}

static esp_status send_data(struct espi_copy_job *job, struct esp_err *err)
{
    uint64_t bytes = job->source->m.data_bytes;
    job->data_bytes = bytes;
    if (bytes == 0)
        return espi_source_check(job->source, err);
    esp_status status = begin_message(job, ESPI_MESSAGE_DATA, 0, bytes, err);
    if (!status && job->options.resume)
        status = find_earlier(job, err);
    if (!status)
        status = deliver(job, err);
    return status ? status : espi_source_check(job->source, err);
}

/* Hosts are listened to while nothing comes. -1: interrupted. */
static int wait_for_stream(struct espi_copy_job *job)
{
    struct pollfd fd = {.fd = job->stream, .events = POLLIN};
    int interrupted = 0;
    job->awaits_stream = 1;
    while (!interrupted && poll(&fd, 1, 0) == 0)
        interrupted = espi_copy_look(job);
    job->awaits_stream = 0;
    return interrupted;
}

/* Fills the segment, unless the stream ends before. */
static esp_status read_segment(struct espi_copy_job *job, struct esp_err *err)
{
    job->segment_bytes = 0;
    while (job->segment_bytes < ESPI_COPY_SEGMENT_BYTES) {
        if (wait_for_stream(job))
            return espi_err(err, ESP_EIO, "interrupted");
        ssize_t n = read(job->stream, job->segment + job->segment_bytes,
                         ESPI_COPY_SEGMENT_BYTES - job->segment_bytes);
        if (n < 0 && errno == EINTR &&
            !(job->options.interrupted && *job->options.interrupted))
            continue;
        if (n < 0)
            return espi_err(err, ESP_EIO, "cannot read the stream: %s", strerror(errno));
        if (n == 0)
            break;
        job->segment_bytes += (size_t)n;
    }
    return ESP_OK;
}

static esp_status send_stream(struct espi_copy_job *job, struct esp_err *err)
{
    esp_status status = ESP_OK;
    job->segment = espi_malloc(ESPI_COPY_SEGMENT_BYTES);
    if (!job->segment)
        return espi_err_nomem(err);
    while (!status && espi_copy_alive(job) > 0) {
        status = read_segment(job, err);
        if (status || job->segment_bytes == 0)
            break;
        status = begin_message(job, ESPI_MESSAGE_STREAM, job->data_bytes,
                               job->segment_bytes, err);
        if (!status)
            status = deliver(job, err);
        job->data_bytes += job->segment_bytes;
    }
    espi_free(job->segment);
    job->segment = NULL;
    return status;
}

static esp_status finish_copy(struct espi_copy_job *job, struct esp_err *err)
{
    double limit_s = espi_copy_disk_s(job, job->data_bytes);
    if (job->start_s > 0)
        job->data_s = espi_now_s() - job->start_s;
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_wire_out w = {0};
        if (!espi_copy_is_alive(&job->host[i]))
            continue;
        espi_put_64(&w, job->data_bytes);
        espi_copy_tell(job, &job->host[i], ESPI_TO_FINISH, &w, ESPI_FROM_FINISHED);
    }
    esp_status status = espi_copy_await(job, limit_s, err);
    for (int i = 0; i < job->n_hosts; i++)
        if (espi_copy_is_alive(&job->host[i]) && !job->host[i].awaited)
            job->host[i].state = ESPI_COPY_HAS_IT;
    return status;
}

static esp_status run_steps(struct espi_copy_job *job, struct esp_err *err)
{
    job->phase = "agents are started";
    esp_status status = espi_copy_launch(job, err);
    if (!status) /* far hosts need a while to answer a launcher */
        status =
            espi_copy_await(job, ESPI_COPY_LAUNCH_TIMES * job->options.patience_s, err);
    if (!status && espi_copy_alive(job) > 0)
        status = espi_copy_learn_sites(job, err);
    job->phase = "hosts make ready";
    if (!status && espi_copy_alive(job) > 0)
        status = send_list(job, err);
    job->phase = "bytes are sent";
    if (!status && espi_copy_alive(job) > 0)
        status = job->stream >= 0 ? send_stream(job, err) : send_data(job, err);
    job->phase = "files are put in their places";
    if (!status && espi_copy_alive(job) > 0)
        status = finish_copy(job, err);
    job->phase = "it is over";
    job->is_over = !status;
    espi_copy_show_progress(job);
    return status;
}

esp_status espi_copy_run(struct espi_copy_job *job, struct esp_err *err)
{
    espi_arena_init(&job->arena);
    for (int i = 0; i < job->n_hosts; i++)
        job->host[i].control = (struct espi_control){.in = -1, .out = -1};
    if (espi_secure_random(job->key, sizeof job->key))
        return espi_err(err, ESP_EIO, "the system has no random numbers");
    esp_status status = espi_copy_learn_names(job, err);
    if (!status)
        status = run_steps(job, err);
    espi_copy_learn_done(job);
    espi_runner_done(&job->runner);
    espi_copy_end_agents(job);
    esp_plan_free(job->plan);
    esp_platform_free(job->network);
    espi_arena_done(&job->arena);
    espi_free(job->ban);
    job->plan = NULL;
    job->network = NULL;
    job->ban = NULL;
    return status;
}
