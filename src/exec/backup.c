/* Backup senders.
 *
 * Every rank has its parent in the tree of the plan and, in a second tree, a backup. As
 * long as slices come about as forecast nothing happens beyond the plain run: no message
 * more, and the same order. A rank whose parent is late asks its backup, by a note, for
 * what is missing, and the backup sends it the slices one after the other as it gets
 * them. They are passed on from where they came; whichever of the two, parent or backup,
 * brings a slice first, the other is told by a note. The first copy wins: what a child
 * has by then, its parent does not send, but an empty message in its place, so that the
 * messages of the tree stay as many as they were and every receive finds its message.
 *
 * Nobody can come to wait for ever: the tree alone brings everybody everything, as
 * parents leave out only what their children have. A backup stays until it has sent what
 * it was asked for or the asker, who is in the same broadcast, has all.
 *
 * Each child is sent its slices by itself, as the others are (program/connections.h): one
 * that takes nothing holds up nobody else.
 *
 * Reference: two trees, and receivers that take the faster sender: K. Cha, D. Han, C. Yu,
 * O. Byeon, Two-tree collective communication in distributed heterogeneous systems, 2002.
 * Departures: there a receiver compares both senders for every message; here it asks only
 * when late. Help that is no faster than the parent is called off, and asked for less
 * soon (the patience doubles, for as long as the session lasts), so that a forecast that
 * is wrong for the whole network costs little.
 *
 * What cannot be helped: slices that the parent has started to send before it is told
 * must still arrive before the rank may leave, since they arrive in the user's memory;
 * there are at most `window` of them. And a backup that has left the broadcast before it
 * is asked: broadcasts over before a rank notices that it is late. */
#include "exec/backup.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "exec/tuning.h"

enum place { NOWHERE, IN_MESSAGE, IN_COPY };

struct espi_backup_child {
    int peer;
    unsigned char *has; /* slices that it told us of; NULL: none */
};

/* One that asked us. */
struct espi_asker {
    int peer, window;
    int open;           /* answers under way */
    int64_t next;       /* slice to send */
    unsigned char *has; /* slices that it told us of; NULL: none */
    int stopped;
};

/* ---- setting up ---- */

int espi_backup_applies(const struct espi_program *prog)
{
    if (prog->n_trees != 1 || prog->slots != 1 ||
        (double)prog->n_slices > prog->size_bytes)
        return 0;
    for (int s = 0; s < prog->n_streams; s++)
        if (!prog->streams[s].keeps || prog->streams[s].combines ||
            prog->streams[s].also >= 0)
            return 0;
    for (int r = 0; r < prog->n_ranks; r++)
        if (prog->recv_start[r + 1] - prog->recv_start[r] != (r != prog->root))
            return 0;
    return 1;
}

/* Children and, unless this is the root, the parent. */
static int find_neighbours(struct espi_backup *b, int rank)
{
    const struct espi_program *prog = b->prog;
    int first = prog->send_start[rank], last = prog->send_start[rank + 1];
    b->parent = b->state = -1;
    b->children = ESPI_ARENA_ZNEW(b->arena, struct espi_backup_child, last - first);
    b->child_of_stream = ESPI_ARENA_NEW(b->arena, int, prog->n_streams);
    if (!b->children || !b->child_of_stream)
        return -1;
    for (int k = first; k < last; k++) {
        int s = prog->sends[k].stream;
        b->child_of_stream[s] = b->n_children;
        b->children[b->n_children++] =
            (struct espi_backup_child){.peer = prog->streams[s].to};
    }
    if (rank != prog->root) {
        const struct espi_step *in = &prog->recvs[prog->recv_start[rank]];
        b->parent = prog->streams[in->stream].from;
        b->state = in->state;
    }
    return 0;
}

static struct espi_backup_child *child_of(const struct espi_backup *b, int stream)
{
    return &b->children[b->child_of_stream[stream]];
}

/* ---- slices ---- */

