#include "exec/helpline.h"

#include <sched.h>
#include <string.h>

#include "base/alloc.h"

enum { CHUNK = ESPI_TRANSPORT_CHUNK };

struct espi_helpline *espi_helpline_create(int n)
{
    struct espi_helpline *line = espi_calloc(1, sizeof *line);
    int *sent = espi_calloc((size_t)n, sizeof *sent);
    int *open = espi_calloc((size_t)n, sizeof *open);
    if (!line || !sent || !open) {
        espi_free(line);
        espi_free(sent);
        espi_free(open);
        return NULL;
    }
    line->n = n;
    line->notes_sent = sent;
    line->answers_open = open;
    line->patience = 1;
    return line;
}

void espi_helpline_free(struct espi_helpline *line)
{
    if (!line)
        return;
    for (size_t i = 0; i < line->n_requests; i++)
        espi_free(line->errands[i].buffer);
    espi_free(line->notes_sent);
    espi_free(line->answers_open);
    espi_free(line->early);
    espi_free(line->requests);
    espi_free(line->errands);
    espi_free(line);
}

void espi_helpline_begin(struct espi_helpline *line,
                         const struct espi_transport *transport)
{
    line->transport = transport;
    line->run++;
}

/* ---- messages under way ---- */

/* Room for one more, so that what was started can be kept. */
static int reserve(struct espi_helpline *line)
{
    size_t need = line->n_requests + 1;
    if (espi_grow((void **)&line->requests, &line->requests_cap, need,
                  sizeof *line->requests) ||
        espi_grow((void **)&line->errands, &line->errands_cap, need,
                  sizeof *line->errands))
        return ESPI_HELPLINE_NOMEM;
    return 0;
}

/* The request that a message is started with; NULL when out of memory. */
static struct espi_request *next_request(struct espi_helpline *line)
{
    return reserve(line) ? NULL : &line->requests[line->n_requests];
}

/* Keeps what was started, unless it was not. */
static int keep(struct espi_helpline *line, int code, struct espi_errand errand)
{
    if (!code)
        line->errands[line->n_requests++] = errand;
    return code;
}

int espi_helpline_send(struct espi_helpline *line, int peer, int channel,
                       const void *from, size_t bytes, struct espi_errand errand)
{
    const struct espi_transport *t = line->transport;
    struct espi_request *request = next_request(line);
    if (!request)
        return ESPI_HELPLINE_NOMEM;
    return keep(line, t->send(t->self, peer, channel, from, bytes, request), errand);
}

int espi_helpline_recv(struct espi_helpline *line, int peer, int channel, void *to,
                       size_t bytes, struct espi_errand errand)
{
    const struct espi_transport *t = line->transport;
    struct espi_request *request = next_request(line);
    if (!request)
        return ESPI_HELPLINE_NOMEM;
    return keep(line, t->recv(t->self, peer, channel, to, bytes, request), errand);
}

/* Sends from a buffer that goes when it has arrived. */
static int send_buffer(struct espi_helpline *line, int peer, int channel, void *buffer,
                       size_t bytes)
{
    struct espi_errand errand = {.kind = ESPI_ERRAND_SENT,
                                 .run = line->run,
                                 .peer = channel == ESPI_CHANNEL_ANSWERS ? peer : -1,
                                 .buffer = buffer};
    int code = buffer || !bytes
                   ? espi_helpline_send(line, peer, channel, buffer, bytes, errand)
                   : ESPI_HELPLINE_NOMEM;
    if (code)
        espi_free(buffer);
    return code;
}

int espi_helpline_note(struct espi_helpline *line, int peer, enum espi_note_kind kind,
                       int64_t slice, int window)
{
    struct espi_note *note = espi_malloc(sizeof *note);
    if (note)
        *note = (struct espi_note){line->run, kind, slice, window};
    int code = send_buffer(line, peer, ESPI_CHANNEL_NOTES, note, sizeof *note);
    if (!code)
        line->notes_sent[peer]++;
    return code;
}

int espi_helpline_answer(struct espi_helpline *line, int peer, int64_t slice,
                         const void *from, size_t bytes)
{
    struct espi_answer head = {slice};
    char *buffer = espi_malloc(sizeof head + bytes);
    if (buffer) {
        memcpy(buffer, &head, sizeof head);
        memcpy(buffer + sizeof head, from, bytes);
    }
    return send_buffer(line, peer, ESPI_CHANNEL_ANSWERS, buffer, sizeof head + bytes);
}

int espi_helpline_end_answers(struct espi_helpline *line, int peer, int64_t window)
{
    int code = 0;
    for (int64_t i = 0; i < window && !code; i++)
        code = send_buffer(line, peer, ESPI_CHANNEL_ANSWERS, NULL, 0);
    return code;
}

static int open_answer(struct espi_helpline *line, int helper, uint32_t run, void *buffer,
                       size_t room)
{
    struct espi_errand errand = {.kind = ESPI_ERRAND_ANSWER,
                                 .run = run,
                                 .peer = helper,
                                 .buffer = buffer,
                                 .room = room};
    int code = buffer ? espi_helpline_recv(line, helper, ESPI_CHANNEL_ANSWERS, buffer,
                                           room, errand)
                      : ESPI_HELPLINE_NOMEM;
    if (code)
        espi_free(buffer);
    else
        line->answers_open[helper]++;
    return code;
}

int espi_helpline_expect(struct espi_helpline *line, int helper, int window, size_t room)
{
    int code = 0;
    room += sizeof(struct espi_answer);
    for (int i = 0; i < window && !code; i++)
        code = open_answer(line, helper, line->run, espi_malloc(room), room);
    return code;
}

