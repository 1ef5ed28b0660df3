/* What the executor needs of a network: non-blocking messages between ranks, in order for
 * each (sender, receiver, channel), and a way to wait for some of them. */
#ifndef ESPI_EXEC_TRANSPORT_H
#define ESPI_EXEC_TRANSPORT_H

#include <stddef.h>

/* A message under way; what it means is the transport's business. */
struct espi_request {
    void *handle;
    int number;
};

struct espi_transport {
    void *self;

    /* Start to send or receive. Buffers stay the transport's until the request is done;
     * NULL: it knows where the stream's next slice is. 0, or an error code of the
     * transport's own (not 0). */
    int (*send)(void *self, int peer, int channel, const void *from, size_t bytes,
                struct espi_request *request);
    int (*recv)(void *self, int peer, int channel, void *to, size_t bytes,
                struct espi_request *request);

    /* Waits until at least one of the requests is done (all of them are active), or with
     * block == 0 only looks; done[] gets the indices of those that are, *n_done how
     * many. */
    int (*wait_some)(void *self, struct espi_request *requests, int n, int block,
                     int *done, int *n_done);

    /* ---- only for runs with a policy (exec.h) ---- */

    /* The bytes of a receive that the last wait_some found done: number i of done[]. */
    size_t (*came)(void *self, int i);
    /* Takes a message of that channel, from whomever, if there is one: *peer is its
     * sender, or -1. */
    int (*poll)(void *self, int channel, void *to, size_t bytes, int *peer);
};

/* limit: those look at no more than so many requests at a time. */
enum { ESPI_TRANSPORT_CHUNK = 64 };

#endif
