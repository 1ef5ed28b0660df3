/* Runs a host's part of a program, from and to wherever the message is. */
#ifndef ESPI_COPY_RUNNER_H
#define ESPI_COPY_RUNNER_H

#include "copy/tcp.h"
#include "exec/exec.h"

struct espi_runner {
    struct espi_arena arena;
    unsigned char *bytes; /* of the part, which points into them */
    struct espi_copy_part part;
    struct espi_copy_slices slices;
    struct espi_run run;
    struct espi_tcp *tcp;
    int is_on;   /* set up */
    int is_busy; /* bytes moved in the last step: there may be more at once */
};

/* Reads the part, which is copied, and gets ready. mine: does the host have everything
 * (the root)? */
esp_status espi_runner_start(struct espi_runner *r, struct espi_wire_in *part, int mine,
                             int encrypted, const struct espi_listener *listener,
                             const struct espi_copy_disk *disk, struct esp_err *err);
/* Everybody is ready. -1: a host cannot be found. */
int espi_runner_go(struct espi_runner *r);
/* Goes on as far as it can: 1: the part is done; 0: not yet; -1: a connection broke, or
 * the disk failed (slices). */
int espi_runner_step(struct espi_runner *r);
void espi_runner_done(struct espi_runner *r);

/* The tags of the blocks in the set, one behind the other. One that cannot be read is an
 * error, or, where drops is set, taken out of it. tags has room for all. */
esp_status espi_runner_tags(const struct espi_copy_disk *disk,
                            const struct espi_copy_message *m,
                            const unsigned char key[ESPI_SECRET_BYTES],
                            unsigned char *set, int drops, unsigned char *tags,
                            struct esp_err *err);

#endif
