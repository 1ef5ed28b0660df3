/* What travels with a broadcast beside its data, and how plans change.
 *
 * The first message of every stream of one tree, that of the first slice, begins with a
 * head: the number of the plans in force and, when the root has found a new plan of the
 * advisor's, its text. No message is added for it, and by other trees nothing goes. Who
 * has got its data has got the head with them, and passes it on with its own first
 * messages, so that at the end of the call every rank of the communicator has the same
 * text. From the next call on all of them plan by it: they change at the same
 * call, because calls of one communicator are in the same order everywhere, and what they
 * change to is a function of bytes that all have. That the advisor dies, lies or starts
 * anew changes only what text there is. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "channel/report.h"
#include "mpi/shim.h"
#include "mpi/tuning.h"

#define PIGGYBACK_MAGIC UINT32_C(0x65736e31)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int espi_piggyback_wanted(const struct espi_call *call)
{
    return call->op == ESP_OP_BCAST && espi_job.settings.advice[0] && espi_job.node &&
           call->c->size == espi_job.n && call->c->has_rank_platform;
}

int espi_piggyback_init(struct espi_piggyback *n, const struct espi_call *call,
                        struct espi_arena *arena)
{
    size_t ways = 2 * (size_t)call->entry->prog.n_streams + 2;
    *n = (struct espi_piggyback){.arena = arena,
                                 .entry = call->entry,
                                 .rank = call->c->rank,
                                 .head = {PIGGYBACK_MAGIC, 0, call->c->epoch},
                                 .start_s = espi_now_s()};
    n->in = ESPI_ARENA_NEW(arena, struct espi_piggyback_in, ways);
    n->begun = ESPI_ARENA_NEW(arena, struct espi_piggyback_way, ways);
    n->peer = ESPI_ARENA_NEW(arena, struct espi_piggyback_peer, ways);
    return n->in && n->begun && n->peer ? 0 : -1;
}

/* Is it a stream of the tree by which the first slice goes? */
static int carries_text(const struct espi_piggyback *n, int sends, int peer, int channel)
{
    const struct espi_program *prog = &n->entry->prog;
    int from = sends ? n->rank : peer, to = sends ? peer : n->rank;
    for (int i = 0; i < prog->n_streams; i++)
        if (prog->streams[i].from == from && prog->streams[i].to == to &&
            n->entry->channel[i] == channel)
            return prog->streams[i].tree == prog->slot_tree[0];
    return 0;
}

static int find_peer(const struct espi_piggyback *n, int sends, int rank)
{
    int i = 0;
    while (i < n->n_peers && (n->peer[i].sends != sends || n->peer[i].rank != rank))
        i++;
    return i;
}

static struct espi_piggyback_way *find_way(const struct espi_piggyback *n, int sends,
                                           int peer, int channel)
{
    for (int i = 0; i < n->n_begun; i++)
        if (n->begun[i].sends == sends && n->begun[i].peer == peer &&
            n->begun[i].channel == channel)
            return &n->begun[i];
    return NULL;
}

/* The way of which this is the first message; NULL: it is not. */
static struct espi_piggyback_way *first_of(struct espi_piggyback *n, int sends, int peer,
                                           int channel)
{
    if (find_way(n, sends, peer, channel))
        return NULL;
    int at = find_peer(n, sends, peer);
    if (at == n->n_peers)
        n->peer[n->n_peers++] =
            (struct espi_piggyback_peer){.sends = sends, .rank = peer};
    struct espi_piggyback_way *w = &n->begun[n->n_begun++];
    *w = (struct espi_piggyback_way){.sends = sends,
                                     .peer = peer,
                                     .channel = channel,
                                     .carries = carries_text(n, sends, peer, channel),
                                     .at = at};
    return w;
}

