/* The part of the shim for tests that goes wrong on demand. It stands for
 * src/mpi/version.c; all else is the shim itself.
 *   ESPALIER_TRIAL_VERSION=TEXT: the version that it says it has
 *   ESPALIER_TRIAL_STORE=none: the launcher has no store */
#include <stdlib.h>

#include "mpi/greet.h"
#include "mpi/store.h"

const char *espi_shim_version(void)
{
    const char *version = getenv("ESPALIER_TRIAL_VERSION");
    return version ? version : ESPALIER_VERSION;
}

int __real_espi_store_put(const char *text);
int __wrap_espi_store_put(const char *text);

int __wrap_espi_store_put(const char *text)
{
    return getenv("ESPALIER_TRIAL_STORE") ? -1 : __real_espi_store_put(text);
}
