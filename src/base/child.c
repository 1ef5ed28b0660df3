#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/input.h"
#include "base/tuning.h"

#define TAIL_MAX 4096 /* bytes of standard error that are kept */
#define SEALS    (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

struct run {
    int fd[2]; /* our ends of its standard output and standard error; -1: at its end */
    size_t out_cap;
    char tail[TAIL_MAX];
    size_t tail_length;
    double deadline_s;
};

/* ---- starting ---- */

/* A pipe whose ends are none of 0, 1, 2, even in a program that has closed those. */
static int make_pipe(int ends[2])
{
    int raw[2];
    if (pipe2(raw, O_CLOEXEC))
        return -1;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, 3);
        close(raw[i]);
    }
    if (ends[0] >= 0 && ends[1] >= 0)
        return 0;
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return -1;
}

static int spawn_child(const char *const *argv, int in, int out, int err, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&actions))
        return ENOMEM;
    int code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        code = in < 0 ? posix_spawn_file_actions_addopen(&actions, 0, "/dev/null",
                                                         O_RDONLY, 0)
                      : posix_spawn_file_actions_adddup2(&actions, in, 0);
        code = code ? code : posix_spawn_file_actions_adddup2(&actions, out, 1);
        code = code ? code : posix_spawn_file_actions_adddup2(&actions, err, 2);
        code = code ? code : posix_spawnattr_setsigmask(&attributes, &none);
        code =
            code ? code : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        if (code == 0)
            code = posix_spawn(pid, argv[0], &actions, &attributes, (char *const *)argv,
                               environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static esp_status start_child(const char *const *argv, int in, struct run *r, pid_t *pid,
                              struct esp_err *err)
{
    int out[2], errors[2], code;
    if (make_pipe(out))
        return espi_err(err, ESP_EIO, "cannot make a pipe: %s", strerror(errno));
    if (make_pipe(errors)) {
        code = errno;
        close(out[0]);
        close(out[1]);
        return espi_err(err, ESP_EIO, "cannot make a pipe: %s", strerror(code));
    }
    code = spawn_child(argv, in, out[1], errors[1], pid);
    close(out[1]);
    close(errors[1]);
    r->fd[0] = out[0];
    r->fd[1] = errors[0];
    if (code == 0)
        return ESP_OK;
    close(out[0]);
    close(errors[0]);
    return espi_err(err, ESP_EIO, "cannot run %s: %s", argv[0], strerror(code));
}

int espi_child_text(const char *text, size_t length)
{
    int raw = memfd_create("espalier", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int fd = raw < 0 ? -1 : fcntl(raw, F_DUPFD_CLOEXEC, 3);
    int code = errno;
    ssize_t n = 0;
    if (raw >= 0)
        close(raw);
    for (size_t at = 0; fd >= 0 && n >= 0 && at < length; at += (size_t)n) {
        n = write(fd, text + at, length - at);
        if (n < 0 && errno == EINTR)
            n = 0;
    }
    if (fd >= 0 && (n < 0 || fcntl(fd, F_ADD_SEALS, SEALS) || lseek(fd, 0, SEEK_SET))) {
        code = errno;
        close(fd);
        fd = -1;
    }
    errno = code;
    return fd;
}

/* ---- listening ---- */

/* Reads what is there; *end when there will be no more. */
static esp_status read_out(struct run *r, struct espi_child *child, int *end,
                           struct esp_err *err)
{
    if (espi_grow((void **)&child->out, &r->out_cap, child->out_length + 65536, 1))
        return espi_err_nomem(err);
    ssize_t got =
        read(r->fd[0], child->out + child->out_length, r->out_cap - child->out_length);
    *end = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
    if (got > 0)
        child->out_length += (size_t)got;
    if (child->out_length > ESPI_INPUT_MAX)
        return espi_err(err, ESP_EINPUT, "prints more than %zu MiB",
                        ESPI_INPUT_MAX >> 20);
    return ESP_OK;
}

static void read_tail(struct run *r, int *end)
{
    char piece[1024];
    ssize_t got = read(r->fd[1], piece, sizeof piece);
    *end = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
    if (got <= 0)
        return;
    size_t n = (size_t)got;
    if (r->tail_length + n > TAIL_MAX) { /* the oldest goes */
        size_t drop = r->tail_length + n - TAIL_MAX;
        memmove(r->tail, r->tail + drop, r->tail_length - drop);
        r->tail_length -= drop;
    }
    memcpy(r->tail + r->tail_length, piece, n);
    r->tail_length += n;
}

static esp_status listen_to(struct run *r, struct espi_child *child, struct esp_err *err)
{
    while (r->fd[0] >= 0 || r->fd[1] >= 0) {
        struct pollfd polls[2] = {{r->fd[0], POLLIN, 0}, {r->fd[1], POLLIN, 0}};
        double left_s = r->deadline_s - espi_now_s();
        if (left_s <= 0) {
            child->timed_out = 1;
            return ESP_OK;
        }
        int ready = poll(polls, 2, (int)ceil(fmin(left_s, 1000) * 1e3));
        if (ready < 0 && errno != EINTR)
            return espi_err(err, ESP_EIO, "cannot wait: %s", strerror(errno));
        for (int i = 0; i < 2 && ready > 0; i++) {
            int end = 0;
            esp_status status = ESP_OK;
            if (r->fd[i] < 0 || !polls[i].revents)
                continue;
            if (i == 0)
                status = read_out(r, child, &end, err);
            else
                read_tail(r, &end);
            if (status)
                return status;
            if (end) {
                close(r->fd[i]);
                r->fd[i] = -1;
            }
        }
    }
    return ESP_OK;
}

/* ---- ending ---- */

/* Until it has ended or the time is over; what waitpid says, 0: it has not ended. */
static pid_t wait_until(pid_t pid, double end_s, int *how)
{
    for (;;) {
        pid_t got = waitpid(pid, how, WNOHANG);
        if (got == pid || (got < 0 && errno != EINTR))
            return got;
        if (espi_now_s() >= end_s)
            return 0;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

int espi_child_reap(pid_t pid, double seconds, int *how)
{
    *how = 0;
    if (wait_until(pid, espi_now_s() + seconds, how))
        return 0;
    kill(pid, SIGKILL);
    if (!wait_until(pid, espi_now_s() + ESPI_KILLED_S, how))
        *how = SIGKILL; /* it will, but not now */
    return 1;
}

/* Waits for the end until the deadline, then brings it about. */
static void reap(pid_t pid, int now, struct run *r, struct espi_child *child)
{
    int how;
    double left_s = now ? 0 : fmax(r->deadline_s - espi_now_s(), 0);
    child->timed_out |= espi_child_reap(pid, left_s, &how) && !now;
    /* Programs that ignore SIGCHLD hear nothing of how it ended: the output must tell. */
    child->exit_code = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    child->signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
}

static void find_last_words(const struct run *r, struct espi_child *child)
{
    size_t end = r->tail_length;
    while (end && strchr("\r\n \t", r->tail[end - 1]) && r->tail[end - 1])
        end--;
    size_t start = end;
    while (start && r->tail[start - 1] != '\n')
        start--;
    char line[256];
    size_t n = end - start < sizeof line - 1 ? end - start : sizeof line - 1;
    memcpy(line, r->tail + start, n);
    line[n] = '\0';
    espi_quote(child->last_words, sizeof child->last_words, line);
}

esp_status espi_child_run(const char *const *argv, int in, double timeout_s,
                          struct espi_child *child, struct esp_err *err)
{
    struct run r = {.fd = {-1, -1}, .deadline_s = espi_now_s() + timeout_s};
    pid_t pid;
    memset(child, 0, sizeof *child);
    esp_status status = start_child(argv, in, &r, &pid, err);
    if (status)
        return status;
    status = listen_to(&r, child, err);
    for (int i = 0; i < 2; i++)
        if (r.fd[i] >= 0)
            close(r.fd[i]);
    reap(pid, status || child->timed_out, &r, child);
    if (status) {
        espi_child_done(child);
        return status;
    }
    find_last_words(&r, child);
    return ESP_OK;
}

void espi_child_done(struct espi_child *child)
{
    espi_free(child->out);
    child->out = NULL;
    child->out_length = 0;
}
