/* Between the parts of the store. */
#ifndef ESPI_COPY_STORE_IMPL_H
#define ESPI_COPY_STORE_IMPL_H

#include "copy/store.h"

/* ESP_EIO, with what errno says. */
esp_status espi_store_trouble(const char *what, const char *path, struct esp_err *err);
void espi_store_close_files(struct espi_store *s);
/* Gives a file, which is made where it is not there, its size, mode and time; waits:
 * until the disk has it. -1 and errno. */
int espi_store_dress(struct espi_store *s, uint32_t entry, uint64_t size, int waits);

/* Opens the folder in which things are built, and locks it: nobody else has it then. What
 * an earlier copy left there is taken away, or, where it is to be used, all of it that is
 * not in the list of files as it is now. */
esp_status espi_store_take_build(struct espi_store *s, int resume, struct esp_err *err);
/* Where the list says that there is nothing in a file, there is nothing. */
esp_status espi_store_clear_holes(struct espi_store *s, struct esp_err *err);

#endif
