/* The parts of a copy: parts of programs that are cut off or changed, connections between
 * those who know a key and those who do not, tags. tests/copy/run copies with all of them
 * together. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include <espalier/algo.h>

#include "base/rng.h"
#include "copy/network.h"
#include "copy/part.h"
#include "copy/secure.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

/* ---- parts of programs ---- */

struct made {
    struct espi_arena arena;
    struct esp_platform *p;
    struct esp_plan *plan;
    struct espi_program prog;
    uint32_t *block;
};

static void make_program(struct made *m, int n_hosts, uint32_t n_blocks)
{
    const char *names[] = {"a", "b", "c", "d", "e", "f"};
    struct esp_request request;
    espi_arena_init(&m->arena);
    assert_int_equal(espi_copy_uniform(names, n_hosts, &m->p, NULL), ESP_OK);
    esp_request_init(&request, 0);
    request.algo = "auto";
    request.size_bytes = 1000.0 * n_blocks;
    request.slice_bytes = ESP_SLICE_AUTO;
    assert_int_equal(esp_plan_make(m->p, &request, &m->plan, NULL), ESP_OK);
    struct espi_compile_options o = {.size_bytes = 1000.0 * n_blocks,
                                     .slice_bytes = 1000};
    assert_int_equal(espi_program_compile(m->p, m->plan, &o, &m->arena, &m->prog, NULL),
                     ESP_OK);
    assert_int_equal(m->prog.n_slices, n_blocks);
    m->block = ESPI_ARENA_NEW(&m->arena, uint32_t, n_blocks);
    for (uint32_t i = 0; i < n_blocks; i++)
        m->block[i] = i + i / 10; /* some are not missing */
}

static void drop_program(struct made *m)
{
    esp_plan_free(m->plan);
    esp_platform_free(m->p);
    espi_arena_done(&m->arena);
}

static esp_status name_peer(void *self, int stream, struct espi_copy_peer *peer,
                            struct esp_err *err)
{
    (void)self, (void)err;
    snprintf(peer->address, sizeof peer->address, "host%d", stream);
    peer->port = (uint32_t)stream + 1;
    return ESP_OK;
}

static int nobody_relays(void *self, int rank)
{
    (void)self;
    (void)rank;
    return 0;
}

static void write_part(const struct made *m, int rank, struct espi_wire_out *w)
{
    uint32_t n = (uint32_t)m->prog.n_slices;
    struct espi_part_source from = {
        .prog = &m->prog,
        .run = 7,
        .message =
            espi_copy_message(ESPI_MESSAGE_DATA, 0, 1000 * (n + n / 10) + 500, 1000),
        .block = m->block,
        .peer = name_peer,
        .is_relay = nobody_relays};
    assert_int_equal(espi_part_put(w, &from, rank, NULL), ESP_OK);
}

/* Each rank's steps are those of the whole program, in its order. */
static void parts_say_what_programs_say(void **state)
{
    (void)state;
    struct made m;
    make_program(&m, 5, 100);
    for (int rank = 0; rank < 5; rank++) {
        struct espi_wire_out w = {0};
        struct espi_copy_part part;
        struct espi_arena arena;
        espi_arena_init(&arena);
        write_part(&m, rank, &w);
        struct espi_wire_in r = espi_wire_in(w.at, w.used);
        assert_int_equal(espi_part_read(&part, &r, &arena, NULL), ESP_OK);
        assert_int_equal(part.n_slices, 100);
        assert_int_equal(part.block[99], 108);
        assert_int_equal(part.prog.rounds, m.prog.rounds);
        const struct espi_step *mine = part.prog.sends + part.prog.send_start[rank];
        int n = m.prog.send_start[rank + 1] - m.prog.send_start[rank];
        assert_int_equal(part.prog.send_start[rank + 1] - part.prog.send_start[rank], n);
        for (int k = 0; k < n; k++) {
            const struct espi_step *step = &m.prog.sends[m.prog.send_start[rank] + k];
            assert_int_equal(part.peer[mine[k].stream].number, step->stream);
            assert_int_equal(part.prog.streams[mine[k].stream].to,
                             m.prog.streams[step->stream].to);
            assert_int_equal(mine[k].slot, step->slot);
            assert_int_equal(mine[k].lag, step->lag);
        }
        espi_arena_done(&arena);
        espi_wire_done(&w);
    }
    drop_program(&m);
}

