/* One of the optimal solutions of a linear program, the same on every machine. */
#ifndef ESPI_LP_VERTEX_H
#define ESPI_LP_VERTEX_H

#include <coin/Clp_C_Interface.h>

/* Moves an optimal model to the vertex, and to the duals, that a rule chooses among all
 * that are optimal, and copies both out. Of the values those are chosen that are least by
 * `second`, a cost of each column, if there is one. -1: out of memory. Bounds and costs
 * of the model are as before afterwards. */
int espi_vertex_choose(Clp_Simplex *model, const double *second, double *values,
                       double *duals);

/* The same for the values alone, which takes half the time or less. Their last digits may
 * differ where a vertex has several bases: for who rounds them. duals is scratch. */
int espi_vertex_choose_values(Clp_Simplex *model, const double *second, double *values,
                              double *duals);

#endif
