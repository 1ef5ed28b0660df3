/* A short broadcast or allgather before the call, made as the program's own would be: by
 * a plan where ranks are far apart, else by the library.
 *
 * It is a part of what a plan takes, in predictions and in trials. It is wasted where the
 * library makes the call in the end. When that was so some times more than plans have won
 * back on a communicator, ranks tell each other only at the first of the calls that
 * follow, the second, the fourth and so on, so that what it costs on the whole goes to
 * nothing. All ranks have seen the same calls, and so count alike. */
#include "mpi/sizes.h"

#include <math.h>

#include "base/alloc.h"
#include "mpi/tuning.h"
#include "plan/ops.h"

#define INNER (&(const struct espi_manner){.kind = ESPI_BLOCKING, .is_inner = 1})

/* derived: more bytes than any part may have */
static const uint64_t NONE = UINT64_MAX;

/* ---- what is told ---- */

/* Each rank has a row of the table; or there is one, the root's. */
static int all_tell(const struct espi_call *call)
{
    return espi_op_has_pairs(call->op);
}

static size_t n_rows(const struct espi_call *call)
{
    return all_tell(call) ? (size_t)call->size : 1;
}

static uint64_t *row_of(const struct espi_work *w, int rank)
{
    return w->sizes + (all_tell(&w->call) ? (size_t)rank * (size_t)w->call.size : 0);
}

void espi_sizes_room(struct espi_work *w)
{
    w->sizes = espi_calloc(n_rows(&w->call) * (size_t)w->call.size, sizeof *w->sizes);
    if (!w->sizes)
        espi_end_job(espi_collective_name(w->call.which), "is out of memory");
}

void espi_sizes_tell(struct espi_work *w, int usable, const struct espi_manner *how)
{
    const struct espi_call *call = &w->call;
    uint64_t *own = row_of(w, call->rank);
    if (!usable)
        own[0] = NONE;
    else if (all_tell(call) || call->rank == call->root)
        w->kind->tell_sizes(w, own);
    int code =
        all_tell(call)
            ? espi_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, w->sizes, call->size,
                             MPI_UINT64_T, call->comm, how)
            : espi_bcast(w->sizes, call->size, MPI_UINT64_T, call->root, call->comm, how);
    if (code)
        espi_end_job(espi_collective_name(call->which), "cannot tell others of sizes");
}

int espi_sizes_came(const struct espi_work *w)
{
    size_t n = (size_t)w->call.size;
    for (size_t row = 0; row < n_rows(&w->call); row++)
        if (w->sizes[row * n] == NONE)
            return 0;
    return 1;
}

/* The row of a rank, but for what it has for itself. 0, or -1: too much. */
static int add_row(const uint64_t *row, int n, int rank, uint64_t *all, uint64_t *largest)
{
    for (int r = 0; r < n; r++) {
        if (r == rank)
            continue;
        if (__builtin_add_overflow(*all, row[r], all))
            return -1;
        *largest = row[r] > *largest ? row[r] : *largest;
    }
    return *all > (uint64_t)INT64_MAX / 2 ? -1 : 0;
}

uint64_t espi_sizes_sum(const struct espi_work *w, uint64_t *largest)
{
    const struct espi_call *call = &w->call;
    size_t n = (size_t)call->size;
    uint64_t all = 0;
    *largest = 0;
    for (size_t row = 0; row < n_rows(call); row++)
        if (add_row(w->sizes + row * n, call->size,
                    all_tell(call) ? (int)row : call->root, &all, largest))
            return 0;
    return all;
}

/* ---- before a call that may wait ---- */

/* Will the ranks tell each other for this call? All find the same. Collective over the
 * communicator the first time. */
static int are_told(struct espi_call *call)
{
    if (!call->c || call->size < 2 || (all_tell(call) && call->size > ESPI_PAIRS_HOSTS))
        return 0;
    struct espi_sizes_told *told = &call->c->told[call->which];
    if (!call->is_init && espi_job.settings.mode != ESPI_MODE_FORCE &&
        told->in_vain >= ESPI_SIZES_IN_VAIN) {
        told->left++;
        if (told->left & (told->left - 1))
            return 0;
    }
    if (!espi_comm_ask(call->c, call->comm))
        call->c = NULL;
    return call->c != NULL;
}

