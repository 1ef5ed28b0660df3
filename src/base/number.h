/* Doubles as text: short, exact, the same in every locale. */
#ifndef ESPI_BASE_NUMBER_H
#define ESPI_BASE_NUMBER_H

enum { ESPI_NUMBER_MAX = 32 };

/* Writes the shortest text that reads back as the same double; value must be finite.
 * Returns its length. */
int espi_number_print(char out[ESPI_NUMBER_MAX], double value);

#endif
