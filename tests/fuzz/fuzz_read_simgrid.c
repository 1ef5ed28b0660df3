/* The lines that espalier-simgrid prints; libsimgrid itself is not fuzzed. */
#include "fuzz/reader.h"

FUZZ_READER(espi_read_simgrid_dump)
