#include <mpi.h>

#ifndef OPEN_MPI

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mpi/store_relay.h"

enum { PIECE = 4096 }; /* limit: bytes that go through at once */

static struct relay {
    int file;     /* that the library is born with; -1: there is no relay */
    int launcher; /* where that led */
    int library;  /* the other end of what it leads to now */
    char answer[PIECE];
    atomic_bool answered; /* is there an answer? */
    pthread_t thread;
} relay = {.file = -1};

static int write_all(int fd, const char *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t written = send(fd, bytes + at, n - at, MSG_NOSIGNAL);
        if (written < 0 && errno == ENOTSOCK)
            written = write(fd, bytes + at, n - at);
        if (written < 0 && errno != EINTR)
            return -1;
        at += written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/* What has come from one goes to the other; -1: nothing comes any more. */
static int pass_on(int from, int to)
{
    char piece[PIECE];
    ssize_t n;

    while ((n = read(from, piece, sizeof piece)) < 0 && errno == EINTR)
        continue;
    return n > 0 ? write_all(to, piece, (size_t)n) : -1;
}

/* The library's first words: the same as ours, of which the answer is known. It waits for
 * that, so that nothing else comes with them. */
static int take_greeting(void)
{
    static const char greeting[] = "cmd=init ";
    char line[PIECE];
    size_t n = 0;

    while (n == 0 || (line[n - 1] != '\n' && n < sizeof line)) {
        ssize_t got = read(relay.library, line + n, sizeof line - n);
        if (got == 0 || (got < 0 && errno != EINTR))
            return -1;
        n += got > 0 ? (size_t)got : 0;
    }
    if (atomic_load(&relay.answered) && strncmp(line, greeting, sizeof greeting - 1) == 0)
        return write_all(relay.library, relay.answer, strlen(relay.answer));
    return write_all(relay.launcher, line, n);
}

static void *run_relay(void *unused)
{
    struct pollfd ends[2] = {{.fd = relay.library, .events = POLLIN},
                             {.fd = relay.launcher, .events = POLLIN}};
    int open = take_greeting() == 0;

    (void)unused;
    while (open) {
        if (poll(ends, 2, -1) < 0)
            continue;
        if (ends[0].revents)
            open = pass_on(relay.library, relay.launcher) == 0;
        if (open && ends[1].revents)
            open = pass_on(relay.launcher, relay.library) == 0;
    }
    shutdown(relay.library, SHUT_RDWR); /* a launcher that has gone is gone for it, too */
    return NULL;
}

/* Signals are the program's. */
static int start_thread(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int bad = pthread_create(&relay.thread, NULL, run_relay, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return bad ? -1 : 0;
}

/* The file, its flags kept, leads to where the other does. */
static int lead_to(int file, int other)
{
    int flags = fcntl(file, F_GETFD);

    return flags < 0 || dup3(other, file, flags & FD_CLOEXEC ? O_CLOEXEC : 0) < 0 ? -1
                                                                                  : 0;
}

int espi_store_relay_begin(int file)
{
    int ends[2];
    int launcher = fcntl(file, F_DUPFD_CLOEXEC, 0);

    if (launcher < 0)
        return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        close(launcher);
        return -1;
    }
    relay.launcher = launcher;
    relay.library = ends[0];
    int bad = lead_to(file, ends[1]);
    close(ends[1]);
    if (!bad && !start_thread()) {
        relay.file = file;
        return launcher;
    }
    if (!bad)
        lead_to(file, launcher);
    close(ends[0]);
    close(launcher);
    return -1;
}

void espi_store_relay_answer(const char *line)
{
    snprintf(relay.answer, sizeof relay.answer, "%s\n", line);
    atomic_store(&relay.answered, true);
}

void espi_store_relay_end(void)
{
    if (relay.file < 0)
        return;
    lead_to(relay.file, relay.launcher);
    /* With that the other end of ours is closed, unless a child of the program has a
     * copy: what has come is passed on, and no more is waited for. */
    shutdown(relay.library, SHUT_RD);
    pthread_join(relay.thread, NULL);
    close(relay.library);
    close(relay.launcher);
    relay.file = -1;
}

#endif
