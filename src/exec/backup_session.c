#include "exec/backup_session.h"

#include <sched.h>
#include <string.h>

#include "base/alloc.h"

enum { CHUNK = ESPI_TRANSPORT_CHUNK };

struct espi_backup_session *espi_backup_session_create(int n)
{
    struct espi_backup_session *session = espi_calloc(1, sizeof *session);
    int *sent = espi_calloc((size_t)n, sizeof *sent);
    int *open = espi_calloc((size_t)n, sizeof *open);
    if (!session || !sent || !open) {
        espi_free(session);
        espi_free(sent);
        espi_free(open);
        return NULL;
    }
    session->n = n;
    session->notes_sent = sent;
    session->answers_open = open;
    session->patience = 1;
    return session;
}

void espi_backup_session_free(struct espi_backup_session *session)
{
    if (!session)
        return;
    for (size_t i = 0; i < session->n_requests; i++)
        espi_free(session->messages[i].buffer);
    espi_free(session->notes_sent);
    espi_free(session->answers_open);
    espi_free(session->early);
    espi_free(session->requests);
    espi_free(session->messages);
    espi_free(session);
}

void espi_backup_session_begin(struct espi_backup_session *session,
                               const struct espi_transport *transport)
{
    session->transport = transport;
    session->run++;
}

/* ---- messages under way ---- */

/* Room for one more, so that what was started can be kept. */
static int reserve_message(struct espi_backup_session *session)
{
    size_t need = session->n_requests + 1;
    if (espi_grow((void **)&session->requests, &session->requests_cap, need,
                  sizeof *session->requests) ||
        espi_grow((void **)&session->messages, &session->messages_cap, need,
                  sizeof *session->messages))
        return ESPI_BACKUP_NOMEM;
    return 0;
}

/* The request that a message is started with; NULL when out of memory. */
static struct espi_request *next_request(struct espi_backup_session *session)
{
    return reserve_message(session) ? NULL : &session->requests[session->n_requests];
}

/* Keeps what was started, unless it was not. */
static int keep_message(struct espi_backup_session *session, int code,
                        struct espi_backup_message message)
{
    if (!code)
        session->messages[session->n_requests++] = message;
    return code;
}

static int start_send(struct espi_backup_session *session, int peer, int channel,
                      const void *from, size_t bytes, struct espi_backup_message message)
{
    const struct espi_transport *t = session->transport;
    struct espi_request *request = next_request(session);
    if (!request)
        return ESPI_BACKUP_NOMEM;
    return keep_message(session, t->send(t->self, peer, channel, from, bytes, request),
                        message);
}

static int start_receive(struct espi_backup_session *session, int peer, int channel,
                         void *to, size_t bytes, struct espi_backup_message message)
{
    const struct espi_transport *t = session->transport;
    struct espi_request *request = next_request(session);
    if (!request)
        return ESPI_BACKUP_NOMEM;
    return keep_message(session, t->recv(t->self, peer, channel, to, bytes, request),
                        message);
}

/* Sends from a buffer that goes when it has arrived. */
static int send_buffer(struct espi_backup_session *session, int peer, int channel,
                       void *buffer, size_t bytes)
{
    struct espi_backup_message message = {
        .kind = ESPI_BACKUP_SENT,
        .run = session->run,
        .peer = channel == ESPI_CHANNEL_BACKUP_SLICES ? peer : -1,
        .buffer = buffer};
    int code = buffer || !bytes
                   ? start_send(session, peer, channel, buffer, bytes, message)
                   : ESPI_BACKUP_NOMEM;
    if (code)
        espi_free(buffer);
    return code;
}

int espi_backup_send_note(struct espi_backup_session *session, int peer,
                          enum espi_backup_note_kind kind, int64_t slice, int window)
{
    struct espi_backup_note *note = espi_malloc(sizeof *note);
    if (note)
        *note = (struct espi_backup_note){session->run, kind, slice, window};
    int code = send_buffer(session, peer, ESPI_CHANNEL_BACKUP_NOTES, note, sizeof *note);
    if (!code)
        session->notes_sent[peer]++;
    return code;
}

