/* The C names that begin and end MPI, make communicators, or free operations. */
#include "mpi/greet.h"
#include "mpi/hooks.h"

static void before_init(void)
{
    espi_leave_library_alone();
    espi_greet();
}

static int attach_after(int code)
{
    if (code == MPI_SUCCESS)
        espi_attach();
    return code;
}

static int made_comm(int code, MPI_Comm parent, const MPI_Comm *fresh)
{
    if (code == MPI_SUCCESS)
        espi_comm_made(parent, *fresh);
    return code;
}

static int made_of_group(int code, const MPI_Comm *fresh)
{
    if (code == MPI_SUCCESS)
        espi_comm_made_of_group(*fresh);
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

/* A call that makes a communicator of its first argument. */
#define MAKER(X, Name, list, rest)                                                       \
    X(Name, (MPI_Comm comm, UNWRAP list, MPI_Comm * fresh), (comm, UNWRAP rest, fresh),  \
      made_comm(TRY(comm, MPI_GROUP_NULL, fresh, PMPI_##Name(comm, UNWRAP rest, fresh)), \
                comm, fresh))

/* clang-format off */
#define ALL(X)                                                                           \
    X(Init, (int *argc, char ***argv), (argc, argv),                                     \
      (before_init(), attach_after(PMPI_Init(argc, argv))))                                      \
    X(Init_thread, (int *argc, char ***argv, int required, int *provided),               \
      (argc, argv, required, provided),                                                  \
      (before_init(), attach_after(PMPI_Init_thread(argc, argv, required, provided))))           \
    X(Finalize, (void), (), (espi_detach(), PMPI_Finalize()))                            \
    X(Comm_dup, (MPI_Comm comm, MPI_Comm *fresh), (comm, fresh),                         \
      made_comm(TRY(comm, MPI_GROUP_NULL, fresh, PMPI_Comm_dup(comm, fresh)),            \
                comm, fresh))                                                            \
    MAKER(X, Comm_dup_with_info, (MPI_Info info), (info))                                \
    MAKER(X, Comm_split, (int color, int key), (color, key))                             \
    MAKER(X, Comm_split_type, (int type, int key, MPI_Info info), (type, key, info))     \
    MAKER(X, Comm_create, (MPI_Group group), (group))                                    \
    X(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *fresh),     \
      (comm, group, tag, fresh),                                                         \
      made_of_group(TRY(comm, group, fresh,                                              \
                        PMPI_Comm_create_group(comm, group, tag, fresh)), fresh))        \
    MAKER(X, Cart_create, (int n, const int dims[], const int periods[], int reorder),   \
          (n, dims, periods, reorder))                                                   \
    MAKER(X, Cart_sub, (const int remain[]), (remain))                                   \
    MAKER(X, Graph_create, (int n, const int index[], const int edges[], int reorder),   \
          (n, index, edges, reorder))                                                    \
    MAKER(X, Dist_graph_create,                                                          \
          (int n, const int sources[], const int degrees[], const int destinations[],    \
           const int weights[], MPI_Info info, int reorder),                             \
          (n, sources, degrees, destinations, weights, info, reorder))                   \
    MAKER(X, Dist_graph_create_adjacent,                                                 \
          (int n_in, const int sources[], const int in_weights[], int n_out,             \
           const int destinations[], const int out_weights[], MPI_Info info,             \
           int reorder),                                                                 \
          (n_in, sources, in_weights, n_out, destinations, out_weights, info, reorder))  \
    MAKER(X, Intercomm_merge, (int high), (high))                                        \
    X(Op_free, (MPI_Op *op), (op), espi_op_free(op))
/* clang-format on */

ALL(ALWAYS)

__attribute__((constructor)) static void find_native(void){ALL(FIND) ALL(SET_ALWAYS)}

#pragma GCC visibility push(default)

ALL(SHOW)

#pragma GCC visibility pop
