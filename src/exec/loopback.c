#include "exec/loopback.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

/* One side of a message that waits for the other. */
struct post {
    struct post *next;          /* that waits for the same receiver */
    struct post *older, *newer; /* of all there are, for those nobody collects */
    int peer, channel;          /* seen from the receiver: peer is the sender */
    int is_send, done;
    const void *from;
    void *to;
    size_t bytes; /* of a receive that is done, those that came */
};

struct endpoint {
    struct espi_loopback *net;
    int rank;
    struct espi_transport transport;
    pthread_cond_t arrived;
    struct post *posts; /* to this rank, oldest first, not matched yet */
    size_t came[ESPI_TRANSPORT_CHUNK];
};

struct espi_loopback {
    pthread_mutex_t lock;
    int n;
    struct endpoint *ends;
    long operations, fail_after;
    struct post *newest;
};

static void keep_post(struct espi_loopback *net, struct post *post)
{
    post->older = net->newest;
    if (post->older)
        post->older->newer = post;
    net->newest = post;
}

static void discard_post(struct espi_loopback *net, struct post *post)
{
    if (post->older)
        post->older->newer = post->newer;
    if (post->newer)
        post->newer->older = post->older;
    else
        net->newest = post->older;
    espi_free(post);
}

/* Counts an operation; non-zero: it is to fail. Everybody is woken then, so that no rank
 * waits for one that has given up. */
static int must_fail(struct espi_loopback *net)
{
    int fails = net->fail_after > 0 && ++net->operations >= net->fail_after;
    for (int r = 0; fails && r < net->n; r++)
        pthread_cond_broadcast(&net->ends[r].arrived);
    return fails;
}

/* The oldest post of the other side that fits, taken out of the list; or NULL. */
static struct post *take_match(struct endpoint *receiver, int sender, int channel,
                               int is_send)
{
    for (struct post **link = &receiver->posts; *link; link = &(*link)->next) {
        struct post *p = *link;
        if (p->peer == sender && p->channel == channel && p->is_send == is_send) {
            *link = p->next;
            return p;
        }
    }
    return NULL;
}

static void append(struct endpoint *receiver, struct post *post)
{
    struct post **link = &receiver->posts;
    while (*link)
        link = &(*link)->next;
    *link = post;
}

static int post_message(struct endpoint *me, struct endpoint *receiver,
                        struct endpoint *other, struct post wanted,
                        struct espi_request *request)
{
    struct espi_loopback *net = me->net;
    struct post *mine = espi_malloc(sizeof *mine);
    if (!mine)
        return 2;
    *mine = wanted;
    pthread_mutex_lock(&net->lock);
    if (must_fail(net)) {
        pthread_mutex_unlock(&net->lock);
        espi_free(mine);
        return 1;
    }
    keep_post(net, mine);
    struct post *theirs =
        take_match(receiver, wanted.peer, wanted.channel, !wanted.is_send);
    if (theirs) {
        const struct post *s = wanted.is_send ? mine : theirs;
        struct post *r = wanted.is_send ? theirs : mine;
        r->bytes = s->bytes < r->bytes ? s->bytes : r->bytes;
        if (r->bytes)
            memcpy(r->to, s->from, r->bytes);
        mine->done = theirs->done = 1;
        pthread_cond_broadcast(&other->arrived);
    } else {
        append(receiver, mine);
    }
    pthread_mutex_unlock(&net->lock);
    request->handle = mine;
    return 0;
}

static int loopback_send(void *self, int peer, int channel, const void *from,
                         size_t bytes, struct espi_request *request)
{
    struct endpoint *me = self, *to = &me->net->ends[peer];
    struct post post = {
        .peer = me->rank, .channel = channel, .is_send = 1, .from = from, .bytes = bytes};
    return post_message(me, to, to, post, request);
}