int espi_backup_send_answer(struct espi_backup_session *session, int peer, int64_t slice,
                            const void *from, size_t bytes)
{
    struct espi_backup_answer head = {slice};
    char *buffer = espi_malloc(sizeof head + bytes);
    if (buffer) {
        memcpy(buffer, &head, sizeof head);
        memcpy(buffer + sizeof head, from, bytes);
    }
    return send_buffer(session, peer, ESPI_CHANNEL_BACKUP_SLICES, buffer,
                       sizeof head + bytes);
}

int espi_backup_end_answers(struct espi_backup_session *session, int peer, int64_t window)
{
    int code = 0;
    for (int64_t i = 0; i < window && !code; i++)
        code = send_buffer(session, peer, ESPI_CHANNEL_BACKUP_SLICES, NULL, 0);
    return code;
}

static int open_answer(struct espi_backup_session *session, int backup, uint32_t run,
                       void *buffer, size_t room)
{
    struct espi_backup_message message = {.kind = ESPI_BACKUP_ANSWER,
                                          .run = run,
                                          .peer = backup,
                                          .buffer = buffer,
                                          .room = room};
    int code = buffer ? start_receive(session, backup, ESPI_CHANNEL_BACKUP_SLICES, buffer,
                                      room, message)
                      : ESPI_BACKUP_NOMEM;
    if (code)
        espi_free(buffer);
    else
        session->answers_open[backup]++;
    return code;
}

int espi_backup_expect(struct espi_backup_session *session, int backup, int window,
                       size_t room)
{
    int code = 0;
    room += sizeof(struct espi_backup_answer);
    for (int i = 0; i < window && !code; i++)
        code = open_answer(session, backup, session->run, espi_malloc(room), room);
    return code;
}

/* ---- what is done ---- */

/* Takes those out that are marked done, keeping the order of the others. */
static void drop_done(struct espi_backup_session *session, size_t first, size_t n,
                      const unsigned char *is_done)
{
    size_t kept = first;
    for (size_t i = first; i < session->n_requests; i++)
        if (i >= first + n || !is_done[i - first]) {
            session->requests[kept] = session->requests[i];
            session->messages[kept++] = session->messages[i];
        }
    session->n_requests = kept;
}

static int test_chunk(struct espi_backup_session *session, size_t first, size_t n,
                      espi_backup_message_fn on_done, void *arg, int *count)
{
    const struct espi_transport *t = session->transport;
    unsigned char is_done[CHUNK] = {0};
    struct espi_backup_message finished[CHUNK];
    int done[CHUNK], n_done = 0;
    int code = t->wait_some(t->self, session->requests + first, (int)n, 0, done, &n_done);
    for (int i = 0; i < n_done && !code; i++) {
        finished[i] = session->messages[first + (size_t)done[i]];
        finished[i].bytes = t->came(t->self, i);
        is_done[done[i]] = 1;
    }
    if (code || n_done == 0)
        return code;
    drop_done(session, first, n, is_done);
    for (int i = 0; i < n_done; i++) { /* these may start others */
        struct espi_backup_message *e = &finished[i];
        if (e->kind == ESPI_BACKUP_ANSWER)
            session->answers_open[e->peer]--;
        if (e->kind == ESPI_BACKUP_ANSWER && e->bytes > 0 && !code)
            code = open_answer(session, e->peer, e->run, espi_malloc(e->room), e->room);
        if (on_done && !code)
            code = on_done(arg, e);
        espi_free(e->buffer);
    }
    *count += n_done;
    return code;
}

int espi_backup_session_test(struct espi_backup_session *session,
                             espi_backup_message_fn on_done, void *arg, int *count)
{
    size_t first = 0, left = session->n_requests; /* not those that are started now */
    while (left > 0) {
        size_t n = left < CHUNK ? left : CHUNK;
        int done = 0;
        int code = test_chunk(session, first, n, on_done, arg, &done);
        *count += done;
        if (code)
            return code;
        first += n - (size_t)done;
        left -= n;
    }
    return 0;
}

