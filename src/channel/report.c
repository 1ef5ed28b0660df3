#include "channel/report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/scan.h"
#include "platform/platform.h"

#define SOCKET_NAME  "advisor.sock"
#define MACHINE_NAME "machine"

enum { BACKLOG = 256, NAME_ROOM = 64 }; /* limit: of who connects at once */

static int set_address(struct sockaddr_un *address, const char *folder)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n =
        snprintf(address->sun_path, sizeof address->sun_path, "%s/" SOCKET_NAME, folder);
    return n > 0 && (size_t)n < sizeof address->sun_path ? 0 : -1;
}

static int is_of_our_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           peer.uid == geteuid();
}

/* ---- the ranks' side ---- */

int espi_advice_connect(const char *folder)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (!set_address(&address, folder) &&
        connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
        is_of_our_user(fd))
        return fd;
    close(fd);
    return -1;
}

void espi_news_send(struct espi_reporter *r, const char *folder, const void *news,
                    size_t size)
{
    if (r->fd < 0) {
        double now_s = espi_now_s();
        if (r->tried_s > 0 && now_s - r->tried_s < ESPI_RETRY_S)
            return;
        r->tried_s = now_s;
        r->fd = espi_advice_connect(folder);
    }
    if (r->fd < 0)
        return;
    ssize_t sent = send(r->fd, news, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR &&
        errno != ENOBUFS)
        espi_reporter_done(r);
}

void espi_reporter_done(struct espi_reporter *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
}

/* ---- files ---- */

static esp_status say_errno(const char *what, const char *path, struct esp_err *err)
{
    char quoted[160];
    return espi_err(err, ESP_EIO, "%s %s: %s", what,
                    espi_quote(quoted, sizeof quoted, path), strerror(errno));
}

static esp_status refuse_folder(const char *folder, const char *why, struct esp_err *err)
{
    char quoted[160];
    return espi_err(err, ESP_EINPUT, "no advice is taken from %s: %s",
                    espi_quote(quoted, sizeof quoted, folder), why);
}

/* What is in a folder that others can write to, or that they made, is theirs. */
static int open_folder(const char *folder, struct esp_err *err)
{
    struct stat s;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) {
        refuse_folder(folder, "it is a link or no folder", err);
    } else if (fd < 0 || fstat(fd, &s)) {
        say_errno("cannot open", folder, err);
    } else if (s.st_uid != geteuid()) {
        refuse_folder(folder, "it belongs to another user", err);
    } else if (s.st_mode & (S_IWGRP | S_IWOTH)) {
        refuse_folder(folder, "others can write to it (chmod 700)", err);
    } else {
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

esp_status espi_advice_check(const char *folder, struct esp_err *err)
{
    struct esp_err why = {.status = ESP_OK};
    int fd = open_folder(folder, &why);
    if (fd >= 0)
        close(fd);
    else if (err)
        *err = why;
    return why.status;
}

static int name_file(char *out, size_t size, const char *folder, int root, int size_class,
                     const char *suffix)
{
    int n = snprintf(out, size, "%s/plan-%d-%d%s", folder, root, size_class, suffix);
    return n > 0 && (size_t)n < size ? 0 : -1;
}

static int is_ours(const struct stat *s)
{
    return S_ISREG(s->st_mode) && s->st_uid == geteuid() &&
           !(s->st_mode & (S_IWGRP | S_IWOTH)) && s->st_size > 0 &&
           s->st_size <= ESPI_ADVICE_MAX;
}

static struct espi_advice_seen look_of(const struct stat *s)
{
    return (struct espi_advice_seen){(long long)s->st_ino, s->st_size, s->st_mtim.tv_sec,
                                     s->st_mtim.tv_nsec};
}

static char *read_whole(int fd, size_t length)
{
    char *text = espi_malloc(length + 1);
    size_t at = 0;
    while (text && at < length) {
        ssize_t n = read(fd, text + at, length - at);
        if (n <= 0) {
            espi_free(text);
            return NULL;
        }
        at += (size_t)n;
    }
    if (text)
        text[length] = '\0';
    return text;
}

int espi_advice_read(const char *folder, int root, int size_class,
                     struct espi_advice_seen *seen, char **text, size_t *length)
{
    char path[1200];
    struct stat s;
    if (name_file(path, sizeof path, folder, root, size_class, ".json") || stat(path, &s))
        return 0;
    struct espi_advice_seen look = look_of(&s);
    if (memcmp(&look, seen, sizeof look) == 0)
        return 0;
    int dir = open_folder(folder, NULL);
    const char *name = strrchr(path, '/') + 1;
    int fd =
        dir < 0 ? -1 : openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int fresh = 0;
    if (dir >= 0)
        close(dir);
    if (fd < 0)
        return 0;
    if (fstat(fd, &s) == 0 && is_ours(&s)) {
        *seen = look_of(&s);
        *text = read_whole(fd, (size_t)s.st_size);
        *length = (size_t)s.st_size;
        fresh = *text != NULL;
    }
    close(fd);
    return fresh;
}

esp_status espi_advice_write(const char *folder, const struct esp_platform *net,
                             const struct espi_advice *advice, struct esp_err *err)
{
    char path[1200], fresh[1200];
    if (name_file(path, sizeof path, folder, advice->root, advice->size_class, ".json") ||
        name_file(fresh, sizeof fresh, folder, advice->root, advice->size_class, ".new"))
        return espi_err(err, ESP_EUSAGE, "the name of the folder is too long");
    unlink(fresh); /* of one before us, or what would keep us waiting */
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return say_errno("cannot write", fresh, err);
    FILE *out = fdopen(fd, "w");
    if (!out) {
        close(fd);
        return espi_err_nomem(err);
    }
    esp_status st = esp_plan_write_stream(advice->plan, net, out, err);
    if (fclose(out) && !st)
        st = say_errno("cannot write", fresh, err);
    if (!st && rename(fresh, path))
        st = say_errno("cannot write", path, err);
    return st;
}

/* ---- the machine ---- */

/* What the kernel calls this run of itself; its length, 0: it does not say. */
static size_t read_machine(char *out, size_t size)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, out, size);
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