static char *slice_at(const struct espi_backup *b, int64_t slice, size_t *bytes)
{
    uint64_t length, from = espi_slice_range(b->prog, slice, &length);
    *bytes = (size_t)length;
    return b->data ? b->data + from : NULL;
}

/* Where it can be read: never where a message may be arriving. */
static const char *readable(const struct espi_backup *b, int64_t slice, size_t *bytes)
{
    const char *at = slice_at(b, slice, bytes);
    return b->place[slice] == IN_COPY ? b->copy[slice] + sizeof(struct espi_backup_answer)
                                      : at;
}

/* Counts on as far as all slices are here, from whomever: so they can be passed on. */
static void count_here(const struct espi_backup *b, struct espi_run *run)
{
    int64_t *here = &run->arrived[b->state];
    while (*here < b->n_slices && b->place[*here] != NOWHERE)
        ++*here;
}

/* ---- helping ---- */

static int add_asker(struct espi_backup *b, int peer, const struct espi_backup_note *note)
{
    int64_t first = note->slice < 0 ? b->n_slices : note->slice;
    if (espi_grow((void **)&b->askers, &b->askers_cap, b->n_askers + 1,
                  sizeof *b->askers))
        return ESPI_BACKUP_NOMEM;
    b->askers[b->n_askers++] =
        (struct espi_asker){.peer = peer, .window = (int)note->window, .next = first};
    return 0;
}

static int mark_slice(struct espi_backup *b, unsigned char **has, int64_t slice)
{
    if (!*has)
        *has = ESPI_ARENA_ZNEW(b->arena, unsigned char, b->n_slices);
    if (*has)
        (*has)[slice] = 1;
    return *has ? 0 : ESPI_BACKUP_NOMEM;
}

/* A child, or one that asked us, has the slice. */
static int note_has(struct espi_backup *b, int peer, int64_t slice)
{
    int code = 0;
    if (slice < 0 || slice >= b->n_slices)
        return 0;
    for (int i = 0; i < b->n_children && !code; i++)
        if (b->children[i].peer == peer)
            code = mark_slice(b, &b->children[i].has, slice);
    for (size_t i = 0; i < b->n_askers && !code; i++)
        if (b->askers[i].peer == peer)
            code = mark_slice(b, &b->askers[i].has, slice);
    return code;
}

static int read_note(struct espi_backup *b, int peer, const struct espi_backup_note *note)
{
    if (note->kind == ESPI_BACKUP_ASK)
        return add_asker(b, peer, note);
    if (note->kind == ESPI_BACKUP_HAVE)
        return note_has(b, peer, note->slice);
    for (size_t i = 0; i < b->n_askers; i++)
        if (b->askers[i].peer == peer)
            b->askers[i].stopped = 1;
    return 0;
}

static int read_notes(struct espi_backup *b, int *count)
{
    for (;;) {
        struct espi_backup_note note;
        int peer, code = espi_backup_next_note(b->session, &peer, &note);
        if (code || peer < 0)
            return code;
        ++*count;
        if ((code = read_note(b, peer, &note)))
            return code;
    }
}

/* As much as can be sent now. Sets *over when there is no more to come. */
static int serve_asker(struct espi_backup *b, struct espi_asker *a, int *over)
{
    int code = 0;
    while (!code && !a->stopped && !b->broken && a->next < b->n_slices) {
        size_t bytes;
        if (a->has && a->has[a->next]) {
            a->next++;
            continue;
        }
        if (b->place[a->next] == NOWHERE || a->open >= a->window)
            return 0;
        const char *from = readable(b, a->next, &bytes);
        code = espi_backup_send_answer(b->session, a->peer, a->next, from, bytes);
        if (code == ESPI_BACKUP_NOMEM)
            break; /* then no more; the asker has its parent */
        b->count.answers++;
        a->open++;
        a->next++;
    }
    *over = 1;
    return code == ESPI_BACKUP_NOMEM ? 0 : code;
}