/* ---- notes ---- */

static int is_old(const struct espi_backup_session *session,
                  const struct espi_backup_note *note)
{
    return (int32_t)(note->run - session->run) < 0;
}

/* Nobody helps in a run that is over. */
static int turn_down(struct espi_backup_session *session, int peer,
                     const struct espi_backup_note *note)
{
    return note->kind == ESPI_BACKUP_ASK
               ? espi_backup_end_answers(session, peer, note->window)
               : 0;
}

/* The first note that came early for this run; *peer stays -1 if there is none. What was
 * not looked for in its run is turned down. */
static int take_early(struct espi_backup_session *session, int *peer,
                      struct espi_backup_note *note)
{
    size_t kept = 0;
    int code = 0;
    *peer = -1;
    for (size_t i = 0; i < session->n_early; i++) {
        struct espi_backup_early_note *e = &session->early[i];
        if (!code && *peer < 0 && e->note.run == session->run) {
            *peer = e->peer;
            *note = e->note;
        } else if (!code && is_old(session, &e->note)) {
            code = turn_down(session, e->peer, &e->note);
        } else {
            session->early[kept++] = *e;
        }
    }
    session->n_early = kept;
    return code;
}

/* Of a run that is over, or is still to come. */
static int put_aside(struct espi_backup_session *session, int peer,
                     const struct espi_backup_note *note)
{
    if (is_old(session, note))
        return turn_down(session, peer, note);
    if (espi_grow((void **)&session->early, &session->early_cap, session->n_early + 1,
                  sizeof *session->early))
        return ESPI_BACKUP_NOMEM;
    session->early[session->n_early++] = (struct espi_backup_early_note){peer, *note};
    return 0;
}

static int poll_note(struct espi_backup_session *session, int *peer,
                     struct espi_backup_note *note)
{
    const struct espi_transport *t = session->transport;
    *peer = -1;
    *note = (struct espi_backup_note){0}; /* ranks that failed send empty ones */
    int code = t->poll(t->self, ESPI_CHANNEL_BACKUP_NOTES, note, sizeof *note, peer);
    if (!code && *peer >= 0)
        session->notes_got++;
    return code;
}

int espi_backup_next_note(struct espi_backup_session *session, int *peer,
                          struct espi_backup_note *note)
{
    int code = take_early(session, peer, note);
    if (code || *peer >= 0)
        return code;
    for (;;) {
        code = poll_note(session, peer, note);
        if (code || *peer < 0 || note->run == session->run)
            return code;
        code = put_aside(session, *peer, note);
        if (code)
            return code;
    }
}

void espi_backup_session_close(struct espi_backup_session *session,
                               const struct espi_transport *t)
{
    espi_backup_session_begin(session, t); /* a run without ranks */
}

int espi_backup_session_sweep(struct espi_backup_session *session, int *count)
{
    struct espi_backup_note note;
    int peer, code = espi_backup_next_note(session, &peer, &note);
    return code ? code : espi_backup_session_test(session, NULL, NULL, count);
}

int64_t espi_backup_session_left(const struct espi_backup_session *session)
{
    int64_t left = (int64_t)(session->n_requests + session->n_early) - session->notes_got;
    for (int i = 0; i < session->n; i++)
        left += session->notes_sent[i];
    return left;
}

int espi_backup_session_drain(struct espi_backup_session *session,
                              const struct espi_transport *t, int64_t notes)
{
    int count = 0, code = 0;
    espi_backup_session_close(session, t);
    while (!code && (session->notes_got < notes || session->n_requests > 0 ||
                     session->n_early > 0)) {
        int before = count;
        code = espi_backup_session_sweep(session, &count);
        if (count == before)
            sched_yield();
    }
    return code;
}
