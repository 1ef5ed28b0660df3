/* The folder in which a copy is built: whose it is, and what of an earlier copy stays. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "copy/secure.h"
#include "copy/store_impl.h"
#include "copy/tree.h"

enum { LOCK_NAP_US = 20000 }; /* limit: a lock that is not free is tried again then */

/* ---- whose it is ---- */

/* The same names come from the same copy. */
static esp_status name_build(struct espi_store *s, struct esp_err *err)
{
    unsigned char digest[ESPI_DIGEST_BYTES];
    struct espi_wire_out names = {0};
    for (uint32_t i = 0; i < s->m->n_entries; i++)
        if (!strchr(s->m->entry[i].path, '/'))
            espi_put_text(&names, s->m->entry[i].path);
    int failed = names.failed || espi_secure_digest(names.at, names.used, digest);
    espi_wire_done(&names);
    if (failed)
        return espi_err_nomem(err);
    int n = snprintf(s->build_name, sizeof s->build_name, ".espalier-cp-");
    for (int i = 0; i < 8; i++)
        n += snprintf(s->build_name + n, sizeof s->build_name - (size_t)n, "%02x",
                      digest[i]);
    return ESP_OK;
}

/* Who had the folder before may have taken it away while we waited for the lock. */
static int is_still_there(const struct espi_store *s, int fd)
{
    struct stat locked, named;
    return fstat(fd, &locked) == 0 &&
           fstatat(s->folder, s->build_name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

/* Anybody can reckon the name and make the folder before us, to read or to change what is
 * built there. One that is ours was made by us. 0, or an errno. */
static int make_private(int fd)
{
    struct stat st;
    if (fstat(fd, &st))
        return errno;
    if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
        return EKEYREJECTED;
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        fchmod(fd, S_IRWXU); /* which some file systems do not know */
    return 0;
}

/* The folder, locked; made: it was not there. -1 and errno: EWOULDBLOCK: somebody else
 * has it; ESTALE: nobody has it any more; EKEYREJECTED: it is not ours alone. */
static int try_build(const struct espi_store *s, int *made)
{
    int fd = espi_open_beneath(s->folder, s->build_name, O_RDONLY | O_DIRECTORY, 0);
    *made = 0;
    if (fd < 0 && errno == ENOENT) {
        *made = mkdirat(s->folder, s->build_name, 0700) == 0;
        if (!*made && errno != EEXIST)
            return -1;
        fd = espi_open_beneath(s->folder, s->build_name, O_RDONLY | O_DIRECTORY, 0);
        if (fd < 0 && errno == ENOENT)
            errno = ESTALE;
    }
    if (fd < 0)
        return -1;
    int why = make_private(fd);
    if (!why)
        why = flock(fd, LOCK_EX | LOCK_NB) ? errno : is_still_there(s, fd) ? 0 : ESTALE;
    if (!why)
        return fd;
    close(fd);
    errno = why;
    return -1;
}

/* Whoever ends just now is waited for. */
static esp_status lock_build(struct espi_store *s, int *made, struct esp_err *err)
{
    double until_s = espi_now_s() + s->wait_s;
    while ((s->build = try_build(s, made)) < 0) {
        if (errno == EKEYREJECTED)
            return espi_err(err, ESP_EIO,
                            "%s, in which the copy would be built, belongs to another "
                            "user, or others may write to it: remove it",
                            s->build_name);
        if (errno != EWOULDBLOCK && errno != ESTALE)
            return espi_store_trouble("make the folder", s->build_name, err);
        if (espi_now_s() > until_s)
            return espi_err(err, ESP_EIO,
                            "another copy of the same names into this folder is under "
                            "way");
        usleep(LOCK_NAP_US);
    }
    return ESP_OK;
}

/* ---- what stays of an earlier copy ---- */

struct pruning {
    const struct espi_manifest *m;
    uint32_t *sorted;
    char path[ESPI_COPY_PATH_MAX];
};

static int may_stay(const struct pruning *p, int folder, const char *name)
{
    struct stat st;
    uint32_t i = espi_manifest_find_path(p->m, p->sorted, p->path, strlen(p->path));
    if (i == p->m->n_entries || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
        return 0;
    int kind = p->m->entry[i].kind;
    if (kind == ESPI_ENTRY_FOLDER)
        return S_ISDIR(st.st_mode);
    /* what has two names was one file in the list of then, and may be two now */
    return (kind == ESPI_ENTRY_FILE || kind == ESPI_ENTRY_STREAM) &&
           S_ISREG(st.st_mode) && st.st_nlink == 1;
}

/* No deeper than the list of files, whose paths are short. */
static void prune_folder(struct pruning *p, int fd)
{
    size_t length = strlen(p->path);
    DIR *dir = fdopendir(fd);
    const struct dirent *d;
    if (!dir) {
        close(fd);
        return;
    }
    while ((d = readdir(dir))) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        int n = snprintf(p->path + length, sizeof p->path - length, "%s%s",
                         length ? "/" : "", d->d_name);
        if (n < 0 || (size_t)n >= sizeof p->path - length ||
            !may_stay(p, fd, d->d_name)) {
            espi_remove_tree(fd, d->d_name);
        } else {
            int below = espi_open_to_empty(fd, d->d_name);
            if (below >= 0)
                prune_folder(p, below);
        }
        p->path[length] = '\0';
    }
    closedir(dir);
}

static esp_status prune_build(struct espi_store *s, struct esp_err *err)
{
    struct pruning p = {.m = s->m, .sorted = espi_manifest_sort(s->m)};
    int fd = openat(s->build, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p.sorted && fd >= 0)
        prune_folder(&p, fd);
    espi_free(p.sorted);
    return !p.sorted ? espi_err_nomem(err)
           : fd < 0  ? espi_store_trouble("open the folder", s->build_name, err)
                     : ESP_OK;
}

esp_status espi_store_take_build(struct espi_store *s, int resume, struct esp_err *err)
{
    int made = 0;
    esp_status status = name_build(s, err);
    if (!status)
        status = lock_build(s, &made, err);
    if (status || made)
        return status;
    s->had_before = resume;
    if (resume)
        return prune_build(s, err);
    espi_empty_folder(s->build);
    return ESP_OK;
}

/* The lock is held until nothing is left, or the next copy would find half of it. */
void espi_store_discard(struct espi_store *s)
{
    espi_store_close_files(s);
    if (s->build < 0)
        return;
    espi_empty_folder(s->build);
    unlinkat(s->folder, s->build_name, AT_REMOVEDIR);
    close(s->build);
    s->build = -1;
}

/* ---- holes ---- */

static int write_zeros(int fd, uint64_t at, uint64_t bytes)
{
    static char zeros[1 << 16];
    int bad = 0;
    while (bytes > 0 && !bad) {
        size_t n = bytes < sizeof zeros ? (size_t)bytes : sizeof zeros;
        bad = espi_move_at(fd, 1, zeros, n, at);
        at += n;
        bytes -= n;
    }
    return bad;
}

static int clear_gap(int fd, uint64_t at, uint64_t end, uint64_t size)
{
    if (end > size)
        end = size;
    if (at >= end || fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
                               (off_t)(end - at)) == 0)
        return 0;
    return write_zeros(fd, at, end - at);
}

static int clear_file(const struct espi_store *s, const struct espi_copy_entry *e)
{
    int fd = espi_open_beneath(s->build, e->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    struct stat st;
    uint64_t at = 0;
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    int failed = fstat(fd, &st);
    for (uint32_t i = 0; !failed && i <= e->n_extents; i++) {
        const struct espi_extent *x = &s->m->extent[e->first_extent + i];
        failed =
            clear_gap(fd, at, i < e->n_extents ? x->at : e->size, (uint64_t)st.st_size);
        at = i < e->n_extents ? x->at + x->bytes : at;
    }
    int why = errno;
    close(fd);
    errno = why;
    return failed;
}

static int has_holes(const struct espi_manifest *m, const struct espi_copy_entry *e)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < e->n_extents; i++)
        bytes += m->extent[e->first_extent + i].bytes;
    return bytes < e->size;
}

esp_status espi_store_clear_holes(struct espi_store *s, struct esp_err *err)
{
    for (uint32_t i = 0; i < s->m->n_entries; i++) {
        const struct espi_copy_entry *e = &s->m->entry[i];
        if (e->kind == ESPI_ENTRY_FILE && has_holes(s->m, e) && clear_file(s, e))
            return espi_store_trouble("clear holes of", e->path, err);
    }
    return ESP_OK;
}
