/* Whole copies, seen from the host that gives them, while agents and files are not what
 * they should be. Agents are this program again, and do what the names of their hosts
 * say. Linked with --wrap for the functions below. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "copy/agent.h"
#include "copy/job.h"

enum { HOSTS = 4, FILE_BYTES = 300000 };

/* ---- one copy ---- */

struct copy {
    char dir[32], in[64], folder[HOSTS][64];
    struct espi_copy_host host[HOSTS];
    struct espi_copy_source source;
    struct espi_copy_job job;
    struct esp_platform *p;
    struct esp_err err;
};

static const char *const launcher[] = {"/proc/self/exe", NULL};

static void put_bytes(const char *path, char c)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < FILE_BYTES; i++)
        putc(c, f);
    fclose(f);
}

/* From "here" to hosts of these names, whose network is p, or any. */
static void make_copy(struct copy *c, int n, const char *const *names,
                      struct esp_platform *p)
{
    const char *paths[] = {c->in}, *all[HOSTS + 1] = {"here"};
    const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    *c = (struct copy){.p = p};
    strcpy(c->dir, "/tmp/espalier-test-XXXXXX");
    assert_non_null(mkdtemp(c->dir));
    snprintf(c->in, sizeof c->in, "%s/file", c->dir);
    put_bytes(c->in, 'x');
    assert_int_equal(utimensat(AT_FDCWD, c->in, long_ago, 0), 0);
    for (int i = 0; i < n; i++) {
        snprintf(c->folder[i], sizeof c->folder[i], "%s/%s", c->dir, names[i]);
        c->host[i] = (struct espi_copy_host){
            .name = names[i], .address = "127.0.0.1", .folder = c->folder[i]};
        all[i + 1] = names[i];
    }
    if (!p)
        assert_int_equal(espi_copy_uniform(all, n + 1, &c->p, NULL), ESP_OK);
    espi_source_init(&c->source);
    assert_int_equal(espi_source_scan(&c->source, paths, 1, NULL), ESP_OK);
    c->job = (struct espi_copy_job){.options = {.rsh = launcher,
                                                .agent = "espalier",
                                                .patience_s = 10,
                                                .p = c->p,
                                                .root = "here"},
                                    .host = c->host,
                                    .n_hosts = n,
                                    .source = &c->source,
                                    .stream = -1};
}

static esp_status run_copy(struct copy *c)
{
    return espi_copy_run(&c->job, &c->err);
}

static void clear_copy(struct copy *c)
{
    char command[64];
    espi_source_done(&c->source);
    esp_platform_free(c->p);
    snprintf(command, sizeof command, "rm -rf %s", c->dir);
    assert_int_equal(system(command), 0);
}

static int has_file(const struct copy *c, int host)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/file", c->folder[host]);
    return stat(path, &st) == 0;
}

/* ---- agents that are told to lie by the names of their hosts ---- */

static void say_hello(uint32_t port)
{
    struct espi_control c;
    struct espi_wire_out w = {0};
    char byte;
    espi_control_open(&c, dup(STDIN_FILENO), dup(STDOUT_FILENO));
    espi_put_32(&w, ESPI_COPY_VERSION);
    espi_put_32(&w, port);
    espi_control_send(&c, ESPI_FROM_HELLO, &w);
    espi_wire_done(&w);
    espi_control_close(&c);
    fcntl(STDIN_FILENO, F_SETFL, 0);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
}

static int lies_about_tags;
static unsigned slow_us; /* for each block */

int __wrap_espi_tagger_begin(struct espi_tagger *t, uint64_t number);
int __real_espi_tagger_begin(struct espi_tagger *t, uint64_t number);

int __wrap_espi_tagger_begin(struct espi_tagger *t, uint64_t number)
{
    usleep(slow_us);
    return __real_espi_tagger_begin(t, number + (uint64_t)lies_about_tags);
}

static int serve_agent(const char *host)
{
    struct espi_agent_options options = {.below = NULL};
    const char *port = strstr(host, "port"), *status = strstr(host, "exits");
    if (status)
        return atoi(status + strlen("exits"));
    if (strstr(host, "prints")) {
        puts("Welcome!");
        return 0;
    }
    lies_about_tags = strstr(host, "liar") != NULL;
    slow_us = strstr(host, "slow") ? 100000 : 0;
    if (port)
        say_hello((uint32_t)strtoul(port + strlen("port"), NULL, 10));
    return port ? 1 : espi_agent_serve(STDIN_FILENO, STDOUT_FILENO, &options);
}

