/* The presets of the sites generator. */
#ifndef ESPI_PLATFORM_GENERATE_SITES_H
#define ESPI_PLATFORM_GENERATE_SITES_H

void espi_sites_teragrid(void *options);
void espi_sites_testbed(void *options);

#endif