/* Cut off anywhere it is refused; with a byte changed nothing bad happens. */
static void broken_parts_do_no_harm(void **state)
{
    (void)state;
    struct made m;
    struct espi_wire_out w = {0};
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(6));
    make_program(&m, 4, 20);
    write_part(&m, 1, &w);
    for (size_t i = 0; i < w.used + 2000; i++) {
        struct espi_copy_part part;
        struct espi_arena arena;
        unsigned char *bytes = malloc(w.used);
        size_t length = i < w.used ? i : w.used;
        assert_non_null(bytes);
        memcpy(bytes, w.at, w.used);
        if (i >= w.used)
            bytes[espi_rng_next(&rng) % w.used] ^= (unsigned char)(1u << i % 8);
        espi_arena_init(&arena);
        struct espi_wire_in r = espi_wire_in(bytes, length);
        esp_status status = espi_part_read(&part, &r, &arena, NULL);
        if (i < w.used)
            assert_int_equal(status, ESP_EINPUT);
        espi_arena_done(&arena);
        free(bytes);
    }
    espi_wire_done(&w);
    drop_program(&m);
}

/* ---- connections ---- */

/* 1: both ends know one another; -1: one of them does not want to. */
static int meet(struct espi_secure *a, struct espi_secure *b)
{
    for (int i = 0; i < 100; i++) {
        int x = espi_secure_shake(a), y = espi_secure_shake(b);
        if (x < 0 || y < 0)
            return -1;
        if (x && y)
            return 1;
    }
    return 0;
}

static void keys_decide_who_talks(void **state)
{
    (void)state;
    unsigned char key[2][ESPI_SECRET_BYTES] = {{1}, {2}};
    for (int i = 0; i < 4; i++) {
        int fd[2], encrypted = i & 1, right = i < 2;
        char got[6] = "";
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
        struct espi_secure *a = espi_secure_create(fd[0], 0, encrypted, key[0]);
        struct espi_secure *b = espi_secure_create(fd[1], 1, encrypted, key[!right]);
        assert_true(a && b);
        assert_int_equal(meet(a, b), right ? 1 : -1);
        if (right) {
            assert_int_equal(espi_secure_read(b, got, 5), 0);
            assert_int_equal(espi_secure_write(a, "hello", 5), 5);
            assert_int_equal(espi_secure_read(b, got, 5), 5);
            assert_string_equal(got, "hello");
            close(fd[0]);
            assert_int_equal(espi_secure_read(b, got, 5), -1);
        } else {
            close(fd[0]);
        }
        espi_secure_free(a);
        espi_secure_free(b);
        close(fd[1]);
    }
}

/* In two pieces, as of a block that is read so. */
static void make_tag(struct espi_tagger *t, uint64_t number, const unsigned char *data,
                     size_t bytes, size_t first, unsigned char *tag)
{
    assert_int_equal(espi_tagger_begin(t, number), 0);
    assert_int_equal(espi_tagger_add(t, data, first), 0);
    assert_int_equal(espi_tagger_add(t, data + first, bytes - first), 0);
    assert_int_equal(espi_tagger_end(t, tag), 0);
}

static void tags_see_every_bit(void **state)
{
    (void)state;
    unsigned char key[ESPI_SECRET_BYTES] = {9}, data[100] = {0};
    unsigned char tag[ESPI_TAG_BYTES], other[ESPI_TAG_BYTES];
    struct espi_tagger *t = espi_tagger_create(key);
    assert_non_null(t);
    make_tag(t, 3, data, sizeof data, 32, tag);
    for (size_t i = 0; i < 8 * sizeof data; i++) {
        data[i / 8] ^= (unsigned char)(1u << i % 8);
        make_tag(t, 3, data, sizeof data, i % 100, other);
        assert_memory_not_equal(tag, other, sizeof tag);
        data[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    make_tag(t, 4, data, sizeof data, 32, other);
    assert_memory_not_equal(tag, other, sizeof tag);
    make_tag(t, 3, data, sizeof data, 48, other);
    assert_memory_equal(tag, other, sizeof tag);
    espi_tagger_free(t);
}

/* ---- out of memory ---- */

static esp_status read_and_drop(void *arg)
{
    const struct espi_wire_out *w = arg;
    struct espi_copy_part part;
    struct espi_arena arena;
    espi_arena_init(&arena);
    struct espi_wire_in r = espi_wire_in(w->at, w->used);
    esp_status status = espi_part_read(&part, &r, &arena, NULL);
    espi_arena_done(&arena);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct made m;
    struct espi_wire_out w = {0};
    make_program(&m, 4, 20);
    write_part(&m, 2, &w);
    assert_true(alloc_fail_each(read_and_drop, &w) > 0);
    espi_wire_done(&w);
    drop_program(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_say_what_programs_say),
        cmocka_unit_test(broken_parts_do_no_harm),
        cmocka_unit_test(keys_decide_who_talks),
        cmocka_unit_test(tags_see_every_bit),
        cmocka_unit_test(memory_may_run_out),
    };
    signal(SIGPIPE, SIG_IGN); /* as the program does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
