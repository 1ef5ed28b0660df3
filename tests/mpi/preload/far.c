/* A preload for tests of ranks on other machines than the advisor: the ranks named in
 * FAR_RANKS ("1,2") see nothing of its folder. Ranks know their number from what their
 * launcher says. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define EXPORT __attribute__((visibility("default")))

static int is_far(void)
{
    const char *own = getenv("OMPI_COMM_WORLD_RANK"), *far = getenv("FAR_RANKS");
    if (!own)
        own = getenv("PMI_RANK");
    size_t length = own ? strlen(own) : 0;
    while (own && far && *far) {
        size_t word = strcspn(far, ",");
        if (word == length && strncmp(far, own, word) == 0)
            return 1;
        far += word + (far[word] == ',');
    }
    return 0;
}

static int is_hidden(const char *path)
{
    const char *folder = getenv("ESPALIER_ADVICE");
    size_t length = folder ? strlen(folder) : 0;
    return length && path && strncmp(path, folder, length) == 0 && is_far();
}

EXPORT int open(const char *path, int flags, ...)
{
    static int (*next)(const char *, int, ...);
    va_list rest;
    if (!next)
        next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    if (is_hidden(path)) {
        errno = ENOENT;
        return -1;
    }
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return next(path, flags, mode);
}

EXPORT int connect(int fd, const struct sockaddr *to, socklen_t length)
{
    static int (*next)(int, const struct sockaddr *, socklen_t);
    if (!next)
        next =
            (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
    if (to->sa_family == AF_UNIX &&
        is_hidden(((const struct sockaddr_un *)(const void *)to)->sun_path)) {
        errno = ENOENT;
        return -1;
    }
    return next(fd, to, length);
}
