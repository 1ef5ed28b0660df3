#include "copy/source_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"

/* The path as whoever named what is copied would write it. */
static const char *show_path(const struct espi_scan *scan, const char *path, char *out,
                             size_t size)
{
    char whole[2 * ESPI_COPY_PATH_MAX];
    size_t length = scan->given ? strlen(scan->given) : 0;
    while (length > 1 && scan->given[length - 1] == '/')
        length--;
    snprintf(whole, sizeof whole, "%.*s%s", (int)length, scan->given ? scan->given : "",
             path + scan->given_path);
    return espi_quote(out, size, whole);
}

static esp_status scan_trouble(const struct espi_scan *scan, const char *path,
                               struct esp_err *err)
{
    int why = errno;
    char shown[160];
    return espi_err(err, ESP_EIO, "cannot read %s: %s",
                    show_path(scan, path, shown, sizeof shown), strerror(why));
}

void espi_scan_done(struct espi_scan *scan)
{
    espi_free(scan->seen);
}

/* ---- several names of one file ---- */

static struct espi_scan_inode *place_of_inode(struct espi_scan_inode *seen, size_t room,
                                              dev_t device, ino_t number)
{
    const uint64_t golden = 0x9E3779B97F4A7C15u; /* published: Fibonacci hashing */
    size_t at = (size_t)(((uint64_t)number ^ (uint64_t)device << 48) * golden >> 20);
    for (at %= room; seen[at].entry; at = (at + 1) % room)
        if (seen[at].device == device && seen[at].number == number)
            break;
    return &seen[at];
}

static int make_room(struct espi_scan *scan)
{
    size_t room = scan->room ? 2 * scan->room : 64;
    if (2 * (scan->n_seen + 1) <= scan->room)
        return 0;
    struct espi_scan_inode *grown = espi_calloc(room, sizeof *grown);
    if (!grown)
        return -1;
    for (size_t i = 0; i < scan->room; i++)
        if (scan->seen[i].entry)
            *place_of_inode(grown, room, scan->seen[i].device, scan->seen[i].number) =
                scan->seen[i];
    espi_free(scan->seen);
    scan->seen = grown;
    scan->room = room;
    return 0;
}

/* Makes the entry a link when the file was met before. -1: no memory. */
static int find_earlier(struct espi_scan *scan, const struct stat *st,
                        struct espi_copy_entry *e)
{
    if (st->st_nlink < 2)
        return 0;
    if (make_room(scan))
        return -1;
    struct espi_scan_inode *place =
        place_of_inode(scan->seen, scan->room, st->st_dev, st->st_ino);
    if (place->entry) {
        e->kind = ESPI_ENTRY_HARDLINK;
        e->hard = place->entry - 1;
    } else {
        *place = (struct espi_scan_inode){st->st_dev, st->st_ino, scan->n_entries + 1};
        scan->n_seen++;
    }
    return 0;
}

/* ---- one entry ---- */

static int put_extent(struct espi_extent **list, size_t *room, struct espi_copy_entry *e,
                      uint64_t from, uint64_t to)
{
    void *grown = *list;
    if (to <= from)
        return 0;
    if (espi_grow(&grown, room, (size_t)e->n_extents + 1, sizeof **list))
        return -1;
    *list = grown;
    (*list)[e->n_extents++] = (struct espi_extent){.at = from, .bytes = to - from};
    return 0;
}

/* The parts of a sparse file that hold something. */
static int find_data(int fd, struct espi_extent **list, size_t *room,
                     struct espi_copy_entry *e)
{
    for (off_t end = 0;;) {
        off_t from = lseek(fd, end, SEEK_DATA);
        if (from < 0)
            return errno == ENXIO ? 0 : put_extent(list, room, e, (uint64_t)end, e->size);
        end = lseek(fd, from, SEEK_HOLE);
        if (end < 0 || (uint64_t)end > e->size)
            end = (off_t)e->size;
        if (put_extent(list, room, e, (uint64_t)from, (uint64_t)end))
            return -1;
        if ((uint64_t)end == e->size)
            return 0;
    }
}

static int is_sparse(const struct stat *st)
{
    return (uint64_t)st->st_blocks * 512 < (uint64_t)st->st_size;
}

