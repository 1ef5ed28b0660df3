/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_PLATFORM_TUNING_H
#define ESPI_PLATFORM_TUNING_H

/* A SimGrid file must be read in this time by the program that reads it.
 * unit: s
 * trades: larger, waiting for a file that never ends; smaller, large files are refused on
 * a busy machine
 * shown by: espalier import
 * chosen on: not measured */
enum { ESPI_SIMGRID_S = 300 };

/* Platforms of Tiers that are drawn until one has the density asked for.
 * unit: draws
 * trades: larger, time before it is refused; smaller, rare densities are refused
 * shown by: build/release/tests/test_generate_tiers
 * chosen on: not measured */
enum { ESPI_TIERS_ATTEMPTS = 100 };

#endif
