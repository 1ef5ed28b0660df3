/* What the kernel moves by itself between files and connections, and what goes through a
 * buffer: the bytes are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <fcntl.h>

#include "base/err.h"
#include "base/rng.h"
#include "copy/tcp.h"
#include "copy/tree.h"
#include "copy/tuning.h"
#include "support/seed.h"

enum { BLOCKS = 5, TRIES = 100000, SHORT = 1000 };

/* A disk with one file, of which the last bytes are too few for the kernel. */
struct file_disk {
    int fd;
    uint64_t copied; /* bytes that went through memory */
};

static esp_status move_bytes_of(void *self, const struct espi_copy_message *m, int keeps,
                                uint64_t at, void *data, size_t bytes,
                                struct esp_err *err)
{
    struct file_disk *d = self;
    (void)m;
    d->copied += bytes;
    return espi_move_at(d->fd, keeps, data, bytes, at)
               ? espi_err(err, ESP_EIO, "a broken disk")
               : ESP_OK;
}

static esp_status find_bytes_of(void *self, const struct espi_copy_message *m, int keeps,
                                uint64_t at, struct espi_copy_place *place,
                                struct esp_err *err)
{
    const struct file_disk *d = self;
    (void)keeps, (void)err;
    *place = (struct espi_copy_place){d->fd, at, m->size - at};
    return ESP_OK;
}

static struct espi_step steps[1];
static int start[] = {0, 1};
static uint32_t blocks[BLOCKS] = {0, 1, 2, 3, 4};

struct side {
    struct file_disk disk;
    struct espi_copy_peer peer;
    struct espi_copy_part part;
    struct espi_copy_slices slices;
    struct espi_arena arena;
    struct espi_tcp *tcp;
    struct espi_request request[BLOCKS];
    int n_done;
};

static void make_side(struct side *s, int is_out, int encrypted, uint64_t size,
                      uint32_t block_bytes, const struct espi_listener *l)
{
    int fd = s->disk.fd;
    *s = (struct side){.disk = {.fd = fd},
                       .peer = {.is_out = is_out, .port = l->port, .key = {3}}};
    strcpy(s->peer.address, "127.0.0.1");
    s->part = (struct espi_copy_part){
        .message = espi_copy_message(ESPI_MESSAGE_DATA, 0, size, block_bytes),
        .n_slices = BLOCKS,
        .block = blocks,
        .prog = {.n_streams = 2,
                 .n_trees = 1,
                 .n_slices = BLOCKS,
                 .slots = 1,
                 .rounds = BLOCKS,
                 .sends = steps,
                 .recvs = steps,
                 .send_start = start,
                 .recv_start = start},
        .peer = &s->peer};
    struct espi_copy_disk disk = {&s->disk, move_bytes_of, find_bytes_of};
    espi_arena_init(&s->arena);
    assert_int_equal(espi_slices_init(&s->slices, &s->part, &disk, is_out, &s->arena), 0);
    s->tcp = espi_tcp_create(&s->slices, encrypted, is_out ? NULL : l);
    assert_non_null(s->tcp);
    assert_int_equal(espi_tcp_start(s->tcp), 0);
    const struct espi_transport *t = espi_tcp_transport(s->tcp);
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(is_out ? t->send(t->self, 0, 0, NULL, 0, &s->request[i])
                                : t->recv(t->self, 0, 0, NULL, 0, &s->request[i]),
                         0);
}

static void step_side(struct side *s)
{
    const struct espi_transport *t = espi_tcp_transport(s->tcp);
    int done[BLOCKS];
    espi_tcp_turn(s->tcp, 1);
    assert_int_equal(t->wait_some(t->self, s->request, BLOCKS, 0, done, &s->n_done), 0);
}

static void free_side(struct side *s)
{
    espi_tcp_free(s->tcp);
    espi_arena_done(&s->arena);
}

static int make_file(void)
{
    char name[] = "/tmp/espalier-move-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    unlink(name);
    return fd;
}

/* Moves a file of that size; the sides tell how much of it went through memory. */
static void move_file(struct side *a, struct side *b, uint64_t size, uint32_t block_bytes,
                      int encrypted)
{
    struct espi_listener l;
    assert_int_equal(espi_listener_open(&l), 0);
    make_side(b, 0, encrypted, size, block_bytes, &l);
    make_side(a, 1, encrypted, size, block_bytes, &l);
    for (int i = 0; i < TRIES && (a->n_done < BLOCKS || b->n_done < BLOCKS); i++) {
        step_side(a);
        step_side(b);
    }
    assert_int_equal(b->n_done, BLOCKS);
    assert_int_equal(b->slices.n_landed, BLOCKS);
    free_side(a);
    free_side(b);
    espi_listener_close(&l);
}

static void check_file(const struct side *b, const char *data, size_t size)
{
    char *got = malloc(size);
    assert_non_null(got);
    assert_int_equal(espi_move_at(b->disk.fd, 0, got, size, 0), 0);
    assert_memory_equal(got, data, size);
    free(got);
}

/* encrypted, and a file to which the kernel does not move from a pipe */
static void try_ways(int encrypted, int appends)
{
    const uint32_t block = 3 * ESPI_COPY_BY_KERNEL_BYTES + 77;
    const size_t size = (BLOCKS - 1) * (size_t)block + SHORT;
    struct espi_rng rng;
    struct side a = {.disk = {.fd = make_file()}}, b = {.disk = {.fd = make_file()}};
    char *data = malloc(size);
    assert_non_null(data);
    espi_rng_seed(&rng, test_seed(5));
    for (size_t i = 0; i < size; i++)
        data[i] = (char)espi_rng_next(&rng);
    assert_int_equal(espi_move_at(a.disk.fd, 1, data, size, 0), 0);
    if (appends)
        assert_int_equal(fcntl(b.disk.fd, F_SETFL, O_APPEND), 0);
    move_file(&a, &b, size, block, encrypted);
    check_file(&b, data, size);
    if (encrypted) {
        assert_int_equal(a.disk.copied, size);
        assert_int_equal(b.disk.copied, size);
    } else {
        assert_true(a.disk.copied < BLOCKS * (size_t)ESPI_COPY_BY_KERNEL_BYTES + SHORT);
        assert_true(appends ? b.disk.copied >= size - BLOCKS * ESPI_COPY_BY_KERNEL_BYTES
                            : b.disk.copied < a.disk.copied + size / 2);
    }
    close(a.disk.fd);
    close(b.disk.fd);
    free(data);
}

static void files_go_by_the_kernel(void **state)
{
    (void)state;
    try_ways(0, 0);
}

static void what_the_kernel_cannot_is_copied(void **state)
{
    (void)state;
    try_ways(1, 0);
    try_ways(0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_go_by_the_kernel),
        cmocka_unit_test(what_the_kernel_cannot_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
