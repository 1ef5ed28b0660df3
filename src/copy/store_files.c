/* The files of a copy while it is built: opening them, their bytes, and their mode and
 * time. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "copy/store_impl.h"
#include "copy/tree.h"
#include "copy/tuning.h"

void espi_store_close_files(struct espi_store *s)
{
    for (int i = 0; i < ESPI_STORE_OPEN; i++) {
        if (s->open[i].fd >= 0)
            close(s->open[i].fd);
        s->open[i].fd = -1;
    }
    espi_leave_folder(&s->at_hand);
}

/* ---- opening ---- */

static int open_slot(const struct espi_store *s)
{
    int oldest = 0;
    for (int i = 0; i < ESPI_STORE_OPEN; i++) {
        if (s->open[i].fd < 0)
            return i;
        if (s->open[i].used < s->open[oldest].used)
            oldest = i;
    }
    return oldest;
}

/* A file that has its mode already, or that an earlier copy left, is ours to read and to
 * write to; it gets its mode at the end. */
static void unlock_file(const struct espi_store *s, uint32_t entry)
{
    const char *name, *path = s->m->entry[entry].path;
    struct stat st;
    int parent = espi_open_parent(s->build, path, &name);
    if (parent < 0)
        return;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
        fchmodat(parent, name, 0600, 0) == 0)
        espi_set_drop(s->finished, entry);
    close(parent);
}

/* whole: all that the file holds is written at once, so that it can have its mode. */
static int open_file(struct espi_store *s, struct espi_store_file *file, int whole)
{
    const struct espi_copy_entry *e = &s->m->entry[file->entry];
    int access = (file->writes ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK;
    mode_t mode = whole && !(e->mode & s->umask) ? e->mode : 0600;
    file->fd = -1;
    if (file->writes)
        file->fd = espi_open_at_hand(&s->at_hand, s->build, e->path,
                                     access | O_CREAT | O_EXCL, mode);
    file->has_mode = file->fd >= 0 && mode == e->mode;
    if (file->fd < 0 && (!file->writes || errno == EEXIST))
        file->fd = espi_open_at_hand(&s->at_hand, s->build, e->path, access, 0);
    if (file->fd < 0 && errno == EACCES) {
        unlock_file(s, file->entry);
        file->fd = espi_open_beneath(s->build, e->path, access, 0);
    }
    return file->fd < 0 ? -1 : 0;
}

/* What is open already, or is opened now, and made when it is to be written and is not
 * there; NULL and errno. */
static struct espi_store_file *open_entry(struct espi_store *s, uint32_t entry,
                                          int writes)
{
    int slot = open_slot(s);
    s->operations++;
    for (int i = 0; i < ESPI_STORE_OPEN; i++)
        if (s->open[i].fd >= 0 && s->open[i].entry == entry) {
            s->open[i].used = s->operations;
            if (s->open[i].writes >= writes)
                return &s->open[i];
            slot = i;
        }
    struct espi_store_file file = {-1, entry, s->operations, writes, 0};
    if (open_file(s, &file, 0))
        return NULL;
    if (s->open[slot].fd >= 0)
        close(s->open[slot].fd);
    s->open[slot] = file;
    return &s->open[slot];
}

/* ---- mode and time ---- */

static int has_size_and_mode(const struct espi_copy_entry *e, int fd, uint64_t size)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           ((uint64_t)st.st_size == size || ftruncate(fd, (off_t)size) == 0) &&
           fchmod(fd, e->mode) == 0;
}

/* Its last step, once all that it holds is there. */
static int dress_file(struct espi_store *s, const struct espi_store_file *file,
                      uint64_t size)
{
    const struct espi_copy_entry *e = &s->m->entry[file->entry];
    struct timespec times[2] = {{.tv_nsec = UTIME_NOW},
                                {(time_t)e->mtime_s, (long)e->mtime_ns}};
    if ((!file->has_mode && !has_size_and_mode(e, file->fd, size)) ||
        futimens(file->fd, times))
        return -1;
    espi_set_add(s->finished, file->entry);
    return 0;
}

static int close_after(int fd, int failed)
{
    int why = errno;
    close(fd);
    errno = why;
    return failed ? -1 : 0;
}

int espi_store_dress(struct espi_store *s, uint32_t entry, uint64_t size, int waits)
{
    struct espi_store_file file = {-1, entry, 0, 1, 0};
    if (open_file(s, &file, size == 0))
        return -1;
    int failed = dress_file(s, &file, size) || (waits && fsync(file.fd));
    return close_after(file.fd, failed);
}

/* ---- bytes ---- */

