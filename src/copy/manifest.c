#include "copy/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

enum {
    NANOSECONDS = 1000000000, /* derived: in a second */
    TEXTS_MAX = 1 << 29,      /* limit: paths in memory, of which lists say the ends */
    /* code: an entry begins with its kind, and whether ... */
    KIND_BITS = 7,
    MODE_BEFORE = 8, /* code: its mode is that of the last of its kind */
    TIME_NEAR = 16,  /* code: its time is told from the last, in nanoseconds */
    IN_ONE = 32,     /* code: it has no holes */
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

/* ---- writing ---- */

static size_t count_alike(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

/* Times of files that were made one after the other. */
static int is_near(const struct espi_entry_before *b, int64_t s)
{
    const int64_t far = 4000000000; /* limit: differences in nanoseconds are numbers */
    return b->mtime_s > -far && b->mtime_s < far && s > -far && s < far;
}

static int is_in_one(const struct espi_copy_entry *e, const struct espi_extent *x)
{
    return e->n_extents == 0 ? e->size == 0
                             : e->n_extents == 1 && x->at == 0 && x->bytes == e->size;
}

static void remember(struct espi_entry_before *b, const struct espi_copy_entry *e,
                     size_t alike)
{
    strcpy(b->path + alike, e->path + alike);
    b->kind = e->kind;
    b->mode[e->kind & KIND_BITS] = e->mode;
    b->mtime_s = e->mtime_s;
    b->mtime_ns = e->mtime_ns;
}

static void put_extents(struct espi_wire_out *w, const struct espi_copy_entry *e,
                        const struct espi_extent *extents)
{
    uint64_t end = 0;
    espi_put_number(w, e->n_extents);
    for (uint32_t i = 0; i < e->n_extents; i++) {
        espi_put_number(w, extents[i].at - end);
        espi_put_number(w, extents[i].bytes);
        end = extents[i].at + extents[i].bytes;
    }
}

void espi_manifest_put(struct espi_manifest_writer *writer,
                       const struct espi_copy_entry *e, const struct espi_extent *extents)
{
    struct espi_wire_out *w = &writer->list;
    struct espi_entry_before *b = &writer->before;
    size_t alike = count_alike(b->path, e->path);
    int same_mode = b->mode[e->kind & KIND_BITS] == e->mode;
    int near = is_near(b, e->mtime_s), in_one = is_in_one(e, extents);
    espi_put_8(w, (unsigned)(e->kind & KIND_BITS) | (same_mode ? MODE_BEFORE : 0u) |
                      (near ? TIME_NEAR : 0u) | (in_one ? IN_ONE : 0u));
    espi_put_number(w, alike);
    espi_put_number(w, strlen(e->path + alike));
    espi_put_raw(w, e->path + alike, strlen(e->path + alike));
    if (!same_mode)
        espi_put_number(w, e->mode);
    if (near) {
        espi_put_signed(w, (e->mtime_s - b->mtime_s) * NANOSECONDS +
                               ((int64_t)e->mtime_ns - b->mtime_ns));
    } else {
        espi_put_signed(w, e->mtime_s);
        espi_put_number(w, e->mtime_ns);
    }
    espi_put_number(w, e->size);
    if (e->kind == ESPI_ENTRY_SYMLINK)
        espi_put_text(w, e->link);
    if (e->kind == ESPI_ENTRY_HARDLINK)
        espi_put_number(w, e->hard);
    if (!in_one)
        put_extents(w, e, extents);
    if (strlen(e->path) < ESPI_COPY_PATH_MAX)
        remember(b, e, alike);
}

/* ---- reading ---- */

struct manifest_reader {
    struct espi_manifest *m;
    struct espi_wire_in in;
    struct espi_entry_before before;
    size_t text_bytes;
    unsigned char flags; /* of the entry of now */
};

static char *keep_text(struct manifest_reader *r, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *kept = ESPI_ARENA_NEW(&r->m->texts, char, bytes);
    r->text_bytes += bytes;
    if (r->text_bytes > TEXTS_MAX)
        r->in.bad = 1;
    return kept ? memcpy(kept, text, bytes) : NULL;
}

/* The end of a name; what it has of the one before says how many bytes. -1: no memory. */
static int take_path(struct manifest_reader *r, struct espi_copy_entry *e, size_t *alike)
{
    char path[ESPI_COPY_PATH_MAX];
    uint64_t same = espi_take_number(&r->in), more = espi_take_number(&r->in);
    if (same > strlen(r->before.path) || more >= sizeof path - same)
        r->in.bad = 1;
    const unsigned char *end = r->in.bad ? NULL : espi_take_raw(&r->in, (size_t)more);
    if (!end || memchr(end, '\0', (size_t)more))
        r->in.bad = 1;
    *alike = r->in.bad ? 0 : (size_t)same;
    memcpy(path, r->before.path, *alike);
    if (!r->in.bad)
        memcpy(path + same, end, (size_t)more);
    path[r->in.bad ? 0 : same + more] = '\0';
    e->path = keep_text(r, path);
    return e->path ? 0 : -1;
}

/* Names end at their slashes. */
static int byte_of_name(char c)
{
    return c == '/' ? 0 : (unsigned char)c;
}

/* Is it in the last folder, or a later name beside the last entry or a folder around it?
 * So no path comes twice, and every folder came before what is in it. */
static int comes_next(const struct espi_entry_before *b, const char *path)
{
    size_t i = count_alike(b->path, path);
    if (b->path[i] == '\0' && path[i] == '/')
        return b->kind == ESPI_ENTRY_FOLDER && !strchr(path + i + 1, '/');
    return byte_of_name(path[i]) > byte_of_name(b->path[i]) && !strchr(path + i, '/');
}

static void take_time(struct manifest_reader *r, struct espi_copy_entry *e)
{
    if (!(r->flags & TIME_NEAR)) {
        uint64_t ns;
        e->mtime_s = espi_take_signed(&r->in);
        ns = espi_take_number(&r->in);
        e->mtime_ns = ns < NANOSECONDS ? (uint32_t)ns : NANOSECONDS;
        return;
    }
    int64_t ns, step = espi_take_signed(&r->in);
    if (!is_near(&r->before, 0) ||
        __builtin_add_overflow(r->before.mtime_s * NANOSECONDS + r->before.mtime_ns, step,
                               &ns)) {
        r->in.bad = 1;
        return;
    }
    int64_t rest = ns % NANOSECONDS;
    e->mtime_s = ns / NANOSECONDS - (rest < 0);
    e->mtime_ns = (uint32_t)(rest < 0 ? rest + NANOSECONDS : rest);
}

static int read_extents(struct manifest_reader *r, struct espi_copy_entry *e,
                        uint32_t number)
{
    struct espi_manifest *m = r->m;
    void *grown = m->extent;
    uint64_t end = 0;
    int in_one = r->flags & IN_ONE;
    uint64_t n =
        in_one ? e->size > 0 && e->kind == ESPI_ENTRY_FILE : espi_take_number(&r->in);
    if (!in_one && n > (size_t)(r->in.end - r->in.at) / 2)
        r->in.bad = 1;
    if (r->in.bad)
        return 0;
    if (espi_grow(&grown, &m->extent_room, (size_t)m->n_extents + n, sizeof *m->extent))
        return -1;
    m->extent = grown;
    e->first_extent = m->n_extents;
    e->n_extents = (uint32_t)n;
    for (uint32_t i = 0; i < n; i++) {
        struct espi_extent *x = &m->extent[m->n_extents++];
        uint64_t gap = in_one ? 0 : espi_take_number(&r->in);
        x->entry = number;
        x->at = gap <= e->size - end ? end + gap : e->size;
        x->bytes = in_one ? e->size : espi_take_number(&r->in);
        x->stream = m->data_bytes;
        if (gap > e->size - end || x->bytes == 0 || x->bytes > e->size - x->at ||
            x->bytes > INT64_MAX - m->data_bytes) {
            r->in.bad = 1;
            return 0;
        }
        end = x->at + x->bytes;
        m->data_bytes += x->bytes;
    }
    return 0;
}

/* -1: no memory. */
static int take_link(struct manifest_reader *r, struct espi_copy_entry *e)
{
    char link[ESPI_COPY_PATH_MAX] = "";
    e->link = "";
    if (e->kind != ESPI_ENTRY_SYMLINK)
        return 0;
    espi_take_text(&r->in, link, sizeof link);
    if (!link[0])
        r->in.bad = 1;
    e->link = keep_text(r, link);
    return e->link ? 0 : -1;
}

static int is_entry_sound(const struct manifest_reader *r,
                          const struct espi_copy_entry *e)
{
    return e->kind >= ESPI_ENTRY_FILE && e->kind <= ESPI_ENTRY_STREAM &&
           e->mtime_ns < NANOSECONDS && e->size <= INT64_MAX &&
           espi_copy_path_is_sound(e->path) && comes_next(&r->before, e->path) &&
           (e->kind != ESPI_ENTRY_HARDLINK ||
            (e->hard < r->m->n_entries && r->m->entry[e->hard].kind == ESPI_ENTRY_FILE));
}

/* -1: no memory. */
static int read_entry(struct manifest_reader *r)
{
    struct espi_manifest *m = r->m;
    void *grown = m->entry;
    size_t alike;
    if (espi_grow(&grown, &m->entry_room, (size_t)m->n_entries + 1, sizeof *m->entry))
        return -1;
    m->entry = grown;
    struct espi_copy_entry *e = &m->entry[m->n_entries];
    r->flags = (unsigned char)espi_take_8(&r->in);
    *e = (struct espi_copy_entry){.kind = r->flags & KIND_BITS};
    if (take_path(r, e, &alike))
        return -1;
    e->mode = (r->flags & MODE_BEFORE ? r->before.mode[e->kind]
                                      : (unsigned)espi_take_number(&r->in)) &
              ESPI_COPY_MODE;
    take_time(r, e);
    e->size = espi_take_number(&r->in);
    if (take_link(r, e))
        return -1;
    uint64_t hard = e->kind == ESPI_ENTRY_HARDLINK ? espi_take_number(&r->in) : 0;
    e->hard = hard < UINT32_MAX ? (uint32_t)hard : UINT32_MAX;
    if (!is_entry_sound(r, e))
        r->in.bad = 1;
    if (!r->in.bad && read_extents(r, e, m->n_entries))
        return -1;
    if (e->kind != ESPI_ENTRY_FILE && e->n_extents > 0)
        r->in.bad = 1;
    if (!r->in.bad)
        remember(&r->before, e, alike);
    m->n_entries++;
    return 0;
}

esp_status espi_manifest_read(struct espi_manifest *m, const void *data, size_t bytes,
                              struct esp_err *err)
{
    struct espi_manifest made = {0};
    struct manifest_reader r = {.m = &made, .in = espi_wire_in(data, bytes)};
    int failed = 0;
    espi_arena_init(&made.texts);
    while (!failed && !r.in.bad && r.in.at < r.in.end)
        failed = read_entry(&r);
    esp_status status =
        failed     ? espi_err_nomem(err)
        : r.in.bad ? espi_err(err, ESP_EINPUT,
                              "a list of files that cannot be: a hostile name, one that "
                              "comes twice or before its folder, or numbers that do not "
                              "fit")
                   : ESP_OK;
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
    espi_arena_done(&m->texts);
    *m = (struct espi_manifest){0};
}

/* ---- finding ---- */

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
