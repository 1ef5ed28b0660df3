/* Are all ranks of the job here? */
#ifndef ESPI_MPI_GREET_H
#define ESPI_MPI_GREET_H

/* Before MPI_Init by whatever name. */
void espi_greet(void);

/* Behind it: 1 when every rank of MPI_COMM_WORLD has this shim and its settings; else 0,
 * on every rank that has a shim, and one of them tells why. */
int espi_meet(int rank, int n);

/* Was the shim told to do nothing at all? */
int espi_is_off(void);

/* The version that greetings name. */
const char *espi_shim_version(void);

#endif
