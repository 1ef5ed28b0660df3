/* A short broadcast or allgather before the call, made as the program's own would be: by
 * a plan where ranks are far apart, else by the library.
 *
 * It is wasted where the library makes the call in the end. After some such calls of a
 * communicator ranks tell each other only at the first of those that follow, the second,
 * the fourth and so on, so that what it costs on the whole goes to nothing. All ranks
 * have seen the same calls, and so count alike. */
#include "mpi/sizes.h"

#include "base/alloc.h"
#include "mpi/tuning.h"

#define INNER (&(const struct espi_manner){.kind = ESPI_BLOCKING, .is_inner = 1})

/* derived: more bytes than any part may have */
static const uint64_t NONE = UINT64_MAX;

int espi_sizes_are_told(struct espi_call *call)
{
    if (!call->c)
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

void espi_sizes_noted(const struct espi_call *call)
{
    if (!call->c)
        return;
    struct espi_sizes_told *told = &call->c->told[call->which];
    if (call->entry || call->timed)
        *told = (struct espi_sizes_told){0};
    else if (told->in_vain < ESPI_SIZES_IN_VAIN)
        told->in_vain++;
}

static void end_if(const struct espi_call *call, int code)
{
    if (code)
        espi_end_job(espi_collective_name(call->which), "cannot tell others of sizes");
}

int espi_sizes_of_root(const struct espi_call *call, uint64_t *sizes, int usable)
{
    if (call->rank == call->root && !usable)
        sizes[0] = NONE;
    end_if(call,
           espi_bcast(sizes, call->size, MPI_UINT64_T, call->root, call->comm, INNER));
    return sizes[0] != NONE;
}

int espi_sizes_of_all(const struct espi_call *call, uint64_t *sizes, int usable)
{
    if (!usable)
        sizes[(size_t)call->rank * (size_t)call->size] = NONE;
    end_if(call, espi_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, sizes, call->size,
                                MPI_UINT64_T, call->comm, INNER));
    for (int r = 0; r < call->size; r++)
        if (sizes[(size_t)r * (size_t)call->size] == NONE)
            return 0;
    return 1;
}

uint64_t *espi_sizes_room(const struct espi_call *call, size_t n)
{
    uint64_t *sizes = espi_calloc(n, sizeof *sizes);
    if (!sizes)
        espi_end_job(espi_collective_name(call->which), "is out of memory");
    return sizes;
}

uint64_t espi_sizes_sum(const uint64_t *sizes, size_t n, size_t own, size_t step,
                        uint64_t *largest)
{
    uint64_t all = 0;
    *largest = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == own) {
            own += step;
            continue;
        }
        if (__builtin_add_overflow(all, sizes[i], &all))
            return 0;
        *largest = sizes[i] > *largest ? sizes[i] : *largest;
    }
    return all > (uint64_t)INT64_MAX / 2 ? 0 : all;
}

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
