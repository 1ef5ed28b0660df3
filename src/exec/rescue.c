/* A broadcast in which ranks help each other when the tree is late.
 *
 * Every rank has its parent in the tree of the plan and, in a second tree, a helper. As
 * long as slices come about as forecast nothing happens beyond the plain broadcast: no
 * message more. A rank whose parent is late asks its helper, by a note, for what is
 * missing, and the helper sends it the slices one after the other as it gets them. They
 * are passed on from where they came; whichever of the two, parent or helper, brings a
 * slice first, the other is told by a note. The first copy wins: what a child has by
 * then, its parent does not send, but an empty message in its place, so that the messages
 * of the tree stay as many as they were and every receive finds its message.
 *
 * Nobody can come to wait for ever: the tree alone brings everybody everything, as
 * parents leave out only what their children have. A helper stays until it has sent what
 * it was asked for or the asker, who is in the same broadcast, has all.
 *
 * Reference: two trees, and receivers that take the faster sender: K. Cha, D. Han, C. Yu,
 * O. Byeon, Two-tree collective communication in distributed heterogeneous systems, 2002.
 * Departures: there a receiver compares both senders for every message; here it asks only
 * when late. Help that is no faster than the parent is called off, and asked for less
 * soon (the patience doubles, for as long as the helpline lasts), so that a forecast that
 * is wrong for the whole network costs little.
 *
 * What cannot be helped: slices that the parent has started to send before it is told
 * must still arrive before the rank may leave, since they arrive in the user's memory;
 * there are at most `window` of them. And a helper that has left the broadcast before it
 * is asked: broadcasts over before a rank notices that it is late. Children are served
 * each at its own pace, so that a slow one does not hold up the others. */
#include "exec/rescue.h"

#include <math.h>
#include <sched.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

enum place { NOWHERE, IN_MESSAGE, IN_COPY };

static const double PATIENCE_MAX = 64;

