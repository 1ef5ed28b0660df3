/* Copies that go wrong: what hosts know of bytes that do not arrive, and who is to blame.
 * tests/copy/run and tests/copy/campaign copy while it does. Linked with --wrap=syscall.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/rng.h"
#include "copy/blame.h"
#include "copy/runner.h"
#include "copy/source.h"
#include "copy/store.h"
#include "copy/tcp.h"
#include "copy/tree.h"
#include "support/seed.h"

/* ---- bytes that are under way ---- */

enum { MESSAGE_BYTES = 8000, TRIES = 20000 };

struct end_of_pair {
    struct espi_copy_peer peer;
    struct espi_copy_part part;
    struct espi_copy_slices slices;
    struct espi_tcp *tcp;
    struct espi_request request;
    char data[MESSAGE_BYTES];
    int is_done;
};

static void make_end(struct end_of_pair *e, int is_out, const struct espi_listener *l)
{
    *e = (struct end_of_pair){.peer = {.number = 5, .is_out = is_out, .port = l->port}};
    strcpy(e->peer.address, "127.0.0.1");
    static struct espi_step step;
    static int start[] = {0, 1};
    static uint32_t block;
    e->part = (struct espi_copy_part){
        .run = 3,
        .message = espi_copy_message(ESPI_MESSAGE_DATA, 0, MESSAGE_BYTES, MESSAGE_BYTES),
        .n_slices = 1,
        .block = &block,
        .prog = {.n_streams = 2,
                 .n_trees = 1,
                 .n_slices = 1,
                 .slots = 1,
                 .rounds = 1,
                 .sends = &step,
                 .recvs = &step,
                 .send_start = start,
                 .recv_start = start},
        .peer = &e->peer};
    e->slices = (struct espi_copy_slices){.part = &e->part};
    e->tcp = espi_tcp_create(&e->slices, 0, is_out ? NULL : l);
    assert_non_null(e->tcp);
    assert_int_equal(espi_tcp_start(e->tcp), 0);
}

static void look(struct end_of_pair *e, int n)
{
    const struct espi_transport *t = espi_tcp_transport(e->tcp);
    int done[1], n_done = 0;
    espi_tcp_turn(e->tcp, 1);
    assert_int_equal(t->wait_some(t->self, &e->request, n, 0, done, &n_done), 0);
    e->is_done |= n_done;
    usleep(n == 0 || n_done ? 0 : 100);
}

/* What the kernel took but does not get rid of is stuck, as behind a cable that is cut;
 * here it is a receiver that does not read. */
