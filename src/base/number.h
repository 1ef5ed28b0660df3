/* Doubles as text: short, exact, the same in every locale. */
#ifndef ESPI_BASE_NUMBER_H
#define ESPI_BASE_NUMBER_H

enum { ESPI_NUMBER_MAX = 32 };

/* Writes the shortest text that reads back as the same double; value must be finite.
 * Returns its length. */
int espi_number_print(char out[ESPI_NUMBER_MAX], double value);

/* To so many significant digits. For figures of which no more are meant, and to compare
 * what rounding errors alone may tell apart. */
double espi_round_digits(double value, int digits);

#endif
