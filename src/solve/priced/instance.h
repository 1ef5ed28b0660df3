/* A copy to be planned, whatever deadline, budget or weights are asked for: its network
 * as a model, and plans in stock. */
#ifndef ESPI_SOLVE_PRICED_INSTANCE_H
#define ESPI_SOLVE_PRICED_INSTANCE_H

#include "solve/priced/bound.h"
#include "solve/priced/stock.h"

struct espi_priced_instance {
    struct espi_priced_task task; /* by price, without deadline and budget */
    struct espi_priced_model m;
    struct espi_priced_bound bound; /* of the price */
    struct espi_priced cheapest; /* the answer to the task, when the stock has a foot */
    struct espi_priced_stock stock;
    enum espi_priced_filled {
        ESPI_PRICED_EMPTY,
        ESPI_PRICED_FOOT,
        ESPI_PRICED_FULL
    } filled;
    struct espi_arena *arena;
};

/* Memory from the arena, and some that espi_priced_instance_done gives back. The instance
 * stays where it is. Limits and weights of the task are not looked at. */
esp_status espi_priced_instance_init(struct espi_priced_instance *instance,
                                     const struct espi_priced_task *task,
                                     struct espi_arena *arena, struct esp_err *err);
void espi_priced_instance_done(struct espi_priced_instance *instance);

/* As espi_priced_solve; the task differs from that of the instance by limits and weights
 * alone. */
esp_status espi_priced_answer(struct espi_priced_instance *instance,
                              const struct espi_priced_task *task,
                              struct espi_priced *out, struct esp_err *err);

/* What espi_priced_answer says where no plan meets the task, or none is in stock. */
esp_status espi_priced_refuse(const struct espi_priced_instance *instance,
                              const struct espi_priced_task *task, double fastest_s,
                              struct esp_err *err);

#endif