static void bytes_in_the_kernel_are_not_there_yet(void **state)
{
    (void)state;
    const int small = 1;
    uint32_t stuck[4];
    struct espi_listener l;
    struct end_of_pair a, b;
    const struct espi_transport *t;
    assert_int_equal(espi_listener_open(&l), 0);
    assert_int_equal(setsockopt(l.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    make_end(&a, 1, &l);
    make_end(&b, 0, &l);
    t = espi_tcp_transport(a.tcp);
    assert_int_equal(t->send(t->self, 0, 0, a.data, MESSAGE_BYTES, &a.request), 0);
    for (int i = 0; i < TRIES && !a.is_done; i++) {
        look(&a, 1);
        look(&b, 0);
    }
    assert_true(a.is_done);
    int n = 0;
    for (int i = 0; i < TRIES && !n; i++) {
        n = espi_tcp_stuck(a.tcp, 0.05, stuck, 4);
        usleep(100);
    }
    assert_int_equal(n, 1);
    assert_int_equal(stuck[0], 5);
    usleep(200000); /* as one that was stopped: it cannot tell */
    assert_int_equal(espi_tcp_stuck(a.tcp, 0.1, stuck, 4), 0);
    assert_int_equal(espi_tcp_stuck(b.tcp, 0, stuck, 4), 0);
    t = espi_tcp_transport(b.tcp);
    assert_int_equal(t->recv(t->self, 0, 0, b.data, MESSAGE_BYTES, &b.request), 0);
    for (int i = 0; i < TRIES && !b.is_done; i++)
        look(&b, 1);
    assert_true(b.is_done);
    for (int i = 0; i < TRIES && n; i++) /* acknowledged after a while */
        n = espi_tcp_stuck(a.tcp, 0, stuck, 4);
    assert_int_equal(n, 0);
    espi_tcp_free(a.tcp);
    espi_tcp_free(b.tcp);
    espi_listener_close(&l);
}

/* ---- a disk that fails ---- */

static esp_status fail_to_read(void *self, const struct espi_copy_message *m, int keeps,
                               uint64_t at, void *data, size_t bytes, struct esp_err *err)
{
    (void)self, (void)m, (void)keeps, (void)at;
    memset(data, 7, bytes / 2);
    return espi_err(err, ESP_EIO, "a broken disk");
}

static uint32_t port_of_peer;

static esp_status name_peer(void *self, int stream, struct espi_copy_peer *peer,
                            struct esp_err *err)
{
    (void)self, (void)stream, (void)err;
    strcpy(peer->address, "127.0.0.1");
    peer->port = port_of_peer;
    return ESP_OK;
}

static int nobody_relays(void *self, int rank)
{
    return self && rank < 0;
}

/* The part of the root, that sends one block to one host. */
static void write_part_of_root(struct espi_wire_out *w)
{
    struct espi_stream stream = {.from = 0, .to = 1, .source = -1, .keeps = 1};
    struct espi_step step = {.stream = 0};
    int send_start[] = {0, 1, 1}, recv_start[] = {0, 0, 1};
    uint32_t block = 0;
    struct espi_program prog = {.n_ranks = 2,
                                .n_slices = 1,
                                .slots = 1,
                                .rounds = 1,
                                .max_lag = 1,
                                .n_trees = 1,
                                .n_streams = 1,
                                .n_states = 1,
                                .streams = &stream,
                                .sends = &step,
                                .recvs = &step,
                                .send_start = send_start,
                                .recv_start = recv_start};
    struct espi_part_source from = {.prog = &prog,
                                    .message =
                                        espi_copy_message(ESPI_MESSAGE_DATA, 0, 100, 100),
                                    .block = &block,
                                    .peer = name_peer,
                                    .is_relay = nobody_relays};
    assert_int_equal(espi_part_put(w, &from, 0, NULL), ESP_OK);
}

/* What cannot be read does not go out: whoever is sent it must not see what was in memory
 * before. */
static void what_cannot_be_read_is_not_sent(void **state)
{
    (void)state;
    struct espi_wire_out w = {0};
    struct espi_runner r;
    struct espi_listener l;
    struct espi_copy_disk disk = {NULL, fail_to_read, NULL};
    struct end_of_pair b;
    int done = 0;
    assert_int_equal(espi_listener_open(&l), 0);
    port_of_peer = l.port;
    make_end(&b, 0, &l);
    b.part.run = 0;
    b.peer.number = 0;
    const struct espi_transport *t = espi_tcp_transport(b.tcp);
    assert_int_equal(t->recv(t->self, 0, 0, b.data, MESSAGE_BYTES, &b.request), 0);
    write_part_of_root(&w);
    struct espi_wire_in in = espi_wire_in(w.at, w.used);
    assert_int_equal(espi_runner_start(&r, &in, 1, 0, NULL, &disk, NULL), ESP_OK);
    assert_int_equal(espi_runner_go(&r), 0);
    for (int i = 0; i < TRIES && !done; i++) {
        done = espi_runner_step(&r);
        look(&b, 1);
    }
    assert_int_equal(done, -1);
    assert_int_equal(r.slices.err.status, ESP_EIO);
    assert_int_equal(espi_runner_step(&r), -1);
    assert_int_equal(espi_tcp_moved(b.tcp), 0);
    espi_runner_done(&r);
    espi_tcp_free(b.tcp);
    espi_listener_close(&l);
    espi_wire_done(&w);
}

/* ---- who is to blame ---- */

/* In a chain 0 > 1 > 2 > 3 of hosts that only pass on the last one that does not take
 * anything is to blame; one that keeps what it gets has no excuse. */
static void the_last_of_a_chain_is_to_blame(void **state)
{
    (void)state;
    struct espi_stream streams[] = {
        {.from = 0, .to = 1}, {.from = 1, .to = 2}, {.from = 2, .to = 3}};
    struct espi_program prog = {.n_ranks = 4, .n_streams = 3, .streams = streams};
    unsigned char passes[4] = {0, 1, 1, 0}, stuck[3] = {1, 1, 1};
    assert_int_equal(espi_blame_stuck(&prog, stuck, passes), 1);
    assert_memory_equal(stuck, ((unsigned char[]){0, 0, 1}), 3);
    memcpy(stuck, (unsigned char[]){1, 1, 0}, 3);
    assert_int_equal(espi_blame_stuck(&prog, stuck, passes), 1);
    assert_memory_equal(stuck, ((unsigned char[]){0, 1, 0}), 3);
    memset(passes, 0, sizeof passes);
    memcpy(stuck, (unsigned char[]){1, 1, 0}, 3);
    assert_int_equal(espi_blame_stuck(&prog, stuck, passes), 2);
    memset(stuck, 0, sizeof stuck);
    assert_int_equal(espi_blame_stuck(&prog, stuck, passes), 0);
}

/* Whatever waits for whatever, somebody is to blame, and only who is stuck; else a run
 * would wait for ever. */
static void somebody_is_always_to_blame(void **state)
{
    (void)state;
    enum { RANKS = 6, STREAMS = 12 };
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(27));
    for (int i = 0; i < 5000; i++) {
        struct espi_stream streams[STREAMS] = {{0}};
        unsigned char passes[RANKS], stuck[STREAMS], was[STREAMS];
        int any = 0, left = 0;
        for (int s = 0; s < STREAMS; s++) {
            streams[s].from = (int)(espi_rng_next(&rng) % RANKS);
            streams[s].to =
                (streams[s].from + 1 + (int)(espi_rng_next(&rng) % 5)) % RANKS;
            any |= stuck[s] = espi_rng_next(&rng) % 2;
        }
        for (int r = 0; r < RANKS; r++)
            passes[r] = espi_rng_next(&rng) % 4 > 0;
        struct espi_program prog = {
            .n_ranks = RANKS, .n_streams = STREAMS, .streams = streams};
        memcpy(was, stuck, sizeof was);
        int n = espi_blame_stuck(&prog, stuck, passes);
        for (int s = 0; s < STREAMS; s++) {
            assert_true(stuck[s] <= was[s]);
            left += stuck[s];
        }
        assert_int_equal(left, n);
        assert_int_equal(n > 0, any);
    }
}

/* ---- a kernel that never knows ---- */

static int calls_in_vain = -1; /* -1: they are let through */

long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    long word[6];
    va_list ap;
    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        word[i] = va_arg(ap, long);
    va_end(ap);
    if (calls_in_vain < 0)
        return __real_syscall(number, word[0], word[1], word[2], word[3], word[4],
                              word[5]);
    calls_in_vain++;
    errno = EAGAIN;
    return -1;
}

