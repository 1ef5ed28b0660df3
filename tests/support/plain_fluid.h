/* The fluid simulator with rates that are computed from nothing whenever one flow comes
 * or goes: the reference for those that are kept up to date. */
#ifndef TESTS_SUPPORT_PLAIN_FLUID_H
#define TESTS_SUPPORT_PLAIN_FLUID_H

#include "graph/fair_rates.h"
#include "sim/sim.h"

esp_status plain_run_fluid(struct espi_sim *sim, struct esp_err *err);

/* The rates of all flows that are there, by progressive filling: in each of its steps
 * every resource is looked at, and every flow. Stands in for espi_fair_rates_update. */
void plain_rates_update(struct espi_fair_rates *x);

#endif