/* All of a file, which is opened for nothing else. */
static int move_whole(struct espi_store *s, uint32_t entry, int keeps, char *data)
{
    uint64_t size = s->m->entry[entry].size;
    struct espi_store_file file = {-1, entry, 0, keeps, 0};
    if (open_file(s, &file, 1))
        return -1;
    if (keeps)
        espi_set_drop(s->finished, entry);
    int failed = espi_move_at(file.fd, keeps, data, (size_t)size, 0) ||
                 (keeps && dress_file(s, &file, size));
    return close_after(file.fd, failed);
}

static int move_part(struct espi_store *s, uint32_t entry, int keeps, uint64_t at,
                     char *data, size_t bytes)
{
    const struct espi_store_file *file = open_entry(s, entry, keeps);
    if (!file || espi_move_at(file->fd, keeps, data, bytes, at))
        return -1;
    if (keeps)
        espi_set_drop(s->finished, entry);
    return 0;
}

static esp_status move_stream(struct espi_store *s, int keeps, uint64_t at, char *data,
                              size_t bytes, struct esp_err *err)
{
    if (at > s->m->data_bytes || bytes > s->m->data_bytes - at)
        return espi_err(err, ESP_EINPUT, "more bytes than the list of files says");
    const struct espi_extent *x = &s->m->extent[espi_manifest_find(s->m, at)];
    for (; bytes > 0; x++) {
        uint64_t skip = at - x->stream, left = x->bytes - skip;
        size_t now = left < bytes ? (size_t)left : bytes;
        const struct espi_copy_entry *e = &s->m->entry[x->entry];
        int failed = now == e->size
                         ? move_whole(s, x->entry, keeps, data)
                         : move_part(s, x->entry, keeps, x->at + skip, data, now);
        if (failed)
            return espi_store_trouble(keeps ? "write" : "read", e->path, err);
        data += now;
        at += now;
        bytes -= now;
    }
    return ESP_OK;
}

/* Many files, which to open again would cost more than to remember what they hold. */
static int are_many(const struct espi_store *s, uint64_t at, size_t bytes)
{
    const struct espi_extent *x = &s->m->extent[espi_manifest_find(s->m, at)];
    return bytes > 0 && x->stream + x->bytes < at + bytes;
}

esp_status espi_store_keep(struct espi_store *s, uint64_t at, const void *from,
                           size_t bytes, struct esp_err *err)
{
    esp_status status = move_stream(s, 1, at, (char *)(uintptr_t)from, bytes, err);
    if (!status && are_many(s, at, bytes))
        espi_recent_keep(&s->recent, at, from, bytes);
    return status;
}

esp_status espi_store_load(struct espi_store *s, uint64_t at, void *to, size_t bytes,
                           struct esp_err *err)
{
    return move_stream(s, 0, at, to, bytes, err);
}

esp_status espi_store_pass(struct espi_store *s, uint64_t at, void *to, size_t bytes,
                           struct esp_err *err)
{
    return espi_recent_load(&s->recent, at, to, bytes)
               ? ESP_OK
               : espi_store_load(s, at, to, bytes, err);
}

esp_status espi_store_stream(struct espi_store *s, int keeps, uint64_t at, void *data,
                             size_t bytes, struct esp_err *err)
{
    const struct espi_store_file *file = open_entry(s, 0, keeps);
    if (!file || espi_move_at(file->fd, keeps, data, bytes, at))
        return espi_store_trouble(keeps ? "write" : "read", s->m->entry[0].path, err);
    return ESP_OK;
}

/* ---- what the kernel moves ---- */

esp_status espi_store_find(struct espi_store *s, int keeps, uint64_t at,
                           struct espi_copy_place *place, struct esp_err *err)
{
    if (at >= s->m->data_bytes)
        return espi_err(err, ESP_EINPUT, "more bytes than the list of files says");
    const struct espi_extent *x = &s->m->extent[espi_manifest_find(s->m, at)];
    uint64_t skip = at - x->stream;
    *place = (struct espi_copy_place){-1, x->at + skip, x->bytes - skip};
    if (place->bytes < ESPI_COPY_BY_KERNEL_BYTES)
        return ESP_OK;
    const struct espi_store_file *file = open_entry(s, x->entry, keeps);
    if (!file)
        return espi_store_trouble(keeps ? "write" : "read", s->m->entry[x->entry].path,
                                  err);
    if (keeps)
        espi_set_drop(s->finished, x->entry);
    place->fd = file->fd;
    return ESP_OK;
}

esp_status espi_store_find_stream(struct espi_store *s, int keeps, uint64_t at,
                                  struct espi_copy_place *place, struct esp_err *err)
{
    const struct espi_store_file *file = open_entry(s, 0, keeps);
    if (!file)
        return espi_store_trouble(keeps ? "write" : "read", s->m->entry[0].path, err);
    *place = (struct espi_copy_place){file->fd, at, UINT64_MAX};
    return ESP_OK;
}
