/* The prober beside the ranks of a machine (src/prober), started by the first of them.
 *
 * Under an advisor all ranks together, when MPI starts: the first rank of each machine
 * opens a UDP socket, the addresses go to all, rank 0 draws the key of the job, and each
 * first rank starts a prober with its socket, the list and a page of memory in which it
 * counts the collectives that it is in. From then on a collective costs two additions in
 * that page. The prober ends when the stream to it does, which the kernel closes whatever
 * ends the rank. What goes wrong leaves a machine, or the job, without probes. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/child.h"
#include "channel/prober.h"
#include "channel/report.h"
#include "mpi/shim.h"
#include "mpi/tuning.h"

/* limit: numbers of files out of the way of those that the prober is given. */
enum { ASIDE = 16 };

static atomic_int nowhere;
static struct {
    int life;          /* the stream; -1: there is no prober */
    atomic_int *calls; /* in the page */
} prober = {-1, &nowhere};

void espi_prober_busy(int change)
{
    atomic_fetch_add_explicit(prober.calls, change, memory_order_relaxed);
}

/* ---- what the prober is given ---- */

static int aside(int fd)
{
    int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, ASIDE);
    if (fd >= 0)
        close(fd);
    return moved;
}

/* A socket on the address that probes go from; its line in the list. */
static int open_wire(struct espi_prober *line)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr = {espi_prober_address(getenv)}};
    socklen_t length = sizeof at;
    int fd = aside(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (fd < 0)
        return -1;
    if (bind(fd, (const struct sockaddr *)&at, sizeof at) ||
        getsockname(fd, (struct sockaddr *)&at, &length)) {
        close(fd);
        return -1;
    }
    line->address = at.sin_addr.s_addr;
    line->port = at.sin_port;
    return fd;
}

/* A page for the counter, and its file. */
static int open_page(atomic_int **calls)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    int fd = aside(memfd_create("espalier-calls", MFD_CLOEXEC));
    void *page = fd < 0 || ftruncate(fd, (off_t)size)
                     ? MAP_FAILED
                     : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *calls = page;
    atomic_init(*calls, 0);
    return fd;
}

/* ---- starting it ---- */

/* Takes away the signal of our child, unless it is another's, too. */
static void forget_child_signal(const sigset_t *child)
{
    struct timespec at_once = {0, 0};
    siginfo_t other = {.si_pid = 0};
    if (sigtimedwait(child, NULL, &at_once) > 0 &&
        !waitid(P_ALL, 0, &other, WEXITED | WNOHANG | WNOWAIT) && other.si_pid)
        kill(getpid(), SIGCHLD);
}

/* The program's child that leads to it ends at once, and is nobody else's business: not
 * that of a handler for ended children either. */
static int spawn_prober(int life, int wire, int page)
{
    posix_spawn_file_actions_t files;
    char *words[] = {espi_job.settings.prober, NULL}, *none[] = {NULL};
    sigset_t child, before;
    pid_t pid;
    if (posix_spawn_file_actions_init(&files))
        return -1;
    int bad = posix_spawn_file_actions_adddup2(&files, life, 0) ||
              posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) ||
              posix_spawn_file_actions_adddup2(&files, 1, 2) ||
              posix_spawn_file_actions_adddup2(&files, wire, 3) ||
              posix_spawn_file_actions_adddup2(&files, page, 4);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child, &before);
    bad = bad || posix_spawn(&pid, words[0], &files, NULL, words, none);
    int started = !bad, how;
    bad = bad ||
          espi_child_reap(pid, ESPI_CHILD_S, &how); /* a setting may name any program */
    if (started && !sigismember(&before, SIGCHLD))
        forget_child_signal(&child);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    posix_spawn_file_actions_destroy(&files);
    return bad ? -1 : 0;
}

