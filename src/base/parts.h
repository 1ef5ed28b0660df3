/* The programs and libraries that belong to espalier and are started or loaded by it: the
 * one place where they are looked for.
 *
 * They lie where the build or the installation put them, seen from the file that this
 * code is in: the shared library, a shim, or one of our own programs. So an installed
 * tree can be moved, and never is a file run because it lies beside somebody else's
 * program, in the working directory or on the PATH. */
#ifndef ESPI_BASE_PARTS_H
#define ESPI_BASE_PARTS_H

#include <limits.h>

enum espi_part {
    ESPI_PART_SIMGRID, /* espalier-simgrid; ESPALIER_LIBEXEC may name another folder */
    ESPI_PART_DELAY,   /* espalier-delay */
    ESPI_PART_PROBER,  /* espalier-prober */
    ESPI_PART_PROBE,   /* espalier-probe-MPI */
    ESPI_PART_SWEEP,   /* espalier-sweep-MPI */
    ESPI_PART_SHIM,    /* libespalier-MPI.so */
    ESPI_PART_WAIT,    /* libespalier-wait-MPI.so */
    ESPI_PART_NATIVE,  /* native/NAME.json, a decision table */
    ESPI_PART_COUNT
};

/* Said by our own programs when they begin. Where the code is in a program that does not
 * say so, which then has the static library in it, parts are looked for only where the
 * library was configured to be installed. */
void espi_program_is_ours(void);

/* The part's path; mpi ("openmpi", "mpich") is for those that are built for each, and
 * the name of a decision table. 0, or
 * -1 when it is not there, or belongs to neither root, the caller nor the owner of the
 * file that this code is in, or anybody may write to it. */
int espi_find_part(enum espi_part part, const char *mpi, char out[PATH_MAX]);

/* The running program. */
int espi_find_self(char out[PATH_MAX]);

/* Where the part of code in that file would be: 0, or -1 when the file lies neither in
 * the build folder nor where the installation puts such a file. For espi_find_part and
 * its test. */
int espi_part_near(enum espi_part part, const char *mpi, const char *file,
                   char out[PATH_MAX]);

#endif
