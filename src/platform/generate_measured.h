/* Presets of the generator of measured networks. */
#ifndef ESPI_PLATFORM_GENERATE_MEASURED_H
#define ESPI_PLATFORM_GENERATE_MEASURED_H

void espi_measured_three_sites(void *options);
void espi_measured_four_racks(void *options);
void espi_measured_one_switch(void *options);
void espi_measured_chain(void *options);

#endif
