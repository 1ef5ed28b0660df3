/* The prober as a process: what it closes, and when it ends; also as it is built without
 * what newer kernels have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channel/prober.h"

/* A prober has the lowest priority but one: on a busy machine it may take minutes to end,
 * and who waits for it has no limit but that of the whole test. */
enum { HOWEVER_LONG = -1, MOMENT_MS = 300, ASIDE = 20 };

/* A rank that has started a prober, with a file open that is none of its business. */
struct rank {
    pid_t pid;
    int life;  /* our end of the stream; it ends when the prober does */
    int other; /* at its end when nobody but us has that file open */
};

/* The highest number that a file may have, within reason: old ways of closing ended at
 * 4096. */
static int high_number(void)
{
    struct rlimit most;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &most), 0);
    most.rlim_cur = most.rlim_max < 6000 ? most.rlim_max : 6000;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &most), 0);
    return (int)most.rlim_cur - 1;
}

static void must(int is_so)
{
    if (!is_so)
        _exit(99);
}

/* In the child of the rank: becomes the prober. */
static void become(const char *path, int life, int wire, int page, int other)
{
    char *words[] = {(char *)path, NULL}, *none[] = {NULL};
    must(dup2(other, high_number()) >= 0 && dup2(other, 5) == 5 && dup2(life, 0) == 0 &&
         dup2(wire, 3) == 3 && dup2(page, 4) == 4);
    execve(path, words, none);
    _exit(98);
}

/* The rank: starts it and does nothing more. */
static void be_rank(const char *path, int life, int wire, int page, int other)
{
    /* a rank that outlived a test that failed would keep its output open */
    must(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    pid_t pid = fork();
    int how;
    if (pid == 0)
        become(path, life, wire, page, other);
    close(life);
    must(pid > 0 && waitpid(pid, &how, 0) == pid && WIFEXITED(how) && !WEXITSTATUS(how));
    close(other); /* it knows by now who its rank is */
    for (;;)
        pause();
}

static int aside(int fd)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, ASIDE);
    assert_true(fd >= 0 && moved >= 0);
    close(fd);
    return moved;
}

static int open_wire(struct espi_prober *line)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof at;
    int fd = aside(socket(AF_INET, SOCK_DGRAM, 0));
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &length), 0);
    line->address = at.sin_addr.s_addr;
    line->port = at.sin_port;
    return fd;
}

static struct rank start_rank(const char *path)
{
    struct rank r;
    struct espi_prober list[2] = {{.node = 0}, {.node = 1, .port = 1}};
    struct espi_prober_head head = {.magic = ESPI_PROBER_MAGIC, .n = 2, .hub = 1};
    int ends[2], pipes[2], wire = open_wire(&list[0]);
    int page = aside(memfd_create("calls", 0));
    assert_int_equal(ftruncate(page, sysconf(_SC_PAGESIZE)), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(pipe(pipes), 0);
    r.life = aside(ends[0]);
    r.other = aside(pipes[0]);
    int life = aside(ends[1]), other = aside(pipes[1]);
    r.pid = fork();
    assert_true(r.pid >= 0);
    if (r.pid == 0) {
        close(r.life);
        be_rank(path, life, wire, page, other);
    }
    close(life);
    close(other);
    close(wire);
    close(page);
    assert_int_equal(write(r.life, &head, sizeof head), sizeof head);
    assert_int_equal(write(r.life, list, sizeof list), sizeof list);
    return r;
}

/* Is it at its end within that time? */
static int ends_within(int fd, int ms)
{
    struct pollfd f = {.fd = fd, .events = POLLIN};
    char nothing;
    return poll(&f, 1, ms) == 1 && read(fd, &nothing, 1) <= 0;
}

static void end_rank(const struct rank *r)
{
    kill(r->pid, SIGKILL);
    waitpid(r->pid, NULL, 0);
}

static void look_at(const char *path)
{
    struct rank r = start_rank(path);
    assert_true(ends_within(r.other, HOWEVER_LONG)); /* it does not keep it open */
    assert_false(ends_within(r.life, MOMENT_MS));    /* it lives */
    end_rank(&r); /* while the stream is open, as in somebody whom the rank forked */
    assert_true(ends_within(r.life, HOWEVER_LONG));
    close(r.life);
    close(r.other);
    r = start_rank(path);
    assert_true(ends_within(r.other, HOWEVER_LONG));
    assert_int_equal(shutdown(r.life, SHUT_WR), 0);
    assert_true(ends_within(r.life, HOWEVER_LONG));
    end_rank(&r);
    close(r.life);
    close(r.other);
}

static void probers_hold_nothing_and_end_with_their_rank(void **state)
{
    (void)state;
    look_at(PROBER);
}

static void so_they_do_on_old_kernels(void **state)
{
    (void)state;
    look_at(OLD_PROBER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probers_hold_nothing_and_end_with_their_rank),
        cmocka_unit_test(so_they_do_on_old_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