/* ---- what is done ---- */

/* Takes those out that are marked done, keeping the order of the others. */
static void drop_done(struct espi_helpline *line, size_t first, size_t n,
                      const unsigned char *is_done)
{
    size_t kept = first;
    for (size_t i = first; i < line->n_requests; i++)
        if (i >= first + n || !is_done[i - first]) {
            line->requests[kept] = line->requests[i];
            line->errands[kept++] = line->errands[i];
        }
    line->n_requests = kept;
}

static int test_chunk(struct espi_helpline *line, size_t first, size_t n,
                      espi_errand_fn on_done, void *arg, int *count)
{
    const struct espi_transport *t = line->transport;
    unsigned char is_done[CHUNK] = {0};
    struct espi_errand finished[CHUNK];
    int done[CHUNK], n_done = 0;
    int code = t->wait_some(t->self, line->requests + first, (int)n, 0, done, &n_done);
    for (int i = 0; i < n_done && !code; i++) {
        finished[i] = line->errands[first + (size_t)done[i]];
        finished[i].bytes = t->came(t->self, i);
        is_done[done[i]] = 1;
    }
    if (code || n_done == 0)
        return code;
    drop_done(line, first, n, is_done);
    for (int i = 0; i < n_done; i++) { /* these may start others */
        struct espi_errand *e = &finished[i];
        if (e->kind == ESPI_ERRAND_ANSWER)
            line->answers_open[e->peer]--;
        if (e->kind == ESPI_ERRAND_ANSWER && e->bytes > 0 && !code)
            code = open_answer(line, e->peer, e->run, espi_malloc(e->room), e->room);
        if (on_done && !code)
            code = on_done(arg, e);
        espi_free(e->buffer);
    }
    *count += n_done;
    return code;
}

int espi_helpline_test(struct espi_helpline *line, espi_errand_fn on_done, void *arg,
                       int *count)
{
    size_t first = 0, left = line->n_requests; /* not those that are started now */
    while (left > 0) {
        size_t n = left < CHUNK ? left : CHUNK;
        int done = 0;
        int code = test_chunk(line, first, n, on_done, arg, &done);
        *count += done;
        if (code)
            return code;
        first += n - (size_t)done;
        left -= n;
    }
    return 0;
}

/* ---- notes ---- */

static int is_old(const struct espi_helpline *line, const struct espi_note *note)
{
    return (int32_t)(note->run - line->run) < 0;
}

/* Nobody helps in a run that is over. */
static int turn_down(struct espi_helpline *line, int peer, const struct espi_note *note)
{
    return note->kind == ESPI_NOTE_ASK
               ? espi_helpline_end_answers(line, peer, note->window)
               : 0;
}

/* The first note that came early for this run; *peer stays -1 if there is none. What was
 * not looked for in its run is turned down. */
static int take_early(struct espi_helpline *line, int *peer, struct espi_note *note)
{
    size_t kept = 0;
    int code = 0;
    *peer = -1;
    for (size_t i = 0; i < line->n_early; i++) {
        struct espi_early_note *e = &line->early[i];
        if (!code && *peer < 0 && e->note.run == line->run) {
            *peer = e->peer;
            *note = e->note;
        } else if (!code && is_old(line, &e->note)) {
            code = turn_down(line, e->peer, &e->note);
        } else {
            line->early[kept++] = *e;
        }
    }
    line->n_early = kept;
    return code;
}

/* Of a run that is over, or is still to come. */
static int put_aside(struct espi_helpline *line, int peer, const struct espi_note *note)
{
    if (is_old(line, note))
        return turn_down(line, peer, note);
    if (espi_grow((void **)&line->early, &line->early_cap, line->n_early + 1,
                  sizeof *line->early))
        return ESPI_HELPLINE_NOMEM;
    line->early[line->n_early++] = (struct espi_early_note){peer, *note};
    return 0;
}

static int poll_note(struct espi_helpline *line, int *peer, struct espi_note *note)
{
    const struct espi_transport *t = line->transport;
    *peer = -1;
    int code = t->poll(t->self, ESPI_CHANNEL_NOTES, note, sizeof *note, peer);
    if (!code && *peer >= 0)
        line->notes_got++;
    return code;
}

int espi_helpline_next_note(struct espi_helpline *line, int *peer, struct espi_note *note)
{
    int code = take_early(line, peer, note);
    if (code || *peer >= 0)
        return code;
    for (;;) {
        code = poll_note(line, peer, note);
        if (code || *peer < 0 || note->run == line->run)
            return code;
        code = put_aside(line, *peer, note);
        if (code)
            return code;
    }
}

void espi_helpline_close(struct espi_helpline *line, const struct espi_transport *t)
{
    espi_helpline_begin(line, t); /* a run without ranks */
}

int espi_helpline_sweep(struct espi_helpline *line, int *count)
{
    struct espi_note note;
    int peer, code = espi_helpline_next_note(line, &peer, &note);
    return code ? code : espi_helpline_test(line, NULL, NULL, count);
}

int64_t espi_helpline_left(const struct espi_helpline *line)
{
    int64_t left = (int64_t)(line->n_requests + line->n_early) - line->notes_got;
    for (int i = 0; i < line->n; i++)
        left += line->notes_sent[i];
    return left;
}

int espi_helpline_drain(struct espi_helpline *line, const struct espi_transport *t,
                        int64_t notes)
{
    int count = 0, code = 0;
    espi_helpline_close(line, t);
    while (!code &&
           (line->notes_got < notes || line->n_requests > 0 || line->n_early > 0)) {
        int before = count;
        code = espi_helpline_sweep(line, &count);
        if (count == before)
            sched_yield();
    }
    return code;
}
