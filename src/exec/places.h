/* Where the slices of a run's message are. */
#ifndef ESPI_EXEC_PLACES_H
#define ESPI_EXEC_PLACES_H

#include "exec/exec.h"

/* The bytes of a slice in the message; NULL where that is not in memory of ours. It means
 * nothing where the data are reached by functions (load, keep). */
char *espi_place_of(const struct espi_run *run, int64_t slice, size_t *bytes);

/* The first of the slices that a message of the stream is, and the bytes of all. */
char *espi_place_of_message(const struct espi_run *run, int stream, int64_t slice,
                            size_t *bytes);

/* Can messages of the stream not be sent from where they are, or received there? */
int espi_is_scattered(const struct espi_run *run, int stream);

/* Room for a slice, and for any message of the stream, in memory of ours. */
size_t espi_room_for_slice(const struct espi_program *prog,
                           const struct espi_run_options *o);
size_t espi_room_for_message(const struct espi_run *run, int stream);

/* Copies a slice from or to the message. */
void espi_slice_load(const struct espi_run *run, int64_t slice, char *to, size_t *bytes);
void espi_slice_keep(const struct espi_run *run, int64_t slice, const char *from,
                     size_t *bytes);

/* The slices of a message of the stream, one behind the other. */
void espi_message_load(const struct espi_run *run, int stream, int64_t slice, char *to);

#endif