static int serve_askers(struct espi_backup *b)
{
    size_t kept = 0;
    int code = 0;
    for (size_t i = 0; i < b->n_askers; i++) {
        int over = 0;
        if (!code)
            code = serve_asker(b, &b->askers[i], &over);
        if (over && !code)
            code = espi_backup_end_answers(b->session, b->askers[i].peer,
                                           b->askers[i].window);
        else
            b->askers[kept++] = b->askers[i];
    }
    b->n_askers = kept;
    return code;
}

/* An answer of ours has arrived. */
static void answer_sent(struct espi_backup *b, int peer)
{
    for (size_t i = 0; i < b->n_askers; i++)
        if (b->askers[i].peer == peer && b->askers[i].open > 0) {
            b->askers[i].open--;
            return;
        }
}

/* ---- being helped ---- */

/* Is the parent behind what was forecast, by more than we bear with? */
static int is_late(const struct espi_backup *b, double now_s)
{
    const struct espi_backup_options *o = &b->options;
    double patience = o->patience * b->session->patience;
    double grace_s = o->grace_s * b->session->patience;
    if (b->full == 0)
        return now_s - b->start_s > patience * (o->first_s + o->period_s) + grace_s;
    double since_first_s = now_s - b->first_s, since_last_s = now_s - b->last_s;
    return since_last_s > patience * o->period_s + grace_s ||
           since_first_s > patience * o->period_s * (double)b->full + grace_s;
}

static size_t largest_slice(const struct espi_backup *b)
{
    size_t bytes;
    slice_at(b, 0, &bytes);
    return bytes;
}

static int ask_if_late(struct espi_backup *b, int window)
{
    int64_t slice = 0;
    if (b->options.sender < 0 || b->arrived == b->n_slices ||
        b->session->answers_open[b->options.sender] > 0 || b->count.asked == ESPI_ASKS ||
        !is_late(b, espi_now_s()))
        return 0;
    while (slice < b->n_slices && b->place[slice] != NOWHERE)
        slice++;
    if (slice == b->n_slices)
        return 0;
    b->count.asked++;
    b->balance = 0;
    b->stopped = 0;
    b->asks_open = window;
    int code =
        espi_backup_expect(b->session, b->options.sender, window, largest_slice(b));
    return code ? code
                : espi_backup_send_note(b->session, b->options.sender, ESPI_BACKUP_ASK,
                                        slice, window);
}

static int call_off(struct espi_backup *b)
{
    if (b->asks_open == 0 || b->stopped)
        return 0;
    b->stopped = 1;
    return espi_backup_send_note(b->session, b->options.sender, ESPI_BACKUP_STOP, 0, 0);
}

/* The backup was slower than the parent. */
static int no_use(struct espi_backup *b)
{
    b->count.wasted++;
    if (--b->balance >= 0 || b->stopped)
        return 0;
    b->session->patience = fmin(2 * b->session->patience, ESPI_PATIENCE_MAX);
    return call_off(b);
}

/* An answer to what was asked in this run. */
static int take_answer(struct espi_backup *b, struct espi_run *run,
                       struct espi_backup_message *message)
{
    struct espi_backup_answer head;
    size_t bytes = 0;
    if (message->bytes < sizeof head) {
        b->asks_open--;
        return 0;
    }
    memcpy(&head, message->buffer, sizeof head);
    if (head.slice < 0 || head.slice >= b->n_slices)
        return 0;
    slice_at(b, head.slice, &bytes);
    if (message->bytes != sizeof head + bytes || b->place[head.slice] != NOWHERE)
        return no_use(b);
    b->count.helped++;
    b->balance++;
    b->session->patience = fmax(1, b->session->patience / 2);
    b->copy[head.slice] = message->buffer;
    b->place[head.slice] = IN_COPY;
    message->buffer = NULL;
    count_here(b, run);
    return espi_backup_send_note(b->session, b->parent, ESPI_BACKUP_HAVE, head.slice, 0);
}

/* What came by the tree the backup need not send. */
static int tell_backup(struct espi_backup *b, int64_t slice)
{
    if (b->arrived == b->n_slices)
        return call_off(b);
    if (b->asks_open == 0 || b->stopped)
        return 0;
    return espi_backup_send_note(b->session, b->options.sender, ESPI_BACKUP_HAVE, slice,
                                 0);
}

