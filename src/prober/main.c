/* espalier-prober: sends and times the trains of packets by which the advisor of a job
 * looks at links while the program computes. One a machine of the job, started by the
 * first rank there when MPI starts and ended with it; nobody starts it by hand.
 *
 * It is given, by number: 0 a stream of the rank's, on which it is told what it needs
 * once, and whose end is its own; 3 the UDP socket that the list names; 4 memory in which
 * the rank counts the collectives that it is in. While that is not 0 nothing is sent.
 * It takes no part in MPI, holds nothing of the rank's open, is no child of the rank's (a
 * program may wait for all of its children), gives way to all else, and what it cannot do
 * it leaves. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "channel/prober.h"
#include "channel/report.h"
#include "prober/tuning.h"

/* Kernels before 5.3 and 5.9 and their headers do without these; tests do, too. */
#ifdef ESPI_OLD_HEADERS
#undef SYS_pidfd_open
#undef SYS_close_range
#endif

enum { LIFE = 0, WIRE = 3, CALLS = 4 }; /* code: of files */

static struct {
    struct espi_prober_head head;
    struct espi_prober list[ESPI_PROBERS_MAX];
    const atomic_int *calls; /* that the rank is in */
    pid_t rank;              /* the rank's process */
    int rank_fd;             /* of it; -1: cannot be had */
    struct espi_train train;
    uint64_t ordered; /* the last order that was carried out */
    double sent_s;    /* when the last train was */
    double train_seen_s;
    /* the hub's */
    int advisor; /* socket; -1: none */
    double tried_s, told_s;
    int told;          /* lines of the list that the advisor was told of since then */
    uint64_t numbered; /* orders so far */
    uint64_t asked;    /* the advisor's number of the last; 0: it has ended */
    struct espi_probe_note note;
} me = {.rank_fd = -1, .advisor = -1};

static int is_hub(void)
{
    return me.head.self == me.head.hub;
}

static int node_of(int place)
{
    return me.list[place].node;
}

static int is_calling(void)
{
    return atomic_load_explicit(me.calls, memory_order_relaxed) > 0;
}

/* ---- packets ---- */

static int send_packet(int place, const struct espi_packet *like, int kind, size_t length)
{
    static struct {
        struct espi_packet head;
        char rest[ESPI_TRAIN_PACKET_BYTES - sizeof(struct espi_packet)];
    } out;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr = {me.list[place].address},
                             .sin_port = me.list[place].port};
    out.head = *like;
    out.head.kind = (uint16_t)kind;
    out.head.sender = node_of(me.head.self);
    espi_packet_seal(&out.head, me.head.key);
    return sendto(WIRE, &out, length, MSG_DONTWAIT | MSG_NOSIGNAL,
                  (const struct sockaddr *)&to, sizeof to) == (ssize_t)length
               ? 0
               : -1;
}

static int place_of_node(int node)
{
    for (int i = 0; i < me.head.n; i++)
        if (me.list[i].node == node)
            return i;
    return -1;
}

static void tell_hub(const struct espi_packet *p, int kind)
{
    send_packet(me.head.hub, p, kind, sizeof *p);
}

/* An order of the hub's: a train, which ends at once when the program calls. */
static void carry_out(const struct espi_packet *order)
{
    struct espi_packet p = *order;
    int to = place_of_node(p.to), bad = 0;
    double now_s = espi_now_s();
    if (p.number <= me.ordered || p.from != node_of(me.head.self) || to < 0)
        return;
    me.ordered = p.number;
    if (is_calling() || now_s - me.sent_s < ESPI_TRAIN_GAP_S) {
        tell_hub(order, ESPI_PACKET_REFUSED);
        return;
    }
    me.sent_s = now_s;
    for (int i = 0; i < ESPI_TRAIN_PACKETS && !bad; i++) {
        p.index = (uint16_t)i;
        bad = is_calling() ||
              send_packet(to, &p, ESPI_PACKET_TRAIN, ESPI_TRAIN_PACKET_BYTES);
    }
    if (bad)
        tell_hub(order, ESPI_PACKET_REFUSED);
}

/* ---- the hub ---- */

