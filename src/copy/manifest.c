#include "copy/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

enum {
    EXTENT_BYTES = 8 + 8,     /* derived */
    NANOSECONDS = 1000000000, /* derived: in a second */
};

int espi_copy_path_is_sound(const char *path)
{
    size_t length = strlen(path);
    if (length == 0 || length >= ESPI_COPY_PATH_MAX)
        return 0;
    for (const char *at = path;; at++) {
        size_t part = strcspn(at, "/");
        if (part == 0 || part > 255 || (part == 1 && at[0] == '.') ||
            (part == 2 && at[0] == '.' && at[1] == '.'))
            return 0;
        at += part;
        if (!*at)
            return 1;
    }
}

void espi_manifest_put(struct espi_wire_out *w, const struct espi_copy_entry *e,
                       const struct espi_extent *extents)
{
    espi_put_8(w, (unsigned)e->kind);
    espi_put_32(w, e->mode);
    espi_put_64(w, (uint64_t)e->mtime_s);
    espi_put_32(w, e->mtime_ns);
    espi_put_64(w, e->size);
    espi_put_text(w, e->path);
    espi_put_text(w, e->link ? e->link : "");
    espi_put_32(w, e->hard);
    espi_put_32(w, e->n_extents);
    for (uint32_t i = 0; i < e->n_extents; i++) {
        espi_put_64(w, extents[i].at);
        espi_put_64(w, extents[i].bytes);
    }
}

/* Texts of all entries stand in one block that is at least as large as what was read. */
struct manifest_reader {
    struct espi_manifest *m;
    struct espi_wire_in in;
    char *text_at;
};

static const char *take_name(struct manifest_reader *r, size_t size)
{
    size_t left = (size_t)(r->in.end - r->in.at), most = left + 1;
    char *text = r->text_at;
    espi_take_text(&r->in, text, most < size ? most : size);
    r->text_at += strlen(text) + 1;
    return text;
}

static int read_extents(struct manifest_reader *r, struct espi_copy_entry *e,
                        uint32_t number)
{
    struct espi_manifest *m = r->m;
    void *grown = m->extent;
    uint64_t end = 0;
    uint32_t n = espi_take_count(&r->in, EXTENT_BYTES);
    if (espi_grow(&grown, &m->extent_room, (size_t)m->n_extents + n, sizeof *m->extent))
        return -1;
    m->extent = grown;
    e->first_extent = m->n_extents;
    e->n_extents = n;
    for (uint32_t i = 0; i < n; i++) {
        struct espi_extent *x = &m->extent[m->n_extents++];
        x->entry = number;
        x->at = espi_take_64(&r->in);
        x->bytes = espi_take_64(&r->in);
        x->stream = m->data_bytes;
        if (x->at < end || x->bytes == 0 || x->at > e->size ||
            x->bytes > e->size - x->at || x->bytes > INT64_MAX - m->data_bytes)
            r->in.bad = 1;
        end = x->at + x->bytes;
        m->data_bytes += x->bytes;
    }
    return 0;
}

static int read_entry(struct manifest_reader *r)
{
    struct espi_manifest *m = r->m;
    void *grown = m->entry;
    if (espi_grow(&grown, &m->entry_room, (size_t)m->n_entries + 1, sizeof *m->entry))
        return -1;
    m->entry = grown;
    struct espi_copy_entry *e = &m->entry[m->n_entries];
    *e = (struct espi_copy_entry){.kind = (int)espi_take_8(&r->in)};
    e->mode = espi_take_32(&r->in) & ESPI_COPY_MODE;
    e->mtime_s = (int64_t)espi_take_64(&r->in);
    e->mtime_ns = espi_take_32(&r->in);
    e->size = espi_take_64(&r->in);
    e->path = take_name(r, ESPI_COPY_PATH_MAX);
    e->link = take_name(r, ESPI_COPY_PATH_MAX);
    e->hard = espi_take_32(&r->in);
    if (read_extents(r, e, m->n_entries))
        return -1;
    if (e->kind < ESPI_ENTRY_FILE || e->kind > ESPI_ENTRY_STREAM ||
        e->mtime_ns >= NANOSECONDS || e->size > INT64_MAX ||
        (e->kind != ESPI_ENTRY_FILE && e->n_extents > 0) ||
        (e->kind == ESPI_ENTRY_SYMLINK) != (e->link[0] != '\0') ||
        !espi_copy_path_is_sound(e->path) ||
        (e->kind == ESPI_ENTRY_HARDLINK &&
         (e->hard >= m->n_entries || m->entry[e->hard].kind != ESPI_ENTRY_FILE)))
        r->in.bad = 1;
    m->n_entries++;
    return 0;
}

