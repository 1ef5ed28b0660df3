/* The inside of the transport of a copy: shared by what finds out who is at the other end
 * of a connection, and what moves messages over it. */
#ifndef ESPI_COPY_TCP_IMPL_H
#define ESPI_COPY_TCP_IMPL_H

#include "copy/secure.h"
#include "copy/tcp.h"

enum {
    ESPI_PREAMBLE_BYTES = 12,    /* derived: magic, run, stream */
    ESPI_CALLERS_MAX = 256,      /* limit: connections whose other end is not known yet */
    ESPI_LISTENER_EVENT = -1,    /* code */
    ESPI_CALLER_EVENT = 1 << 24, /* code: callers' events, from here on */
};

enum end_state {
    END_NEW,
    END_CONNECTING,
    END_GREETING,
    END_SHAKING,
    END_OPEN,
    END_BROKEN
};

struct tcp_message {
    char *at; /* NULL: the slice is where all are */
    uint32_t slice;
    size_t bytes, moved;
    int is_here; /* the receiver has it already: nothing travels */
};

/* Our end of a stream. */
struct tcp_end {
    int stream, fd;
    enum end_state state;
    struct espi_secure *secure;
    size_t greeted;
    int may_go; /* since the last time that it would have had to wait, something came */
    /* messages asked for, of which the first `finished` are done */
    struct tcp_message *ring;
    int64_t asked, finished, ring_size;
    /* bytes of the message of now that came but are not in their place, or that are to
     * be sent; not of those in memory of others */
    char *buffer;
    size_t buffer_at, buffered;
    int wakes_at; /* bytes that have to be there before the kernel tells of them */
    /* where its next message stands in the steps of the stream */
    int64_t round;
    int at;
    int queued; /* bytes in the kernel that the other end had not got, at the last look */
    double moved_s; /* when bytes moved last, or there was nothing to move */
};

/* Somebody who connected, and whose stream is to be found out. */
struct tcp_caller {
    int fd; /* -1: free */
    unsigned char said[ESPI_PREAMBLE_BYTES];
    size_t heard;
    struct espi_secure *secure;
    int end;
    double since_s;
};

struct espi_tcp {
    struct espi_transport transport;
    const struct espi_copy_part *part;
    struct espi_copy_slices *slices;
    const struct espi_listener *listener;
    int encrypted, epoll, n_ends, broken;
    int pipe[2]; /* from sockets to files, empty between uses; -1: not there yet */
    char why[ESPI_TCP_WHY]; /* it broke */
    struct tcp_end *end;    /* by stream */
    struct tcp_caller caller[ESPI_CALLERS_MAX];
    uint64_t moved;
    double until_s;  /* no message is looked for after that */
    double looked_s; /* when it last looked for streams that are stuck */
};

/* The number comes with the events of the descriptor; -1: it cannot be watched. */
int espi_tcp_watch(const struct espi_tcp *t, int fd, int number);
void espi_tcp_break(struct espi_tcp *t, struct tcp_end *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Begins to connect to the end's receiver; it is broken where that cannot be found. */
void espi_tcp_connect(struct espi_tcp *t, struct tcp_end *e);
/* As far as it goes without waiting; an end that is broken says so. */
void espi_tcp_open_end(struct espi_tcp *t, struct tcp_end *e);

/* Moves some of a message: bytes, 0: none now, -1: the connection is gone, or the disk
 * failed (slices). What has come all is here. */
long espi_tcp_send_some(struct espi_tcp *t, struct tcp_end *e,
                        const struct tcp_message *m);
long espi_tcp_receive_some(struct espi_tcp *t, struct tcp_end *e,
                           const struct tcp_message *m);

/* Those who connect to us. */
void espi_tcp_accept(struct espi_tcp *t);
void espi_tcp_serve_caller(struct espi_tcp *t, int number);
void espi_tcp_drop_caller(struct tcp_caller *c, int closes);

#endif
