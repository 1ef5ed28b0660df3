#include "fuzz/reader.h"

FUZZ_READER(espi_read_ibnet)
