/* The folder of a testbed under /run. */
#ifndef ESPI_TESTBED_FOLDER_H
#define ESPI_TESTBED_FOLDER_H

#include "testbed/testbed.h"

#define ESPI_TESTBEDS "/run/espalier-testbed"

/* Sets name, folder and nothing else; ESP_EUSAGE when no testbed can be called so. */
esp_status espi_folder_init(struct espi_testbed *testbed, const char *name,
                            struct esp_err *err);
/* The folder is there, and not somebody else's. */
int espi_folder_exists(const struct espi_testbed *testbed);
int espi_folder_has(const struct espi_testbed *testbed, const char *file);
const char *espi_folder_path(const struct espi_testbed *testbed, const char *file,
                             char out[160]);

/* Makes the folder; ESP_EUSAGE when it is there already. */
esp_status espi_folder_make(struct espi_testbed *testbed, struct esp_err *err);
/* Holds the folder's lock, for this process and those it starts; waits a while for
 * others. */
esp_status espi_folder_lock(struct espi_testbed *testbed, struct esp_err *err);
/* Writes a file that appears only when it is whole. */
esp_status espi_folder_write(const struct espi_testbed *testbed, const char *file,
                             int mode, void (*write)(FILE *out, const void *what),
                             const void *what, struct esp_err *err);
esp_status espi_folder_remove(struct espi_testbed *testbed, struct esp_err *err);

#endif
