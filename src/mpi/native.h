/* Included before everything else in each file of the shim: what PMPI_Bcast and its kin
 * mean there.
 *
 * The shim stands in front of the PMPI_ names of the calls that it takes, not of the MPI_
 * ones alone. A tool by the profiling interface has MPI_Bcast of its own and goes on by
 * PMPI_Bcast: whether it stands before us or behind us, or is linked into the program, it
 * sees each call of the program once, none of those that we make, and the call comes to
 * us. So that we get to the library ourselves, the PMPI_ names in our own files are those
 * of functions of ours that lead there (hooks.h). */
#ifndef ESPI_MPI_NATIVE_H
#define ESPI_MPI_NATIVE_H

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#define ESPI_RELABEL(Name)                                                               \
    extern __typeof__(PMPI_##Name) PMPI_##Name __asm__("espi_native_" #Name);

/* Those that have a kin by each manner: non-blocking, persistent, with large counts. */
/* clang-format off */
#define ESPI_SIZED(X)                                                                    \
    X(bcast, Bcast) X(scatter, Scatter) X(gather, Gather) X(allgather, Allgather)        \
    X(allgatherv, Allgatherv) X(alltoall, Alltoall) X(reduce, Reduce)                    \
    X(allreduce, Allreduce) X(reduce_scatter, Reduce_scatter)                            \
    X(reduce_scatter_block, Reduce_scatter_block) X(scatterv, Scatterv)                  \
    X(gatherv, Gatherv) X(alltoallv, Alltoallv) X(scan, Scan) X(exscan, Exscan)
#define ESPI_COLLECTIVES(X) X(barrier, Barrier) ESPI_SIZED(X)
/* clang-format on */

#define ESPI_RELABEL_NOW(name, Name) ESPI_RELABEL(Name) ESPI_RELABEL(I##name)
ESPI_COLLECTIVES(ESPI_RELABEL_NOW)

#if MPI_VERSION >= 4
#define ESPI_RELABEL_INIT(name, Name) ESPI_RELABEL(Name##_init)
#define ESPI_RELABEL_LARGE(name, Name)                                                   \
    ESPI_RELABEL(Name##_c) ESPI_RELABEL(I##name##_c) ESPI_RELABEL(Name##_init_c)
ESPI_COLLECTIVES(ESPI_RELABEL_INIT)
ESPI_SIZED(ESPI_RELABEL_LARGE)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define ESPI_RELABEL_INIT(name, Name)                                                    \
    extern __typeof__(PMPIX_##Name##_init) PMPIX_##Name##_init __asm__(                  \
        "espi_native_" #Name "_init");
ESPI_COLLECTIVES(ESPI_RELABEL_INIT)
#endif

ESPI_RELABEL(Start)
ESPI_RELABEL(Startall)
ESPI_RELABEL(Request_free)

ESPI_RELABEL(Init)
ESPI_RELABEL(Init_thread)
ESPI_RELABEL(Finalize)
ESPI_RELABEL(Comm_dup)
ESPI_RELABEL(Comm_dup_with_info)
ESPI_RELABEL(Comm_split)
ESPI_RELABEL(Comm_split_type)
ESPI_RELABEL(Comm_create)
ESPI_RELABEL(Comm_create_group)
ESPI_RELABEL(Cart_create)
ESPI_RELABEL(Cart_sub)
ESPI_RELABEL(Graph_create)
ESPI_RELABEL(Dist_graph_create)
ESPI_RELABEL(Dist_graph_create_adjacent)
ESPI_RELABEL(Intercomm_merge)
ESPI_RELABEL(Op_free)

/* By which tools find variables. */
ESPI_RELABEL(T_cvar_get_num)
ESPI_RELABEL(T_cvar_get_info)
ESPI_RELABEL(T_cvar_get_index)
ESPI_RELABEL(T_cvar_handle_alloc)
ESPI_RELABEL(T_cvar_handle_free)
ESPI_RELABEL(T_cvar_read)
ESPI_RELABEL(T_cvar_write)
ESPI_RELABEL(T_pvar_get_num)
ESPI_RELABEL(T_pvar_get_info)
ESPI_RELABEL(T_pvar_get_index)
ESPI_RELABEL(T_pvar_session_free)
ESPI_RELABEL(T_pvar_handle_alloc)
ESPI_RELABEL(T_pvar_handle_free)
ESPI_RELABEL(T_pvar_start)
ESPI_RELABEL(T_pvar_stop)
ESPI_RELABEL(T_pvar_read)
ESPI_RELABEL(T_pvar_write)
ESPI_RELABEL(T_pvar_reset)
ESPI_RELABEL(T_pvar_readreset)
ESPI_RELABEL(T_category_get_num)
ESPI_RELABEL(T_category_get_info)
ESPI_RELABEL(T_category_get_index)
ESPI_RELABEL(T_category_get_cvars)
ESPI_RELABEL(T_category_get_pvars)
ESPI_RELABEL(T_category_get_categories)
#if MPI_VERSION >= 4
ESPI_RELABEL(T_category_get_num_events)
ESPI_RELABEL(T_category_get_events)
#endif

#endif
