/* Who is to blame when a run does not go on. */
#ifndef ESPI_COPY_BLAME_H
#define ESPI_COPY_BLAME_H

#include "program/program.h"

/* stuck: by stream, those of which nothing gets to their receivers; only_passes: by rank,
 * hosts that take nothing more while they cannot get rid of what they have. Leaves in
 * stuck the streams whose receivers have no such excuse, or, where all have one, for they
 * wait for one another in a circle, one of them. Gives how many are left. */
int espi_blame_stuck(const struct espi_program *prog, unsigned char *stuck,
                     const unsigned char *only_passes);

#endif
