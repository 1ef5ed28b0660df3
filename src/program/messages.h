/* Programs of plans with steps. */
#ifndef ESPI_PROGRAM_MESSAGES_H
#define ESPI_PROGRAM_MESSAGES_H

#include "program/program.h"

/* Fills in slots, parts, streams and steps of a program whose ranks are numbered: one
 * round with a slot a tree, in the order of the roots, and a stream for each post. -1
 * when out of memory. */
int espi_compile_messages(struct espi_program *prog, const struct esp_plan *plan,
                          struct espi_arena *arena);

/* Room for the steps of all ranks: a stream has one for each slot of its tree in a round,
 * steps[tree] (NULL: one). The starts are shifted by one, so that placing the
 * steps leaves them right. -1 when out of memory. */
int espi_program_count_steps(struct espi_program *prog, const int *steps,
                             struct espi_arena *arena);

/* Steps are placed in the order of the calls. */
void espi_program_place_step(struct espi_program *prog, const struct espi_step *step);

#endif
