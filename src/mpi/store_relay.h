/* Between an MPI library and the launcher that it talks to over a file it is born with:
 * what has been said to the launcher already is answered here, and all else goes through.
 *
 * MPICH begins with a line "cmd=init", which some launchers, as Hydra, take as often as
 * it comes, and others once only: Slurm kills a job that says it twice. */
#ifndef ESPI_MPI_STORE_RELAY_H
#define ESPI_MPI_STORE_RELAY_H

/* From here on the file is a line to us. Gives another one that leads to the launcher, or
 * -1: all is as it was. */
int espi_store_relay_begin(int file);

/* What the launcher answered to "cmd=init", for the library when it says it. Before the
 * library says anything. */
void espi_store_relay_answer(const char *line);

/* The file is the launcher's again. The library waits for no answer meanwhile. */
void espi_store_relay_end(void);

#endif
