/* One run: a plan for the blocks that somebody lacks, its program given to all, and what
 * came of it. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "copy/job.h"
#include "copy/tuning.h"

/* ---- the program ---- */

static uint32_t list_blocks(struct espi_copy_job *job, const unsigned char *set)
{
    uint32_t n = 0;
    job->block = ESPI_ARENA_NEW(&job->arena, uint32_t, job->message.n_blocks);
    for (uint32_t b = 0; job->block && b < job->message.n_blocks; b++)
        if (espi_set_has(set, b))
            job->block[n++] = b;
    return n;
}

static esp_status compile_run(struct espi_copy_job *job, const unsigned char *set,
                              struct esp_err *err)
{
    uint32_t n = list_blocks(job, set);
    struct espi_compile_options options = {.size_bytes =
                                               (double)n * job->message.block_bytes,
                                           .slice_bytes = job->message.block_bytes};
    job->host_of_rank =
        ESPI_ARENA_NEW(&job->arena, int, esp_platform_node_count(job->network));
    if (!job->block || !job->host_of_rank)
        return espi_err_nomem(err);
    esp_status status = espi_program_compile(job->network, job->plan, &options,
                                             &job->arena, &job->prog, err);
    if (status)
        return status;
    if (job->prog.n_slices != n)
        return espi_err(err, ESP_EINTERNAL, "a program of %lld slices for %u blocks",
                        (long long)job->prog.n_slices, (unsigned)n);
    for (int r = 0; r < job->prog.n_ranks; r++) {
        const char *name = esp_platform_node_name(job->network, job->prog.node[r]);
        const struct espi_copy_host *h = espi_copy_find(job, name);
        job->host_of_rank[r] = h ? (int)(h - job->host) : -1;
    }
    return ESP_OK;
}

struct espi_copy_host *espi_copy_host_at(const struct espi_copy_job *job, int rank)
{
    int i = job->host_of_rank[rank];
    return i < 0 ? NULL : &job->host[i];
}

static int is_relay_rank(void *self, int rank)
{
    const struct espi_copy_host *h = espi_copy_host_at(self, rank);
    return h && h->is_relay;
}

/* Slices of the run that the host has already. */
static const unsigned char *held_slices(struct espi_copy_job *job,
                                        const struct espi_copy_host *h)
{
    uint32_t n = (uint32_t)job->prog.n_slices;
    unsigned char *set = NULL;
    for (uint32_t s = 0; s < n && h && !h->is_relay; s++) {
        if (!espi_set_has(h->has, job->block[s]))
            continue;
        if (!set)
            set = ESPI_ARENA_ZNEW(&job->arena, unsigned char, espi_set_bytes(n));
        if (!set)
            return NULL; /* it comes once more */
        espi_set_add(set, s);
    }
    return set;
}

static esp_status fill_peer(void *self, int stream, struct espi_copy_peer *peer,
                            struct esp_err *err)
{
    struct espi_copy_job *job = self;
    const struct espi_stream *s = &job->prog.streams[stream];
    const struct espi_copy_host *to = espi_copy_host_at(job, s->to);
    uint32_t words[2] = {(uint32_t)job->runs, (uint32_t)stream};
    struct espi_wire_out w = {0};
    espi_put_32(&w, words[0]);
    espi_put_32(&w, words[1]);
    esp_status status = w.failed ? espi_err_nomem(err) : ESP_OK;
    if (!status && espi_secure_derive(job->key, w.at, w.used, peer->key))
        status = espi_err(err, ESP_EINTERNAL, "OpenSSL makes no keys for connections");
    espi_wire_done(&w);
    if (!status && to) {
        snprintf(peer->address, sizeof peer->address, "%s", to->address);
        peer->port = to->port;
        peer->has = held_slices(job, to);
    }
    return status;
}

static esp_status give_parts(struct espi_copy_job *job, struct esp_err *err)
{
    struct espi_part_source from = {.prog = &job->prog,
                                    .run = (uint32_t)job->runs,
                                    .message = job->message,
                                    .block = job->block,
                                    .self = job,
                                    .peer = fill_peer,
                                    .is_relay = is_relay_rank};
    esp_status status = ESP_OK;
    for (int r = 0; !status && r < job->prog.n_ranks; r++) {
        struct espi_copy_host *h = espi_copy_host_at(job, r);
        struct espi_wire_out w = {0};
        status = espi_part_put(&w, &from, r, err);
        if (!status && h) {
            espi_copy_tell(job, h, ESPI_TO_RUN, &w, ESPI_FROM_READY);
        } else if (!status) {
            struct espi_wire_in own = espi_wire_in(w.at, w.used);
            status = espi_runner_start(&job->runner, &own, 1, job->options.encrypted,
                                       NULL, &job->disk, err);
        }
        espi_wire_done(&w);
    }
    return status;
}

