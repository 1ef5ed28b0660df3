/* Where an agent puts what comes: a folder of its own below the target folder, in which
 * everything is built, and from which it moves to its place when it is whole. Nothing is
 * ever opened outside: the kernel resolves all paths beneath the folder and through no
 * link. */
#ifndef ESPI_COPY_STORE_H
#define ESPI_COPY_STORE_H

#include <espalier/status.h>

#include <sys/types.h>

#include "copy/manifest.h"
#include "copy/recent.h"
#include "copy/slices.h"
#include "copy/tree.h"

/* limit: files that are open at a time */
enum { ESPI_STORE_OPEN = 16 };

struct espi_store_file {
    int fd;
    uint32_t entry;
    uint64_t used; /* when, in operations */
    int writes;
    int has_mode; /* it was made, with the mode that it is to have */
};

struct espi_store {
    int folder, build; /* -1: none */
    char build_name[64];
    struct espi_manifest *m;
    unsigned char *finished; /* entries that have their mode and time */
    struct espi_store_file open[ESPI_STORE_OPEN];
    struct espi_folder_at_hand at_hand;
    struct espi_recent recent;
    uint64_t operations;
    mode_t umask;   /* of the process */
    int had_before; /* something of an earlier copy is there */
    double wait_s;  /* so long for another copy that ends */
};

void espi_store_init(struct espi_store *s);
/* Closes everything; what is on disk stays. */
void espi_store_done(struct espi_store *s);

/* Opens the folder, which is made when it is not there; below: NULL, or a folder that it
 * must lie beneath, named from there. */
esp_status espi_store_open(struct espi_store *s, const char *below, const char *folder,
                           struct esp_err *err);
/* Makes the folder to build in, with all folders of the manifest, which stays the
 * caller's. resume: what an earlier copy left there stays, and files that are in their
 * place already are taken as they are. ESP_EINPUT: a folder has the name of a file. */
esp_status espi_store_begin(struct espi_store *s, struct espi_manifest *m, int resume,
                            struct esp_err *err);

/* Puts bytes of the stream where they belong, or reads them from there. */
esp_status espi_store_keep(struct espi_store *s, uint64_t at, const void *from,
                           size_t bytes, struct esp_err *err);
esp_status espi_store_load(struct espi_store *s, uint64_t at, void *to, size_t bytes,
                           struct esp_err *err);
/* As load, but what came just now is taken from memory: to be passed on, not to be
 * proven. */
esp_status espi_store_pass(struct espi_store *s, uint64_t at, void *to, size_t bytes,
                           struct esp_err *err);
/* Of a stream: bytes of its one file. */
esp_status espi_store_stream(struct espi_store *s, int keeps, uint64_t at, void *data,
                             size_t bytes, struct esp_err *err);
/* Where these bytes are, or are to be put. */
esp_status espi_store_find(struct espi_store *s, int keeps, uint64_t at,
                           struct espi_copy_place *place, struct esp_err *err);
esp_status espi_store_find_stream(struct espi_store *s, int keeps, uint64_t at,
                                  struct espi_copy_place *place, struct esp_err *err);

/* Gives everything its size, mode and time, waits until the disk has it, and moves it to
 * its place. */
esp_status espi_store_finish(struct espi_store *s, uint64_t stream_bytes,
                             struct esp_err *err);
/* Takes away what was built, and what was replaced. */
void espi_store_discard(struct espi_store *s);

#endif