const void *espi_piggyback_send(struct espi_piggyback *n, int peer, int channel,
                                const void *from, size_t *bytes)
{
    const struct espi_piggyback_way *w = first_of(n, 1, peer, channel);
    if (!w || !w->carries)
        return from;
    size_t length = n->head.length, data = *bytes;
    char *message = espi_arena_alloc(n->arena, sizeof n->head + length + data, 1);
    if (!message)
        return NULL;
    memcpy(message, &n->head, sizeof n->head);
    if (length)
        memcpy(message + sizeof n->head, n->text, length);
    if (data)
        memcpy(message + sizeof n->head + length, from, data);
    *bytes = sizeof n->head + length + data;
    return message;
}

void *espi_piggyback_recv(struct espi_piggyback *n, int peer, int channel, void *to,
                          size_t *bytes, int *which)
{
    const struct espi_piggyback_way *w = first_of(n, 0, peer, channel);
    *which = -1;
    if (!w || !w->carries)
        return to;
    struct espi_piggyback_in *in = &n->in[n->n_in];
    size_t room = sizeof n->head + ESPI_ADVICE_MAX + *bytes;
    *in = (struct espi_piggyback_in){espi_arena_alloc(n->arena, room, 1), to, *bytes};
    if (!in->message)
        return NULL;
    *which = n->n_in++;
    *bytes = room;
    return in->message;
}

int espi_piggyback_begin(struct espi_piggyback *n, int peer, int channel)
{
    const struct espi_piggyback_way *w = find_way(n, 1, peer, channel);
    if (!w)
        return -1;
    struct espi_piggyback_peer *p = &n->peer[w->at];
    if (p->open++ == 0)
        p->since_s = espi_now_s();
    p->slices++;
    return w->at;
}

void espi_piggyback_sent(struct espi_piggyback *n, int peer)
{
    struct espi_piggyback_peer *p = &n->peer[peer];
    if (--p->open == 0)
        p->under_way_s += espi_now_s() - p->since_s;
}

void espi_piggyback_clock(struct espi_piggyback *n, int peer)
{
    int at = find_peer(n, 0, peer);
    n->last_s = espi_now_s();
    if (!(n->first_s > 0))
        n->first_s = n->last_s;
    if (at == n->n_peers)
        return;
    struct espi_piggyback_peer *p = &n->peer[at];
    if (p->slices++ == 0)
        p->first_s = n->last_s;
    p->last_s = n->last_s;
}

int espi_piggyback_came(struct espi_piggyback *n, int which, size_t came)
{
    const struct espi_piggyback_in *in = &n->in[which];
    struct espi_piggyback_head head;
    if (came < sizeof head)
        return -1;
    memcpy(&head, in->message, sizeof head);
    if (head.magic != PIGGYBACK_MAGIC || head.length > came - sizeof head)
        return -1;
    if (!n->have) {
        n->have = 1;
        n->head = head;
        n->text = in->message + sizeof head;
    }
    size_t data = came - sizeof head - head.length;
    if (data > in->bytes)
        return -1;
    memcpy(in->to, in->message + sizeof head + head.length, data);
    return data == in->bytes ? 0 : -1;
}

/* ---- plans ---- */

/* The plan in the text, if it is one for us. */
static esp_status read_plan(const char *text, size_t length, struct esp_plan **out)
{
    struct esp_plan *plan = NULL;
    esp_status st = esp_plan_parse(text, length, "the advice", espi_job.net, &plan, NULL);
    if (!st && plan->op == ESP_OP_BCAST && !plan->redundant && plan->size_bytes >= 1 &&
        plan->size_bytes < 1e15) {
        *out = plan;
        return ESP_OK;
    }
    esp_plan_free(plan);
    return st ? st : ESP_EINPUT;
}

/* What the root has found travels, if it is a plan of its own. */
static void take_text(struct espi_piggyback *n, const struct espi_comm *c, char *text,
                      size_t length)
{
    struct esp_plan *plan = NULL;
    char *kept = espi_arena_alloc(n->arena, length, 1);
    if (kept && !read_plan(text, length, &plan) && plan->root == c->node[c->rank]) {
        memcpy(kept, text, length);
        n->text = kept;
        n->head.length = (uint32_t)length;
        n->head.epoch = c->epoch + 1;
    }
    esp_plan_free(plan);
    espi_free(text);
}