struct espi_rescue_child {
    int peer, channel;
    int64_t next;       /* slice to send */
    int open;           /* sends under way */
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

int espi_rescue_applies(const struct espi_program *prog)
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

static int find_children(struct espi_rescue *r)
{
    const struct espi_program *prog = r->prog;
    int first = prog->send_start[r->rank], last = prog->send_start[r->rank + 1];
    r->children = ESPI_ARENA_ZNEW(r->arena, struct espi_rescue_child, last - first);
    if (!r->children)
        return -1;
    for (int k = first; k < last; k++) {
        int s = prog->sends[k].stream;
        r->children[r->n_children++] = (struct espi_rescue_child){
            .peer = prog->streams[s].to, .channel = r->channel[s]};
    }
    return 0;
}

static int set_up(struct espi_rescue *r)
{
    const struct espi_program *prog = r->prog;
    r->n_slices = prog->n_slices;
    r->parent = -1;
    r->place = ESPI_ARENA_ZNEW(r->arena, unsigned char, r->n_slices);
    r->copy = ESPI_ARENA_ZNEW(r->arena, char *, r->n_slices);
    if (!r->place || !r->copy || find_children(r))
        return ESPI_HELPLINE_NOMEM;
    if (r->rank == prog->root) {
        memset(r->place, IN_MESSAGE, (size_t)r->n_slices);
        r->posted = r->arrived = r->n_slices;
    } else {
        int s = prog->recvs[prog->recv_start[r->rank]].stream;
        r->parent = prog->streams[s].from;
        r->in_channel = r->channel[s];
    }
    if (r->options.helper == r->rank || r->options.helper == r->parent || !r->data)
        r->options.helper = -1;
    if (r->options.window <= 0)
        r->options.window = 4;
    r->start_s = espi_now_s();
    return 0;
}

/* ---- slices ---- */

static char *slice_at(const struct espi_rescue *r, int64_t slice, size_t *bytes)
{
    uint64_t size = (uint64_t)r->prog->size_bytes;
    uint64_t from = espi_slice_offset(size, r->n_slices, slice);
    *bytes = (size_t)(espi_slice_offset(size, r->n_slices, slice + 1) - from);
    return r->data ? r->data + from : NULL;
}

/* Where it can be read: never where a message may be arriving. */
static char *readable(const struct espi_rescue *r, int64_t slice, size_t *bytes)
{
    char *at = slice_at(r, slice, bytes);
    return r->place[slice] == IN_COPY ? r->copy[slice] + sizeof(struct espi_answer) : at;
}

/* ---- the tree ---- */

static int post_receives(struct espi_rescue *r)
{
    int code = 0;
    while (!code && r->posted < r->n_slices &&
           r->posted - r->arrived < r->options.window) {
        struct espi_errand errand = {
            .kind = ESPI_ERRAND_IN, .run = r->line->run, .slice = r->posted};
        size_t bytes;
        char *to = slice_at(r, r->posted, &bytes);
        if (!r->data)
            bytes = 0;
        code = espi_helpline_recv(r->line, r->parent, r->in_channel, to, bytes, errand);
        r->posted += !code;
    }
    return code;
}

static int send_slice(struct espi_rescue *r, int child)
{
    struct espi_rescue_child *c = &r->children[child];
    struct espi_errand errand = {
        .kind = ESPI_ERRAND_OUT, .run = r->line->run, .child = child, .slice = c->next};
    size_t bytes;
    char *from = readable(r, c->next, &bytes);
    int spare = c->has && c->has[c->next];
    if (spare || r->broken)
        bytes = 0;
    r->count.spared += spare;
    int code = espi_helpline_send(r->line, c->peer, c->channel, from, bytes, errand);
    if (!code) {
        c->next++;
        c->open++;
    }
    return code;
}

/* The child that is next in turn: of those that can be served the one least far. */
static int next_child(const struct espi_rescue *r)
{
    int best = -1;
    for (int i = 0; i < r->n_children; i++) {
        const struct espi_rescue_child *c = &r->children[i];
        if (c->next < r->n_slices && c->open < r->options.window &&
            r->place[c->next] != NOWHERE &&
            (best < 0 || c->next < r->children[best].next))
            best = i;
    }
    return best;
}

static int start_sends(struct espi_rescue *r)
{
    int code = 0, child;
    while (!code && (child = next_child(r)) >= 0)
        code = send_slice(r, child);
    return code;
}

/* ---- helping ---- */

static int add_asker(struct espi_rescue *r, int peer, const struct espi_note *note)
{
    int64_t first = note->slice < 0 ? r->n_slices : note->slice;
    if (espi_grow((void **)&r->askers, &r->askers_cap, r->n_askers + 1,
                  sizeof *r->askers))
        return ESPI_HELPLINE_NOMEM;
    r->askers[r->n_askers++] =
        (struct espi_asker){.peer = peer, .window = (int)note->window, .next = first};
    return 0;
}

static int mark(struct espi_rescue *r, unsigned char **has, int64_t slice)
{
    if (!*has)
        *has = ESPI_ARENA_ZNEW(r->arena, unsigned char, r->n_slices);
    if (*has)
        (*has)[slice] = 1;
    return *has ? 0 : ESPI_HELPLINE_NOMEM;
}

/* A child, or one that asked us, has the slice. */
static int told(struct espi_rescue *r, int peer, int64_t slice)
{
    int code = 0;
    if (slice < 0 || slice >= r->n_slices)
        return 0;
    for (int i = 0; i < r->n_children && !code; i++)
        if (r->children[i].peer == peer)
            code = mark(r, &r->children[i].has, slice);
    for (size_t i = 0; i < r->n_askers && !code; i++)
        if (r->askers[i].peer == peer)
            code = mark(r, &r->askers[i].has, slice);
    return code;
}

static int read_note(struct espi_rescue *r, int peer, const struct espi_note *note)
{
    if (note->kind == ESPI_NOTE_ASK)
        return add_asker(r, peer, note);
    if (note->kind == ESPI_NOTE_HAVE)
        return told(r, peer, note->slice);
    for (size_t i = 0; i < r->n_askers; i++)
        if (r->askers[i].peer == peer)
            r->askers[i].stopped = 1;
    return 0;
}

static int read_notes(struct espi_rescue *r, int *count)
{
    for (;;) {
        struct espi_note note;
        int peer, code = espi_helpline_next_note(r->line, &peer, &note);
        if (code || peer < 0)
            return code;
        ++*count;
        if ((code = read_note(r, peer, &note)))
            return code;
    }
}

/* As much as can be sent now. Sets *over when there is no more to come. */
static int serve(struct espi_rescue *r, struct espi_asker *a, int *over)
{
    int code = 0;
    while (!code && !a->stopped && !r->broken && a->next < r->n_slices) {
        size_t bytes;
        if (a->has && a->has[a->next]) {
            a->next++;
            continue;
        }
        if (r->place[a->next] == NOWHERE || a->open >= a->window)
            return 0;
        const char *from = readable(r, a->next, &bytes);
        code = espi_helpline_answer(r->line, a->peer, a->next, from, bytes);
        if (code == ESPI_HELPLINE_NOMEM)
            break; /* then no more; the asker has its parent */
        r->count.answers++;
        a->open++;
        a->next++;
    }
    *over = 1;
    return code == ESPI_HELPLINE_NOMEM ? 0 : code;
}

static int serve_askers(struct espi_rescue *r)
{
    size_t kept = 0;
    int code = 0;
    for (size_t i = 0; i < r->n_askers; i++) {
        int over = 0;
        if (!code)
            code = serve(r, &r->askers[i], &over);
        if (over && !code)
            code = espi_helpline_end_answers(r->line, r->askers[i].peer,
                                             r->askers[i].window);
        else
            r->askers[kept++] = r->askers[i];
    }
    r->n_askers = kept;
    return code;
}

/* An answer of ours has arrived. */
static void answer_sent(struct espi_rescue *r, int peer)
{
    for (size_t i = 0; i < r->n_askers; i++)
        if (r->askers[i].peer == peer && r->askers[i].open > 0) {
            r->askers[i].open--;
            return;
        }
}

/* ---- being helped ---- */

/* Is the parent behind what was forecast, by more than we bear with? */
static int is_late(const struct espi_rescue *r, double now_s)
{
    const struct espi_rescue_options *o = &r->options;
    double patience = o->patience * r->line->patience;
    double grace_s = o->grace_s * r->line->patience;
    if (r->full == 0)
        return now_s - r->start_s > patience * (o->first_s + o->period_s) + grace_s;
    double since_first_s = now_s - r->first_s, since_last_s = now_s - r->last_s;
    return since_last_s > patience * o->period_s + grace_s ||
           since_first_s > patience * o->period_s * (double)r->full + grace_s;
}

static size_t largest_slice(const struct espi_rescue *r)
{
    size_t bytes;
    slice_at(r, 0, &bytes);
    return bytes;
}

static int ask_if_late(struct espi_rescue *r)
{
    enum { ASKS_MAX = 8 }; /* in one broadcast */
    int64_t slice = 0;
    if (r->options.helper < 0 || r->arrived == r->n_slices ||
        r->line->answers_open[r->options.helper] > 0 || r->count.asked == ASKS_MAX ||
        !is_late(r, espi_now_s()))
        return 0;
    while (slice < r->n_slices && r->place[slice] != NOWHERE)
        slice++;
    if (slice == r->n_slices)
        return 0;
    r->count.asked++;
    r->balance = 0;
    r->stopped = 0;
    r->asks_open = r->options.window;
    int code = espi_helpline_expect(r->line, r->options.helper, r->options.window,
                                    largest_slice(r));
    return code ? code
                : espi_helpline_note(r->line, r->options.helper, ESPI_NOTE_ASK, slice,
                                     r->options.window);
}

static int call_off(struct espi_rescue *r)
{
    if (r->asks_open == 0 || r->stopped)
        return 0;
    r->stopped = 1;
    return espi_helpline_note(r->line, r->options.helper, ESPI_NOTE_STOP, 0, 0);
}

/* The helper was slower than the parent. */
static int no_use(struct espi_rescue *r)
{
    r->count.wasted++;
    if (--r->balance >= 0 || r->stopped)
        return 0;
    r->line->patience = fmin(2 * r->line->patience, PATIENCE_MAX);
    return call_off(r);
}

/* An answer to what was asked in this run. */
static int answered(struct espi_rescue *r, struct espi_errand *errand)
{
    struct espi_answer head;
    size_t bytes = 0;
    if (errand->bytes < sizeof head) {
        r->asks_open--;
        return 0;
    }
    memcpy(&head, errand->buffer, sizeof head);
    if (head.slice < 0 || head.slice >= r->n_slices)
        return 0;
    slice_at(r, head.slice, &bytes);
    if (errand->bytes != sizeof head + bytes || r->place[head.slice] != NOWHERE)
        return no_use(r);
    r->count.helped++;
    r->balance++;
    r->line->patience = fmax(1, r->line->patience / 2);
    r->copy[head.slice] = errand->buffer;
    r->place[head.slice] = IN_COPY;
    errand->buffer = NULL;
    return espi_helpline_note(r->line, r->parent, ESPI_NOTE_HAVE, head.slice, 0);
}

/* What came by the tree the helper need not send. */
static int tell_helper(struct espi_rescue *r, int64_t slice)
{
    if (r->arrived == r->n_slices)
        return call_off(r);
    if (r->asks_open == 0 || r->stopped)
        return 0;
    return espi_helpline_note(r->line, r->options.helper, ESPI_NOTE_HAVE, slice, 0);
}

/* ---- all of it ---- */

/* A slice came by the tree, or an empty message in its place. */
static int arrived(struct espi_rescue *r, const struct espi_errand *errand)
{
    size_t bytes;
    char *to = slice_at(r, errand->slice, &bytes);
    r->arrived++;
    if (errand->bytes == bytes) {
        r->full++;
        r->last_s = espi_now_s();
        r->first_s = r->full == 1 ? r->last_s : r->first_s;
    } else if (errand->bytes == 0 && r->place[errand->slice] == IN_COPY) {
        memcpy(to, r->copy[errand->slice] + sizeof(struct espi_answer), bytes);
    } else {
        r->broken = 1;
    }
    if (r->place[errand->slice] == NOWHERE)
        r->place[errand->slice] = IN_MESSAGE;
    return tell_helper(r, errand->slice);
}

static int on_done(void *arg, struct espi_errand *errand)
{
    struct espi_rescue *r = arg;
    if (errand->run != r->line->run)
        return 0; /* left over */
    if (errand->kind == ESPI_ERRAND_IN)
        return arrived(r, errand);
    if (errand->kind == ESPI_ERRAND_ANSWER)
        return answered(r, errand);
    if (errand->kind == ESPI_ERRAND_OUT)
        r->children[errand->child].open--;
    else if (errand->peer >= 0)
        answer_sent(r, errand->peer);
    return 0;
}

static int is_over(const struct espi_rescue *r)
{
    if (r->arrived < r->n_slices || r->n_askers > 0)
        return 0;
    for (int i = 0; i < r->n_children; i++)
        if (r->children[i].next < r->n_slices || r->children[i].open > 0)
            return 0;
    return 1;
}

/* What has arrived is passed on first: looking for notes takes its time, on testbeds up
 * to 10 ms (testbed/wait.c), and that at every hop. So notes are looked for when nothing
 * else happens, and now and then when there is no end of it. */
static int run_to_end(struct espi_rescue *r)
{
    enum { NOTES_WAIT = 16 };
    int code = set_up(r), unread = 0;
    while (!code) {
        int count = 0;
        if ((code = post_receives(r)) || (code = start_sends(r)) ||
            (code = serve_askers(r)) || is_over(r) ||
            (code = espi_helpline_test(r->line, on_done, r, &count)))
            break;
        if (count > 0 && ++unread < NOTES_WAIT)
            continue;
        unread = 0;
        if ((code = read_notes(r, &count)))
            break;
        if (count == 0) {
            code = ask_if_late(r);
            sched_yield();
        }
    }
    return code;
}

int espi_rescue_run(struct espi_rescue *r, const struct espi_program *prog, int rank,
                    const int *channel, struct espi_helpline *line, void *data,
                    const struct espi_rescue_options *options, struct espi_arena *arena)
{
    *r = (struct espi_rescue){.prog = prog,
                              .rank = rank,
                              .data = data,
                              .broken = !data,
                              .channel = channel,
                              .line = line,
                              .options = *options,
                              .arena = arena};
    int code = run_to_end(r);
    for (int64_t i = 0; r->copy && i < r->n_slices; i++)
        espi_free(r->copy[i]);
    espi_free(r->askers);
    return !code && r->broken ? ESPI_RESCUE_SIZES : code;
}
