#include "testbed/netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"

#define SPACES "/run/netns"

static const char *path_of(char out[256], const char *space)
{
    snprintf(out, 256, SPACES "/%s", space);
    return out;
}

int espi_netns_enter(const char *space)
{
    char path[256];
    int fd = open(path_of(path, space), O_RDONLY | O_CLOEXEC);
    int bad = fd < 0 || setns(fd, CLONE_NEWNET);
    int code = errno;

    if (fd >= 0)
        close(fd);
    errno = code;
    return bad ? -1 : 0;
}

int espi_netns_exists(const char *space)
{
    char path[256];
    struct stat st;

    return lstat(path_of(path, space), &st) == 0;
}

int espi_netns_remove(const char *space)
{
    char path[256];

    path_of(path, space);
    while (umount2(path, MNT_DETACH) == 0)
        ;
    return unlink(path) && errno != ENOENT ? -1 : 0;
}

/* ---- one job, in a child ---- */

/* A file in memory that holds the text; -1 and errno. */
static int text_file(const char *text)
{
    int fd = memfd_create("lines", 0);
    size_t length = strlen(text);

    if (fd >= 0 &&
        (write(fd, text, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* In the child: a line on standard error is what the parent reports. */
static void write_settings(const char *lines)
{
    while (*lines) {
        char path[160];
        size_t name = strcspn(lines, " "), end = strcspn(lines, "\n");
        int skip = name < end;
        snprintf(path, sizeof path, "/proc/sys/net/%.*s", (int)name, lines);
        const char *value = lines + name + skip;
        size_t length = end - name - (size_t)skip;
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        /* A kernel without IPv6 needs none of it switched off. */
        int wanted = strncmp(lines, "ipv6/", 5) != 0;
        if ((fd < 0 || write(fd, value, length) != (ssize_t)length) && wanted) {
            fprintf(stderr, "%s: %s\n", path, strerror(errno));
            _exit(1);
        }
        if (fd >= 0)
            close(fd);
        lines += end + (lines[end] == '\n');
    }
}

static void start_tool(const char *tool, const char *lines)
{
    int fd = text_file(lines);

    if (fd < 0 || dup2(fd, 0) < 0) {
        fprintf(stderr, "cannot hand lines to %s: %s\n", tool, strerror(errno));
        _exit(1);
    }
    execlp(tool, tool, "-batch", "-", (char *)NULL);
    fprintf(stderr, "cannot run %s: %s (Debian's package iproute2 has it)\n", tool,
            strerror(errno));
    _exit(1);
}

static int wait_for(pid_t child)
{
    int how = 0;
    pid_t got;

    while ((got = waitpid(child, &how, 0)) < 0 && errno == EINTR)
        ;
    return got == child && WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

static void do_job(const struct espi_netns_job *job, pid_t parent, int errors)
{
    /* Nothing goes on being built when the builder is gone. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(errors, 2) < 0)
        _exit(1);
    setenv("PATH", "/usr/sbin:/sbin:/usr/bin:/bin", 1);
    if (job->space && espi_netns_enter(job->space)) {
        fprintf(stderr, "cannot enter %s: %s\n", job->space, strerror(errno));
        _exit(1);
    }
    if (job->settings)
        write_settings(job->settings);
    if (job->ip && *job->ip && job->tc && *job->tc) {
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            start_tool("ip", job->ip);
        }
        if (child < 0 || wait_for(child) != 0)
            _exit(1);
        start_tool("tc", job->tc);
    }
    if (job->ip && *job->ip)
        start_tool("ip", job->ip);
    if (job->tc && *job->tc)
        start_tool("tc", job->tc);
    _exit(0);
}

/* The first line of what was said. */
static const char *first_line(int fd, char *out, size_t size)
{
    char text[200];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return espi_quote(out, size, *text ? text : "no reason was given");
}

esp_status espi_netns_do(const struct espi_netns_job *job, struct esp_err *err)
{
    char said[200];
    int errors = memfd_create("errors", MFD_CLOEXEC);
    pid_t parent = getpid(), child = errors < 0 ? -1 : fork();

    if (child == 0)
        do_job(job, parent, errors);
    esp_status status = ESP_OK;
    if (child < 0)
        status = espi_err(err, ESP_EIO, "cannot start a process: %s", strerror(errno));
    else if (wait_for(child) != 0)
        status = espi_err(err, ESP_EIO, "namespace %s: %s",
                          job->space ? job->space : "of this process",
                          first_line(errors, said, sizeof said));
    if (errors >= 0)
        close(errors);
    return status;
}

/* ---- processes ---- */

struct hunt {
    dev_t device;
    ino_t *inodes;
    int n;
};

static int of_interest(const struct hunt *h, const char *pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%.20s/ns/net", pid);
    if (stat(path, &st))
        return 0;
    for (int i = 0; i < h->n; i++)
        if (st.st_ino == h->inodes[i] && st.st_dev == h->device)
            return 1;
    return 0;
}

/* Sends the signal (0: none) to each; gives how many there are. */
static int signal_all(const struct hunt *h, int signal)
{
    DIR *proc = opendir("/proc");
    int found = 0;

    for (struct dirent *e; proc && (e = readdir(proc));) {
        int pid = atoi(e->d_name);
        if (pid <= 1 || pid == getpid() || !of_interest(h, e->d_name))
            continue;
        found++;
        if (signal)
            kill(pid, signal);
    }
    if (proc)
        closedir(proc);
    return found;
}

static int start_hunt(struct hunt *h, char *const *spaces, int n)
{
    *h = (struct hunt){.inodes = espi_calloc((size_t)n + 1, sizeof(ino_t))};
    if (!h->inodes)
        return -1;
    for (int i = 0; i < n; i++) {
        char path[256];
        struct stat st, here;
        if (stat(path_of(path, spaces[i]), &st) || stat("/proc/self/ns/net", &here))
            continue;
        /* A name under which nothing is mounted yet is a plain file elsewhere. */
        if (st.st_dev != here.st_dev || st.st_ino == here.st_ino)
            continue;
        h->device = st.st_dev;
        h->inodes[h->n++] = st.st_ino;
    }
    return 0;
}

int espi_netns_count(char *const *spaces, int n)
{
    struct hunt h;

    if (start_hunt(&h, spaces, n))
        return 0;
    int found = h.n ? signal_all(&h, 0) : 0;
    espi_free(h.inodes);
    return found;
}

int espi_netns_clear(char *const *spaces, int n)
{
    struct hunt h;
    int ended = 0, left = 1;

    if (start_hunt(&h, spaces, n))
        return -1;
    for (int round = 0; round < 200 && left; round++) {
        left = h.n ? signal_all(&h, SIGKILL) : 0;
        ended = left > ended ? left : ended;
        if (left)
            usleep(10000);
    }
    espi_free(h.inodes);
    return left ? -1 : ended;
}
