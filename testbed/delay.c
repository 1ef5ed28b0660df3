/* espalier-delay: the long links of a testbed. Each joins two TUN interfaces, in two
 * network namespaces, and hands over what one sends to the other a fixed time later.
 * Rates are not its business: the interfaces shape what they send.
 *
 * usage: espalier-delay FILE
 * FILE has a line a link: namespace, interface, namespace, interface, and the seconds
 * from the first to the second and back. It prints "ready" when the interfaces are there
 * and then runs until it is ended, with which they go away.
 *
 * Packets are kept as they come, up to 16 kB at a time with the header that says how to
 * cut them, so that a link takes few system calls. A packet is late by as much as this
 * process waits for a processor, so it asks to be served first. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define PACKET_MAX  (65536 + 64)
#define HELD_MAX    ((size_t)32 << 20) /* bytes on the way; what comes beyond is lost */
#define AT_A_TIME   64                 /* packets read before others have their turn */
#define NAMES_WIDTH 199

struct packet {
    struct packet *next;
    int64_t due_ns;
    size_t length;
    unsigned char bytes[];
};

/* One direction of a link. */
struct line {
    int from, to; /* interfaces */
    int64_t delay_ns;
    struct packet *first, **last;
    size_t held;
};

static struct line *lines;
static int n_lines;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "espalier-delay: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- interfaces ---- */

static void enter(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || setns(fd, CLONE_NEWNET))
        fail(path);
    close(fd);
}

static int open_interface(const char *space, const char *name)
{
    char path[300];
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};

    snprintf(path, sizeof path, "/run/netns/%s", space);
    enter(path);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        fail("/dev/net/tun");
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (ioctl(fd, TUNSETIFF, &request) ||
        ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4))
        fail(name);
    return fd;
}

static void add_line(int from, int to, double delay_s)
{
    struct line *more = realloc(lines, ((size_t)n_lines + 1) * sizeof *lines);

    if (!more)
        fail("memory");
    lines = more;
    lines[n_lines++] =
        (struct line){.from = from, .to = to, .delay_ns = (int64_t)(delay_s * 1e9)};
}

static void read_links(const char *path)
{
    char space[2][NAMES_WIDTH + 1], name[2][16];
    double delay_s[2];
    FILE *in = fopen(path, "re");

    if (!in)
        fail(path);
    while (fscanf(in, "%199s %15s %199s %15s %lf %lf", space[0], name[0], space[1],
                  name[1], &delay_s[0], &delay_s[1]) == 6) {
        int a = open_interface(space[0], name[0]), b = open_interface(space[1], name[1]);
        add_line(a, b, delay_s[0]);
        add_line(b, a, delay_s[1]);
    }
    fclose(in);
    for (int i = 0; i < n_lines; i++)
        lines[i].last = &lines[i].first;
}

/* ---- packets ---- */

static void take_in(struct line *l)
{
    static unsigned char room[PACKET_MAX];

    for (int i = 0; i < AT_A_TIME; i++) {
        ssize_t n = read(l->from, room, sizeof room);
        if (n <= 0)
            return;
        struct packet *p =
            l->held + (size_t)n > HELD_MAX ? NULL : malloc(sizeof *p + (size_t)n);
        if (!p)
            continue;
        p->next = NULL;
        p->due_ns = now_ns() + l->delay_ns;
        p->length = (size_t)n;
        memcpy(p->bytes, room, (size_t)n);
        *l->last = p;
        l->last = &p->next;
        l->held += (size_t)n;
    }
}

static void hand_over(struct line *l, int64_t now)
{
    while (l->first && l->first->due_ns <= now) {
        struct packet *p = l->first;
        /* A packet that the other side cannot take is lost, as on any link. */
        ssize_t n = write(l->to, p->bytes, p->length);
        (void)n;
        l->first = p->next;
        if (!l->first)
            l->last = &l->first;
        l->held -= p->length;
        free(p);
    }
}

static void set_timer(int timer)
{
    int64_t due = 0;

    for (int i = 0; i < n_lines; i++)
        if (lines[i].first && (!due || lines[i].first->due_ns < due))
            due = lines[i].first->due_ns;
    struct itimerspec at = {
        .it_value = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static _Noreturn void run(void)
{
    int all = epoll_create1(EPOLL_CLOEXEC);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = UINT32_MAX};

    if (all < 0 || timer < 0 || epoll_ctl(all, EPOLL_CTL_ADD, timer, &event))
        fail("events");
    for (int i = 0; i < n_lines; i++) {
        event.data.u32 = (uint32_t)i;
        if (epoll_ctl(all, EPOLL_CTL_ADD, lines[i].from, &event))
            fail("events");
    }
    for (;;) {
        struct epoll_event events[32];
        uint64_t times;
        int n = epoll_wait(all, events, 32, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.u32 != UINT32_MAX)
                take_in(&lines[events[i].data.u32]);
            else if (read(timer, &times, sizeof times) < 0 && errno != EAGAIN)
                fail("timer");
        }
        int64_t now = now_ns();
        for (int i = 0; i < n_lines; i++)
            hand_over(&lines[i], now);
        set_timer(timer);
    }
}

int main(int argc, char **argv)
{
    struct sched_param first = {.sched_priority = 10};
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

    if (argc != 2) {
        fprintf(stderr, "usage: espalier-delay FILE\n");
        return 2;
    }
    read_links(argv[1]);
    /* Back to where the testbed looks for its processes. */
    if (home < 0 || setns(home, CLONE_NEWNET))
        fail("namespace");
    close(home);
    sched_setscheduler(0, SCHED_FIFO, &first); /* does without where it is refused */
    prctl(PR_SET_TIMERSLACK, 1);
    if (puts("ready") == EOF || fflush(stdout))
        fail("standard output");
    fclose(stdout);
    run();
}
