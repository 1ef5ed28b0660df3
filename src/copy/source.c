#include "copy/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "copy/source_scan.h"
#include "copy/tree.h"
#include "copy/tuning.h"

static esp_status source_trouble(const char *what, const char *path, struct esp_err *err)
{
    int why = errno;
    char quoted[160];
    return espi_err(err, ESP_EIO, "cannot %s %s: %s", what,
                    espi_quote(quoted, sizeof quoted, path), strerror(why));
}

void espi_source_init(struct espi_copy_source *s)
{
    *s = (struct espi_copy_source){.at_hand = ESPI_NO_FOLDER};
    for (int i = 0; i < ESPI_SOURCE_OPEN; i++)
        s->open[i].fd = -1;
}

void espi_source_done(struct espi_copy_source *s)
{
    for (int i = 0; i < ESPI_SOURCE_OPEN; i++)
        if (s->open[i].fd >= 0)
            close(s->open[i].fd);
    espi_leave_folder(&s->at_hand);
    for (int i = 0; i < s->n_tops; i++) {
        if (s->top[i].parent >= 0)
            close(s->top[i].parent);
        espi_free(s->top[i].real);
        espi_free(s->top[i].name);
    }
    espi_free(s->top);
    espi_wire_done(&s->list);
    espi_manifest_done(&s->m);
    espi_source_init(s);
}

/* ---- what is named ---- */

static char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return espi_strdup(slash ? slash + 1 : path);
}

/* Its name as it was given, unless that is none ("." and the like). */
static esp_status add_top(struct espi_copy_source *s, const char *path,
                          struct esp_err *err)
{
    struct espi_source_top *top = &s->top[s->n_tops];
    char quoted[160], *real = realpath(path, NULL);
    if (!real)
        return source_trouble("read", path, err);
    char *given = espi_strdup(path);
    for (size_t n = given ? strlen(given) : 0; n > 1 && given[n - 1] == '/'; n--)
        given[n - 1] = '\0';
    *top = (struct espi_source_top){path, -1, last_part(real), NULL, 0};
    top->name = given ? last_part(given) : NULL;
    espi_free(given);
    s->n_tops++;
    if (top->name && top->real && !espi_copy_path_is_sound(top->name)) {
        espi_free(top->name);
        top->name = espi_strdup(top->real);
    }
    *(strrchr(real, '/') + 1) = '\0';
    top->parent = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(real);
    if (!top->name || !top->real)
        return espi_err_nomem(err);
    if (!espi_copy_path_is_sound(top->name))
        return espi_err(err, ESP_EUSAGE, "%s has no name that a copy could have",
                        espi_quote(quoted, sizeof quoted, path));
    return top->parent < 0 ? source_trouble("read", path, err) : ESP_OK;
}

