/* The C names that begin and end MPI, make communicators, or free operations. */
#include "mpi/greet.h"
#include "mpi/shim.h"

#pragma GCC visibility push(default)

int MPI_Init(int *argc, char ***argv)
{
    espi_greet();
    int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS)
        espi_attach();
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    espi_greet();
    int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS)
        espi_attach();
    return code;
}

int MPI_Finalize(void)
{
    espi_detach();
    return PMPI_Finalize();
}

/* ---- calls that make communicators ---- */

static int made_comm(int code, MPI_Comm parent, const MPI_Comm *fresh)
{
    if (code == MPI_SUCCESS)
        espi_comm_made(parent, *fresh);
    return code;
}

/* The call, again if there is hope. */
#define TRY(comm, group, fresh, call)                                                    \
    ({                                                                                   \
        struct espi_try try;                                                             \
        int code_;                                                                       \
        espi_try_begin(&try, comm, group);                                               \
        do                                                                               \
            code_ = call;                                                                \
        while (espi_try_again(&try, code_));                                             \
        espi_try_end(&try, code_, code_ ? MPI_COMM_NULL : *(fresh));                     \
        code_;                                                                           \
    })
#define MAKE(comm, fresh, call)                                                          \
    made_comm(TRY(comm, MPI_GROUP_NULL, fresh, call), comm, fresh)

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *fresh)
{
    return MAKE(comm, fresh, PMPI_Comm_dup(comm, fresh));
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *fresh)
{
    return MAKE(comm, fresh, PMPI_Comm_dup_with_info(comm, info, fresh));
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *fresh)
{
    return MAKE(comm, fresh, PMPI_Comm_split(comm, color, key, fresh));
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *fresh)
{
    return MAKE(comm, fresh, PMPI_Comm_split_type(comm, type, key, info, fresh));
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *fresh)
{
    return MAKE(comm, fresh, PMPI_Comm_create(comm, group, fresh));
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *fresh)
{
    int code = TRY(comm, group, fresh, PMPI_Comm_create_group(comm, group, tag, fresh));
    if (code == MPI_SUCCESS)
        espi_comm_made_of_group(*fresh);
    return code;
}

int MPI_Cart_create(MPI_Comm comm, int n, const int dims[], const int periods[],
                    int reorder, MPI_Comm *fresh)
{
    return MAKE(comm, fresh, PMPI_Cart_create(comm, n, dims, periods, reorder, fresh));
}

int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *fresh)
{
    return MAKE(comm, fresh, PMPI_Cart_sub(comm, remain, fresh));
}

int MPI_Graph_create(MPI_Comm comm, int n, const int index[], const int edges[],
                     int reorder, MPI_Comm *fresh)
{
    return MAKE(comm, fresh, PMPI_Graph_create(comm, n, index, edges, reorder, fresh));
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                          const int destinations[], const int weights[], MPI_Info info,
                          int reorder, MPI_Comm *fresh)
{
    return MAKE(comm, fresh,
                PMPI_Dist_graph_create(comm, n, sources, degrees, destinations, weights,
                                       info, reorder, fresh));
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int n_in, const int sources[],
                                   const int in_weights[], int n_out,
                                   const int destinations[], const int out_weights[],
                                   MPI_Info info, int reorder, MPI_Comm *fresh)
{
    return MAKE(comm, fresh,
                PMPI_Dist_graph_create_adjacent(comm, n_in, sources, in_weights, n_out,
                                                destinations, out_weights, info, reorder,
                                                fresh));
}

int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *fresh)
{
    return MAKE(comm, fresh, PMPI_Intercomm_merge(comm, high, fresh));
}

/* ---- calls that free what calls under way may need ---- */

int MPI_Op_free(MPI_Op *op)
{
    return espi_op_free(op);
}

#pragma GCC visibility pop