/* ---- nothing is wrong ---- */

static void copies_arrive(void **state)
{
    (void)state;
    const char *names[] = {"a", "b", "c"};
    struct copy c;
    make_copy(&c, 3, names, NULL);
    assert_int_equal(run_copy(&c), ESP_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(c.host[i].state, ESPI_COPY_HAS_IT);
        assert_true(has_file(&c, i));
    }
    clear_copy(&c);
}

/* ---- how long they may take ---- */

/* Whoever goes through 1 TB on a slow disk is not given up. */
static void hosts_that_resume_have_time(void **state)
{
    (void)state;
    struct espi_copy_source source = {.m.data_bytes = 1000000000000};
    struct espi_copy_job job = {.options.patience_s = 1, .source = &source};
    assert_true(espi_copy_open_s(&job) < 60);
    job.options.resume = 1;
    assert_true(espi_copy_open_s(&job) > 10000);
}

/* ---- a stream ---- */

static int stream_fd = -1, naps_too_many;
static const struct espi_copy_job *to_stop; /* NULL: none */

int __wrap_poll(struct pollfd *fd, nfds_t n, int timeout_ms);
int __real_poll(struct pollfd *fd, nfds_t n, int timeout_ms);

/* As a process that is stopped before it hears what hosts say, of whom one at least has
 * said nothing yet. */
static void stop_once(const struct pollfd *fd)
{
    int silent = 0;
    for (int i = 0; i < to_stop->n_hosts; i++)
        silent |= to_stop->host[i].awaited == ESPI_FROM_CHECKED && !fd[2 * i].revents;
    if (!silent)
        return;
    usleep((useconds_t)(1.3e6 * to_stop->options.patience_s));
    to_stop = NULL;
}

static int waits_for_stream(const struct pollfd *fd, nfds_t n)
{
    for (nfds_t i = 0; i < n; i++)
        if (fd[i].fd == stream_fd && fd[i].events & POLLIN)
            return 1;
    return 0;
}

/* Counts waits that took all their time though there was something of the stream: what
 * comes after the wait and before we look, on a busy machine, is none. */
int __wrap_poll(struct pollfd *fd, nfds_t n, int timeout_ms)
{
    struct pollfd stream = {.fd = stream_fd, .events = POLLIN};
    int found = __real_poll(fd, n, timeout_ms);
    if (to_stop)
        stop_once(fd);
    naps_too_many += found == 0 && timeout_ms > 0 && stream_fd >= 0 &&
                     !waits_for_stream(fd, n) && __real_poll(&stream, 1, 0) > 0;
    return found;
}

/* Each piece comes when that before was taken. */
static void write_pieces(int fd, int pieces)
{
    char piece[1000] = {1};
    for (int i = 0; i < pieces; i++) {
        int left = 1;
        if (write(fd, piece, sizeof piece) != (ssize_t)sizeof piece)
            _exit(1);
        while (left > 0) {
            usleep(1000);
            if (ioctl(fd, FIONREAD, &left))
                _exit(1);
        }
    }
    _exit(0);
}

/* Whoever makes a stream is not made to wait for every pipe full of it. */
static void streams_are_read_as_they_come(void **state)
{
    (void)state;
    enum { PIECES = 12 };
    const char *names[] = {"a", "b"};
    struct copy c;
    int ends[2], how = 1;
    make_copy(&c, 2, names, NULL);
    espi_source_done(&c.source);
    assert_int_equal(espi_source_stream(&c.source, "file", NULL), ESP_OK);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t writer = fork();
    if (writer == 0) {
        close(ends[0]);
        write_pieces(ends[1], PIECES);
    }
    close(ends[1]);
    c.job.stream = stream_fd = ends[0];
    assert_int_equal(run_copy(&c), ESP_OK);
    stream_fd = -1;
    assert_int_equal(waitpid(writer, &how, 0), writer);
    assert_int_equal(how, 0);
    for (int i = 0; i < 2; i++)
        assert_true(has_file(&c, i));
    assert_int_equal(c.job.data_bytes, 1000 * PIECES);
    assert_true(naps_too_many < PIECES / 3);
    close(ends[0]);
    clear_copy(&c);
}

