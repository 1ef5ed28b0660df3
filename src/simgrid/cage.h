/* A cage for a process that reads what strangers wrote with code that obeys too much. */
#ifndef ESPI_SIMGRID_CAGE_H
#define ESPI_SIMGRID_CAGE_H

#ifdef __cplusplus
extern "C" {
#endif

/* From here on the process has its standard streams and nothing else: it cannot open a
 * file to write, make a connection, start a program or signal others, has no rights of
 * root, and gets so much memory and processor time. Done before libraries start threads.
 *
 * Each bar holds alone, and where the kernel does not have it (or grants it not), the
 * others do. Where it has none of them, what the process is given to read must be
 * harmless by itself, which scan_simgrid.c sees to in any case. */
void espi_cage(void);

#ifdef __cplusplus
}
#endif

#endif
