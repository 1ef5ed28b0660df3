#include "copy/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "copy/control.h"
#include "copy/flows.h"
#include "copy/pings.h"
#include "copy/runner.h"
#include "copy/store.h"
#include "copy/tree.h"
#include "copy/tuning.h"

enum {
    STUCK_MAX = 64,   /* limit: streams told of */
    NAP_MS = 250,     /* derived: as often as it reports */
    LAST_WORDS_S = 5, /* limit: to get rid of what is still to be said */
};

struct agent {
    const struct espi_agent_options *options;
    struct espi_control control;
    struct espi_listener listener;
    struct espi_store store;
    struct espi_manifest manifest;
    struct espi_runner runner;
    int is_going; /* the run has begun */
    int has_told; /* how it ended */
    int was_whole;
    int encrypted, resume, is_relay, is_open, is_over, keeps_parts, failed;
    char *list; /* the manifest as it travels */
    size_t list_bytes, list_room;
    int spool;                        /* of relays: a file without a name; -1 */
    struct espi_copy_message checked; /* message of the tags below */
    unsigned char *tags;
    uint32_t n_tags;
    double reported_s, heard_s, patience_s;
};

/* ---- what it says ---- */

static void say(struct agent *a, enum espi_control_type type, struct espi_wire_out *body)
{
    if (espi_control_send(&a->control, type, body))
        a->is_over = 1;
    if (body)
        espi_wire_done(body);
}

static void say_number(struct agent *a, enum espi_control_type type, uint32_t number)
{
    struct espi_wire_out w = {0};
    espi_put_32(&w, number);
    say(a, type, &w);
}

/* The end, with its cause. */
static void give_up(struct agent *a, const struct esp_err *err)
{
    struct espi_wire_out w = {0};
    espi_put_text(&w, err->text);
    say(a, ESPI_FROM_FAILED, &w);
    a->failed = a->is_over = 1;
}

static void refuse_order(struct agent *a, const char *what)
{
    struct esp_err err;
    espi_err_fill(&err, ESP_EINPUT, "the agent was sent %s", what);
    give_up(a, &err);
}

/* While it is at something that takes long. */
static void show_life(struct agent *a)
{
    double now_s = espi_now_s();
    if (now_s - a->reported_s < ESPI_COPY_REPORT_S)
        return;
    a->reported_s = now_s;
    say(a, ESPI_FROM_ALIVE, NULL);
}

static void put_flows(struct agent *a, struct espi_wire_out *w)
{
    uint64_t at_us;
    int n;
    struct espi_flow_count *of = espi_flows_count(a->runner.tcp, &n, &at_us);
    espi_flows_put(w, of, n, at_us);
    espi_free(of);
}

/* How far it is, which streams going out do not move, and what they got so far. */
static void report(struct agent *a)
{
    uint32_t stuck[STUCK_MAX];
    struct espi_wire_out w = {0};
    double now_s = espi_now_s();
    if (!a->runner.is_on || now_s - a->reported_s < ESPI_COPY_REPORT_S)
        return;
    a->reported_s = now_s;
    int n = a->is_going || a->was_whole
                ? espi_tcp_stuck(a->runner.tcp, a->patience_s, stuck, STUCK_MAX)
                : 0;
    espi_put_32(&w, a->runner.part.run);
    espi_put_32(&w, a->runner.slices.n_landed);
    espi_put_32(&w, (uint32_t)n);
    for (int i = 0; i < n; i++)
        espi_put_32(&w, stuck[i]);
    put_flows(a, &w);
    say(a, ESPI_FROM_PROGRESS, &w);
}

/* ---- where messages are ---- */

/* A relay with several hosts to serve keeps what it passes on in a file without a name,
 * which is gone with it. */