static esp_status put_file(struct espi_scan *scan, int folder, const char *name,
                           const struct stat *st, struct espi_copy_entry *e,
                           struct esp_err *err)
{
    struct espi_extent *list = NULL;
    size_t room = 0;
    int failed, fd = -1;
    e->kind = ESPI_ENTRY_FILE;
    e->size = (uint64_t)st->st_size;
    if (find_earlier(scan, st, e))
        return espi_err_nomem(err);
    if (e->kind == ESPI_ENTRY_HARDLINK)
        e->size = 0;
    if (e->size > 0 && is_sparse(st))
        fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        failed = find_data(fd, &list, &room, e);
        close(fd);
    } else {
        failed = put_extent(&list, &room, e, 0, e->size);
    }
    if (!failed)
        espi_manifest_put(scan->writer, e, list);
    espi_free(list);
    return failed ? espi_err_nomem(err) : ESP_OK;
}

static esp_status put_symlink(struct espi_scan *scan, int folder, const char *name,
                              struct espi_copy_entry *e, struct esp_err *err)
{
    char target[ESPI_COPY_PATH_MAX];
    ssize_t n = readlinkat(folder, name, target, sizeof target);
    if (n <= 0 || (size_t)n >= sizeof target)
        return scan_trouble(scan, e->path, err);
    target[n] = '\0';
    e->kind = ESPI_ENTRY_SYMLINK;
    e->link = target;
    espi_manifest_put(scan->writer, e, NULL);
    e->link = NULL; /* the list has a copy */
    return ESP_OK;
}

/* ---- folders ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_names(DIR *dir, char ***names, size_t *n)
{
    size_t room = 0;
    const struct dirent *d;
    while ((d = readdir(dir))) {
        void *grown = *names;
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (espi_grow(&grown, &room, *n + 1, sizeof **names))
            return -1;
        *names = grown;
        (*names)[*n] = espi_strdup(d->d_name);
        if (!(*names)[*n])
            return -1;
        ++*n;
    }
    if (*n > 0)
        qsort(*names, *n, sizeof **names, compare_names);
    return 0;
}

static esp_status scan_inside(struct espi_scan *scan, int folder, const char *name,
                              const char *path, struct esp_err *err)
{
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    char **names = NULL, inside[ESPI_COPY_PATH_MAX];
    size_t n = 0;
    if (!dir) {
        esp_status status = scan_trouble(scan, path, err);
        if (fd >= 0)
            close(fd);
        return status;
    }
    esp_status status = list_names(dir, &names, &n) ? espi_err_nomem(err) : ESP_OK;
    for (size_t i = 0; !status && i < n; i++) {
        int length = snprintf(inside, sizeof inside, "%s/%s", path, names[i]);
        if (length < 0 || (size_t)length >= sizeof inside) {
            errno = ENAMETOOLONG;
            status = scan_trouble(scan, path, err);
        } else {
            status = espi_scan_add(scan, fd, names[i], inside, err);
        }
    }
    for (size_t i = 0; i < n; i++)
        espi_free(names[i]);
    espi_free(names);
    closedir(dir);
    return status;
}

esp_status espi_scan_add(struct espi_scan *scan, int folder, const char *name,
                         const char *path, struct esp_err *err)
{
    struct stat st;
    char shown[160];
    esp_status status = ESP_OK;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
        return scan_trouble(scan, path, err);
    struct espi_copy_entry e = {.mode = st.st_mode & ESPI_COPY_MODE,
                                .mtime_s = st.st_mtim.tv_sec,
                                .mtime_ns = (uint32_t)st.st_mtim.tv_nsec,
                                .path = path};
    if (scan->n_entries == UINT32_MAX)
        return espi_err(err, ESP_EINPUT, "too many files");
    if (S_ISREG(st.st_mode)) {
        status = put_file(scan, folder, name, &st, &e, err);
    } else if (S_ISLNK(st.st_mode)) {
        status = put_symlink(scan, folder, name, &e, err);
    } else if (S_ISDIR(st.st_mode)) {
        e.kind = ESPI_ENTRY_FOLDER;
        espi_manifest_put(scan->writer, &e, NULL);
    } else {
        return espi_err(err, ESP_EINPUT, "%s is neither a file nor a folder nor a link",
                        show_path(scan, path, shown, sizeof shown));
    }
    scan->n_entries++;
    return !status && S_ISDIR(st.st_mode) ? scan_inside(scan, folder, name, path, err)
                                          : status;
}
