/* The store of the launcher: texts that ranks leave before MPI_Init and can read of each
 * other after it. Every MPI library exchanges the addresses of its ranks there. */
#ifndef ESPI_MPI_STORE_H
#define ESPI_MPI_STORE_H

#include <stddef.h>

/* Longest text, with its end. It has no blanks and no '='. */
enum { ESPI_STORE_TEXT = 128 }; /* limit: of what is put into the store */

/* Before MPI_Init: leaves this rank's text; 0, or -1: there is no store. */
int espi_store_put(const char *text);

/* After MPI_Init, where put went well: the text of a rank; 1, or 0: it has left none.
 * patient: a store that has to ask elsewhere may take a few seconds. */
int espi_store_get(int rank, int patient, char out[ESPI_STORE_TEXT]);

/* After MPI_Init, whether put went well or not: the store is not needed any more. */
void espi_store_done(void);

#endif