/* ---- running ---- */

/* 1: the run cannot go on as it is. */
static int find_trouble(struct espi_copy_job *job)
{
    int trouble = job->root_failed;
    for (int r = 0; r < job->prog.n_ranks; r++) {
        struct espi_copy_host *h = espi_copy_host_at(job, r);
        if (!h)
            continue;
        if (h->awaited && job->looked_s - h->heard_s > job->options.patience_s)
            espi_copy_lose(job, h, "nothing was heard of it for %.0f s",
                           job->options.patience_s);
        if (!espi_copy_is_alive(h) || (!h->awaited && !h->was_whole))
            trouble = 1;
    }
    return trouble || espi_copy_blame_stuck(job);
}

static int is_run_over(const struct espi_copy_job *job)
{
    for (int r = 0; r < job->prog.n_ranks; r++) {
        const struct espi_copy_host *h = espi_copy_host_at(job, r);
        if (h && h->awaited)
            return 0;
    }
    return !job->root_is_going;
}

/* All are stopped, who has ended already, too: so whoever is gone is known to be gone
 * before anybody is blamed for connections that broke. */
static void tell_runners(struct espi_copy_job *job, enum espi_control_type type,
                         int awaits)
{
    for (int r = 0; r < job->prog.n_ranks; r++) {
        struct espi_copy_host *h = espi_copy_host_at(job, r);
        struct espi_wire_out w = {0};
        if (!h || !espi_copy_is_alive(h))
            continue;
        espi_put_32(&w, (uint32_t)job->runs);
        if (type == ESPI_TO_GO) {
            h->n_landed = 0;
            h->n_stuck = 0;
            h->broken = UINT32_MAX;
            h->was_whole = 0;
        }
        espi_copy_tell(job, h, type, &w, awaits);
    }
}

/* Only who ended before anybody was stopped knows of trouble that was not made by that.
 */
static void find_witnesses(struct espi_copy_job *job)
{
    for (int i = 0; i < job->n_hosts; i++)
        job->host[i].saw_trouble = !job->host[i].awaited && !job->host[i].was_whole;
}

static uint32_t root_broke(const struct espi_copy_job *job, const char **why)
{
    int broken = job->root_failed ? espi_tcp_broken(job->runner.tcp, why) : -1;
    return broken < 0 ? UINT32_MAX : job->runner.part.peer[broken].number;
}

static esp_status run_program(struct espi_copy_job *job, struct esp_err *err)
{
    esp_status status =
        espi_copy_await(job, ESPI_COPY_CONNECT_TIMES * job->options.patience_s, err);
    if (status)
        return status;
    int lost = 0;
    for (int r = 0; r < job->prog.n_ranks; r++)
        lost |=
            espi_copy_host_at(job, r) && !espi_copy_is_alive(espi_copy_host_at(job, r));
    if (lost)
        return ESP_OK; /* planned anew, without them */
    if (job->start_s == 0 && job->message.kind != ESPI_MESSAGE_LIST)
        job->start_s = espi_now_s();
    tell_runners(job, ESPI_TO_GO, ESPI_FROM_DONE);
    job->root_failed = espi_runner_go(&job->runner) != 0;
    job->root_is_going = !job->root_failed;
    while (!is_run_over(job) && !find_trouble(job)) {
        if (espi_copy_look(job))
            return espi_err(err, ESP_EIO, "interrupted");
        if (espi_copy_learn(job))
            break;
    }
    const char *why = "";
    uint32_t broken = root_broke(job, &why);
    job->root_is_going = 0;
    find_witnesses(job);
    tell_runners(job, ESPI_TO_STOP, ESPI_FROM_STOPPED);
    status = espi_copy_await(job, job->options.patience_s, err);
    const struct esp_err *disk = &job->runner.slices.err;
    if (!status && disk->status)
        return espi_err(err, disk->status, "%s", disk->text);
    espi_copy_blame_broken(job, broken, why);
    return status;
}

esp_status espi_copy_send_blocks(struct espi_copy_job *job, const unsigned char *set,
                                 struct esp_err *err)
{
    double bytes =
        (double)espi_set_count(set, job->message.n_blocks) * job->message.block_bytes;
    esp_status status = espi_copy_plan(job, bytes, err);
    if (status || !job->plan)
        return status;
    espi_arena_done(&job->arena);
    job->runs++;
    status = compile_run(job, set, err);
    if (!status)
        status = espi_copy_learn_begin(job, err);
    if (!status)
        status = give_parts(job, err);
    if (!status)
        status = run_program(job, err);
    job->root_is_going = 0;
    espi_runner_done(&job->runner);
    return status;
}
