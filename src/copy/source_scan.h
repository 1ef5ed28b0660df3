/* Walks over what is to be copied, and writes the list of it. */
#ifndef ESPI_COPY_SOURCE_SCAN_H
#define ESPI_COPY_SOURCE_SCAN_H

#include <espalier/status.h>

#include <sys/types.h>

#include "copy/manifest.h"

/* A file with several names that was met. */
struct espi_scan_inode {
    dev_t device;
    ino_t number;
    uint32_t entry; /* + 1; 0: this place is free */
};

struct espi_scan {
    struct espi_manifest_writer *writer;
    const char *given; /* what the user named, for messages: it has the path of now */
    size_t given_path; /* of which so many bytes stand for it; NULL, 0: nothing does */
    uint32_t n_entries;
    struct espi_scan_inode *seen; /* by hash */
    size_t n_seen, room;
};

/* Adds what has this name in the folder, and all below it, in the order of names, under
 * that path. What is neither file, folder nor link is an error. */
esp_status espi_scan_add(struct espi_scan *scan, int folder, const char *name,
                         const char *path, struct esp_err *err);
void espi_scan_done(struct espi_scan *scan);

#endif