void espi_piggyback_ask(struct espi_piggyback *n, struct espi_comm *c, uint64_t bytes)
{
    static const int aside[] = {0, -1, 1};
    int node = c->node[c->rank], size_class = espi_size_class(bytes);
    char *text = NULL;
    size_t length;
    for (int i = 0; i < 3 && !n->head.length; i++) {
        int k = size_class + aside[i];
        if (k >= 0 && k < ESPI_CLASSES &&
            espi_advice_read(espi_job.settings.advice, node, k, &c->seen[k], &text,
                             &length))
            take_text(n, c, text, length);
    }
    while (!n->head.length && espi_relay_plan(&text, &length))
        take_text(n, c, text, length);
    n->have = 1;
}

static void keep_plan(struct espi_comm *c, struct esp_plan *plan)
{
    int k = espi_size_class((uint64_t)plan->size_bytes), at = 0;
    while (at < c->n_advised &&
           (c->advised[at].root != plan->root || c->advised[at].size_class != k))
        at++;
    if (at == ESPI_ADVISED) { /* the oldest makes room */
        esp_plan_free(c->advised[0].plan);
        memmove(c->advised, c->advised + 1, (ESPI_ADVISED - 1) * sizeof *c->advised);
        at = --c->n_advised;
    }
    if (at == c->n_advised)
        c->n_advised++;
    else
        esp_plan_free(c->advised[at].plan);
    c->advised[at] = (struct espi_advised){plan->root, k, plan};
}

int espi_piggyback_adopt(const struct espi_piggyback *n, struct espi_comm *c)
{
    struct esp_plan *plan = NULL;
    if (!n->have || n->head.epoch == c->epoch)
        return MPI_SUCCESS;
    c->epoch = n->head.epoch;
    esp_status st = read_plan(n->text, n->head.length, &plan);
    if (st)
        return st == ESP_ENOMEM ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    keep_plan(c, plan);
    c->news = plan; /* this call still has its entry */
    espi_say(ESPI_LOG_INFO, "advice %llu: %s for broadcasts of up to 2^%d bytes",
             (unsigned long long)c->epoch, plan->algo,
             espi_size_class((uint64_t)plan->size_bytes));
    return MPI_SUCCESS;
}

const struct esp_plan *espi_advised_plan(const struct espi_comm *c, int root,
                                         int size_class, int apart)
{
    const struct espi_advised *best = NULL;
    for (int i = 0; i < c->n_advised; i++) {
        const struct espi_advised *a = &c->advised[i];
        int far = abs(a->size_class - size_class);
        if (a->root == c->node[root] && far <= apart &&
            (!best || far < abs(best->size_class - size_class)))
            best = a;
    }
    return best ? best->plan : NULL;
}

/* ---- reports ---- */

/* Who sends to this rank, by several trees the first; -1: nobody. */
static int parent_of(const struct espi_program *prog, int rank)
{
    int parent = -1, stream = prog->n_streams;
    for (int i = prog->recv_start[rank]; i < prog->recv_start[rank + 1]; i++)
        if (prog->recvs[i].stream < stream) {
            stream = prog->recvs[i].stream;
            parent = prog->streams[stream].from;
        }
    return parent;
}

/* Ranks on the same machine are no business of the network. */
static void tell_peers(const struct espi_piggyback *n, const struct espi_comm *c,
                       struct espi_report *r)
{
    for (int i = 0; i < n->n_peers; i++) {
        const struct espi_piggyback_peer *p = &n->peer[i];
        double seconds = p->sends ? p->under_way_s : p->last_s - p->first_s;
        if (p->slices > 0 && c->node[p->rank] != r->node)
            espi_report_add(r, &(struct espi_report_way){.peer = c->node[p->rank],
                                                         .kind = p->sends ? ESPI_WAY_TO
                                                                          : ESPI_WAY_FROM,
                                                         .slices = p->slices,
                                                         .seconds = (float)seconds});
    }
}

