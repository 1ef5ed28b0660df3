#include "copy/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "copy/tree.h"
#include "copy/tuning.h"

esp_status espi_store_trouble(const char *what, const char *path, struct esp_err *err)
{
    int why = errno;
    char quoted[160];
    return espi_err(err, ESP_EIO, "cannot %s %s: %s", what,
                    espi_quote(quoted, sizeof quoted, path), strerror(why));
}

void espi_store_init(struct espi_store *s)
{
    *s = (struct espi_store){.folder = -1, .build = -1, .at_hand = ESPI_NO_FOLDER};
    for (int i = 0; i < ESPI_STORE_OPEN; i++)
        s->open[i].fd = -1;
}

void espi_store_done(struct espi_store *s)
{
    espi_store_close_files(s);
    if (s->build >= 0)
        close(s->build);
    if (s->folder >= 0)
        close(s->folder);
    espi_free(s->finished);
    espi_recent_done(&s->recent);
    espi_store_init(s);
}

/* ---- the folder ---- */

/* Makes the folders on the way that are not there. */
static int make_folders(int base, const char *folder)
{
    char path[ESPI_COPY_PATH_MAX];
    if (strlen(folder) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(path, folder);
    for (char *slash = path + 1; *path && (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdirat(base, path, 0777) && errno != EEXIST)
            return -1;
        *slash = '/';
    }
    return mkdirat(base, path, 0777) && errno != EEXIST ? -1 : 0;
}

/* Beneath a folder each part is opened by itself, so that no link leads out. */
static int open_below(int base, const char *folder)
{
    int at = fcntl(base, F_DUPFD_CLOEXEC, 0);
    while (*folder == '/')
        folder++;
    while (at >= 0 && *folder) {
        char part[256];
        size_t length = strcspn(folder, "/");
        if (length == 0) {
            folder++;
            continue;
        }
        if (length >= sizeof part) {
            close(at);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(part, folder, length);
        part[length] = '\0';
        folder += length;
        if (strcmp(part, "..") != 0)
            mkdirat(at, part, 0777);
        int next = espi_open_beneath(at, part, O_RDONLY | O_DIRECTORY, 0);
        int why = errno;
        close(at);
        errno = why;
        at = next;
    }
    return at;
}

esp_status espi_store_open(struct espi_store *s, const char *below, const char *folder,
                           struct esp_err *err)
{
    if (below) {
        int base = open(below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (base < 0)
            return espi_store_trouble("open the folder", below, err);
        s->folder = open_below(base, folder);
        int why = errno;
        close(base);
        errno = why;
    } else {
        int made = make_folders(AT_FDCWD, folder);
        s->folder = made ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return s->folder < 0 ? espi_store_trouble("open the folder", folder, err) : ESP_OK;
}

static esp_status make_entry_folders(struct espi_store *s, struct esp_err *err)
{
    for (uint32_t i = 0; i < s->m->n_entries; i++) {
        const struct espi_copy_entry *e = &s->m->entry[i];
        const char *name;
        if (e->kind != ESPI_ENTRY_FOLDER)
            continue;
        int parent = espi_open_parent(s->build, e->path, &name);
        int failed = parent < 0 || (mkdirat(parent, name, 0700) && errno != EEXIST);
        int why = errno;
        if (parent >= 0) {
            if (!failed && s->had_before)
                fchmodat(parent, name, 0700, 0);
            close(parent);
        }
        errno = why;
        if (failed)
            return espi_store_trouble("make the folder", e->path, err);
    }
    return ESP_OK;
}

/* ---- what is there already ---- */

/* Copies a file of that size that is in its place; that it is the right one is found
 * later, block by block. */
static void take_finished(struct espi_store *s, uint32_t entry)
{
    const struct espi_copy_entry *e = &s->m->entry[entry];
    struct stat st;
    int from =
        espi_open_beneath(s->folder, e->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (from < 0)
        return;
    int fits =
        fstat(from, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == e->size;
    int to = fits ? espi_open_beneath(s->build, e->path,
                                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600)
                  : -1;
    uint64_t left = e->size;
    while (to >= 0 && left > 0) {
        ssize_t n = copy_file_range(from, NULL, to, NULL, (size_t)left, 0);
        if (n <= 0)
            break;
        left -= (uint64_t)n;
    }
    if (to >= 0) {
        s->had_before = 1;
        close(to);
    }
    close(from);
}

/* A folder never goes for what is none, as cp(1) has it: that is told before anything is
 * sent. */
static esp_status check_places(const struct espi_store *s, struct esp_err *err)
{
    char quoted[160];
    for (uint32_t i = 0; i < s->m->n_entries; i++) {
        const struct espi_copy_entry *e = &s->m->entry[i];
        struct stat st;
        if (e->kind == ESPI_ENTRY_FOLDER || strchr(e->path, '/') ||
            fstatat(s->folder, e->path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
            continue;
        return espi_err(err, ESP_EINPUT,
                        "%s is a folder there, which no file replaces: %s",
                        espi_quote(quoted, sizeof quoted, e->path),
                        e->kind == ESPI_ENTRY_STREAM
                            ? "give --to the name of a file in it, or remove it"
                            : "copy into another folder, or remove it");
    }
    return ESP_OK;
}

esp_status espi_store_begin(struct espi_store *s, struct espi_manifest *m, int resume,
                            struct esp_err *err)
{
    s->m = m;
    s->umask = umask(0);
    umask(s->umask);
    s->finished = espi_calloc(1, espi_set_bytes(m->n_entries) + 1);
    if (!s->finished)
        return espi_err_nomem(err);
    esp_status status = check_places(s, err);
    if (!status)
        status = espi_store_take_build(s, resume, err);
    if (!status)
        status = make_entry_folders(s, err);
    for (uint32_t i = 0; !status && resume && i < m->n_entries; i++)
        if (m->entry[i].kind == ESPI_ENTRY_FILE && m->entry[i].size > 0)
            take_finished(s, i);
    return !status && resume ? espi_store_clear_holes(s, err) : status;
}

/* ---- the end ---- */

static int finish_link(struct espi_store *s, const struct espi_copy_entry *e)
{
    const char *name;
    int failed, parent = espi_open_parent(s->build, e->path, &name);
    if (parent < 0)
        return -1;
    struct timespec times[2] = {{.tv_nsec = UTIME_NOW},
                                {(time_t)e->mtime_s, (long)e->mtime_ns}};
    if (unlinkat(parent, name, 0) && errno != ENOENT) {
        close(parent);
        return -1;
    }
    if (e->kind == ESPI_ENTRY_SYMLINK) {
        failed = symlinkat(e->link, parent, name) ||
                 utimensat(parent, name, times, AT_SYMLINK_NOFOLLOW);
    } else {
        const char *old_name;
        int old = espi_open_parent(s->build, s->m->entry[e->hard].path, &old_name);
        failed = old < 0 || linkat(old, old_name, parent, name, 0);
        if (old >= 0)
            close(old);
    }
    close(parent);
    return failed ? -1 : 0;
}

/* The disk is waited for file by file, or, where there are many, as a whole, with what
 * others write to it. */
static int has_few(const struct espi_store *s)
{
    return s->m->n_entries <= ESPI_COPY_FEW_FILES;
}

static int finish_entry(struct espi_store *s, uint32_t i, uint64_t stream_bytes)
{
    const struct espi_copy_entry *e = &s->m->entry[i];
    if (e->kind == ESPI_ENTRY_SYMLINK || e->kind == ESPI_ENTRY_HARDLINK)
        return finish_link(s, e);
    if (e->kind == ESPI_ENTRY_FOLDER || (espi_set_has(s->finished, i) && !has_few(s)))
        return 0;
    uint64_t size = e->kind == ESPI_ENTRY_STREAM ? stream_bytes : e->size;
    return espi_store_dress(s, i, size, has_few(s));
}

/* Folders get theirs last, those inside before those around them. */
static int finish_folder(const struct espi_store *s, const struct espi_copy_entry *e)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_NOW},
                                {(time_t)e->mtime_s, (long)e->mtime_ns}};
    int fd = espi_open_beneath(s->build, e->path, O_RDONLY | O_DIRECTORY, 0);
    int failed =
        fd < 0 || fchmod(fd, e->mode) || futimens(fd, times) || (has_few(s) && fsync(fd));
    if (fd >= 0)
        close(fd);
    return failed;
}

/* What stands there under that name goes as this comes, in one step. */
static int put_folder(const struct espi_store *s, const char *name)
{
    if (renameat2(s->build, name, s->folder, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno == EEXIST &&
        renameat2(s->build, name, s->folder, name, RENAME_EXCHANGE) == 0)
        return 0;
    return errno == EINVAL && renameat(s->build, name, s->folder, name) == 0 ? 0 : -1;
}

/* The kernel lets no file take the place of a folder, also of one that came meanwhile. A
 * folder that nobody may write to could not be moved: its ".." changes. */
static int move_into_place(const struct espi_store *s, const struct espi_copy_entry *e)
{
    if (e->kind != ESPI_ENTRY_FOLDER)
        return renameat(s->build, e->path, s->folder, e->path);
    return put_folder(s, e->path) ? -1 : fchmodat(s->folder, e->path, e->mode, 0);
}

static esp_status finish_folders(const struct espi_store *s, struct esp_err *err)
{
    for (uint32_t i = s->m->n_entries; i-- > 0;) {
        struct espi_copy_entry e = s->m->entry[i];
        if (e.kind != ESPI_ENTRY_FOLDER)
            continue;
        if (!strchr(e.path, '/'))
            e.mode |= S_IRWXU;
        if (finish_folder(s, &e))
            return espi_store_trouble("finish", e.path, err);
    }
    return ESP_OK;
}

esp_status espi_store_finish(struct espi_store *s, uint64_t stream_bytes,
                             struct esp_err *err)
{
    for (uint32_t i = 0; i < s->m->n_entries; i++)
        if (finish_entry(s, i, stream_bytes))
            return espi_store_trouble("finish", s->m->entry[i].path, err);
    espi_store_close_files(s);
    esp_status status = finish_folders(s, err);
    if (status)
        return status;
    if (has_few(s) ? fsync(s->build) : syncfs(s->build))
        return espi_store_trouble("write", s->build_name, err);
    for (uint32_t i = 0; i < s->m->n_entries; i++)
        if (!strchr(s->m->entry[i].path, '/') && move_into_place(s, &s->m->entry[i]))
            return espi_store_trouble("put in its place", s->m->entry[i].path, err);
    espi_store_discard(s);
    return fsync(s->folder) ? espi_store_trouble("write", ".", err) : ESP_OK;
}
