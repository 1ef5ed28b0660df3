/* The rule of Topo-Grow-Tree, for those who start from its tree. */
#ifndef ESPI_ALGO_PIPELINED_GROW_H
#define ESPI_ALGO_PIPELINED_GROW_H

#include "algo/pipelined/grower.h"

extern const struct espi_grow_rule espi_grow_correct, espi_grow_printed;
extern const struct espi_grow_rule espi_grow_multiport;

#endif
