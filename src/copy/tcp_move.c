/* Bytes of messages on their way between a connection and where they belong: memory of
 * others, or the slices on disk. Of long stretches of files the kernel moves them, from
 * the page cache to the socket and from the socket to the file; all else goes through a
 * buffer of the connection, which is so small that it stays in the processor's cache. */
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "copy/tcp_impl.h"
#include "copy/tuning.h"

static int get_buffer(struct tcp_end *e)
{
    if (!e->buffer)
        e->buffer = espi_malloc(ESPI_COPY_WORK_BYTES);
    return e->buffer ? 0 : -1;
}

static size_t least_of(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

/* Where the message goes on, if the kernel is to move it: 1; 0: it is not; -1: the disk
 * failed. */
static int find_stretch(struct espi_tcp *t, const struct tcp_message *m, int keeps,
                        struct espi_copy_place *place)
{
    if (t->encrypted)
        return 0;
    if (espi_slices_find(t->slices, m->slice, keeps, m->moved, place))
        return -1;
    place->bytes = least_of(place->bytes, m->bytes - m->moved);
    return place->fd >= 0 && place->bytes >= ESPI_COPY_BY_KERNEL_BYTES;
}

/* ---- out ---- */

/* The buffer has the next bytes of the message. */
static int fill_buffer(struct espi_tcp *t, struct tcp_end *e, const struct tcp_message *m)
{
    size_t bytes = least_of(m->bytes - m->moved, ESPI_COPY_WORK_BYTES);
    if (get_buffer(e) ||
        espi_slices_move(t->slices, m->slice, 0, m->moved, e->buffer, bytes))
        return -1;
    e->buffer_at = 0;
    e->buffered = bytes;
    return 0;
}

long espi_tcp_send_some(struct espi_tcp *t, struct tcp_end *e,
                        const struct tcp_message *m)
{
    struct espi_copy_place place;
    if (m->at)
        return espi_secure_write(e->secure, m->at + m->moved, m->bytes - m->moved);
    if (e->buffered == 0) {
        int by_kernel = find_stretch(t, m, 0, &place);
        long n = by_kernel > 0 ? espi_secure_send_file(e->secure, place.fd, place.at,
                                                       (size_t)place.bytes)
                               : ESPI_SECURE_CANNOT;
        if (by_kernel < 0)
            return -1;
        if (n != ESPI_SECURE_CANNOT)
            return n;
        if (fill_buffer(t, e, m))
            return -1;
    }
    long n = espi_secure_write(e->secure, e->buffer + e->buffer_at, e->buffered);
    if (n > 0) {
        e->buffer_at += (size_t)n;
        e->buffered -= (size_t)n;
    }
    return n;
}

/* ---- in ---- */

static int open_pipe(struct espi_tcp *t)
{
    if (t->pipe[0] >= 0)
        return 0;
    if (pipe2(t->pipe, O_CLOEXEC | O_NONBLOCK)) {
        t->pipe[0] = t->pipe[1] = -1;
        return -1;
    }
    fcntl(t->pipe[1], F_SETPIPE_SZ, ESPI_COPY_TURN_BYTES);
    return 0;
}

/* What the kernel does not move from the pipe to the file is copied there. */
static int empty_pipe(struct espi_tcp *t, struct tcp_end *e, const struct tcp_message *m,
                      const struct espi_copy_place *place, size_t bytes)
{
    off_t at = (off_t)place->at;
    size_t moved = 0;
    while (moved < bytes) {
        ssize_t n =
            splice(t->pipe[0], NULL, place->fd, &at, bytes - moved, SPLICE_F_MOVE);
        if (n <= 0)
            break;
        moved += (size_t)n;
    }
    while (moved < bytes) {
        ssize_t n = get_buffer(e) ? -1
                                  : read(t->pipe[0], e->buffer,
                                         least_of(bytes - moved, ESPI_COPY_WORK_BYTES));
        if (n <= 0 || espi_slices_move(t->slices, m->slice, 1, m->moved + moved,
                                       e->buffer, (size_t)n))
            return -1;
        moved += (size_t)n;
    }
    return 0;
}

static long splice_in(struct espi_tcp *t, struct tcp_end *e, const struct tcp_message *m)
{
    struct espi_copy_place place;
    if (e->buffered > 0 || espi_set_has(t->slices->landed, m->slice))
        return ESPI_SECURE_CANNOT;
    int by_kernel = find_stretch(t, m, 1, &place);
    if (by_kernel < 0)
        return -1;
    if (by_kernel == 0 || open_pipe(t))
        return ESPI_SECURE_CANNOT;
    long n = espi_secure_read_pipe(e->secure, t->pipe[1], (size_t)place.bytes);
    return n > 0 && empty_pipe(t, e, m, &place, (size_t)n) ? -1 : n;
}

/* A slice that has come from elsewhere meanwhile is not written once more. */
static int empty_buffer(struct espi_tcp *t, struct tcp_end *e,
                        const struct tcp_message *m, size_t moved)
{
    size_t bytes = e->buffered;
    e->buffered = 0;
    return espi_set_has(t->slices->landed, m->slice)
               ? 0
               : espi_slices_move(t->slices, m->slice, 1, moved - bytes, e->buffer,
                                  bytes);
}

long espi_tcp_receive_some(struct espi_tcp *t, struct tcp_end *e,
                           const struct tcp_message *m)
{
    if (m->at)
        return espi_secure_read(e->secure, m->at + m->moved, m->bytes - m->moved);
    long n = splice_in(t, e, m);
    if (n == ESPI_SECURE_CANNOT) {
        if (get_buffer(e))
            return -1;
        n = espi_secure_read(
            e->secure, e->buffer + e->buffered,
            least_of(ESPI_COPY_WORK_BYTES - e->buffered, m->bytes - m->moved));
        e->buffered += n > 0 ? (size_t)n : 0;
    }
    if (n <= 0)
        return n;
    size_t moved = m->moved + (size_t)n;
    if ((e->buffered == ESPI_COPY_WORK_BYTES || moved == m->bytes) &&
        empty_buffer(t, e, m, moved))
        return -1;
    if (moved == m->bytes)
        espi_slices_land(t->slices, m->slice);
    return n;
}