/* Whoever gives may be stopped for longer than its patience, and blames nobody for it. */
static void who_was_stopped_blames_nobody(void **state)
{
    (void)state;
    const char *names[] = {"a", "slow", "c"};
    struct copy c;
    make_copy(&c, 3, names, NULL);
    c.job.options.patience_s = 2;
    to_stop = &c.job;
    assert_int_equal(run_copy(&c), ESP_OK);
    assert_null(to_stop); /* it was */
    for (int i = 0; i < 3; i++)
        assert_int_equal(c.host[i].state, ESPI_COPY_HAS_IT);
    clear_copy(&c);
}

/* ---- a file that changes ---- */

static const char *to_change; /* NULL: none */
static int loads_before_change;

esp_status __wrap_espi_source_load(struct espi_copy_source *s, uint64_t at, void *to,
                                   size_t bytes, struct esp_err *err);
esp_status __real_espi_source_load(struct espi_copy_source *s, uint64_t at, void *to,
                                   size_t bytes, struct esp_err *err);

esp_status __wrap_espi_source_load(struct espi_copy_source *s, uint64_t at, void *to,
                                   size_t bytes, struct esp_err *err)
{
    esp_status status = __real_espi_source_load(s, at, to, bytes, err);
    if (to_change && loads_before_change-- == 0)
        put_bytes(to_change, 'y');
    return status;
}

/* Whenever it changes after the first of its bytes was read, nobody has it. */
static void files_that_change_reach_nobody(void **state)
{
    (void)state;
    const char *names[] = {"a", "b"};
    int n = 0;
    for (int changed = 1; changed; n++) {
        struct copy c;
        make_copy(&c, 2, names, NULL);
        to_change = c.in;
        loads_before_change = n;
        esp_status status = run_copy(&c);
        changed = loads_before_change < 0;
        to_change = NULL;
        assert_int_equal(status, changed ? ESP_EIO : ESP_OK);
        if (changed)
            assert_non_null(strstr(c.err.text, "changed while it was copied"));
        for (int i = 0; i < 2; i++)
            assert_int_equal(has_file(&c, i), !changed);
        clear_copy(&c);
    }
    assert_true(n > 2);
}

/* ---- agents that lie ---- */

/* Why no agent is there is told as well as can be known. */
static void launchers_that_fail_say_why(void **state)
{
    (void)state;
    const char *names[] = {"a", "exits127", "exits255", "prints"};
    const char *why[] = {"", "no program espalier there", "exit status 255",
                         "start-up file of its shell"};
    const char *const nowhere[] = {"/no/such/launcher", NULL};
    struct copy c;
    for (int i = 0; i < 5; i++) { /* it must not hang on who is heard first */
        make_copy(&c, 4, names, NULL);
        assert_int_equal(run_copy(&c), ESP_OK);
        assert_int_equal(c.host[0].state, ESPI_COPY_HAS_IT);
        for (int k = 1; k < 4; k++) {
            assert_int_equal(c.host[k].state, ESPI_COPY_OUT);
            assert_non_null(strstr(c.host[k].why, why[k]));
        }
        clear_copy(&c);
    }
    make_copy(&c, 1, names, NULL);
    c.job.options.rsh = nowhere;
    assert_int_equal(run_copy(&c), ESP_EIO);
    assert_non_null(strstr(c.err.text, "/no/such/launcher: No such file"));
    clear_copy(&c);
}

/* Addresses at which nobody is, or that cannot be looked up, are named, with who tried.
 */
static void ways_that_lead_nowhere_are_named(void **state)
{
    (void)state;
    const char *names[] = {"a", "b"};
    const char *addresses[] = {"no-such-host.invalid", "127.0.0.1:x"};
    for (int i = 0; i < 2; i++) {
        struct copy c;
        make_copy(&c, 2, names, NULL);
        c.host[1].address = addresses[i];
        assert_int_equal(run_copy(&c), ESP_OK);
        assert_int_equal(c.host[0].state, ESPI_COPY_HAS_IT);
        assert_int_equal(c.host[1].state, ESPI_COPY_OUT);
        assert_non_null(strstr(c.host[1].why, "says: no connection to"));
        assert_non_null(strstr(c.host[1].why, addresses[i]));
        clear_copy(&c);
    }
}

/* No program is reached at such a port, nor at what the number becomes in 16 bits. */
static void ports_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const char *names[] = {"a", "port0", "port65536", "port4294967295"};
    struct copy c;
    make_copy(&c, 4, names, NULL);
    assert_int_equal(run_copy(&c), ESP_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(c.host[i].state, i ? ESPI_COPY_OUT : ESPI_COPY_HAS_IT);
        if (i)
            assert_string_equal(c.host[i].why, "its agent said something that cannot be");
    }
    clear_copy(&c);
}

