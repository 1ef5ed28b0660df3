/* What is copied: files and folders of the host that gives them. */
#ifndef ESPI_COPY_SOURCE_H
#define ESPI_COPY_SOURCE_H

#include <espalier/status.h>

#include <sys/types.h>

#include "copy/manifest.h"
#include "copy/slices.h"
#include "copy/tree.h"

enum { ESPI_SOURCE_OPEN = 16 }; /* limit: files that are open at a time */

struct espi_source_top {
    const char *given; /* as it was named, for messages */
    int parent;        /* the folder it is in */
    char *real;        /* its name there */
    char *name;        /* its name in the copy */
    uint32_t first_entry;
};

struct espi_copy_source {
    struct espi_source_top *top;
    int n_tops;
    struct espi_wire_out list; /* the manifest as it travels */
    struct espi_manifest m;
    struct {
        int fd;
        uint32_t entry;
        uint64_t used;
    } open[ESPI_SOURCE_OPEN];
    struct espi_folder_at_hand at_hand;
    uint64_t operations;
};

void espi_source_init(struct espi_copy_source *s);
void espi_source_done(struct espi_copy_source *s);

/* Finds out what there is. Links that are named are followed, those below are copied. */
esp_status espi_source_scan(struct espi_copy_source *s, const char *const *paths, int n,
                            struct esp_err *err);
/* The list of a stream that becomes one file. */
esp_status espi_source_stream(struct espi_copy_source *s, const char *name,
                              struct esp_err *err);

/* Bytes of the stream of data. A file that is no longer what it was is an error. */
esp_status espi_source_load(struct espi_copy_source *s, uint64_t at, void *to,
                            size_t bytes, struct esp_err *err);
/* Where these bytes are; whether the file is still what it was is not looked at. */
esp_status espi_source_find(struct espi_copy_source *s, uint64_t at,
                            struct espi_copy_place *place, struct esp_err *err);
/* Is every file still what it was? Else an error that names it. */
esp_status espi_source_check(const struct espi_copy_source *s, struct esp_err *err);

#endif
