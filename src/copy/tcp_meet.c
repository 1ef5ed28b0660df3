/* Connections of a copy: how they come about, and who is at their other end. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "copy/tcp_impl.h"
#include "copy/tuning.h"

static const uint32_t tcp_magic = 0x45534350; /* code: "ESCP" */

/* ---- sockets ---- */

int espi_listener_open(struct espi_listener *l)
{
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6};
    struct sockaddr_in any4 = {.sin_family = AF_INET};
    union {
        struct sockaddr any;
        struct sockaddr_in6 six;
        struct sockaddr_in four;
    } got = {.six = {.sin6_family = AF_UNSPEC}};
    socklen_t length = sizeof got;
    int off = 0, flags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    l->fd = socket(AF_INET6, flags, 0);
    if (l->fd >= 0 && (setsockopt(l->fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) ||
                       bind(l->fd, (struct sockaddr *)&any6, sizeof any6))) {
        close(l->fd);
        l->fd = -1;
    }
    if (l->fd < 0) {
        l->fd = socket(AF_INET, flags, 0);
        if (l->fd >= 0 && bind(l->fd, (struct sockaddr *)&any4, sizeof any4)) {
            espi_listener_close(l);
            return -1;
        }
    }
    if (l->fd < 0 || listen(l->fd, SOMAXCONN) || getsockname(l->fd, &got.any, &length)) {
        espi_listener_close(l);
        return -1;
    }
    l->port =
        ntohs(got.any.sa_family == AF_INET6 ? got.six.sin6_port : got.four.sin_port);
    return 0;
}

void espi_listener_close(struct espi_listener *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

int espi_tcp_watch(const struct espi_tcp *t, int fd, int number)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = number};
    if (number == ESPI_LISTENER_EVENT)
        e.events = EPOLLIN;
    return epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e);
}

/* What waits in the kernel must not outrun what the network takes, or streams would no
 * longer get their shares. */
static void tune_socket(int fd)
{
    int on = 1, unsent = ESPI_COPY_UNSENT_BYTES;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
}

void espi_tcp_break(struct espi_tcp *t, struct tcp_end *e, const char *fmt, ...)
{
    va_list ap;
    e->state = END_BROKEN;
    if (t->broken >= 0)
        return;
    t->broken = e->stream;
    va_start(ap, fmt);
    vsnprintf(t->why, sizeof t->why, fmt, ap);
    va_end(ap);
}

static void break_unreached(struct espi_tcp *t, struct tcp_end *e, const char *why)
{
    const struct espi_copy_peer *peer = &t->part->peer[e->stream];
    espi_tcp_break(t, e, "no connection to %s, port %u: %s", peer->address,
                   (unsigned)peer->port, why);
}

void espi_tcp_connect(struct espi_tcp *t, struct tcp_end *e)
{
    char port[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    const struct espi_copy_peer *peer = &t->part->peer[e->stream];
    snprintf(port, sizeof port, "%u", (unsigned)peer->port);
    int code = getaddrinfo(peer->address, port, &hints, &found), fd = -1;
    if (code) {
        espi_tcp_break(t, e,
                       "no connection to %s: %s (lists of hosts may have addresses "
                       "beside names)",
                       peer->address, gai_strerror(code));
        return;
    }
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0)
            continue;
        tune_socket(fd);
        if (connect(fd, a->ai_addr, a->ai_addrlen) && errno != EINPROGRESS) {
            int why = errno;
            close(fd);
            errno = why;
            fd = -1;
        }
    }
    int why = errno;
    freeaddrinfo(found);
    e->fd = fd;
    e->state = END_CONNECTING;
    if (fd < 0 || espi_tcp_watch(t, fd, e->stream))
        break_unreached(t, e, strerror(fd < 0 ? why : errno));
}

/* ---- getting to know one another ---- */

static void put_preamble(unsigned char out[ESPI_PREAMBLE_BYTES], uint32_t run,
                         uint32_t stream)
{
    uint32_t words[3] = {htonl(tcp_magic), htonl(run), htonl(stream)};
    memcpy(out, words, ESPI_PREAMBLE_BYTES);
}

