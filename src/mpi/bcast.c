/* MPI_Bcast. */
#include <limits.h>

#include "mpi/shim.h"

static int native(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                  MPI_Comm comm)
{
#if MPI_VERSION >= 4
    if (count > INT_MAX)
        return PMPI_Bcast_c(buffer, count, type, root, comm);
#endif
    return PMPI_Bcast(buffer, (int)count, type, root, comm);
}

/* A rank that fails to pack or unpack still takes part, for the sake of the others. */
static int run(const struct espi_call *call, struct espi_layout *l)
{
    static const struct espi_run_options plain;
    MPI_Comm twin = call->c->twin;
    int packed = call->rank == call->root ? espi_layout_pack(l, twin) : MPI_SUCCESS;
    int code = espi_call_run(call, l->data, &plain);
    if (!code && call->rank != call->root)
        code = espi_layout_unpack(l, twin);
    return packed ? packed : code;
}

static int ours(const struct espi_call *call, void *buffer, MPI_Count count,
                MPI_Datatype type)
{
    struct espi_layout l;
    MPI_Count size = (MPI_Count)call->bytes / count;
    int code = espi_layout_init(&l, buffer, count, type, size);
    if (!code)
        code = run(call, &l);
    espi_layout_done(&l);
    return code;
}

int espi_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct espi_call call;
    if (espi_is_short(count, type))
        return native(buffer, count, type, root, comm);
    espi_call_open(&call, ESP_OP_BCAST, root, comm);
    int way = espi_call_decide(&call, call.known ? espi_bytes(count, type) : 0, 0);
    int code = way > 0   ? ours(&call, buffer, count, type)
               : way < 0 ? MPI_ERR_NO_MEM
                         : native(buffer, count, type, root, comm);
    return espi_call_close(&call, way, code);
}