/* here -> r1 -> a and liar; here -> r2 -> liar */
static struct esp_platform *make_two_ways(void)
{
    const char *const names[] = {"here", "a", "liar", "r1", "r2"};
    const int links[][2] = {{0, 3}, {3, 1}, {3, 2}, {0, 4}, {4, 2}};
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_ONE_PORT);
    for (int i = 0; i < 5; i++) {
        struct esp_node_spec spec = {.name = names[i],
                                     .kind = ESP_NODE_HOST,
                                     .send_s = ESP_UNSET,
                                     .recv_s = ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int i = 0; i < 5; i++)
        assert_int_equal(
            esp_builder_add_link(b, links[i][0], links[i][1], 1e-4, 1e7, NULL, NULL),
            ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* A host says of whatever came to it that it is wrong: who passed it on must not be
 * thrown out for that. */
static void liars_throw_nobody_out(void **state)
{
    (void)state;
    const char *names[] = {"a", "liar", "r1", "r2"};
    struct copy c;
    make_copy(&c, 4, names, make_two_ways());
    c.host[2].is_relay = c.host[3].is_relay = 1;
    assert_int_equal(run_copy(&c), ESP_OK);
    assert_int_equal(c.host[1].state, ESPI_COPY_OUT);
    for (int i = 0; i < 4; i++)
        if (i != 1)
            assert_int_equal(c.host[i].state, ESPI_COPY_HAS_IT);
    assert_true(has_file(&c, 0) && !has_file(&c, 1));
    clear_copy(&c);
}

/* ---- no keys ---- */

static int makes_no_keys;

int __wrap_espi_secure_derive(const unsigned char *key, const void *words, size_t bytes,
                              unsigned char *out);
int __real_espi_secure_derive(const unsigned char *key, const void *words, size_t bytes,
                              unsigned char *out);

int __wrap_espi_secure_derive(const unsigned char *key, const void *words, size_t bytes,
                              unsigned char *out)
{
    return makes_no_keys ? -1 : __real_espi_secure_derive(key, words, bytes, out);
}

/* A key that everybody can guess is none. */
static void nothing_is_sent_without_keys(void **state)
{
    (void)state;
    const char *names[] = {"a", "b"};
    struct copy c;
    make_copy(&c, 2, names, NULL);
    makes_no_keys = 1;
    assert_int_equal(run_copy(&c), ESP_EINTERNAL);
    makes_no_keys = 0;
    for (int i = 0; i < 2; i++)
        assert_false(has_file(&c, i));
    clear_copy(&c);
}

/* ---- what is told on the way ---- */

/* Shares of the bound are those of the slowest host, which is no further than the mean.
 */
static void note_slowest(void *arg, const struct espi_copy_progress *now)
{
    double *last = arg;
    assert_true(2 * now->slowest_bytes <= now->done_bytes + 1e-6);
    *last = now->slowest_bytes;
}

static void the_slowest_host_is_told_of(void **state)
{
    (void)state;
    const char *names[] = {"a", "b"};
    struct copy c;
    double last = -1;
    make_copy(&c, 2, names, NULL);
    c.job.options.progress = note_slowest;
    c.job.options.progress_arg = &last;
    assert_int_equal(run_copy(&c), ESP_OK);
    assert_true(last == FILE_BYTES);
    clear_copy(&c);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_arrive),
        cmocka_unit_test(hosts_that_resume_have_time),
        cmocka_unit_test(streams_are_read_as_they_come),
        cmocka_unit_test(who_was_stopped_blames_nobody),
        cmocka_unit_test(files_that_change_reach_nobody),
        cmocka_unit_test(launchers_that_fail_say_why),
        cmocka_unit_test(ways_that_lead_nowhere_are_named),
        cmocka_unit_test(ports_that_cannot_be_are_refused),
        cmocka_unit_test(liars_throw_nobody_out),
        cmocka_unit_test(nothing_is_sent_without_keys),
        cmocka_unit_test(the_slowest_host_is_told_of),
    };
    if (argc > 3 && strcmp(argv[3], "agent") == 0)
        return serve_agent(argv[1]);
    signal(SIGPIPE, SIG_IGN); /* as the program does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
