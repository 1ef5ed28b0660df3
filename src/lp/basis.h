/* Values and duals of a basis, by arithmetic that is the same on every machine. */
#ifndef ESPI_LP_BASIS_H
#define ESPI_LP_BASIS_H

#include <coin/Clp_C_Interface.h>

/* Those of the basis that the model has; `held` says where columns, then rows, outside of
 * it are held. 1: done; 0: the basis is too large or singular, and both are untouched;
 * -1: out of memory. */
int espi_basis_solve(Clp_Simplex *model, const double *held, const double *cost,
                     double *values, double *duals);

#endif
