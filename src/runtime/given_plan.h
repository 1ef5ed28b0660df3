/* Plans that are made before a program starts and given to its rank 0, which may be on
 * another machine: as a file, or in variables of the environment, which launchers carry
 * wherever the rank is. ESPALIER_PLAN is the name of the file, or "env:PIECES:BYTES", the
 * text of the plan then being in ESPALIER_PLAN_1 and so on. */
#ifndef ESPI_RUNTIME_GIVEN_PLAN_H
#define ESPI_RUNTIME_GIVEN_PLAN_H

#include "base/input.h"

/* limit: Linux takes 128 KiB a variable; what all ranks get for the sake of one stays
 * small. */
enum { ESPI_PLAN_PIECE_BYTES = 65536, ESPI_PLAN_PIECES = 4, ESPI_PLAN_NAME_MAX = 32 };

/* The name of piece 1, 2, ... */
void espi_plan_piece_name(int piece, char out[ESPI_PLAN_NAME_MAX]);

/* Takes the white space out of a text of JSON, in place; its new length. */
size_t espi_plan_squeeze(char *text, size_t length);

/* What ESPALIER_PLAN is for a text of that length; how many pieces it has, 0: it is too
 * long. Piece i (from 1) are ESPI_PLAN_PIECE_BYTES from (i - 1) times as many on. */
int espi_plan_pieces(size_t length, char value[ESPI_PLAN_NAME_MAX]);

/* Reads what ESPALIER_PLAN says; get: as getenv. */
esp_status espi_given_plan_read(struct espi_input *in, const char *plan,
                                char *(*get)(const char *name), struct esp_err *err);

#endif