/* ---- is it a tree? ---- */

static int compare_paths(const void *a, const void *b, void *arg)
{
    const struct espi_manifest *m = arg;
    return strcmp(m->entry[*(const uint32_t *)a].path,
                  m->entry[*(const uint32_t *)b].path);
}

uint32_t *espi_manifest_sort(const struct espi_manifest *m)
{
    uint32_t *sorted = ESPI_NEW(uint32_t, m->n_entries ? m->n_entries : 1);
    if (!sorted)
        return NULL;
    for (uint32_t i = 0; i < m->n_entries; i++)
        sorted[i] = i;
    qsort_r(sorted, m->n_entries, sizeof *sorted, compare_paths, (void *)(uintptr_t)m);
    return sorted;
}

uint32_t espi_manifest_find_path(const struct espi_manifest *m, const uint32_t *sorted,
                                 const char *path, size_t length)
{
    uint32_t low = 0, high = m->n_entries;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const char *other = m->entry[sorted[middle]].path;
        int order = strncmp(other, path, length);
        if (order == 0 && other[length] == '\0')
            return sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return m->n_entries;
}

static int is_tree(const struct espi_manifest *m, const uint32_t *sorted)
{
    for (uint32_t i = 1; i < m->n_entries; i++)
        if (strcmp(m->entry[sorted[i - 1]].path, m->entry[sorted[i]].path) == 0)
            return 0;
    for (uint32_t i = 0; i < m->n_entries; i++) {
        const char *path = m->entry[i].path, *slash = strrchr(path, '/');
        if (!slash)
            continue;
        uint32_t parent =
            espi_manifest_find_path(m, sorted, path, (size_t)(slash - path));
        if (parent >= i || m->entry[parent].kind != ESPI_ENTRY_FOLDER)
            return 0;
    }
    return 1;
}

static esp_status check_tree(const struct espi_manifest *m, struct esp_err *err)
{
    uint32_t *sorted = espi_manifest_sort(m);
    if (!sorted)
        return espi_err_nomem(err);
    int sound = is_tree(m, sorted);
    espi_free(sorted);
    return sound ? ESP_OK
                 : espi_err(err, ESP_EINPUT,
                            "a list of files names one twice, or one whose folder it "
                            "does not name before");
}

esp_status espi_manifest_read(struct espi_manifest *m, const void *data, size_t bytes,
                              struct esp_err *err)
{
    struct espi_manifest made = {.texts = espi_malloc(bytes + 2)};
    struct manifest_reader r = {&made, espi_wire_in(data, bytes), made.texts};
    int failed = !made.texts;
    while (!failed && !r.in.bad && r.in.at < r.in.end)
        failed = read_entry(&r);
    esp_status status = failed     ? espi_err_nomem(err)
                        : r.in.bad ? espi_err(err, ESP_EINPUT,
                                              "a list of files that cannot be: a hostile "
                                              "name, or numbers that do not fit")
                                   : check_tree(&made, err);
    if (status)
        espi_manifest_done(&made);
    else
        *m = made;
    return status;
}

void espi_manifest_done(struct espi_manifest *m)
{
    espi_free(m->entry);
    espi_free(m->extent);
    espi_free(m->texts);
    *m = (struct espi_manifest){0};
}

uint32_t espi_manifest_find(const struct espi_manifest *m, uint64_t at)
{
    uint32_t low = 0, high = m->n_extents;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (m->extent[middle].stream <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}