/* Of what the plan has won, how often would that pay for telling? */
static double times_won(const struct espi_entry *e)
{
    double gain_s = fmax(0, espi_trials_gain_s(e));
    return e->tell_s > 0 ? gain_s / e->tell_s : ESPI_SIZES_IN_VAIN;
}

/* They have told each other, and it has been decided whose the call is. A trial says
 * nothing of what calls to come win. */
static void note_told(const struct espi_call *call)
{
    if (!call->c || call->on_trial)
        return;
    struct espi_sizes_told *told = &call->c->told[call->which];
    if (call->entry)
        told->in_vain = fmax(0, told->in_vain - times_won(call->entry));
    else
        told->in_vain++;
    if (told->in_vain < ESPI_SIZES_IN_VAIN)
        told->left = 0;
}

/* The bytes of all parts, and of the largest; 0: nothing to do, or the library's. */
static uint64_t hear_sizes(struct espi_work *w, uint64_t *largest)
{
    double start_s = espi_now_s();
    espi_sizes_room(w);
    espi_sizes_tell(w, w->kind->knows_sizes(w), INNER);
    w->call.told_s = espi_now_s() - start_s;
    return espi_sizes_came(w) ? espi_sizes_sum(w, largest) : 0;
}

/* Does this rank know sizes that others do not? */
static int has_own(const struct espi_call *call)
{
    return all_tell(call) || call->rank == call->root;
}

static void decide_told(struct espi_work *w)
{
    struct espi_call *call = &w->call;
    uint64_t largest = 0, all = hear_sizes(w, &largest);
    if (all && has_own(call))
        add_row(row_of(w, call->rank), call->size, call->rank, &call->own_bytes,
                &largest);
    espi_call_decide(call, all, largest);
    note_told(call);
}

/* Is this call, which nobody tells of, another than those that it stands for? This rank
 * knows it, or thinks so where it has no memory to look. */
static int looks_other(struct espi_work *w, const struct espi_entry *e)
{
    struct espi_call *call = &w->call;
    uint64_t bytes = 0, largest = 0;
    if (!has_own(call))
        return 0;
    if (!w->kind->knows_sizes(w))
        return 1;
    uint64_t *own = espi_calloc((size_t)call->size, sizeof *own);
    if (own)
        w->kind->tell_sizes(w, own);
    int other = !own || add_row(own, call->size, call->rank, &bytes, &largest) ||
                espi_trials_differs(e, bytes);
    espi_free(own);
    return other;
}

int espi_sizes_do(struct espi_work *w, const struct espi_manner *how)
{
    struct espi_call *call = &w->call;
    if (how->kind == ESPI_LATER)
        return espi_untold_do(w, how);
    call->tells = !call->is_init;
    struct espi_entry *owed = call->c && call->tells ? espi_trials_owed(call) : NULL;
    if (owed)
        espi_trials_pay(call, owed, looks_other(w, owed));
    else if (are_told(call))
        decide_told(w);
    return espi_work_do(w, how);
}

/* ---- parts of different sizes ---- */

static int are_there(const struct espi_counts *v)
{
    return v->is_large ? v->large_count && v->large_at : v->count && v->at;
}

int espi_counts_are_usable(const struct espi_counts *parts, int n)
{
    if (!are_there(parts))
        return 0;
    for (int r = 0; r < n; r++)
        if (espi_part_count(parts, r) < 0)
            return 0;
    return 1;
}

MPI_Count espi_largest_count(const struct espi_counts *parts, int n)
{
    MPI_Count most = 0;
    for (int r = 0; are_there(parts) && r < n; r++) {
        MPI_Count count = espi_part_count(parts, r);
        most = count > most ? count : most;
    }
    return most;
}

MPI_Count espi_count_told(MPI_Count count, MPI_Datatype type, uint64_t bytes)
{
    MPI_Count size;
    if (bytes == 0)
        return 0;
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) || size <= 0 ||
        bytes % (uint64_t)size || (MPI_Count)(bytes / (uint64_t)size) > count)
        return -1;
    return (MPI_Count)(bytes / (uint64_t)size);
}