static esp_status spool(struct agent *a, int keeps, uint64_t at, char *data, size_t bytes,
                        struct esp_err *err)
{
    if (a->spool < 0)
        a->spool = openat(a->store.folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (a->spool < 0 || espi_move_at(a->spool, keeps, data, bytes, at))
        return espi_err(err, ESP_EIO, "cannot keep what is to be passed on: %s",
                        strerror(errno));
    return ESP_OK;
}

static esp_status move_list(struct agent *a, const struct espi_copy_message *m, int keeps,
                            uint64_t at, char *data, size_t bytes, struct esp_err *err)
{
    void *grown = a->list;
    if (m->size > a->list_room) {
        if (!keeps)
            return espi_err(err, ESP_EINPUT, "nothing has come yet");
        if (espi_grow(&grown, &a->list_room, (size_t)m->size, 1))
            return espi_err_nomem(err);
        a->list = grown;
    }
    a->list_bytes = (size_t)m->size;
    memcpy(keeps ? a->list + at : data, keeps ? data : a->list + at, bytes);
    return ESP_OK;
}

static int has_files(const struct agent *a)
{
    return !a->is_relay && a->store.m && a->store.build >= 0;
}

static esp_status move_message(void *self, const struct espi_copy_message *m, int keeps,
                               uint64_t at, void *data, size_t bytes, struct esp_err *err)
{
    struct agent *a = self;
    if (m->kind == ESPI_MESSAGE_LIST)
        return move_list(a, m, keeps, at, data, bytes, err);
    if (a->is_relay)
        return spool(a, keeps, at, data, bytes, err);
    if (!has_files(a))
        return espi_err(err, ESP_EINPUT, "data came before the list of files");
    if (m->kind == ESPI_MESSAGE_DATA)
        return keeps ? espi_store_keep(&a->store, at, data, bytes, err)
                     : espi_store_pass(&a->store, at, data, bytes, err);
    if (!espi_manifest_has_stream(&a->manifest))
        return espi_err(err, ESP_EINPUT, "the list of files has no stream");
    return espi_store_stream(&a->store, keeps, m->base + at, data, bytes, err);
}

/* A list that cannot be is told of when bytes are moved. */
static esp_status find_message(void *self, const struct espi_copy_message *m, int keeps,
                               uint64_t at, struct espi_copy_place *place,
                               struct esp_err *err)
{
    struct agent *a = self;
    struct espi_store *s = &a->store;
    if (!has_files(a) || m->kind == ESPI_MESSAGE_LIST)
        return ESP_OK;
    if (m->kind == ESPI_MESSAGE_DATA)
        return espi_store_find(s, keeps, at, place, err);
    return espi_manifest_has_stream(s->m)
               ? espi_store_find_stream(s, keeps, m->base + at, place, err)
               : ESP_OK;
}

static struct espi_copy_disk disk_of(struct agent *a)
{
    return (struct espi_copy_disk){a, move_message, find_message};
}

/* ---- what it is told ---- */

static void on_begin(struct agent *a, struct espi_wire_in *r)
{
    char folder[ESPI_COPY_PATH_MAX];
    struct esp_err err;
    struct espi_wire_out w = {0};
    a->encrypted = espi_take_8(r) != 0;
    a->resume = espi_take_8(r) != 0;
    a->is_relay = espi_take_8(r) != 0;
    a->patience_s = 1e-3 * espi_take_32(r);
    espi_take_text(r, folder, sizeof folder);
    if (!espi_wire_is_whole(r) || a->store.folder >= 0 || !folder[0]) {
        refuse_order(a, "no folder");
        return;
    }
    a->keeps_parts = a->resume;
    a->store.wait_s = a->patience_s;
    if (espi_store_open(&a->store, a->options->below, folder, &err)) {
        give_up(a, &err);
        return;
    }
    espi_put_32(&w, ESPI_COPY_VERSION);
    espi_put_32(&w, a->listener.port);
    say(a, ESPI_FROM_HELLO, &w);
}

static void on_run(struct agent *a, struct espi_wire_in *r)
{
    struct esp_err err;
    struct espi_copy_disk disk = disk_of(a);
    espi_runner_done(&a->runner);
    a->is_going = a->has_told = a->was_whole = 0;
    if (espi_runner_start(&a->runner, r, 0, a->encrypted, &a->listener, &disk, &err))
        give_up(a, &err);
    else
        say_number(a, ESPI_FROM_READY, a->runner.part.run);
}

/* Tells what is here of the run's blocks. Connections stay open until everybody is
 * stopped: where there is trouble others would take our closing for its cause, and what
 * we sent last may still be in the kernel, of which we go on to tell whether it moves. */
static void end_run(struct agent *a, int whole)
{
    struct espi_wire_out w = {0};
    const char *why = "";
    int broken = espi_tcp_broken(a->runner.tcp, &why);
    a->is_going = 0;
    a->has_told = 1;
    a->was_whole = whole;
    espi_put_32(&w, a->runner.part.run);
    espi_put_8(&w, whole != 0);
    espi_put_32(&w, broken < 0 ? UINT32_MAX : a->runner.part.peer[broken].number);
    espi_put_text(&w, broken < 0 ? "" : why);
    espi_put_block(&w, a->runner.slices.landed, espi_set_bytes(a->runner.part.n_slices));
    say(a, ESPI_FROM_DONE, &w);
}

static void step_run(struct agent *a)
{
    int done = espi_runner_step(&a->runner);
    if (done < 0 && a->runner.slices.err.status)
        give_up(a, &a->runner.slices.err);
    else if (done != 0)
        end_run(a, done > 0);
}

static void on_go(struct agent *a, struct espi_wire_in *r)
{
    if (!a->runner.is_on || espi_take_32(r) != a->runner.part.run)
        return;
    a->is_going = 1;
    if (espi_runner_go(&a->runner))
        end_run(a, 0);
}

static void on_stop(struct agent *a, struct espi_wire_in *r)
{
    if (!a->runner.is_on || espi_take_32(r) != a->runner.part.run)
        return;
    if (!a->has_told)
        end_run(a, 0);
    say_number(a, ESPI_FROM_STOPPED, a->runner.part.run);
    espi_runner_done(&a->runner);
}

/* What is proven is what is in the files. */
static esp_status load_to_prove(void *self, const struct espi_copy_message *m, int keeps,
                                uint64_t at, void *data, size_t bytes,
                                struct esp_err *err)
{
    struct agent *a = self;
    show_life(a);
    return has_files(a) && m->kind == ESPI_MESSAGE_DATA
               ? espi_store_load(&a->store, at, data, bytes, err)
               : move_message(a, m, keeps, at, data, bytes, err);
}

static void on_check(struct agent *a, struct espi_wire_in *r)
{
    unsigned char key[ESPI_SECRET_BYTES], digest[ESPI_DIGEST_BYTES];
    struct espi_wire_out w = {0};
    struct esp_err err;
    size_t bytes;
    espi_message_take(r, &a->checked);
    const unsigned char *given = espi_take_raw(r, sizeof key);
    const unsigned char *blocks = espi_take_block(r, &bytes);
    if (!espi_wire_is_whole(r) || bytes != espi_set_bytes(a->checked.n_blocks)) {
        refuse_order(a, "a check that cannot be");
        return;
    }
    memcpy(key, given, sizeof key);
    unsigned char *set = espi_malloc(bytes);
    espi_free(a->tags);
    if (set)
        memcpy(set, blocks, bytes);
    a->n_tags = set ? espi_set_count(set, a->checked.n_blocks) : 0;
    a->tags = espi_malloc((size_t)a->n_tags * ESPI_TAG_BYTES + 1);
    struct espi_copy_disk disk = {a, load_to_prove, NULL};
    esp_status status =
        set && a->tags ? espi_runner_tags(&disk, &a->checked, key, set, 1, a->tags, &err)
                       : espi_err_nomem(&err);
    if (!status) {
        a->n_tags = espi_set_count(set, a->checked.n_blocks);
        if (espi_secure_digest(a->tags, (size_t)a->n_tags * ESPI_TAG_BYTES, digest))
            status = espi_err(&err, ESP_EINTERNAL, "OpenSSL makes no digests");
    }
    if (status) {
        give_up(a, &err);
    } else {
        espi_put_raw(&w, digest, sizeof digest);
        espi_put_block(&w, set, bytes);
        say(a, ESPI_FROM_CHECKED, &w);
    }
    espi_free(set);
}

_Static_assert((uint64_t)ESPI_COPY_BLOCKS_MAX *ESPI_TAG_BYTES + 4 <= ESPI_CONTROL_MAX,
               "the tags of all blocks are one message");

static void on_tags(struct agent *a)
{
    struct espi_wire_out w = {0};
    espi_put_block(&w, a->tags, a->tags ? (size_t)a->n_tags * ESPI_TAG_BYTES : 0);
    say(a, ESPI_FROM_TAG_LIST, &w);
}

static void on_open(struct agent *a, struct espi_wire_in *r)
{
    struct esp_err err;
    struct espi_wire_out w = {0};
    size_t bytes;
    const void *list = espi_take_block(r, &bytes);
    if (!espi_wire_is_whole(r) || a->store.folder < 0 || a->is_open) {
        refuse_order(a, "a list of files out of turn");
        return;
    }
    a->is_open = 1;
    if (bytes == 0) {
        list = a->list;
        bytes = a->list_bytes;
    }
    esp_status status = espi_manifest_read(&a->manifest, list, bytes, &err);
    if (!status && !a->is_relay)
        status = espi_store_begin(&a->store, &a->manifest, a->resume, &err);
    espi_free(a->list);
    a->list = NULL;
    a->list_room = a->list_bytes = 0;
    if (status) {
        give_up(a, &err);
        return;
    }
    espi_put_8(&w, a->store.had_before != 0);
    say(a, ESPI_FROM_OPENED, &w);
}

static void on_ping(struct agent *a, struct espi_wire_in *r)
{
    struct espi_ping ping[ESPI_PINGS_MAX];
    struct espi_wire_out w = {0};
    uint32_t n = espi_take_count(r, 8);
    for (uint32_t i = 0; i < n && n <= ESPI_PINGS_MAX; i++) {
        espi_take_text(r, ping[i].address, sizeof ping[i].address);
        ping[i].port = espi_take_32(r);
    }
    if (n > ESPI_PINGS_MAX || !espi_wire_is_whole(r)) {
        refuse_order(a, "others to ask that cannot be");
        return;
    }
    espi_pings(ping, (int)n);
    espi_put_32(&w, n);
    for (uint32_t i = 0; i < n; i++)
        espi_put_32(&w, ping[i].round_trip_us);
    say(a, ESPI_FROM_PINGED, &w);
}

static void on_finish(struct agent *a, struct espi_wire_in *r)
{
    struct esp_err err;
    uint64_t bytes = espi_take_64(r);
    if (r->bad || bytes > INT64_MAX || (!a->is_relay && a->store.build < 0))
        refuse_order(a, "the end before the beginning");
    else if (!a->is_relay && espi_store_finish(&a->store, bytes, &err))
        give_up(a, &err);
    else
        say(a, ESPI_FROM_FINISHED, NULL);
}

static void obey_order(struct agent *a, int type, struct espi_wire_in *r)
{
    switch (type) {
    case ESPI_TO_BEGIN:
        on_begin(a, r);
        break;
    case ESPI_TO_RUN:
        on_run(a, r);
        break;
    case ESPI_TO_GO:
        on_go(a, r);
        break;
    case ESPI_TO_STOP:
        on_stop(a, r);
        break;
    case ESPI_TO_CHECK:
        on_check(a, r);
        break;
    case ESPI_TO_TAGS:
        on_tags(a);
        break;
    case ESPI_TO_OPEN:
        on_open(a, r);
        break;
    case ESPI_TO_FINISH:
        on_finish(a, r);
        break;
    case ESPI_TO_PING:
        on_ping(a, r);
        break;
    case ESPI_TO_ALIVE:
        break;
    case ESPI_TO_QUIT:
        a->is_over = 1;
        break;
    default:
        refuse_order(a, "a word that it does not know");
    }
}

static void listen_to_control(struct agent *a)
{
    struct espi_wire_in body;
    int type, more, gone = espi_control_read(&a->control);
    while (!a->is_over && (more = espi_control_next(&a->control, &type, &body)) != 0) {
        if (more < 0)
            refuse_order(a, "what is no message");
        else
            obey_order(a, type, &body);
    }
    a->heard_s = espi_now_s(); /* an order may take longer than any silence */
    a->is_over |= gone != 0;
}

/* Whoever gave the orders is gone, or cannot be heard, though nothing told the launcher:
 * nobody but us can make room for the next copy. */
static void look_for_job(struct agent *a)
{
    if (a->patience_s > 0 &&
        espi_now_s() - a->heard_s > ESPI_COPY_ORPHAN_TIMES * a->patience_s)
        a->failed = a->is_over = 1;
}

/* ---- all of it ---- */

static void wait_for_something(struct agent *a)
{
    struct pollfd fd[3] = {
        {.fd = a->control.in, .events = POLLIN},
        {.fd = espi_control_has_waiting(&a->control) ? a->control.out : -1,
         .events = POLLOUT},
        {.fd = a->is_going ? espi_tcp_fd(a->runner.tcp) : -1, .events = POLLIN}};
    poll(fd, 3, a->is_going && a->runner.is_busy ? 0 : NAP_MS);
    if (fd[1].revents && espi_control_flush(&a->control))
        a->is_over = 1;
    if (fd[0].revents)
        listen_to_control(a);
}

static void end_agent(struct agent *a)
{
    double until_s = espi_now_s() + LAST_WORDS_S;
    while (espi_control_has_waiting(&a->control) && espi_now_s() < until_s) {
        struct pollfd fd = {.fd = a->control.out, .events = POLLOUT};
        if (poll(&fd, 1, NAP_MS) > 0 && espi_control_flush(&a->control))
            break;
    }
    espi_runner_done(&a->runner);
    if (!a->keeps_parts)
        espi_store_discard(&a->store);
    espi_store_done(&a->store);
    espi_manifest_done(&a->manifest);
    if (a->spool >= 0)
        close(a->spool);
    espi_free(a->list);
    espi_free(a->tags);
    espi_listener_close(&a->listener);
    espi_control_close(&a->control);
}

int espi_agent_serve(int in, int out, const struct espi_agent_options *options)
{
    struct agent a = {.options = options, .spool = -1};
    signal(SIGPIPE, SIG_IGN);
    espi_control_open(&a.control, in, out);
    espi_store_init(&a.store);
    if (espi_listener_open(&a.listener)) {
        struct esp_err err;
        espi_err_fill(&err, ESP_EIO, "cannot open a socket: %s", strerror(errno));
        give_up(&a, &err);
    }
    while (!a.is_over) {
        wait_for_something(&a);
        if (a.is_going && !a.is_over)
            step_run(&a);
        report(&a);
        look_for_job(&a);
    }
    int code = a.failed;
    end_agent(&a);
    return code;
}