static int compare_tops(const void *a, const void *b)
{
    const struct espi_source_top *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* What is named comes in the order of names, too; no name comes twice. */
static esp_status sort_tops(struct espi_copy_source *s, struct esp_err *err)
{
    char quoted[160];
    qsort(s->top, (size_t)s->n_tops, sizeof *s->top, compare_tops);
    for (int i = 1; i < s->n_tops; i++)
        if (strcmp(s->top[i - 1].name, s->top[i].name) == 0)
            return espi_err(err, ESP_EUSAGE,
                            "two of what is to be copied have the name %s: copy one at a "
                            "time",
                            espi_quote(quoted, sizeof quoted, s->top[i].name));
    return ESP_OK;
}

static esp_status read_back(struct espi_copy_source *s, struct esp_err *err)
{
    if (s->list.failed)
        return espi_err_nomem(err);
    return espi_manifest_read(&s->m, s->list.at, s->list.used, err);
}

esp_status espi_source_scan(struct espi_copy_source *s, const char *const *paths, int n,
                            struct esp_err *err)
{
    esp_status status = ESP_OK;
    struct espi_manifest_writer writer = {0};
    struct espi_scan scan = {.writer = &writer};
    s->top = espi_calloc((size_t)n, sizeof *s->top);
    if (!s->top)
        return espi_err_nomem(err);
    for (int i = 0; !status && i < n; i++)
        status = add_top(s, paths[i], err);
    if (!status)
        status = sort_tops(s, err);
    for (int i = 0; !status && i < n; i++) {
        s->top[i].first_entry = scan.n_entries;
        scan.given = s->top[i].given;
        scan.given_path = strlen(s->top[i].name);
        status =
            espi_scan_add(&scan, s->top[i].parent, s->top[i].real, s->top[i].name, err);
    }
    espi_scan_done(&scan);
    s->list = writer.list;
    return status ? status : read_back(s, err);
}

esp_status espi_source_stream(struct espi_copy_source *s, const char *name,
                              struct esp_err *err)
{
    struct timespec now;
    struct espi_manifest_writer writer = {0};
    if (!espi_copy_path_is_sound(name) || strchr(name, '/'))
        return espi_err(err, ESP_EUSAGE, "a stream needs the name of a file to become");
    clock_gettime(CLOCK_REALTIME, &now);
    struct espi_copy_entry e = {.kind = ESPI_ENTRY_STREAM,
                                .mode = 0644,
                                .mtime_s = now.tv_sec,
                                .mtime_ns = (uint32_t)now.tv_nsec,
                                .path = name};
    espi_manifest_put(&writer, &e, NULL);
    s->list = writer.list;
    return read_back(s, err);
}

/* ---- reading ---- */

enum { REAL_PATH = 2 * ESPI_COPY_PATH_MAX }; /* derived: a name, and a path */

/* Its path below a folder that is open; -1 and errno. */
static int find_real(const struct espi_copy_source *s, uint32_t entry,
                     char path[REAL_PATH])
{
    int i = s->n_tops - 1;
    while (i > 0 && s->top[i].first_entry > entry)
        i--;
    const struct espi_source_top *top = &s->top[i];
    const char *rest = s->m.entry[entry].path + strlen(top->name);
    if (strlen(top->real) + strlen(rest) >= REAL_PATH) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(path, top->real);
    strcat(path, rest);
    return top->parent;
}

static int open_source(struct espi_copy_source *s, uint32_t entry)
{
    char path[REAL_PATH];
    int folder = find_real(s, entry, path);
    return folder < 0 ? -1
                      : espi_open_at_hand(&s->at_hand, folder, path,
                                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
}

static int is_same(const struct espi_copy_entry *e, const struct stat *st)
{
    return S_ISREG(st->st_mode) && (uint64_t)st->st_size == e->size &&
           st->st_mtim.tv_sec == e->mtime_s && st->st_mtim.tv_nsec == (long)e->mtime_ns;
}

static int is_unchanged(const struct espi_copy_entry *e, int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && is_same(e, &st);
}

/* What was read is looked at after it was read: then all of the file that was read before
 * belongs together, too. */
static int read_unchanged(const struct espi_copy_entry *e, int fd, void *to, size_t bytes,
                          uint64_t at)
{
    if (espi_move_at(fd, 0, to, bytes, at))
        return -1;
    if (is_unchanged(e, fd))
        return 0;
    errno = ESTALE;
    return -1;
}

/* All of a small file, which is opened for nothing else. */
static int read_whole(struct espi_copy_source *s, uint32_t entry, void *to)
{
    const struct espi_copy_entry *e = &s->m.entry[entry];
    int fd = open_source(s, entry);
    if (fd < 0)
        return -1;
    int failed = read_unchanged(e, fd, to, (size_t)e->size, 0), why = errno;
    close(fd);
    errno = why;
    return failed;
}

static int source_fd(struct espi_copy_source *s, uint32_t entry)
{
    int slot = 0;
    s->operations++;
    for (int i = 0; i < ESPI_SOURCE_OPEN; i++) {
        if (s->open[i].fd >= 0 && s->open[i].entry == entry) {
            s->open[i].used = s->operations;
            return s->open[i].fd;
        }
        if (s->open[i].fd < 0 || s->open[i].used < s->open[slot].used)
            slot = i;
    }
    int fd = open_source(s, entry);
    if (fd < 0)
        return -1;
    if (s->open[slot].fd >= 0)
        close(s->open[slot].fd);
    s->open[slot].fd = fd;
    s->open[slot].entry = entry;
    s->open[slot].used = s->operations;
    return fd;
}

static int read_part(struct espi_copy_source *s, const struct espi_extent *x,
                     uint64_t skip, void *to, size_t bytes)
{
    int fd = source_fd(s, x->entry);
    return fd < 0 ? -1
                  : read_unchanged(&s->m.entry[x->entry], fd, to, bytes, x->at + skip);
}

static esp_status changed_or_unread(const struct espi_copy_entry *e, struct esp_err *err)
{
    char quoted[160];
    return errno == ESTALE || errno == ENODATA
               ? espi_err(err, ESP_EIO, "%s changed while it was copied",
                          espi_quote(quoted, sizeof quoted, e->path))
               : source_trouble("read", e->path, err);
}

esp_status espi_source_load(struct espi_copy_source *s, uint64_t at, void *to,
                            size_t bytes, struct esp_err *err)
{
    char *out = to;
    const struct espi_extent *x = &s->m.extent[espi_manifest_find(&s->m, at)];
    for (; bytes > 0; x++) {
        uint64_t skip = at - x->stream, left = x->bytes - skip;
        size_t now = left < bytes ? (size_t)left : bytes;
        const struct espi_copy_entry *e = &s->m.entry[x->entry];
        int failed = now == e->size ? read_whole(s, x->entry, out)
                                    : read_part(s, x, skip, out, now);
        if (failed)
            return changed_or_unread(e, err);
        out += now;
        at += now;
        bytes -= now;
    }
    return ESP_OK;
}

esp_status espi_source_find(struct espi_copy_source *s, uint64_t at,
                            struct espi_copy_place *place, struct esp_err *err)
{
    const struct espi_extent *x = &s->m.extent[espi_manifest_find(&s->m, at)];
    uint64_t skip = at - x->stream;
    *place = (struct espi_copy_place){-1, x->at + skip, x->bytes - skip};
    if (place->bytes < ESPI_COPY_BY_KERNEL_BYTES)
        return ESP_OK;
    place->fd = source_fd(s, x->entry);
    return place->fd < 0 ? changed_or_unread(&s->m.entry[x->entry], err) : ESP_OK;
}

static int stat_source(const struct espi_copy_source *s, uint32_t entry,
                       struct espi_folder_at_hand *in, struct stat *st)
{
    char path[REAL_PATH];
    const char *name;
    int top = find_real(s, entry, path);
    int folder = top < 0 ? -1 : espi_go_to_parent(in, top, path, &name);
    return folder < 0 ? -1 : fstatat(folder, name, st, AT_SYMLINK_NOFOLLOW);
}

esp_status espi_source_check(const struct espi_copy_source *s, struct esp_err *err)
{
    struct espi_folder_at_hand in = ESPI_NO_FOLDER;
    esp_status status = ESP_OK;
    for (uint32_t i = 0; !status && i < s->m.n_entries; i++) {
        const struct espi_copy_entry *e = &s->m.entry[i];
        struct stat st;
        if (e->kind != ESPI_ENTRY_FILE)
            continue;
        if (stat_source(s, i, &in, &st) || !is_same(e, &st)) {
            errno = ESTALE; /* also where there is none of that name any more */
            status = changed_or_unread(e, err);
        }
    }
    espi_leave_folder(&in);
    return status;
}
