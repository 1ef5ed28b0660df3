/* What travels with a broadcast beside its data, and how plans change.
 *
 * The first message of every stream begins with a head: the number of the plans in force
 * and, when the root has found a new plan of the advisor's, its text. No message is added
 * for it. Whoever has got its data has got the head with them, and passes it on with its
 * own first messages, so that at the end of the call every rank of the communicator has
 * the same text. From the next call on all of them plan by it: they change at the same
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
    int streams = call->entry->prog.n_streams;
    *n = (struct espi_piggyback){.arena = arena,
                                 .head = {PIGGYBACK_MAGIC, 0, call->c->epoch},
                                 .start_s = espi_now_s()};
    n->in = ESPI_ARENA_NEW(arena, struct espi_piggyback_in, streams + 1);
    n->begun = ESPI_ARENA_NEW(arena, struct espi_piggyback_way, 2 * (size_t)streams + 2);
    return n->in && n->begun ? 0 : -1;
}

/* Is this the first message on its way? */
static int is_first(struct espi_piggyback *n, int sends, int peer, int channel)
{
    for (int i = 0; i < n->n_begun; i++)
        if (n->begun[i].sends == sends && n->begun[i].peer == peer &&
            n->begun[i].channel == channel)
            return 0;
    n->begun[n->n_begun++] =
        (struct espi_piggyback_way){.sends = sends, .peer = peer, .channel = channel};
    return 1;
}

const void *espi_piggyback_send(struct espi_piggyback *n, int peer, int channel,
                                const void *from, size_t *bytes)
{
    if (!is_first(n, 1, peer, channel))
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
    *which = -1;
    if (!is_first(n, 0, peer, channel))
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
    for (int i = 0; i < n->n_begun; i++) {
        struct espi_piggyback_way *w = &n->begun[i];
        if (!w->sends || w->peer != peer || w->channel != channel)
            continue;
        if (w->open++ == 0)
            w->since_s = espi_now_s();
        return i;
    }
    return -1;
}

void espi_piggyback_sent(struct espi_piggyback *n, int way)
{
    struct espi_piggyback_way *w = &n->begun[way];
    if (--w->open == 0)
        w->under_way_s += espi_now_s() - w->since_s;
}

void espi_piggyback_clock(struct espi_piggyback *n)
{
    n->last_s = espi_now_s();
    if (!(n->first_s > 0))
        n->first_s = n->last_s;
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
                                         int size_class)
{
    const struct espi_advised *best = NULL;
    for (int i = 0; i < c->n_advised; i++) {
        const struct espi_advised *a = &c->advised[i];
        int far = abs(a->size_class - size_class);
        if (a->root == c->node[root] && far <= ESPI_NEAR_CLASSES &&
            (!best || far < abs(best->size_class - size_class)))
            best = a;
    }
    return best ? best->plan : NULL;
}

/* ---- reports ---- */

/* Who sends to this rank; -1: nobody, -2: several. */
static int parent_of(const struct espi_program *prog, int rank)
{
    int parent = -1, stream = -1;
    for (int i = prog->recv_start[rank]; i < prog->recv_start[rank + 1]; i++) {
        if (stream >= 0 && prog->recvs[i].stream != stream)
            return -2;
        stream = prog->recvs[i].stream;
        parent = prog->streams[stream].from;
    }
    return parent;
}

/* The children that messages were longest under way to. */
static void tell_children(const struct espi_piggyback *n, const struct espi_comm *c,
                          struct espi_report *r)
{
    int count = 0;
    for (int i = 0; i < ESPI_REPORT_CHILDREN; i++)
        r->child[i] = -1;
    for (int i = 0; i < n->n_begun; i++) {
        const struct espi_piggyback_way *w = &n->begun[i];
        int at = count;
        if (!w->sends ||
            (at == ESPI_REPORT_CHILDREN && w->under_way_s <= r->child_s[at - 1]))
            continue;
        if (at == ESPI_REPORT_CHILDREN)
            at--;
        else
            count++;
        for (; at > 0 && r->child_s[at - 1] < w->under_way_s; at--) {
            r->child[at] = r->child[at - 1];
            r->child_s[at] = r->child_s[at - 1];
        }
        r->child[at] = c->node[w->peer];
        r->child_s[at] = (float)w->under_way_s;
    }
}

void espi_piggyback_report(const struct espi_piggyback *n, const struct espi_call *call)
{
    struct espi_comm *c = call->c;
    const struct espi_program *prog = &call->entry->prog;
    int parent = parent_of(prog, c->rank), machines = 0;
    c->calls++;
    int wanted = espi_relay_affords(call) || c->rank == call->root;
    if (parent == -2 || c->rank_platform.leader[c->rank] != c->rank || !wanted)
        return;
    for (int i = 0; i < c->size; i++)
        machines += c->rank_platform.leader[i] == i;
    struct espi_report report = {.magic = ESPI_REPORT_MAGIC,
                                 .version = ESPI_REPORT_VERSION,
                                 .node = c->node[c->rank],
                                 .root = c->node[call->root],
                                 .parent = parent < 0 ? -1 : c->node[parent],
                                 .n = machines,
                                 .call = c->calls,
                                 .bytes = call->bytes,
                                 .slices = (double)prog->n_slices,
                                 .receive_s = n->last_s - n->first_s,
                                 .total_s = espi_now_s() - n->start_s,
                                 .at_s = espi_now_s()};
    tell_children(n, c, &report);
    espi_relay_news(&report, sizeof report);
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
