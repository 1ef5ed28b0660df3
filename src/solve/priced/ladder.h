/* Fills the stock: the cheapest plans that are found at the rungs of a ladder of
 * deadlines, from that of the fastest to that of the cheapest. The ladder depends on
 * network, message, root, targets and partitions alone. */
#ifndef ESPI_SOLVE_PRICED_LADDER_H
#define ESPI_SOLVE_PRICED_LADDER_H

#include "solve/priced/stock.h"

/* For a model by price alone, without deadline and budget, and its bound: the foot of the
 * ladder, and then the other rungs. */
esp_status espi_priced_fill_cheapest(struct espi_priced_model *m,
                                     const struct espi_priced_bound *bound,
                                     struct espi_priced_stock *stock,
                                     struct espi_arena *arena, struct esp_err *err);
esp_status espi_priced_fill_others(struct espi_priced_model *m,
                                   const struct espi_priced_bound *bound,
                                   struct espi_priced_stock *stock,
                                   struct espi_arena *arena, struct esp_err *err);

#endif