/* ---- the policy ---- */

static const char *read_for_child(void *self, int stream, int64_t slice, size_t *bytes)
{
    struct espi_backup *b = self;
    const struct espi_backup_child *child = child_of(b, stream);
    const char *from = readable(b, slice, bytes);
    int spare = child->has && child->has[slice];
    if (spare || b->broken)
        *bytes = 0;
    b->count.spared += spare;
    return from;
}

/* A slice came by the tree, or an empty message in its place. */
static int take_message(void *self, struct espi_run *run, int64_t slice, size_t came)
{
    struct espi_backup *b = self;
    size_t bytes;
    char *to = slice_at(b, slice, &bytes);
    b->arrived++;
    if (came == bytes) {
        b->full++;
        b->last_s = espi_now_s();
        b->first_s = b->full == 1 ? b->last_s : b->first_s;
    } else if (came == 0 && b->place[slice] == IN_COPY) {
        memcpy(to, b->copy[slice] + sizeof(struct espi_backup_answer), bytes);
    } else {
        b->broken = 1;
    }
    if (b->place[slice] == NOWHERE)
        b->place[slice] = IN_MESSAGE;
    count_here(b, run);
    return tell_backup(b, slice);
}

static int serve_all(void *self, struct espi_run *run)
{
    (void)run;
    return serve_askers(self);
}

/* A message of the session is done. */
struct looker {
    struct espi_backup *b;
    struct espi_run *run;
};

static int on_message(void *arg, struct espi_backup_message *message)
{
    const struct looker *l = arg;
    if (message->run != l->b->session->run)
        return 0; /* left over */
    if (message->kind == ESPI_BACKUP_ANSWER)
        return take_answer(l->b, l->run, message);
    if (message->peer >= 0)
        answer_sent(l->b, message->peer);
    return 0;
}

/* What has arrived is passed on first: looking for notes takes its time, on testbeds up
 * to 10 ms (testbed/wait.c), and that at every hop. So notes are looked for when nothing
 * else happens, and now and then when there is no end of it. */
static int look_around(void *self, struct espi_run *run, int *count)
{
    struct espi_backup *b = self;
    struct looker looker = {b, run};
    int code = espi_backup_session_test(b->session, on_message, &looker, count);
    if (code || (*count > 0 && ++b->unread < ESPI_NOTES_WAIT))
        return code;
    b->unread = 0;
    code = read_notes(b, count);
    return code || *count > 0 ? code : ask_if_late(b, run->window);
}

static int nobody_asks(const void *self)
{
    const struct espi_backup *b = self;
    return b->n_askers == 0;
}

int espi_backup_init(struct espi_backup *b, const struct espi_program *prog, int rank,
                     struct espi_backup_session *session, void *data,
                     const struct espi_backup_options *options, struct espi_arena *arena)
{
    *b = (struct espi_backup){.session = session,
                              .options = *options,
                              .arena = arena,
                              .prog = prog,
                              .n_slices = prog->n_slices,
                              .data = data,
                              .broken = !data,
                              .start_s = espi_now_s()};
    b->policy = (struct espi_run_policy){b,         read_for_child, take_message,
                                         serve_all, look_around,    nobody_asks};
    b->place = ESPI_ARENA_ZNEW(arena, unsigned char, b->n_slices);
    b->copy = ESPI_ARENA_ZNEW(arena, char *, b->n_slices);
    if (!b->place || !b->copy || find_neighbours(b, rank))
        return -1;
    if (rank == prog->root) {
        memset(b->place, IN_MESSAGE, (size_t)b->n_slices);
        b->arrived = b->n_slices;
    }
    if (b->options.sender == rank || b->options.sender == b->parent || !data)
        b->options.sender = -1;
    return 0;
}

void espi_backup_done(struct espi_backup *b)
{
    for (int64_t i = 0; b->copy && i < b->n_slices; i++)
        espi_free(b->copy[i]);
    espi_free(b->askers);
}
