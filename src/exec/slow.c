#include "exec/slow.h"

#include <sched.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "exec/backup_session.h"

/* A message of the outer transport. */
struct held {
    struct held *next;          /* that waits, in the order of sending */
    struct held *older, *newer; /* of all there are, for those nobody collects */
    int started;
    double due_s;
    int peer, channel;
    const void *from;
    size_t bytes;
    struct espi_request inner;
};

struct link {
    double bandwidth_Bps, free_s;
};

struct espi_slow {
    struct espi_transport outer;
    const struct espi_transport *inner;
    struct link *links; /* to each peer */
    struct held *waiting, *newest;
    struct espi_request *requests; /* those that are started, for the inner transport */
    int *place, *done;
    size_t requests_cap, place_cap, done_cap;
};

static struct held *new_held(struct espi_slow *slow)
{
    struct held *h = espi_calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->older = slow->newest;
    if (h->older)
        h->older->newer = h;
    slow->newest = h;
    return h;
}

static void discard_held(struct espi_slow *slow, struct held *h)
{
    if (h->older)
        h->older->newer = h->newer;
    if (h->newer)
        h->newer->older = h->older;
    else
        slow->newest = h->older;
    espi_free(h);
}

static int start_held(struct espi_slow *slow, struct held *h)
{
    const struct espi_transport *t = slow->inner;
    h->started = 1;
    return t->send(t->self, h->peer, h->channel, h->from, h->bytes, &h->inner);
}

/* Due messages of one link are due in order, so that they start in order. */
static int start_due(struct espi_slow *slow, double now_s)
{
    for (struct held **link = &slow->waiting; *link;) {
        struct held *h = *link;
        if (h->due_s > now_s) {
            link = &h->next;
            continue;
        }
        *link = h->next;
        int code = start_held(slow, h);
        if (code)
            return code;
    }
    return 0;
}

static void hold_back(struct espi_slow *slow, struct held *h, struct link *via)
{
    double now_s = espi_now_s();
    struct held **end = &slow->waiting;
    via->free_s = (via->free_s > now_s ? via->free_s : now_s) +
                  (double)h->bytes / via->bandwidth_Bps;
    h->due_s = via->free_s;
    while (*end)
        end = &(*end)->next;
    *end = h;
}

static int slow_send(void *self, int peer, int channel, const void *from, size_t bytes,
                     struct espi_request *request)
{
    struct espi_slow *slow = self;
    struct held *h = new_held(slow);
    int code = 0;
    if (!h)
        return -1;
    h->peer = peer;
    h->channel = channel;
    h->from = from;
    h->bytes = bytes;
    if (slow->links[peer].bandwidth_Bps > 0 && channel != ESPI_CHANNEL_BACKUP_NOTES)
        hold_back(slow, h, &slow->links[peer]);
    else
        code = start_held(slow, h);
    if (code)
        discard_held(slow, h);
    else
        request->handle = h;
    return code;
}

static int slow_recv(void *self, int peer, int channel, void *to, size_t bytes,
                     struct espi_request *request)
{
    struct espi_slow *slow = self;
    const struct espi_transport *t = slow->inner;
    struct held *h = new_held(slow);
    if (!h)
        return -1;
    h->started = 1;
    int code = t->recv(t->self, peer, channel, to, bytes, &h->inner);
    if (code)
        discard_held(slow, h);
    else
        request->handle = h;
    return code;
}

static int reserve(struct espi_slow *slow, size_t n)
{
    return espi_grow((void **)&slow->requests, &slow->requests_cap, n,
                     sizeof *slow->requests) ||
           espi_grow((void **)&slow->place, &slow->place_cap, n, sizeof *slow->place) ||
           espi_grow((void **)&slow->done, &slow->done_cap, n, sizeof *slow->done);
}

/* Looks once. */
static int look_once(struct espi_slow *slow, struct espi_request *requests, int n,
                     int *done, int *n_done)
{
    const struct espi_transport *t = slow->inner;
    int started = 0, code = start_due(slow, espi_now_s());
    *n_done = 0;
    for (int i = 0; i < n; i++) {
        const struct held *h = requests[i].handle;
        if (h->started) {
            slow->requests[started] = h->inner;
            slow->place[started++] = i;
        }
    }
    if (code || started == 0)
        return code;
    code = t->wait_some(t->self, slow->requests, started, 0, slow->done, n_done);
    for (int k = 0; k < *n_done && !code; k++) {
        done[k] = slow->place[slow->done[k]];
        discard_held(slow, requests[done[k]].handle);
        requests[done[k]].handle = NULL;
    }
    return code;
}

static int slow_wait_some(void *self, struct espi_request *requests, int n, int block,
                          int *done, int *n_done)
{
    struct espi_slow *slow = self;
    if (reserve(slow, (size_t)n))
        return -1;
    for (;;) {
        int code = look_once(slow, requests, n, done, n_done);
        if (code || *n_done > 0 || !block)
            return code;
        sched_yield();
    }
}

static size_t slow_came(void *self, int i)
{
    const struct espi_slow *slow = self;
    return slow->inner->came(slow->inner->self, i);
}

static int slow_poll(void *self, int channel, void *to, size_t bytes, int *peer)
{
    struct espi_slow *slow = self;
    int code = start_due(slow, espi_now_s());
    return code ? code : slow->inner->poll(slow->inner->self, channel, to, bytes, peer);
}

struct espi_slow *espi_slow_create(const struct espi_transport *inner, int n)
{
    struct espi_slow *slow = espi_calloc(1, sizeof *slow);
    struct link *links = espi_calloc((size_t)n, sizeof *links);
    if (!slow || !links) {
        espi_free(slow);
        espi_free(links);
        return NULL;
    }
    slow->inner = inner;
    slow->links = links;
    slow->outer = (struct espi_transport){slow,           slow_send, slow_recv,
                                          slow_wait_some, slow_came, slow_poll};
    return slow;
}

void espi_slow_free(struct espi_slow *slow)
{
    if (!slow)
        return;
    while (slow->newest)
        discard_held(slow, slow->newest);
    espi_free(slow->links);
    espi_free(slow->requests);
    espi_free(slow->place);
    espi_free(slow->done);
    espi_free(slow);
}

void espi_slow_link(struct espi_slow *slow, int peer, double bandwidth_Bps)
{
    slow->links[peer].bandwidth_Bps = bandwidth_Bps;
}

const struct espi_transport *espi_slow_transport(struct espi_slow *slow)
{
    return &slow->outer;
}
