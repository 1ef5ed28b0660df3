#include "copy/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"

enum { OPEN_TRIES = 128 }; /* limit: while others move folders about all the time */

int espi_open_beneath(int folder, const char *path, int flags, mode_t mode)
{
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC),
                           .mode = flags & O_CREAT ? mode : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                                      RESOLVE_NO_MAGICLINKS};
    long fd;
    int tries = 0;
    do
        fd = syscall(SYS_openat2, folder, path, &how, sizeof how);
    while (fd < 0 && (errno == EINTR || errno == EAGAIN) && ++tries < OPEN_TRIES);
    return (int)fd;
}

int espi_open_parent(int folder, const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    if (!slash)
        return fcntl(folder, F_DUPFD_CLOEXEC, 0);
    char *parent = espi_strdup(path);
    if (!parent) {
        errno = ENOMEM;
        return -1;
    }
    parent[slash - path] = '\0';
    int fd = espi_open_beneath(folder, parent, O_PATH | O_DIRECTORY, 0);
    int why = errno;
    espi_free(parent);
    errno = why;
    return fd;
}

int espi_go_to_parent(struct espi_folder_at_hand *h, int base, const char *path,
                      const char **name)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    *name = slash ? slash + 1 : path;
    if (h->fd >= 0 && h->base == base && h->length == length &&
        memcmp(h->path, path, length) == 0)
        return h->fd;
    espi_leave_folder(h);
    if (length >= sizeof h->path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    h->fd = espi_open_parent(base, path, name);
    h->base = base;
    h->length = length;
    memcpy(h->path, path, length);
    return h->fd;
}

int espi_open_at_hand(struct espi_folder_at_hand *h, int base, const char *path,
                      int flags, mode_t mode)
{
    const char *name;
    int folder = espi_go_to_parent(h, base, path, &name);
    return folder < 0 ? -1 : espi_open_beneath(folder, name, flags, mode);
}

void espi_leave_folder(struct espi_folder_at_hand *h)
{
    if (h->fd >= 0)
        close(h->fd);
    h->fd = -1;
}

/* Folders that nobody may write to are ours to remove all the same. */
int espi_open_to_empty(int folder, const char *name)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(folder, name, flags);
    if (fd < 0 && errno == EACCES && fchmodat(folder, name, 0700, 0) == 0)
        fd = openat(folder, name, flags);
    if (fd >= 0)
        fchmod(fd, 0700);
    return fd;
}

/* Closes the folder. */
static void empty_and_close(int fd)
{
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *d;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((d = readdir(dir)))
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            espi_remove_tree(fd, d->d_name);
    closedir(dir);
}

void espi_empty_folder(int fd)
{
    empty_and_close(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/* One level of folders takes one descriptor: deep trees end where these do, and what is
 * left stays. */
void espi_remove_tree(int folder, const char *name)
{
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
        return;
    int fd = espi_open_to_empty(folder, name);
    if (fd < 0)
        return;
    empty_and_close(fd);
    unlinkat(folder, name, AT_REMOVEDIR);
}

int espi_move_at(int fd, int writes, void *data, size_t bytes, uint64_t at)
{
    char *next = data;
    while (bytes > 0) {
        ssize_t n = writes ? pwrite(fd, next, bytes, (off_t)at)
                           : pread(fd, next, bytes, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = writes ? ENOSPC : ENODATA;
        if (n <= 0)
            return -1;
        next += n;
        bytes -= (size_t)n;
        at += (uint64_t)n;
    }
    return 0;
}