/* Whoever moves folders about all the time can keep us from opening one, but not us from
 * giving it up. */
static void opening_ends(void **state)
{
    (void)state;
    calls_in_vain = 0;
    alarm(60); /* it would go on for ever */
    assert_int_equal(espi_open_beneath(AT_FDCWD, "x", O_RDONLY, 0), -1);
    assert_int_equal(errno, EAGAIN);
    alarm(0);
    assert_true(calls_in_vain > 1);
    calls_in_vain = -1;
}

/* ---- where things are built ---- */

struct place {
    char dir[64], in[96], out[96];
    struct espi_copy_source from;
};

static void run_command(const char *format, const char *a, const char *b)
{
    char command[512];
    snprintf(command, sizeof command, format, a, b);
    assert_int_equal(system(command), 0);
}

/* A file of 100 kB with 1 kB in its middle, a folder with two small files. */
static void make_place(struct place *at)
{
    const char *paths[] = {at->in};
    strcpy(at->dir, "/tmp/espalier-test-XXXXXX");
    assert_non_null(mkdtemp(at->dir));
    snprintf(at->in, sizeof at->in, "%s/in", at->dir);
    snprintf(at->out, sizeof at->out, "%s/out", at->dir);
    run_command("mkdir -p %s/d %s && cd %1$s && echo one > d/one && echo two > two &&"
                "truncate -s 100000 holes && head -c 1000 /dev/urandom |"
                "dd of=holes bs=1000 seek=50 conv=notrunc 2>/dev/null",
                at->in, at->out);
    espi_source_init(&at->from);
    assert_int_equal(espi_source_scan(&at->from, paths, 1, NULL), ESP_OK);
}