void espi_tcp_open_end(struct espi_tcp *t, struct tcp_end *e)
{
    unsigned char words[ESPI_PREAMBLE_BYTES];
    int code = 0;
    socklen_t length = sizeof code;
    const struct espi_copy_peer *peer = &t->part->peer[e->stream];
    if (e->state == END_CONNECTING) {
        if (getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &code, &length) || code) {
            break_unreached(t, e, strerror(code ? code : errno));
            return;
        }
        e->state = END_GREETING;
    }
    put_preamble(words, t->part->run, peer->number);
    while (e->state == END_GREETING) {
        ssize_t n = send(e->fd, words + e->greeted, ESPI_PREAMBLE_BYTES - e->greeted,
                         MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOTCONN)) {
            e->may_go = 0;
            return;
        }
        if (n < 0) {
            break_unreached(t, e, strerror(errno));
            return;
        }
        e->greeted += (size_t)n;
        if (e->greeted < ESPI_PREAMBLE_BYTES)
            continue;
        e->secure = espi_secure_create(e->fd, 0, t->encrypted, peer->key);
        e->state = END_SHAKING;
        if (!e->secure)
            espi_tcp_break(t, e, "no memory for a connection");
    }
    if (e->state != END_SHAKING)
        return;
    int known = espi_secure_shake(e->secure);
    if (known < 0)
        break_unreached(t, e, "whoever answered there does not know the key");
    else if (known)
        e->state = END_OPEN;
    else
        e->may_go = 0;
}

void espi_tcp_drop_caller(struct tcp_caller *c, int closes)
{
    if (closes) {
        espi_secure_free(c->secure);
        close(c->fd);
    }
    c->secure = NULL;
    c->fd = -1;
}

/* The stream that the caller names, if somebody may call for it; -1. */
static int stream_of_caller(const struct espi_tcp *t, const struct tcp_caller *c)
{
    unsigned char words[ESPI_PREAMBLE_BYTES];
    for (int s = 0; s < t->n_ends; s++) {
        put_preamble(words, t->part->run, t->part->peer[s].number);
        if (!t->part->peer[s].is_out && t->end[s].state == END_NEW &&
            memcmp(words, c->said, ESPI_PREAMBLE_BYTES) == 0)
            return s;
    }
    return -1;
}

/* 1: known; 0: not yet; -1: it is nobody. */
static int hear_caller(struct espi_tcp *t, struct tcp_caller *c)
{
    while (c->heard < ESPI_PREAMBLE_BYTES) {
        ssize_t n = recv(c->fd, c->said + c->heard, ESPI_PREAMBLE_BYTES - c->heard, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (n <= 0)
            return -1;
        c->heard += (size_t)n;
    }
    if (!c->secure) {
        c->end = stream_of_caller(t, c);
        if (c->end < 0)
            return -1;
        c->secure = espi_secure_create(c->fd, 1, t->encrypted, t->part->peer[c->end].key);
        if (!c->secure)
            return -1;
    }
    return espi_secure_shake(c->secure);
}

/* Once it has shown that it knows the key, the connection is the stream's. */
void espi_tcp_serve_caller(struct espi_tcp *t, int number)
{
    struct tcp_caller *c = &t->caller[number];
    if (c->fd < 0)
        return;
    int known = hear_caller(t, c);
    if (known == 0)
        return;
    struct tcp_end *e = known > 0 ? &t->end[c->end] : NULL;
    if (!e || e->state != END_NEW) {
        espi_tcp_drop_caller(c, 1);
        return;
    }
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET,
                                .data.fd = e->stream};
    e->fd = c->fd;
    e->secure = c->secure;
    e->state = END_OPEN;
    e->may_go = 1;
    espi_tcp_drop_caller(c, 0);
    if (epoll_ctl(t->epoll, EPOLL_CTL_MOD, e->fd, &event))
        espi_tcp_break(t, e, "a connection cannot be watched");
}

/* A free place, perhaps of somebody who has said nothing for long; -1: none. */
static int find_caller_place(struct espi_tcp *t)
{
    double now_s = espi_now_s();
    for (int i = 0; i < ESPI_CALLERS_MAX; i++)
        if (t->caller[i].fd < 0)
            return i;
    for (int i = 0; i < ESPI_CALLERS_MAX; i++)
        if (now_s - t->caller[i].since_s > ESPI_COPY_CALLER_S) {
            espi_tcp_drop_caller(&t->caller[i], 1);
            return i;
        }
    return -1;
}

void espi_tcp_accept(struct espi_tcp *t)
{
    for (;;) {
        int fd = accept4(t->listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        int place = find_caller_place(t);
        if (place < 0 || espi_tcp_watch(t, fd, ESPI_CALLER_EVENT + place)) {
            close(fd);
            continue;
        }
        tune_socket(fd);
        t->caller[place] =
            (struct tcp_caller){.fd = fd, .end = -1, .since_s = espi_now_s()};
        espi_tcp_serve_caller(t, place);
    }
}