static int loopback_recv(void *self, int peer, int channel, void *to, size_t bytes,
                         struct espi_request *request)
{
    struct endpoint *me = self;
    struct post post = {.peer = peer, .channel = channel, .to = to, .bytes = bytes};
    return post_message(me, me, &me->net->ends[peer], post, request);
}

static int collect(struct endpoint *me, struct espi_request *requests, int n, int *done)
{
    int n_done = 0;
    for (int i = 0; i < n; i++) {
        struct post *p = requests[i].handle;
        if (!p->done)
            continue;
        if (n_done < ESPI_TRANSPORT_CHUNK)
            me->came[n_done] = p->bytes;
        discard_post(me->net, p);
        requests[i].handle = NULL;
        done[n_done++] = i;
    }
    return n_done;
}

static int loopback_wait_some(void *self, struct espi_request *requests, int n, int block,
                              int *done, int *n_done)
{
    struct endpoint *me = self;
    struct espi_loopback *net = me->net;
    pthread_mutex_lock(&net->lock);
    int fails = must_fail(net);
    while (!fails && (*n_done = collect(me, requests, n, done)) == 0 && block) {
        pthread_cond_wait(&me->arrived, &net->lock);
        fails = net->fail_after > 0 && net->operations >= net->fail_after;
    }
    pthread_mutex_unlock(&net->lock);
    return fails;
}

static size_t loopback_came(void *self, int i)
{
    const struct endpoint *me = self;
    return me->came[i];
}

/* The oldest message of the channel that nobody waits for. */
static int loopback_poll(void *self, int channel, void *to, size_t bytes, int *peer)
{
    struct endpoint *me = self;
    struct espi_loopback *net = me->net;
    *peer = -1;
    pthread_mutex_lock(&net->lock);
    int fails = must_fail(net);
    struct post **link = &me->posts;
    while (*link && !((*link)->is_send && (*link)->channel == channel))
        link = &(*link)->next;
    if (!fails && *link) {
        struct post *p = *link;
        *link = p->next;
        memcpy(to, p->from, p->bytes < bytes ? p->bytes : bytes);
        p->done = 1;
        *peer = p->peer;
        pthread_cond_broadcast(&net->ends[p->peer].arrived);
    }
    pthread_mutex_unlock(&net->lock);
    return fails;
}

struct espi_loopback *espi_loopback_create(int n)
{
    struct espi_loopback *net = espi_calloc(1, sizeof *net);
    struct endpoint *ends = espi_calloc((size_t)n, sizeof *ends);
    if (!net || !ends) {
        espi_free(net);
        espi_free(ends);
        return NULL;
    }
    pthread_mutex_init(&net->lock, NULL);
    net->n = n;
    net->ends = ends;
    for (int r = 0; r < n; r++) {
        ends[r].net = net;
        ends[r].rank = r;
        ends[r].transport =
            (struct espi_transport){&ends[r],           loopback_send, loopback_recv,
                                    loopback_wait_some, loopback_came, loopback_poll};
        pthread_cond_init(&ends[r].arrived, NULL);
    }
    return net;
}

void espi_loopback_free(struct espi_loopback *net)
{
    if (!net)
        return;
    /* After an error, messages may be left that nobody waits for. */
    while (net->newest)
        discard_post(net, net->newest);
    for (int r = 0; r < net->n; r++)
        pthread_cond_destroy(&net->ends[r].arrived);
    pthread_mutex_destroy(&net->lock);
    espi_free(net->ends);
    espi_free(net);
}

const struct espi_transport *espi_loopback_rank(struct espi_loopback *net, int rank)
{
    return &net->ends[rank].transport;
}

void espi_loopback_fail_after(struct espi_loopback *net, long nth)
{
    net->fail_after = nth;
}

int espi_loopback_is_empty(struct espi_loopback *net)
{
    pthread_mutex_lock(&net->lock);
    int empty = net->newest == NULL;
    pthread_mutex_unlock(&net->lock);
    return empty;
}
