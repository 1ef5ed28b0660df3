/* For our own programs, which may run under the shim or without it: calls of the MPI
 * library that no plan runs. The shim has the PMPI_ names, too (native.h). */
#ifndef ESPI_MPI_NATIVE_CALL_H
#define ESPI_MPI_NATIVE_CALL_H

#include <dlfcn.h>
#include <mpi.h>

/* What the shim shows for that: the function of a PMPI_ name behind it; NULL: there is
 * none. */
void *MPIX_Espalier_native(const char *name);

__attribute__((unused)) static void *native_function(const char *name, void *otherwise)
{
    void *(*ask)(const char *);
    *(void **)&ask = dlsym(RTLD_DEFAULT, "MPIX_Espalier_native");
    void *native = ask ? ask(name) : NULL;
    return native ? native : otherwise;
}

/* NATIVE(Bcast)(buffer, ...) is the library's own MPI_Bcast. */
#define NATIVE(Name)                                                                     \
    ({                                                                                   \
        static __typeof__(&PMPI_##Name) function_;                                       \
        if (!function_)                                                                  \
            *(void **)&function_ = native_function("PMPI_" #Name, (void *)PMPI_##Name);  \
        function_;                                                                       \
    })

#endif