static void clear_place(struct place *at)
{
    espi_source_done(&at->from);
    run_command("rm -rf %s", at->dir, NULL);
}

static esp_status begin(struct espi_store *s, struct place *at, int resume, double wait_s)
{
    espi_store_init(s);
    assert_int_equal(espi_store_open(s, NULL, at->out, NULL), ESP_OK);
    s->wait_s = wait_s;
    return espi_store_begin(s, &at->from.m, resume, NULL);
}

static esp_status keep_all(struct espi_store *s, struct place *at)
{
    size_t bytes = (size_t)at->from.m.data_bytes;
    char *data = malloc(bytes);
    assert_non_null(data);
    assert_int_equal(espi_source_load(&at->from, 0, data, bytes, NULL), ESP_OK);
    esp_status status = espi_store_keep(s, 0, data, bytes, NULL);
    free(data);
    return status;
}

/* The folder in which a copy is built has a name that anybody can reckon: one that is not
 * ours, or that others may write to, is neither used nor emptied. */
static void folders_of_others_are_not_used(void **state)
{
    (void)state;
    struct place at;
    struct espi_store s;
    char path[256], inside[288];
    struct stat st;
    make_place(&at);
    assert_int_equal(begin(&s, &at, 0, 0), ESP_OK);
    snprintf(path, sizeof path, "%s/%s", at.out, s.build_name);
    snprintf(inside, sizeof inside, "%s/bait", path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    espi_store_discard(&s);
    espi_store_done(&s);
    for (int i = 0; i < 8; i++) {
        int others = i % 4, resume = i / 4;
        assert_int_equal(mkdir(path, 0700) || mkdir(inside, 0700), 0);
        assert_int_equal(chmod(path, others == 1 ? 0770 : others == 2 ? 0702 : 0755), 0);
        if (others == 3 && geteuid() != 0)
            others = 0;
        else if (others == 3)
            assert_int_equal(chown(path, 65534, 65534), 0);
        assert_int_equal(begin(&s, &at, resume, 0), others ? ESP_EIO : ESP_OK);
        if (!others)
            assert_int_equal(stat(path, &st) || st.st_mode & 077, 0);
        espi_store_done(&s);
        assert_int_equal(stat(inside, &st) == 0, others > 0);
        run_command("rm -rf %s", path, NULL);
    }
    clear_place(&at);
}

/* What an earlier copy left is used, but for what is no longer in the list: bytes where
 * there is a hole now, files that are gone, two names of one file that are two files. */
static void what_is_left_becomes_what_there_is(void **state)
{
    (void)state;
    struct place at;
    struct espi_store s;
    for (int in_place = 0; in_place < 2; in_place++) {
        make_place(&at);
        assert_int_equal(begin(&s, &at, 0, 0), ESP_OK);
        assert_int_equal(keep_all(&s, &at), ESP_OK);
        if (in_place)
            assert_int_equal(espi_store_finish(&s, 0, NULL), ESP_OK);
        espi_store_done(&s);
        run_command("cd %s/%s/in && head -c 70000 /dev/zero | tr '\\0' x |"
                    "dd of=holes conv=notrunc 2>/dev/null",
                    at.out, in_place ? "." : ".espalier-cp-*");
        run_command(in_place ? "true %s"
                             : "cd %s/.espalier-cp-*/in && echo more > more &&"
                               "mkdir gone && echo x > gone/x &&"
                               "ln -f d/one two && ln -s two link",
                    at.out, NULL);
        assert_int_equal(begin(&s, &at, 1, 0), ESP_OK);
        assert_true(s.had_before);
        assert_int_equal(keep_all(&s, &at), ESP_OK);
        assert_int_equal(espi_store_finish(&s, 0, NULL), ESP_OK);
        espi_store_done(&s);
        run_command("diff -r %s %s/in", at.in, at.out);
        clear_place(&at);
    }
}

/* Another copy that is under way is not touched; one that ends is waited for. */
static void copies_wait_for_one_another(void **state)
{
    (void)state;
    struct place at;
    struct espi_store first, second;
    make_place(&at);
    assert_int_equal(begin(&first, &at, 0, 0), ESP_OK);
    assert_int_equal(begin(&second, &at, 1, 0.05), ESP_EIO);
    espi_store_discard(&second);
    espi_store_done(&second);
    assert_int_equal(keep_all(&first, &at), ESP_OK);
    pid_t child = fork();
    if (child == 0) {
        usleep(100000);
        espi_store_discard(&first);
        _exit(0);
    }
    espi_store_done(&first);
    assert_int_equal(begin(&second, &at, 1, 60), ESP_OK);
    assert_int_equal(keep_all(&second, &at), ESP_OK);
    assert_int_equal(espi_store_finish(&second, 0, NULL), ESP_OK);
    espi_store_done(&second);
    assert_int_equal(waitpid(child, NULL, 0), child);
    run_command("diff -r %s %s/in", at.in, at.out);
    clear_place(&at);
}

static int copy_again_and_again(struct place *at, int times)
{
    struct espi_store s;
    for (int i = 0; i < times; i++) {
        if (begin(&s, at, i % 2, 60) || keep_all(&s, at) ||
            (i % 3 == 0 && espi_store_finish(&s, 0, NULL)))
            return 1;
        espi_store_discard(&s);
        espi_store_done(&s);
    }
    return 0;
}

/* Copies that begin while others take away what they built find all of it or nothing. */
static void copies_follow_one_another(void **state)
{
    (void)state;
    enum { COPIES = 4, TIMES = 30 };
    struct place at;
    pid_t child[COPIES];
    make_place(&at);
    for (int i = 0; i < COPIES; i++)
        if ((child[i] = fork()) == 0)
            _exit(copy_again_and_again(&at, TIMES));
    for (int i = 0; i < COPIES; i++) {
        int how = 1;
        assert_int_equal(waitpid(child[i], &how, 0), child[i]);
        assert_int_equal(how, 0);
    }
    run_command("diff -r %s %s/in && test -z \"$(ls -A %2$s | grep -v '^in$')\"", at.in,
                at.out);
    clear_place(&at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_in_the_kernel_are_not_there_yet),
        cmocka_unit_test(the_last_of_a_chain_is_to_blame),
        cmocka_unit_test(somebody_is_always_to_blame),
        cmocka_unit_test(what_cannot_be_read_is_not_sent),
        cmocka_unit_test(opening_ends),
        cmocka_unit_test(folders_of_others_are_not_used),
        cmocka_unit_test(what_is_left_becomes_what_there_is),
        cmocka_unit_test(copies_wait_for_one_another),
        cmocka_unit_test(copies_follow_one_another),
    };
    signal(SIGPIPE, SIG_IGN); /* as the program does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
