#include "copy/pings.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "copy/tuning.h"

enum {
    ROUNDS = 2, /* derived: before the first, the way itself may have to be found */
    MS_A_SECOND = 1000, /* derived */
};

static int begin_connection(const struct espi_ping *p)
{
    char port[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    snprintf(port, sizeof port, "%u", (unsigned)p->port);
    if (getaddrinfo(p->address, port, &hints, &found))
        return -1;
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) &&
        errno != EINPROGRESS) {
        close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

/* The connection is there, or cannot be. */
static void end_connection(struct espi_ping *p)
{
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    int code = 0;
    socklen_t code_length = sizeof code;
    if (getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &code, &code_length) == 0 && code == 0 &&
        getsockopt(p->fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
        info.tcpi_rtt > 0 && info.tcpi_rtt < p->round_trip_us)
        p->round_trip_us = info.tcpi_rtt;
    close(p->fd);
    p->fd = -1;
}

static int wait_for_some(struct espi_ping *ping, int n, double until_s)
{
    struct pollfd fd[ESPI_PINGS_MAX];
    int open = 0;
    double left_s = until_s - espi_now_s();
    for (int i = 0; i < n; i++) {
        fd[i] = (struct pollfd){.fd = ping[i].fd, .events = POLLOUT};
        open += ping[i].fd >= 0;
    }
    if (open == 0 || left_s <= 0)
        return 0;
    poll(fd, (nfds_t)n, (int)(left_s * MS_A_SECOND) + 1);
    for (int i = 0; i < n; i++)
        if (fd[i].fd >= 0 && fd[i].revents)
            end_connection(&ping[i]);
    return 1;
}

void espi_pings(struct espi_ping *ping, int n)
{
    for (int i = 0; i < n; i++)
        ping[i].round_trip_us = UINT32_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        double until_s = espi_now_s() + ESPI_COPY_PING_S;
        for (int i = 0; i < n; i++)
            ping[i].fd = begin_connection(&ping[i]);
        while (wait_for_some(ping, n, until_s))
            continue;
        for (int i = 0; i < n; i++)
            if (ping[i].fd >= 0)
                close(ping[i].fd);
    }
}

int espi_pings_whom(int i, int n, int k)
{
    int half = n / 2;
    int most = half < ESPI_PINGS_MAX ? half : ESPI_PINGS_MAX;
    if (k >= most)
        return -1;
    int step = half <= ESPI_PINGS_MAX ? k : (int)((int64_t)k * (half - 1) / (most - 1));
    return (i + 1 + step) % n;
}
