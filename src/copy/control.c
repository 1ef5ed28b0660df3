#include "copy/control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

enum {
    HEAD_BYTES = 5,         /* code: length and type */
    READ_BYTES = 64 * 1024, /* derived: what a pipe holds */
};

static void make_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void espi_control_open(struct espi_control *c, int in, int out)
{
    *c = (struct espi_control){.in = in, .out = out};
    make_nonblocking(in);
    make_nonblocking(out);
}

void espi_control_close(struct espi_control *c)
{
    if (c->in >= 0)
        close(c->in);
    if (c->out >= 0 && c->out != c->in)
        close(c->out);
    c->in = c->out = -1;
    espi_free(c->got);
    c->got = NULL;
    c->n_got = c->room = c->taken = 0;
    espi_wire_done(&c->waiting);
    c->written = 0;
}

int espi_control_flush(struct espi_control *c)
{
    while (c->out >= 0 && espi_control_has_waiting(c)) {
        ssize_t n =
            write(c->out, c->waiting.at + c->written, c->waiting.used - c->written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (n < 0)
            return -1;
        c->written += (size_t)n;
    }
    if (c->written == c->waiting.used)
        c->written = c->waiting.used = 0;
    return c->out >= 0 ? 0 : -1;
}

void espi_control_forget(struct espi_control *c)
{
    c->written = c->waiting.used = 0;
}

int espi_control_send(struct espi_control *c, enum espi_control_type type,
                      const struct espi_wire_out *body)
{
    if (c->out < 0 || (body && (body->failed || body->used > ESPI_CONTROL_MAX)))
        return -1;
    espi_put_32(&c->waiting, body ? (uint32_t)body->used : 0);
    espi_put_8(&c->waiting, type);
    if (body)
        espi_put_raw(&c->waiting, body->at, body->used);
    return c->waiting.failed ? -1 : espi_control_flush(c);
}

/* Bytes that were taken make room. */
static void drop_taken(struct espi_control *c)
{
    if (c->taken == 0)
        return;
    memmove(c->got, c->got + c->taken, c->n_got - c->taken);
    c->n_got -= c->taken;
    c->taken = 0;
}

int espi_control_read(struct espi_control *c)
{
    if (c->in < 0)
        return -1;
    drop_taken(c);
    for (;;) {
        void *grown = c->got;
        if (c->n_got > (size_t)ESPI_CONTROL_MAX + HEAD_BYTES ||
            espi_grow(&grown, &c->room, c->n_got + READ_BYTES, 1))
            return -1;
        c->got = grown;
        ssize_t n = read(c->in, c->got + c->n_got, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (n <= 0)
            return -1;
        c->n_got += (size_t)n;
    }
}

int espi_control_next(struct espi_control *c, int *type, struct espi_wire_in *body)
{
    size_t left = c->n_got - c->taken;
    if (left < HEAD_BYTES)
        return 0;
    struct espi_wire_in head = espi_wire_in(c->got + c->taken, HEAD_BYTES);
    size_t bytes = espi_take_32(&head);
    if (bytes > ESPI_CONTROL_MAX)
        return -1;
    if (left < HEAD_BYTES + bytes)
        return 0;
    *type = (int)espi_take_8(&head);
    *body = espi_wire_in(c->got + c->taken + HEAD_BYTES, bytes);
    c->taken += HEAD_BYTES + bytes;
    return 1;
}
