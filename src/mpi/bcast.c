/* MPI_Bcast: whose call it is, and the run of our program. */
#include <limits.h>

#include "base/alloc.h"
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

static int failed(MPI_Comm comm, int code)
{
    PMPI_Comm_call_errhandler(comm, code);
    return code;
}

/* The program of the entry on the data, to its end. */
static int run_program(struct espi_comm *c, const struct espi_entry *entry, void *data)
{
    struct espi_run run;
    struct espi_wire wire;
    struct espi_transport transport;
    struct espi_arena arena;
    struct espi_run_options options = {.window = espi_job.settings.window};
    int code = MPI_SUCCESS;
    espi_arena_init(&arena);
    espi_wire_init(&wire, &transport, c->twin);
    if (espi_run_init(&run, &entry->prog, c->rank, entry->channel, &transport, data,
                      &options, &arena) ||
        espi_wire_reserve(&wire, run.max_requests, &arena)) {
        code = MPI_ERR_NO_MEM;
    } else if (espi_run_progress(&run, 1) < 0) {
        code = run.error;
        espi_wire_abandon(run.requests, run.n_requests);
    } else {
        code = wire.error;
    }
    espi_arena_done(&arena);
    return code;
}

/* A rank that fails to pack or unpack still takes part, for the sake of the others. */
static int run_bcast(struct espi_comm *c, const struct espi_entry *entry,
                     struct espi_layout *l, int root)
{
    int packed = c->rank == root ? espi_layout_pack(l, c->twin) : MPI_SUCCESS;
    int code = run_program(c, entry, l->data);
    if (!code && c->rank != root)
        code = espi_layout_unpack(l, c->twin);
    return packed ? packed : code;
}

static int ours(struct espi_comm *c, const struct espi_entry *entry, void *buffer,
                MPI_Count count, MPI_Datatype type, MPI_Count size, int root)
{
    struct espi_layout l;
    int code = espi_layout_init(&l, buffer, count, type, size);
    if (!code)
        code = run_bcast(c, entry, &l, root);
    espi_layout_done(&l);
    return code ? failed(c->user, code) : MPI_SUCCESS;
}

/* The bytes of the call when it may be ours, 0 when it is the library's: because it is
 * wrong, empty or too short. Every rank finds the same. */
static uint64_t bytes_of(MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                         MPI_Count *size)
{
    uint64_t bytes;
    if (count <= 0 || type == MPI_DATATYPE_NULL || root < 0 || comm == MPI_COMM_NULL)
        return 0;
    if (PMPI_Type_size_x(type, size) || *size <= 0)
        return 0;
    if (__builtin_mul_overflow((uint64_t)count, (uint64_t)*size, &bytes) ||
        bytes > (uint64_t)INT64_MAX / 2)
        return 0;
    return bytes;
}

static int timed(int comm_size, uint64_t bytes, const struct espi_entry *entry,
                 struct espi_comm *c, void *buffer, MPI_Count count, MPI_Datatype type,
                 MPI_Count size, int root, MPI_Comm comm)
{
    int mine = entry && entry->choice.plan;
    double start_s = espi_now_s();
    int code = mine ? ours(c, entry, buffer, count, type, size, root)
                    : native(buffer, count, type, root, comm);
    espi_stats_note(comm_size, bytes, mine ? entry->choice.plan->algo : "native",
                    espi_now_s() - start_s, entry ? entry->choice.native_s : 0);
    return code;
}

static int with_stats(uint64_t bytes, const struct espi_entry *entry, struct espi_comm *c,
                      void *buffer, MPI_Count count, MPI_Datatype type, MPI_Count size,
                      int root, MPI_Comm comm)
{
    int comm_size = 0;
    if (comm == MPI_COMM_NULL || PMPI_Comm_size(comm, &comm_size))
        return native(buffer, count, type, root, comm);
    return timed(comm_size, bytes, entry, c, buffer, count, type, size, root, comm);
}

int espi_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct espi_settings *s = &espi_job.settings;
    MPI_Count size = 0;
    struct espi_comm *c = NULL;
    struct espi_entry *entry = NULL;
    uint64_t bytes = bytes_of(count, type, root, comm, &size);
    int large = s->mode == ESPI_MODE_FORCE || (double)bytes >= s->min_bytes;
    if (espi_job.plans && bytes && large && (c = espi_comm_of(comm)) && root < c->size) {
        entry = espi_decide(c, root, bytes);
        if (!entry)
            return failed(comm, MPI_ERR_NO_MEM);
    }
    if (s->stats[0])
        return with_stats(bytes, entry, c, buffer, count, type, size, root, comm);
    return entry && entry->choice.plan ? ours(c, entry, buffer, count, type, size, root)
                                       : native(buffer, count, type, root, comm);
}