int espi_advice_is_here(const char *folder)
{
    char own[NAME_ROOM], theirs[NAME_ROOM];
    struct stat s;
    ssize_t got = 0;
    size_t length = read_machine(own, sizeof own);
    int dir = open_folder(folder, NULL);
    if (dir < 0)
        return 0;
    int fd = openat(dir, MACHINE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    close(dir);
    if (fd >= 0 && fstat(fd, &s) == 0 && is_ours(&s))
        got = read(fd, theirs, sizeof theirs);
    if (fd >= 0)
        close(fd);
    return length > 0 && got == (ssize_t)length && memcmp(own, theirs, length) == 0;
}

esp_status espi_advice_mark(const char *folder, struct esp_err *err)
{
    char path[1200], own[NAME_ROOM];
    int n = snprintf(path, sizeof path, "%s/" MACHINE_NAME, folder);
    if (n < 0 || (size_t)n >= sizeof path)
        return espi_err(err, ESP_EUSAGE, "the name of the folder is too long");
    size_t length = read_machine(own, sizeof own);
    int fd = open(
        path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return say_errno("cannot write", path, err);
    int bad = write(fd, own, length) != (ssize_t)length;
    return close(fd) || bad ? say_errno("cannot write", path, err) : ESP_OK;
}

/* ---- the advisor's side ---- */

/* The folder must be a real one, ours, and closed to others. */
static esp_status make_folder(char *folder, struct esp_err *err)
{
    struct stat s;
    size_t length = strlen(folder);
    if (length > 6 && strcmp(folder + length - 6, "XXXXXX") == 0)
        return mkdtemp(folder) ? ESP_OK : say_errno("cannot make", folder, err);
    if (mkdir(folder, 0700) && errno != EEXIST)
        return say_errno("cannot make", folder, err);
    if (lstat(folder, &s))
        return say_errno("cannot look at", folder, err);
    if (!S_ISDIR(s.st_mode) || s.st_uid != geteuid() || (s.st_mode & 077))
        return espi_err(err, ESP_EINPUT,
                        "%s must be a folder of your own that others cannot enter: chmod "
                        "700",
                        folder);
    return ESP_OK;
}

esp_status espi_advice_listen(char *folder, int *fd, struct esp_err *err)
{
    struct sockaddr_un address;
    esp_status st = make_folder(folder, err);
    if (!st)
        st = espi_advice_mark(folder, err);
    if (st)
        return st;
    if (set_address(&address, folder))
        return espi_err(err, ESP_EUSAGE, "%s is too long a name for a socket in it",
                        folder);
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s < 0)
        return say_errno("cannot make a socket in", folder, err);
    unlink(address.sun_path); /* of one before us */
    mode_t mask = umask(0177);
    int bad = bind(s, (const struct sockaddr *)&address, sizeof address);
    umask(mask);
    if (bad || listen(s, BACKLOG)) {
        st = say_errno("cannot listen on", address.sun_path, err);
        close(s);
        return st;
    }
    *fd = s;
    return ESP_OK;
}

int espi_advice_accept(int fd)
{
    int connection = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (connection < 0)
        return -1;
    if (is_of_our_user(connection))
        return connection;
    close(connection);
    return -1;
}

/* Messages are told apart by their magic, and are as long as that says. */
enum espi_news espi_news_kind(const union espi_news_text *got, size_t length)
{
    uint32_t magic = length < sizeof magic ? 0 : got->report.magic;
    if (magic == ESPI_REPORT_MAGIC && length >= offsetof(struct espi_report, way) &&
        length == espi_report_bytes(&got->report))
        return ESPI_NEWS_REPORT;
    if (magic == ESPI_OUTCOME_MAGIC && length == sizeof got->outcome)
        return ESPI_NEWS_OUTCOME;
    return magic == ESPI_PROBE_NOTE_MAGIC && length == sizeof got->probe ? ESPI_NEWS_PROBE
                                                                         : ESPI_NEWS_END;
}

enum espi_news espi_advice_receive(int fd, union espi_news_text *out)
{
    union espi_news_text got;
    ssize_t n = recv(fd, &got, sizeof got, MSG_DONTWAIT | MSG_TRUNC);
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? ESPI_NEWS_NONE
                                                                         : ESPI_NEWS_END;
    enum espi_news kind = espi_news_kind(&got, (size_t)n);
    if (kind > 0)
        *out = got;
    return kind;
}

static int is_time(double seconds)
{
    return seconds >= 0 && seconds < 1e6;
}

size_t espi_report_bytes(const struct espi_report *r)
{
    int n = r->n_ways < 0                  ? 0
            : r->n_ways < ESPI_REPORT_WAYS ? r->n_ways
                                           : ESPI_REPORT_WAYS;
    return offsetof(struct espi_report, way) + (size_t)n * sizeof *r->way;
}

void espi_report_add(struct espi_report *r, const struct espi_report_way *way)
{
    if (r->n_ways == ESPI_REPORT_WAYS)
        r->n_ways = -1;
    if (r->n_ways >= 0)
        r->way[r->n_ways++] = *way;
}

const struct espi_report_way *espi_report_find(const struct espi_report *r,
                                               enum espi_way_kind kind, int peer)
{
    for (int i = 0; i < r->n_ways; i++)
        if (r->way[i].kind == kind && r->way[i].peer == peer)
            return &r->way[i];
    return NULL;
}

static int is_way(const struct esp_platform *net, const struct espi_report_way *w)
{
    return w->peer >= 0 && w->peer < net->n_nodes && !espi_is_switch(net, w->peer) &&
           w->kind <= ESPI_WAY_TREE && w->tree < ESPI_REPORT_TREES && w->slices > 0 &&
           is_time((double)w->seconds);
}

static int are_ways(const struct esp_platform *net, const struct espi_report *r)
{
    int good = r->n_ways >= -1 && r->n_ways <= ESPI_REPORT_WAYS;
    for (int i = 0; i < r->n_ways && good; i++)
        good = is_way(net, &r->way[i]) && r->way[i].peer != r->node;
    return good;
}

int espi_report_is_sane(const struct esp_platform *net, const struct espi_report *r)
{
    int nodes = net->n_nodes;
    if (r->magic != ESPI_REPORT_MAGIC || r->version != ESPI_REPORT_VERSION)
        return 0;
    if (r->node < 0 || r->node >= nodes || r->root < 0 || r->root >= nodes ||
        r->parent < -1 || r->parent >= nodes || r->n < 2 || r->n > 1 << 24)
        return 0;
    if (espi_is_switch(net, r->node) || espi_is_switch(net, r->root) ||
        (r->parent >= 0 && espi_is_switch(net, r->parent)))
        return 0;
    return r->bytes > 0 && r->bytes < UINT64_C(1) << 50 && r->slices >= 1 &&
           r->slices < 1e12 && is_time(r->receive_s) && is_time(r->total_s) &&
           r->window >= 0 && are_ways(net, r);
}

int espi_outcome_is_sane(const struct esp_platform *net, const struct espi_outcome *o)
{
    return o->magic == ESPI_OUTCOME_MAGIC && o->version == ESPI_OUTCOME_VERSION &&
           o->op >= 0 && o->op < ESP_OP_COUNT && o->root >= -1 &&
           o->root < esp_platform_node_count(net) && o->ranks >= 1 &&
           o->ranks <= 1 << 24 && o->bytes > 0 && o->bytes < UINT64_C(1) << 50 &&
           o->skipped < UINT64_C(1) << 40 && is_time(o->total_s) && is_time(o->ours_s) &&
           is_time(o->native_s) && memchr(o->algo, '\0', sizeof o->algo) &&
           espi_is_printable(o->algo, strlen(o->algo)); /* it is shown on a page */
}

void espi_advice_clean(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (strncmp(entry->d_name, "plan-", 5) == 0 ||
            strcmp(entry->d_name, SOCKET_NAME) == 0 ||
            strcmp(entry->d_name, MACHINE_NAME) == 0 ||
            strcmp(entry->d_name, ESPI_LIVE_NAME) == 0)
            if (unlinkat(dirfd(dir), entry->d_name, 0))
                unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
    if (dir)
        closedir(dir);
    rmdir(folder);
}
