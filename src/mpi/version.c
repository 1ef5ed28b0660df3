#include "mpi/greet.h"

const char *espi_shim_version(void)
{
    return ESPALIER_VERSION;
}