/* -1: not now. */
static int tell_advisor(struct espi_probe_note *n)
{
    n->magic = ESPI_PROBE_NOTE_MAGIC;
    n->version = ESPI_PROBE_NOTE_VERSION;
    return me.advisor >= 0 && send(me.advisor, n, sizeof *n,
                                   MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof *n
               ? 0
               : -1;
}

static void end_order(enum espi_probe_end end, double Bps)
{
    struct espi_probe_note n = me.note;
    if (!me.asked)
        return;
    me.asked = 0;
    n.kind = ESPI_PROBE_NOTE_END;
    n.end = (int32_t)end;
    n.Bps = Bps;
    (void)tell_advisor(&n); /* it does not wait for ever either */
}

static void take_order(const struct espi_probe_note *n)
{
    int from = place_of_node(n->from);
    if (!espi_probe_note_is_sane(n, INT32_MAX) || n->kind != ESPI_PROBE_NOTE_ORDER ||
        from < 0 || place_of_node(n->to) < 0)
        return;
    me.note = *n;
    me.asked = n->number;
    struct espi_packet p = {.from = n->from, .to = n->to, .number = ++me.numbered};
    if (is_calling() || send_packet(from, &p, ESPI_PACKET_ORDER, sizeof p))
        end_order(ESPI_PROBE_REFUSED, 0);
}

static void leave_advisor(void)
{
    if (me.advisor >= 0)
        close(me.advisor);
    me.advisor = -1;
    me.asked = 0;
}

/* Who can probe. Its socket may have no room for all: then the others later. */
static void tell_who(double now_s)
{
    if (me.told == me.head.n && now_s - me.told_s >= ESPI_AGAIN_S) {
        me.told_s = now_s;
        me.told = 0;
    }
    for (; me.told < me.head.n; me.told++) {
        struct espi_probe_note n = {.kind = ESPI_PROBE_NOTE_PROBER,
                                    .from = node_of(me.told)};
        if (me.list[me.told].port && tell_advisor(&n))
            return;
    }
}

static void meet_advisor(void)
{
    double now_s = espi_now_s();
    if (me.advisor < 0 && now_s - me.tried_s >= ESPI_RETRY_S) {
        me.tried_s = now_s;
        me.told_s = now_s;
        me.told = 0;
        me.advisor = espi_advice_connect(me.head.folder);
    }
    if (me.advisor >= 0)
        tell_who(now_s);
}

static void hear_advisor(void)
{
    struct espi_probe_note n;
    ssize_t got;
    while ((got = recv(me.advisor, &n, sizeof n, MSG_DONTWAIT | MSG_TRUNC)) > 0)
        if (got == sizeof n)
            take_order(&n);
    if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        leave_advisor();
}

/* ---- what comes in ---- */

static void end_train(void)
{
    struct espi_packet p = {.from = me.train.from,
                            .to = node_of(me.head.self),
                            .number = me.train.number,
                            .Bps = espi_train_Bps(&me.train)};
    me.train_seen_s = 0;
    me.train.done = 1;
    if (p.Bps > 0)
        tell_hub(&p, ESPI_PACKET_RATE);
}

static void take_packet(const struct espi_packet *p, double at_s)
{
    int own = node_of(me.head.self);
    if (p->kind == ESPI_PACKET_ORDER) {
        carry_out(p);
    } else if (p->kind == ESPI_PACKET_TRAIN && p->to == own) {
        me.train_seen_s = espi_now_s();
        if (espi_train_note(&me.train, p, at_s))
            end_train();
        else if (me.train.done)
            me.train_seen_s = 0;
    } else if (is_hub() && p->number == me.numbered && p->from == me.note.from &&
               p->to == me.note.to) {
        end_order(p->kind == ESPI_PACKET_RATE ? ESPI_PROBE_RATE : ESPI_PROBE_REFUSED,
                  p->Bps);
    }
}

/* When the kernel had the packet; else now. */
static double arrival_s(struct msghdr *m)
{
    struct timespec t;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            memcpy(&t, CMSG_DATA(c), sizeof t);
            return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
        }
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void hear_wire(void)
{
    for (int i = 0; i < 4 * ESPI_TRAIN_PACKETS; i++) {
        char data[2048], control[128];
        struct sockaddr_in from = {.sin_family = AF_UNSPEC};
        struct espi_packet p;
        struct iovec piece = {data, sizeof data};
        struct msghdr m = {.msg_name = &from,
                           .msg_namelen = sizeof from,
                           .msg_iov = &piece,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof control};
        ssize_t n = recvmsg(WIRE, &m, MSG_DONTWAIT);
        if (n < 0)
            return;
        if (espi_packet_open(data, (size_t)n, &from, &me.head, me.list, &p) >= 0)
            take_packet(&p, arrival_s(&m));
    }
}

/* ---- life ---- */

/* Reads all of it; -1: the rank is gone. */
static int read_all(void *to, size_t length)
{
    for (size_t at = 0; at < length;) {
        ssize_t n = read(LIFE, (char *)to + at, length - at);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int begin_probe(void)
{
    int on = 1, room = 1 << 18;
    if (read_all(&me.head, sizeof me.head) || !espi_prober_head_is_sane(&me.head) ||
        read_all(me.list, (size_t)me.head.n * sizeof *me.list))
        return -1;
    void *page = mmap(NULL, sizeof *me.calls, PROT_READ, MAP_SHARED, CALLS, 0);
    if (page == MAP_FAILED)
        return -1;
    me.calls = page;
    setsockopt(WIRE, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    setsockopt(WIRE, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    setsockopt(WIRE, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    return fcntl(LIFE, F_SETFL, O_NONBLOCK);
}

static int wait_ms(void)
{
    if (me.train_seen_s > 0)
        return 50;
    if (me.rank_fd < 0)
        return ESPI_RANK_MS;
    if (!is_hub())
        return 60000;
    return (int)(1000 *
                 (me.advisor < 0 || me.told < me.head.n ? ESPI_RETRY_S : ESPI_AGAIN_S));
}

/* The stream tells of it, too, unless somebody has it from the rank by a fork. */
static int is_rank_gone(void)
{
    return me.rank_fd < 0 && kill(me.rank, 0) && errno == ESRCH;
}

/* Until the rank is gone. */
static void live(void)
{
    struct pollfd fds[4] = {{.fd = LIFE, .events = POLLIN},
                            {.fd = WIRE, .events = POLLIN},
                            {.fd = me.rank_fd, .events = POLLIN},
                            {.fd = -1, .events = POLLIN}};
    char nothing[64];
    for (;;) {
        if (is_hub())
            meet_advisor();
        fds[3].fd = me.advisor;
        if (poll(fds, 4, wait_ms()) < 0 && errno != EINTR)
            return;
        if (fds[2].revents || is_rank_gone() ||
            (fds[0].revents && read(LIFE, nothing, sizeof nothing) <= 0))
            return;
        if (fds[1].revents)
            hear_wire();
        if (fds[3].revents && me.advisor >= 0)
            hear_advisor();
        if (me.train_seen_s > 0 && espi_now_s() - me.train_seen_s > ESPI_TRAIN_END_S)
            end_train();
    }
}

/* What the rank has open beside what is ours must not stay open through us. */
static void close_others(void)
{
#ifdef SYS_close_range
    if (!syscall(SYS_close_range, CALLS + 1, ~0U, 0))
        return;
#endif
    DIR *all = opendir("/proc/self/fd");
    for (struct dirent *one; all && (one = readdir(all)) != NULL;) {
        int fd = (int)strtol(one->d_name, NULL, 10);
        if (fd > CALLS && fd != dirfd(all))
            close(fd);
    }
    if (all)
        closedir(all);
    else
        for (int fd = CALLS + 1; fd < 4096; fd++)
            close(fd);
}

static void find_rank(void)
{
    me.rank = getppid();
#ifdef SYS_pidfd_open
    me.rank_fd = (int)syscall(SYS_pidfd_open, me.rank, 0);
#endif
}

int main(void)
{
    sigset_t none;
    close_others();
    find_rank();
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* not the program's */
    if (fork())
        _exit(0);
    if (nice(10) < 0)
        errno = 0;
    if (begin_probe())
        return 1;
    live();
    return 0;
}
