#include "mpi/work.h"

#include "base/alloc.h"

void espi_work_open(struct espi_work *w, esp_op op, int root, MPI_Comm comm,
                    const struct espi_manner *how)
{
    struct espi_call *call = &w->call;
    espi_call_open(call, op, root, comm);
    call->which = w->kind->which;
    call->is_inner = how->is_inner;
    if (how->kind == ESPI_BLOCKING)
        return;
    espi_prober_busy(-1); /* what is under way counts by its communicator */
    call->later = how->kind == ESPI_LATER;
    call->is_init = how->kind == ESPI_INIT;
    if (!espi_job.nonblocking || (call->later && call->c && call->c->whose != ESPI_OURS))
        call->c = NULL; /* this call must not wait for the others' answer */
}

static int run_now(struct espi_work *w)
{
    struct espi_run_options options = {.window = 0};
    void *data = NULL;
    int lost = w->kind->begin(w, &options, &data);
    int code = espi_call_run(&w->call, data, &options, lost); /* others wait for us */
    if (!code)
        code = w->kind->end(w);
    w->kind->clear(w);
    return code;
}

int espi_work_leave(struct espi_work *w, uint64_t bytes, const struct espi_manner *how)
{
    if (!how->is_inner)
        espi_count_call(w->kind->which, bytes, 0);
    return w->kind->native(w, how);
}

void espi_work_forget(struct espi_work *w)
{
    espi_free(w->sizes);
    w->sizes = NULL;
}

static int do_now(struct espi_work *w, const struct espi_manner *how)
{
    int ours = w->call.entry != NULL;
    int code = ours ? run_now(w) : w->kind->native(w, how);
    return how->kind == ESPI_BLOCKING ? espi_call_close(&w->call, ours, code) : code;
}

int espi_work_do(struct espi_work *w, const struct espi_manner *how)
{
    int ours = w->call.entry != NULL;
    if (!how->is_inner && (!ours || how->kind != ESPI_INIT)) /* or its starts count */
        espi_count_call(w->kind->which, w->call.bytes, ours);
    if (ours && how->kind == ESPI_LATER)
        return espi_later_start(w, how->request);
    if (ours && how->kind == ESPI_INIT)
        return espi_persistent_init(w, how);
    int code = do_now(w, how);
    espi_work_forget(w);
    return code;
}