/* What it is told; it reads that at once, so that this waits for nothing. */
static int tell_prober(int fd, const void *data, size_t length)
{
    struct timeval patience = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    for (size_t at = 0; at < length;) {
        ssize_t n = send(fd, (const char *)data + at, length - at, MSG_NOSIGNAL);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static void start_prober(const struct espi_prober_head *head,
                         const struct espi_prober *list, int wire)
{
    atomic_int *calls = NULL;
    int ends[2];
    int page = open_page(&calls);
    if (page < 0)
        return;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        int life = aside(ends[0]), theirs = aside(ends[1]);
        if (life >= 0 && theirs >= 0 && !spawn_prober(theirs, wire, page) &&
            !tell_prober(life, head, sizeof *head) &&
            !tell_prober(life, list, (size_t)head->n * sizeof *list)) {
            prober.life = life;
            prober.calls = calls;
        } else if (life >= 0) {
            close(life);
        }
        if (theirs >= 0)
            close(theirs);
    }
    close(page);
}

/* ---- all together ---- */

static int is_first_of_machine(void)
{
    for (int r = 0; r < espi_job.rank; r++)
        if (espi_job.node[r] == espi_job.node[espi_job.rank])
            return 0;
    return 1;
}

static int is_inside(const struct espi_prober *line)
{
    return ntohl(line->address) >> 24 == IN_LOOPBACKNET;
}

/* Leaves only lines with an address, in the order of ranks; how many there are. The
 * loopback is of use only to those who all are on the advisor's machine. */
static int gather_probers(const struct espi_prober *own, struct espi_prober *list,
                          struct espi_prober_head *head)
{
    int n = 0, apart = 0;
    head->self = head->hub = -1;
    PMPI_Allgather(own, (int)sizeof *own, MPI_BYTE, list, (int)sizeof *list, MPI_BYTE,
                   MPI_COMM_WORLD);
    for (int r = 0; r < espi_job.n; r++)
        apart |= list[r].port && !(is_inside(&list[r]) && list[r].here);
    for (int r = 0; r < espi_job.n; r++) {
        if (!list[r].port || (apart && is_inside(&list[r])) || n == ESPI_PROBERS_MAX)
            continue;
        if (r == espi_job.rank)
            head->self = n;
        if (list[r].here && head->hub < 0)
            head->hub = n;
        list[n++] = list[r];
    }
    return n;
}

/* The key of the job, which never leaves it but by MPI; all or none have it. */
static int draw_key(struct espi_prober_head *head)
{
    int drawn = 1;
    if (espi_job.rank == 0)
        drawn = getrandom(head->key, sizeof head->key, 0) == sizeof head->key;
    PMPI_Bcast(&drawn, 1, MPI_INT, 0, MPI_COMM_WORLD);
    PMPI_Bcast(head->key, (int)sizeof head->key, MPI_BYTE, 0, MPI_COMM_WORLD);
    return drawn;
}

void espi_prober_begin(void)
{
    const struct espi_settings *s = &espi_job.settings;
    struct espi_prober_head head = {.magic = ESPI_PROBER_MAGIC};
    struct espi_prober own = {.node = -1};
    size_t length = strlen(s->advice);
    int wire = -1, ready = 1, all_ready = 0;
    if (!length || length >= sizeof head.folder || !s->prober[0] || !(s->probe > 0) ||
        !espi_job.node)
        return; /* alike on all ranks */
    memcpy(head.folder, s->advice, length);
    struct espi_prober *list = ESPI_NEW(struct espi_prober, espi_job.n);
    ready = list != NULL;
    PMPI_Allreduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all_ready && list) {
        own.node = espi_job.node[espi_job.rank];
        own.here = (uint16_t)espi_advice_is_here(s->advice);
        if (is_first_of_machine())
            wire = open_wire(&own);
        head.n = gather_probers(&own, list, &head);
        if (draw_key(&head) && head.self >= 0 && espi_prober_head_is_sane(&head))
            start_prober(&head, list, wire);
    }
    if (wire >= 0)
        close(wire);
    espi_free(list);
}

void espi_prober_end(void)
{
    if (prober.life >= 0)
        close(prober.life);
    prober.life = -1;
    prober.calls =
        &nowhere; /* the page goes with the process: a thread may be counting */
}
