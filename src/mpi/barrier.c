/* MPI_Barrier, MPI_Ibarrier and MPI_Barrier_init, as an allgather of a byte of each rank:
 * who has them all knows that all have come. */
#include "base/alloc.h"
#include "mpi/work.h"

struct task {
    struct espi_work work;
    char *bytes;
};

/* A rank without memory takes part all the same: nobody looks at the bytes. */
static int begin_barrier(struct espi_work *w, struct espi_run_options *options,
                         void **data)
{
    struct task *t = (struct task *)w;
    (void)options;
    *data = t->bytes = espi_calloc((size_t)w->call.size, 1);
    return t->bytes ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int end_barrier(struct espi_work *w)
{
    (void)w;
    return MPI_SUCCESS;
}

static void clear_barrier(struct espi_work *w)
{
    espi_free(((struct task *)w)->bytes);
}

static void barrier_needs(struct espi_work *w, struct espi_needs *needs)
{
    (void)w, (void)needs;
}

static int native_barrier(const struct espi_work *w, const struct espi_manner *how)
{
    return ESPI_NATIVE(how, Barrier, Ibarrier, Barrier_init, w->call.comm);
}

static const struct espi_work_kind barrier_kind = {sizeof(struct task),
                                                   ESPI_CALL_BARRIER,
                                                   "ibarrier",
                                                   "barrier-init",
                                                   begin_barrier,
                                                   end_barrier,
                                                   clear_barrier,
                                                   barrier_needs,
                                                   native_barrier,
                                                   NULL,
                                                   NULL};

int espi_barrier(MPI_Comm comm, const struct espi_manner *how)
{
    struct task t = {.work = {.kind = &barrier_kind, .call.comm = comm}};
    struct espi_call *call = &t.work.call;
    if (espi_is_short_bytes(0))
        return espi_work_leave(&t.work, 0, how);
    espi_work_open(&t.work, ESP_OP_ALLGATHER, 0, comm, how);
    call->is_barrier = 1;
    espi_call_decide(call, call->known ? (uint64_t)call->size : 0, 0);
    return espi_work_do(&t.work, how);
}
