/* The waiting library of the testbed, loaded into every rank of every contestant.
 *
 * MPI libraries look for messages all the time. On a cluster that is right; 64 ranks on
 * two processors so take from each other the time to send. Here a look that would not
 * wait waits up to 10 ms for something to happen; but not soon after one that found
 * something, for then the caller may have work to do that shows only when it looks again.
 * One look is not enough: libevent itself looks again after each event, and who tests for
 * one thing and then for another sees what came with the first only at the third look.
 * Nor soon after something was sent: MPICH looks in every call that asks whether messages
 * are done, up to four times and also where all of them are, and who only sends, a root,
 * so waited 10 ms for each of its short messages.
 *
 * For MPICH (ESPALIER_WAIT_MPICH) it also ends programs: with its TCP transport on
 * several hosts MPI_Finalize can hang. Ranks wait for each other, as MPI_Finalize would
 * have them do, and leave without it when the program ends. */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define WAIT_MS  10
#define SOON     16 /* looks */

static __thread int restless; /* how many looks there are still to be without waiting */

static void *next(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    if (!symbol) {
        fprintf(stderr, "espalier: no %s behind the testbed's waiting library\n", name);
        _exit(1);
    }
    return symbol;
}

/* How long to wait in place of timeout. */
static int patience(int timeout)
{
    return timeout == 0 && restless == 0 ? WAIT_MS : timeout;
}

static void looked(int n_found)
{
    if (n_found > 0)
        restless = SOON;
    else if (restless > 0)
        restless--;
}

EXPORTED int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
    static int (*real)(int, struct epoll_event *, int, int);

    if (!real)
        real = (int (*)(int, struct epoll_event *, int, int))next("epoll_wait");
    int n = real(fd, events, max, patience(timeout));
    looked(n);
    return n;
}

EXPORTED int epoll_pwait(int fd, struct epoll_event *events, int max, int timeout,
                         const sigset_t *mask)
{
    static int (*real)(int, struct epoll_event *, int, int, const sigset_t *);

    if (!real)
        real = (int (*)(int, struct epoll_event *, int, int, const sigset_t *))next(
            "epoll_pwait");
    int n = real(fd, events, max, patience(timeout), mask);
    looked(n);
    return n;
}

EXPORTED int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    static int (*real)(struct pollfd *, nfds_t, int);

    if (!real)
        real = (int (*)(struct pollfd *, nfds_t, int))next("poll");
    int n = real(fds, count, patience(timeout));
    looked(n);
    return n;
}

/* ---- sending ---- */

EXPORTED ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
    static ssize_t (*real)(int, const void *, size_t, int);

    if (!real)
        real = (ssize_t(*)(int, const void *, size_t, int))next("send");
    restless = SOON;
    return real(fd, data, bytes, flags);
}

EXPORTED ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static ssize_t (*real)(int, const struct msghdr *, int);

    if (!real)
        real = (ssize_t(*)(int, const struct msghdr *, int))next("sendmsg");
    restless = SOON;
    return real(fd, message, flags);
}

EXPORTED ssize_t writev(int fd, const struct iovec *parts, int count)
{
    static ssize_t (*real)(int, const struct iovec *, int);

    if (!real)
        real = (ssize_t(*)(int, const struct iovec *, int))next("writev");
    restless = SOON;
    return real(fd, parts, count);
}

#ifdef ESPALIER_WAIT_MPICH

#define MPICH_COMM_WORLD 0x44000000

int MPI_Finalize(void);
int PMPI_Finalize(void);

/* Says to the launcher that the rank ends as it should, as MPI_Finalize would have (PMI
 * 1). Else a launcher that sees the connection closed before the process ended takes that
 * for a crash: about every tenth launch ended with status 1. */
static void sign_off(void)
{
    static const char words[] = "cmd=finalize\n";
    const char *text = getenv("PMI_FD");
    struct pollfd answer = {.fd = text ? atoi(text) : -1, .events = POLLIN};
    char c = 0;

    if (answer.fd < 0 || write(answer.fd, words, sizeof words - 1) < 0)
        return;
    while (c != '\n' && poll(&answer, 1, 1000) == 1 && read(answer.fd, &c, 1) == 1)
        ;
}

static void leave(int status, void *data)
{
    (void)data;
    fflush(NULL);
    sign_off();
    _exit(status);
}

EXPORTED int PMPI_Finalize(void)
{
    int (*barrier)(int) = (int (*)(int))next("PMPI_Barrier");
    int code = barrier(MPICH_COMM_WORLD);

    return on_exit(leave, NULL) ? -1 : code;
}

EXPORTED int MPI_Finalize(void)
{
    return PMPI_Finalize();
}

#endif
