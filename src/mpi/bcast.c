/* MPI_Bcast. */
#include <limits.h>

#include "mpi/shim.h"

static int native_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                        MPI_Comm comm)
{
#if MPI_VERSION >= 4
    if (count > INT_MAX)
        return PMPI_Bcast_c(buffer, count, type, root, comm);
#endif
    return PMPI_Bcast(buffer, (int)count, type, root, comm);
}

/* A rank that has lost its data still takes part, for the sake of the others. */
static int run_bcast(const struct espi_call *call, struct espi_buffer_layout *l, int lost)
{
    struct espi_run_options options = {.window = 0};
    MPI_Comm twin = call->c->twin;
    if (!lost && call->rank == call->root)
        lost = espi_layout_pack(l, twin);
    espi_layout_tell(l, &options);
    int code = espi_call_run(call, l->data, &options, lost);
    if (!code)
        code = call->rank == call->root ? l->slicer.error : espi_layout_unpack(l, twin);
    return code;
}

static int our_bcast(const struct espi_call *call, void *buffer, MPI_Count count,
                     MPI_Datatype type)
{
    struct espi_buffer_layout l;
    MPI_Count size = (MPI_Count)call->bytes / count;
    int lost = espi_layout_init(&l, buffer, count, type, size, call->c->twin,
                                espi_call_needs_whole(call));
    int code = run_bcast(call, &l, lost);
    espi_layout_done(&l);
    return code;
}

int espi_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct espi_call call;
    if (espi_is_short(count, type))
        return native_bcast(buffer, count, type, root, comm);
    espi_call_open(&call, ESP_OP_BCAST, root, comm);
    int way = espi_call_decide(&call, call.known ? espi_bytes(count, type) : 0, 0);
    int code = way ? our_bcast(&call, buffer, count, type)
                   : native_bcast(buffer, count, type, root, comm);
    return espi_call_close(&call, way, code);
}
