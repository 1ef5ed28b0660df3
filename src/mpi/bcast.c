/* MPI_Bcast, MPI_Ibcast and MPI_Bcast_init. */
#include <limits.h>

#include "mpi/work.h"

struct task {
    struct espi_work work;
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    struct espi_buffer_layout layout;
};

static struct task *task_of(struct espi_work *w)
{
    return (struct task *)w;
}

static int native_bcast(const struct espi_work *w, const struct espi_manner *how)
{
    const struct task *t = (const struct task *)w;
    int root = w->call.root;
    MPI_Comm comm = w->call.comm;
#if MPI_VERSION >= 4
    if (t->count > INT_MAX)
        return ESPI_NATIVE(how, Bcast_c, Ibcast_c, Bcast_init_c, t->buffer, t->count,
                           t->type, root, comm);
#endif
    return ESPI_NATIVE(how, Bcast, Ibcast, Bcast_init, t->buffer, (int)t->count, t->type,
                       root, comm);
}

static int begin_bcast(struct espi_work *w, struct espi_run_options *options, void **data)
{
    struct task *t = task_of(w);
    const struct espi_call *call = &w->call;
    int whole = !call->later && espi_call_needs_whole(call);
    int lost = espi_layout_init(&t->layout, t->buffer, t->count, t->type,
                                (MPI_Count)call->bytes / t->count, call->c->twin, whole);
    if (!lost && call->rank == call->root)
        lost = espi_layout_pack(&t->layout, call->c->twin);
    espi_layout_tell(&t->layout, options);
    *data = t->layout.data;
    return lost;
}

static int end_bcast(struct espi_work *w)
{
    struct task *t = task_of(w);
    return w->call.rank == w->call.root ? t->layout.slicer.error
                                        : espi_layout_unpack(&t->layout, w->call.c->twin);
}

static void clear_bcast(struct espi_work *w)
{
    espi_layout_done(&task_of(w)->layout);
}

static void bcast_needs(struct espi_work *w, struct espi_needs *needs)
{
    needs->types[needs->n_types++] = &task_of(w)->type;
}

static const struct espi_work_kind bcast_kind = {sizeof(struct task),
                                                 ESPI_CALL_BCAST,
                                                 "ibcast",
                                                 "bcast-init",
                                                 begin_bcast,
                                                 end_bcast,
                                                 clear_bcast,
                                                 bcast_needs,
                                                 native_bcast,
                                                 NULL,
                                                 NULL};

int espi_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
               const struct espi_manner *how)
{
    struct task t = {.work = {.kind = &bcast_kind, .call = {.root = root, .comm = comm}},
                     .buffer = buffer,
                     .count = count,
                     .type = type};
    struct espi_call *call = &t.work.call;
    if (espi_is_short(count, type))
        return espi_work_leave(&t.work, espi_bytes(count, type), how);
    espi_work_open(&t.work, ESP_OP_BCAST, root, comm, how);
    espi_call_decide(call, call->known ? espi_bytes(count, type) : 0, 0);
    return espi_work_do(&t.work, how);
}