/* By which ranks the trees of a plan of several came. */
static void tell_trees(const struct espi_program *prog, const struct espi_comm *c,
                       struct espi_report *r)
{
    int end = prog->recv_start[c->rank + 1];
    for (int t = 0; t < prog->n_trees && prog->n_trees > 1; t++) {
        int64_t slices = 0;
        int from = -1;
        for (int i = prog->recv_start[c->rank]; i < end; i++) {
            const struct espi_stream *s = &prog->streams[prog->recvs[i].stream];
            if (s->tree != t)
                continue;
            from = c->node[s->from];
            slices += espi_slices_of_slot(prog, prog->recvs[i].slot);
        }
        if (slices > 0 && from != r->node)
            espi_report_add(r, &(struct espi_report_way){.peer = from,
                                                         .kind = ESPI_WAY_TREE,
                                                         .tree = (uint16_t)t,
                                                         .slices = (uint32_t)slices});
    }
}

static int count_machines(const struct espi_comm *c)
{
    int machines = 0;
    for (int i = 0; i < c->size; i++)
        machines += c->rank_platform.leader[i] == i;
    return machines;
}

void espi_piggyback_report(const struct espi_piggyback *n, const struct espi_call *call)
{
    struct espi_comm *c = call->c;
    const struct espi_program *prog = &call->entry->prog;
    int parent = parent_of(prog, c->rank);
    c->calls++;
    int wanted = espi_relay_affords(call) || c->rank == call->root;
    if (c->rank_platform.leader[c->rank] != c->rank || !wanted)
        return;
    struct espi_report *r = ESPI_ARENA_ZNEW(n->arena, struct espi_report, 1);
    if (!r)
        return; /* it is not told */
    *r = (struct espi_report){.magic = ESPI_REPORT_MAGIC,
                              .version = ESPI_REPORT_VERSION,
                              .node = c->node[c->rank],
                              .root = c->node[call->root],
                              .parent = parent < 0 ? -1 : c->node[parent],
                              .n = count_machines(c),
                              .call = c->calls,
                              .bytes = call->bytes,
                              .slices = (double)prog->n_slices,
                              .receive_s = n->last_s - n->first_s,
                              .total_s = espi_now_s() - n->start_s,
                              .at_s = espi_now_s(),
                              .window = n->window};
    tell_peers(n, c, r);
    tell_trees(prog, c, r);
    espi_relay_news(r, espi_report_bytes(r));
}

void espi_piggyback_outcome(const struct espi_call *call)
{
    static double told_s;
    static uint64_t skipped;
    if (!espi_job.settings.advice[0] || !call->decided || call->rank != call->root)
        return;
    struct espi_outcome o = {.magic = ESPI_OUTCOME_MAGIC,
                             .version = ESPI_OUTCOME_VERSION,
                             .op = call->op,
                             .root = call->c->node ? call->c->node[call->root] : -1,
                             .ranks = call->size,
                             .ours = call->entry != NULL,
                             .bytes = call->bytes,
                             .at_s = espi_now_s(),
                             .ours_s = call->ours_s,
                             .native_s = call->native_s};
    o.total_s = o.at_s - call->start_s;
    if (o.ours && espi_piggyback_wanted(call))
        o.call = call->c->calls;
    if (o.ours)
        snprintf(o.algo, sizeof o.algo, "%s", call->entry->choice.plan->algo);
    pthread_mutex_lock(&lock);
    if (o.at_s - told_s >= ESPI_NEWS_GAP_S || o.call) {
        o.skipped = skipped;
        skipped = 0;
        told_s = o.at_s;
        espi_relay_news(&o, sizeof o);
    } else {
        skipped++;
    }
    pthread_mutex_unlock(&lock);
}
