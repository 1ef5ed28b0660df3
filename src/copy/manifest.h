/* The manifest of a copy: what files and folders there are, and where their bytes stand
 * in the stream of data, which is those bytes one behind the other, without the holes.
 * It travels before the data, so that hosts can put what comes, in whatever order, where
 * it belongs. */
#ifndef ESPI_COPY_MANIFEST_H
#define ESPI_COPY_MANIFEST_H

#include <espalier/status.h>

#include "base/arena.h"
#include "copy/wire.h"

enum espi_entry_kind { /* code */
                       ESPI_ENTRY_FILE = 1,
                       ESPI_ENTRY_FOLDER,
                       ESPI_ENTRY_SYMLINK,
                       ESPI_ENTRY_HARDLINK, /* to an earlier entry, a file */
                       ESPI_ENTRY_STREAM,   /* a file whose size is known at its end */
};

enum {
    ESPI_COPY_PATH_MAX = 4096, /* limit: as the kernel's */
    ESPI_COPY_MODE = 0777,     /* code: no set-user-id travels */
};

struct espi_copy_entry {
    int kind;
    unsigned mode;
    int64_t mtime_s;
    uint32_t mtime_ns;
    uint64_t size;
    const char *path; /* below the folder of the copy */
    const char *link; /* of a symbolic link; else "" */
    uint32_t hard;    /* of a hard link: the entry */
    uint32_t first_extent, n_extents;
};

/* Bytes of a file that stand together. */
struct espi_extent {
    uint32_t entry;
    uint64_t at;     /* in the file */
    uint64_t bytes;  /* not 0 */
    uint64_t stream; /* where they begin in the stream */
};

struct espi_manifest {
    struct espi_copy_entry *entry;
    uint32_t n_entries;
    struct espi_extent *extent; /* in the order of the stream */
    uint32_t n_extents;
    uint64_t data_bytes; /* of the stream */
    struct espi_arena texts;
    size_t entry_room, extent_room;
};

/* May a path of a copy be so? Not empty, not absolute, no part that is empty, "." or
 * "..", and not longer than the kernel takes. */
int espi_copy_path_is_sound(const char *path);

/* What the entry before said, which the next one need not say again. */
struct espi_entry_before {
    char path[ESPI_COPY_PATH_MAX];
    int kind;
    unsigned mode[8]; /* by kind */
    int64_t mtime_s;
    uint32_t mtime_ns;
};

struct espi_manifest_writer {
    struct espi_wire_out list;
    struct espi_entry_before before;
};

/* Writes one entry, with its extents; what it says must be sound. Entries come as on a
 * walk: a folder before what is in it, and all in it in the order of their names. */
void espi_manifest_put(struct espi_manifest_writer *w, const struct espi_copy_entry *e,
                       const struct espi_extent *extents);

/* Reads a manifest that anybody may have made: paths are sound and those of a walk, so
 * that none comes twice and all parents are folders; extents lie in their files, in
 * order. */
esp_status espi_manifest_read(struct espi_manifest *m, const void *data, size_t bytes,
                              struct esp_err *err);
void espi_manifest_done(struct espi_manifest *m);

/* The entries in the order of their paths; espi_free. */
uint32_t *espi_manifest_sort(const struct espi_manifest *m);
/* The entry of the first `length` bytes of a path; n_entries: none. */
uint32_t espi_manifest_find_path(const struct espi_manifest *m, const uint32_t *sorted,
                                 const char *path, size_t length);

/* Is it that of a stream? */
static inline int espi_manifest_has_stream(const struct espi_manifest *m)
{
    return m->n_entries == 1 && m->entry[0].kind == ESPI_ENTRY_STREAM;
}

/* The extent in which the byte of the stream lies; it must lie in one. */
uint32_t espi_manifest_find(const struct espi_manifest *m, uint64_t at);

#endif
